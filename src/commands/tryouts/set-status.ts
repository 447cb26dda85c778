import * as z from 'zod/mini';
import { TryoutStatus } from '../../api/schemas.js';
import { defineWrite, param } from '../../cli/define.js';
import { recordOf } from '../../cli/views.js';
import { UsageError } from '../../errors.js';
import { manyFlags } from '../../cli/bulk-flags.js';
import { idsBeside, refuseOrganization } from './application.js';
import { applyEdit, planEdit } from './edit.js';
import { editMany, tryoutSelection, tryoutSelectionFlags } from './edit-many.js';
import { tryoutExcludes } from './filters.js';
import { noteFlags, oneNoteFlag, readNoteEdit } from './notes.js';

export default defineWrite({
  summary: 'Move applications to a status, with a result for each',
  about:
    'The applications come from ids, --ids, --csv, or filters; no filter never means all. --status ' +
    'selects, --to is the new status; without --to it comes from the CSV. Each is read right before ' +
    'it is written: one that already has the status is unchanged and nothing is sent for it, one whose ' +
    'status moved since the preview or the export is a conflict and left alone. Every write is in a ' +
    'journal first, so the same line goes on after a crash; see help bulk. Status changes emit events ' +
    "that the organization's Flows may act on, and nobody can call them back.",
  examples: [
    ['Reject two applicants', 'app_0013 app_0018 --to rejected'],
    ['With a dated note', "app_0020 --to shortlisted --append-note 'Second trial on Friday'"],
    ['Whoever waited two months', '--status pending --older-than 60d --to rejected --dry-run'],
  ],
  calls: ['getTryout', 'updateTryout', 'listTryouts'],
  args: { ids: idsBeside('--to').any },
  flags: {
    to: param(z.optional(TryoutStatus), 'the new status', { placeholder: 'S', group: 'change' }),
    ...noteFlags,
    ...manyFlags(tryoutSelectionFlags),
  },
  excludes: [oneNoteFlag, ...tryoutExcludes],
  view: recordOf('tryouts'),
  reports: true,
  bulk: editMany('to', '--to is missing: the status to move to.', tryoutSelection),
  ids: ({ ids }) => ids,
  async check(context, values) {
    // Not required by its type: that is asked before a status among the ids is seen.
    if (values.to === undefined && values.csv === undefined)
      throw new UsageError('--to is missing: the status to move to.', {
        hint: `One of: ${TryoutStatus.options.join(', ')}`,
      });
    await readNoteEdit(context, values);
    refuseOrganization(context, values.ids);
  },
  async plan(context, values, id) {
    const wanted = { status: values.to, note: await readNoteEdit(context, values) };
    return planEdit(context, id, wanted, { line: values, alone: values.ids.length === 1 });
  },
  apply(context, plan, _values, id) {
    return applyEdit(context, plan, id);
  },
});
