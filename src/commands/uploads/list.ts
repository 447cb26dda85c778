/** `rosterctl uploads list`: lists interrupted uploads. */

import { defineLocalCommand } from '../../cli/define.js';
import { rowsOf } from '../../cli/views.js';
import { plural } from '../../data/text.js';
import { isRunning } from '../../runs/lock.js';
import { readUnfinishedUploads, type UploadState } from '../../runs/unfinished-uploads.js';

interface UploadLine {
  readonly id: string;
  readonly path: string;
  readonly state: UploadState;
  readonly fileKey: string | null;
  readonly startedAt: string;
}

export default defineLocalCommand({
  summary: 'List the uploads that were interrupted',
  about:
    'Oldest first, of every profile. In the states put_done, doc_intent, orphan and unknown the file ' +
    'has arrived, but its document is missing. Finish them with uploads finish. Uploads that ' +
    'are running right now are left out.',
  examples: [
    ['All of them', ''],
    ['Their ids, for a script', '-o ids'],
  ],
  calls: [],
  view: rowsOf<UploadLine>(
    ['id', 'path', 'state', 'fileKey', 'startedAt'],
    'No upload was interrupted.',
  ),
  async run(context) {
    const all = await readUnfinishedUploads(context);
    const runs = [...new Set(all.map(({ run }) => run))];
    const active = new Set(runs.filter((run) => isRunning(run, context.self)));
    const idle = all.filter(({ run }) => !active.has(run));
    const omitted = all.length - idle.length;
    if (omitted > 0)
      context.note(
        `Not listed: ${plural(omitted, 'upload')} that another process is busy with at this moment.`,
      );
    return idle.map(({ id, row, state, steps, run }) => ({
      id,
      path: row.id,
      state,
      fileKey: typeof steps['fileKey'] === 'string' ? steps['fileKey'] : null,
      startedAt: run.head.startedAt,
    }));
  },
});
