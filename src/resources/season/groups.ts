/**
 * Groups of applications on a page that others read: small ones are merged, so that no count of one
 * to four can be read from it or computed from its totals and sums.
 */

/** The fewest applications that a page counts. */
const leastShown = 5;

/** Applications with something in common, by their number in the list. */
export interface TryoutGroup {
  /** Undefined for the merged rest. */
  readonly label: string | undefined;
  readonly members: ReadonlySet<number>;
}

/** True for a number of applications that a page must not give away. */
export function isSmall(count: number): boolean {
  return count > 0 && count < leastShown;
}

/**
 * Returns the groups, largest first, with the small ones as a last group without a label; and as many of
 * the next smallest as it takes to have five applications in it. At most `most` groups are shown beside it.
 * Undefined if nothing would.
 */
export function mergeSmall(
  groups: readonly TryoutGroup[],
  most = Infinity,
): readonly TryoutGroup[] | undefined {
  const sorted = groups.toSorted((a, b) => memberCount(b) - memberCount(a));
  const isKept = (group: TryoutGroup, index: number) =>
    index < most && memberCount(group) >= leastShown;
  let kept = sorted.filter(isKept);
  let merged = sorted.filter((group, index) => !isKept(group, index));
  if (merged.every((group) => memberCount(group) === 0)) return sorted;
  while (union(merged).size < leastShown || areToldBySum(merged)) {
    const next = kept.at(-1);
    if (!next) break;
    // All of one size at once, because which of them was taken would tell something.
    merged = [...kept.filter((group) => memberCount(group) === memberCount(next)), ...merged];
    kept = kept.filter((group) => memberCount(group) > memberCount(next));
  }
  if (kept.length === 0) return undefined;
  return [...kept, { label: undefined, members: union(merged) }];
}

/** True if all have the size that is just too small: nothing else adds up to the sum. */
function areToldBySum(merged: readonly TryoutGroup[]): boolean {
  return merged.every((group) => memberCount(group) === leastShown - 1);
}

function memberCount({ members }: TryoutGroup): number {
  return members.size;
}

function union(groups: readonly TryoutGroup[]): ReadonlySet<number> {
  return new Set(groups.flatMap(({ members }) => [...members]));
}

/** The groups of one chart. */
export interface Grouping {
  readonly groups: readonly TryoutGroup[];
  /** True if an application may be in several of them. */
  readonly overlaps: boolean;
}

/**
 * True if a small number can be computed by anybody who knows that groups of one chart are part of a group of
 * another: of 14 who play a game, 12 named it as their main one.
 */
export function givesAway(charts: readonly Grouping[], next: Grouping): boolean {
  return charts.some((chart) => leavesFew(chart, next) || leavesFew(next, chart));
}

/** True if groups of `inner` fill a group of `outer` but for a small rest. */
function leavesFew(inner: Grouping, outer: Grouping): boolean {
  return outer.groups.some(({ members }) => {
    const contained = inner.groups
      .map((group) => group.members)
      .filter((each) => each.size > 0 && isWithin(each, members));
    const sizes = contained.map(({ size }) => size);
    const filled = inner.overlaps ? sizes : [sizes.reduce((sum, size) => sum + size, 0)];
    return filled.some((size) => size > 0 && isSmall(members.size - size));
  });
}

function isWithin(inner: ReadonlySet<number>, outer: ReadonlySet<number>): boolean {
  if (inner.size > outer.size) return false;
  for (const member of inner) if (!outer.has(member)) return false;
  return true;
}
