/** Runs `tryouts review`: the queue, the cards on the full screen, and what is sent at the end. */
import { unfinishedTasks } from '../bulk/resume.js';
import type { CommandOutput } from '../cli/command-output.js';
import { confirmWrite } from '../cli/execute.js';
import { sentencesView } from '../cli/views.js';
import type { Context } from '../context.js';
import type { JsonObject } from '../data/json.js';
import { isUnchanged } from '../data/sorting.js';
import { groupedNumber, plural } from '../data/text.js';
import type { Operation, Selection } from '../engine/operation.js';
import { CancelledError, Failure, nothingDone, UsageError } from '../errors.js';
import { editedNotes, type NoteEdit } from '../resources/notes.js';
import { shownRunName } from '../runs/find-run.js';
import { isRunning } from '../runs/lock.js';
import { isHere, placeOf } from '../runs/plan.js';
import { type BulkReport, isAtTarget, type SelectedRow } from '../runs/report.js';
import { storeOf } from '../runs/store.js';
import { listOpenRuns } from '../runs/stored-run.js';
import { loadCards, type ReviewFilters } from './cards.js';
import { decisionWords } from './deciding.js';
import { type Decision, openQueue, type Queued, type ReviewQueue } from './queue.js';
import { showReview } from './show.js';
import { type Card, startReview } from './state.js';

/** The values of the command line. */
export type ReviewValues = ReviewFilters & {
  readonly resume: boolean;
  readonly discard: boolean;
};

/** How a review sends: as a run of this action. */
interface Sending {
  readonly action: string;
  readonly use: (parts: Partial<Operation>) => Promise<CommandOutput>;
}

/**
 * Reviews applications and sends what was decided. Throws UsageError without a terminal, GuardError if
 * another review is open, CancelledError if the person leaves by Ctrl-C or refuses the preview; the
 * queue is kept then, and whenever sending fails.
 */
export async function review(
  context: Context,
  values: ReviewValues,
  sending: Sending,
): Promise<CommandOutput> {
  if (!values.discard) checkTerminal(context);
  const { settings, paths, self } = context;
  const head = { ...placeOf(context), profile: settings.profile.name };
  const queue = await openQueue(paths, head, { self, discards: values.discard });
  try {
    return values.discard
      ? await discard(context, queue, sending)
      : await reviewQueue(context, values, queue, sending);
  } finally {
    await queue.close();
  }
}

/** Refuses to review where nobody sees cards or presses keys. Throws UsageError. */
function checkTerminal({ prompts, settings }: Context): void {
  const { output, fields, template, yes, plainPrompts } = settings;
  const hint = `Instead: ${setStatusLine}`;
  if (output !== 'table' || fields || template !== undefined)
    throw new UsageError('tryouts review prints no records: it is a full-screen view.', { hint });
  if (prompts.unavailable !== undefined)
    throw new UsageError(`tryouts review cannot run here: ${prompts.unavailable}.`, { hint });
  if (plainPrompts)
    throw new UsageError(
      'tryouts review needs the full screen, and prompts are set to plain (setting prompts, ROSTERCTL_PROMPTS or TERM=dumb).',
      { hint },
    );
  if (yes)
    throw new UsageError('A review asks before it sends, and --yes cannot answer for you.', {
      hint: `Leave out --yes. In a script: ${setStatusLine}`,
    });
}

/** The line that changes applications without a terminal: only those that the user names. */
const setStatusLine = 'rosterctl tryouts set-status ID --to STATUS';

async function discard(
  context: Context,
  queue: ReviewQueue,
  sending: Sending,
): Promise<CommandOutput> {
  const { size } = queue.present().queued;
  // A damaged queue is dropped as well.
  if (queue.isNew) return printed(['There is no unsent review.']);
  const what = size > 0 ? plural(size, 'unsent decision') : 'the unsent review';
  if (context.settings.dryRun) return printed([`Would discard ${what}.`]);
  await confirmWrite(context, `Discard ${what}?`);
  await queue.discard();
  await nameRunsLeft(context, queue, sending.action);
  return printed([`Discarded ${what}.`]);
}

