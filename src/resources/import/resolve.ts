/** Resolves the rows of an import against the records that are there: what to create, what to change, what is wrong. */
import { serviceFields } from '../../api/records.js';
import { readWholeList } from '../../bulk/whole-list.js';
import { aliasKind } from '../../cli/column-aliases.js';
import type { Context } from '../../context.js';
import { rowPlace } from '../../data/csv-reader.js';
import { InputErrors } from '../../data/input-errors.js';
import type { JsonObject } from '../../data/json.js';
import { didYouMean } from '../../data/nearest.js';
import { labelOf } from '../../data/path.js';
import { resourceWords } from '../../data/resources.js';
import { lowerFirst, nameFirstFew, plural, shellQuote, upTo } from '../../data/text.js';
import { UsageError } from '../../errors.js';
import type { SelectedRow } from '../../runs/report.js';
import { identityReader, sameIdentity } from '../person/holders.js';
import { readOnlyFields } from '../update.js';
import { importedRow } from './cells.js';
import { type ImportOptions, mapColumns } from './columns.js';
import { readUnlisted } from './created-records.js';
import { type ImportFile, throwRowProblems } from './file.js';
import type { ResolvedImport } from './preview.js';
import { importDoubt, KeyIndex } from './row-keys.js';
import { RowReader } from './row-reader.js';
import { SeenFields } from './seen-fields.js';
import { readTeams, TeamFields, teamTarget } from './teams.js';

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
  const seen = new SeenFields();
  const index = new KeyIndex(options.key, options.comparison);
  const ids = new Map<string, JsonObject>();
  const teamFields = new TeamFields();
  const onRecord = (record: JsonObject) => {
    seen.observe(record);
    index.add(record);
    ids.set(String(record['id']), record);
    if (teams) teamFields.see(record, teams);
  };
  await readWholeList(context, resource, onRecord, importDoubt);
  for (const record of await readUnlisted(context, resource, ids)) onRecord(record);
  checkKeyField(options, seen);
  const team = teams && teamTarget(options.teamField, seen, teamFields.names);
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
