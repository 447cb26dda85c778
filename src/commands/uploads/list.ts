import { defineLocalCommand } from '../../cli/define.js';
import { rowsOf } from '../../cli/views.js';
import { readLeft, UploadLine } from './left.js';

export default defineLocalCommand({
  summary: 'List the uploads that were interrupted',
  about:
    'Oldest first, of every profile. put_done, doc_intent, orphan and unknown: the file has arrived and ' +
    'no document is known to record it. uploads finish goes on where each of them was.',
  examples: [
    ['All of them', ''],
    ['Their ids, for a script', '-o ids'],
  ],
  calls: [],
  view: rowsOf(UploadLine, ['id', 'path', 'state', 'fileKey', 'startedAt']),
  async run(context) {
    const left = await readLeft(context);
    return left.map(({ id, row, state, steps, run }) => ({
      id,
      path: row.id,
      state,
      fileKey: typeof steps['fileKey'] === 'string' ? steps['fileKey'] : null,
      startedAt: run.head.startedAt,
    }));
  },
});
