/** `rosterctl teams list`: lists the teams. */
import { defineCommand } from '../../cli/define.js';
import { listAndCacheIds, listFlags } from '../../cli/filters.js';
import { filterList } from '../../cli/lists/filter-list.js';
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
  async run(context, values) {
    const isSummarized = context.isAligned;
    const summary = isSummarized
      ? (await import('../../resources/list-summary.js')).teamSummary()
      : undefined;
    return filterList(listAndCacheIds(context, 'teams'), values, {
      resource: 'teams',
      inOrder: context.isAligned,
      notes: context,
      summary,
    });
  },
});
