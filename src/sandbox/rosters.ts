/** How the sandbox answers the endpoints of teams and players. */
import { checkName, checkTeams, find, listed, merged, newRecord, recordsOf } from './editing.js';
import type { Handlers } from './handler.js';
import type { StoredRecord } from './records.js';

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

type TeamCalls = 'listTeams' | 'getTeam' | 'createTeam' | 'updateTeam' | 'deleteTeam';

/** Teams (contract 4.4; update and delete are assumed). */
export const teamHandlers: Pick<Handlers, TeamCalls> = {
  listTeams: (call) => listed(call, 'teams', recordsOf(call, 'teams')),

  getTeam: (call) => ({ status: 200, body: find(call, 'teams', call.params.teamId) }),

  createTeam(call) {
    checkName(call.body, 'required');
    const team = newRecord(call, 'teams', call.body);
    call.steps.push(['put', 'teams', team]);
    return { status: call.personality.createdStatus, body: team };
  },

  updateTeam(call) {
    const found = find(call, 'teams', call.params.teamId);
    checkName(call.body, 'optional');
    const team = merged(call, found);
    call.steps.push(['put', 'teams', team]);
    return { status: 200, body: team };
  },

  deleteTeam(call) {
    const { id } = find(call, 'teams', call.params.teamId);
    for (const player of recordsOf(call, 'players')) {
      const left = withoutTeam(player, id);
      if (left) call.steps.push(['put', 'players', left]);
    }
    call.steps.push(['delete', 'teams', id]);
    return { status: call.personality.deletedStatus };
  },
};
