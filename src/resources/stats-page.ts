/** The page of `tryouts stats`: shares as bars, games, the weeks as a sparkline, and the fields of `--by`. */
import { fieldLabel } from '../cli/lists/labels.js';
import type { Canvas } from '../cli/views.js';
import { localDay, mondaysBetween, timeOf } from '../data/dates.js';
import { groupedNumber, percent, upTo } from '../data/text.js';
import { longDay, shortDay, waitingTime } from '../data/time.js';
import {
  dotOf,
  filledLines,
  type LabelledRow,
  labelledLines,
  type Piece,
} from '../terminal/layout.js';
import { singleLine } from '../terminal/safe-text.js';
import { wrapWholeWords } from '../terminal/whole-words.js';
import { displayWidth, pad, truncate, widestOf, wrap } from '../terminal/width.js';
import { waitingStatus } from './tryout-filters.js';
import { type Counts, furtherCounts, type Stats } from './tryout-tally.js';

/** The page's facts beyond the counts; times in milliseconds since 1970. */
export interface StatsFacts {
  readonly organization: string;
  readonly from: number | undefined;
  readonly to: number | undefined;
  readonly oldestPending: number | undefined;
  /** How many applications became players, by their status. */
  readonly players: ReadonlyMap<string, number>;
  /** True if filters other than those of time select the applications. */
  readonly isFiltered: boolean;
  /** The command that counts all applications. */
  readonly countAll: string;
}

/** On a wider page, a bar and its number would be too far apart. */
const maxWidth = 80;

/** Renders the counts as lines of at most `canvas.columns`. */
export function statsLines(stats: Stats, facts: StatsFacts, canvas: Canvas): readonly string[] {
  const columns = Math.min(canvas.columns, maxWidth);
  const title = titleLines(stats, facts, canvas, columns);
  if (stats.total === 0) return title;
  const rows = [...gamesRow(stats, canvas), ...weeksRow(stats, canvas)];
  const bold = rows.map((row) => ({ ...row, paint: canvas.paint.bold }));
  return [
    ...title,
    ...statusLines(stats, facts, canvas, columns),
    ...labelledLines(bold, columns),
    ...furtherCounts(stats.by).flatMap(([field, counts]) =>
      fieldLines(field, counts, stats.total, canvas, columns),
    ),
  ];
}

function titleLines(
  { total }: Stats,
  { organization, from, to, isFiltered, countAll }: StatsFacts,
  { now, paint, isUtf8 }: Canvas,
  columns: number,
): readonly string[] {
  const who = `${isFiltered ? 'Matching applications' : 'Applications'} of ${singleLine(organization)}`;
  if (total === 0 && isFiltered)
    return wrapWholeWords(`No application matches. To count all of them: ${countAll}`, columns);
  if (total === 0) return wrap(`${who}: none.`, columns);
  const days = from === undefined || to === undefined ? [] : [new Date(from), new Date(to)];
  const [start = now, end = now] = days;
  const dash = isUtf8 ? '–' : '-';
  const period =
    localDay(start) === localDay(end)
      ? longDay(end)
      : `${shortDay(start, end)} ${dash} ${longDay(end)}`;
  const title = days.length === 0 ? who : `${who}, ${period}`;
  const all = `${groupedNumber(total)} in all`;
  const free = columns - displayWidth(title) - all.length;
  if (free < 2) return [...wrap(title, columns).map(paint.bold), all];
  return [`${paint.bold(title)}${' '.repeat(free)}${all}`];
}

const maxLabelWidth = 24;
const maxBarWidth = 29;
/** A remark beside a shorter bar goes below it instead. */
const minBarWidth = 8;

function statusLines(stats: Stats, facts: StatsFacts, canvas: Canvas, columns: number) {
  const bars = Object.entries(stats.byStatus).map(([status, count]) => ({
    label: status || '(none)',
    count,
    paint: canvas.paint.status,
    remark: remarkOf(status, facts, canvas.now),
  }));
  return barLines(bars, stats.total, canvas, columns);
}

/** How many values of a field have a bar on a screen; the others are counted. */
const maxValues = 12;

/** A field of `--by`: numbers in ascending order, anything else by frequency, the most frequent first. */
function fieldLines(field: string, counts: Counts, total: number, canvas: Canvas, columns: number) {
  const { paint, isTerminal } = canvas;
  const { '': none = 0, ...values } = counts;
  const entries = Object.entries(values);
  const areNumbers = entries.every(([value]) => Number.isFinite(Number(value)));
  const sorted = entries.toSorted(([a, m], [b, n]) => (areNumbers ? Number(a) - Number(b) : n - m));
  const shown = isTerminal ? sorted.slice(0, maxValues) : sorted;
  const more = sorted.length - shown.length;
  const bars = [
    ...shown.map(([label, count]) => ({ label, count })),
    ...(none > 0 ? [{ label: '(none)', count: none, paint: paint.dim }] : []),
  ];
  const question = field.startsWith('formResponses.') ? field.slice(field.indexOf('.') + 1) : '';
  const heading = singleLine(question || fieldLabel(field));
  return [
    ...wrap(truncate(heading, columns * 3), columns).map(paint.bold),
    ...barLines(bars, total, canvas, columns),
    ...(more > 0 ? [paint.dim(`  and ${groupedNumber(more)} more values`)] : []),
  ];
}

