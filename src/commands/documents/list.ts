/** `rosterctl documents list`: lists the documents. */
import { defineCommand } from '../../cli/define.js';
import { filterList, listAndCacheIds, listFlags } from '../../cli/filters.js';
import { listOf } from '../../cli/views.js';
import { documentFilters, documentTests } from '../../resources/document-filters.js';

export default defineCommand({
  summary: 'List the documents',
  examples: [
    ['All documents', ''],
    ['Those with a tag', '--tag contract'],
    ['The PDF files, newest first', '--type application/pdf --sort createdAt:desc'],
  ],
  calls: ['listDocuments'],
  flags: { ...documentFilters, ...listFlags },
  view: listOf('documents'),
  run(context, values) {
    const { isInteractive: usualOrder } = context;
    return filterList(listAndCacheIds(context, 'documents'), values, {
      resource: 'documents',
      tests: documentTests(values, context),
      usualOrder,
      notes: context,
    });
  },
});
