import { countsAsError, isDelete, type ReportRow } from '../bulk/report.js';
import type { Context } from '../context.js';
import { printJson } from '../data/json.js';
import { namedFirst, plural } from '../data/words.js';
import { CancelledError, GuardError, UsageError } from '../errors.js';
import { type BulkValues, defaultMaxChanges } from './bulk-flags.js';
import type { Preview } from './bulk-preview.js';

/** Where, how many, counts per move, the first five rows, and what cannot be called back. */
function previewLines(
  context: Context,
  action: string,
  total: number,
  { tasks, decided, names }: Preview,
): string[] {
  const moves = new Map<string, number>();
  for (const { previewed = [] } of tasks)
    for (const change of previewed) {
      if (change.field !== 'status') continue;
      const move = `${text(change.from)} → ${text(change.to)}`;
      moves.set(move, (moves.get(move) ?? 0) + 1);
    }
  const first = tasks.slice(0, namedFirst).map(({ row, id, previewed = [] }) => {
    const [gone] = isDelete(action) ? previewed : [];
    const name = names?.get(row) ?? gone?.from ?? undefined;
    const called = `  ${id}${name === undefined ? '' : ` (${text(name)})`}`;
    if (gone) return called;
    const changes = previewed.map(({ field, from, to }) => `${field} ${text(from)} → ${text(to)}`);
    return `${called}: ${changes.join(', ')}`;
  });
  const { profile } = context.settings;
  return [
    `${action.replace('.', ' ')}: ${tasks.length} of ${plural(total, 'record')} would ${verbOf(action).would}`,
    `profile ${profile.name}, organization ${context.api.organizationId}, ${context.api.baseUrl}`,
    ...[...moves].map(([move, count]) => `  ${count} ${move}`),
    ...first,
    ...andMore(tasks),
    ...failingLines(action, decided),
    ...(moves.size > 0
      ? [
          "Status changes emit events that the organization's Flows may act on; they cannot be called back.",
        ]
      : []),
  ];
}

function andMore({ length }: readonly unknown[]): string[] {
  return length > namedFirst ? [`  and ${length - namedFirst} more`] : [];
}

/** Who is asked is to know as well what will not be done: a word too many may stand among the ids. */
function failingLines(action: string, decided: readonly ReportRow[]): string[] {
  const failing = decided.filter(({ result }) => countsAsError(result));
  if (failing.length === 0) return [];
  const lines = failing.slice(0, namedFirst).map(({ id, error }) => {
    const { message } = (error ?? {}) as { readonly message?: string };
    return `  ${id}${message ? `: ${message}` : ''}`;
  });
  return [
    `${plural(failing.length, 'row')} cannot be ${verbOf(action).done}:`,
    ...lines,
    ...andMore(failing),
  ];
}

interface Verb {
  /** Begins a question. */
  readonly ask: string;
  /** Of records: `would …`. */
  readonly would: string;
  /** Of records: `cannot be …`. */
  readonly done: string;
}

const changing: Verb = { ask: 'Change', would: 'change', done: 'changed' };
const verbs: { readonly [verb: string]: Verb } = {
  delete: { ask: 'Delete', would: 'be deleted', done: 'deleted' },
  convert: { ask: 'Convert', would: 'be converted', done: 'converted' },
};

/** How to speak of an action (`documents.delete`): who deletes is never asked about a change. */
function verbOf(action: string): Verb {
  return verbs[action.slice(action.indexOf('.') + 1)] ?? changing;
}

/** Shows the preview on stderr. */
export function tellPreview(
  context: Context,
  action: string,
  total: number,
  preview: Preview,
): void {
  for (const line of previewLines(context, action, total, preview)) context.tell(line);
  if (preview.firstCall) context.api.tellGuess(preview.firstCall);
}

/** What a dry run says where the cap would stop the line. */
export function tellCap(context: Context, action: string, count: number, values: Cap): void {
  if (!isAboveCap(count, values)) return;
  context.tell(
    `${wouldBe(action, count)}, more than --max-changes ${capOf(values)}: without --dry-run say --expect N or --max-changes ${count} as well.`,
  );
}

type Cap = Pick<BulkValues, 'expect' | 'maxChanges'>;

function capOf({ maxChanges = defaultMaxChanges }: Cap): number {
  return maxChanges;
}

/** Who names the number of rows has agreed to it. */
function isAboveCap(count: number, values: Cap): boolean {
  return count > capOf(values) && values.expect === undefined;
}

function wouldBe(action: string, count: number): string {
  return `${plural(count, 'record')} would ${verbOf(action).would}`;
}

/** `--expect`: exactly so many rows. Throws GuardError. */
export function checkExpected(selected: number, { expect }: Pick<BulkValues, 'expect'>): void {
  if (expect === undefined || expect === selected) return;
  throw new GuardError(
    `${plural(selected, 'row is', 'rows are')} selected and --expect says ${expect}. Nothing was changed.`,
    { code: 'expect', hint: 'Look at the rows: the same line with --dry-run.' },
  );
}

/** Asks before the first write, or refuses. Throws GuardError, UsageError, CancelledError. */
export async function confirmChanges(
  context: Context,
  action: string,
  count: number,
  values: Cap,
  asks: boolean,
): Promise<void> {
  const { prompts, settings } = context;
  const { ask } = verbOf(action);
  const records = plural(count, 'record');
  const most = capOf(values);
  const many = isAboveCap(count, values);
  if (many && (settings.yes || prompts.nobody !== undefined))
    throw new GuardError(
      `${wouldBe(action, count)}, more than --max-changes ${most}. Nothing was changed.`,
      { code: 'maxChanges', hint: `If that is right, add: --expect N, or --max-changes ${count}` },
    );
  if (many) {
    const typed = await prompts.text(`${ask} ${records}? Type the number to confirm:`);
    if (typed.trim() === String(count)) return;
    throw new CancelledError('Nothing was done.');
  }
  if ((!asks && count <= most) || settings.yes) return;
  const { nobody } = prompts;
  if (nobody !== undefined)
    throw new UsageError(`${wouldBe(action, count)}, and ${nobody}.`, {
      hint: 'Add --yes to do it, or --dry-run to look first.',
    });
  if (!(await prompts.confirm(`${ask} ${records}?`))) throw new CancelledError('Nothing was done.');
}

function text(value: unknown): string {
  if (value === undefined) return '?';
  if (value === null) return '-';
  const words = typeof value === 'string' ? value : printJson(value);
  return words.length > 60 ? `${words.slice(0, 59)}…` : words;
}
