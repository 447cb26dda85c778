/** `rosterctl tryouts review`: applications one by one on the full screen, decided by keys, sent at the end. */
import { reportView } from '../../bulk/report-view.js';
import { defineOperation } from '../../bulk/run-operation.js';
import { flag } from '../../cli/define.js';
import { asRare, listFlags } from '../../cli/filters.js';
import { editParts } from '../../resources/tryout-edit.js';
import { tryoutExcludes, tryoutFilters } from '../../resources/tryout-filters.js';
import type { ReviewValues } from '../../review/review.js';

export default defineOperation({
  summary: 'Review applications one by one with single keys',
  about:
    'Shows one application per screen, oldest first: contact, games, answers, notes, other ' +
    'applications of the same person. By default, it shows the pending ones. ' +
    'Keys, lower case: s shortlist, r reject, a accept, e reviewing, n note, u undo, Enter next, ' +
    'w send, q keep and leave, ? all keys. Each decision is saved on this machine at once, so a closed ' +
    'terminal loses nothing. Nothing is sent until you press w, which shows every change and asks. An application ' +
    'that someone changed since you saw it is a conflict and is left alone; decisions that could not be sent stay ' +
    "for the next review. Status changes trigger your organization's Flows (automations). " +
    'That cannot be undone.',
  examples: [
    ['Who is waiting, longest first', ''],
    ['One game', '--game Valorant'],
    ['Continue with decisions that were not sent', '--resume'],
  ],
  calls: ['listTryouts', 'getTryout', 'updateTryout'],
  flags: {
    ...asRare(tryoutFilters, [
      'status',
      'notStatus',
      'game',
      'form',
      'since',
      'until',
      'olderThan',
    ]),
    ...listFlags,
    resume: flag('show only unsent decisions', { group: 'selection' }),
    discard: flag('discard unsent decisions', { group: 'selection' }),
  },
  excludes: [...tryoutExcludes, ['resume', 'discard']],
  view: reportView,
  operation: {
    ...editParts,
    reports: true,
    isMany: () => true,
    selectsAnew: true,
    job: async () => ({}),
    async onResumed(context, done) {
      const { dequeueDone } = await import('../../review/review.js');
      return dequeueDone(context, done);
    },
    async bind(context, values: ReviewValues, use) {
      const { review } = await import('../../review/review.js');
      return review(context, values, { action: 'tryouts.review', use });
    },
  },
});
