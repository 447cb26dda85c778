import { atOnce } from '../data/at-once.js';
import { Failure, UnknownOutcomeError } from '../errors.js';
import { RowSet } from './row-set.js';
import { type Doubt, type RunOptions, rowsAtOnce, type Task } from './run-options.js';
import { judge } from './judge.js';
import { Probe } from './probe.js';
import { unsettled } from './unsettled.js';
import type { ReportRow } from './report.js';
import { changedRow, foundRow, overtakenRow, verifiedRow } from './rows.js';
import { isAsBefore, markedBefore, sentAtLatest, settleLeft, withoutTexts } from './run-state.js';
import { rowResult, type Stop, Stops } from './stops.js';
import { Slots } from './slots.js';
import type { Look } from './work.js';

export type { RunOptions, Task } from './run-options.js';

const firstLookMs = 2_000;
/** After the first signal, how long rows in flight may take; the process itself ends after 10 s. */
const graceMs = 9_000;

/**
 * Does the rows, several at once, by the state machine of journalled writes: look, intent on disk,
 * send, result on disk, report. Writes whose outcome is open are settled by reading, all together.
 * Every task ends in exactly one result; gives why the run stopped, if it did.
 */
export async function runRows<P>(
  tasks: readonly Task[],
  options: RunOptions<P>,
): Promise<Stop | undefined> {
  const run = new Runner(tasks, options);
  await run.all(tasks);
  return run.stop;
}

class Runner<P> {
  private readonly stops: Stops;
  private readonly done: RowSet;
  private readonly sent: RowSet;
  private readonly slots: Slots;
  private readonly syncing = new Set<Promise<void>>();
  private doubts: Doubt[] = [];
  private readonly probe = new Probe(() => this.stops.hasAnswer || this.stop !== undefined);
  private closed = false;
  private deaf = false;

  constructor(
    tasks: readonly Task[],
    private readonly options: RunOptions<P>,
  ) {
    this.done = new RowSet(tasks);
    this.sent = new RowSet(tasks);
    this.stops = new Stops(options.maxErrors, options.isSilent, () => options.onStop?.());
    this.slots = new Slots(options.concurrency);
  }

  get stop(): Stop | undefined {
    return this.stops.stop;
  }

  async all(tasks: readonly Task[]): Promise<void> {
    const { work } = this.options;
    const over = new AbortController();
    const all = this.work(tasks).finally(() => over.abort());
    all.catch(() => {});
    // Nothing more is sent, also where a worker broke in a way that nobody foresaw.
    await Promise.race([all, this.graceOver(over.signal)]).finally(() => {
      this.closed = true;
    });
    for (const task of tasks) {
      if (this.done.has(task.row)) continue;
      const { row, id } = task;
      const isOpen = this.sent.has(row) || task.open !== undefined;
      if (!isOpen) this.report({ row, id, result: 'not_attempted' });
      else this.report({ row, id, result: 'unknown', error: work.tell(unsettled(undefined), id) });
    }
    // A failure that is none of ours must not be lost, a slow request may be.
    if (!this.options.signal.aborted) await all;
  }

  private async work(tasks: readonly Task[]): Promise<void> {
    const now = this.options.now();
    for (const task of tasks)
      if (task.open) this.doubts.push({ ...sentAtLatest(task.open, now), task, error: undefined });
    await this.each(
      tasks.filter((task) => !task.open),
      (task) => this.begin(task),
    );
    while (this.doubts.length > 0 && !this.halted && !this.stops.mustBeQuiet) await this.settle();
    await Promise.all(this.syncing);
    for (const doubt of this.doubts.splice(0)) await this.unknown(doubt);
  }

  private get halted(): boolean {
    return this.closed || this.options.signal.aborted;
  }

  /** Nothing new is begun. */
  private get isOver(): boolean {
    return this.halted || this.stop !== undefined;
  }

  private async graceOver(over: AbortSignal): Promise<void> {
    const { signal, sleep } = this.options;
    await new Promise<void>((resolve) => {
      if (signal.aborted) resolve();
      else signal.addEventListener('abort', () => resolve(), { once: true });
    });
    this.slots.open();
    await sleep(graceMs, over);
  }

  /** Works on rows, so many at once; nothing new is begun after a stop or a signal. */
  private async each<T>(items: readonly T[], action: (item: T) => Promise<void>): Promise<void> {
    let next = 0;
    const worker = async () => {
      while (next < items.length && !this.isOver) {
        const item = items[next++];
        if (item !== undefined) await action(item);
      }
    };
    const count = Math.min(rowsAtOnce(this.options), items.length);
    await Promise.all(Array.from({ length: count }, worker));
  }

  // --- planned ---

  private async begin(task: Task): Promise<void> {
    const { work } = this.options;
    let leave: (() => void) | undefined;
    await this.guarded(task, async () => {
      const look = await this.slots.within({ first: false }, async () =>
        this.isOver ? undefined : work.look(task, 'turn'),
      );
      if (!look) return;
      const verdict = judge(task, look, work.guards, task.previewed);
      if (!verdict.write) return this.finish(verdict.row);
      leave = await this.probe.turn();
      if (!this.isOver) await this.send(task, await this.prepared(task, look), 1);
    });
    // Only now is it known whether the answer stops the run.
    leave?.();
  }

  /** The first step that is done shows what the first write would: the service takes requests. */
  private async prepared(task: Task, look: Look<P>): Promise<Look<P>> {
    const { journal, work } = this.options;
    if (!work.prepare) return look;
    return work.prepare(look, task, async (entry) => {
      await journal.append({ kind: 'step', row: task.row, ...entry });
      this.probe.reached();
    });
  }

