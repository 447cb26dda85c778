/** The cursors of the organization in use, and finding one by the words typed. */
import * as z from 'zod/mini';
import { param } from '../../cli/define.js';
import { parseCursorName } from '../../cli/filters.js';
import { findTarget } from '../../config/connection.js';
import { requireProfile, sandboxProfile } from '../../config/profiles.js';
import type { LocalContext } from '../../context.js';
import {
  type CursorKey,
  type CursorPlace,
  cursorFolder,
  cursorKeys,
  cursorPlace,
} from '../../cursors/cursor-file.js';
import { didYouMean } from '../../data/nearest.js';
import { orList } from '../../data/text.js';
import { GuardError, UsageError } from '../../errors.js';

/** The name of a cursor, also `tryouts/mail` where several lists use one name. */
export const cursorArgument = param(
  z.string().check(z.minLength(1, 'must not be empty')),
  'a name of --since-last',
  { placeholder: 'NAME', completes: 'cursor' },
);

/** Returns the place of the cursors in use; no key is needed. Throws UsageError, ConfigError. */
export function placeInUse({ config, env, flags, settings }: LocalContext): CursorPlace {
  const { profile } = settings;
  if (profile.name === sandboxProfile) return cursorPlace(sandboxProfile, '');
  const file = config.config();
  if (profile.via !== 'none') requireProfile(file, profile);
  const { baseUrl, organization } = findTarget({ flags, env, profile, file }, []);
  if (baseUrl && organization) return cursorPlace(baseUrl.text, organization.text);
  throw new UsageError('No service and organization are chosen, so there are no cursors.', {
    hint: 'Name a profile with -p, or log in: rosterctl auth login',
  });
}

/** Parses `mail` or `tryouts/mail`. Throws UsageError. */
export function parseCursor(text: string): { readonly name: string; readonly resource?: string } {
  const [, resource, name = text] = /^([a-z]+)\/(.*)$/s.exec(text) ?? [];
  parseCursorName(name);
  return resource === undefined ? { name } : { name, resource };
}

/**
 * Returns the one cursor of a name. Throws UsageError with the nearest name if there is none, GuardError
 * (11) if several lists use it.
 */
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
      hint: `Name one: ${orList(found.map(({ resource, name }) => `${resource}/${name}`))}`,
    });
  const names = keys.map(({ name }) => name);
  throw new UsageError(`There is no cursor "${text}".${didYouMean(typed.name, names)}`, {
    hint: 'See: rosterctl cursors list',
  });
}
