/** Maps the columns of an import to the fields of the records. */

import type { BulkValues } from '../../bulk/invocation.js';
import { aliasKind, type KeyComparison, plainName } from '../../cli/column-aliases.js';
import { type ColumnType, readColumnName } from '../../data/cell-values.js';
import { headerHints, reportedColumns, unguard } from '../../data/csv.js';
import type { CsvRow } from '../../data/csv-reader.js';
import { didYouMean, nearest } from '../../data/nearest.js';
import { type ResourceName, resourceWords } from '../../data/resources.js';
import { firstOf, shellQuote } from '../../data/text.js';
import { InputError, UsageError } from '../../errors.js';
import type { NamedEncoding } from '../../files/text-decoder.js';
import type { FieldTarget } from './cells.js';
import type { SeenFields } from './seen-fields.js';

/** The values of an import's command line. */
export interface ImportValues
  extends Pick<BulkValues, 'map' | 'ignoreColumns' | 'sheet' | 'takeFormulas'> {
  readonly file: string;
  /** The field that identifies a record. */
  readonly key: string;
  readonly createOnly?: boolean;
  readonly updateOnly?: boolean;
  readonly skipInvalid: boolean;
  readonly encoding: NamedEncoding | undefined;
  readonly teamColumn?: string | undefined;
  readonly teamField?: string | undefined;
  readonly set: readonly string[] | undefined;
  readonly setString: readonly string[] | undefined;
}

/** The options by which columns and rows are read. */
export interface ImportOptions extends ImportValues {
  readonly resource: ResourceName;
  /** How keys compare. */
  readonly comparison: KeyComparison;
  /** The texts of the file have no marks, as those of `--csv-raw` and of NDJSON. */
  readonly raw: boolean;
  /** The columns are fields by their own names, as in NDJSON. */
  readonly isTyped: boolean;
  /** The fields that flags set in every record, each with its flag. */
  readonly given: ReadonlyMap<string, string>;
}

/** One column of the file. */
export interface FileColumn {
  readonly index: number;
  /** Its head as in the file. */
  readonly head: string;
  /** The name that it goes by: its head, or what `--map` makes of it. */
  readonly name: string;
  readonly type: ColumnType | undefined;
  /** Its name ends in the type of another tool, unless it is the whole name of a field. */
  readonly typeProblem?: InputError | undefined;
  readonly isMapped: boolean;
  readonly isTeam: boolean;
}

/** A column that sets a field; `byName`: its cells are names of teams. */
export interface MappedColumn extends FileColumn {
  readonly target: FieldTarget;
  readonly byName: boolean;
  /** No record has the field yet. */
  readonly isNew: boolean;
}

/** The destination of each column. */
export interface Mapping {
  readonly columns: readonly MappedColumn[];
  /** The columns of fields that the service sets, by field: they are not sent. */
  readonly service: ReadonlyMap<string, FileColumn>;
  /** The heads of columns that `--ignore-columns` skips. */
  readonly ignored: readonly string[];
  /** Columns, by head, that a flag overrules. */
  readonly overruled: ReadonlyMap<string, string>;
  /** The columns without a field, and those whose field has another column. */
  readonly problems: readonly InputError[];
}

/**
 * Returns the columns of a header. Throws UsageError for a `--map` or `--team-column` of a column that
 * is not there, InputError for a `--map` to the type of another tool.
 */
export function fileColumns(
  header: readonly string[],
  options: ImportOptions,
): readonly FileColumn[] {
  const heads = header.map((cell) => (options.raw ? cell : unguard(cell)).trim());
  const find = (word: string, name: string) => {
    const index = indexOfHead(heads, name);
    if (index >= 0) return index;
    throw new UsageError(`${word} ${shellQuote(name)}: the file has no such column.`, {
      hint: `It has: ${firstOf(heads)}.`,
    });
  };
  const mapped = new Map(options.map?.map(([from, to]) => [find('--map', from), to]));
  const team = options.teamColumn === undefined ? -1 : find('--team-column', options.teamColumn);
  return heads.map((head, index) => {
    const isMapped = mapped.has(index);
    const column = { index, head, isMapped, isTeam: index === team };
    const text = mapped.get(index) ?? head;
    if (options.isTyped) return { ...column, name: text, type: undefined };
    try {
      const { name, type } = readColumnName(text);
      return { ...column, name, type };
    } catch (error) {
      if (!(error instanceof InputError) || isMapped) throw error;
      return { ...column, name: text, type: undefined, typeProblem: error };
    }
  });
}

