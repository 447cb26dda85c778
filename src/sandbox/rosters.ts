/** How the sandbox answers the endpoints of teams and players. */
import {
  checkName,
  checkTeams,
  createRecord,
  deleteRecord,
  listResponse,
  ownRecord,
  ownRecords,
  recordReply,
  updateRecord,
} from './editing.js';
import type { HandlersOf } from './handler.js';
import type { StoredRecord } from './records.js';

/** Players (contract 4.4; update and delete are assumed). */
export const playerHandlers: HandlersOf<'players'> = {
  listPlayers: (call) => listResponse(ownRecords(call, 'players')),

  getPlayer: (call) => recordReply(ownRecord(call, 'players', call.params.playerId)),

  createPlayer(call) {
    checkName(call.body, 'required');
    checkTeams(call);
    return createRecord(call, 'players');
  },

  updatePlayer(call) {
    const old = ownRecord(call, 'players', call.params.playerId);
    checkName(call.body, 'optional');
    checkTeams(call);
    return updateRecord(call, 'players', old);
  },

  deletePlayer: (call) =>
    deleteRecord(call, 'players', ownRecord(call, 'players', call.params.playerId)),
};

/** The player without that team; undefined for a player who is not in it. */
function withoutTeam(player: StoredRecord, teamId: string): StoredRecord | undefined {
  const teamIds: unknown = player['teamIds'];
  const isMember = Array.isArray(teamIds) && teamIds.includes(teamId);
  if (!isMember && player['teamId'] !== teamId) return undefined;
  return {
    ...player,
    ...(isMember && { teamIds: teamIds.filter((id) => id !== teamId) }),
    ...(player['teamId'] === teamId && { teamId: null }),
  };
}

/** Teams (contract 4.4; update and delete are assumed). */
export const teamHandlers: HandlersOf<'teams'> = {
  listTeams: (call) => listResponse(ownRecords(call, 'teams')),

  getTeam: (call) => recordReply(ownRecord(call, 'teams', call.params.teamId)),

  createTeam(call) {
    checkName(call.body, 'required');
    return createRecord(call, 'teams');
  },

  updateTeam(call) {
    const old = ownRecord(call, 'teams', call.params.teamId);
    checkName(call.body, 'optional');
    return updateRecord(call, 'teams', old);
  },

  deleteTeam(call) {
    const old = ownRecord(call, 'teams', call.params.teamId);
    for (const player of ownRecords(call, 'players')) {
      const left = withoutTeam(player, old.id);
      if (left) call.steps.push(['put', 'players', left]);
    }
    return deleteRecord(call, 'teams', old);
  },
};