async function reviewQueue(
  context: Context,
  values: ReviewValues,
  queue: ReviewQueue,
  sending: Sending,
) {
  const { queued } = queue.present();
  if (values.resume && queued.size === 0)
    throw new UsageError('There is no review to resume.', {
      hint: 'Start one: rosterctl tryouts review',
    });
  const filters = values.resume ? undefined : withDefaults(values);
  const waiting = context.progress.start(() => 'Reading applications');
  const loaded = await loadCards(context, filters, queued).finally(() => waiting.stop());
  const gone = new Map(loaded.gone);
  for (const [id, { name, decision }] of gone)
    context.message(
      `${name} (${id}) is gone: your decision (${decisionWords(decision)}) is discarded.`,
    );
  const done = loaded.cards.filter(({ id, record }) => isDone(record, queued.get(id)));
  await dequeue(queue, [...gone.keys(), ...done.map(({ id }) => id)]);
  const [first] = loaded.cards;
  if (!first) return printed(values.resume ? [nothing] : [loaded.none, nothing]);
  const decisions = queue.present();
  const greeting = greetingOf(decisions.queued.size, done.length, gone.size);
  const start = startReview(loaded.cards, decisions, greeting);
  const { how, state } = await context.fullScreen((screen) =>
    showReview(screen, context, start, { ...loaded, queue }),
  );
  const { size } = state.decisions.queued;
  if (how === 'send')
    return send(context, queue, selectionOf(loaded.cards, queue, queued), sending);
  await nameRunsLeft(context, queue, sending.action);
  const kept = size === 0 ? 'Nothing was decided.' : `${plural(size, 'decision')} kept, not sent.`;
  if (how === 'interrupt')
    throw new CancelledError(kept, size === 0 ? {} : { hint: `Resume: ${resumeLine}` });
  const resuming = context.withConnection(`Resume, then send with w: ${resumeLine}`);
  return printed(size === 0 ? [kept] : [kept, resuming]);
}

const resumeLine = 'rosterctl tryouts review --resume';

/** Returns the filters; without a status, those for applications that nobody has looked at. */
function withDefaults(values: ReviewValues): ReviewFilters {
  const { resume: _, discard: __, ...filters } = values;
  const isChosen = filters.status !== undefined || filters.notStatus !== undefined;
  return isChosen ? filters : { ...filters, status: ['pending'] };
}

/** Names the runs that were interrupted and hold decisions that are no longer in the queue. */
async function nameRunsLeft(context: Context, queue: ReviewQueue, action: string): Promise<void> {
  const store = storeOf(context);
  const { queued } = queue.present();
  for (const run of await listOpenRuns(store)) {
    const { head, finished } = run;
    if (head.action !== action || !isHere(context, run)) continue;
    if (finished || isRunning(run, context.self)) continue;
    const { length } = unfinishedTasks(run).filter((row) => !isQueued(row, queued));
    if (length === 0) continue;
    const name = shownRunName(context, store, head.run);
    context.message(
      `Run ${name} was interrupted and holds ${plural(length, 'decision')} that you have dropped or changed since: rosterctl runs resume would send ${length === 1 ? 'it' : 'them'}. To delete it: rosterctl runs prune ${name}`,
    );
  }
}

const nothing = 'Nothing to review.';

/** Returns true if a decision took effect although it is still in the queue: a run was resumed, or killed at its end. */
function isDone(record: JsonObject, queued: Queued | undefined): boolean {
  if (!queued) return false;
  const { status: now, internalNotes: notes } = record;
  const { status = now, note } = queued.decision;
  const present = typeof notes === 'string' ? notes : null;
  const isMade = note
    ? editedNotes(noteToAdd(note, true), present) === present
    : now !== queued.seen;
  return now === status && isMade;
}

/** `isKept`: from an earlier review. Its run may have been killed, and the line be an earlier one by now. */
function noteToAdd(note: NonNullable<Decision['note']>, isKept: boolean): NoteEdit {
  return { kind: 'append', ...note, ...(isKept && { once: true }) };
}

function greetingOf(size: number, done: number, gone: number): string {
  return [
    ...(size > 0 ? [`${plural(size, 'decision')} not sent yet: w sends, u undoes.`] : []),
    ...(done > 0 ? [`${plural(done, 'decision')} already took effect.`] : []),
    ...(gone > 0 ? [`${plural(gone, 'decision is', 'decisions are')} discarded: gone.`] : []),
  ].join(' ');
}

