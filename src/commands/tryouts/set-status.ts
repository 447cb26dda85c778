import * as z from 'zod/mini';
import { TryoutStatus } from '../../api/schemas.js';
import { defineWrite, param } from '../../cli/define.js';
import { recordOf } from '../../cli/views.js';
import { UsageError } from '../../errors.js';
import { idsBeside, needIds, refuseOrganization } from './application.js';
import { applyEdit, planEdit } from './edit.js';
import { noteFlags, oneNoteFlag, readNoteEdit } from './notes.js';

export default defineWrite({
  summary: 'Move applications to a status, with a result for each',
  about:
    'One after another; each is read right before it is written. One that already has the status is ' +
    'unchanged and nothing is sent for it; one whose status moved since the preview is a conflict ' +
    "and left alone. Status changes emit events that the organization's Flows may act on, and " +
    'nobody can call them back.',
  examples: [
    ['Reject two applicants', 'app_0013 app_0018 --to rejected'],
    ['With a dated note', "app_0020 --to shortlisted --append-note 'Second trial on Friday'"],
    ['Look first', 'app_0020 app_0028 --to reviewing --dry-run'],
  ],
  calls: ['getTryout', 'updateTryout'],
  args: { ids: idsBeside('--to').any },
  flags: {
    to: param(z.optional(TryoutStatus), 'the new status', { placeholder: 'S', group: 'change' }),
    ...noteFlags,
  },
  excludes: [oneNoteFlag],
  view: recordOf('tryouts'),
  report: 'always',
  ids: ({ ids }) => ids,
  async check(context, values) {
    needIds(values.ids, `tryouts set-status ID… --to ${values.to ?? 'STATUS'}`);
    // Not required by its type: that is asked before a status among the ids is seen.
    if (values.to === undefined)
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
