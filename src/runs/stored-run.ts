/** Runs on disk: creates, continues, reads and lists them. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Api } from '../api/types.js';
import type { LocalContext } from '../context.js';
import { systemLimit, systemReason } from '../data/system-errors.js';
import { ConfigError, type Failure, GuardError, OutputError } from '../errors.js';
import { syncFolder, syncPath } from '../files/atomic-write.js';
import { describeSelf, type ThisProcess } from '../files/holder.js';
import type { HeldLock } from '../files/lock.js';
import { readBytes } from '../files/synced-lines.js';
import {
  foldJournal,
  type Journal,
  type JournalOptions,
  openJournal,
  type RunState,
  readFirstRecord,
  readJournal,
} from './journal.js';
import {
  headOf,
  type PlannedRow,
  type RunHead,
  type RunPlan,
  readPlan,
  runFormat,
  writePlan,
} from './plan.js';
import {
  firstStepOf,
  isFinalRow,
  type ReportRow,
  type ReportSummary,
  summarize,
  unsentResult,
} from './report.js';
import {
  isReported,
  isRunName,
  isSingleRun,
  journalIn,
  makeRoom,
  markNewest,
  newestRun,
  placeIn,
  type RunStore,
  removeRun,
  runFolder,
  runNames,
  startOf,
} from './store.js';

/** A run as stored on disk. */
export interface StoredRun {
  readonly head: RunHead;
  readonly state: RunState;
  /** Absent if it is finished and nothing can be retried. */
  readonly plan: RunPlan | undefined;
  readonly finished: boolean;
  /** A report of all its records was printed. */
  readonly reported: boolean;
}

/** A run with an unreadable file, described as far as its other files allow. */
export interface DamagedRun {
  readonly run: string;
  readonly folder: string;
  /** Names the file, and for a journal the line. */
  readonly message: string;
  readonly head: RunHead | undefined;
  /** Undefined if the plan cannot be read. */
  readonly rows: readonly PlannedRow[] | undefined;
  /** It has not ended: what it sent can no longer be determined. */
  readonly isOpen: boolean;
}

/** Options to open a journal for writing; the journal records which process did. */
export interface WriteOptions extends JournalOptions {
  readonly self: ThisProcess;
}

/** Options for this process to write a run whose lock it holds; undefined: no lock could be acquired. */
export function writeOptions(
  { now, self, api }: Pick<LocalContext, 'now' | 'self'> & { readonly api?: Pick<Api, 'isKey'> },
  lock: HeldLock | undefined,
): WriteOptions {
  const isOurs = () => lock?.isOurs() ?? true;
  return { now, self, isOurs, ...(api && { isKey: (text) => api.isKey(text) }) };
}

/** Creates the run's folder with its plan and the journal's first record. Throws ConfigError, OutputError. */
export async function createRun(
  store: RunStore,
  plan: RunPlan,
  options: WriteOptions,
): Promise<Journal> {
  const open = placeIn(store, 'open');
  const folder = join(open, plan.head.run);
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    throw new ConfigError(`The run cannot be kept in ${folder}: ${systemReason(error)}.`, {
      cause: error,
      hint: makeRoom,
    });
  }
  let journal: Journal | undefined;
  try {
    // Before any run was marked, the names of the folders above may be new, too.
    await (newestRun(store) === undefined ? syncPath(open) : syncFolder(open));
    markNewest(store, plan.head.run);
    await writePlan(folder, plan);
    journal = await openJournal(journalIn(folder), options);
    await journal.append(firstRecord(plan, options));
    return journal;
  } catch (error) {
    // Nothing was sent, and nothing remains to be resumed.
    await journal?.close().catch(() => {});
    await removeRun(store, plan.head.run).catch(() => {});
    if (!(error instanceof OutputError)) throw error;
    // The hint says it too, but a limit of the system has a hint of its own.
    const text = systemLimit(error) ? `${error.message} Nothing was sent.` : error.message;
    throw new OutputError(text, { hint: makeRoom, cause: error.cause ?? error });
  }
}

/** Opens the journal of a run to continue it. Throws OutputError, GuardError. */
export async function continueJournal(
  store: RunStore,
  plan: RunPlan,
  options: WriteOptions,
): Promise<Journal> {
  const journal = await openJournal(journalIn(runFolder(store, plan.head.run)), options);
  const resumed = { kind: 'resume', ...holderEntry(options) } as const;
  await journal.append(journal.last === 0 ? firstRecord(plan, options) : resumed);
  return journal;
}

/** Opens the journal of a run for a few records. Throws OutputError, GuardError. */
export async function withJournal<T>(
  store: RunStore,
  plan: RunPlan,
  options: WriteOptions,
  write: (journal: Journal) => Promise<T>,
): Promise<T> {
  const journal = await continueJournal(store, plan, options);
  try {
    return await write(journal);
  } finally {
    await journal.close();
  }
}

function firstRecord({ head }: RunPlan, options: WriteOptions) {
  return { kind: 'job' as const, ...head, ...holderEntry(options) };
}

function holderEntry({ self }: WriteOptions) {
  return { holder: { ...describeSelf(self, undefined) } };
}

/** Reads every run on disk, oldest first; passes unreadable ones to `onDamaged` and omits them. */
export async function listRuns(
  store: RunStore,
  onDamaged: (run: DamagedRun) => void,
): Promise<readonly StoredRun[]> {
  return readRuns(store, runNames(store), onDamaged);
}

