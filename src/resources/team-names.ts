/** Names of teams, for pages on which a person reads records that hold only their ids. */

import { cacheFor } from '../cli/filters.js';
import type { Context } from '../context.js';
import type { JsonObject } from '../data/json.js';
import { recordsNearby } from './cards/nearby.js';

/**
 * Returns the names of teams by id, as lists on this machine have shown them; where none has, a person's
 * page reads the list once, and a pipe goes without. Throws CancelledError after a signal.
 */
export async function teamNames(context: Context): Promise<ReadonlyMap<string, string>> {
  const { paths, settings, isInteractive } = context;
  if (settings.completionCache) {
    const { cachePlaceOf, recallNames } = await import('../config/completion-cache.js');
    const known = recallNames(paths, cachePlaceOf(context), 'teams');
    if (known.size > 0) return known;
  }
  if (!isInteractive) return new Map();
  const nearby = await recordsNearby(context, 'teams', () => true);
  const teams = 'records' in nearby ? nearby.records : [];
  const cache = await cacheFor(context, 'teams');
  for (const team of teams) cache?.observe(team);
  if (teams.length > 0) await cache?.write({ whole: true });
  return namesById(teams);
}

/** The names of these teams by id. */
export function namesById(teams: readonly JsonObject[]): ReadonlyMap<string, string> {
  return new Map(teams.map(({ id, name }) => [String(id), typeof name === 'string' ? name : '']));
}
