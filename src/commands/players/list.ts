import * as z from 'zod/mini';
import { Id } from '../../api/schemas.js';
import { defineCommand, param } from '../../cli/define.js';
import { listFlags, narrow } from '../../cli/filters.js';
import { listed } from '../../cli/listed.js';
import { listOf } from '../../cli/views.js';
import { isObject, type JsonObject } from '../../data/json.js';

export default defineCommand({
  summary: 'List the players',
  examples: [
    ['All players', ''],
    ['Those of one team', '--team team_0001'],
    ['Ids, for another command', '--search captain -o ids'],
  ],
  calls: ['listPlayers'],
  flags: {
    team: param(z.optional(Id), 'players of this team', {
      placeholder: 'ID',
      group: 'selection',
      completes: 'id:teams',
    }),
    ...listFlags,
  },
  view: listOf('players'),
  run(context, values) {
    const { usualOrder } = context;
    const { team } = values;
    const tests =
      team === undefined
        ? []
        : [
            {
              holds: (record: JsonObject) => teamsOf(record).includes(team),
              field: {
                name: 'teamId',
                on: (record: JsonObject) => teamFields.some((name) => Object.hasOwn(record, name)),
              },
            },
          ];
    return narrow(listed(context, 'players'), values, { resource: 'players', tests, usualOrder });
  },
});

// The contract does not show whether a player names one team, several ids or several teams.
const teamFields = ['teamId', 'teamIds', 'teams', 'team'];

function teamsOf(record: JsonObject): readonly unknown[] {
  const named = teamFields.flatMap((name) => record[name] ?? []);
  return named.map((entry) => (isObject(entry) ? entry['id'] : entry));
}
