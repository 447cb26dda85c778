/** `rosterctl teams list`: lists the teams. */
import { defineCommand } from '../../cli/define.js';
import { filterList, listAndCacheIds, listFlags } from '../../cli/filters.js';
import { listOf } from '../../cli/views.js';

export default defineCommand({
  summary: 'List the teams',
  examples: [
    ['All teams', ''],
    ['Names only, for a script', '--json --fields id,name'],
    ['Those with a word in any field', '--search valorant --sort name'],
  ],
  calls: ['listTeams'],
  flags: listFlags,
  view: listOf('teams'),
  run(context, values) {
    const { isInteractive: usualOrder } = context;
    return filterList(listAndCacheIds(context, 'teams'), values, {
      resource: 'teams',
      usualOrder,
      notes: context,
    });
  },
});
