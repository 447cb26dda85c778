/** `rosterctl tryouts list`: lists the applications. */
import { defineCommand } from '../../cli/define.js';
import { listFlags, sinceLastExcludes, sinceLastFlags } from '../../cli/filters.js';
import { listView } from '../../cli/views.js';
import { listCommand } from '../../resources/list-command.js';
import { tryoutExcludes, tryoutFilters, tryoutSelection } from '../../resources/tryout-filters.js';

export default defineCommand({
  summary: 'List the tryout applications',
  about:
    'Filters are applied on your machine, after the list is read. --where takes any field, including a nested one (a.b). = and != compare text (numbers by value), ~ matches ' +
    'part of the text, < > <= >= compare numbers or times. A list matches if one of its elements ' +
    'does. A date without a time is local: --since begins at midnight, --until ends with the day.',
  examples: [
    ['Who is waiting', '--status pending'],
    ['Last week, newest first', '--since 7d --sort submittedAt:desc'],
    ['One game, not yet decided', '--game Valorant --status pending,reviewing,shortlisted'],
    ['Only what is new since the last time', '--since-last mail'],
    ['Ids, for another command', "--where 'gamerTags.game~league' -o ids"],
  ],
  calls: ['listTryouts'],
  flags: { ...tryoutFilters, ...listFlags, ...sinceLastFlags },
  excludes: [...tryoutExcludes, ...sinceLastExcludes],
  view: listView('tryouts'),
  run: (context, values, line) => listCommand(context, values, line, 'tryouts', tryoutSelection),
});