async function dequeue(queue: ReviewQueue, ids: readonly string[]): Promise<void> {
  await Promise.all(ids.map((id) => queue.append({ kind: 'left', id })));
}

function printed(lines: readonly string[]): CommandOutput {
  return {
    value: lines,
    view: sentencesView((all: readonly string[]) => all),
    exitName: 'done',
    onlyReads: true,
  };
}

// --- sending ---

/** Sends the queue as one run, previewed and confirmed; what reached its target leaves the queue. */
async function send(
  context: Context,
  queue: ReviewQueue,
  selection: Selection,
  { use }: Sending,
): Promise<CommandOutput> {
  const keeps = () => {
    const { size } = queue.present().queued;
    const what = size === 1 ? 'Your decision is' : `Your ${groupedNumber(size)} decisions are`;
    context.message(`${what} kept: ${resumeLine}`);
  };
  const output = await use({ rows: async () => selection }).catch((error: unknown) => {
    if (error instanceof Failure) keeps();
    const isNo = error instanceof CancelledError && error.message === nothingDone;
    throw isNo ? new CancelledError('Nothing was sent.', { cause: error }) : error;
  });
  const { results, dryRun } = output.value as BulkReport;
  const sent = dryRun ? [] : results.filter(isAtTarget).map(({ id }) => id);
  const error = await dequeue(queue, sent).catch((failure: unknown) => {
    // The rows were sent: their report matters more, and the next review finds them done.
    if (!(failure instanceof Failure)) throw failure;
    context.message(failure.message);
    return failure;
  });
  return {
    ...output,
    ...(error && output.exitName === 'done' && { exitName: 'failed', failed: { error } }),
    printAfter(how) {
      const isKept = queue.present().queued.size > 0;
      output.printAfter?.({ ...how, isKept });
      if (isKept && !error) keeps();
    },
  };
}

/**
 * Takes decisions out of the queue that `runs resume` or `runs retry` carried out. One that is another
 * since then stays. A queue that cannot be written keeps them: the next review finds them done.
 */
export async function dequeueDone(context: Context, done: readonly SelectedRow[]): Promise<void> {
  const { settings, paths, self } = context;
  const head = { ...placeOf(context), profile: settings.profile.name };
  try {
    const queue = await openQueue(paths, head, { self });
    try {
      const { queued } = queue.present();
      const left = done.filter((row) => isQueued(row, queued)).map(({ id }) => id);
      await dequeue(queue, left);
    } finally {
      await queue.close();
    }
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
  }
}

/** True if the queue still holds the decision of a row as it was sent. */
function isQueued({ row, id, own }: SelectedRow, queued: ReadonlyMap<string, Queued>): boolean {
  return (
    queued.has(id) &&
    [true, false].some((isKept) =>
      isUnchanged(own, rowOfDecision(row, id, queued.get(id), isKept).own),
    )
  );
}

/**
 * The rows of the run, in the order of the cards, each with the status that the person saw as its guard.
 * `kept`: the decisions of an earlier review.
 */
function selectionOf(
  cards: readonly Card[],
  queue: ReviewQueue,
  kept: ReadonlyMap<string, Queued>,
): Selection {
  const { queued } = queue.present();
  const shown = cards.map(({ id }) => id).filter((id) => queued.has(id));
  const ids = [...new Set([...shown, ...queued.keys()])];
  const rows = ids.map((id, index) => {
    const decided = queued.get(id);
    return rowOfDecision(index + 1, id, decided, decided === kept.get(id));
  });
  // The same for every queue: a run that was interrupted is replaced by the next one.
  return { rows, digest: 'queue' };
}

function rowOfDecision(
  row: number,
  id: string,
  queued: Queued | undefined,
  isKept: boolean,
): SelectedRow {
  const { status, note } = queued?.decision ?? {};
  return {
    row,
    id,
    own: {
      ...(status !== undefined && { status }),
      ...(note && { internalNotes: noteToAdd(note, isKept) }),
    },
    previewed:
      status === undefined ? [] : [{ field: 'status', from: queued?.seen ?? null, to: status }],
  };
}
