/** `rosterctl teams list`: lists the teams. */
import { defineCommand } from '../../cli/define.js';
import { listFlags, sinceLastExcludes, sinceLastFlags } from '../../cli/filters.js';
import { listView } from '../../cli/views.js';
import { listCommand } from '../../resources/list-command.js';

export default defineCommand({
  summary: 'List the teams',
  examples: [
    ['All teams', ''],
    ['Names only, for a script', '--json --fields id,name'],
    ['Teams with this text in any field', '--search valorant --sort name'],
  ],
  calls: ['listTeams'],
  flags: { ...listFlags, ...sinceLastFlags },
  excludes: sinceLastExcludes,
  view: listView('teams'),
  run: (context, values, line) => listCommand(context, values, line, 'teams'),
});
