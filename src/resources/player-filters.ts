/** The filter of players by team. */
import * as z from 'zod/mini';
import { Id } from '../api/schemas.js';
import { param } from '../cli/define.js';
import type { RecordTest } from '../cli/filters.js';
import { isObject, type JsonObject } from '../data/json.js';

/** The flag that only players have. */
export const playerFilters = {
  team: param(z.optional(Id), 'players of this team', {
    placeholder: 'ID',
    group: 'selection',
    completes: 'id:teams',
  }),
};

/** The test for the filter, if it is given. */
export function playerTests({ team }: { readonly team?: string | undefined }): RecordTest[] {
  if (team === undefined) return [];
  return [
    {
      holds: (record) => teamsOf(record).includes(team),
      field: {
        name: 'teamId',
        on: (record) => teamFields.some((name) => Object.hasOwn(record, name)),
      },
    },
  ];
}

// The contract does not show whether a player names one team, several ids or several teams.
const teamFields = ['teamId', 'teamIds', 'teams', 'team'];

function teamsOf(record: JsonObject): readonly unknown[] {
  const named = teamFields.flatMap((name) => record[name] ?? []);
  return named.map((entry) => (isObject(entry) ? entry['id'] : entry));
}
