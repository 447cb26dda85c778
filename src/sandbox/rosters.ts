/** How the sandbox answers the endpoints of teams and players. */
import {
  checkName,
  checkTeams,
  find,
  listResponse,
  merged,
  newRecord,
  ownRecords,
  recordReply,
} from './editing.js';
import type { HandlersOf } from './handler.js';
import type { StoredRecord } from './records.js';

/** Players (contract 4.4; update and delete are assumed). */
export const playerHandlers: HandlersOf<'players'> = {
  listPlayers: (call) => listResponse(ownRecords(call, 'players')),

  getPlayer: (call) => recordReply(find(call, 'players', call.params.playerId)),

  createPlayer(call) {
    checkName(call.body, 'required');
    checkTeams(call);
    const player = newRecord(call, 'players', call.body);
    call.steps.push(['put', 'players', player]);
    return { answer: 'create', records: { record: player } };
  },

  updatePlayer(call) {
    const old = find(call, 'players', call.params.playerId);
    checkName(call.body, 'optional');
    checkTeams(call);
    const player = merged(call, old);
    call.steps.push(['put', 'players', player]);
    return { answer: 'update', records: { record: player, old } };
  },

  deletePlayer(call) {
    const old = find(call, 'players', call.params.playerId);
    call.steps.push(['delete', 'players', old.id]);
    return { answer: 'delete', records: { old } };
  },
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

  getTeam: (call) => recordReply(find(call, 'teams', call.params.teamId)),

  createTeam(call) {
    checkName(call.body, 'required');
    const team = newRecord(call, 'teams', call.body);
    call.steps.push(['put', 'teams', team]);
    return { answer: 'create', records: { record: team } };
  },

  updateTeam(call) {
    const old = find(call, 'teams', call.params.teamId);
    checkName(call.body, 'optional');
    const team = merged(call, old);
    call.steps.push(['put', 'teams', team]);
    return { answer: 'update', records: { record: team, old } };
  },

  deleteTeam(call) {
    const old = find(call, 'teams', call.params.teamId);
    for (const player of ownRecords(call, 'players')) {
      const left = withoutTeam(player, old.id);
      if (left) call.steps.push(['put', 'players', left]);
    }
    call.steps.push(['delete', 'teams', old.id]);
    return { answer: 'delete', records: { old } };
  },
};
