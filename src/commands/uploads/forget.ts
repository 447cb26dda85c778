/** `rosterctl uploads forget`: gives up an interrupted upload. */

import { lockFor } from '../../bulk/run-locks.js';
import { defineLocalWrite, param } from '../../cli/define.js';
import { nonEmptyText } from '../../cli/schemas.js';
import { sentencesView } from '../../cli/views.js';
import { markReported } from '../../runs/end.js';
import { storeOf } from '../../runs/store.js';
import { writeOptions } from '../../runs/stored-run.js';
import { findUnfinishedUpload, forgetUpload, forgotten, isStored } from '../../runs/unfinished.js';
import { uploadOperation } from '../../uploads/operation.js';

export default defineLocalWrite({
  summary: 'Discard an upload that was interrupted',
  about:
    'Nothing is sent: a file that has arrived stays in the store, under the key that this command prints.',
  examples: [['Preview it first', '3fa9c2.1 --dry-run']],
  args: {
    id: param(nonEmptyText, 'an id from uploads list', {
      ifMissing: 'Which upload? Give an id from rosterctl uploads list.',
    }),
  },
  view: sentencesView(({ id, fileKey }: { id: string; fileKey: string | null }) => [
    fileKey === null
      ? `${id} was discarded.`
      : `${id} was discarded; its bytes may still be in the store under ${fileKey}.`,
  ]),
  async plan(context, { id }) {
    const upload = await findUnfinishedUpload(context, id);
    return {
      changes: [{ id, field: 'state', from: upload.state, to: 'forgotten' }],
      state: upload,
    };
  },
  async apply(context, { state: upload }) {
    const { head } = upload.run;
    const store = storeOf(context);
    const locking = { operation: uploadOperation(), values: { waitLock: 0 } };
    const startedAt = context.now().toISOString();
    const lock = await lockFor(
      { ...context, hasWaitLock: false },
      locking,
      store,
      { ...head, startedAt },
      upload.plan.rows[0],
    );
    try {
      // The previous holder of the lock may have finished it.
      const current = await findUnfinishedUpload(context, upload.id);
      const last = await forgetUpload(store, current, writeOptions(context, lock));
      const { reported, state } = current.run;
      // From now on, the same `docs upload` starts over, unless other results of its run are still to be reported.
      const isKnown = [...state.results.values()].every(({ error }) => error?.code === forgotten);
      if (reported || isKnown) await markReported(store, head.run, last);
    } finally {
      lock.release();
    }
    const { fileKey, earlier } = upload.steps;
    if (Array.isArray(earlier) && earlier.length > 0)
      context.note(
        `Earlier attempts may have left bytes in the store under ${earlier.join(', ')}.`,
      );
    const hasBytes = isStored(upload) || upload.state === 'put_started';
    return { id: upload.id, fileKey: hasBytes && typeof fileKey === 'string' ? fileKey : null };
  },
});
