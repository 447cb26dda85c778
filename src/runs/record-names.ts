/** Names for the records of runs: a run keeps ids only, and lists on this machine have shown the names. */
import type { LocalContext } from '../context.js';
import type { StoredRun } from './stored-run.js';

/** Finds the name of a record of a run by its id; undefined if no list has shown it. */
export type NameFinder = (run: StoredRun, id: string) => string | undefined;

/** Returns a finder that reads the cache for completion once for each resource. */
export async function createNameFinder({ paths }: LocalContext): Promise<NameFinder> {
  const { recallNames } = await import('../config/completion-cache.js');
  const known = new Map<string, ReadonlyMap<string, string>>();
  const namesFor = ({ head }: StoredRun): ReadonlyMap<string, string> => {
    const { profile, service: baseUrl, organization: organizationId, resource } = head;
    try {
      return recallNames(paths, { profile, baseUrl, organizationId }, resource);
    } catch {
      // The run of a service whose address this version does not take.
      return new Map();
    }
  };
  return (run, id) => {
    const { profile, service, organization, resource } = run.head;
    const key = [profile, service, organization, resource].join('\n');
    const names = known.get(key) ?? namesFor(run);
    known.set(key, names);
    return names.get(id) || undefined;
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
