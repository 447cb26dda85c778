import { rmSync } from 'node:fs';
import * as z from 'zod/mini';
import { defineLocalWrite } from '../../cli/define.js';
import { linesOf } from '../../cli/views.js';
import { cacheFolder } from '../../config/cache.js';
import { checkProfileName } from '../../config/profile-name.js';
import { requireProfile, withoutKey } from '../../config/profiles.js';
import type { LocalContext } from '../../context.js';
import { systemReason } from '../../data/system-errors.js';
import { plural } from '../../data/text.js';
import { forgetRuns, hasOtherKey, noRuns, runsOf } from './kept-runs.js';

const LoggedOut = z.object({
  profile: z.string(),
  removed: z.boolean(),
  runsRemoved: z.number(),
  beforeImagesRemoved: z.number(),
});

export default defineLocalWrite({
  summary: 'Forget the stored key of a profile',
  about:
    'The profile keeps its service, organization and settings; what completion remembered goes. ' +
    'Where no other profile has a key for its organization, finished runs and what runs undo needs ' +
    'go too; unfinished runs are named and stay. Does not ask.',
  examples: [
    ['The profile in force', ''],
    ['Another profile', '--profile work'],
  ],
  calls: [],
  view: linesOf(LoggedOut, ({ profile, removed, runsRemoved, beforeImagesRemoved }) => [
    removed
      ? `The key of profile ${profile} is removed from this machine; it stays valid until the dashboard revokes it.`
      : `Profile ${profile} has no stored key.`,
    ...(runsRemoved + beforeImagesRemoved > 0
      ? [
          `Also removed: ${plural(runsRemoved, 'finished run')}, and what was kept to undo ${plural(beforeImagesRemoved, 'run')}.`,
        ]
      : []),
  ]),
  async plan(context) {
    const { config, settings } = context;
    const name = checkProfileName(settings.profile.name);
    const key = config.keys().get(name);
    // A key may be left of a profile that somebody took out of the file by hand.
    if (!key && settings.profile.via !== 'none') requireProfile(config.config(), settings.profile);
    const runs = key && !hasOtherKey(config, name, key) ? await runsOf(context, key) : noRuns;
    return {
      calls: [],
      changes: [
        ...(key ? [{ id: name, field: 'key', from: 'stored', to: null }] : []),
        ...runs.ended.map((run) => gone(run, 'run')),
        ...runs.undoable.map((run) => gone(run, 'beforeImages')),
      ],
      state: { name, key, runs },
    };
  },
  async apply(context, { state: { name, key, runs } }) {
    if (key) {
      await context.config.update((now) => withoutKey(now, name));
      forgetCache(context, key.origin, key.organization);
    }
    await forgetRuns(context, runs);
    if (runs.unfinished.length > 0)
      context.tell(
        `Kept, because unfinished: ${runs.unfinished.join(', ')}. To delete one: rosterctl runs prune RUN`,
      );
    for (const variable of ['ROSTERCTL_API_KEY', 'ROSTERCTL_API_KEY_FILE'])
      if (context.env[variable]) context.note(`${variable} is still set and is used.`);
    return {
      profile: name,
      removed: key !== undefined,
      runsRemoved: runs.ended.length,
      beforeImagesRemoved: runs.undoable.length,
    };
  },
});

function gone(id: string, field: string) {
  return { id, field, from: id, to: null };
}

function forgetCache(context: LocalContext, origin: string, organization: string): void {
  const folder = cacheFolder(context.paths, origin, organization);
  if (folder === undefined) return;
  try {
    rmSync(folder, { recursive: true, force: true });
  } catch (error) {
    context.tell(
      `What completion remembered in ${folder} cannot be removed: ${systemReason(error)}.`,
    );
  }
}
