/** Names of teams, for pages on which a person reads records that hold only their ids. */

import { cacheFor } from '../cli/filters.js';
import type { Context } from '../context.js';
import type { JsonObject } from '../data/json.js';
import { recordsNearby } from './cards/nearby.js';
import { type NamedTeam, teamsOf } from './player-filters.js';

/**
 * Returns the names of the teams of these players by id, as this machine has shown them; where one is
 * unknown, a person's page reads the list once, and a pipe goes without. Throws CancelledError after a signal.
 */
export async function teamNames(
  context: Context,
  players: readonly JsonObject[],
): Promise<ReadonlyMap<string, string>> {
  const { paths, settings, isInteractive } = context;
  const { cachePlaceOf, recallNames } = await import('../config/completion-cache.js');
  const known = settings.completionCache
    ? recallNames(paths, cachePlaceOf(context), 'teams')
    : new Map<string, string>();
  // A text alone may be an id or a name.
  const either = new Set([...known.keys(), ...known.values()]);
  const isKnown = ({ id, name }: NamedTeam) =>
    (id !== undefined && name !== undefined) || either.has(id ?? name ?? '');
  if (!isInteractive || players.flatMap(teamsOf).every(isKnown)) return known;
  const nearby = await recordsNearby(context, 'teams', () => true);
  const teams = 'records' in nearby ? nearby.records : [];
  const cache = await cacheFor(context, 'teams');
  for (const team of teams) cache?.observe(team);
  if (teams.length > 0) await cache?.write({ whole: true });
  return new Map([...known, ...namesById(teams)]);
}

/** The names of these teams by id. */
export function namesById(teams: readonly JsonObject[]): ReadonlyMap<string, string> {
  return new Map(teams.map(({ id, name }) => [String(id), typeof name === 'string' ? name : '']));
}
