/** `rosterctl documents delete`: deletes documents. */

import { deletionFlags, manyFlags } from '../../bulk/invocation.js';
import { defineOperation } from '../../bulk/run-operation.js';
import { listSelectionFlags } from '../../cli/filters.js';
import { deleteOperation } from '../../resources/delete.js';
import { documentFilters, documentSelection } from '../../resources/document-filters.js';
import { explained } from '../../resources/list-command.js';
import { anyIdsArg, deletedView, routeFlag } from '../../resources/params.js';

export default defineOperation({
  summary: 'Delete one or several documents',
  about: 'Asks first and names the document. In a script, add --yes.',
  examples: [
    ['See what would be sent', 'doc_0001 --dry-run'],
    ['From a script', 'doc_0001 --yes'],
  ],
  calls: ['listDocuments', 'deleteDocument'],
  args: { ids: anyIdsArg('documents') },
  flags: {
    route: routeFlag('documents', 'DELETE'),
    ...manyFlags({ ...documentFilters, ...listSelectionFlags }),
    ...deletionFlags,
  },
  view: deletedView,
  operation: deleteOperation('documents', explained('documents', documentSelection)),
});
