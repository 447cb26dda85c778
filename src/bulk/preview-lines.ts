/** The lines of a preview: how many records of how many, the first rows with old → new, and what cannot be undone. */

import { quotesHint } from '../cli/failures/parse-errors.js';
import { shortValue } from '../cli/lines.js';
import { sandboxProfile } from '../config/choices.js';
import type { Context } from '../context.js';
import { nameWithId } from '../data/path.js';
import { eventFieldOf } from '../data/resources.js';
import { groupedNumber, nameFirstFew, plural, upTo } from '../data/text.js';
import { momentOf, relativeTime } from '../data/time.js';
import { beforeAndAfter } from '../engine/decide.js';
import type { PreviewStyle } from '../engine/operation.js';
import {
  countsAsError,
  isDeletion,
  type ReportRow,
  type RowChange,
  resultWord,
} from '../runs/report.js';
import { type Action, countedNoun, verbOf } from '../runs/verb.js';
import { fillPieces } from '../terminal/whole-words.js';
import { hasMore, type Preview, type Subject } from './preview.js';
import type { PreviewFrame } from './report-view.js';
import { type AlignedRow, aboutRow, alignedRows, describeChanges } from './row-lines.js';

/** All rows of a preview, for the answer `l`. */
export function allRowLines(
  context: Context,
  subject: Subject,
  preview: Preview,
): readonly string[] {
  const own = subject.describe?.(preview, { canAsk: false, lists: 'all' });
  return own ?? rowLines(context, subject, preview);
}

/** The lines of a preview. */
export function previewLines(
  context: Context,
  subject: Subject,
  preview: Preview,
  { canAsk }: Pick<PreviewStyle, 'canAsk'>,
): string[] {
  const { tasks, decided } = preview;
  const own = subject.describe?.(preview, { canAsk: canAsk && hasMore(tasks) });
  if (own) return [...own];
  const isCut = hasMore(tasks);
  const rows = { ...preview, tasks: isCut ? tasks.slice(0, nameFirstFew) : tasks };
  const more = `  … ${groupedNumber(tasks.length - nameFirstFew)} more${canAsk ? ' (l lists all)' : ''}`;
  const { above, below } = previewFrame(context, subject, preview);
  return [
    ...above,
    ...rowLines(context, subject, rows),
    ...(isCut ? [more] : []),
    ...stayingLine(subject, decided),
    ...failingLines(subject, preview),
    ...below,
  ];
}

/** The lines of a preview above and below its rows, for a report that lists all of them. */
export function previewFrame(context: Context, subject: Subject, preview: Preview): PreviewFrame {
  const lists = context.settings.verbose ? 'all' : 'changes';
  const own = subject.describe?.(preview, { canAsk: false, lists });
  if (own) return { above: own, below: [], holdsRows: true };
  return {
    above: [headLine(context, subject, preview.tasks.length), ...movesLines(context, preview)],
    below: [...quotesLine(context, subject, preview), ...flowsWarnings(subject, preview)],
  };
}

/** The warning before a status changes. */
export const flowsWarning =
  "Status changes trigger your organization's Flows (automations). That cannot be undone.";

/** The warning, if one of the rows changes a status whose change emits events. */
export function flowsWarnings(
  { resource }: Pick<Action, 'resource'>,
  { tasks }: Pick<Preview, 'tasks'>,
): readonly string[] {
  const changed = eventFieldOf(resource);
  const emits = tasks.some(({ previewed }) => previewed?.some(({ field }) => field === changed));
  return emits ? [flowsWarning] : [];
}

/** `5 of 47 pending Football applications, newest first, in org_demo (profile club, api.example.com):` */
function headLine(context: Context, subject: Subject, count: number): string {
  const { matched, words = { before: '', after: '', order: '' } } = subject;
  const [, ...noun] = countedNoun(matched, subject).split(' ');
  const what = [words.before, ...noun].filter((word) => word !== '').join(' ');
  const all = groupedNumber(matched);
  const many = count === matched ? all : `${groupedNumber(count)} of ${all}`;
  const { purpose } = verbOf(subject);
  const order = words.order !== '' && purpose !== '' ? `${words.order},` : words.order;
  const place = `${words.after}${order}` === '' ? ' in' : ', in';
  return `${many} ${what}${words.after}${order}${purpose}${place} ${changePlace(context)}:`;
}

