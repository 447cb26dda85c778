import { manyFlags } from '../../cli/bulk-flags.js';
import { defineWrite } from '../../cli/define.js';
import { deletedView } from '../deleted.js';
import { anyIdsOf, documents, routeFlag } from '../kinds.js';
import { deleteMany, listSelectionFlags } from '../records-many.js';
import { sharedSource } from '../read-records.js';
import { applyDelete, deleteQuestion, planDelete } from '../write-records.js';
import { documentFilters, documentSelection } from './filters.js';

export default defineWrite({
  summary: 'Delete one or several documents',
  about:
    'Asks first and names the document; a script adds --yes. The route is a guess: the contract does not show it.',
  examples: [
    ['See what would be sent', 'doc_0001 --dry-run'],
    ['From a script', 'doc_0001 --yes'],
  ],
  calls: ['listDocuments', 'deleteDocument'],
  args: { ids: anyIdsOf(documents) },
  flags: {
    route: routeFlag(documents, 'DELETE'),
    ...manyFlags({ ...documentFilters, ...listSelectionFlags }),
  },
  view: deletedView,
  ids: ({ ids }) => ids,
  bulk: deleteMany(documents, documentSelection),
  plan(context, values, id) {
    const source = sharedSource(context, documents, values);
    return planDelete(context, documents, id, { route: values.route, source });
  },
  confirm(plan, _, id) {
    return deleteQuestion(documents, plan, id);
  },
  apply(context, plan, values, id) {
    return applyDelete(context, documents, plan, id, sharedSource(context, documents, values));
  },
});