  // --- intent, sent ---

  private async send(task: Task, look: Look<P>, attempt: number): Promise<void> {
    if (this.isOver) return;
    const { row, id } = task;
    const { work, journal } = this.options;
    const before = markedBefore(look.changes);
    const since = this.options.now().getTime();
    await journal.append({ kind: 'intent', row, id, attempt, before });
    try {
      await this.slots.within({ first: true }, async () => {
        if (this.isOver) return this.finish({ row, id, result: 'not_attempted' });
        this.sent.add(row);
        const value = await work.send(look, task);
        this.finishBehind(task, changedRow(task, look.changes, work.made?.(value)));
      });
    } catch (error) {
      if (!(error instanceof UnknownOutcomeError)) throw error;
      const applied = error.delivery === 'applied';
      this.stops.failed(error, 'unknown', true);
      const t = this.options.now().getTime();
      this.doubts.push({ row, id, attempt, before, applied, t, since, task, error });
    }
  }

  // --- doubt ---

  /** One pause for all of them: a first look soon, the last word when nothing can arrive any more. */
  private async settle(): Promise<void> {
    const { settleMs } = this.options;
    if (firstLookMs < settleMs && !this.stop) {
      await this.waitSince(this.doubts, firstLookMs);
      await this.lookAtAll(false);
    }
    await this.waitSince(this.doubts, settleMs);
    await this.lookAtAll(true);
  }

  private async waitSince(doubts: readonly Doubt[], ms: number): Promise<void> {
    const { now, sleep, signal } = this.options;
    const longest = settleLeft(doubts, ms, now());
    if (longest > 0 && !signal.aborted) await sleep(longest, signal);
  }

  private async lookAtAll(last: boolean): Promise<void> {
    this.deaf = false;
    // A service that stopped answering is asked once, not once a row.
    const count = this.stop ? 1 : this.options.concurrency;
    const looks = atOnce(this.doubts.splice(0), count, async (doubt) => {
      if (this.halted) this.doubts.push(doubt);
      else await this.guarded(doubt.task, () => this.lookAgain(doubt, last));
    });
    await Promise.all(looks);
  }

  private async lookAgain(doubt: Doubt, last: boolean): Promise<void> {
    const { task } = doubt;
    const { work } = this.options;
    let look: Look<P>;
    try {
      if (this.deaf) return last ? await this.unknown(doubt) : void this.doubts.push(doubt);
      look = await work.look(task, { since: doubt.since });
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      this.deaf = error.exitName === 'temporary';
      if (work.isGone?.(error)) return this.finish(verifiedRow(task, undefined));
      if (!last) this.doubts.push(doubt);
      else await this.unknown(doubt, error);
      return;
    }
    if (look.changes.length === 0) return this.finish(await foundRow(work, task, look.record));
    if (!last) {
      this.doubts.push(doubt);
      return;
    }
    if (!isAsBefore(doubt.before, look.changes))
      return this.finish(overtakenRow(task, look.changes));
    // Each start may try as often as the first one: a kill is not the service's doing.
    const attempts = doubt.attempt - (task.open?.attempt ?? 0);
    if (doubt.applied || attempts > work.resends) return this.unknown(doubt);
    // It was not done, and nothing is sent to a service that does not answer.
    if (this.stop) return this.finish({ row: task.row, id: task.id, result: 'not_attempted' });
    await this.send(task, look, doubt.attempt + 1);
  }

  /** `unread`: why reading could not tell; what is not known stays the outcome of the write. */
  private async unknown(doubt: Doubt, unread?: Failure): Promise<void> {
    // The report is out, and nothing is told behind it.
    if (this.closed) return;
    const { row, id } = doubt.task;
    const error = this.options.work.tell(unsettled(doubt.error, unread), id);
    await this.finish(
      { row, id, result: 'unknown', error },
      doubt.applied ? { applied: true } : {},
    );
  }

  // --- results ---

  /** Runs a step of a row; a failure becomes the row's result, or the end of the run. */
  private async guarded(task: Task, step: () => Promise<void>): Promise<void> {
    try {
      await step();
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      if (this.closed) return;
      const { row, id } = task;
      const sent = this.sent.has(row);
      const result = rowResult(this.stops, error, sent);
      const isCut = error.exitName === 'interrupted' && result === 'not_attempted';
      const told = isCut ? {} : { error: this.options.work.tell(error, id) };
      await this.finish({ row, id, result, ...told }, {}, true).catch((broken: unknown) => {
        if (!(broken instanceof Failure)) throw broken;
        this.stops.failed(broken, result, sent);
        this.report({ row, id, result, ...told });
      });
    }
  }

  /**
   * The worker goes on while this result is on its way to disk: the next intent stands behind it in
   * the journal, so nothing more is sent before it is there.
   */
  private finishBehind(task: Task, row: ReportRow): void {
    const step = this.guarded(task, () => this.finish(row)).finally(() => {
      this.syncing.delete(step);
    });
    this.syncing.add(step);
  }

  private async finish(row: ReportRow, more: object = {}, counted = false): Promise<void> {
    if (this.closed) return;
    if (!counted && row.result !== 'unknown' && row.result !== 'not_attempted')
      this.stops.settled(row.result, this.sent.has(row.row));
    await this.options.journal.append({ kind: 'result', ...withoutTexts(row), ...more });
    this.report(row);
  }

  private report(row: ReportRow): void {
    if (this.done.has(row.row)) return;
    this.done.add(row.row);
    this.options.onResult(row);
  }
}
