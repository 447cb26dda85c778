/** The store of runs: `runs/open/RUN` until they end, then `runs/ended/RUN`; their names and marker files. */
import { existsSync, promises as fs, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Paths, requireFolder } from '../config/paths.js';
import { randomHex } from '../data/digest.js';
import { systemReason } from '../data/system-errors.js';
import { OutputError } from '../errors.js';
import { writeAtomically } from '../files/atomic-write.js';
import {
  ensurePrivateFolder,
  folderAdvice,
  listStateFolder,
  readOwnText,
} from '../files/private.js';

/** The folders of runs. */
export interface RunStore {
  readonly dir: string;
  readonly locks: string;
}

/** The hint where a run, or its lock, cannot be written. */
export const makeRoom =
  'Nothing was sent. Make room, or set ROSTERCTL_STATE_DIR to a folder that you can write to.';

/** The folders that hold runs; `legacy` is the parent of the other two, where version 0.1.0 kept all runs. */
export const runPlaces = ['open', 'ended', 'legacy'] as const;
export type RunPlace = (typeof runPlaces)[number];

/** Opens the run store, with private folders. Throws ConfigError if the state cannot be written. */
export function openRunStore(paths: Paths): RunStore {
  const state = requireFolder(paths, 'state');
  const { owner } = paths;
  const hint = `Nothing was sent. ${folderAdvice(state)}`;
  ensurePrivateFolder(state.path, { owner, within: state.within, hint });
  const store = runStore(state.path);
  for (const folder of [store.dir, placeIn(store, 'open'), placeIn(store, 'ended'), store.locks])
    ensurePrivateFolder(folder, { owner, hint });
  return store;
}

/** The run store, without creating anything. Throws ConfigError if there is no state folder. */
export function storeOf({ paths }: { readonly paths: Paths }): RunStore {
  return runStore(requireFolder(paths, 'state').path);
}

/** The run store in a known state folder. */
export function runStore(statePath: string): RunStore {
  return { dir: join(statePath, 'runs'), locks: join(statePath, 'locks') };
}

/** The folder of a run; for one that does not exist yet, where it will be created. */
export function runFolder(store: RunStore, run: string): string {
  const all = runPlaces.map((place) => join(placeIn(store, place), run));
  return all.find((folder) => existsSync(folder)) ?? join(placeIn(store, 'open'), run);
}

/** True while a run is kept; `runs prune` removes it. */
export function hasRun(store: RunStore, run: string): boolean {
  return existsSync(runFolder(store, run));
}

/** The path of the journal within a run's folder. */
export function journalIn(folder: string): string {
  return join(folder, 'journal.jsonl');
}

/** The folder for one place. */
export function placeIn({ dir }: RunStore, place: RunPlace): string {
  return place === 'legacy' ? dir : join(dir, place);
}

/**
 * A new run name, which sorts by time to the millisecond: `20260301T101500123-3fa9c2`, for a single write
 * `20260301T101500123-1-3fa9c2`. The last six characters are the run's short id. It sorts behind the run
 * `after`, also if the clock was set back since, unless by more than a day.
 */
export function newRunName(
  now: Date,
  {
    single = false,
    after,
  }: { readonly single?: boolean; readonly after?: string | undefined } = {},
) {
  const ahead = after === undefined ? -1 : startOf(after).getTime() - now.getTime();
  const date = ahead >= 0 && ahead <= mostSetBackMs ? new Date(now.getTime() + ahead + 1) : now;
  return `${timeInName(date.getTime())}${single ? '-1' : ''}-${randomHex(3)}`;
}

/** A clock that was further ahead was wrong: names by it would keep runs from being pruned for as long. */
const mostSetBackMs = 86_400_000;

/** The run that was begun last; undefined if that is unknown. */
export function newestRun(store: RunStore): string | undefined {
  return runNameIn(newestFile(store));
}

/** Returns sorted names of runs, newest first; those by a clock that was ahead by more than a day come last. */
export function newestFirst(store: RunStore, names: readonly string[]): readonly string[] {
  const last = newestRun(store) ?? names.at(-1) ?? '';
  const most = startOf(last).getTime() + mostSetBackMs;
  const ahead = names.findIndex((run) => startOf(run).getTime() > most);
  const at = ahead < 0 ? names.length : ahead;
  return [...names.slice(at), ...names.slice(0, at)].toReversed();
}

/** Records the run that was begun last. Without it, runs sort by the clock. */
export function markNewest(store: RunStore, run: string): void {
  markRun(newestFile(store), run);
}

/** A run that takes longer is marked when it ends. */
const longMs = 60_000;

/** Records that a run which took more than a minute ends now. To be called before it is moved to `ended/`. */
export function markIfLong(store: RunStore, run: string): void {
  if (Date.now() - startOf(run).getTime() > longMs) markRun(longFile(store), run);
}

/**
 * Lists the runs that may have been written since a time in milliseconds since 1970, oldest first: all that
 * are open, and of those that ended only the ones begun in the minute before, unless a long one ended since.
 */
export function runNamesSince(store: RunStore, since: number): readonly string[] {
  const open = runNames(store, ['open']);
  // A run that ended since was moved there since.
  if (modifiedAt(placeIn(store, 'ended')) < since) return open;
  const behind = modifiedAt(longFile(store)) < since ? timeInName(since - longMs) : '';
  // A run may move while the folders are read.
  return [...new Set([...open, ...runNames(store, ['ended'], behind)])].toSorted();
}

