/** `rosterctl players import`: creates and updates players from a file. */
import { reportView } from '../../bulk/report-view.js';
import { defineOperation } from '../../bulk/run-operation.js';
import {
  importArgs,
  importFlags,
  importOperation,
  teamColumnFlags,
} from '../../resources/import/operation.js';

export default defineOperation({
  summary: 'Create and update players from a file',
  about:
    'Each row creates a player, or changes the one that its key finds; none is deleted. Importing the ' +
    'same file again sends nothing. Columns, keys and teams: rosterctl help import',
  examples: [
    ['Preview it first', 'roster.csv --key email --dry-run'],
    ['Import a roster', 'roster.csv --key email --yes'],
    ['Set a field in every row', 'roster.csv --key email -F kind=player --dry-run'],
    ['Rename a column', "roster.csv --key email --map 'Role=kind' --dry-run"],
  ],
  calls: ['listPlayers', 'listTeams', 'getPlayer', 'createPlayer', 'updatePlayer'],
  args: importArgs,
  flags: { ...importFlags, ...teamColumnFlags },
  excludes: [['createOnly', 'updateOnly']],
  view: reportView,
  operation: importOperation('players'),
});
