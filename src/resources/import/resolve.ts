/** Resolves the rows of an import against the records that are there: the record that each creates, the fields that it changes, or what is wrong with it. */
import { serviceFields } from '../../api/records.js';
import { readWholeList } from '../../bulk/whole-list.js';
import { aliasKind, keyComparison } from '../../cli/column-aliases.js';
import type { Context } from '../../context.js';
import { findField } from '../../data/cell-values.js';
import { type CsvRow, columnName, rowPlace } from '../../data/csv-reader.js';
import { InputErrors } from '../../data/input-errors.js';
import type { JsonObject } from '../../data/json.js';
import { didYouMean } from '../../data/nearest.js';
import { labelOf, plainText } from '../../data/path.js';
import { type ResourceName, resourceWords } from '../../data/resources.js';
import { lowerFirst, nameFirstFew, plural, shellQuote, upTo } from '../../data/text.js';
import { InputError, UsageError } from '../../errors.js';
import type { SelectedRow } from '../../runs/report.js';
import { identityReader, sameIdentity } from '../person/holders.js';
import { readOnlyFields } from '../update.js';
import {
  type FieldValue,
  type ImportedRow,
  importedRow,
  inputText,
  newValue,
  ownCell,
  recordFrom,
  sheetKind,
} from './cells.js';
import { type FileColumn, type ImportOptions, type MappedColumn, mapColumns } from './columns.js';
import { readUnlisted } from './created-records.js';
import { checkForm, type ImportFile, type TypedRow, throwRowProblems } from './file.js';
import type { ResolvedImport } from './preview.js';
import {
  cellPlace,
  type ImportWorld,
  idOfNew,
  importDoubt,
  KeyIndex,
  normalKey,
  RowKeys,
} from './row-keys.js';
import { SeenFields } from './seen-fields.js';
import { readTeams, teamTarget } from './teams.js';

/**
 * Resolves the rows by one fresh list of the resource, and one of the teams if a column names them.
 * Throws one InputError for all problems of the file, unless they are only in rows and these are
 * skipped; UsageError for a key that no record has; GuardError if a list may be incomplete.
 */
export async function resolveImport(
  context: Context,
  { sheet, columns, key, options }: ImportFile,
): Promise<ResolvedImport> {
  const { resource } = options;
  const { organizationId } = context.api;
  const mayNameTeams =
    options.teamColumn !== undefined ||
    columns.some(({ name }) => aliasKind(name, resource) === 'team');
  const teams = mayNameTeams ? await readTeams(context) : undefined;
  const seen = new SeenFields(teams?.isId);
  const index = new KeyIndex(options.key, options.comparison);
  const ids = new Map<string, JsonObject>();
  const onRecord = (record: JsonObject) => {
    seen.observe(record);
    index.add(record);
    ids.set(String(record['id']), record);
  };
  await readWholeList(context, resource, onRecord, importDoubt);
  for (const record of await readUnlisted(context, resource, ids)) onRecord(record);
  checkKeyField(options, seen);
  const team = teams && teamTarget(options.teamField, seen);
  const service = [...new Set([...serviceFields, ...readOnlyFields(context, resource)])];
  const mapping = mapColumns(columns, key, options, { seen, service, team });
  const hasColumnProblems = mapping.problems.length > 0;
  const problems = new InputErrors('problem');
  for (const problem of mapping.problems) problems.add(problem);
  const reader = new RowReader({ sheet, key, options, mapping, teams, index, ids, organizationId });
  const read = sheet.rows.map((row) => reader.read(row));
  if (!options.skipInvalid || hasColumnProblems) {
    const all = read.flatMap((row) => row.problems);
    // A key on two lines is a problem of both.
    const distinct = new Map(all.map((problem) => [problem.message, problem]));
    for (const problem of distinct.values()) problems.add(problem);
  }
  if (hasColumnProblems) problems.throwIfAny();
  throwRowProblems(problems);
  const rows = read.map(({ row }) => row);
  const shared = sharedIdentities(context, { sheet, options }, rows, ids.values());
  return { rows, mapping, teams, isUnchecked: seen.isEmpty, shared };
}

