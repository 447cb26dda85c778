import { printJson } from '../data/json.js';
import { singleLine } from '../terminal/safe-text.js';
import type { DryRun } from './define.js';
import { type Canvas, linesOf } from './views.js';

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
      const move = deletes ? goneThing(field, from) : `${field}: ${changeText(from, to)}`;
      return `  ${ofMany && id !== null ? `${singleLine(id)}: ` : ''}${move}`;
    }),
  ];
}

/** `old → new` */
export function changeText(from: unknown, to: unknown): string {
  return `${shownValue(from)} → ${shownValue(to)}`;
}

/** `player Mira Kite`: what a deletion takes away has no new value. */
export function goneThing(field: string, from: unknown): string {
  return from === undefined || from === null ? field : `${field} ${shownValue(from)}`;
}

/** The same in a sentence: a long one is cut. */
export function shortValue(value: unknown): string {
  const text = shownValue(value);
  return text.length > 60 ? `${text.slice(0, 59)}…` : text;
}

/** A value as a line shows it; null: none, undefined: not known. */
function shownValue(value: unknown): string {
  if (value === undefined) return '?';
  if (value === null) return '-';
  return singleLine(typeof value === 'string' ? value : printJson(value));
}

export const dryRunView = linesOf(changeLines);
