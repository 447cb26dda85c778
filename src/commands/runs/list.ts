/** `rosterctl runs list`: lists the runs on this machine. */

import { ValueWithExit } from '../../cli/command-output.js';
import { defineLocalCommand, flag } from '../../cli/define.js';
import { rowsView } from '../../cli/views.js';
import type { LocalContext } from '../../context.js';
import { plural } from '../../data/text.js';
import {
  createNameFinder,
  type NameFinder,
  shortRunNames,
  soleRecord,
} from '../../runs/find-run.js';
import { isSingleRun, type RunStore, runNames, storeOf } from '../../runs/store.js';
import { listRuns, readRuns, type StoredRun, stateWord, summaryOf } from '../../runs/stored-run.js';

interface Run extends Pick<StoredRun['head'], 'run' | 'action' | 'startedAt' | 'profile'> {
  /** `replaced` for a person only. */
  readonly state: ReturnType<typeof stateWord>;
  readonly summary: Readonly<Record<string, number>>;
}

/** The number of runs listed without `--all`. */
const maxListed = 50;

const view = {
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
    ['action', 'Action'],
    ['startedAt', 'Started'],
    ['summary.changed', 'Done'],
    ['summary.conflict', 'Conflict'],
    ['summary.failed', 'Failed'],
    // The last columns shrink or are dropped on a narrow terminal.
    ['profile', 'Profile'],
  ],
} as const;

export default defineLocalCommand({
  summary: 'List the runs on this machine',
  about:
    `Lists the ${maxListed} newest runs, oldest first, without finished changes of a single record. ` +
    'Resume an unfinished run with runs resume, or run the same command again.',
  examples: [
    ['The newest', ''],
    ['All of them, for a script', '--all --json'],
  ],
  flags: { all: flag('also older runs and finished changes of a single record') },
  view,
  async run(context, { all }) {
    const store = storeOf(context);
    const { runs, notListed = [] } = all
      ? { runs: await listRuns(store, ({ message }) => context.message(message)) }
      : await readNewest(context, store);
    const hidden = notListed.join(' and ');
    if (hidden !== '' && runs.length === 0 && context.isInteractive)
      return new ValueWithExit([], 'done', {
        view: {
          ...view,
          whenEmpty: `Nothing to list but ${hidden}. To list everything, add --all.`,
        },
      });
    if (hidden !== '') context.note(`Not listed: ${hidden}. To list everything, add --all.`);
    const isRead = context.isInteractive && !context.settings.fields;
    const nameOf = isRead ? shortRunNames(store) : (run: string) => run;
    const recordOf = isRead ? await createNameFinder(context) : undefined;
    const rows = runs.map(
      (run): Run => ({
        run: nameOf(run.head.run),
        action: recordOf ? actionText(run, recordOf) : run.head.action,
        startedAt: run.head.startedAt,
        state: isRead ? stateWord(run) : run.finished ? 'finished' : 'unfinished',
        summary: { ...summaryOf(run) },
        profile: run.head.profile,
      }),
    );
    const interactiveColumns = view.interactiveColumns.filter(([field]) => isTelling(field, rows));
    return new ValueWithExit(rows, 'done', { view: { ...view, interactiveColumns } });
  },
});

/** False for a count that is 0 in each row, and would only take the room of the action. */
function isTelling(field: string, rows: readonly Run[]): boolean {
  const [, count] = field.split('.');
  return count === undefined || count === 'changed' || rows.some(({ summary }) => summary[count]);
}

/** `tryouts update: Mira Kite` for a person. */
function actionText(run: StoredRun, nameOf: NameFinder): string {
  const record = soleRecord(run, nameOf);
  return run.head.action.replace('.', ' ') + (record === undefined ? '' : `: ${record}`);
}

/** Opens only the runs to list; names and folders are enough to count the others. */
async function readNewest(
  context: LocalContext,
  store: RunStore,
): Promise<{ readonly runs: readonly StoredRun[]; readonly notListed: readonly string[] }> {
  const ended = runNames(store, ['ended']);
  const others = runNames(store, ['open', 'legacy']);
  const names = [...ended.filter((run) => !isSingleRun(run)), ...others].toSorted();
  const single = ended.filter((run) => isSingleRun(run)).length;
  const older = Math.max(0, names.length - maxListed);
  const notListed = [
    ...(older > 0 ? [plural(older, 'older run')] : []),
    ...(single > 0
      ? [plural(single, 'finished change', 'finished changes') + ' of a single record']
      : []),
  ];
  const runs = await readRuns(store, names.slice(-maxListed), ({ message }) =>
    context.message(message),
  );
  const listed = runs.filter((run) => !(run.finished && isSingleRun(run.head.run)));
  return { runs: listed, notListed };
}
