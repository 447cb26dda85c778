import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type Paths, requireFolder } from '../config/paths.js';
import { systemReason } from '../data/system-reason.js';
import { ConfigError, type Failure, OutputError, UsageError } from '../errors.js';
import { ensurePrivateFolder } from '../files/private.js';
import { cannotBeUsed, type DamagedRun, damagedRun } from './damaged.js';
import {
  type Journal,
  type JournalOptions,
  type JournalRecord,
  lastRecord,
  openJournal,
  readJournal,
} from './journal.js';
import { countsAsError, type ReportRow, type ReportSummary, summarize } from './report.js';
import {
  dropPlan,
  hasPlan,
  headOf,
  readPlan,
  type RunHead,
  type RunPlan,
  writePlan,
} from './run-plan.js';
import { foldJournal, isFinal, type RunState } from './run-state.js';
import { isTold } from './told.js';

export type { PlannedRow, RunHead, RunPlan } from './run-plan.js';

/** A run as it lies on disk. */
export interface StoredRun {
  readonly head: RunHead;
  readonly state: RunState;
  /** Absent when it was finished and nothing is left to retry. */
  readonly plan: RunPlan | undefined;
  readonly finished: boolean;
  /** A report of all that its journal holds was written out. */
  readonly told: boolean;
}

/** Where runs are kept. */
export interface RunStore {
  readonly dir: string;
  readonly locks: string;
}

/** The folder of runs, made private. Throws ConfigError (exit 2) where the state cannot be written. */
export function openRunStore(paths: Paths): RunStore {
  const state = requireFolder(paths, 'state');
  const own = { owner: paths.owner, within: state.within };
  ensurePrivateFolder(state.path, own);
  const store = runStore(state.path);
  ensurePrivateFolder(store.dir, { owner: paths.owner });
  ensurePrivateFolder(store.locks, { owner: paths.owner });
  return store;
}

/** The same, and nothing is made. Throws ConfigError where there is no place for a state. */
export function storeOf({ paths }: { readonly paths: Paths }): RunStore {
  return runStore(requireFolder(paths, 'state').path);
}

/** The same of a state folder that is known. */
export function runStore(statePath: string): RunStore {
  return { dir: join(statePath, 'runs'), locks: join(statePath, 'locks') };
}

/** Where all of a run lies. */
export function runFolder({ dir }: RunStore, run: string): string {
  return join(dir, run);
}

/** The file in which what was sent of a run is written down. */
export function journalPath(store: RunStore, run: string): string {
  return join(runFolder(store, run), 'journal.jsonl');
}

/** A name that sorts by time, to the millisecond: `20260301T101500123-3fa9c2`. */
export function newRunName(now: Date): string {
  const time = now.toISOString().replace(/[-:.Z]/g, '');
  return `${time}-${randomBytes(3).toString('hex')}`;
}

/** When a run of that name began; its files may not tell it any more. */
export function startOf(run: string): Date {
  return new Date(run.replace(timeOfName, '$1-$2-$3T$4:$5:$6.$7Z').slice(0, 24));
}

const timeOfName = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(\d{3})/;

/** Puts the plan and the journal's first record on disk. Throws ConfigError, OutputError. */
export async function createRun(
  store: RunStore,
  plan: RunPlan,
  options: JournalOptions,
): Promise<Journal> {
  const folder = runFolder(store, plan.head.run);
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    throw new ConfigError(`The run cannot be kept in ${folder}: ${systemReason(error)}.`, {
      cause: error,
      hint: 'Set ROSTERCTL_STATE_DIR to a folder that can be written.',
    });
  }
  await writePlan(folder, plan);
  const journal = await openJournal(journalPath(store, plan.head.run), options);
  await journal.append({ kind: 'job', ...plan.head });
  return journal;
}

/** Opens the journal of an unfinished run to go on. */
export async function continueJournal(
  store: RunStore,
  plan: RunPlan,
  options: JournalOptions,
): Promise<Journal> {
  const journal = await openJournal(journalPath(store, plan.head.run), options);
  const [first] = journal.records;
  if (!first) await journal.append({ kind: 'job', ...plan.head });
  return journal;
}

/** Ends a run: its plan goes, but for the rows that `runs retry` could begin from. */
export async function closeRun(
  store: RunStore,
  plan: RunPlan,
  results: readonly ReportRow[],
): Promise<void> {
  const bad = new Set(results.filter(({ result }) => countsAsError(result)).map(({ row }) => row));
  const left = plan.rows.filter(({ row }) => bad.has(row));
  const folder = runFolder(store, plan.head.run);
  if (left.length > 0) await writePlan(folder, { ...plan, rows: left });
  else await dropPlan(folder);
}

