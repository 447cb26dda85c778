/** Interrupted runs and uploads of a profile, and the commands that finish them. */
import { groupedNumber, plural } from '../data/text.js';
import type { ThisProcess } from '../files/holder.js';
import { shortRunNames } from './find-run.js';
import { isRunning } from './lock.js';
import { isOfProfile, otherFormat } from './plan.js';
import { runStore } from './store.js';
import { listOpenRuns, rowsLeft } from './stored-run.js';
import { isUploadRun, unfinishedUploads } from './unfinished-uploads.js';

/** The interrupted work of a profile. */
export interface UnfinishedWork {
  /** Newest first; `run` is its name as a person types it. */
  readonly runs: readonly { readonly run: string; readonly left: number; readonly total: number }[];
  readonly uploads: number;
}

/** A profile, the place it is for, and all stored profiles. */
export interface WorkPlace {
  readonly name: string;
  readonly organization: string;
  readonly service: string | undefined;
  readonly profiles: ReadonlyMap<string, unknown>;
}

/** Returns what a profile left unfinished on this machine, without what another process is doing now. */
export async function unfinishedWork(
  statePath: string,
  { name, organization, service, profiles }: WorkPlace,
  self: ThisProcess,
): Promise<UnfinishedWork> {
  const store = runStore(statePath);
  const open = await listOpenRuns(store);
  const ours = open.filter(
    (run) =>
      (run.head.profile === name || run.head.service === service) &&
      isOfProfile(run.head, name, profiles) &&
      run.head.organization === organization &&
      otherFormat(run) === undefined &&
      !isRunning(run, self),
  );
  const unfinished = ours
    .filter(({ head, finished }) => !finished && !isUploadRun(head))
    .toReversed();
  const uploads = unfinishedUploads(ours).length;
  if (unfinished.length === 0) return { runs: [], uploads };
  const shortName = shortRunNames(store);
  const runs = unfinished.map((run) => {
    const { head } = run;
    return { run: shortName(head.run), left: rowsLeft(run), total: head.rows };
  });
  return { runs, uploads };
}

/** Returns a line and a command for each of the `mostRuns` newest runs, for the other runs, and for the uploads. */
export function describeUnfinished({ runs, uploads }: UnfinishedWork, mostRuns: number) {
  const shown = runs.slice(0, mostRuns).map(({ run, left, total }) => ({
    text: `run ${run}: ${groupedNumber(left)} of ${plural(total, 'row')} left`,
    command: `rosterctl runs resume ${run}`,
  }));
  const more = runs.length - shown.length;
  const moreText = shown.length > 0 ? `${more} more` : plural(more, 'run');
  return [
    ...shown,
    ...(more > 0 ? [{ text: moreText, command: 'rosterctl runs list' }] : []),
    ...(uploads > 0
      ? [{ text: plural(uploads, 'upload'), command: 'rosterctl uploads finish --all' }]
      : []),
  ];
}
