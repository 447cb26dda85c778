/** The filter of a command line, as typed: what a cursor is bound to. */
import { type TypedLine, typedFlags } from '../cli/typed-line.js';

/** Flags that say how a cursor is used, or how much is printed, but not which entries are meant. */
const notFilters: ReadonlySet<string> = new Set([
  ...['sinceLast', 'changed', 'peek', 'initial', 'exitCode'],
  ...['limit', 'sort'],
]);

/**
 * Returns the filter flags of a line in one form, whatever their order: `--status pending --status
 * reviewing --where 'role~igl'`; an empty text without any.
 */
export function typedFilter(line: TypedLine): string {
  return typedFlags(
    line,
    (name) => !notFilters.has(name),
    (values) => [...new Set(values)].toSorted(),
  ).join(' ');
}
