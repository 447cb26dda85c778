/** `rosterctl teams import`: creates and updates teams from a file. */
import { reportView } from '../../bulk/report-view.js';
import { defineOperation } from '../../bulk/run-operation.js';
import { importArgs, importFlags, importOperation } from '../../resources/import/operation.js';

export default defineOperation({
  summary: 'Create and update teams from a file',
  about:
    'Each row creates a team, or changes the one that its key finds; none is deleted. Importing the ' +
    'same file again sends nothing. Columns and keys: rosterctl help import',
  examples: [
    ['Preview it first', 'teams.csv --key name --dry-run'],
    ['Import teams', 'teams.csv --key name --yes'],
  ],
  calls: ['listTeams', 'getTeam', 'createTeam', 'updateTeam'],
  args: importArgs,
  flags: importFlags,
  excludes: [['createOnly', 'updateOnly']],
  view: reportView,
  operation: importOperation('teams'),
});
