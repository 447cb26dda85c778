/** Profiles: their names, and the changes to what is stored about them. */
import { didYouMean } from '../data/nearest.js';
import { UnknownNameError } from '../data/outcome-errors.js';
import { ConfigError, UsageError } from '../errors.js';
import { sandboxProfile } from './choices.js';
import type { ConfigData, Stored, StoredKey, StoredProfile } from './config-file.js';
import { noBase, setConfigFolder } from './paths.js';
import type { Settings } from './settings.js';
import { activeProfileOf } from './store.js';

/** The organization of the sandbox's demo data. */
export const demoOrganization = 'org_demo';

/** Returns a name if a profile may be stored under it. Throws UsageError. */
export function checkProfileName(name: string): string {
  if (name === sandboxProfile)
    throw new UsageError(
      'The profile sandbox is built in: it has no stored key, and cannot be changed.',
      {
        hint: 'It needs no login: rosterctl -p sandbox tryouts list\nTo delete its data: rosterctl sandbox reset',
      },
    );
  if (name === '' || name !== name.trim() || name.startsWith('-'))
    throw new UsageError(
      'A profile name cannot be empty, begin with a dash, or begin or end with a space.',
    );
  // Not as a literal, which V8 would read at each start.
  if (new RegExp('[\\p{Cc}\\p{Cf}\\p{Cs}\\p{Zl}\\p{Zp}]', 'u').test(name))
    throw new UsageError('A profile name cannot contain control characters.');
  if (name.length > 100) throw new UsageError('A profile name can have at most 100 characters.');
  return name;
}

/** The hint for when several profiles are stored and none is active. */
export const chooseOne = 'See: rosterctl profile list\nChoose one: rosterctl profile use NAME';

const noProfile: StoredProfile = {
  baseUrl: undefined,
  organization: undefined,
  settings: new Map(),
};

/**
 * Returns the stored profile of a name: a typo must not fall back to another organization. Throws
 * UsageError with the nearest name, or ConfigError if the name comes from the file, or if there is no file.
 */
export function requireProfile(
  file: ConfigData,
  { name, via }: Pick<Settings['profile'], 'name'> & { readonly via?: Settings['profile']['via'] },
): StoredProfile {
  const found = file.profiles.get(name);
  if (found) return found;
  if (file.file === undefined)
    throw new ConfigError(`The profile ${name} cannot be read, because ${noBase('config')}.`, {
      hint: setConfigFolder(),
    });
  const suggestion = didYouMean(name, [...file.profiles.keys(), sandboxProfile]);
  if (via === 'active')
    throw new ConfigError(`${file.file}: the active profile ${name} does not exist.${suggestion}`, {
      hint: 'Choose another: rosterctl profile use NAME',
    });
  throw new UnknownNameError(
    `Unknown profile ${name}.${suggestion}`,
    name,
    'See: rosterctl profile list\nStore one: rosterctl auth login --profile NAME',
  );
}

/** Adds a login. The profile keeps its settings, and becomes active if no other is. */
export function withLogin(
  { config, keys }: Stored,
  name: string,
  target: { readonly baseUrl: string; readonly organization: string },
  key: StoredKey,
): Stored {
  const settings = config.profiles.get(name)?.settings ?? new Map<string, string>();
  const active = activeProfileOf(config);
  // It may have been removed from the file by hand.
  const isGone = active !== sandboxProfile && config.profiles.size === 0;
  return {
    config: {
      ...config,
      activeProfile: active === undefined || isGone ? name : active,
      profiles: new Map(config.profiles).set(name, { ...target, settings }),
    },
    keys: new Map(keys).set(name, key),
  };
}

/** Removes the key of a profile; its base URL, organization and settings stay. */
export function withoutKey(stored: Stored, name: string): Stored {
  return { ...stored, keys: without(stored.keys, name) };
}

/** Changes the active profile. */
export function withActive({ config, keys }: Stored, name: string): Stored {
  return { config: { ...config, activeProfile: name }, keys };
}

/** Renames a profile, which keeps its position in the list and stays active if it was. */
export function withRenamed(stored: Stored, before: string, after: string): Stored {
  const { config, keys } = stored;
  const renamed = <V>(map: ReadonlyMap<string, V>) =>
    new Map([...map].map(([name, value]) => [name === before ? after : name, value] as const));
  const isActive = activeProfileOf(config) === before;
  return {
    config: {
      ...config,
      activeProfile: isActive ? after : config.activeProfile,
      profiles: renamed(config.profiles),
    },
    keys: renamed(keys),
  };
}

/** Removes a profile and its key. No other profile becomes active. */
export function withoutProfile({ config, keys }: Stored, name: string): Stored {
  return {
    config: {
      ...config,
      activeProfile: config.activeProfile === name ? undefined : config.activeProfile,
      profiles: without(config.profiles, name),
    },
    keys: without(keys, name),
  };
}

/**
 * Sets one setting of a profile (undefined: of the defaults); the value undefined unsets it. Throws
 * UsageError if the profile was removed meanwhile.
 */
export function withSetting(
  { config, keys }: Stored,
  profile: string | undefined,
  key: string,
  value: string | undefined,
): Stored {
  const change = (settings: ReadonlyMap<string, string>) =>
    value === undefined ? without(settings, key) : new Map(settings).set(key, value);
  if (profile === undefined)
    return { config: { ...config, defaults: change(config.defaults) }, keys };
  const before =
    profile === sandboxProfile
      ? (config.profiles.get(profile) ?? noProfile)
      : requireProfile(config, { name: profile });
  const settings = change(before.settings);
  // The sandbox is built in: without settings, nothing is stored for it.
  const profiles =
    profile === sandboxProfile && settings.size === 0
      ? without(config.profiles, profile)
      : new Map(config.profiles).set(profile, { ...before, settings });
  return { config: { ...config, profiles }, keys };
}

function without<V>(map: ReadonlyMap<string, V>, name: string): ReadonlyMap<string, V> {
  return new Map([...map].filter(([entry]) => entry !== name));
}
