/** The filter of a command line, as typed: what a cursor is bound to. */
import type { RawValues } from '../cli/check.js';
import type { ManifestCommand } from '../data/command-manifest.js';
import { shellQuote } from '../data/text.js';

/** A command line: its command, and the values of its flags as typed. */
export interface TypedLine {
  readonly plain: ManifestCommand;
  readonly raw: RawValues;
}

/** Flags that say how a cursor is used, or how much is printed, but not which entries are meant. */
const notFilters: ReadonlySet<string> = new Set([
  ...['sinceLast', 'changed', 'peek', 'initial', 'exitCode'],
  ...['limit', 'sort'],
]);

/**
 * Returns the filter flags of a line in one form, whatever their order: `--status pending --status
 * reviewing --where 'role~igl'`; an empty text without any.
 */
export function typedFilter({ plain, raw }: TypedLine): string {
  return plain.flags
    .filter(({ name }) => !notFilters.has(name))
    .flatMap(({ name, word }) => {
      const given = raw[name];
      if (given === undefined || given === false) return [];
      if (given === true) return [word];
      const values: readonly string[] = typeof given === 'string' ? [given] : given;
      return [...new Set(values)].toSorted().map((value) => `${word} ${shellQuote(value)}`);
    })
    .join(' ');
}
