/** `rosterctl documents list`: lists the documents. */
import { defineCommand } from '../../cli/define.js';
import { listFlags, sinceLastExcludes, sinceLastFlags } from '../../cli/filters.js';
import { listView } from '../../cli/views.js';
import { documentFilters, documentSelection } from '../../resources/document-filters.js';
import { listCommand } from '../../resources/list-command.js';

export default defineCommand({
  summary: 'List the documents',
  examples: [
    ['All documents', ''],
    ['Documents with a tag', '--tag contract'],
    ['The PDF files, newest first', '--type application/pdf --sort createdAt:desc'],
  ],
  calls: ['listDocuments'],
  flags: { ...documentFilters, ...listFlags, ...sinceLastFlags },
  excludes: sinceLastExcludes,
  view: listView('documents'),
  run: (context, values, line) =>
    listCommand(context, values, line, 'documents', documentSelection),
});
