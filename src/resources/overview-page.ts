/** The page of `rosterctl overview`: a row for each thing that waits, with the command that shows it. */
import type { Canvas } from '../cli/views.js';
import { timeOf } from '../data/dates.js';
import { andList, groupedNumber, plural, shellQuote } from '../data/text.js';
import {
  durationInWords,
  momentOf,
  parseDuration,
  relativeTime,
  waitingTime,
} from '../data/time.js';
import { describeUnfinished } from '../runs/unfinished.js';
import { dotOf, filledLines, paintedLine } from '../terminal/layout.js';
import { singleLine } from '../terminal/safe-text.js';
import { commandLines } from '../terminal/whole-words.js';
import { pad, widestOf, wrap } from '../terminal/width.js';
import { type DefaultCode, defaultCodes, defaultPatience, type RuleCode } from './findings/rule.js';
import { type Overview, type OverviewResult, recentPeriod } from './overview.js';

/** A row of the page; further rows of a kind have no label. */
interface OverviewRow {
  readonly label: string;
  /** Pieces of text, none of which is broken. */
  readonly texts: readonly string[];
  /** Without one there is nothing to see. */
  readonly command?: string;
}

const labelWidth = 13;
/** A longer text is wrapped, so that commands are close to what they show. */
const maxTextWidth = 40;
/** On a narrower screen texts are put below their labels. */
const minColumns = 60;

/**
 * Renders the overview as lines of at most `canvas.columns`. Commands are beside the texts if all of
 * them fit there, else below, broken so that they can be pasted, but for
 * those with a word that is wider than the screen. `unsent`: what is left of reviews.
 * `command` names the connection in a command.
 */
export function overviewLines(
  result: OverviewResult,
  unsent: readonly { readonly text: string; readonly command: string }[],
  command: (text: string) => string,
  { now, paint, columns, isUtf8 }: Canvas,
): readonly string[] {
  const { organization, profile } = result.overview;
  const title = wrap(singleLine(`Overview of ${organization} (profile ${profile})`), columns);
  const rows = rowsOf(result, unsent, now).map((row) => ({
    ...row,
    pieces: row.texts.map((text) => ({ text: singleLine(text) })),
    typed: row.command === undefined ? '' : command(row.command),
  }));
  const isNarrow = columns < minColumns;
  const indent = isNarrow ? 2 : labelWidth;
  const widths = rows.map(({ pieces }) => paintedLine(pieces, dotOf(isUtf8)).width);
  const textWidth = Math.min(maxTextWidth, Math.max(0, ...widths));
  const isBeside = indent + textWidth + 2 + widestOf(rows.map(({ typed }) => typed)) <= columns;
  const lines = rows.flatMap(({ label, pieces, typed }) => {
    const room = isBeside && typed !== '' ? textWidth : columns - indent;
    const [first = '', ...more] = filledLines(pieces, dotOf(isUtf8), room);
    const text =
      isBeside && typed !== ''
        ? [`${pad(first, room)}  ${paint.dim(typed)}`, ...more]
        : [first, ...more];
    const isBelow = !isBeside && typed !== '';
    const margin = indent + typed.length <= columns ? indent : 2;
    return [
      ...labelled(label, text, isNarrow, paint.bold),
      ...(isBelow ? commandBelow(typed, columns, margin).map(paint.dim) : []),
    ];
  });
  return [...title.map(paint.bold), ...lines];
}

function commandBelow(typed: string, columns: number, margin: number): readonly string[] {
  const lines = commandLines(typed, columns, margin);
  return widestOf(lines) <= columns ? lines : [' '.repeat(margin) + typed];
}

function labelled(
  label: string,
  lines: readonly string[],
  isNarrow: boolean,
  paint: (text: string) => string,
): readonly string[] {
  if (isNarrow)
    return [...(label === '' ? [] : [paint(label)]), ...lines.map((line) => `  ${line}`)];
  const margin = ' '.repeat(labelWidth);
  return lines.map(
    (line, at) => (at === 0 ? paint(label) + margin.slice(label.length) : margin) + line,
  );
}

function rowsOf(result: OverviewResult, unsent: Parameters<typeof overviewLines>[1], now: Date) {
  const { overview } = result;
  // Several runs are only counted, so that the page fits a small screen.
  const named = overview.unfinished.runs.length === 1 ? 1 : 0;
  const unfinished = [...unsent, ...describeUnfinished(overview.unfinished, named)];
  return [
    ...tryoutRows(result, now),
    ...rosterRows(result),
    ...unfinished.map(({ text, command }, at) => ({
      label: at === 0 ? 'Unfinished' : '',
      texts: [text],
      command,
    })),
    ...findingRows(overview),
    backupRow(result, now),
  ];
}