/** Every run on disk, oldest first; one that cannot be read is told by `onDamaged` and left out. */
export async function listRuns(
  store: RunStore,
  onDamaged: (run: DamagedRun) => void = () => {},
  isWanted: (run: string) => Promise<boolean> = async () => true,
): Promise<readonly StoredRun[]> {
  const runs: StoredRun[] = [];
  for (const name of await runNames(store)) {
    if (!(await isWanted(name))) continue;
    const run = await readFolder(store, name).catch(async (error: unknown) => {
      if (!cannotBeUsed(error)) throw error;
      onDamaged(await damagedRun(runFolder(store, name), journalPath(store, name), error));
      return undefined;
    });
    if (run) runs.push(run);
  }
  return runs;
}

/**
 * The runs that a new one has to know: those that have not ended, those with rows to go on with, and
 * with `untold` those whose report nobody saw. Of the others only the end is read.
 */
export function listOpenRuns(
  store: RunStore,
  onDamaged: (run: DamagedRun) => void,
  { untold }: { readonly untold: boolean },
): Promise<readonly StoredRun[]> {
  return listRuns(store, onDamaged, async (run) => {
    const folder = runFolder(store, run);
    const end = await endOf(store, run);
    const isOver = end !== undefined && (!untold || isTold(folder, end.seq));
    return !isOver || hasPlan(folder);
  });
}

/** The runs that did not come to their end; of the others, and there may be hundreds, next to nothing is read. */
export function listUnfinishedRuns(store: RunStore): Promise<readonly StoredRun[]> {
  return listRuns(store, undefined, async (run) => {
    return hasPlan(runFolder(store, run)) && (await endOf(store, run)) === undefined;
  });
}

/** The record of a run's end, read without the rest; undefined where it has not ended. */
export async function endOf(store: RunStore, run: string): Promise<JournalRecord | undefined> {
  const last = await lastRecord(journalPath(store, run));
  return last?.kind === 'end' ? last : undefined;
}

/** One run by its name; undefined when there is none. */
export async function readRun(store: RunStore, name: string): Promise<StoredRun | undefined> {
  const names = await runNames(store);
  return names.includes(name) ? readFolder(store, name) : undefined;
}

/**
 * The same; throws UsageError when there is none. `last` is the newest for which the first of
 * `meant` holds, else the second, and so on.
 */
export async function findRun(
  store: RunStore,
  name: string,
  ...meant: readonly ((run: StoredRun) => boolean)[]
): Promise<StoredRun> {
  const run = name === 'last' ? await lastRun(store, meant) : await readRun(store, name);
  if (run) return run;
  throw new UsageError(name === 'last' ? 'There is no such run.' : `There is no run "${name}".`, {
    hint: 'See: rosterctl runs list',
  });
}

async function lastRun(
  store: RunStore,
  meant: readonly ((run: StoredRun) => boolean)[],
): Promise<StoredRun | undefined> {
  const found: (StoredRun | undefined)[] = meant.map(() => undefined);
  let damage: Failure | undefined;
  for (const name of (await runNames(store)).toReversed()) {
    // oxlint-disable-next-line no-await-in-loop
    const run = await readFolder(store, name).catch((error: unknown) => {
      if (!cannotBeUsed(error)) throw error;
      damage ??= error;
      return undefined;
    });
    if (!run) continue;
    for (const [index, holds] of meant.entries()) found[index] ??= holds(run) ? run : undefined;
    if (found[0]) break;
  }
  const last = found.find((run) => run !== undefined);
  if (!last && damage) throw damage;
  return last;
}

export async function removeRun(store: RunStore, run: string): Promise<void> {
  await rm(runFolder(store, run), { recursive: true, force: true });
}

/** The counts of a run; rows without a result were not attempted. */
export function summaryOf({ head, state }: StoredRun): ReportSummary {
  const counted = summarize(
    [...state.results.values()].filter(({ row }) => !state.open.has(row)),
    { dryRun: false },
  );
  const left = head.rows - counted.total - state.open.size;
  return {
    ...counted,
    total: head.rows,
    unknown: counted.unknown + state.open.size,
    notAttempted: counted.notAttempted + left,
  };
}

const namePattern = /^\d{8}T\d{9}-[0-9a-f]{6}$/;

/** Oldest first. Throws OutputError where nobody can tell. */
async function runNames({ dir }: RunStore): Promise<readonly string[]> {
  const names = await readdir(dir).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return [];
    throw new OutputError(`The runs in ${dir} cannot be read: ${systemReason(error)}.`, {
      hint: 'Check the folder and its mode, or set ROSTERCTL_STATE_DIR.',
      cause: error,
    });
  });
  return names.filter((name) => namePattern.test(name)).toSorted();
}

async function readFolder(store: RunStore, name: string): Promise<StoredRun | undefined> {
  const folder = runFolder(store, name);
  const { records } = await readJournal(journalPath(store, name));
  const plan = await readPlan(folder);
  const head = plan?.head ?? headOf(records[0]);
  // Killed before its plan was whole: nothing was sent.
  if (!head) return undefined;
  const state = foldJournal(records);
  const finals = [...state.results.values()].filter(({ result }) => isFinal(result)).length;
  const finished = state.ended || finals === head.rows;
  return { head, state, plan, finished, told: isTold(folder, state.last) };
}
