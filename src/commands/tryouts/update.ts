import * as z from 'zod/mini';
import { TryoutStatus } from '../../api/schemas.js';
import { defineWrite, param } from '../../cli/define.js';
import { bulkFlags, csvFlags, idsFileFlag } from '../../cli/bulk-flags.js';
import { recordOf } from '../../cli/views.js';
import { UsageError } from '../../errors.js';
import { idsBeside, refuseOrganization } from './application.js';
import { applyEdit, planEdit } from './edit.js';
import { editMany, ifStatusFlag } from './edit-many.js';
import { noteFlags, oneNoteFlag, readNoteEdit } from './notes.js';

export default defineWrite({
  summary: 'Change the status or the notes of applications',
  about:
    'The application is read first; fields that are already so are not sent, and if nothing differs, ' +
    "nothing is sent. A status change emits events that the organization's Flows may act on; " +
    'acceptance and decline have events of their own. The API has no conditional write: what ' +
    'another admin changes between the read and the write is overwritten.',
  examples: [
    ['Shortlist an applicant', 'app_0020 --status shortlisted'],
    ['Note what was seen, dated', "app_0013 --append-note 'Strong aim, quiet on comms'"],
    ['Look first', 'app_0028 --status reviewing --dry-run'],
    ['Remove the notes', 'app_0021 --clear-note'],
  ],
  calls: ['getTryout', 'updateTryout'],
  args: { ids: idsBeside('--status').any },
  flags: {
    status: param(z.optional(TryoutStatus), 'new status', { placeholder: 'S', group: 'change' }),
    ...noteFlags,
    ...idsFileFlag,
    ...csvFlags,
    ...ifStatusFlag,
    ...bulkFlags,
  },
  excludes: [oneNoteFlag],
  view: recordOf('tryouts'),
  bulk: editMany('status', 'Say what to do: --status, a note, or a CSV with a column for them.'),
  ids: ({ ids }) => ids,
  async check(context, values) {
    // Not `needsOneOf`: that is asked before a status among the ids is seen.
    const note = await readNoteEdit(context, values);
    if (!values.status && !note && values.csv === undefined)
      throw new UsageError(
        'Say what to do: --status, --note, --note-file, --append-note or --clear-note.',
        { hint: 'See: rosterctl tryouts update --help' },
      );
    refuseOrganization(context, values.ids);
  },
  async plan(context, values, id) {
    const wanted = { status: values.status, note: await readNoteEdit(context, values) };
    return planEdit(context, id, wanted, { line: values, alone: values.ids.length === 1 });
  },
  apply(context, plan, _values, id) {
    return applyEdit(context, plan, id);
  },
});
