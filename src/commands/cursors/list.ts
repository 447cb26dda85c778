/** `rosterctl cursors list`: lists the names of --since-last. */
import { defineLocalCommand } from '../../cli/define.js';
import { rowsView } from '../../cli/views.js';
import { cursorFolder, cursorKeys, placeInUse, readCursor } from '../../cursors/cursor-file.js';
import { Failure } from '../../errors.js';

export interface CursorRow {
  readonly name: string;
  readonly resource: string;
  /** How many records count as known. */
  readonly records: number;
  /** When it last succeeded. */
  readonly lastAt: string | null;
}

export default defineLocalCommand({
  summary: 'List the cursors of --since-last',
  about:
    'Lists the cursors of this organization on this machine. A cursor stores ids and hashes, never the ' +
    'content of records. See: rosterctl help cursors',
  examples: [['All of them', '']],
  view: rowsView<CursorRow>(
    ['name', 'resource', 'records', 'lastAt'],
    'No cursors yet. --since-last NAME makes one: rosterctl help cursors',
  ),
  run(context) {
    const folder = cursorFolder(context.paths, placeInUse(context));
    const rows: CursorRow[] = [];
    for (const key of cursorKeys(folder)) {
      try {
        const state = readCursor(folder ?? '', key, context.paths.owner);
        if (state) {
          const { name, resource } = key;
          rows.push({ name, resource, records: state.seen.size, lastAt: state.lastAt ?? null });
        }
      } catch (error) {
        if (!(error instanceof Failure)) throw error;
        context.message(error.hint ? `${error.message} ${error.hint}` : error.message);
      }
    }
    return rows;
  },
});
