/** `rosterctl cursors commit`: accepts what --peek printed. */

import { defineLocalWrite } from '../../cli/define.js';
import { linesView } from '../../cli/views.js';
import type { LocalContext } from '../../context.js';
import { lockCursor } from '../../cursors/cursor.js';
import {
  type CursorKey,
  type CursorState,
  ensureCursorFolder,
  placeInUse,
  readCursor,
  unusedCursor,
  writeCursor,
} from '../../cursors/cursor-file.js';
import { plural } from '../../data/text.js';
import { cursorArgument, cursorName, findCursor } from './shared.js';

interface Committed {
  readonly name: string;
  readonly resource: string;
  readonly committed: number;
}

export default defineLocalWrite({
  summary: 'Accept what --peek printed, after it was delivered',
  about:
    'Records exactly the rows that the last --since-last NAME --peek printed. ' +
    'Until then, each use prints them again.',
  examples: [['After the message was delivered', 'discord']],
  args: { name: cursorArgument },
  // The result is a note, so that a cron job with -q prints nothing.
  view: linesView<Committed>(() => []),
  plan(context, { name }) {
    const key = findCursor(context, name);
    const { pending } = read(context, key);
    const from = [...(pending?.keys() ?? [])];
    const changes =
      from.length === 0 ? [] : [{ id: cursorName(key), field: 'pending', from, to: null }];
    return Promise.resolve({ changes, state: key });
  },
  async apply(context, { state: key }) {
    const folder = ensureCursorFolder(context.paths, placeInUse(context));
    const lock = await lockCursor(folder, key, context);
    try {
      const state = read(context, key);
      const { pending } = state;
      if (!pending || pending.size === 0) context.note(`Nothing is pending for ${key.name}.`);
      else {
        await writeCursor(folder, accepted(state, context.now()), context.paths.owner);
        context.note(`Committed ${plural(pending.size, 'row')} of ${key.name}.`);
      }
      return { name: key.name, resource: key.resource, committed: pending?.size ?? 0 };
    } finally {
      lock.release();
    }
  },
});

function accepted(state: CursorState, now: Date): CursorState {
  return {
    ...state,
    seen: new Map([...state.seen, ...(state.pending ?? [])]),
    pending: undefined,
    lastAt: now.toISOString(),
  };
}

/** Throws UsageError for one that was reset meanwhile, GuardError for a damaged one. */
function read(context: LocalContext, key: CursorKey): CursorState {
  const folder = ensureCursorFolder(context.paths, placeInUse(context));
  return readCursor(folder, key, context.paths.owner) ?? unusedCursor(key);
}
