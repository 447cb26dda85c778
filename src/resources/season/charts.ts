/** The charts of a season: applications by status, week, game and answer, the funnel, and how long ago they changed. */
import { TryoutStatus } from '../../api/schemas.js';
import { waitingStatus } from '../tryout-filters.js';
import {
  barsOf,
  type DrawnChart,
  groupsBy,
  rowLabel,
  type SeasonField,
  type SeasonTryout,
  tooFewEach,
  withoutRows,
} from './drawn.js';
import { fieldChart } from './field-chart.js';
import { givesAway, isSmall, mergeSmall, type TryoutGroup } from './groups.js';
import type { ChartRow, SeasonChart } from './page.js';
import { changesChart, weeksChart } from './timelines.js';

/** The sentence in place of a chart that gives a small group away together with another. */
const givenAway =
  'Not shown: together with the charts above, it could reveal a group of fewer than five.';

/** How many games have a row of their own. */
const mostGames = 12;

/**
 * Returns the charts. Unless `isExact`, no number of one to four applications can be read from them or
 * computed, not even from two of them. Throws UsageError for a field with too many values.
 */
export function seasonCharts(
  tryouts: readonly SeasonTryout[],
  fields: readonly SeasonField[],
  isExact: boolean,
): readonly SeasonChart[] {
  const status = statusGroups(tryouts, isExact);
  const drawn: DrawnChart[] = [
    statusChart(status, tryouts.length),
    funnelChart(tryouts, status, isExact),
    weeksChart(tryouts, isExact),
    gamesChart(tryouts, isExact),
    changesChart(tryouts, isExact),
  ];
  for (const [index, field] of fields.entries()) {
    const values = tryouts.map((tryout) => {
      const own = tryout.values[index];
      return own ? field.valuesIn(own) : [''];
    });
    const next = fieldChart(field.name, values, isExact);
    drawn.push(!isExact && givesAway(drawn, next) ? withoutRows(next.chart, givenAway) : next);
  }
  return drawn.map(({ chart }) => chart);
}

function statusGroups(
  tryouts: readonly SeasonTryout[],
  isExact: boolean,
): readonly TryoutGroup[] | undefined {
  const known = TryoutStatus.options.map((label) => ({ label, members: new Set<number>() }));
  const groups = groupsBy(
    tryouts.map(({ status }) => [status]),
    known,
  );
  const shown = isExact ? groups : mergeSmall(groups);
  return shown && [...groups.filter((group) => shown.includes(group)), ...shown.filter(isRest)];
}

function isRest({ label }: TryoutGroup): boolean {
  return label === undefined;
}

function statusChart(groups: readonly TryoutGroup[] | undefined, total: number): DrawnChart {
  const chart = { title: 'By status', unit: 'Status' };
  if (!groups) return withoutRows(chart, tooFewEach);
  return { chart: { ...chart, rows: barsOf(groups, total, rowLabel) }, groups, overlaps: false };
}

function gamesChart(tryouts: readonly SeasonTryout[], isExact: boolean): DrawnChart {
  const chart = { title: 'By game', unit: 'Game' };
  const groups = groupsBy(tryouts.map(({ games }) => games));
  if (groups.length === 0) return withoutRows(chart, 'No application names a game.');
  const bySize = groups.toSorted((a, b) => b.members.size - a.members.size);
  const shown = isExact ? bySize : mergeSmall(bySize, mostGames);
  if (!shown) return withoutRows(chart, tooFewEach);
  const note = 'An applicant may play several.';
  const isCut = shown.filter((group) => !isRest(group)).length === mostGames && shown.some(isRest);
  const rest = ` All but the ${mostGames} largest are counted as "other".`;
  const rows = barsOf(shown, tryouts.length, rowLabel, { overlaps: !isExact });
  return {
    chart: { ...chart, note: isCut ? note + rest : note, rows },
    groups: shown,
    overlaps: true,
  };
}

interface Stage {
  readonly label: string;
  readonly includes: (status: string) => boolean;
}

const hasStatus =
  (...statuses: readonly TryoutStatus[]) =>
  (status: string) =>
    statuses.some((each) => each === status);

const stages: readonly Stage[] = [
  { label: 'Submitted', includes: () => true },
  { label: 'No longer pending', includes: (status) => status !== waitingStatus },
  { label: 'Shortlisted or accepted', includes: hasStatus('shortlisted', 'accepted') },
  { label: 'Accepted', includes: hasStatus('accepted') },
];

const funnelNote =
  'As of today: the service keeps no history. Someone who was shortlisted and then rejected counts only as no longer pending.';

/**
 * Returns the funnel. `groups`: the statuses as the page shows them. A stage that is not made of whole
 * groups has no number, since the difference would be a number that the page does not show.
 */
function funnelChart(
  tryouts: readonly SeasonTryout[],
  groups: readonly TryoutGroup[] | undefined,
  isExact: boolean,
): DrawnChart {
  const chart = { title: 'Funnel', unit: 'Stage' };
  const players = new Set(tryouts.flatMap((tryout, at) => (tryout.isConverted ? [at] : [])));
  if (!groups) return withoutRows(chart, tooFewEach);
  const shown = new Set(groups.map(({ label }) => label));
  const isMerged = shown.has(undefined);
  const merged = [...new Set(tryouts.map(({ status }) => status)), ...TryoutStatus.options].filter(
    (status) => !shown.has(status),
  );
  const rows = stages.map(({ label, includes }): ChartRow => {
    const isWhole = merged.every(includes) || !merged.some(includes);
    if (isMerged && !isWhole) return hidden(label);
    return { label, count: tryouts.filter(({ status }) => includes(status)).length };
  });
  const areFew = groups.some(({ members }) => {
    const both = [...members].filter((member) => players.has(member)).length;
    return isSmall(both) || isSmall(members.size - both);
  });
  const isHidden = areFew && !isExact;
  const label = 'Became players';
  const all = [...rows, isHidden ? hidden(label) : { label, count: players.size }];
  const why = all.some(({ count }) => count === undefined)
    ? ' Numbers that would reveal a group of fewer than five are not shown.'
    : '';
  return {
    chart: { ...chart, note: funnelNote + why, rows: all },
    groups: isHidden ? [] : [{ label, members: players }],
    overlaps: true,
  };
}

function hidden(label: string): ChartRow {
  return { label, count: undefined, words: 'not shown' };
}
