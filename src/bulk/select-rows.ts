/** Selects the rows of an invocation: ids, a file, a CSV, or filters over a complete list. */
import { hasId } from '../api/records.js';
import { keepHeapSmall } from '../api/wire.js';
import type { ListValues } from '../cli/filters.js';
import { byteText } from '../cli/input.js';
import { filterList } from '../cli/lists/filter-list.js';
import type { Context } from '../context.js';
import { collect } from '../data/batches.js';
import { type CsvKey, fieldNamesOf, idKey, referenceKindsOf } from '../data/references.js';
import {
  incompleteList,
  type LookedUpKind,
  type Overrides,
  type ResourceName,
  resourceWords,
} from '../data/resources.js';
import { orList } from '../data/text.js';
import type { Operation, Selection, Source } from '../engine/operation.js';
import {
  Failure,
  GuardError,
  MissingArgumentError,
  stoppedReading,
  UsageError,
} from '../errors.js';
import { inputBytes, spreadsheetProgram, unreadable } from '../files/input-file.js';
import type { SelectedRow } from '../runs/report.js';
import { type BulkValues, checkExpected, type Invocation } from './invocation.js';
import { selectIds } from './row-names.js';
import type { CsvInput } from './selection.js';

/** The part of an operation that defines its selection. */
export type Selecting = Pick<Operation, 'resource' | 'csv' | 'overrules' | 'filters'>;

/** The selection values of an invocation, for the flags that its command has. */
export type SelectionValues = Partial<BulkValues>;

/**
 * The source of an invocation's rows. Throws
 * UsageError if it names several sources, MissingArgumentError if it names none.
 */
export function sourceOf(values: SelectionValues, operation: Selecting): Source {
  const { ids = [], idsFile, csv, all } = values;
  const filters = (operation.filters?.names ?? []).filter((name) => isGiven(values[name]));
  if (values.key !== undefined && csv === undefined) throw new UsageError('--key needs --csv.');
  const limits = ['limit', 'sort'].filter((name) => isGiven(values[name]));
  const named: (readonly [Source, string])[] = [];
  if (ids.length > 0) named.push(['ids', 'ids']);
  if (idsFile !== undefined) named.push(['idsFile', '--ids']);
  if (csv !== undefined) named.push(['csv', '--csv']);
  if (filters.length > 0 || all) named.push(['filter', filters.length > 0 ? 'filters' : '--all']);
  const [first, second] = named;
  if (first && second)
    throw new UsageError(
      `Give ${orList(named.map(([, word]) => word))}, ${named.length === 2 ? 'not both' : 'only one of them'}.`,
    );
  if (filters.length > 0 && all) throw new UsageError('Give filters or --all, not both.');
  if (!first) {
    const ways = [
      'ids',
      '--ids',
      ...(operation.csv ? ['--csv'] : []),
      ...(operation.filters ? ['a filter', '--all'] : []),
    ];
    const { plural } = resourceWords[operation.resource];
    throw new MissingArgumentError(`Which ${plural}? Give ${orList(ways)}.`, {
      hint: `To find ids: rosterctl ${operation.resource} list`,
    });
  }
  const sheetFlag =
    values.sheet === undefined ? values.takeFormulas && '--take-formulas' : '--sheet';
  if (sheetFlag && csv === undefined) throw new UsageError(`${sheetFlag} needs --csv FILE.xlsx.`);
  if (limits.length > 0 && first[0] !== 'filter')
    throw new UsageError(`--${limits[0]} needs a filter, or --all.`);
  return first[0];
}

/** Selects rows from ids or a file, without a request. Throws UsageError, InputError. */
export async function selectLocally(
  context: Context,
  values: SelectionValues,
  operation: Selecting,
  source: Exclude<Source, 'filter'>,
): Promise<Selection> {
  const { ids = [], idsFile = '', csv = '' } = values;
  if (source === 'ids') return selectIds(ids);
  const path = source === 'csv' ? csv : idsFile;
  const input: CsvInput = {
    name: path === '-' ? 'stdin' : path,
    map: values.map ?? [],
    ignoreUnknownColumns: values.ignoreColumns ?? false,
    raw: context.settings.csvRaw,
    rules: { ...(operation.csv ?? idsOnly), overruled: operation.overrules?.(values as never) },
    sheet: values.sheet,
    takeFormulas: values.takeFormulas,
    note: (line) => context.message(line),
    keepsCells: values.results !== undefined,
    resource: operation.resource,
    key: keyOf(context, operation, values),
    otherKeys: source === 'csv' ? keysOf(context, operation) : undefined,
    organizationId: context.api.organizationId,
    signal: context.signal,
  };
  const { selectCsv, selectFromText } = await import('./selection.js');
  if (source === 'csv') {
    if (path !== '-') await noteOpenWorkbook(context, path);
    const selection = await selectCsv(inputChunks(context, path), input);
    if (selection.note) context.note(selection.note);
    noteIfEmpty(context, input.name, selection);
    return selection;
  }
  const text = await byteText(inputChunks(context, path), input.name);
  const rules = { rules: idsOnly, ignoreUnknownColumns: true };
  const selection = await selectFromText(text, { ...input, ...rules });
  noteIfEmpty(context, input.name, selection);
  return selection;
}

