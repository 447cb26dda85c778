/** `rosterctl uploads list`: lists interrupted uploads. */

import { defineLocalCommand } from '../../cli/define.js';
import { rowsView } from '../../cli/views.js';
import { plural } from '../../data/text.js';
import { isRunning } from '../../runs/lock.js';
import { isStored, readUnfinishedUploads, type UploadState } from '../../runs/unfinished.js';

interface UploadLine {
  readonly id: string;
  readonly path: string;
  /** In words for a person only. */
  readonly state: UploadState | 'file sent' | 'not sent';
  readonly fileKey: string | null;
  readonly startedAt: string;
}

export default defineLocalCommand({
  summary: 'List the uploads that were interrupted',
  about:
    'Lists the interrupted uploads of every profile, oldest first. If the file was sent (in a script: the state is put_done, ' +
    'doc_intent, orphan or unknown), only its document may be missing; otherwise it is sent again. ' +
    'To finish them: rosterctl uploads finish. Uploads that are running right now are left out.',
  examples: [
    ['All of them', ''],
    ['Their ids, for a script', '-o ids'],
  ],
  view: {
    ...rowsView<UploadLine>(
      ['id', 'path', 'state', 'fileKey', 'startedAt'],
      'No upload was interrupted.',
    ),
    interactiveColumns: [
      ['id', 'Id'],
      ['path', 'Path'],
      ['state', 'State'],
      ['startedAt', 'Started'],
    ],
  },
  async run(context) {
    const all = await readUnfinishedUploads(context);
    const runs = [...new Set(all.map(({ run }) => run))];
    const active = new Set(runs.filter((run) => isRunning(run, context.self)));
    const idle = all.filter(({ run }) => !active.has(run));
    const omitted = all.length - idle.length;
    if (omitted > 0)
      context.note(
        `Not listed: ${plural(omitted, 'upload')} that another process is working on right now.`,
      );
    const isRead = context.isInteractive && !context.settings.fields;
    return idle.map(({ id, row, state, steps, run }) => ({
      id,
      path: row.id,
      state: isRead ? (isStored({ state }) ? 'file sent' : 'not sent') : state,
      fileKey: typeof steps['fileKey'] === 'string' ? steps['fileKey'] : null,
      startedAt: run.head.startedAt,
    }));
  },
});
