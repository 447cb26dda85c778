/** `rosterctl profile show`: prints one profile. */
import { defineLocalCommand, optionalWord, param } from '../../cli/define.js';
import { linesView } from '../../cli/views.js';
import { sandboxProfile } from '../../config/choices.js';
import { chooseOne, demoOrganization, requireProfile } from '../../config/profiles.js';
import { activeProfileOf } from '../../config/store.js';
import { UsageError } from '../../errors.js';
import { singleLine } from '../../terminal/safe-text.js';
import type { ProfileRow } from './list.js';

interface Profile extends ProfileRow {
  readonly keyStored: boolean;
  readonly settings: Readonly<Record<string, string>>;
}

export default defineLocalCommand({
  summary: 'Show one profile',
  about: 'Without a name, shows the active profile. Never shows the key.',
  examples: [
    ['The active profile', ''],
    ['By name', 'work'],
  ],
  args: {
    name: param(optionalWord, 'the profile', { completes: 'profile' }),
  },
  view: linesView((profile: Profile) =>
    [
      `Profile       ${profile.name}${profile.active ? ' (active)' : ''}`,
      `Organization  ${profile.organization ?? 'not set'}`,
      `Base URL      ${profile.baseUrl ?? (isSandbox(profile) ? 'on this machine' : 'not set')}`,
      `Key           ${keyState(profile)}`,
      ...Object.entries(profile.settings).map(([key, value]) => `${key} = ${value}`),
    ].map(singleLine),
  ),
  run({ config, settings }, { name }) {
    const file = config.config();
    if (name === undefined && settings.profile.via === 'none')
      throw file.profiles.size > 0
        ? new UsageError('No profile is active.', { hint: chooseOne })
        : new UsageError('No profile is stored.', { hint: 'Store one: rosterctl auth login' });
    const target = name === undefined ? settings.profile : { name };
    const profile = isSandbox(target)
      ? file.profiles.get(sandboxProfile)
      : requireProfile(file, target);
    return {
      name: target.name,
      organization: profile?.organization ?? (isSandbox(target) ? demoOrganization : null),
      baseUrl: profile?.baseUrl ?? null,
      active: activeProfileOf(file) === target.name,
      keyStored: config.keys().has(target.name),
      settings: Object.fromEntries(profile?.settings ?? []),
    };
  },
});

function isSandbox({ name }: { readonly name: string | undefined }): boolean {
  return name === sandboxProfile;
}

function keyState(profile: Profile): string {
  if (isSandbox(profile)) return 'built in';
  return profile.keyStored ? 'stored' : 'not stored';
}
