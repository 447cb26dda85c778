/** Finds runs by their name, their short id or `last`, shortens their names, and names their records. */
import type { Context, LocalContext } from '../context.js';
import { UnknownNameError } from '../data/outcome-errors.js';
import { GuardError } from '../errors.js';
import type { RunHead } from './plan.js';
import { newestFirst, type RunPlace, type RunStore, runNames } from './store.js';
import { readRun, type StoredRun } from './stored-run.js';

/** One meaning of `last`. */
export interface LastRun {
  /** Only runs in these places are considered; others are not opened. */
  readonly places?: readonly RunPlace[];
  readonly matches: (run: StoredRun) => boolean;
}

/**
 * Finds a run by its name, by its last six characters, or for `last` the newest run that satisfies the
 * first of `candidates`, else the second, and so on; reads runs from the newest until one matches. Throws
 * UsageError if there is none, GuardError if several end in these characters, or for `last` if a newer run
 * cannot be read.
 */
export async function findRun(
  store: RunStore,
  name: string,
  ...candidates: readonly LastRun[]
): Promise<StoredRun> {
  const run = name === 'last' ? await lastRun(store, candidates) : await namedRun(store, name);
  if (run) return run;
  throw name === 'last'
    ? new UnknownNameError(
        'There are no runs on this machine yet.',
        name,
        'Every change is kept as a run. See: rosterctl help bulk',
      )
    : new UnknownNameError(`Unknown run "${name}".`, name, 'See: rosterctl runs list');
}

/** Resolves a run's name or last six characters to its full name; undefined if there is none. Throws GuardError. */
export function resolveRunName(store: RunStore, name: string): string | undefined {
  const names = runNames(store);
  if (names.includes(name)) return name;
  if (!/^[0-9a-f]{6}$/.test(name)) return undefined;
  const found = names.filter((each) => each.endsWith(`-${name}`));
  if (found.length > 1)
    throw new GuardError(`Several runs end in ${name}: ${found.join(', ')}.`, {
      code: 'ambiguous',
      hint: 'Type the whole name.',
    });
  return found[0];
}

/** Returns the last six characters of a run's name, or all of it if another run ends in the same six. */
export function shortRunName(store: RunStore, run: string): string {
  return shortRunNames(store)(run);
}

/** Returns how a message names a run: in full for a script, shortened for a person. */
export function shownRunName(
  { streams }: Pick<Context, 'streams'>,
  store: RunStore,
  run: string,
): string {
  return streams.stderr.isTerminal ? shortRunName(store, run) : run;
}

/** Returns a function that shortens the names of runs as `shortRunName` does. */
export function shortRunNames(store: RunStore): (run: string) => string {
  const counts = new Map<string, number>();
  for (const name of namesIfReadable(store))
    counts.set(name.slice(-6), (counts.get(name.slice(-6)) ?? 0) + 1);
  return (run) => ((counts.get(run.slice(-6)) ?? 0) > 1 ? run : run.slice(-6));
}

/** Finds the name of a record of a run by its id; undefined if no list has shown it. */
export type NameFinder = (run: StoredRun, id: string) => string | undefined;

/** Returns a finder that reads the cache for completion once for each resource. */
export async function createNameFinder(context: LocalContext): Promise<NameFinder> {
  const namesOf = await shownNames(context);
  const known = new Map<string, ReadonlyMap<string, string>>();
  return (run, id) => {
    const { profile, service, organization, resource } = run.head;
    const key = [profile, service, organization, resource].join('\n');
    const names = known.get(key) ?? namesOf(run.head, resource);
    known.set(key, names);
    return names.get(id) || undefined;
  };
}

/** Returns the names of the teams of a run's service by id, for a person; undefined for a script. */
export async function shownTeams(
  context: LocalContext,
  place: NamedPlace,
): Promise<ReadonlyMap<string, string> | undefined> {
  return context.isInteractive ? (await shownNames(context))(place, 'teams') : undefined;
}

type NamedPlace = Pick<RunHead, 'profile' | 'service' | 'organization'>;

/** Returns a function that reads the names of records by id from the cache for completion. */
async function shownNames({ paths }: LocalContext) {
  const { recallNames } = await import('../config/completion-cache.js');
  return (
    { profile, service: baseUrl, organization: organizationId }: NamedPlace,
    resource: string,
  ): ReadonlyMap<string, string> => {
    try {
      return recallNames(paths, { profile, baseUrl, organizationId }, resource).names;
    } catch {
      // The run of a service whose address this version does not take.
      return new Map();
    }
  };
}

/** Returns the only record that a finished run changed, by its name or else its id; undefined for any other run. */
export function soleRecord(run: StoredRun, nameOf: NameFinder): string | undefined {
  const [only, ...others] = run.state.results.values();
  if (only?.result !== 'changed' || others.length > 0 || !run.finished) return undefined;
  const made = only.after?.['id'];
  const id = typeof made === 'string' ? made : only.id;
  const [deleted] = run.head.verb === 'delete' ? Object.values(only.before ?? {}) : [];
  return typeof deleted === 'string' ? deleted : (nameOf(run, id) ?? id);
}

function namesIfReadable(store: RunStore): readonly string[] {
  try {
    return runNames(store);
  } catch {
    return [];
  }
}

async function namedRun(store: RunStore, name: string): Promise<StoredRun | undefined> {
  const fullName = resolveRunName(store, name);
  return fullName === undefined ? undefined : readRun(store, fullName);
}

async function lastRun(store: RunStore, candidates: readonly LastRun[]) {
  const read = new Map<string, StoredRun>();
  for (const { places, matches } of candidates) {
    for (const name of newestFirst(store, runNames(store, places))) {
      const run = read.get(name) ?? (await readNewest(store, name));
      if (!run) continue;
      if (matches(run)) return run;
      read.set(name, run);
    }
  }
  return undefined;
}

/** Reads a run that may be the last one. If it cannot be read, no older run may be undone in its place. */
async function readNewest(store: RunStore, name: string): Promise<StoredRun | undefined> {
  try {
    return await readRun(store, name);
  } catch (error) {
    if (!(error instanceof GuardError)) throw error;
    throw new GuardError(`${error.message} It may be the last run.`, {
      code: 'damaged',
      hint: 'Name the run that you mean. See: rosterctl runs list',
    });
  }
}
