/** Selects the rows of an invocation: ids, a file, a CSV, or filters over a complete list. */

import { hasId } from '../api/records.js';
import { isGiven } from '../cli/check.js';
import { filterList } from '../cli/lists/filter-list.js';
import type { Context } from '../context.js';
import { collect } from '../data/batches.js';
import { digestOf } from '../data/digest.js';
import { identityOf, parseReference, rowOf } from '../data/references.js';
import { incompleteList, resourceWords } from '../data/resources.js';
import { usualOrder } from '../data/sorting.js';
import { orList } from '../data/text.js';
import type { Selection, Source } from '../engine/operation.js';
import { GuardError, MissingArgumentError, UsageError } from '../errors.js';
import type { SelectedRow } from '../runs/report.js';
import { type BulkValues, checkExpected, type Invocation, type Selecting } from './invocation.js';

/**
 * The source of an invocation's rows. Throws
 * UsageError if it names several sources, MissingArgumentError if it names none.
 */
export function sourceOf(values: Partial<BulkValues>, operation: Selecting): Source {
  const { ids = [], idsFile, csv, all = false } = values;
  const hasFilter = operation.filters?.names.some((name) => isGiven(values[name])) ?? false;
  if (values.key !== undefined && csv === undefined) throw new UsageError('--key needs --csv.');
  const sources: readonly (readonly [isNamed: boolean, source: Source, word: string])[] = [
    [ids.length > 0, 'ids', 'ids'],
    [idsFile !== undefined, 'idsFile', '--ids'],
    [csv !== undefined, 'csv', '--csv'],
    [hasFilter || all, 'filter', hasFilter ? 'filters' : '--all'],
  ];
  const named = sources.filter(([isNamed]) => isNamed);
  if (named.length > 1)
    throw new UsageError(
      `Give ${orList(named.map(([, , word]) => word))}, ${named.length === 2 ? 'not both' : 'only one of them'}.`,
    );
  if (hasFilter && all) throw new UsageError('Give filters or --all, not both.');
  const source = named[0]?.[1];
  if (source === undefined) throw missingSource(operation);
  const sheetFlag =
    values.sheet === undefined ? values.takeFormulas && '--take-formulas' : '--sheet';
  if (sheetFlag && csv === undefined) throw new UsageError(`${sheetFlag} needs --csv FILE.xlsx.`);
  const limit = ['limit', 'sort'].find((name) => isGiven(values[name]));
  if (limit !== undefined && source !== 'filter')
    throw new UsageError(`--${limit} needs a filter, or --all.`);
  return source;
}

function missingSource({ resource, csv, filters }: Selecting): MissingArgumentError {
  const ways = [
    'ids',
    '--ids',
    ...(csv ? ['--csv'] : []),
    ...(filters ? ['a filter', '--all'] : []),
  ];
  return new MissingArgumentError(
    `Which ${resourceWords[resource].plural}? Give ${orList(ways)}.`,
    { hint: `To find ids: rosterctl ${resource} list` },
  );
}

/** Selects rows from ids or a file, without a request. Throws UsageError, InputError. */
export async function selectLocally(
  context: Context,
  values: Partial<BulkValues>,
  operation: Selecting,
  source: Exclude<Source, 'filter'>,
): Promise<Selection> {
  if (source === 'ids') return selectIds(values.ids ?? []);
  return (await import('./selection.js')).selectFromFile(context, values, operation, source);
}

/** The rows that filters selected, and how many records match where `--limit` cut them. */
export interface FilteredRows {
  readonly rows: readonly SelectedRow[];
  readonly matched: number;
}

/** The rows of an invocation. Throws GuardError if a filter finds not as many as --expect says, and as `selectByFilter`. */
export async function selectRows(
  context: Context,
  { operation, values, selection }: Invocation,
): Promise<FilteredRows> {
  if (selection) return { rows: selection.rows, matched: selection.rows.length };
  const found = await selectByFilter(context, values, operation);
  checkExpected(found.rows.length, values);
  return found;
}

/**
 * Lists the records, applies the filters and cuts at `--limit`, in the order of the table. Throws
 * GuardError (11) if the list may be incomplete.
 */
export async function selectByFilter(
  context: Context,
  typed: Partial<BulkValues>,
  operation: Selecting,
): Promise<FilteredRows> {
  const resolved = await operation.filters?.resolve?.(context, typed);
  const values: Partial<BulkValues> = { ...typed, ...resolved };
  const query = operation.filters?.query?.(values, context.settings.overrides);
  const list = context.api.list(operation.resource, query, { checksCompleteness: true });
  const tests = operation.filters?.tests(values, context) ?? [];
  const summary = await operation.filters?.summary?.(values);
  const filtered = filterList(list, values, {
    resource: operation.resource,
    tests,
    order: usualOrder(operation.resource),
    notes: context,
    summary,
  });
  const records = await collect(filtered);
  const unknown = summary && (await import('../cli/lists/end.js')).unknownValueNote(filtered);
  if (unknown !== undefined) context.note(unknown);
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
      { code: 'incomplete', hint: `See: rosterctl ${operation.resource} list -o json` },
    );
  const rows = records.map((record, index) => ({
    row: index + 1,
    id: String(record['id']),
    record,
  }));
  return { rows, matched: filtered.counts.matched };
}

/** The selection flags as typed; with the job they identify equivalent command lines. */
export function filterKey(values: Partial<BulkValues>, operation: Selecting): unknown {
  const names = [...(operation.filters?.names ?? []), 'all', 'limit', 'sort'];
  return names.map((name) => [name, values[name] ?? null]);
}

/** Rows for ids and references typed on the command line. Throws UsageError for a duplicate. */
export function selectIds(words: readonly string[]): Selection {
  const known = new Set<string>();
  const rows = words.map((word, index) => {
    const reference = parseReference(word);
    if (known.size === known.add(identityOf(reference)).size)
      throw new UsageError(
        reference.kind === 'id'
          ? `The id ${reference.value} is given twice.`
          : `${reference.text} is given twice.`,
      );
    return rowOf(reference, index + 1);
  });
  return { rows, digest: digestOf(words) };
}
