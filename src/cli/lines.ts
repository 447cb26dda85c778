import { type BulkReport, isDelete, type ReportRow, wentWrong } from '../bulk/report.js';
import { printJson } from '../data/json.js';
import { namedFirst } from '../data/words.js';
import { singleLine } from '../terminal/safe-text.js';
import type { DryRun } from './define.js';
import type { Canvas } from './views.js';

/** A dry run for a person: each request, then old → new. */
export function changeLines(value: DryRun, { paint }: Canvas): string[] {
  const { requests } = value;
  const deletes = requests.length > 0 && requests.every(({ method }) => method === 'DELETE');
  if (requests.length === 0 && value.changes.length === 0)
    return ['Nothing would change; nothing would be sent.'];
  const ofMany = new Set(value.changes.map(({ id }) => id)).size > 1;
  return [
    ...(requests.length > 0 ? [paint.bold('Would send')] : [paint.bold('Would change here')]),
    ...requests.flatMap((request) => [
      `  ${request.method} ${singleLine(request.path)}${request.basis === 'assumed' ? paint.dim('  (assumed route)') : ''}`,
      ...(request.body === undefined ? [] : [`    ${singleLine(printJson(request.body))}`]),
    ]),
    ...(requests.length > 0 && value.changes.length > 0
      ? [paint.bold(deletes ? 'Would delete' : 'Would change')]
      : []),
    ...value.changes.map(({ id, field, from, to }) => {
      const move = deletes ? goneThing(field, from) : `${field}: ${shownMove(from, to)}`;
      return `  ${ofMany && id !== null ? `${singleLine(id)}: ` : ''}${move}`;
    }),
  ];
}

const isLeft = ({ result }: ReportRow) => result === 'not_attempted';
const isWrong = ({ result }: ReportRow) => wentWrong(result);

/**
 * The bulk report for a person: one line a row, then the summary that adds up. What went wrong comes
 * last, where it is seen, however many rows there are; on a screen most of those that nobody came to
 * are only counted.
 */
export function reportLines(
  { results, summary, action }: BulkReport,
  { paint, isTerminal }: Canvas,
): string[] {
  const left = results.filter(isLeft);
  const untouched = new Set(
    left.filter(({ error }) => error === undefined).slice(isTerminal ? namedFirst : Infinity),
  );
  const named = left.filter((row) => !untouched.has(row));
  const wrong = results.filter(isWrong);
  const rest = results.filter((row) => !isLeft(row) && !isWrong(row));
  const width = [...rest, ...named, ...wrong].reduce(
    (most, { id }) => Math.max(most, id.length),
    0,
  );
  const line = (row: ReportRow) => rowLine(row, width, isDelete(action));
  return [
    ...rest.map(line),
    ...named.map(line),
    ...(untouched.size > 0 ? [paint.dim(`and ${untouched.size} more not attempted`)] : []),
    ...wrong.map(line),
    paint.bold(summaryLine({ summary })),
  ];
}

function rowLine(
  { id, result, before, after, error }: ReportRow,
  width: number,
  deletes: boolean,
): string {
  const { message } = (error ?? {}) as { readonly message?: string };
  const moved = Object.keys(after ?? {}).map((field) => {
    const [from, to] = [before?.[field], after?.[field]];
    if (!deletes) return `${field} ${shownMove(from, to)}`;
    return `${result === 'would_change' ? 'delete' : 'deleted'} ${goneThing(field, from)}`;
  });
  const detail = message ? singleLine(message) : moved.join(', ');
  return `${singleLine(id).padEnd(width)}  ${result.padEnd(13)}  ${detail}`.trimEnd();
}

/** `9 changed, 1 unchanged, 1 failed of 11`; zero counts are left out. */
export function summaryLine({ summary }: Pick<BulkReport, 'summary'>): string {
  const { total, ...counts } = summary;
  if (total === 0) return 'No rows were selected.';
  const words: Record<string, string> = {
    notAttempted: 'not attempted',
    wouldChange: 'would change',
  };
  const parts = Object.entries(counts)
    .filter(([, count]) => count > 0)
    .map(([name, count]) => `${count} ${words[name] ?? name}`);
  return `${parts.join(', ') || 'nothing done'} of ${total}`;
}

function shownMove(from: unknown, to: unknown): string {
  return `${shownValue(from)} → ${shownValue(to)}`;
}

/** `player Mira Kite`: what a deletion takes away has no new value. */
function goneThing(field: string, from: unknown): string {
  return from === undefined || from === null ? field : `${field} ${shownValue(from)}`;
}

function shownValue(value: unknown): string {
  if (value === undefined) return '?';
  if (value === null) return '-';
  return singleLine(typeof value === 'string' ? value : printJson(value));
}
