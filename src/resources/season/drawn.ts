/** Charts as drawn: the groups of applications in them, and a row for each on the page. */
import { singleLine } from '../../terminal/safe-text.js';
import { truncate } from '../../terminal/width.js';
import type { ValuesOfTryout } from '../field-counts.js';
import type { CountedTryout } from '../tryout-tally.js';
import { type Grouping, isSmall, type TryoutGroup } from './groups.js';
import type { ChartRow, SeasonChart } from './page.js';

/** An application, as far as a page needs it. */
export interface SeasonTryout extends CountedTryout {
  /** When it was last changed, in milliseconds since 1970; undefined without a readable time. */
  readonly updated: number | undefined;
}

/** A field of `--by`: its name, and which values of an application belong to it. */
export interface SeasonField {
  readonly name: string;
  valuesIn(values: ValuesOfTryout): readonly string[];
}

/** A chart, and the groups in it. */
export interface DrawnChart extends Grouping {
  readonly chart: SeasonChart;
}

/** Returns a chart that shows no numbers, but a sentence why. */
export function withoutRows(
  { title, unit }: Pick<SeasonChart, 'title' | 'unit'>,
  instead: string,
): DrawnChart {
  return { chart: { title, unit, rows: [], instead }, groups: [], overlaps: false };
}

/** The sentence in place of a chart of which no group may be shown. */
export const tooFewEach = 'The groups are too small to show.';

/** The label of what was merged. */
const restLabel = 'other';

const maxLabelColumns = 60;

/** Returns a text of the service or an applicant as a short line without anything that hides or reorders text. */
export function rowLabel(text: string, columns = maxLabelColumns): string {
  const line = truncate(singleLine(text), columns);
  return line.trim() === '' ? '(blank)' : line;
}

/** Returns a group for each key: the number in the list of each application that has it. */
export function groupsBy(
  keys: readonly (readonly string[])[],
  known: readonly { readonly label: string; readonly members: Set<number> }[] = [],
): readonly (TryoutGroup & { readonly label: string })[] {
  const groups = new Map(known.map((group) => [group.label, group]));
  for (const [member, labels] of keys.entries())
    for (const label of labels) {
      const group = groups.get(label) ?? { label, members: new Set<number>() };
      groups.set(label, group);
      group.members.add(member);
    }
  return [...groups.values()];
}

/**
 * Returns a row for each group. Where they overlap, a number close to `total` would tell how few are not
 * in the group, and has words instead.
 */
export function barsOf(
  groups: readonly TryoutGroup[],
  total: number,
  nameOf: (label: string) => string,
  { overlaps = false }: { readonly overlaps?: boolean } = {},
): readonly ChartRow[] {
  return groups.map(({ label, members: { size } }) => {
    const name = label === undefined ? restLabel : nameOf(label);
    if (overlaps && isSmall(total - size))
      return { label: name, count: undefined, words: 'nearly all' };
    return { label: name, count: size };
  });
}
