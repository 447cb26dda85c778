/** Confirmation: what is shown and asked before the first write, and the limits that stop a run before it. */
import { confirmName } from '../cli/write.js';
import type { Context } from '../context.js';
import { resourceWords } from '../data/resources.js';
import type { Operation } from '../engine/operation.js';
import { CancelledError, GuardError, UsageError } from '../errors.js';
import { countsAsError, type ReportRow } from '../runs/report.js';
import { type BulkValues, defaultMaxChanges, type Invocation } from './invocation.js';
import type { Preview } from './preview.js';
import { allRowLines, hasMore, type Listed, previewLines, type Subject } from './preview-lines.js';
import { type Action, counted, verbOf } from './words.js';

/** Prints the preview to stderr; with --quiet only if a question follows. */
export function printPreview(
  context: Context,
  subject: Subject,
  preview: Preview,
  how: { readonly listsRows?: boolean } = {},
): void {
  const canAsk = willPrompt(context);
  for (const line of previewLines(context, subject, preview, { canAsk, ...how }))
    printBeforeAsking(context, line);
  if (preview.firstCall) context.api.noteAssumedRoute(preview.firstCall);
}

/** Prints the operation's own notes on the preview. */
export function printPreviewNotes(
  context: Context,
  { previewNotes }: Pick<Operation, 'previewNotes'>,
  preview: Preview,
): void {
  for (const line of previewNotes?.(preview) ?? []) printBeforeAsking(context, line);
}

/** Prints what the user needs to know before answering; with --quiet only if a question follows. */
function printBeforeAsking(context: Context, line: string): void {
  if (willPrompt(context)) context.message(line);
  else context.note(line);
}

function willPrompt({ settings, prompts }: Context): boolean {
  return !settings.yes && !settings.dryRun && prompts.unavailable === undefined;
}

/** Warns in a dry run that --max-changes would stop the real run. */
export function printCap(context: Context, action: Action, count: number, values: Cap): void {
  if (!isAboveCap(count, values)) return;
  context.message(
    `${wouldBe(action, count)}, more than --max-changes ${capOf(values)}: without --dry-run say --expect N or --max-changes ${count} as well.`,
  );
}

type Cap = Pick<BulkValues, 'expect' | 'maxChanges'>;

function capOf({ maxChanges = defaultMaxChanges }: Cap): number {
  return maxChanges;
}

/** True if the count exceeds --max-changes; --expect lifts the cap, because it confirms the number. */
function isAboveCap(count: number, values: Cap): boolean {
  return count > capOf(values) && values.expect === undefined;
}

function wouldBe(action: Action, count: number): string {
  return `${counted(count, action)} would ${verbOf(action).would}`;
}

/** How many rows failed or conflicted in the preview. */
export function countErrors(decided: readonly ReportRow[]): number {
  return decided.filter(({ result }) => countsAsError(result)).length;
}

/** The change to confirm. */
interface PendingChanges {
  readonly subject: Subject;
  /** The rows to write; if the preview showed only some of them, answering `l` lists all. */
  readonly preview: Listed;
  /** The question for a single record: `Delete player "Ann" (player_1)?`. */
  readonly question?: string | undefined;
  /** The name that the user must type, or give with --confirm, if the operation wants it. */
  readonly name?: string | undefined;
}

/** Asks for confirmation before the first write. Throws GuardError, UsageError or CancelledError if it is not given. */
export async function confirmChanges(
  context: Context,
  { operation: { confirm: rule, resource }, values, isSingle }: Invocation,
  { subject, preview, question, name }: PendingChanges,
): Promise<void> {
  const { prompts, settings } = context;
  const { length: count } = preview.tasks;
  if (count === 0 || (rule === 'never' && count <= capOf(values))) return;
  if (rule === 'name' && name !== undefined)
    return confirmName(context, question ?? '', {
      noun: resourceWords[resource].noun,
      name,
      flag: '--confirm',
      given: values['confirm'] as string | undefined,
    });
  const asked = `${verbOf(subject).ask} ${counted(count, subject)}?`;
  const would = wouldBe(subject, count);
  const ask = (text: string) => askOrList(context, text, subject, preview);
  if ((rule === 'count' && count > 1) || isAboveCap(count, values)) {
    if (settings.yes || prompts.unavailable !== undefined) {
      if (rule === 'count') return requireCount(context, would, count, values);
      throw new GuardError(
        `${would}, more than --max-changes ${capOf(values)}. Nothing was changed.`,
        {
          code: 'maxChanges',
          hint: `If that is right, add: --expect N, or --max-changes ${count}`,
        },
      );
    }
    const typed = await ask(`${asked} Type the number to confirm:`);
    if (typed !== String(count)) throw new CancelledError('Nothing was done.');
    return;
  }
  if ((rule === 'several' && isSingle) || settings.yes) return;
  if (prompts.unavailable !== undefined)
    throw new UsageError(
      `${question ?? `${would}.`} This needs a confirmation, and ${prompts.unavailable}.`,
      { hint: 'Run it in a terminal, or add --yes. --dry-run shows what it would do.' },
    );
  const isYes =
    question === undefined && hasMore(preview.tasks)
      ? /^y(es)?$/i.test(await ask(`${asked} (y/N/l)`))
      : await prompts.confirm(question ?? asked);
  if (!isYes) throw new CancelledError('Nothing was done.');
}

/** Asks again after each `l`, which lists all rows; returns any other answer. */
async function askOrList(
  context: Context,
  asked: string,
  subject: Subject,
  preview: Listed,
): Promise<string> {
  const typed = (await context.prompts.text(asked)).trim();
  if (typed !== 'l') return typed;
  await context.showLong(allRowLines(context, subject, preview));
  return askOrList(context, asked, subject, preview);
}

/** Requires --yes and --expect where no prompt is possible or --yes skips it. Throws UsageError. */
function requireCount(
  { prompts, settings }: Context,
  would: string,
  count: number,
  { expect }: Cap,
): void {
  if (settings.yes && expect !== undefined) return;
  const why = settings.yes
    ? '--yes alone is not enough'
    : (prompts.unavailable ?? 'it was not confirmed');
  throw new UsageError(`${would}, and ${why}.`, {
    hint: `Look first with --dry-run. Then add: --yes --expect ${count}`,
  });
}
