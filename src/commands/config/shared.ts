/** Shared by the `config` commands: the origin of each setting, and where a change is stored. */
import { sandboxProfile } from '../../config/choices.js';
import type { ConfigData } from '../../config/config-file.js';
import { connectionSources, findTarget } from '../../config/connection.js';
import type { SettingOrigin } from '../../config/decide.js';
import { demoOrganization, requireProfile } from '../../config/profiles.js';
import { resolveSettings, type Settings } from '../../config/settings.js';
import type { LocalContext } from '../../context.js';

/** The sandbox's connection. It listens on any free port; `auth status` shows it. */
const sandboxConnection = {
  baseUrl: { text: null, origin: 'built in' },
  organization: { text: demoOrganization, origin: 'built in' },
};

/**
 * Returns the settings with their origins, profile and connection first: all but overrides that nothing
 * sets. An invalid value in the file is replaced by its default, so that `config` can be used to fix it.
 */
export function originsOf(
  context: LocalContext,
  { withFile }: { readonly withFile: boolean },
): readonly SettingOrigin[] {
  const { env } = context;
  // The output flags of this command are not settings in force.
  const { output: _output, json: _json, out: _out, ...flags } = context.flags;
  const file = context.config.config();
  const { settings, origins } = resolveSettings({ flags, env, file, tolerant: true });
  const { name, via } = settings.profile;
  const profileOrigin = {
    flag: 'flag --profile',
    environment: 'environment ROSTERCTL_PROFILE',
    active: 'active profile',
    none: 'default',
  }[via];
  const { baseUrl, organization } =
    name === sandboxProfile ? sandboxConnection : findTarget(connectionSources(context), []);
  const connection = { baseUrl, organization };
  return [
    { key: 'profile', value: name, origin: profileOrigin },
    ...Object.entries(connection).map(([key, setting]) => ({
      key,
      value: setting?.text ?? null,
      origin: setting?.origin ?? 'default',
    })),
    ...origins,
  ].map((row) =>
    withFile && /^(profile |defaults$|active profile$)/.test(row.origin)
      ? { ...row, origin: `${row.origin} (${file.file})` }
      : row,
  );
}

/** Returns where a setting is stored: in the profile in force, or the defaults. Throws UsageError for a profile that was named but is not stored. */
export function settingPlace(file: ConfigData, { profile }: Settings) {
  const { name, via } = profile;
  if (via === 'none') return { profile: undefined, settings: file.defaults, origin: 'defaults' };
  const settings =
    name === sandboxProfile
      ? (file.profiles.get(name)?.settings ?? new Map<string, string>())
      : requireProfile(file, profile).settings;
  return { profile: name, settings, origin: `profile ${name}` };
}
