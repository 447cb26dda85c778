/** The argument that names a cursor, and finding the one that is meant. */
import { param } from '../../cli/define.js';
import { parseCursorName } from '../../cli/filters.js';
import { nonEmptyText } from '../../cli/schemas.js';
import type { LocalContext } from '../../context.js';
import { type CursorKey, cursorFolder, cursorKeys, placeInUse } from '../../cursors/cursor-file.js';
import { didYouMean } from '../../data/nearest.js';
import { orList } from '../../data/text.js';
import { GuardError, UsageError } from '../../errors.js';

/** The name of a cursor, also `tryouts/mail` where several lists use one name. */
export const cursorArgument = param(nonEmptyText, 'a name of --since-last', {
  completes: 'cursor',
});

/** `tryouts/mail`: the whole name of a cursor. */
export function cursorName({ resource, name }: CursorKey): string {
  return `${resource}/${name}`;
}

/** Parses `mail` or `tryouts/mail`. Throws UsageError. */
export function parseCursor(text: string): { readonly name: string; readonly resource?: string } {
  const [, resource, name = text] = /^([a-z]+)\/(.*)$/s.exec(text) ?? [];
  parseCursorName(name);
  return resource === undefined ? { name } : { name, resource };
}

/** Returns the one cursor of a name. Throws UsageError if there is none, GuardError if there are several. */
export function findCursor(context: LocalContext, text: string): CursorKey {
  const typed = parseCursor(text);
  const keys = cursorKeys(cursorFolder(context.paths, placeInUse(context)));
  const found = keys.filter(
    ({ name, resource }) =>
      name === typed.name && (typed.resource === undefined || resource === typed.resource),
  );
  const [only, another] = found;
  if (only && !another) return only;
  if (only)
    throw new GuardError(`Several lists have a cursor ${typed.name}.`, {
      code: 'ambiguous',
      hint: `Name one: ${orList(found.map(cursorName))}`,
    });
  const names = keys.map(({ name }) => name);
  throw new UsageError(`Unknown cursor "${text}".${didYouMean(typed.name, names)}`, {
    hint: 'See: rosterctl cursors list',
  });
}
