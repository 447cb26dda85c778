/** How the sandbox answers the endpoints of players. */
import { checkName, find, listed, merged, newRecord, recordsOf } from './editing.js';
import type { HandlerCall, Handlers } from './handler.js';
import type { StoredRecord } from './records.js';
import { invalid } from './refusal.js';

type PlayerCalls = 'listPlayers' | 'getPlayer' | 'createPlayer' | 'updatePlayer' | 'deletePlayer';

/** Players (contract 4.4; update and delete are assumed). */
export const playerHandlers: Pick<Handlers, PlayerCalls> = {
  listPlayers: (call) => listed(call, 'players', recordsOf(call, 'players')),

  getPlayer: (call) => ({ status: 200, body: find(call, 'players', call.params.playerId) }),

  createPlayer(call) {
    checkName(call.body, 'required');
    checkTeams(call);
    const player = newRecord(call, 'players', call.body);
    call.steps.push(['put', 'players', player]);
    return { status: call.personality.createdStatus, body: player };
  },

  updatePlayer(call) {
    const found = find(call, 'players', call.params.playerId);
    checkName(call.body, 'optional');
    checkTeams(call);
    const player = merged(call, found);
    call.steps.push(['put', 'players', player]);
    return { status: 200, body: player };
  },

  deletePlayer(call) {
    const { id } = find(call, 'players', call.params.playerId);
    call.steps.push(['delete', 'players', id]);
    return { status: call.personality.deletedStatus };
  },
};

/** Refuses a body whose `teamId` or `teamIds` names a team that the organization does not have. */
export function checkTeams(call: HandlerCall): void {
  const { teamId, teamIds } = call.body;
  if (teamIds !== undefined && !Array.isArray(teamIds)) throw invalid('teamIds must be a list');
  const named: unknown[] = [...(teamIds ?? []), ...(typeof teamId === 'string' ? [teamId] : [])];
  for (const id of named) {
    const team = typeof id === 'string' ? call.tables.records.teams.get(id) : undefined;
    if (team?.organizationId !== call.organizationId)
      throw invalid(`there is no team ${String(id)}`);
  }
}

/** The player without that team; undefined for a player who is not in it. */
export function withoutTeam(player: StoredRecord, teamId: string): StoredRecord | undefined {
  const teamIds: unknown = player['teamIds'];
  const isMember = Array.isArray(teamIds) && teamIds.includes(teamId);
  if (!isMember && player['teamId'] !== teamId) return undefined;
  return {
    ...player,
    ...(isMember && { teamIds: teamIds.filter((id) => id !== teamId) }),
    ...(player['teamId'] === teamId && { teamId: null }),
  };
}
