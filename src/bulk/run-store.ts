/** Where runs lie on disk: `runs/open/RUN` while they go on, `runs/ended/RUN` afterwards, their names and marks. */
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type Paths, requireFolder } from '../config/paths.js';
import { systemReason } from '../data/system-errors.js';
import { OutputError } from '../errors.js';
import { writeAtomically } from '../files/atomic-write.js';
import { ensurePrivateFolder } from '../files/private.js';

/** Where runs are kept. */
export interface RunStore {
  readonly dir: string;
  readonly locks: string;
}

/** The two folders of runs; `legacy` is the folder above them, in which version 0.1.0 kept all of them. */
export const runPlaces = ['open', 'ended', 'legacy'] as const;
export type RunPlace = (typeof runPlaces)[number];

/** The folder of runs, made private. Throws ConfigError (exit 2) where the state cannot be written. */
export function openRunStore(paths: Paths): RunStore {
  const state = requireFolder(paths, 'state');
  const { owner } = paths;
  ensurePrivateFolder(state.path, { owner, within: state.within });
  const store = runStore(state.path);
  for (const folder of [store.dir, placeIn(store, 'open'), placeIn(store, 'ended'), store.locks])
    ensurePrivateFolder(folder, { owner });
  return store;
}

/** Names the store without making anything. Throws ConfigError where there is no place for a state. */
export function storeOf({ paths }: { readonly paths: Paths }): RunStore {
  return runStore(requireFolder(paths, 'state').path);
}

/** The store in a state folder that is known. */
export function runStore(statePath: string): RunStore {
  return { dir: join(statePath, 'runs'), locks: join(statePath, 'locks') };
}

/** The folder in which all of a run lies; for one that does not exist yet, where it is to be made. */
export function runFolder(store: RunStore, run: string): string {
  const all = runPlaces.map((place) => join(placeIn(store, place), run));
  return all.find((folder) => existsSync(folder)) ?? join(placeIn(store, 'open'), run);
}

/** The file in which what was sent of a run is written down. */
export function journalPath(store: RunStore, run: string): string {
  return journalIn(runFolder(store, run));
}

/** The journal in a run's folder. */
export function journalIn(folder: string): string {
  return join(folder, 'journal.jsonl');
}

/** The folder of one place. */
export function placeIn({ dir }: RunStore, place: RunPlace): string {
  return place === 'legacy' ? dir : join(dir, place);
}

/**
 * A name that sorts by time, to the millisecond: `20260301T101500123-3fa9c2`, of a single write
 * `20260301T101500123-1-3fa9c2`. The last six characters are the run's short id.
 */
export function newRunName(now: Date, { single = false }: { readonly single?: boolean } = {}) {
  const time = now.toISOString().replace(/[-:.Z]/g, '');
  return `${time}${single ? '-1' : ''}-${randomBytes(3).toString('hex')}`;
}

/** Whether a run of that name is a write of one record that was typed as one. */
export function isSingleRun(run: string): boolean {
  return run.charAt(namedTime) === '-' && run.slice(namedTime, -6) === '-1-';
}

/** When a run of that name began; its files may not tell it any more. */
export function startOf(run: string): Date {
  return new Date(run.replace(timeOfName, '$1-$2-$3T$4:$5:$6.$7Z').slice(0, 24));
}

const timeOfName = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(\d{3})/;
const namedTime = '20260301T101500123'.length;
const namePattern = /^\d{8}T\d{9}(-1)?-[0-9a-f]{6}$/;

/** Whether a text has the form of a run's name. */
export function isRunName(text: string): boolean {
  return namePattern.test(text);
}

/** The runs in these places, oldest first; nothing in their folders is opened. Throws OutputError. */
export async function runNames(
  store: RunStore,
  places: readonly RunPlace[] = runPlaces,
): Promise<readonly string[]> {
  const all = await Promise.all(places.map((place) => namesIn(placeIn(store, place))));
  // A run may move while both folders are read.
  return [...new Set(all.flat())].toSorted();
}

async function namesIn(folder: string): Promise<readonly string[]> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return [];
    throw new OutputError(`The runs in ${folder} cannot be read: ${systemReason(error)}.`, {
      hint: 'Check the folder and its mode, or set ROSTERCTL_STATE_DIR.',
      cause: error,
    });
  });
  return names.filter(isRunName);
}

/**
 * Moves a run's folder with one rename. Never throws: another process may have moved it, and what
 * cannot be moved is moved by the next write.
 */
export async function moveRun(store: RunStore, run: string, to: 'open' | 'ended'): Promise<void> {
  const from = runFolder(store, run);
  const target = join(placeIn(store, to), run);
  if (from !== target) await rename(from, target).catch(() => {});
}

/** Removes all of a run. */
export async function removeRun(store: RunStore, run: string): Promise<void> {
  await rm(runFolder(store, run), { recursive: true, force: true });
}

/**
 * Keeps that a report of a run's records up to `last` was written out. Whoever writes a report holds no
 * lock any more and another process may be continuing the run, so the journal itself is left alone.
 * Throws OutputError.
 */
export async function writeReported(folder: string, last: number): Promise<void> {
  // A run that was pruned meanwhile has nothing to tell.
  if (existsSync(folder) && !isReported(folder, last))
    await writeAtomically(reportedFile(folder), `${last}\n`);
}

/** Whether a report was written out of a run's records up to `last`. */
export function isReported(folder: string, last: number): boolean {
  try {
    return Number(readFileSync(reportedFile(folder), 'utf8')) >= last;
  } catch {
    // What cannot be read is told once more, which does no harm.
    return false;
  }
}

function reportedFile(folder: string): string {
  return join(folder, 'told');
}

/**
 * Keeps that `byRun` took up the rows of `run`. Written once `byRun` is on disk and before it sends: a
 * kill in between leaves a run of which nothing was sent. Throws OutputError.
 */
export async function markRetried(store: RunStore, run: string, byRun: string): Promise<void> {
  await writeAtomically(retriedIn(store, run), `${byRun}\n`);
}

/** The run that took up the rows of `run`; undefined where none did. */
export function retriedBy(store: RunStore, run: string): string | undefined {
  return runNameIn(retriedIn(store, run));
}

function retriedIn(store: RunStore, run: string): string {
  return join(runFolder(store, run), 'retried');
}

/** The run that a file names; undefined where it cannot be read or names none. */
export function runNameIn(path: string): string | undefined {
  try {
    const text = readFileSync(path, 'utf8').trim();
    return isRunName(text) ? text : undefined;
  } catch {
    return undefined;
  }
}