interface Bar {
  readonly label: string;
  readonly count: number;
  readonly paint?: (text: string) => string;
  readonly remark?: string;
}

/** One line per count: its bar is its share of `total`. */
function barLines(bars: readonly Bar[], total: number, { paint, isUtf8 }: Canvas, columns: number) {
  const rows = bars.map(({ label, count, remark = '', paint: ofLabel = (text) => text }) => ({
    label: truncate(singleLine(label), maxLabelWidth),
    number: groupedNumber(count),
    share: count / total,
    remark,
    ofLabel,
  }));
  const labels = widestOf(rows.map(({ label }) => label));
  const digits = widestOf(rows.map(({ number }) => number));
  const remarks = widestOf(rows.map(({ remark }) => remark));
  const room = columns - '  '.length - labels - 2 - digits - '  100 %'.length - 2;
  const beside = room - remarks - 3;
  const isBeside = remarks === 0 || beside >= minBarWidth;
  const width = Math.max(0, Math.min(maxBarWidth, isBeside ? beside : room));
  return rows.flatMap(({ label, number, share, remark, ofLabel }) => {
    const bar = width < 4 ? '' : `${barOf(share, width, isUtf8)}  `;
    const counted = `${bar}${number.padStart(digits)}  ${percent(share).padStart(5)}`;
    const name = ofLabel(label) + pad(label, labels).slice(label.length);
    const line = `  ${name}  ${counted}`;
    if (remark === '') return [line];
    if (isBeside) return [`${line}   ${paint.dim(remark)}`];
    return [line, ...wrap(remark, columns - 4).map((text) => `    ${paint.dim(text)}`)];
  });
}

/** Returns the remarks on a status: how long the oldest pending one waits, how many became players. */
function remarkOf(status: string, { oldestPending, players }: StatsFacts, now: Date): string {
  const waits = status === waitingStatus && oldestPending !== undefined;
  const count = players.get(status) ?? 0;
  return [
    ...(waits && oldestPending < now.getTime()
      ? [`oldest waits ${waitingTime(now.getTime() - oldestPending)}`]
      : []),
    ...(count > 0
      ? [`${groupedNumber(count)} became ${count === 1 ? 'a player' : 'players'}`]
      : []),
  ].join(', ');
}

function barOf(share: number, width: number, isUtf8: boolean): string {
  const full = share === 0 ? 0 : Math.max(1, Math.round(share * width));
  const [on, off] = isUtf8 ? ['█', '░'] : ['#', '.'];
  return on.repeat(full) + off.repeat(width - full);
}

/** How many games are named; the others are counted. */
const maxGames = 12;

function gamesRow({ byGame }: Stats, { paint, isUtf8 }: Canvas): readonly LabelledRow[] {
  const games = Object.entries(byGame);
  if (games.length === 0) return [];
  const counts = games.map(
    ([game, count]) => `${truncate(singleLine(game), maxLabelWidth)} ${groupedNumber(count)}`,
  );
  const shown = upTo(maxGames, counts, (more) => `and ${groupedNumber(more)} more`);
  const pieces = shown.map((text): Piece => ({ text }));
  const note: Piece = { text: '(an applicant may play several)', paint: paint.dim };
  const lines = (room: number) =>
    [pieces, [note]].flatMap((each) => filledLines(each, dotOf(isUtf8), room));
  return [{ label: 'Games', lines }];
}

/** The submissions of each week from the first to the last, weeks without any included. */
function weeksRow({ byWeek }: Stats, { now, paint, isUtf8 }: Canvas): readonly LabelledRow[] {
  const [first, last] = [byWeek[0], byWeek.at(-1)];
  if (!first || !last) return [];
  const counts = new Map(byWeek.map(({ week, count }) => [week, count]));
  const day = (week = '') => shortDay(new Date(timeOf(week) ?? 0), now);
  const lines = (room: number) => {
    const most = room - day(first.week).length - day(last.week).length - 2;
    const weeks = mondaysBetween(first.week, last.week, Math.max(1, most));
    const values = weeks.map((week) => counts.get(week) ?? 0);
    const highest = Math.max(...values);
    const chart = sparkline(values, highest, isUtf8);
    const days =
      weeks.length === 1 ? [day(weeks[0]), chart] : [day(weeks[0]), chart, day(weeks.at(-1))];
    const pieces = [
      { text: days.join(' ') },
      { text: `up to ${groupedNumber(highest)} a week`, paint: paint.dim },
    ];
    return filledLines(pieces, '  ', room);
  };
  return [{ label: 'Weeks', lines }];
}

function sparkline(values: readonly number[], highest: number, isUtf8: boolean): string {
  const levels = Array.from(isUtf8 ? '▁▂▃▄▅▆▇█' : '_.:-=+*#');
  return values
    .map((value) => levels[Math.ceil((value / Math.max(1, highest)) * (levels.length - 1))] ?? '')
    .join('');
}
