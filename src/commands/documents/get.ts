/** `rosterctl documents get`: prints one or several documents. */
import { defineCommand } from '../../cli/define.js';
import { oneOrManyView } from '../../cli/views.js';
import { getCommand } from '../../resources/get-command.js';
import { idsArg } from '../../resources/params.js';

export default defineCommand({
  summary: 'Show one or several documents',
  about:
    'The service has no call for a single document, so rosterctl finds documents in the list, which it reads once. ' +
    'With several ids, missing ones are reported and the exit code is 5.',
  examples: [
    ['One document', 'doc_0001'],
    ['Two documents as a list', 'doc_0001 doc_0002 --json'],
  ],
  calls: ['listDocuments'],
  args: { ids: idsArg('documents') },
  view: oneOrManyView('documents'),
  run: (context, { ids }) => getCommand(context, 'documents', ids),
});
