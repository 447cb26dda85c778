import * as z from 'zod/mini';
import { listRuns, removeRun, type StoredRun, summaryOf } from '../../bulk/runs.js';
import { isInDoubt, leftUploads, uploadAction } from '../../bulk/upload-state.js';
import { defineLocalWrite, param } from '../../cli/define.js';
import { parsedBy } from '../../cli/filters.js';
import { linesOf } from '../../cli/views.js';
import { formatDuration, parseDuration } from '../../data/duration.js';
import { plural } from '../../data/words.js';
import { storeOf } from './place.js';

const month = 30 * 86_400_000;

export default defineLocalWrite({
  summary: 'Remove old finished runs from this machine',
  about:
    'A run that is unfinished, or that has a row whose outcome is unknown or an upload to finish, always stays.',
  examples: [
    ['See which', '--dry-run'],
    ['Older than a week', '--older-than 7d'],
  ],
  calls: [],
  flags: {
    olderThan: param(
      z._default(parsedBy(parseDuration), month),
      `older than this (default ${formatDuration(month)})`,
      {
        placeholder: 'AGE',
      },
    ),
  },
  view: linesOf(z.object({ removed: z.array(z.string()) }), ({ removed }) => [
    `${plural(removed.length, 'run')} removed.`,
  ]),
  async plan(context, { olderThan }) {
    const runs = await listRuns(storeOf(context), ({ message }) => context.tell(message));
    // Which documents they made tells an upload in doubt which ones are not its own.
    const areEvidence = leftUploads(runs).some(isInDoubt);
    const old = runs.filter(
      (run) =>
        isDone(run) &&
        age(run, context.now()) >= olderThan &&
        !(areEvidence && run.head.action === uploadAction),
    );
    const names = old.map(({ head }) => head.run);
    const changes = names.map((id) => ({ id, field: 'run', from: id, to: null }));
    return { calls: [], changes, state: names };
  },
  async apply(context, { state: names }) {
    const store = storeOf(context);
    for (const name of names) await removeRun(store, name);
    return { removed: names };
  },
});

function isDone(run: StoredRun): boolean {
  return run.finished && summaryOf(run).unknown === 0 && leftUploads([run]).length === 0;
}

function age({ head }: StoredRun, now: Date): number {
  return now.getTime() - Date.parse(head.startedAt);
}
