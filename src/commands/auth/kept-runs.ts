/** What a logout removes of the runs of an organization that no other profile has a key for. */
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { beforeImagesIn } from '../../bulk/before-images.js';
import { isRunHeld } from '../../bulk/lock-run.js';
import { removeRun, runFolder, storeOf } from '../../bulk/run-store.js';
import { listRuns } from '../../bulk/runs.js';
import { leftUploads } from '../../bulk/end-run.js';
import { originOf } from '../../config/base-url.js';
import type { StoredKey } from '../../config/config-file.js';
import type { ConfigStore } from '../../config/store.js';
import type { LocalContext } from '../../context.js';

/** The runs of an organization at a service, by name. */
export interface KeptRuns {
  /** Nothing is left to do of them. */
  readonly ended: readonly string[];
  /** Those with before-images, unfinished ones too unless a process is at them. */
  readonly undoable: readonly string[];
  readonly unfinished: readonly string[];
}

/** None. */
export const noRuns: KeptRuns = { ended: [], undoable: [], unfinished: [] };

type Place = Pick<StoredKey, 'origin' | 'organization'>;

/** Whether another profile has a key for this organization: stored, or printed by a command. */
export function hasOtherKey(config: ConfigStore, name: string, place: Place): boolean {
  const isSame = (origin: string | undefined, organization: string | undefined) =>
    origin === place.origin && organization === place.organization;
  const stored = [...config.keys()].some(
    ([other, key]) => other !== name && isSame(key.origin, key.organization),
  );
  const printed = [...config.config().profiles].some(
    ([other, { baseUrl, organization, settings }]) =>
      other !== name &&
      settings.has('key.command') &&
      isSame(baseUrl && originOf(baseUrl), organization),
  );
  return stored || printed;
}

/** The runs of a place; one that cannot be read is told and stays. */
export async function runsOf(context: LocalContext, place: Place): Promise<KeptRuns> {
  if (!context.paths.state) return noRuns;
  const store = storeOf(context);
  const all = await listRuns(store, ({ message }) => context.tell(message));
  const ended: string[] = [];
  const undoable: string[] = [];
  const unfinished: string[] = [];
  for (const stored of all) {
    const { run, organization, service } = stored.head;
    if (organization !== place.organization || !isAt(service, place.origin)) continue;
    const isLeft = !stored.finished || leftUploads([stored]).length > 0;
    (isLeft ? unfinished : ended).push(run);
    const hasImages = existsSync(beforeImagesIn(runFolder(store, run)));
    // oxlint-disable-next-line no-await-in-loop
    if (hasImages && !(await isRunHeld(store, run, context.self))) undoable.push(run);
  }
  return { ended, undoable, unfinished };
}

/** Removes the runs that have ended, and the before-images of the others. */
export async function forgetRuns(context: LocalContext, runs: KeptRuns): Promise<void> {
  if (runs === noRuns) return;
  const store = storeOf(context);
  for (const run of runs.undoable) await rm(beforeImagesIn(runFolder(store, run)), { force: true });
  for (const run of runs.ended) await removeRun(store, run);
}

/** The sandbox is a service without a URL. */
function isAt(service: string, origin: string): boolean {
  return URL.canParse(service) && originOf(service) === origin;
}
