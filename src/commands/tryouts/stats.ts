/** `rosterctl tryouts stats`: counts applications by status, game and week. */
import { TryoutStatus } from '../../api/schemas.js';
import { defineCommand } from '../../cli/define.js';
import { filterList, listFlags } from '../../cli/filters.js';
import { type Canvas, linesOf } from '../../cli/views.js';
import { mondayOf, timeOf } from '../../data/dates.js';
import type { JsonObject } from '../../data/json.js';
import { plural } from '../../data/text.js';
import {
  gamesOf,
  isConverted,
  tryoutExcludes,
  tryoutFilters,
  tryoutTests,
} from '../../resources/tryout-filters.js';
import { singleLine } from '../../terminal/safe-text.js';
import { pad, truncate, widestOf } from '../../terminal/width.js';

type Counts = Readonly<Record<string, number>>;

interface Stats {
  readonly schema: 1;
  readonly total: number;
  readonly byStatus: Counts;
  readonly byGame: Counts;
  readonly byWeek: readonly { readonly week: string; readonly count: number }[];
  readonly converted: number;
}

export default defineCommand({
  summary: 'Count applications by status, game and week',
  about:
    'A week is named after its Monday, in local time, and counts the applications submitted in it. ' +
    'An application counts once for each of its games.',
  examples: [
    ['The whole season', ''],
    ['The last four weeks, for a script', '--since 4w --json'],
    ['One game', '--game Valorant'],
  ],
  calls: ['listTryouts'],
  flags: { ...tryoutFilters, where: listFlags.where, search: listFlags.search },
  excludes: tryoutExcludes,
  view: linesOf(statsLines),
  async run(context, values) {
    const { api } = context;
    const filters = { ...values, sort: undefined, limit: undefined };
    const tests = tryoutTests(values, context);
    return tally(
      filterList(api.list('tryouts'), filters, { resource: 'tryouts', tests, notes: context }),
    );
  },
});

async function tally(records: AsyncIterable<JsonObject>): Promise<Stats> {
  const statuses = new Map<string, number>(TryoutStatus.options.map((status) => [status, 0]));
  const games = new Map<string, number>();
  const weeks = new Map<string, number>();
  let total = 0;
  let converted = 0;
  for await (const record of records) {
    total += 1;
    if (isConverted(record)) converted += 1;
    add(statuses, String(record['status']));
    for (const game of gamesOf(record)) add(games, game);
    const ms = timeOf(String(record['submittedAt']));
    if (ms !== undefined) add(weeks, mondayOf(new Date(ms)));
  }
  return {
    schema: 1,
    total,
    byStatus: Object.fromEntries(statuses),
    byGame: Object.fromEntries([...games].toSorted(([, a], [, b]) => b - a)),
    byWeek: [...weeks]
      .map(([week, count]) => ({ week, count }))
      .toSorted((a, b) => (a.week < b.week ? -1 : 1)),
    converted,
  };
}

function add(counts: Map<string, number>, word: string): void {
  counts.set(word, (counts.get(word) ?? 0) + 1);
}

function statsLines(stats: Stats, canvas: Canvas): readonly string[] {
  const weeks = Object.fromEntries(stats.byWeek.map(({ week, count }) => [week, count]));
  const players = stats.converted === 1 ? 'a player' : 'players';
  return [
    canvas.paint.bold(
      `${plural(stats.total, 'application')}, ${stats.converted} converted to ${players}`,
    ),
    ...section('By status', stats.byStatus, canvas),
    ...section('By game', stats.byGame, canvas),
    ...section('By week (Monday)', weeks, canvas),
  ];
}

function section(
  title: string,
  counts: Readonly<Record<string, number>>,
  { columns, paint }: Canvas,
): readonly string[] {
  const lines = barLines(counts, columns);
  return lines.length > 0 ? ['', paint.bold(title), ...lines] : [];
}

const maxWidth = 80;
const maxLabelWidth = 24;

/**
 * Renders one line per count: label, number and a bar, of which the longest fills the line (at most
 * 80 columns).
 */
function barLines(counts: Readonly<Record<string, number>>, columns: number): readonly string[] {
  const rows = Object.entries(counts).map(
    ([label, count]) => [truncate(singleLine(label), maxLabelWidth), count] as const,
  );
  const labels = widestOf(rows.map(([label]) => label));
  const digits = widestOf(rows.map(([, count]) => String(count)));
  const room = Math.max(0, Math.min(columns, maxWidth) - labels - digits - '    '.length - 2);
  const highest = rows.reduce((greatest, [, count]) => Math.max(greatest, count), 1);
  return rows.map(([label, count]) => {
    const bar = '█'.repeat(count === 0 ? 0 : Math.max(1, Math.round((count / highest) * room)));
    return `  ${pad(label, labels)}  ${String(count).padStart(digits)}  ${bar}`.trimEnd();
  });
}
