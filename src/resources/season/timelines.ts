/**
 * Charts over time, in weeks: when applications were submitted, and how long after that they last changed.
 * Weeks with few applications are joined with their neighbours.
 */
import { mondaysBetween } from '../../data/dates.js';
import { plural } from '../../data/text.js';
import { longDay, shortDay } from '../../data/time.js';
import { isSmall } from './groups.js';
import {
  type ChartRow,
  type DrawnChart,
  type SeasonTryout,
  type TimeColumn,
  withoutRows,
} from './page.js';

/** How many weeks have a column: two years. */
const mostWeeks = 104;

const tooFewInSteps = 'Too few applications to show in weeks.';

const weekMs = 7 * 86_400_000;

/** Draws the submissions of each week, from the first to the last with any. */
export function weeksChart(tryouts: readonly SeasonTryout[], isExact: boolean): DrawnChart {
  const chart = { title: 'By week', unit: 'Submitted' };
  const weeks = tryouts.flatMap(({ week = [] }) => week).toSorted();
  // Beyond two years, the first step covers its week and all before.
  const [oldest, newest] = [weeks[0], weeks.at(-1)];
  if (oldest === undefined || newest === undefined)
    return withoutRows(chart, 'No application has a readable date in the past.');
  const starts = mondaysBetween(oldest, newest, mostWeeks + 1);
  const hasBefore = starts.length > mostWeeks;
  const steps = starts.map(() => new Set<number>());
  const untimed = new Set<number>();
  for (const [member, { week }] of tryouts.entries()) {
    const step = week === undefined ? untimed : steps[Math.max(0, starts.indexOf(week))];
    step?.add(member);
  }
  const timeline = isExact ? separateSteps(steps, untimed) : joinSteps(steps, untimed);
  if (isOneBlock(timeline)) return withoutRows(chart, tooFewInSteps);
  const label = ({ first, last }: Period) => {
    const end = dayOf(starts[last] ?? '', 6);
    if (hasBefore && first === 0) return `Until ${longDay(end)}`;
    return `${shortDay(dayOf(starts[first] ?? ''), end)} – ${longDay(end)}`;
  };
  const rows = rowsOf(timeline, label, 'no date, or a date in the future');
  const offset = hasBefore ? 1 : 0;
  const columns = timeline.periods
    .filter(({ first, members }) => first >= offset && members.size > 0)
    .map(({ first, last, members: { size } }): TimeColumn => {
      const width = last - first + 1;
      return { first: first - offset, width, height: size / width };
    });
  const [begin, end] = [columns[0], columns.at(-1)];
  if (!begin || !end) return { chart: { ...chart, rows }, ...groupsOf(timeline) };
  const from = longDay(dayOf(starts[begin.first + offset] ?? ''));
  const to = longDay(dayOf(starts[end.first + end.width - 1 + offset] ?? '', 6));
  const highest = Math.max(...columns.map(({ height }) => height));
  const isJoined = columns.some(({ width }) => width > 1);
  const scale = `The highest column stands for ${Number(highest.toFixed(1))} a week${isJoined ? '; a wider one shows the average of its weeks' : ''}.`;
  const note = isJoined ? 'Weeks with fewer than five applications are joined.' : undefined;
  const drawn = { ...chart, note, rows, timeline: { columns, from, to, scale } };
  return { chart: drawn, ...groupsOf(timeline) };
}

/** The last step of the time to the last change holds everything longer. */
const mostWeeksToChange = 12;

/** Draws how many weeks lie between the submission and the last change. */
export function changesChart(tryouts: readonly SeasonTryout[], isExact: boolean): DrawnChart {
  const chart = {
    title: 'Time from submission to the last change',
    unit: 'Time',
    note: 'Any change counts. The service keeps no history, so this is not the time to a decision.',
  };
  const ages = tryouts.map(weeksToChange);
  const longest = ages.reduce<number>((most, age) => Math.max(most, age ?? 0), 0);
  const steps = Array.from({ length: longest + 1 }, () => new Set<number>());
  const untimed = new Set<number>();
  for (const [member, age] of ages.entries())
    (age === undefined ? untimed : steps[age])?.add(member);
  const undated = tryouts.filter(({ week }) => week === undefined).length;
  // The weeks show how many are undated; the difference must not be small either.
  const tellsFew = !isExact && isSmall(untimed.size - undated) && undated > 0;
  const timeline = isExact ? separateSteps(steps, untimed) : joinSteps(steps, untimed);
  if (tellsFew)
    return withoutRows(chart, 'Too few applications lack one of the times to show the others.');
  if (isOneBlock(timeline)) return withoutRows(chart, tooFewInSteps);
  const rows = rowsOf(timeline, changeLabel, 'unknown');
  return { chart: { ...chart, rows }, ...groupsOf(timeline) };
}

/** Undefined also for a submission that the weeks leave out. */
function weeksToChange({ week, submitted, updated }: SeasonTryout): number | undefined {
  if (week === undefined || submitted === undefined || updated === undefined) return undefined;
  if (updated < submitted) return undefined;
  return Math.min(mostWeeksToChange, Math.floor((updated - submitted) / weekMs));
}

function changeLabel({ first, last }: Period): string {
  if (last === mostWeeksToChange) return `${plural(first, 'week')} or more`;
  if (first === 0) return `under ${plural(last + 1, 'week')}`;
  return first === last ? plural(first, 'week') : `${first} to ${plural(last, 'week')}`;
}

function rowsOf(
  { periods, untimed, hasUntimed }: Timeline,
  label: (period: Period) => string,
  without: string,
): readonly ChartRow[] {
  return [
    ...periods.map((period, index): ChartRow => {
      const isLast = index === periods.findLastIndex(({ members }) => members.size > 0);
      const also = hasUntimed && isLast ? `, or ${without}` : '';
      return { label: label(period) + also, count: period.members.size };
    }),
    ...(untimed ? [{ label: without, count: untimed.size }] : []),
  ];
}

function groupsOf({ periods, untimed }: Timeline): Omit<DrawnChart, 'chart'> {
  const members = [...periods.map((period) => period.members), ...(untimed ? [untimed] : [])];
  return { groups: members.map((each) => ({ label: '', members: each })), overlaps: false };
}

function dayOf(monday: string, later = 0): Date {
  const [year = 0, month = 1, day = 1] = monday.split('-').map(Number);
  const date = new Date(0);
  date.setFullYear(year, month - 1, day + later);
  return date;
}

/** Steps that are counted together, by their first and last index. */
interface Period {
  readonly first: number;
  readonly last: number;
  readonly members: ReadonlySet<number>;
}

/** The periods of a chart over time, and the applications without a time. */
interface Timeline {
  readonly periods: readonly Period[];
  /** Applications without a time, as a row of their own. */
  readonly untimed: ReadonlySet<number> | undefined;
  /** True if they are too few for that, so that the last period counts them. */
  readonly hasUntimed: boolean;
}

/**
 * Joins steps until each period has five applications or none, from the first step on; what is left at
 * the end belongs to the last period.
 */
export function joinSteps(
  steps: readonly ReadonlySet<number>[],
  untimed: ReadonlySet<number>,
): Timeline {
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
    // Shown alone, their number would follow from the total.
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
function isOneBlock({ periods, untimed }: Timeline): boolean {
  const filled = periods.filter(({ members }) => members.size > 0);
  const [only] = filled;
  return !untimed && filled.length === 1 && only !== undefined && only.first < only.last;
}

/** Returns each step by itself, for exact numbers. */
function separateSteps(steps: readonly ReadonlySet<number>[], untimed: ReadonlySet<number>) {
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