/** The target of a change: `org_demo (profile club, api.example.com)`. */
export function changePlace({ settings, api }: Context): string {
  // The sandbox listens on any free port.
  const isSandbox = settings.profile.name === sandboxProfile;
  const service = isSandbox ? '' : `, ${new URL(api.baseUrl).host}`;
  return `${api.organizationId} (profile ${settings.profile.name}${service})`;
}

/**
 * `  14 reviewing → rejected, 2 pending → rejected, 1 keeps its status`, broken between two counts; nothing if
 * the rows show all of it.
 */
function movesLines(
  { streams: { stderr } }: Pick<Context, 'streams'>,
  { tasks }: Preview,
): readonly string[] {
  // Rows with equal changes share them.
  const rows = new Map<readonly RowChange[], number>();
  for (const { previewed = [] } of tasks) rows.set(previewed, (rows.get(previewed) ?? 0) + 1);
  const moves = new Map<string, number>();
  for (const [changes, count] of rows)
    for (const { field, from, to } of changes) {
      if (field !== 'status') continue;
      const move = `${shortValue(from)} → ${shortValue(to)}`;
      moves.set(move, (moves.get(move) ?? 0) + count);
    }
  if (moves.size === 0 || (moves.size === 1 && !hasMore(tasks))) return [];
  const kept = tasks.filter(({ previewed }) =>
    previewed?.every(({ field }) => field !== 'status'),
  ).length;
  const parts = [...moves].map(([move, count]) => `${groupedNumber(count)} ${move}`);
  if (kept > 0)
    parts.push(kept === 1 ? '1 keeps its status' : `${groupedNumber(kept)} keep their status`);
  const pieces = parts.map((part, at) => (at < parts.length - 1 ? `${part},` : part));
  const columns = stderr.isTerminal ? stderr.columns : Infinity;
  return fillPieces(pieces, columns - 2).map((line) => `  ${line}`);
}

/** One line for each row: its id, its name, its age, and what it changes; wrapped on a terminal. */
function rowLines(
  { streams: { stderr }, now }: Pick<Context, 'streams' | 'now'>,
  action: Action,
  { tasks, names, times }: Preview,
): readonly string[] {
  const deletes = action.verb === 'delete';
  const rows = tasks.map(({ id, previewed }): AlignedRow => {
    const [deletion] = deletes ? (previewed ?? []) : [];
    const name = names?.get(id) ?? deletion?.from ?? '';
    const time = momentOf(times?.get(id) ?? '');
    const age = time ? relativeTime(time, now()) : '';
    const cells = [shortValue(id), shortValue(name), age] as const;
    if (!previewed) return { cells, detail: 'could not be read yet' };
    const changes = beforeAndAfter(previewed);
    const text = isDeletion(action, changes)
      ? 'delete'
      : describeChanges(changes, action, { isPreview: true });
    return { cells, detail: deletes ? '' : text };
  });
  const columns = stderr.isTerminal ? stderr.columns : Infinity;
  return alignedRows(rows, { columns, indent: '  ' }).flat();
}

/** `  2 unchanged, 1 skipped`: rows that are left as they are. */
function stayingLine(action: Action, decided: readonly ReportRow[]): string[] {
  const parts = (['unchanged', 'skipped'] as const).flatMap((result) => {
    const count = decided.filter((row) => row.result === result).length;
    return count > 0 ? [`${groupedNumber(count)} ${resultWord(result, action)}`] : [];
  });
  return parts.length > 0 ? [`  ${parts.join(', ')}`] : [];
}

/** Lists the rows that will not be written, so that the user sees e.g. a stray word among the ids before answering. */
function failingLines(action: Action, { decided, names }: Preview): string[] {
  const failing = decided.filter(({ result }) => countsAsError(result));
  if (failing.length === 0) return [];
  const lines = failing.map(
    ({ id, error }) =>
      `  ${nameWithId(shortValue(names?.get(id) ?? ''), id)}${error?.message ? `: ${aboutRow(error.message, id)}` : ''}`,
  );
  return [
    `${plural(failing.length, 'row')} will not be ${verbOf(action).done}:`,
    ...upTo(nameFirstFew, lines, (more) => `  … ${groupedNumber(more)} more`),
  ];
}

/** Suggests quotes where the ids that do not exist are the rest of a flag's value: `--name Paper Lions`. */
function quotesLine(
  context: Pick<Context, 'argv' | 'table'>,
  { action }: Action,
  { decided }: Preview,
): string[] {
  const missing = decided.filter(({ error }) => error?.kind === 'notFound').map(({ id }) => id);
  const hint = quotesHint(context, action, missing);
  return hint === undefined ? [] : [`  ${hint}`];
}
