/** `rosterctl tryouts stats`: counts applications by status, game, week and any field. */
import * as z from 'zod/mini';
import { TryoutStatus } from '../../api/schemas.js';
import { defineCommand, params, ValueWithExit } from '../../cli/define.js';
import { listFlags } from '../../cli/filters.js';
import { filterList } from '../../cli/lists/filter-list.js';
import type { View } from '../../cli/views.js';
import { mondayOf, resolveWhen, timeOf } from '../../data/dates.js';
import type { JsonObject } from '../../data/json.js';
import { type Counts, FieldCounts } from '../../resources/field-counts.js';
import type { Stats, StatsFacts } from '../../resources/stats-page.js';
import {
  gamesOf,
  isConverted,
  tryoutExcludes,
  tryoutFilters,
  tryoutTests,
  waiting,
} from '../../resources/tryout-filters.js';

const view: View<Stats> = {
  kind: 'lines',
  columns: ['section', 'label', 'count', 'share'],
  csvRows: longRows,
};

export default defineCommand({
  summary: 'Count applications by status, game and week',
  about:
    'A week is named after its Monday, in local time, and counts the applications submitted in it. ' +
    'An application counts once for each of its games. ' +
    'A week that has not begun is left out. CSV has one line per count, with its share. ' +
    '--by counts the values of a field, also a dotted one, or the answers to a question; several ' +
    'answers to one question count each, and applications without a value count as (none), in JSON "".',
  examples: [
    ['The whole season', ''],
    ['The last four weeks, for a script', '--since 4w --json'],
    ['One game', '--game Valorant'],
    ['By an answer', "--by 'formResponses.Main role'"],
    ['For a spreadsheet', '-o csv'],
  ],
  calls: ['listTryouts'],
  flags: {
    ...tryoutFilters,
    where: listFlags.where,
    search: listFlags.search,
    by: params(
      z.optional(z.array(z.string().check(z.minLength(1, 'must not be empty')))),
      'also count by this field or question',
      { placeholder: 'FIELD', group: 'output', completes: 'field' },
    ),
  },
  excludes: tryoutExcludes,
  view,
  async run(context, values) {
    const { api, settings } = context;
    const now = context.now();
    const { since, until, by = [], ...others } = values;
    const filters = { ...values, sort: undefined, limit: undefined };
    const fields = [...new Set(by)].map((field) => new FieldCounts(field));
    const list = filterList(api.list('tryouts'), filters, {
      resource: 'tryouts',
      tests: [...tryoutTests(values, context), ...fields.map((field) => field.test())],
      notes: context,
      onLabels(nameOf) {
        for (const field of fields) field.rename(nameOf);
      },
    });
    const { stats, oldestPending, first, last } = await tally(list, now, fields);
    if (settings.output !== 'table') return stats;
    const facts: StatsFacts = {
      organization: api.organizationId,
      from: since ? resolveWhen(since, 'start', now) : first,
      to: until ? Math.min(resolveWhen(until, 'end', now), now.getTime()) : last,
      oldestPending,
      isFiltered: Object.values(others).some((value) => value !== undefined && value !== false),
    };
    const { statsLines } = await import('../../resources/stats-page.js');
    return new ValueWithExit(stats, 'done', {
      lines: (canvas) => statsLines(stats, facts, canvas),
    });
  },
});

interface Tally {
  readonly stats: Stats;
  /** Times in milliseconds since 1970; undefined if no record has a readable one. */
  readonly oldestPending: number | undefined;
  readonly first: number | undefined;
  readonly last: number | undefined;
}

async function tally(
  records: AsyncIterable<JsonObject>,
  now: Date,
  fields: readonly FieldCounts[],
): Promise<Tally> {
  const statuses = new Map<string, number>(TryoutStatus.options.map((status) => [status, 0]));
  const games = new Map<string, number>();
  const weeks = new Map<string, number>();
  let total = 0;
  let converted = 0;
  let oldestPending: number | undefined;
  let first: number | undefined;
  let last: number | undefined;
  for await (const record of records) {
    total += 1;
    if (isConverted(record)) converted += 1;
    const status = String(record['status']);
    add(statuses, status);
    for (const game of gamesOf(record)) add(games, game);
    for (const field of fields) field.add(record);
    const ms = timeOf(String(record['submittedAt']));
    if (ms === undefined) continue;
    first = Math.min(first ?? ms, ms);
    last = Math.max(last ?? ms, ms);
    if (status === waiting) oldestPending = Math.min(oldestPending ?? ms, ms);
    const week = mondayOf(new Date(ms));
    if (week <= mondayOf(now)) add(weeks, week);
  }
  const stats = {
    schema: 1 as const,
    total,
    byStatus: Object.fromEntries(statuses),
    byGame: Object.fromEntries([...games].toSorted(([, a], [, b]) => b - a)),
    byWeek: [...weeks]
      .map(([week, count]) => ({ week, count }))
      .toSorted((a, b) => (a.week < b.week ? -1 : 1)),
    converted,
    ...(fields.length > 0 && { by: Object.fromEntries(fields.map((field) => field.counts())) }),
  };
  return { stats, oldestPending, first, last };
}

function add(counts: Map<string, number>, word: string): void {
  counts.set(word, (counts.get(word) ?? 0) + 1);
}

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
    ...Object.entries(by).flatMap(([field, counts]) => rowsOf(field, counts)),
  ];
}
