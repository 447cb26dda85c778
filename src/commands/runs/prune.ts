/** `rosterctl runs prune`: removes old runs from this machine. */

import * as z from 'zod/mini';
import { attemptEach, ValueWithExit } from '../../cli/command-output.js';
import { defineLocalWrite, param } from '../../cli/define.js';
import { nonEmptyText, parsedBy } from '../../cli/schemas.js';
import { sentencesView } from '../../cli/views.js';
import type { LocalContext } from '../../context.js';
import { plural } from '../../data/text.js';
import { durationInWords, formatDuration, parseDuration } from '../../data/time.js';
import { GuardError, UsageError } from '../../errors.js';
import { setAside } from '../../runs/end.js';
import { resolveRunName } from '../../runs/find-run.js';
import { isHeldByOther, isRunning } from '../../runs/lock.js';
import { isKnownFormat } from '../../runs/plan.js';
import { removeRun, runFolder, runNames, startOf, storeOf } from '../../runs/store.js';
import { type DamagedRun, readRuns, type StoredRun, summaryOf } from '../../runs/stored-run.js';
import { unfinishedUploads } from '../../runs/unfinished.js';

const month = 30 * 86_400_000;

interface RunsToRemove {
  readonly names: string[];
  readonly aside: readonly DamagedRun[];
}

interface Pruned {
  readonly removed: readonly string[];
  readonly setAside?: readonly string[];
}

export default defineLocalWrite({
  summary: 'Delete runs from this machine',
  about:
    'Without a name, deletes old finished runs. It keeps runs that are unfinished, have a row with an unknown ' +
    'outcome or an upload to finish, or are younger than the setting undo.keep, and sets aside a finished ' +
    'run whose files are damaged. With a name, asks first and deletes that run, even an ' +
    'unfinished one: its results are then gone, and its changes can no longer be undone.',
  examples: [
    ['Preview it first', '--dry-run'],
    ['All older than two months', '--older-than 60d'],
  ],
  args: {
    run: param(z.optional(nonEmptyText), 'a run, or the last six characters of its name', {
      completes: 'run',
    }),
  },
  flags: {
    olderThan: param(
      z.optional(parsedBy(parseDuration)),
      `only runs older than this (default ${formatDuration(month)})`,
      { placeholder: 'AGE' },
    ),
  },
  excludes: [['run', 'olderThan']],
  view: sentencesView(({ removed, setAside: setAsidePaths = [] }: Pruned) => [
    `${plural(removed.length, 'run')} removed.`,
    ...setAsidePaths.map((path) => `A damaged run is kept in ${path}.`),
  ]),
  async plan(context, { run, olderThan = month }) {
    const { names, aside } =
      run === undefined ? await oldRuns(context, olderThan) : await namedRun(context, run);
    const changes = [...names, ...aside.map((each) => `${each.run} (damaged)`)].map((id) => ({
      id,
      field: 'run',
      from: id,
      to: null,
    }));
    return { changes, state: { names, aside } };
  },
  confirm({ state: { names } }, { run }) {
    return run === undefined
      ? undefined
      : `Delete run ${names[0]} and everything needed to resume or undo it?`;
  },
  async apply(context, { state: { names, aside } }, { run }) {
    const store = storeOf(context);
    // While the question waited, it may have been resumed.
    if (run !== undefined) await namedRun(context, run);
    const { done: removed, ...removal } = await attemptEach(context, names, async (name) => {
      await removeRun(store, name);
      return name;
    });
    const { done: kept, error = removal.error } = await attemptEach(context, aside, setAside);
    const result = { removed, ...(kept.length > 0 && { setAside: kept }) };
    return new ValueWithExit<Pruned>(result, error ? 'failed' : 'done', {
      failed: () => error && { error },
    });
  },
});

/** Throws UsageError if there is no such run, GuardError if a process is still running it. */
async function namedRun(context: LocalContext, run: string): Promise<RunsToRemove> {
  const store = storeOf(context);
  const name = resolveRunName(store, run);
  if (name === undefined)
    throw new UsageError(`Unknown run "${run}".`, { hint: 'See: rosterctl runs list' });
  const [stored] = await readRuns(store, [name]);
  if (!stored || !isHeldByOther(stored, context.self)) return { names: [name], aside: [] };
  if (isRunning(stored, context.self))
    throw new GuardError(`Run ${name} is still running.`, {
      code: 'locked',
      hint: 'Stop its process first.',
    });
  throw new GuardError(`Run ${name} may still be running; this machine cannot tell.`, {
    code: 'locked',
    hint: `If its process has ended, remove ${runFolder(store, name)}`,
  });
}

async function oldRuns(context: LocalContext, olderThan: number): Promise<RunsToRemove> {
  const store = storeOf(context);
  const { undoKeepMs = 0 } = context.settings;
  if (olderThan < undoKeepMs)
    context.note(
      `Runs younger than ${durationInWords(undoKeepMs)} stay: they can be undone (setting undo.keep).`,
    );
  const minAge = Math.max(olderThan, undoKeepMs);
  const isOld = (run: string) => context.now().getTime() - startOf(run).getTime() >= minAge;
  const names = runNames(store);
  const damaged: DamagedRun[] = [];
  const runs = await readRuns(store, names.filter(isOld), (run) => damaged.push(run));
  const aside = damaged.filter(({ isOpen }) => !isOpen);
  for (const each of damaged) if (!aside.includes(each)) context.message(each.message);
  return { names: runs.filter(isDone).map(({ head }) => head.run), aside };
}

function isDone(run: StoredRun): boolean {
  if (!isKnownFormat(run.head) || !run.finished) return false;
  return summaryOf(run).unknown === 0 && unfinishedUploads([run]).length === 0;
}
