/** The list commands: a resource's records filtered, or only those that are new since a cursor. */
import type { ValueWithExit } from '../cli/command-output.js';
import {
  type Filters,
  type ListValues,
  listAndCacheIds,
  type SinceLastValues,
} from '../cli/filters.js';
import { type FilteredList, filterList } from '../cli/lists/filter-list.js';
import type { TypedLine } from '../cli/typed-line.js';
import type { Context } from '../context.js';
import type { ResourceName } from '../data/resources.js';
import { usualOrder } from '../data/sorting.js';
import { UsageError } from '../errors.js';
import type { SummarizedValues } from './list-summary.js';

/**
 * Returns the records of a list command, filtered; with `--since-last` only what is new. Throws what
 * the filters and `listSinceLast` throw, and UsageError for its flags without it. `filters`: those that
 * only this resource has.
 */
export async function listCommand(
  context: Context,
  typed: ListValues & SinceLastValues & SummarizedValues,
  line: TypedLine,
  resource: ResourceName,
  filters?: Filters,
): Promise<FilteredList | ValueWithExit<FilteredList>> {
  const { fields, template, overrides } = context.settings;
  const values = { ...typed, ...(await filters?.resolve?.(context, typed)) };
  const tests = filters?.tests(values, context) ?? [];
  const { sinceLast } = values;
  if (sinceLast !== undefined) {
    const { listSinceLast } = await import('../cursors/list-since-last.js');
    return listSinceLast(context, { ...values, sinceLast }, line, { resource, tests });
  }
  checkAlone(values);
  const listed =
    fields === undefined && template === undefined
      ? undefined
      : new (await import('../cli/lists/listed-fields.js')).ListedFields(
          context.settings,
          resource,
        );
  const records = listAndCacheIds(context, resource, filters?.query?.(values, overrides));
  // In a pipe, it says only which games or tags there are.
  const isSummarized = context.isAligned || (values.game ?? values.tag) !== undefined;
  const summary = isSummarized
    ? (await import('./list-summary.js')).listSummaries[resource]?.(values)
    : undefined;
  const list = filterList(listed ? listed.observing(records) : records, values, {
    resource,
    tests,
    order: context.isAligned ? usualOrder(resource) : undefined,
    notes: context,
    summary,
  });
  return { ...list, listed };
}

/** Throws UsageError for a flag that means nothing without `--since-last`. */
export function checkAlone({ changed, peek, initial, exitCode }: Partial<SinceLastValues>): void {
  const given = [
    ...(changed === undefined ? [] : ['--changed']),
    ...(peek ? ['--peek'] : []),
    ...(initial === undefined ? [] : ['--initial']),
    ...(exitCode ? ['--exit-code'] : []),
  ];
  if (given[0] !== undefined)
    throw new UsageError(`${given[0]} needs --since-last NAME.`, {
      hint: 'Choose any NAME, such as mail. See: rosterctl help cursors',
    });
}

/**
 * Returns the filters of a change or a download, which say as a list does which games or tags there are
 * if they name one that no record has.
 */
export function explained(resource: ResourceName, filters: Filters): Filters {
  return {
    ...filters,
    async summary(values: SummarizedValues) {
      if ((values.game ?? values.tag) === undefined) return undefined;
      const own = Object.entries(values).filter(([name]) => filters.names.includes(name));
      return (await import('./list-summary.js')).listSummaries[resource]?.(Object.fromEntries(own));
    },
  };
}
