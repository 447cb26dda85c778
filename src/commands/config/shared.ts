import type { ConfigData } from '../../config/config-file.js';
import { findPlace } from '../../config/connection.js';
import { demoOrganization, requireProfile, sandboxProfile } from '../../config/profiles.js';
import { resolveSettings, type SettingOrigin, type Settings } from '../../config/settings.js';
import type { LocalContext } from '../../context.js';
import { connectionOf } from '../auth/key-check.js';

/** It listens on any free port; `auth status` shows it. */
const sandboxOwn = {
  baseUrl: { text: null, origin: 'built in' },
  organization: { text: demoOrganization, origin: 'built in' },
};

/**
 * Every setting with its origin, profile and place first; a value in the file that cannot be used
 * stands at its default, so that `config` can be used to mend it.
 */
export function originsOf(
  context: LocalContext,
  { withFile }: { readonly withFile: boolean },
): readonly SettingOrigin[] {
  const { env } = context;
  // How this answer is printed is no answer to what is in force.
  const { output: _output, json: _json, out: _out, ...flags } = context.flags;
  const file = context.config.config();
  const { settings, origins } = resolveSettings({ flags, env, file, tolerant: true });
  const { name, via } = settings.profile;
  const chosen = {
    flag: 'flag --profile',
    environment: 'environment ROSTERCTL_PROFILE',
    active: 'active profile',
    none: 'default',
  }[via];
  const { baseUrl, organization } =
    name === sandboxProfile ? sandboxOwn : findPlace(connectionOf(context), []);
  const place = { baseUrl, organization };
  return [
    { key: 'profile', value: name, origin: chosen },
    ...Object.entries(place).map(([key, found]) => ({
      key,
      value: found?.text ?? null,
      origin: found?.origin ?? 'default',
    })),
    ...origins,
  ].map((row) =>
    withFile && /^(profile |defaults$|active profile$)/.test(row.origin)
      ? { ...row, origin: `${row.origin} (${file.file})` }
      : row,
  );
}

/** Where `config set` and `unset` write: the profile in force, or the defaults of all. */
interface SettingPlace {
  /** Undefined for the defaults. */
  readonly profile: string | undefined;
  readonly settings: ReadonlyMap<string, string>;
  /** As `config list` names it. */
  readonly origin: string;
}

/** Throws UsageError for a profile that was named and is not stored. */
export function settingPlace(file: ConfigData, { profile }: Settings): SettingPlace {
  const { name, via } = profile;
  if (via === 'none') return { profile: undefined, settings: file.defaults, origin: 'defaults' };
  const settings =
    name === sandboxProfile
      ? (file.profiles.get(name)?.settings ?? new Map<string, string>())
      : requireProfile(file, profile).settings;
  return { profile: name, settings, origin: `profile ${name}` };
}
