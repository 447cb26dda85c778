import * as z from 'zod/mini';
import { type DamagedRun, setAside } from '../../bulk/damaged.js';
import {
  listRuns,
  removeRun,
  startOf,
  storeOf,
  type StoredRun,
  summaryOf,
} from '../../bulk/runs.js';
import { isInDoubt, leftUploads, uploadAction } from '../../bulk/upload-state.js';
import { defineLocalWrite, param } from '../../cli/define.js';
import { parsedBy } from '../../cli/filters.js';
import { linesOf } from '../../cli/views.js';
import { formatDuration, parseDuration } from '../../data/duration.js';
import { plural } from '../../data/words.js';

const month = 30 * 86_400_000;

export default defineLocalWrite({
  summary: 'Remove old finished runs from this machine',
  about:
    'A run that is unfinished, or that has a row whose outcome is unknown or an upload to finish, always stays. ' +
    'One whose files are damaged is set aside beside the runs once it has ended.',
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
  view: linesOf(
    z.object({ removed: z.array(z.string()), setAside: z.optional(z.array(z.string())) }),
    ({ removed, setAside: kept = [] }) => [
      `${plural(removed.length, 'run')} removed.`,
      ...kept.map((path) => `A damaged run is kept in ${path}.`),
    ],
  ),
  async plan(context, { olderThan }) {
    const isOld = (run: string) => context.now().getTime() - startOf(run).getTime() >= olderThan;
    const damaged: DamagedRun[] = [];
    const runs = await listRuns(storeOf(context), (run) => damaged.push(run));
    const aside = damaged.filter((each) => !each.isOpen && isOld(each.run));
    for (const each of damaged) if (!aside.includes(each)) context.tell(each.message);
    // Which documents they made tells an upload in doubt which ones are not its own.
    const areEvidence = leftUploads(runs).some(isInDoubt);
    const names = runs
      .filter((run) => isDone(run) && !(areEvidence && run.head.action === uploadAction))
      .map(({ head }) => head.run)
      .filter(isOld);
    const changes = [...names, ...aside.map(({ run }) => `${run} (damaged)`)].map((id) => ({
      id,
      field: 'run',
      from: id,
      to: null,
    }));
    return { calls: [], changes, state: { names, aside } };
  },
  async apply(context, { state: { names, aside } }) {
    const store = storeOf(context);
    for (const name of names) await removeRun(store, name);
    const kept = await Promise.all(aside.map(setAside));
    return { removed: names, ...(kept.length > 0 && { setAside: kept }) };
  },
});

function isDone(run: StoredRun): boolean {
  return run.finished && summaryOf(run).unknown === 0 && leftUploads([run]).length === 0;
}
