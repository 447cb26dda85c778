/** Rows of a chart from groups of applications. */
import { singleLine } from '../../terminal/safe-text.js';
import { truncate } from '../../terminal/width.js';
import { isSmall, type TryoutGroup } from './groups.js';
import type { ChartRow } from './page.js';

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