function indexOfHead(heads: readonly string[], name: string): number {
  const exact = heads.indexOf(name.trim());
  return exact >= 0 ? exact : heads.findIndex((head) => plainName(head) === plainName(name));
}

/** Finds the column of the key. Throws InputError if none or several hold it. */
export function keyColumn(
  columns: readonly FileColumn[],
  header: CsvRow,
  { key, resource }: ImportOptions,
): FileColumn {
  const kind = aliasKind(key, resource);
  const ways: readonly ((column: FileColumn) => boolean)[] = [
    ({ name }) => name === key,
    ({ name }) => plainName(name) === plainName(key),
    ({ name }) => kind !== undefined && aliasKind(name, resource) === kind,
  ];
  for (const way of ways) {
    const [first, second] = columns.filter((column) => !column.isTeam && way(column));
    if (first && second) throw sameField(first, second, key);
    if (first) return first;
  }
  const heads = columns.map((column) => column.head).filter((head) => head !== '');
  const near = nearest(key, [
    ...columns.map(({ name }) => aliasKind(name, resource) ?? name),
    ...heads,
  ]);
  const head = kind === undefined ? undefined : nearest(key, heads);
  throw new InputError(`The file has no column for the key ${key}. It has: ${firstOf(heads)}.`, {
    hint: [
      head !== undefined
        ? `Did you mean --map ${shellQuote(`${head}=${key}`)}?`
        : near === undefined
          ? `Name the column: --map ${shellQuote(`THEIR NAME=${key}`)}`
          : `Did you mean --key ${shellQuote(near)}?`,
      ...headerHints(header, (head ?? near) !== undefined),
    ].join('\n'),
  });
}

function sameField(a: FileColumn, b: FileColumn, field: string): InputError {
  return new InputError(`The columns ${columnLabel(a)} and ${columnLabel(b)} are both ${field}.`, {
    hint: `Remove one of them, or name another field: --map ${shellQuote(`${b.head || 'THEIRS'}=FIELD`)}`,
  });
}

/** `"Team"`, or `3` for a column without a head. */
function columnLabel({ head, index }: FileColumn): string {
  return head === '' ? String(index + 1) : `"${head}"`;
}

interface KnownFields {
  readonly seen: SeenFields;
  /** The fields that the service sets itself. */
  readonly service: readonly string[];
  /** The field that holds the ids of teams, if there is one. */
  readonly team: FieldTarget | undefined;
}

/** Maps the columns to fields. */
export function mapColumns(
  columns: readonly FileColumn[],
  key: FileColumn,
  options: ImportOptions,
  known: KnownFields,
): Mapping {
  const { seen } = known;
  const mapped: MappedColumn[] = [];
  const problems: InputError[] = [];
  const service = new Map<string, FileColumn>();
  const ignored: string[] = [];
  const unknown: FileColumn[] = [];
  const overruled = new Map<string, string>();
  const taken = new Map<string, FileColumn>();
  const reported = reportedColumns(columns.map(({ head }) => head));
  for (const column of columns) {
    const byName = column.isTeam || (!options.isTyped && isTeamHead(column, options, known));
    const field =
      column === key ? options.key : byName ? known.team?.field : fieldFor(column, options, known);
    if (field === undefined) {
      if (column.head === '' && !column.isMapped) continue;
      if (options.ignoreColumns || reported.includes(column.head)) ignored.push(column.head);
      else if (column.typeProblem) problems.push(column.typeProblem);
      else unknown.push(column);
      continue;
    }
    const other = taken.get(field);
    if (other) {
      problems.push(sameField(other, column, field));
      continue;
    }
    taken.set(field, column);
    const overruling = options.given.get(field) ?? options.given.get(field.split('.', 1)[0] ?? '');
    if (known.service.includes(field)) service.set(field, column);
    else if (overruling !== undefined && column !== key) overruled.set(column.head, overruling);
    else {
      // A typed field is of the top level, even if its name has dots.
      const typed = { field, seen: { path: [field], inList: [false], sample: undefined } };
      const own = options.isTyped ? typed : fieldTarget(field, column, seen);
      const target = byName && known.team ? known.team : own;
      const isNew = !seen.isEmpty && !seen.has(target.field);
      mapped.push({ ...column, target, byName, isNew });
    }
  }
  problems.push(...unknownColumns(unknown, options, known));
  return { columns: mapped, service, ignored, overruled, problems };
}

