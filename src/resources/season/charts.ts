/** The charts of a season: applications by status, week, game and answer, the funnel, and how long ago they changed. */
import { TryoutStatus } from '../../api/schemas.js';
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
import { funnelChart } from './funnel.js';
import { givesAway, mergeSmall, type TryoutGroup } from './groups.js';
import type { SeasonChart } from './page.js';
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