/**
 * Reads the runs in `open/`, and those of version 0.1.0: those that have not ended, have an unfinished
 * upload, or whose report was not printed. Opens nothing in `ended/`.
 */
export async function listOpenRuns(
  store: RunStore,
  onDamaged?: (run: DamagedRun) => void,
): Promise<readonly StoredRun[]> {
  return readRuns(store, runNames(store, ['open', 'legacy']), onDamaged);
}

/** Reads these runs, omitting those that no longer exist; passes unreadable ones to `onDamaged`. */
export async function readRuns(
  store: RunStore,
  names: readonly string[],
  onDamaged: (run: DamagedRun) => void = () => {},
): Promise<readonly StoredRun[]> {
  const runs: StoredRun[] = [];
  for (const name of names) {
    const run = await readFolder(store, name).catch(async (error: unknown) => {
      if (!cannotBeUsed(error)) throw error;
      onDamaged(await damagedRun(store, name, error));
      return undefined;
    });
    if (run) runs.push(run);
  }
  return runs;
}

/** Describes a run whose reading failed with such an error. */
async function damagedRun(store: RunStore, run: string, { message }: Failure): Promise<DamagedRun> {
  const folder = runFolder(store, run);
  const journal = journalIn(folder);
  // Other records may follow the end.
  const text = await readBytes(journal).catch(() => '');
  const hasEnded = text.includes('"kind":"end"');
  const plan = await readPlan(folder).catch((error: unknown) => {
    if (cannotBeUsed(error)) return null;
    throw error;
  });
  return {
    run,
    folder,
    message,
    head: plan?.head ?? headOf(await readFirstRecord(journal)),
    rows: plan?.rows,
    // Without a plan there is nothing to resume; one that cannot be read is null.
    isOpen: plan !== undefined && !hasEnded,
  };
}

/** True if an error from reading a run means that a file is damaged or unreadable. */
export function cannotBeUsed(error: unknown): error is GuardError | OutputError {
  return error instanceof GuardError || error instanceof OutputError;
}

/** Reads one run by its name; undefined if there is none. Throws GuardError, OutputError. */
export async function readRun(store: RunStore, name: string): Promise<StoredRun | undefined> {
  return isRunName(name) ? readFolder(store, name) : undefined;
}

/** Reads the runs on this machine that apply a plan file, oldest first; `madeAt`: when it was made. */
export async function runsOfPlan(
  store: RunStore,
  { hash, madeAt }: { readonly hash: string; readonly madeAt: string },
): Promise<readonly StoredRun[]> {
  // Another machine made it, whose clock may be ahead.
  const earliest = Date.parse(madeAt) - 86_400_000;
  const names: string[] = [];
  for (const name of runNames(store)) {
    if (isSingleRun(name) || startOf(name).getTime() < earliest) continue;
    const first = await readFirstRecord(journalIn(runFolder(store, name)));
    if (headOf(first)?.plan === hash) names.push(name);
  }
  return readRuns(store, names);
}

/** The rows of a run that its journal mentions, each with the result that this proves. */
export function resultsSoFar({ state }: StoredRun): ReadonlyMap<number, ReportRow> {
  const { results, open, done } = state;
  const rows = new Map(results);
  for (const [row, step] of done)
    if (!rows.has(row)) rows.set(row, { row, id: step.id, ...unsentResult(step) });
  for (const [row, { id }] of open)
    if (results.get(row)?.result !== 'unknown')
      rows.set(row, { row, id, result: 'unknown', ...firstStepOf(done.get(row)) });
  return rows;
}

/** The summary of a run; rows without a result count as not attempted. */
export function summaryOf(run: StoredRun): ReportSummary {
  const total = run.head.rows;
  const counted = summarize([...resultsSoFar(run).values()]);
  const untouched = total - counted.total;
  return { ...counted, total, notAttempted: counted.notAttempted + untouched };
}

/** True if a run has changed a record, or may have. */
export function mayHaveChanged({ state: { results, open, done } }: StoredRun): boolean {
  if (open.size > 0 || done.size > 0) return true;
  return [...results.values()].some(({ result }) => result === 'changed');
}

/** The number of rows that a resumed run would work on. */
export function rowsLeft({ head, state }: Pick<StoredRun, 'head' | 'state'>): number {
  // The result of a row whose write is open is not final, if it has one.
  return head.rows - [...state.results.values()].filter(isFinalRow).length;
}

async function readFolder(store: RunStore, name: string): Promise<StoredRun | undefined> {
  const folder = runFolder(store, name);
  const { records } = await readJournal(journalIn(folder));
  const plan = await readPlan(folder);
  const own = headOf(records[0]);
  // If the journal has another format, that decides, even if the format of the plan is known.
  const head = own && own.format !== runFormat ? own : (plan?.head ?? own);
  if (!head) {
    // Either it moved to `ended/` during the read, or a kill came before its plan was complete; then
    // nothing was sent.
    return runFolder(store, name) === folder ? undefined : readFolder(store, name);
  }
  const state = foldJournal(records);
  const finished = state.endedAt !== undefined || rowsLeft({ head, state }) === 0;
  return { head, state, plan, finished, reported: isReported(folder, state.last) };
}

/** Returns the state of a run in a word; `replaced` if a later run took its place. */
export function stateWord({ finished, state }: StoredRun): 'finished' | 'unfinished' | 'replaced' {
  if (state.replaced) return 'replaced';
  return finished ? 'finished' : 'unfinished';
}