/** Throws UsageError for a key that no record has, or that holds no plain value. */
function checkKeyField({ key, resource }: ImportOptions, seen: SeenFields): void {
  if (seen.isEmpty) return;
  const { noun } = resourceWords[resource];
  const field = seen.get(key);
  if (!field)
    throw new UsageError(
      `--key ${shellQuote(key)}: no ${noun} has that field.${didYouMean(key, seen.names)}`,
      { hint: `Known fields: ${seen.names.filter((name) => !name.includes('.')).join(', ')}` },
    );
  if (Array.isArray(field.sample))
    throw new UsageError(`--key ${shellQuote(key)}: that field holds a list.`);
}

/**
 * Returns a line for each of the first new rows that have the e-mail address or the Discord user of a
 * record that is there, perhaps one person twice, and one that counts the others.
 */
function sharedIdentities(
  { settings }: Context,
  { sheet, options: { resource } }: Pick<ImportFile, 'sheet' | 'options'>,
  rows: readonly SelectedRow[],
  records: Iterable<JsonObject>,
): readonly string[] {
  const identitiesOf = identityReader(settings.overrides);
  const created = new Map<string, SelectedRow>();
  for (const row of rows)
    for (const { key } of identitiesOf(resource, newRecordOf(row))) created.set(key, row);
  if (created.size === 0) return [];
  const found = new Map<number, string>();
  for (const record of records)
    for (const { kind, key } of identitiesOf(resource, record)) {
      const row = created.get(key);
      if (row && !found.has(row.row))
        found.set(
          row.row,
          `${labelOf(newRecordOf(row), row.id)} (${lowerFirst(rowPlace({ ...sheet.header, line: row.row }))}) and ${sameIdentity({ resource, record, kind })}: the service may refuse it, or store one person twice.`,
        );
    }
  const lines = [...found].toSorted(([a], [b]) => a - b).map(([, line]) => line);
  return upTo(nameFirstFew, lines, (more) => `The same applies to ${plural(more, 'more row')}.`);
}

function newRecordOf(row: SelectedRow): JsonObject {
  return importedRow(row).body ?? {};
}

/** Reads the rows of a file one by one. */
export class RowReader {
  private readonly keys: RowKeys;

  constructor(private readonly world: ImportWorld) {
    this.keys = new RowKeys(world);
  }

  /** Returns the row to plan, and what is wrong with it. */
  read(row: CsvRow | TypedRow) {
    const problems: InputError[] = [];
    const key = this.keys.textOf(row);
    const isWhole = this.collect(problems, () => {
      this.checkShape(row);
      return true;
    });
    const values = isWhole ? this.values(row, problems) : [];
    const matched = isWhole
      ? this.collect(problems, () => ({ record: this.keys.match(row, key) }))
      : undefined;
    const record = matched?.record;
    if (isWhole && problems.length === 0)
      this.collect(problems, () => this.keys.checkOnce(row, key, record));
    // A row without a record to compare with is not judged as a new one.
    const own = matched ? this.own(row, { key, values, record, problems }) : { key };
    const problem = problems.map(({ message }) => message).join(' ');
    const { line, cells } = row;
    const { options } = this.world;
    const id = record
      ? String(record['id'])
      : key === ''
        ? lowerFirst(rowPlace(row))
        : idOfNew(options, key);
    return {
      row: {
        row: line,
        id,
        // A record that is yet to be created has no id but its reference.
        ...(key !== '' && { ref: record ? `${options.key}:${key}` : id }),
        own: problem === '' ? own : { key, problem },
        cells,
        ...(record && problem === '' && { record }),
      },
      problems,
    };
  }