function tryoutRows({ overview, unread }: OverviewResult, now: Date): readonly OverviewRow[] {
  const { waiting, changed, findings } = overview;
  if (!waiting || !changed)
    return [{ label: 'Waiting', texts: [notKnown(unread.get('tryouts') ?? '')] }];
  const { pending, oldest, reviewing, shortlisted } = waiting;
  const since = timeOf(oldest?.submittedAt);
  const age = since === undefined ? '' : `, oldest waits ${waitingTime(now.getTime() - since)}`;
  const accepted = findings['accepted.unconverted'] ?? 0;
  const players = accepted === 1 ? 'a player' : 'players';
  return [
    pending === 0
      ? { label: 'Waiting', texts: ['nobody'] }
      : listRow('Waiting', [`${groupedNumber(pending)} pending${age}`], '--status pending'),
    reviewing + shortlisted > 0 &&
      listRow(
        'In review',
        [`${groupedNumber(reviewing)} reviewing`, `${groupedNumber(shortlisted)} shortlisted`],
        '--status reviewing,shortlisted',
      ),
    changed.submitted + changed.updated === 0
      ? { label: 'Last 7 days', texts: ['nothing new'] }
      : listRow(
          'Last 7 days',
          [
            `${groupedNumber(changed.submitted)} new`,
            `${plural(changed.updated, 'other')} changed`,
          ],
          `--updated-since ${recentPeriod}`,
        ),
    accepted > 0 &&
      listRow(
        'To convert',
        [`${groupedNumber(accepted)} accepted, not ${players} yet`],
        '--status accepted --unconverted',
      ),
  ].filter((each) => each !== false);
}

function listRow(label: string, texts: readonly string[], flags: string): OverviewRow {
  return { label, texts, command: `rosterctl tryouts list ${flags}` };
}

const rosterWords = {
  'player.noTeam': (count: number) => `${plural(count, 'player')} in no team`,
  'team.empty': (count: number) => `${plural(count, 'team')} without players`,
  'document.untagged': (count: number) => `${plural(count, 'document')} without tags`,
} as const satisfies Partial<Record<RuleCode, (count: number) => string>>;

function rosterRows({ overview, unread }: OverviewResult): readonly OverviewRow[] {
  const codes = (Object.keys(rosterWords) as (keyof typeof rosterWords)[]).filter(
    (code) => (overview.findings[code] ?? 0) > 0,
  );
  const texts = codes.map((code) => rosterWords[code](overview.findings[code] ?? 0));
  const rows: OverviewRow[] = [];
  if (codes.length > 0)
    rows.push({ label: 'Rosters', texts, command: `rosterctl check --only ${codes.join(',')}` });
  const tryoutReason = overview.waiting === null ? unread.get('tryouts') : undefined;
  // The applications have a row of their own.
  for (const reason of unread.values())
    if (reason !== tryoutReason)
      rows.push({ label: rows.length === 0 ? 'Rosters' : '', texts: [notKnown(reason)] });
  return rows;
}

function notKnown(reason: string): string {
  return `not known: ${reason}`;
}

const findingWords: { readonly [C in DefaultCode]: (count: number) => string } = {
  waiting: (count) =>
    `${groupedNumber(count)} waiting over ${durationInWords(parseDuration(defaultPatience))}`,
  'accepted.unconverted': (count) => `${groupedNumber(count)} not converted`,
  'duplicate.email': (count) => plural(count, 'duplicate e-mail'),
  'duplicate.discord': (count) => plural(count, 'duplicate Discord user'),
  'time.future': (count) => plural(count, 'future time'),
  'status.unknown': (count) => plural(count, 'unknown status', 'unknown statuses'),
};

function findingRows({ waiting, findings }: Overview): readonly OverviewRow[] {
  if (waiting === null) return [];
  const found = defaultCodes.flatMap((code) => {
    const count = findings[code] ?? 0;
    return count > 0 ? [findingWords[code](count)] : [];
  });
  return found.length === 0
    ? [{ label: 'Findings', texts: ['none'] }]
    : [{ label: 'Findings', texts: found, command: 'rosterctl check' }];
}

function backupRow(
  { overview: { backup }, isBackupUnread }: OverviewResult,
  now: Date,
): OverviewRow {
  const label = 'Last backup';
  if (isBackupUnread) return { label, texts: [notKnown('its record cannot be read')] };
  if (!backup)
    return { label, texts: ['none from this machine'], command: 'rosterctl help backup' };
  const { finishedAt, complete, leftOut = [], exists, snapshot } = backup;
  const made = momentOf(finishedAt);
  const age = made ? relativeTime(made, now) : finishedAt;
  if (exists === false)
    return { label, texts: [`${age}, but its folder is gone`], command: 'rosterctl help backup' };
  const command = `rosterctl backup verify ${shellQuote(snapshot)}`;
  if (exists === null) return { label, texts: [`${age}, but its folder cannot be read`], command };
  const without = leftOut.length > 0 ? [`without ${andList(leftOut)}`] : [];
  const texts = [age, ...(complete ? [] : ['incomplete']), ...without];
  return { label, texts, command };
}
