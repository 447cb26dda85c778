/** `rosterctl tryouts stats`: counts applications by status, game, week and any field. */

import { isGiven } from '../../cli/check.js';
import { ValueWithExit } from '../../cli/command-output.js';
import { defineCommand } from '../../cli/define.js';
import type { View } from '../../cli/views.js';
import { resolveWhen } from '../../data/dates.js';
import type { JsonObject } from '../../data/json.js';
import type { StatsFacts } from '../../resources/stats-page.js';
import { tryoutExcludes } from '../../resources/tryout-filters.js';
import {
  type Counts,
  furtherCounts,
  type Stats,
  tallyFlags,
  tallyTryouts,
} from '../../resources/tryout-tally.js';

const view: View<Stats> = { csvRows: longRows };

export default defineCommand({
  summary: 'Count applications by status, game and week',
  about:
    'A week is named after its Monday, in local time, and counts the applications submitted in it. ' +
    'An application counts once for each of its games. ' +
    'A week that has not begun is left out. CSV has one line per count, with its share. ' +
    '--by counts the values of a field, including a nested one (a.b), or the answers to a question; each of several answers to one question counts, and applications without a value count as (none), in JSON "".',
  examples: [
    ['The whole season', ''],
    ['The last four weeks, for a script', '--since 4w --json'],
    ['One game', '--game Valorant'],
    ['By an answer', "--by 'formResponses.Main role'"],
    ['For a spreadsheet', '-o csv'],
  ],
  calls: ['listTryouts'],
  flags: tallyFlags,
  excludes: tryoutExcludes,
  view,
  async run(context, values) {
    const { api, settings } = context;
    const now = context.now();
    const { since, until, by: _, ...others } = values;
    const tally = await tallyTryouts(context, api.list('tryouts'), values);
    const { stats, players, oldestPending, first, last } = tally;
    if (settings.output !== 'table') return stats;
    const facts: StatsFacts = {
      organization: api.organizationId,
      from: since ? resolveWhen(since, 'start', now) : first,
      to: until
        ? Math.min(resolveWhen(until, 'end', now), now.getTime())
        : since
          ? now.getTime()
          : last,
      oldestPending,
      players,
      isFiltered: Object.values(others).some(isGiven),
      countAll: context.withConnection('rosterctl tryouts stats'),
    };
    const { statsLines } = await import('../../resources/stats-page.js');
    return new ValueWithExit(stats, 'done', {
      lines: (canvas) => statsLines(stats, facts, canvas),
    });
  },
});

/** One row per count, as a spreadsheet pivots it; a share is a fraction of all applications. */
function longRows({
  total,
  byStatus,
  byGame,
  byWeek,
  converted,
  by = {},
}: Stats): readonly JsonObject[] {
  const row = (section: string, label: string, count: number) => ({
    section,
    label,
    count,
    share: total === 0 ? 0 : Number((count / total).toFixed(4)),
  });
  const rowsOf = (section: string, counts: Counts) =>
    Object.entries(counts).map(([label, count]) => row(section, label, count));
  return [
    row('total', '', total),
    ...rowsOf('status', byStatus),
    ...rowsOf('game', byGame),
    ...byWeek.map(({ week, count }) => row('week', week, count)),
    row('converted', '', converted),
    ...furtherCounts(by).flatMap(([field, counts]) => rowsOf(field, counts)),
  ];
}