  private own(row: CsvRow, { key, values, record, problems }: RowContent): ImportedRow {
    const { options, mapping } = this.world;
    const { noun } = resourceWords[options.resource];
    if (record && options.createOnly)
      return { key, skipped: `${String(record['id'])} already has this ${options.key}.` };
    if (!record && options.updateOnly)
      return { key, skipped: `No ${noun} has this ${options.key}.` };
    if (!record) {
      const fields = values.flatMap((each) => {
        const { column } = each;
        // To a new record an empty field says nothing, and a service may refuse it.
        if (options.isTyped && 'value' in each && each.value === null) return [];
        const value = this.collect(problems, () => newValue(each), row, column);
        return value === undefined ? [] : [[each.target, value] as const];
      });
      const body = this.collect(problems, () => recordFrom(fields), row);
      return { key, body: body ?? {} };
    }
    const updatedAt = mapping.service.get('updatedAt');
    // Records as they were are brought back over whatever came later.
    const exported = !options.isTyped && updatedAt && row.cells[updatedAt.index]?.trim();
    const cells = values.flatMap((each) => {
      // A key in another spelling is the same key.
      if (each.column.index === this.world.key.index || isSameSet(each, record)) return [];
      const cell = this.collect(problems, () => ownCell(each, record), row, each.column);
      return cell && !isNormalized(each, record, options.resource) ? [cell] : [];
    });
    return { key, ...(exported && { updatedAt: exported }), ...Object.fromEntries(cells) };
  }

  private values(row: CsvRow | TypedRow, problems: InputError[]): readonly ColumnValue[] {
    const { mapping, teams, options } = this.world;
    return mapping.columns.flatMap((column): readonly ColumnValue[] => {
      const value = this.collect(
        problems,
        (): FieldValue | undefined => {
          if ('values' in row && !column.byName) {
            const typed = row.values[column.index];
            return typed === undefined ? undefined : { target: column.target, value: typed };
          }
          const kind = sheetKind(row, column.index);
          const text = inputText(row.cells[column.index] ?? '', options);
          if (text === undefined) return undefined;
          const { target } = column;
          if (text === null) return { target, value: null };
          if (column.byName && teams) return teams.value(text, target);
          const inSheet = row.marks && { column: columnName(column.index), kind };
          // A key is stored as it is compared, without the spaces around it.
          const isKey = column.index === this.world.key.index;
          const isRaw = options.raw && !isKey;
          return { target, text: isKey ? text.trim() : text, inSheet, isRaw };
        },
        row,
        column,
      );
      return value === undefined ? [] : [{ ...value, column }];
    });
  }

  private checkShape(row: CsvRow): void {
    const { sheet } = this.world;
    const { cells } = row;
    checkForm(row, sheet.header);
    const unnamed = cells.findIndex(
      (cell, at) => cell.trim() !== '' && !sheet.header.cells[at]?.trim() && !this.isUsed(at),
    );
    if (unnamed >= 0)
      throw new InputError(
        `${rowPlace(row, unnamed)}: column ${unnamed + 1} holds "${cells[unnamed]}", but it has no name.`,
        { hint: 'Name the column in the header, or empty it.' },
      );
  }

  private isUsed(index: number): boolean {
    return this.world.mapping.columns.some((column) => column.index === index);
  }

  /** Runs `work`; an InputError becomes a problem, which names the cell if it is about one. */
  private collect<T>(problems: InputError[], work: () => T, row?: CsvRow, column?: FileColumn) {
    try {
      return work();
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      const at = row && (column ? cellPlace(row, column) : `${rowPlace(row)}:`);
      problems.push(
        at === undefined
          ? error
          : new InputError(`${at} ${error.message}`, { hint: error.hint, cause: error }),
      );
      return undefined;
    }
  }
}

type ColumnValue = FieldValue & { readonly column: MappedColumn };

interface RowContent {
  readonly key: string;
  readonly values: readonly ColumnValue[];
  readonly record: JsonObject | undefined;
  readonly problems: InputError[];
}

/** True if the service stored the cell without the spaces around it, or an e-mail address in lower case. */
function isNormalized(each: ColumnValue, record: JsonObject, resource: ResourceName): boolean {
  if (!('text' in each) || each.target.type !== undefined || each.inSheet?.kind) return false;
  const { field } = each.target;
  return findField(record, field)?.value === normalKey(each.text, keyComparison(field, resource));
}

/** True if the record's list holds the same elements, in whatever order. */
function isSameSet(each: ColumnValue, record: JsonObject): boolean {
  if (!each.column.byName || !('value' in each) || !Array.isArray(each.value)) return false;
  const held = findField(record, each.target.field)?.value;
  if (!Array.isArray(held)) return false;
  const texts = new Set(held.map(plainText));
  return texts.size === each.value.length && each.value.every((id) => texts.has(plainText(id)));
}
