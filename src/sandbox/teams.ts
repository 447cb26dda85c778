/** How the sandbox answers the endpoints of teams. */
import { checkName, find, listed, merged, newRecord, recordsOf } from './editing.js';
import type { Handlers } from './handler.js';
import { withoutTeam } from './players.js';

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