function longFile({ dir }: RunStore): string {
  return join(dir, 'newest-long');
}

/** When a file or a folder was last modified, in milliseconds since 1970; 0 if it is not there. */
export function modifiedAt(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

/** Writes the name of a run to a file of its own. Never throws: each such file can be done without. */
export function markRun(path: string, run: string): void {
  try {
    // Writing to a named pipe in its place would block.
    if (statSync(path, { throwIfNoEntry: false })?.isFile() !== false)
      writeFileSync(path, `${run}\n`, { mode: 0o600 });
  } catch {
    // See above.
  }
}

function newestFile({ dir }: RunStore): string {
  return join(dir, 'newest');
}

/** True if the name is that of a single write. */
export function isSingleRun(run: string): boolean {
  return run.slice(timeLength, -6) === '-1-';
}

/** When the run of that name started; independent of its files, which may be unreadable. */
export function startOf(run: string): Date {
  return new Date(run.replace(timeOfName, '$1-$2-$3T$4:$5:$6.$7Z').slice(0, 24));
}

/** How the name of a run that starts at that time begins, in milliseconds since 1970. Later names sort behind it. */
function timeInName(time: number): string {
  return new Date(time).toISOString().replace(/[-:.Z]/g, '');
}

const timeOfName = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(\d{3})/;
const timeLength = '20260301T101500123'.length;
const namePattern = /^\d{8}T\d{9}(-1)?-[0-9a-f]{6}$/;

/** True if a text has the form of a run name. */
export function isRunName(text: string): boolean {
  return namePattern.test(text);
}

/**
 * Lists the names of the runs in these places, oldest first, without opening their folders; with `behind`,
 * only those that sort behind that text. Throws OutputError.
 */
export function runNames(
  store: RunStore,
  places: readonly RunPlace[] = runPlaces,
  behind = '',
): readonly string[] {
  const all = places.flatMap((place) =>
    listStateFolder(placeIn(store, place), 'runs').filter(
      (name) => name > behind && isRunName(name),
    ),
  );
  // A run may move while the folders are read.
  return [...new Set(all)].toSorted();
}

/** Deletes a run's folder. Throws OutputError. */
export function removeRun(store: RunStore, run: string): Promise<void> {
  return removeState(runFolder(store, run));
}

/** Deletes a file or a folder of a run. Throws OutputError. */
export async function removeState(path: string): Promise<void> {
  try {
    await fs.rm(path, { recursive: true, force: true });
  } catch (error) {
    const why = systemReason(error);
    throw new OutputError(`${path} cannot be removed: ${why}. Remove it yourself.`, {
      cause: error,
    });
  }
}

/**
 * Records that the report of a run's records up to `last` was printed. It is a separate file, because
 * the reporting process no longer holds the lock and another one may be writing the journal. Throws
 * OutputError.
 */
export async function writeReported(folder: string, last: number): Promise<void> {
  // The run may have been pruned meanwhile.
  if (existsSync(folder) && !isReported(folder, last))
    await writeMark(
      reportedFile(folder),
      String(last),
      'Make room. The same command then prints this report again instead of repeating the change.',
    );
}

async function writeMark(path: string, text: string, hint: string): Promise<void> {
  await writeAtomically(path, `${text}\n`, { isOwn: true }).catch((error: unknown) => {
    if (!(error instanceof OutputError)) throw error;
    throw new OutputError(error.message, { hint, cause: error });
  });
}

/** True if a report of a run's records up to `last` was printed. */
export function isReported(folder: string, last: number): boolean {
  try {
    return Number(readOwnText(reportedFile(folder))) >= last;
  } catch {
    // If the file cannot be read the report is printed again, which is harmless.
    return false;
  }
}

function reportedFile(folder: string): string {
  return join(folder, 'told');
}

/**
 * Records that `byRun` retries the rows of `run`. Written once `byRun` is on disk and before it sends,
 * so that a kill in between leaves a run that sent nothing. Throws OutputError.
 */
export async function markRetried(store: RunStore, run: string, byRun: string): Promise<void> {
  // While the question waited, `runs prune` may have removed it.
  if (!hasRun(store, run)) return;
  const hint = 'Nothing was sent. Make room, then run the same command again.';
  await writeMark(retriedIn(store, run), byRun, hint);
}

/** The run that retried the rows of `run`; undefined if none did. */
export function retriedBy(store: RunStore, run: string): string | undefined {
  return runNameIn(retriedIn(store, run));
}

/** Lets the rows be retried again that a run was to retry, because it sent nothing. */
export async function unmarkRetried(
  store: RunStore,
  { run, retries }: { readonly run: string; readonly retries?: string },
): Promise<void> {
  if (retries !== undefined && retriedBy(store, retries) === run)
    await fs.rm(retriedIn(store, retries), { force: true });
}

function retriedIn(store: RunStore, run: string): string {
  return join(runFolder(store, run), 'retried');
}

/** The run named in a file; undefined if it cannot be read or does not hold a run name. */
export function runNameIn(path: string): string | undefined {
  try {
    const text = readOwnText(path).trim();
    return isRunName(text) ? text : undefined;
  } catch {
    return undefined;
  }
}
