/** Confirmation: what is shown and asked before the first write, and the limits that stop a run before it. */

import type { Context } from '../context.js';
import type { JsonObject } from '../data/json.js';
import { labelOf } from '../data/path.js';
import { quotedId } from '../data/references.js';
import { type ResourceName, resourceWords } from '../data/resources.js';
import { groupedNumber, plural, shellQuote, withArticle } from '../data/text.js';
import type { ConfirmRule, Operation, Session, Task } from '../engine/operation.js';
import { sessionFor } from '../engine/run.js';
import { CancelledError, GuardError, nothingDone, UsageError } from '../errors.js';
import { countsAsError, type ReportRow } from '../runs/report.js';
import { type Action, countedNoun, verbOf } from '../runs/verb.js';
import { readYesNo } from '../terminal/choices.js';
import { type BulkValues, defaultMaxChanges, type Invocation } from './invocation.js';
import { hasMore, type Preview, type Subject } from './preview.js';

/** Prints the preview to stderr; with --quiet only if a question follows. */
export async function printPreview(
  context: Context,
  subject: Subject,
  preview: Preview,
): Promise<void> {
  const canAsk = willPrompt(context);
  const { previewLines } = await import('./preview-lines.js');
  for (const line of previewLines(context, subject, preview, { canAsk }))
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

/**
 * Warns before the first write of rows that the service may refuse. A script that updates one record
 * gets no warning: a loop over ids would read the list for each, and a refusal changes nothing.
 */
export async function warnOfRefusals(
  { prompts, settings }: Context,
  { operation: { confirm, reports = false } }: Invocation,
  session: Session,
  rows: readonly Task[],
): Promise<void> {
  const isAsked = prompts.unavailable === undefined && !settings.yes;
  const isWorthIt = reports || confirm === 'always' || isAsked || rows.length > 1;
  if (rows.length > 0 && isWorthIt) await session.warn?.(rows);
}

/** Warns in a dry run that --max-changes would stop the real run. */
export function printCap(context: Context, action: Action, count: number, values: Cap): void {
  if (!isAboveCap(count, values)) return;
  context.message(
    `${wouldBe(action, count)}, more than --max-changes ${capOf(values)}. Without --dry-run, add: --max-changes ${count}`,
  );
}

/** Warns in a dry run that --confirm gives another name than that of the record, which stops the real run. */
export function printWrongName(
  context: Context,
  { operation, values: { confirm: given } }: Invocation,
  id: string,
  record: JsonObject | undefined,
): void {
  if (operation.confirm !== 'name' || given === undefined || given === labelOf(record, id)) return;
  context.message(
    `"${given}" is not the name of ${id}. Without --dry-run, nothing would be deleted.`,
  );
}

type Cap = Pick<BulkValues, 'expect' | 'maxChanges'>;

function capOf({ maxChanges = defaultMaxChanges }: Pick<Cap, 'maxChanges'>): number {
  return maxChanges;
}

/** True if the count exceeds --max-changes; --expect lifts the default, not a number that was typed. */
function isAboveCap(count: number, values: Cap): boolean {
  const isLifted = values.maxChanges === undefined && values.expect !== undefined;
  return count > capOf(values) && !isLifted;
}

function wouldBe(action: Action, count: number): string {
  return `${countedNoun(count, action)} would ${verbOf(action).would}`;
}

/** How many rows failed or conflicted in the preview. */
export function countErrors(decided: readonly ReportRow[]): number {
  return decided.filter(({ result }) => countsAsError(result)).length;
}

interface PendingChanges {
  readonly subject: Subject;
  /** The rows to write; if the preview showed only some of them, answering `l` lists all. */
  readonly preview: Preview;
  /** How many rows were selected, which --expect counts; some may need no change. */
  readonly selected: number;
  /** Words the question for a single record: `Delete player "Ann" (player_1)?`. */
  readonly session: Session;
}

/** Asks for confirmation before the first write. Throws GuardError, UsageError or CancelledError if it is not given. */
export async function confirmChanges(
  context: Context,
  { operation: { confirm: rule, resource }, values, isSingle, teams }: Invocation,
  pending: PendingChanges,
): Promise<void> {
  const { subject, preview, session } = pending;
  const { length: count } = preview.tasks;
  if (rule === 'never' && count <= capOf(values)) return;
  const { many } = verbOf(subject);
  const given = values.confirm;
  if (many !== undefined && willPrompt(context) && given === undefined)
    context.message(`${many} cannot be undone.`);
  const [only] = preview.tasks;
  const question =
    isSingle && only
      ? sessionFor(session, only).question?.(only, preview.record, teams)
      : undefined;
  if (rule === 'name' && only) {
    // A resumed run has read no record: a line typed again gives the name, and `runs resume` needs --yes.
    const { record, names } = preview;
    const kept = given === undefined ? undefined : names?.get(only.id);
    const name = record ? labelOf(record, only.id) : kept;
    if (name !== undefined)
      return confirmName(context, resource, only.id, { question: question ?? '', name, given });
  }
  if ((rule === 'count' && count > 1) || isAboveCap(count, values))
    return willPrompt(context)
      ? askCount(context, pending)
      : requireCount(context, rule, values, pending);
  if ((rule === 'several' && isSingle) || context.settings.yes) return;
  return confirmYes(context, pending, question);
}

/** Asks for the number of rows. Throws CancelledError for any other answer. */
async function askCount(context: Context, pending: PendingChanges): Promise<void> {
  const { length: count } = pending.preview.tasks;
  const typed = await askOrList(context, pending, ' Type the number to confirm:');
  if (typed === String(count) || typed === groupedNumber(count)) return;
  throw new CancelledError(
    typed === '' ? nothingDone : `The number is ${groupedNumber(count)}. ${nothingDone}`,
  );
}

/** Requires flags that name the number of rows, because nobody can type it. Throws GuardError, UsageError. */
function requireCount(
  { prompts, settings }: Context,
  rule: ConfirmRule,
  { expect, maxChanges }: Cap,
  { subject, preview, selected }: PendingChanges,
): void {
  const { length: count } = preview.tasks;
  const would = wouldBe(subject, count);
  if (rule !== 'count' || count > (maxChanges ?? count))
    throw new GuardError(
      `${would}, more than --max-changes ${capOf({ maxChanges })}. Nothing was changed.`,
      { code: 'maxChanges', hint: `If that is right, add: --max-changes ${count}` },
    );
  if (settings.yes && expect !== undefined) return;
  const why = settings.yes ? '--yes alone is not enough' : prompts.unavailable;
  const counts = selected === count ? '' : `${plural(selected, 'row is', 'rows are')} selected. `;
  throw new UsageError(`${would}, and ${why}.`, {
    hint: `${counts}Preview it with --dry-run. Then add: --yes --expect ${selected}`,
  });
}

/** Asks yes or no. Throws UsageError where nobody can answer, CancelledError for any answer but yes. */
async function confirmYes(
  context: Context,
  pending: PendingChanges,
  question: string | undefined,
): Promise<void> {
  const { prompts } = context;
  const { subject, preview } = pending;
  const { tasks } = preview;
  if (prompts.unavailable !== undefined)
    throw new UsageError(
      `${question ?? `${wouldBe(subject, tasks.length)}.`} This needs a confirmation, and ${prompts.unavailable}.`,
      { hint: 'Run it in a terminal, or add --yes. --dry-run shows what it would do.' },
    );
  const isYes =
    question === undefined && hasMore(tasks)
      ? readYesNo(await askOrList(context, pending, '', yesNoList)) === true
      : await prompts.confirm(question ?? askedOf(pending));
  if (!isYes) throw new CancelledError(nothingDone);
}

/** `Change 12 applications?` */
function askedOf({ subject, preview }: PendingChanges): string {
  return `${verbOf(subject).ask} ${countedNoun(preview.tasks.length, subject)}?`;
}

/** Asks the user to type the name of the record, because a plain yes is given too easily. Throws UsageError, GuardError. */
async function confirmName(
  { prompts }: Context,
  resource: ResourceName,
  id: string,
  { question, name, given }: { question: string; name: string; given: string | undefined },
): Promise<void> {
  const { noun } = resourceWords[resource];
  if (given === undefined && prompts.unavailable !== undefined)
    throw new UsageError(
      `To delete ${withArticle(noun)} in a script, give its name; --yes is not enough.`,
      { hint: `Add: --confirm ${shellQuote(name)}` },
    );
  const typed = given ?? (await prompts.text(`${question} Type its name to confirm:`));
  if (typed !== name)
    throw new GuardError(`"${typed}" is not the name of ${id}. Nothing was deleted.`, {
      hint:
        given === undefined
          ? 'Type the name exactly as shown.'
          : `See its name: rosterctl ${resource} get ${quotedId(id)} --fields name`,
    });
}

const isListWord = (typed: string) => /^l$/i.test(typed);

/** The keys of a question whose rows can be listed, and how each answer reads. */
const yesNoList = {
  keys: {
    text: '(y/N/l)',
    answered(typed: string) {
      if (isListWord(typed.trim())) return 'List all';
      return readYesNo(typed.trim()) ? 'Yes' : 'No';
    },
  },
  validate: (typed: string) =>
    isListWord(typed.trim()) || readYesNo(typed.trim()) !== undefined
      ? undefined
      : 'Answer y, n or l.',
};

/** Asks again after each `l`, which lists all rows; returns any other answer. */
async function askOrList(
  context: Context,
  pending: PendingChanges,
  end: string,
  options?: typeof yesNoList,
): Promise<string> {
  const asked = `${askedOf(pending)}${end}`;
  const typed = (await context.prompts.text(asked, options)).trim();
  if (!isListWord(typed)) return typed;
  const { allRowLines } = await import('./preview-lines.js');
  await context.showLong(allRowLines(context, pending.subject, pending.preview));
  return askOrList(context, pending, end, options);
}
