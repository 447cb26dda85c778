/** `rosterctl tryouts update`: changes the status or the notes of applications. */

import * as z from 'zod/mini';
import { TryoutStatus } from '../../api/schemas.js';
import { bulkFlags, csvFlags, idsFileFlag } from '../../bulk/invocation.js';
import { defineOperation } from '../../bulk/run-operation.js';
import { param } from '../../cli/define.js';
import { recordView } from '../../cli/views.js';
import { noteFlags, oneNoteFlag } from '../../resources/notes.js';
import { editOperation, ifStatusFlag } from '../../resources/tryout-edit.js';
import { idsBeside } from './shared.js';

export default defineOperation({
  summary: 'Change the status or the notes of applications',
  about:
    'rosterctl reads the application first and sends only the fields that change. --append-note adds a ' +
    'dated line to the notes; --note replaces them. ' +
    "A status change triggers your organization's Flows (automations). That cannot be undone. " +
    'A change that another admin makes between the read and the write is overwritten.',
  examples: [
    ['Shortlist an applicant', 'app_0020 --status shortlisted'],
    ['Add a dated note', "app_0013 --append-note 'Strong aim, quiet on comms'"],
    ['Preview it first', 'app_0028 --status reviewing --dry-run'],
    ['Remove the notes', 'app_0021 --clear-note'],
  ],
  calls: ['getTryout', 'updateTryout', 'listTryouts'],
  args: { ids: idsBeside() },
  flags: {
    status: param(z.optional(TryoutStatus), 'new status', { placeholder: 'S', group: 'change' }),
    ...noteFlags,
    ...idsFileFlag,
    ...csvFlags,
    ...ifStatusFlag,
    ...bulkFlags,
  },
  excludes: [oneNoteFlag],
  view: recordView('tryouts'),
  operation: editOperation(
    'status',
    'Nothing to change. Add --status, --note, --note-file, --append-note, --clear-note, or a CSV with a column for them.',
  ),
});
