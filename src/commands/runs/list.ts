/** `rosterctl runs list`: lists the runs on this machine. */

import { defineLocalCommand, flag } from '../../cli/define.js';
import { rowsView } from '../../cli/views.js';
import type { LocalContext } from '../../context.js';
import { plural } from '../../data/text.js';
import { isSingleRun, type RunStore, runNames, storeOf } from '../../runs/store.js';
import {
  readRuns,
  type StoredRun,
  shortRunNames,
  stateWord,
  summaryOf,
} from '../../runs/stored-run.js';

interface Run {
  readonly run: string;
  readonly action: string;
  readonly startedAt: string;
  /** `replaced` for a person only. */
  readonly state: ReturnType<typeof stateWord>;
  readonly summary: Readonly<Record<string, number>>;
  readonly profile: string;
}

/** The number of runs listed without `--all`. */
const maxListed = 50;

export default defineLocalCommand({
  summary: 'List the runs on this machine',
  about:
    `The ${maxListed} newest, oldest first; finished changes of a single record are left out. ` +
    'Resume an unfinished run with runs resume, or run the same command again.',
  examples: [
    ['The newest', ''],
    ['All of them, for a script', '--all --json'],
  ],
  calls: [],
  flags: { all: flag('also older runs and finished changes of a single record') },
  view: {
    ...rowsView<Run>([
      'run',
      'action',
      'state',
      'summary.total',
      'summary.changed',
      'summary.failed',
      'startedAt',
      'profile',
      'summary.conflict',
      'summary.unknown',
      'summary.notAttempted',
    ]),
    whenEmpty: 'No runs to list. A change of several records is a run, and appears here.',
    interactiveColumns: [
      ['run', 'Run'],
      ['state', 'State'],
      ['startedAt', 'Started'],
      ['summary.changed', 'Done'],
      ['summary.conflict', 'Conflict'],
      ['summary.failed', 'Failed'],
      // The last columns shrink or are dropped on a narrow terminal.
      ['profile', 'Profile'],
      ['action', 'Action'],
    ],
  },
  async run(context, { all }) {
    const store = storeOf(context);
    const runs = all ? await readAllRuns(context, store) : await readNewest(context, store);
    const { fields, template } = context.settings;
    const isRead = context.isInteractive && !fields && template === undefined;
    const nameOf = isRead ? await shortRunNames(store) : (run: string) => run;
    return runs.map((run) => ({
      run: nameOf(run.head.run),
      action: run.head.action,
      startedAt: run.head.startedAt,
      state: isRead ? stateWord(run) : run.finished ? 'finished' : 'unfinished',
      summary: { ...summaryOf(run) },
      profile: run.head.profile,
    }));
  },
});

async function readAllRuns(context: LocalContext, store: RunStore): Promise<readonly StoredRun[]> {
  return readRuns(store, await runNames(store), ({ message }) => context.message(message));
}

/** Opens only the runs to list; names and folders are enough to count the others. */
async function readNewest(context: LocalContext, store: RunStore): Promise<readonly StoredRun[]> {
  const ended = await runNames(store, ['ended']);
  const others = await runNames(store, ['open', 'legacy']);
  const names = [...ended.filter((run) => !isSingleRun(run)), ...others].toSorted();
  const single = ended.filter((run) => isSingleRun(run)).length;
  const older = Math.max(0, names.length - maxListed);
  const hidden = [
    ...(older > 0 ? [plural(older, 'older run')] : []),
    ...(single > 0
      ? [plural(single, 'finished change', 'finished changes') + ' of a single record']
      : []),
  ];
  if (hidden.length > 0)
    context.note(`Not listed: ${hidden.join(' and ')}. To list them, add --all.`);
  const runs = await readRuns(store, names.slice(-maxListed), ({ message }) =>
    context.message(message),
  );
  return runs.filter((run) => !(run.finished && isSingleRun(run.head.run)));
}
