import * as z from 'zod/mini';
import { listRuns, storeOf, summaryOf } from '../../bulk/runs.js';
import { defineLocalCommand } from '../../cli/define.js';
import { rowsOf } from '../../cli/views.js';

const Run = z.object({
  run: z.string(),
  action: z.string(),
  startedAt: z.string(),
  state: z.enum(['finished', 'unfinished']),
  summary: z.record(z.string(), z.number()),
  profile: z.string(),
});

export default defineLocalCommand({
  summary: 'List the bulk runs kept on this machine',
  about:
    'Oldest first; the state is finished or unfinished. An unfinished run goes on with runs resume, or with the line that began it.',
  examples: [
    ['All of them', ''],
    ['For a script', '--json'],
  ],
  calls: [],
  view: {
    ...rowsOf(Run, [
      'run',
      'action',
      'state',
      'summary.total',
      'summary.changed',
      'summary.failed',
      'startedAt',
      'profile',
    ]),
    forPeople: [
      ['run', 'run'],
      ['state', 'state'],
      ['startedAt', 'started'],
      ['summary.changed', 'done'],
      ['summary.failed', 'fail'],
      // The last columns are those that shrink or fall where 80 are not enough.
      ['action', 'action'],
      ['profile', 'profile'],
    ],
  },
  async run(context) {
    const runs = await listRuns(storeOf(context), ({ message }) => context.tell(message));
    return runs.map((run) => ({
      run: run.head.run,
      action: run.head.action,
      startedAt: run.head.startedAt,
      state: run.finished ? ('finished' as const) : ('unfinished' as const),
      summary: { ...summaryOf(run) },
      profile: run.head.profile,
    }));
  },
});
