/** `rosterctl players get`: prints one or several players. */
import { defineCommand } from '../../cli/define.js';
import { oneOrManyView } from '../../cli/views.js';
import { getCommand } from '../../resources/get-command.js';
import { idsArg } from '../../resources/params.js';

export default defineCommand({
  summary: 'Show one or several players',
  about:
    'One id prints the record, several print a list. With several ids, missing ones are reported and the exit code is 5. ' +
    'At a terminal, one player is shown as a card with the names of their teams; -v adds every field.',
  examples: [
    ['One player', 'player_0001'],
    ['Two players as a list', 'player_0001 player_0002 --json'],
  ],
  calls: ['getPlayer', 'listPlayers', 'listTeams'],
  args: { ids: idsArg('players') },
  view: oneOrManyView('players'),
  run: (context, { ids }) => getCommand(context, 'players', ids),
});
