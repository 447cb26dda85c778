/** `rosterctl cursors show`: shows what a name of --since-last knows. */
import { defineLocalCommand } from '../../cli/define.js';
import { fieldLabel } from '../../cli/lists/labels.js';
import { linesView } from '../../cli/views.js';
import { cursorFolder, placeInUse, readCursor } from '../../cursors/cursor-file.js';
import { firstOf, plural } from '../../data/text.js';
import { longTime, momentOf, relativeTime } from '../../data/time.js';
import { singleLine } from '../../terminal/safe-text.js';
import { hangingLines } from '../../terminal/whole-words.js';
import type { CursorRow } from './list.js';
import { cursorArgument, findCursor } from './shared.js';

interface ShownCursor extends CursorRow {
  readonly filter: string | null;
  readonly changed: string | null;
  readonly ids: readonly string[];
  /** The entries that the last --peek printed. */
  readonly pending: readonly string[];
}

export default defineLocalCommand({
  summary: 'Show what a cursor knows and what is pending',
  about: '--json also prints the ids of all known records.',
  examples: [['What the last --peek printed', 'discord']],
  args: { name: cursorArgument },
  view: linesView<ShownCursor>((cursor, { isTerminal, columns, now }) => {
    const row = (label: string, text: string) =>
      hangingLines(label.padEnd(11), singleLine(text), isTerminal ? columns : Infinity);
    const { filter, changed, pending } = cursor;
    const last = momentOf(cursor.lastAt ?? '');
    return [
      ...row('Name', cursor.name),
      ...row('List', cursor.resource),
      ...row('Filter', filter === null ? 'not used yet' : filter || 'none'),
      ...(changed === null ? [] : row('Changed', changed)),
      ...row('Known', plural(cursor.records, 'record')),
      ...row('Pending', pending.length === 0 ? 'nothing' : firstOf(pending)),
      ...row(
        fieldLabel('lastAt'),
        last && isTerminal
          ? `${longTime(last)} (${relativeTime(last, now)})`
          : (cursor.lastAt ?? 'never'),
      ),
    ];
  }),
  run(context, { name }) {
    const key = findCursor(context, name);
    const folder = cursorFolder(context.paths, placeInUse(context)) ?? '';
    const state = readCursor(folder, key, context.paths.owner);
    return {
      name: key.name,
      resource: key.resource,
      filter: state?.filter ?? null,
      changed: state?.changed ?? null,
      lastAt: state?.lastAt ?? null,
      records: state?.seen.size ?? 0,
      ids: [...(state?.seen.keys() ?? [])],
      pending: [...(state?.pending?.keys() ?? [])],
    };
  },
});
