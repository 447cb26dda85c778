import * as z from 'zod/mini';
import { lockRun } from '../../bulk/lock-run.js';
import { storeOf } from '../../bulk/run-store.js';
import { writingBy } from '../../bulk/runs.js';
import { forgetUpload, isStored } from '../../bulk/end-run.js';
import { defineLocalWrite, param } from '../../cli/define.js';
import { linesOf } from '../../cli/views.js';
import { findUnfinishedUpload } from '../../uploads/unfinished-uploads.js';

/** The id of an interrupted upload. */
export const leftIdSchema = z.string().check(z.minLength(1, 'must not be empty'));

export default defineLocalWrite({
  summary: 'Give up an upload that was interrupted',
  about:
    'Nothing is sent: bytes that have arrived stay in the store, under the key that this prints.',
  examples: [['See which first', '3fa9c2.1 --dry-run']],
  calls: [],
  args: { id: param(leftIdSchema, 'an id of uploads list', { placeholder: 'ID' }) },
  view: linesOf((gone: { id: string; fileKey: string | null }) => [
    gone.fileKey === null
      ? `${gone.id} is forgotten.`
      : `${gone.id} is forgotten; its bytes may lie in the store under ${gone.fileKey}.`,
  ]),
  async plan(context, { id }) {
    const left = await findUnfinishedUpload(context, id);
    return {
      calls: [],
      changes: [{ id, field: 'state', from: left.state, to: 'forgotten' }],
      state: left,
    };
  },
  async apply(context, { state: left }) {
    const { head } = left.run;
    const lock = await lockRun(storeOf(context), head, {
      self: context.self,
      run: head.run,
      startedAt: context.now().toISOString(),
      waitMs: 0,
      signal: context.signal,
      note: (line) => context.note(line),
    });
    try {
      // Whoever held the lock before may have finished it.
      const upload = await findUnfinishedUpload(context, left.id);
      await forgetUpload(storeOf(context), upload, writingBy(context, lock));
    } finally {
      lock.release();
    }
    const { fileKey } = left.steps;
    const hasBytes = isStored(left) || left.state === 'put_started';
    return { id: left.id, fileKey: hasBytes && typeof fileKey === 'string' ? fileKey : null };
  },
});
