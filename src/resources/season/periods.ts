/** Steps of time, such as weeks, of which those with few applications are joined with their neighbours. */
import { isSmall } from './groups.js';

/** Steps that are counted together, by their first and last index. */
export interface Period {
  readonly first: number;
  readonly last: number;
  readonly members: ReadonlySet<number>;
}

/** The periods of a chart over time, and the applications without a time. */
export interface Timeline {
  readonly periods: readonly Period[];
  /** Applications without a time, as a row of their own. */
  readonly untimed: ReadonlySet<number> | undefined;
  /** True if they are too few for that, so that the last period counts them. */
  readonly hasUntimed: boolean;
}

/**
 * Joins steps until each period has five applications or none, from the first step on; what is left at
 * the end belongs to the last period. Undefined without steps.
 */
export function joinSteps(
  steps: readonly ReadonlySet<number>[],
  untimed: ReadonlySet<number>,
): Timeline | undefined {
  if (steps.length === 0) return undefined;
  const periods: Period[] = [];
  const hasUntimed = isSmall(untimed.size);
  let open: Period | undefined;
  for (const [index, members] of [...steps, ...(hasUntimed ? [untimed] : [])].entries()) {
    const last = Math.min(index, steps.length - 1);
    const joined: Period = open ? join(open, members, last) : { first: last, last, members };
    open = isSmall(joined.members.size) ? joined : undefined;
    if (!open) add(periods, joined);
  }
  if (open) {
    const at = periods.findLastIndex(({ members }) => members.size > 0);
    const end = periods[at];
    // Alone they could be told from the total.
    if (!end)
      return {
        periods: [join(open, untimed, steps.length - 1)],
        untimed: undefined,
        hasUntimed: true,
      };
    // Empty steps before those that are left belong to them.
    periods.splice(at, periods.length - at, join(end, open.members, open.last));
  }
  const apart = untimed.size > 0 && !hasUntimed ? untimed : undefined;
  return { periods, untimed: apart, hasUntimed };
}

/** True if all steps with applications were joined into one, so that there is nothing to compare. */
export function isOneBlock({ periods, untimed }: Timeline): boolean {
  const filled = periods.filter(({ members }) => members.size > 0);
  const [only] = filled;
  return !untimed && filled.length === 1 && only !== undefined && only.first < only.last;
}

/** Returns each step by itself, for exact numbers. */
export function separateSteps(
  steps: readonly ReadonlySet<number>[],
  untimed: ReadonlySet<number>,
): Timeline {
  const periods = steps.map((members, index) => ({ first: index, last: index, members }));
  return { periods, untimed: untimed.size > 0 ? untimed : undefined, hasUntimed: false };
}

/** Adds a period; empty ones in a row are one. */
function add(periods: Period[], period: Period): void {
  const before = periods.at(-1);
  const isSame = before?.members.size === 0 && period.members.size === 0;
  if (isSame) periods.pop();
  periods.push(isSame ? { ...period, first: before.first } : period);
}

function join({ first, members }: Period, more: ReadonlySet<number>, last: number): Period {
  return { first, last, members: new Set([...members, ...more]) };
}
