/** The filter of players by team. */

import * as z from 'zod/mini';
import { callFor } from '../api/resources.js';
import { param } from '../cli/define.js';
import { cacheFor, type Filters, type FilterWorld, selectionBy } from '../cli/filters.js';
import type { Context } from '../context.js';
import { isObject, isTextOrNumber, type JsonObject } from '../data/json.js';
import { isNotFound } from '../data/outcome-errors.js';
import { normalName, plainText } from '../data/path.js';
import { missingHint, quotedId, referenceOf, teamKeys } from '../data/references.js';
import { isSameText, quotedIfSpaced, shellQuote } from '../data/text.js';
import { type RecordTest, typedField } from '../data/where.js';
import { Failure, NotFoundError, UsageError } from '../errors.js';
import { recordWord } from './params.js';
import { idsOfWords } from './read.js';

/** The flag that only players have. */
export const playerFilters = {
  team: param(z.optional(recordWord('teams')), 'players of this team', {
    placeholder: 'REF',
    group: 'selection',
    completes: 'id:teams',
  }),
};

interface TeamValue {
  readonly team?: string | undefined;
}

/** The id of the team that `--team` names. Throws ReferencesError where none or several answer. */
async function resolveTeam(context: Context, { team }: TeamValue): Promise<TeamValue> {
  if (team === undefined) return {};
  // The table shows the names of the teams that were read.
  const cache = context.isAligned ? await cacheFor(context, 'teams') : undefined;
  let isRead = false;
  const [id] = await idsOfWords(context, 'teams', [team], (record) => {
    isRead = true;
    cache?.observe(record);
  });
  if (isRead) await cache?.write({ whole: true });
  return { team: id };
}

/** The filters of `players list`, also for bulk commands. */
export const playerSelection: Filters = {
  ...selectionBy(playerFilters, playerTests),
  resolve: resolveTeam,
};

/**
 * The test for the filter, if it is given. A team of which no player is found is asked for, so that a
 * wrong id is an error: NotFoundError, or UsageError if players name their teams and not the ids.
 */
function playerTests({ team }: TeamValue, world: FilterWorld): readonly RecordTest[] {
  if (team === undefined) return [];
  const seen: NamedTeam[] = [];
  return [
    {
      holds(record) {
        if (isInTeam(record, { id: team })) return true;
        if (seen.length < maxSeen)
          seen.push(...teamsOf(record).filter(({ name }) => name !== undefined));
        return false;
      },
      field: typedField('--team', 'teamId', (value) => teamsIn(value, '').length > 0, teamKeys),
      heldForNone: () => explainNone(team, seen, world),
    },
  ];
}

/** True if a player's record has a field that may name teams. */
export function hasTeamField(player: JsonObject): boolean {
  return teamKeys(player).length > 0;
}

/** True if a player's record names this team, by its id or else by its name. */
export function isInTeam(
  player: JsonObject,
  { id, name = '' }: { readonly id: string; readonly name?: string },
): boolean {
  return teamsOf(player).some((team) => {
    const named = team.id ?? team.name ?? '';
    return (
      isSameText(named, id) || (team.id === undefined && name !== '' && isSameText(named, name))
    );
  });
}

/** Returns the teams that a player's record names. */
export function teamsOf(record: JsonObject): readonly NamedTeam[] {
  return teamKeys(record).flatMap((key) => teamsIn(record[key], key));
}

/** True if a player's record names a team. */
export function hasTeam(record: JsonObject): boolean {
  return teamsOf(record).length > 0;
}

/** A team as a player's record names it. A text alone may be an id, and is kept as its name. */
interface NamedTeam {
  readonly id: string | undefined;
  readonly name: string | undefined;
  /** The path of the name in the record. */
  readonly path: string;
}

/** Enough to recognize the names of all teams. */
const maxSeen = 10_000;

function teamsIn(value: unknown, path: string): readonly NamedTeam[] {
  if (Array.isArray(value)) return value.flatMap((each) => teamsIn(each, path));
  if (typeof value === 'string') {
    const parts = value.split(/[,;]/).map((part) => part.trim());
    return [...new Set([value, ...parts])]
      .filter((name) => name !== '')
      .map((name) => ({ id: undefined, name, path }));
  }
  if (isTextOrNumber(value)) return [{ id: plainText(value), name: undefined, path }];
  if (!isObject(value)) return [];
  const idName = Object.keys(value).find(
    (key) => ['id', 'teamid'].includes(normalName(key)) && isTextOrNumber(value[key]),
  );
  const name = typeof value['name'] === 'string' ? value['name'] : undefined;
  if (idName === undefined && name === undefined) return [];
  const id = idName === undefined ? undefined : plainText(value[idName]);
  return [{ id, name, path: `${path}.name` }];
}

/** Throws if the team does not exist, or if players hold its name in place of its id. */
async function explainNone(team: string, seen: readonly NamedTeam[], world: FilterWorld) {
  const named = seen.find(({ id, name = '' }) => id !== undefined && isSameText(name, team));
  const call = callFor('teams', 'get', team);
  const found = await world.api.record(call).catch(async (error: unknown) => {
    if (!isNotFound(error)) throw error;
    const meant = named ? undefined : await teamNamed(team, world);
    throw new NotFoundError(`No team has the id ${quotedIfSpaced(team)}.`, {
      isProven: true,
      hint: named
        ? `A team of that name has the id ${quotedIfSpaced(named.id ?? '')}: --team ${quotedId(named.id ?? '')}`
        : (meant ?? missingHint(team, 'teams')),
    });
  });
  const name = plainText(found.record['name']);
  const byName = seen.find((each) => each.id === undefined && isSameText(each.name ?? '', name));
  if (byName)
    throw new UsageError(
      `--team ${shellQuote(team)}: players hold the name of their team, not its id.`,
      {
        hint: `Filter by the name: --where ${shellQuote(`${byName.path}=${byName.name}`)}`,
      },
    );
}

/** Asks for the team whose name, or nearly so, was typed in place of its id; undefined if there is none. */
async function teamNamed(name: string, world: FilterWorld): Promise<string | undefined> {
  const { readReferences } = await import('../bulk/reference-index.js');
  const reference = referenceOf('name', name);
  try {
    const index = await readReferences(world, 'teams', ['name']);
    const ids = index.find(reference).map(({ id }) => id);
    const [near] = index.nearest(reference);
    const meant = ids.length > 0 ? `${shellQuote(reference.text)} (${ids.join(', ')})` : near;
    return meant && `Did you mean ${meant}?`;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return undefined;
  }
}
