/** Dry runs and field changes as lines for a person. */
import { printJson } from '../data/json.js';
import { singleLine } from '../terminal/safe-text.js';
import { wrapWholeWords } from '../terminal/whole-words.js';
import type { DryRun } from './define.js';
import { type Canvas, linesView, type View } from './views.js';

interface ChangeStyle {
  /** The admin named the route of the requests that the contract does not state. */
  readonly isNamed?: boolean;
  /** The name of the only record that would change. */
  readonly name?: string | undefined;
  /** The head of the changes: `Would write`. */
  readonly head?: string;
  /** Describes the change of a record's field. */
  readonly describe?: (change: DryRun['changes'][number]) => string;
}

/** Renders a dry run: each request, then each change as old → new. */
function changeLines(
  value: DryRun,
  { paint, isTerminal, columns }: Canvas,
  {
    isNamed = false,
    name,
    head,
    describe = ({ field, from, to }) => `${field}: ${changeText(from, to)}`,
  }: ChangeStyle,
): string[] {
  if (changesNothing(value)) return ['Nothing would change; nothing would be sent.'];
  const { requests } = value;
  const lines = (text: string) => (isTerminal ? wrapWholeWords(text, columns) : [text]);
  const mark = ({ basis }: DryRun['requests'][number]) =>
    basis === 'stated' ? '' : isNamed ? '  (named route)' : '  (assumed route)';
  const deletes = requests.length > 0 && requests.every(({ method }) => method === 'DELETE');
  const creates = value.changes.every(({ id }) => id === null);
  const ids = new Set(value.changes.map(({ id }) => id));
  const hasManyIds = ids.size > 1;
  const [only] = ids;
  const who =
    name === undefined || hasManyIds || !only ? '' : ` ${singleLine(`${name} (${only})`)}`;
  return [
    ...(requests.length > 0
      ? [paint.bold('Would send')]
      : [paint.bold(head ?? 'Would change here')]),
    ...requests.flatMap((request) => [
      ...lines(`  ${request.method} ${singleLine(request.path)}${mark(request)}`),
      ...(request.body === undefined
        ? []
        : bodyLines(request.body, isTerminal ? columns - 4 : Infinity).flatMap((line) =>
            lines(`    ${line}`),
          )),
    ]),
    ...(requests.length > 0 && value.changes.length > 0
      ? lines(
          head ?? (deletes ? 'Would delete' : creates ? 'Would create' : `Would change${who}`),
        ).map(paint.bold)
      : []),
    ...withoutRepeats(value.changes).flatMap((change) => {
      const { id, field, from } = change;
      const text = deletes ? deletedValue(field, from) : describe(change);
      // A file is its own field, and a run or cursor its own value.
      const isInText = id === null || id === field || id === from;
      return lines(`  ${hasManyIds && !isInText ? `${singleLine(id)}: ` : ''}${text}`);
    }),
  ];
}

/** Renders the dry run of a command that writes only files: each file, and what it would remove. */
export function fileLines(value: DryRun, canvas: Canvas): string[] {
  return changeLines(value, canvas, {
    head: 'Would write',
    describe: ({ from, to }) => (from === null ? valueText(to) : `remove ${valueText(from)}`),
  });
}

/** Renders a body as JSON: on one line if it fits `columns`, else a field on each line. */
function bodyLines(body: unknown, columns: number): readonly string[] {
  const line = singleLine(printJson(body));
  if (line.length <= columns) return [line];
  return printJson(body, { indent: 2 }).split('\n').map(singleLine);
}

/** Merges what goes with the same thing into one change, so that a run is named once: `run, undo values`. */
function withoutRepeats(changes: DryRun['changes']): DryRun['changes'] {
  const merged = new Map<string, DryRun['changes'][number]>();
  for (const change of changes) {
    const { id, field, from, to } = change;
    const isThing = id !== null && from === id && to === null;
    const key = isThing ? id : `${merged.size}\n`;
    const earlier = merged.get(key);
    merged.set(key, earlier ? { ...earlier, field: `${earlier.field}, ${field}` } : change);
  }
  return [...merged.values()];
}

/** Renders a change: `old → new`. */
export function changeText(from: unknown, to: unknown): string {
  return `${valueText(from)} → ${valueText(to)}`;
}

/** Renders a deleted value, which has no new one: `player Mira Kite`. */
export function deletedValue(field: string, from: unknown): string {
  return from === undefined || from === null ? field : `${field} ${valueText(from)}`;
}

/** Renders a value for a sentence, truncated to 60 characters. */
export function shortValue(value: unknown): string {
  const text = valueText(value);
  return text.length > 60 ? `${text.slice(0, 59)}…` : text;
}

/** The text of a value: `-` for null, `?` for undefined, which means unknown. */
export function valueText(value: unknown): string {
  if (value === undefined) return '?';
  if (value === null) return '-';
  return singleLine(typeof value === 'string' ? value : printJson(value));
}

export const dryRunView = viewOfDryRun();

/** The view of a dry run in this style. */
export function viewOfDryRun(styleFor: (canvas: Canvas) => ChangeStyle = () => ({})): View<DryRun> {
  return {
    ...linesView((value: DryRun, canvas) => changeLines(value, canvas, styleFor(canvas))),
    isSentence: changesNothing,
  };
}

function changesNothing({ requests, changes }: DryRun): boolean {
  return requests.length === 0 && changes.length === 0;
}
