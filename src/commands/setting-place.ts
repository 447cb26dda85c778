import type { ConfigData } from '../config/config-file.js';
import { sandboxProfile } from '../config/profile-name.js';
import { requireProfile } from '../config/profiles.js';
import type { Settings } from '../config/settings.js';

/** Where `config set` and `unset` write: the profile in force, or the defaults of all. */
export interface SettingPlace {
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