/** Notes that a file is why there is nothing to do. */
function noteIfEmpty(context: Context, name: string, { rows }: Selection): void {
  if (rows.length === 0) context.note(`${name} has no rows.`);
}

/** The CSV column that `--key` names. Throws UsageError for a kind that the resource does not know. */
function keyOf(
  { settings }: Context,
  { resource }: Selecting,
  { key = 'id' }: SelectionValues,
): CsvKey {
  if (key === 'id') return idKey;
  const kinds = referenceKindsOf(resource);
  if (!kinds.includes(key))
    throw new UsageError(
      `--key ${key} does not find ${resource}. Use ${orList(['id', ...kinds])}.`,
    );
  return csvKey(resource, key, settings.overrides);
}

/** The CSV columns that `--key` may name besides the id. */
function keysOf({ settings }: Context, { resource }: Selecting): readonly CsvKey[] {
  return referenceKindsOf(resource).map((kind) => csvKey(resource, kind, settings.overrides));
}

function csvKey(resource: ResourceName, kind: LookedUpKind, overrides: Overrides): CsvKey {
  return { kind, names: [kind, ...fieldNamesOf(resource, kind, overrides)] };
}

/** Notes that a file is open in a spreadsheet program, whose unsaved changes nobody else sees. */
export async function noteOpenWorkbook(context: Context, path: string): Promise<void> {
  const program = await spreadsheetProgram(path);
  if (program !== undefined)
    context.message(
      `${path} is open in ${program}. Changes that are not saved there are not read.`,
    );
}

/** The rows that filters selected, and how many records match where `--limit` cut them. */
export interface FilteredRows {
  readonly rows: readonly SelectedRow[];
  readonly matched: number;
}

/** The rows of an invocation. Throws GuardError if they are not as many as --expect says, and as `selectByFilter`. */
export async function selectRows(
  context: Context,
  { operation, values, selection }: Invocation,
): Promise<FilteredRows> {
  const found = selection
    ? { rows: selection.rows, matched: selection.rows.length }
    : await selectByFilter(context, values, operation);
  checkExpected(found.rows.length, values);
  return found;
}

/**
 * Lists the records, applies the filters and cuts at `--limit`, in the order of the table. Throws
 * GuardError (11) if the list may be incomplete.
 */
export async function selectByFilter(
  context: Context,
  typed: SelectionValues,
  operation: Selecting,
): Promise<FilteredRows> {
  const resolved = await operation.filters?.resolve?.(context, typed as never);
  const values: SelectionValues = { ...typed, ...resolved };
  const query = operation.filters?.query?.(values as never, context.settings.overrides);
  const list = context.api.list(operation.resource, query, { checksCompleteness: true });
  const tests = operation.filters?.tests(values as never, context) ?? [];
  const filtered = filterList(list, values as SelectionValues & ListValues, {
    resource: operation.resource,
    tests,
    inOrder: true,
    notes: context,
  });
  const records = await collect(filtered);
  const completeness = list.completeness();
  if (completeness.state === 'doubtful') {
    const doubt = incompleteList(operation.resource, completeness.reason);
    if (!values.allowPartial)
      throw new GuardError(`${doubt} Nothing was changed.`, {
        code: 'incomplete',
        hint: [
          ...(completeness.fixes ?? []),
          'To continue with what is there, add --allow-partial',
        ].join('\n'),
      });
    context.message(doubt);
  }
  if (!records.every((record) => hasId(record)))
    throw new GuardError(
      `A record in the list of ${resourceWords[operation.resource].plural} has no id. Nothing was changed.`,
      {
        code: 'incomplete',
        hint: `See: rosterctl ${operation.resource} list -o json`,
      },
    );
  const rows = records.map((record, index) => ({
    row: index + 1,
    id: String(record['id']),
    record,
  }));
  return { rows, matched: filtered.counts.matched };
}

/** The selection flags as typed; with the job they identify equivalent command lines. */
export function filterKey(values: SelectionValues, operation: Selecting): unknown {
  const names = [...(operation.filters?.names ?? []), 'all', 'limit', 'sort'];
  return names.map((name) => [name, values[name] ?? null]);
}

const idsOnly = { columns: [], exported: [], open: false };

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== false && !(Array.isArray(value) && value.length === 0);
}

/** Reading in small pieces leaves little garbage: only the ids live long. */
const pieceBytes = 16 * 1024;
const longInput = 256 * 1024;

/** Yields the bytes of an input file, or of stdin for `-`. Throws InputError, CancelledError. */
export async function* inputChunks(context: Context, path: string): AsyncGenerator<Uint8Array> {
  const { stdin } = context.streams;
  try {
    const stream =
      path === '-' ? stdin.stream : inputBytes(path, { pieceBytes, signal: context.signal });
    let read = 0;
    for await (const chunk of stream) {
      const before = read;
      read += chunk.length;
      // For inputs of e.g. 100,000 rows; once the rows are known it would be too late.
      if (read > longInput && before <= longInput) await keepHeapSmall(context.nodeVersion);
      yield Buffer.from(chunk);
    }
  } catch (error) {
    if (path === '-' && context.signal.aborted) throw stoppedReading('stdin');
    throw error instanceof Failure ? error : unreadable(path === '-' ? 'stdin' : path, error);
  }
}
