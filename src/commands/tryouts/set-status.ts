/** `rosterctl tryouts set-status`: moves applications to a status. */

import * as z from 'zod/mini';
import { TryoutStatus } from '../../api/schemas.js';
import { allFlags, manyFlags } from '../../bulk/invocation.js';
import { defineOperation } from '../../bulk/run-operation.js';
import { param } from '../../cli/define.js';
import { recordView } from '../../cli/views.js';
import { explained } from '../../resources/list-command.js';
import { noteFlags, oneNoteFlag } from '../../resources/notes.js';
import { editOperation, ifStatusFlag } from '../../resources/tryout-edit.js';
import {
  tryoutExcludes,
  tryoutSelection,
  tryoutSelectionFlags,
} from '../../resources/tryout-filters.js';
import { idsBeside } from './shared.js';

export default defineOperation({
  summary: 'Change the status of one or many applications',
  about:
    'Select the applications by id, or with --ids, --csv or filters; without any of these, nothing is selected. --status ' +
    'selects applications; --to sets the new status. Without --to, the status comes from the CSV. Each application is read ' +
    'right before it is changed: one that already has the status is left unchanged, and one whose ' +
    'status changed since the preview or the export is a conflict and left alone. ' +
    'If it is interrupted, run the same command again (see rosterctl help bulk). ' +
    "Status changes trigger your organization's Flows (automations). That cannot be undone.",
  examples: [
    ['Reject two applicants', 'app_0013 app_0018 --to rejected'],
    ['By e-mail instead of the id', 'email:nilo.mandelkow@example.org --to shortlisted'],
    [
      'Shortlist, with a dated note',
      "app_0020 --to shortlisted --append-note 'Second trial on Friday'",
    ],
    [
      'Reject all who have waited for two months; preview first',
      '--status pending --older-than 60d --to rejected --dry-run',
    ],
  ],
  calls: ['getTryout', 'updateTryout', 'listTryouts'],
  args: {
    ids: idsBeside((status) => `To set it: --to ${status}\nTo select by it: --status ${status}`),
  },
  flags: {
    to: param(z.optional(TryoutStatus), 'the new status', { placeholder: 'S', group: 'change' }),
    ...noteFlags,
    ...manyFlags({ ...tryoutSelectionFlags, ...allFlags, ...ifStatusFlag }),
  },
  excludes: [oneNoteFlag, ...tryoutExcludes],
  view: recordView('tryouts'),
  operation: editOperation('to', 'Which status? Add --to.', {
    filters: explained('tryouts', tryoutSelection),
    reports: true,
  }),
});
