/** `rosterctl tryouts get`: prints one or several applications. */

import { defineCommand } from '../../cli/define.js';
import { oneOrManyView } from '../../cli/views.js';
import { getCommand } from '../../resources/get-command.js';
import { idsArg } from '../../resources/params.js';

export default defineCommand({
  summary: 'Show one or several tryout applications',
  about:
    'One id prints the application, several print a list. With several ids, missing ones are reported and the exit code is 5. ' +
    'At a terminal, one application is shown as a card, with other applications of the same person and what ' +
    'this machine changed; -v adds every field.',
  examples: [
    ['One application, everything', 'app_0001'],
    ['By e-mail, name, Discord user or gamer tag', 'email:nilo.mandelkow@example.org'],
    ['Two applications as a list', 'app_0001 app_0002 --json'],
    ['What an applicant answered', 'app_0001 --json --fields name,formResponses'],
  ],
  calls: ['getTryout', 'listTryouts'],
  args: { ids: idsArg('tryouts') },
  view: oneOrManyView('tryouts'),
  run: (context, { ids }) => getCommand(context, 'tryouts', ids),
});
