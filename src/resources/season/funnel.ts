/** The funnel as of today: how far the applications of a season have come, from their statuses. */
import { TryoutStatus } from '../../api/schemas.js';
import { waiting } from '../tryout-filters.js';
import { type DrawnChart, type SeasonTryout, tooFewEach, withoutRows } from './drawn.js';
import { isSmall, type TryoutGroup } from './groups.js';
import type { ChartRow } from './page.js';

interface Stage {
  readonly label: string;
  readonly includes: (status: string) => boolean;
}

const oneOf =
  (...statuses: readonly TryoutStatus[]) =>
  (status: string) =>
    statuses.some((each) => each === status);

const stages: readonly Stage[] = [
  { label: 'Submitted', includes: () => true },
  { label: 'No longer pending', includes: (status) => status !== waiting },
  { label: 'Shortlisted or accepted', includes: oneOf('shortlisted', 'accepted') },
  { label: 'Accepted', includes: oneOf('accepted') },
];

const note =
  'As of today: the service keeps no history. Someone who was shortlisted and then rejected counts only as no longer pending.';

/**
 * Returns the funnel. `groups`: the statuses as the page shows them. A stage that is not made of whole
 * groups has no number, since the difference would be a number that the page does not show.
 */
export function funnelChart(
  tryouts: readonly SeasonTryout[],
  groups: readonly TryoutGroup[] | undefined,
  isExact: boolean,
): DrawnChart {
  const chart = { title: 'Funnel', unit: 'Stage' };
  const players = new Set(tryouts.flatMap(({ isConverted }, at) => (isConverted ? [at] : [])));
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
    chart: { ...chart, note: note + why, rows: all },
    groups: isHidden ? [] : [{ label, members: players }],
    overlaps: true,
  };
}

function hidden(label: string): ChartRow {
  return { label, count: undefined, words: 'not shown' };
}
