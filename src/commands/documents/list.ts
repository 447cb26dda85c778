/** `rosterctl documents list`: lists the documents. */
import { defineCommand } from '../../cli/define.js';
import { listAndCacheIds, listFlags } from '../../cli/filters.js';
import { filterList } from '../../cli/lists/filter-list.js';
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
  async run(context, values) {
    const isSummarized = context.isAligned || values.tag;
    const summary = isSummarized
      ? (await import('../../resources/list-summary.js')).documentSummary(values)
      : undefined;
    return filterList(listAndCacheIds(context, 'documents'), values, {
      resource: 'documents',
      tests: documentTests(values, context),
      inOrder: context.isAligned,
      notes: context,
      summary,
    });
  },
});
