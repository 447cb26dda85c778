/** `rosterctl teams get`: prints one or several teams. */
import { defineCommand } from '../../cli/define.js';
import { oneOrManyView } from '../../cli/views.js';
import { getCommand } from '../../resources/get-command.js';
import { idsArg } from '../../resources/params.js';

export default defineCommand({
  summary: 'Show one or several teams',
  about:
    'One id prints the record, several print a list. With several ids, missing ones are reported and the exit code is 5. ' +
    'At a terminal, one team is shown as a card with its players, if their records name their team; -v adds every field.',
  examples: [
    ['One team', 'team_0001'],
    ['Two teams as a list', 'team_0001 team_0002 --json'],
  ],
  calls: ['getTeam', 'listPlayers', 'listTeams'],
  args: { ids: idsArg('teams') },
  view: oneOrManyView('teams'),
  run: (context, { ids }) => getCommand(context, 'teams', ids),
});
