/** `rosterctl cursors reset`: makes a name of --since-last start over. */

import * as z from 'zod/mini';
import { defineLocalWrite, param } from '../../cli/define.js';
import { parsedBy } from '../../cli/schemas.js';
import { sentencesView } from '../../cli/views.js';
import type { LocalContext } from '../../context.js';
import { lockCursor } from '../../cursors/cursor.js';
import {
  type CursorKey,
  cursorFolder,
  cursorKeys,
  ensureCursorFolder,
  placeInUse,
  removeCursor,
  unusedCursor,
  writeCursor,
} from '../../cursors/cursor-file.js';
import { parseWhen, resolveWhen, type When } from '../../data/dates.js';
import { didYouMean } from '../../data/nearest.js';
import { resourceNames } from '../../data/resources.js';
import { longTimeOf } from '../../data/time.js';
import { UsageError } from '../../errors.js';
import { cursorArgument, cursorName, findCursor, parseCursor } from './shared.js';

interface Reset {
  readonly name: string;
  readonly resource: string;
  /** The next use prints what was made since then; null for one that prints nothing. */
  readonly since: string | null;
}

export default defineLocalWrite({
  summary: 'Start a cursor over, or set it back in time',
  about:
    'The next run with NAME counts as the first: it records what exists, prints nothing, and may use another filter. With ' +
    '--at, it prints what was submitted (for other records: created) since then. RESOURCE/NAME names the ' +
    'list, even of a cursor that was lost.',
  examples: [
    ['See what starting over would do', 'discord --dry-run'],
    ['Print the last week again', 'tryouts/discord --at 7d'],
  ],
  args: { name: cursorArgument },
  flags: {
    at: param(z.optional(parsedBy(parseWhen)), 'print what is newer: 7d, yesterday, 2026-11-01', {
      placeholder: 'WHEN',
    }),
  },
  view: sentencesView<Reset>(({ name, since }) => [
    since === null
      ? `Reset ${name}. The next run records the current records and prints none.`
      : `Reset ${name}. The next run prints what is newer than ${longTimeOf(since)}.`,
  ]),
  plan(context, { name, at }) {
    const key = keyFor(context, name, at);
    const since =
      at === undefined ? null : new Date(resolveWhen(at, 'start', context.now())).toISOString();
    const changes = [{ id: cursorName(key), field: 'cursor', from: key.name, to: since }];
    return Promise.resolve({ changes, state: { ...key, since } });
  },
  async apply(context, { state: { name, resource, since } }) {
    const key = { name, resource };
    const folder = ensureCursorFolder(context.paths, placeInUse(context));
    const lock = await lockCursor(folder, key, context);
    try {
      if (since === null) await removeCursor(folder, key);
      else {
        const state = { ...unusedCursor(key), since: Date.parse(since) };
        await writeCursor(folder, state, context.paths.owner);
      }
    } finally {
      lock.release();
    }
    return { ...key, since };
  },
});

/** A cursor that was lost can be set back too, if its list is named, but not one that is misspelt. */
function keyFor(context: LocalContext, text: string, at: When | undefined): CursorKey {
  const { name, resource } = parseCursor(text);
  const list = resourceNames.find((each) => each === resource);
  if (at === undefined) return findCursor(context, text);
  if (list === undefined) return requireTimes(findCursor(context, text));
  const ofList = cursorKeys(cursorFolder(context.paths, placeInUse(context)))
    .filter((key) => key.resource === list)
    .map((key) => key.name);
  if (ofList.includes(name) || didYouMean(name, ofList) !== '') return findCursor(context, text);
  context.note(`No cursor ${text} was found, so one was created.`);
  return { name, resource: list };
}

/** Returns the cursor if it is one of records. Throws UsageError for findings. */
function requireTimes(key: CursorKey): CursorKey {
  if (resourceNames.some((each) => each === key.resource)) return key;
  throw new UsageError(`Findings have no times, so --at cannot be used for ${cursorName(key)}.`, {
    hint: `To print all of them again, leave it out, then run: rosterctl ${key.resource} --since-last ${key.name} --initial all`,
  });
}
