/** Whose cursors a command is about, without connecting. */

import { sandboxProfile } from '../config/choices.js';
import { findTarget } from '../config/connection.js';
import { requireProfile } from '../config/profiles.js';
import type { LocalContext } from '../context.js';
import { UsageError } from '../errors.js';
import { type CursorPlace, cursorPlace } from './cursor-file.js';

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
