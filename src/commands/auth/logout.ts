/** `rosterctl auth logout`: removes the stored key of a profile, and what was kept for it on disk. */

import { existsSync } from 'node:fs';
import { attemptEach, ValueWithExit } from '../../cli/command-output.js';
import { defineLocalWrite } from '../../cli/define.js';
import { sentencesView } from '../../cli/views.js';
import { originOf } from '../../config/base-url.js';
import type { StoredKey } from '../../config/config-file.js';
import { checkProfileName, requireProfile, withoutKey } from '../../config/profiles.js';
import { removeCache } from '../../config/remove-cache.js';
import type { ConfigStore } from '../../config/store.js';
import type { LocalContext } from '../../context.js';
import {
  type CursorKey,
  cursorFolder,
  cursorKeys,
  removeCursor,
} from '../../cursors/cursor-file.js';
import { plural } from '../../data/text.js';
import { Failure } from '../../errors.js';
import { beforeImagesIn } from '../../runs/before-images.js';
import { shortRunNames } from '../../runs/find-run.js';
import { isRunHeld } from '../../runs/lock.js';
import { removeState, runFolder, storeOf } from '../../runs/store.js';
import { listRuns } from '../../runs/stored-run.js';
import { unfinishedUploads } from '../../runs/unfinished.js';

interface LoggedOut {
  readonly profile: string;
  readonly removed: boolean;
  readonly runsRemoved: number;
  readonly beforeImagesRemoved: number;
  readonly cursorsRemoved: number;
}

export default defineLocalWrite({
  summary: 'Delete the stored key of a profile',
  about:
    'The profile keeps its service, organization and settings. Cached ids for completion are deleted. ' +
    'If no other profile has a key for its organization, finished runs, the values for runs undo ' +
    'and the cursors of --since-last are deleted, too; unfinished runs and an unsent review are listed and kept. Does not ask first.',
  examples: [
    ['The active profile', ''],
    ['Another profile', '--profile work'],
  ],
  view: sentencesView<LoggedOut>(
    ({ profile, removed, runsRemoved, beforeImagesRemoved, cursorsRemoved }) => [
      removed
        ? `The key of profile ${profile} was removed from this machine. It stays valid until you revoke it in the dashboard.`
        : `Profile ${profile} has no stored key.`,
      ...(runsRemoved > 0 ? [`Also removed: ${plural(runsRemoved, 'finished run')}.`] : []),
      ...(beforeImagesRemoved > 0
        ? [`Also removed: the values for undoing ${plural(beforeImagesRemoved, 'run')}.`]
        : []),
      ...(cursorsRemoved > 0
        ? [`Also removed: ${plural(cursorsRemoved, 'cursor')} of --since-last.`]
        : []),
    ],
  ),
  async plan(context) {
    const { config, settings } = context;
    const name = checkProfileName(settings.profile.name);
    const key = config.keys().get(name);
    // A key may remain of a profile that was removed from the file by hand.
    if (!key && settings.profile.via !== 'none') requireProfile(config.config(), settings.profile);
    const isLast = key !== undefined && !hasOtherKey(config, name, key);
    const runs = isLast ? await runsOf(context, key) : noRuns;
    const cursors = isLast ? cursorsOf(context, key) : [];
    return {
      changes: [
        ...(key ? [{ id: name, field: 'key', from: 'stored', to: null }] : []),
        ...runs.ended.map((run) => removal(run, 'run')),
        ...runs.undoable.map((run) => removal(run, 'undo values')),
        ...cursors.map((cursor) => removal(`${cursor.resource}/${cursor.name}`, 'cursor')),
      ],
      state: { name, key, runs, cursors },
    };
  },
  async apply(context, { state: { name, key, runs, cursors } }) {
    const folder = key && cursorFolder(context.paths, key);
    const removed = { runs: 0, images: 0, cursors: 0 };
    let error: Failure | undefined;
    try {
      const removals = [
        ...runRemovals(context, runs),
        ...cursors.map((cursor) => ({
          of: 'cursors' as const,
          remove: async () => folder && removeCursor(folder, cursor),
        })),
      ];
      // Go on after a failure: without the key, the same command could no longer find the rest.
      ({ error } = await attemptEach(context, removals, async ({ of, remove }) => {
        await remove();
        removed[of] += 1;
      }));
    } finally {
      // Last, so that the same command still finds the rest if this one is killed.
      if (key) {
        removeCache(context, key.origin, key.organization);
        await context.config.update((now) => {
          // Renamed meanwhile: its key is not removed.
          if (!now.keys.has(name)) requireProfile(now.config, { name });
          return withoutKey(now, name);
        });
      }
    }
    const { unfinished } = runs;
    if (unfinished.length > 0) {
      const kept = plural(unfinished.length, 'unfinished run was', 'unfinished runs were');
      const names = unfinished.map(shortRunNames(storeOf(context)));
      context.message(`${kept} kept: ${names.join(', ')}. To delete one: rosterctl runs prune RUN`);
    }
    for (const count of key ? await unsentCounts(context, key) : [])
      context.message(
        `A review with ${plural(count, 'unsent decision')} was kept. After the next login: rosterctl tryouts review --resume`,
      );
    for (const variable of ['ROSTERCTL_API_KEY', 'ROSTERCTL_API_KEY_FILE'])
      if (context.env[variable]) context.note(`${variable} is still set and is used.`);
    const isNamed = context.settings.profile.via !== 'none';
    if (isNamed && context.config.config().profiles.get(name)?.settings.has('key.command'))
      context.note(`key.command of profile ${name} is still set and is used.`);
    const result = {
      profile: name,
      removed: key !== undefined,
      runsRemoved: removed.runs,
      beforeImagesRemoved: removed.images,
      cursorsRemoved: removed.cursors,
    };
    return new ValueWithExit<LoggedOut>(result, error ? 'failed' : 'done', {
      failed: () => error && { error },
    });
  },
});