function fieldTarget(field: string, { type, head, isMapped }: FileColumn, seen: SeenFields) {
  const isWhole = !isMapped && field === head;
  return { field, type: isWhole ? undefined : type, seen: seen.asWhole(field) };
}

/** True for a column such as `Team`, where the records hold ids of teams and no field of that name. */
function isTeamHead(
  { name }: FileColumn,
  { resource, teamColumn }: ImportOptions,
  { team, seen }: KnownFields,
): boolean {
  if (teamColumn !== undefined || !team) return false;
  const isField = seen.names.some((field) => plainName(field) === plainName(name));
  return !isField && aliasKind(name, resource) === 'team';
}

/** The field of a column: of its own name, of an equal name, or of an alias; undefined if there is none. */
function fieldFor(
  { head, name, isMapped }: FileColumn,
  { resource, isTyped, given }: ImportOptions,
  { seen, service }: KnownFields,
): string | undefined {
  if (isTyped) return name;
  const fields = [...new Set([...seen.names, ...service, ...given.keys()])];
  // A field may itself end in what looks like a type.
  if (fields.includes(head) && !isMapped) return head;
  if (fields.includes(name)) return name;
  const equal = fields.filter((field) => plainName(field) === plainName(name));
  if (equal.length === 1) return equal[0];
  if (equal.length > 1 && !isMapped) return undefined;
  const kind = aliasKind(name, resource);
  const sameKind = fields.filter(
    (field) => kind !== undefined && aliasKind(field, resource) === kind,
  );
  if (sameKind.length === 1) return sameKind[0];
  if (isMapped) return name;
  if (!seen.isEmpty) return undefined;
  // Nothing is known of the fields: a column goes by the usual name, or by its own if that can be one.
  if (kind !== undefined && kind !== 'team') return kind;
  return /^[\p{L}_][\p{L}\p{N}_.]*$/u.test(name) && kind !== 'team' ? name : undefined;
}

/** The errors of columns that no field fits; one line of advice serves them all. */
function unknownColumns(
  columns: readonly FileColumn[],
  { resource }: ImportOptions,
  { seen, team }: KnownFields,
): readonly InputError[] {
  const { noun } = resourceWords[resource];
  const fits = seen.names.filter((field) => !field.includes('.'));
  const equalTo = (name: string) =>
    seen.names.filter((field) => plainName(field) === plainName(name));
  const maps = columns.flatMap(({ name }) => {
    const meant = equalTo(name).length > 1 ? undefined : nearest(name, fits);
    return meant === undefined ? [] : [`${name}=${meant}`];
  });
  const rest = maps.length < columns.length ? ['COLUMN=FIELD'] : [];
  const flags = [...maps, ...rest].map((map) => `--map ${shellQuote(map)}`);
  const fields = rest.length > 0 ? `\nThe fields: rosterctl ${resource} template` : '';
  const hint = `Map ${columns.length === 1 ? 'it' : 'them'}: ${flags.join(' ')}. Or skip unknown columns: --ignore-columns${fields}`;
  return columns.map((column) => {
    const { name, isTeam } = column;
    if (isTeam || (!team && aliasKind(name, resource) === 'team'))
      return new InputError(
        `The column ${columnLabel(column)} holds teams, but no ${noun} shows which field holds the ids of its teams.`,
        {
          hint: "Name the field: --team-field 'teamIds[]' for a list, --team-field teamId for one",
        },
      );
    const equal = equalTo(name);
    const near = equal.length > 1 ? ` It may be ${equal.join(' or ')}.` : didYouMean(name, fits);
    return new InputError(`Unknown column ${columnLabel(column)}.${near}`, { hint });
  });
}