function removal(id: string, field: string) {
  return { id, field, from: id, to: null };
}

/** The stored runs of an organization at a service, by name. */
interface StoredRuns {
  /** Runs that are finished and have no unfinished upload. */
  readonly ended: readonly string[];
  /** Runs with before-images, including unfinished ones unless a process holds them. */
  readonly undoable: readonly string[];
  readonly unfinished: readonly string[];
}

const noRuns: StoredRuns = { ended: [], undoable: [], unfinished: [] };

type KeyPlace = Pick<StoredKey, 'origin' | 'organization'>;

/** True if another profile has a key for this organization, stored or printed by a command. */
function hasOtherKey(config: ConfigStore, name: string, place: KeyPlace): boolean {
  const stored = [...config.keys()].some(
    ([other, key]) =>
      other !== name && key.origin === place.origin && key.organization === place.organization,
  );
  const fromCommand = [...config.config().profiles].some(
    ([other, { baseUrl, organization, settings }]) =>
      other !== name &&
      settings.has('key.command') &&
      organization === place.organization &&
      isAt(baseUrl ?? '', place.origin),
  );
  return stored || fromCommand;
}

/** Returns the runs of an organization at a service. What cannot be read is reported and kept. */
async function runsOf(context: LocalContext, place: KeyPlace): Promise<StoredRuns> {
  if (!context.paths.state) return noRuns;
  const store = storeOf(context);
  const report = ({ message }: { readonly message: string }) => context.message(message);
  const all = await listRuns(store, report).catch((error: unknown) => {
    if (!(error instanceof Failure)) throw error;
    report(error);
    return [];
  });
  const ended: string[] = [];
  const undoable: string[] = [];
  const unfinished: string[] = [];
  for (const stored of all) {
    const { run, organization, service } = stored.head;
    if (organization !== place.organization || !isAt(service, place.origin)) continue;
    const isUnfinished = !stored.finished || unfinishedUploads([stored]).length > 0;
    (isUnfinished ? unfinished : ended).push(run);
    const hasImages = existsSync(beforeImagesIn(runFolder(store, run)));
    if (hasImages && !(await isRunHeld(store, run, context.self))) undoable.push(run);
  }
  return { ended, undoable, unfinished };
}

/** Returns the cursors of an organization at a service. A folder that cannot be read is reported and kept. */
function cursorsOf(context: LocalContext, place: KeyPlace): readonly CursorKey[] {
  try {
    return cursorKeys(cursorFolder(context.paths, place));
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    context.message(error.message);
    return [];
  }
}

/** Returns how many decisions each unsent review of an organization at a service holds. */
async function unsentCounts({ paths }: LocalContext, place: KeyPlace): Promise<readonly number[]> {
  if (!paths.state) return [];
  const { unsentReviews } = await import('../../review/queue.js');
  const all = await unsentReviews(paths.state.path);
  return all
    .filter(({ organization }) => organization === place.organization)
    .filter(({ service }) => isAt(service, place.origin))
    .map(({ count }) => count);
}

/** The removals of the finished runs, and of the before-images of all. Each throws OutputError. */
function runRemovals(context: LocalContext, runs: StoredRuns) {
  if (runs === noRuns) return [];
  const store = storeOf(context);
  const ofRun = (of: 'runs' | 'images', run: string) => {
    const folder = runFolder(store, run);
    return { of, remove: () => removeState(of === 'runs' ? folder : beforeImagesIn(folder)) };
  };
  return [
    ...runs.undoable.map((run) => ofRun('images', run)),
    ...runs.ended.map((run) => ofRun('runs', run)),
  ];
}

/** True if a service has this origin; the sandbox is a service without a URL. */
function isAt(service: string, origin: string): boolean {
  return URL.canParse(service) && originOf(service) === origin;
}
