/** `rosterctl profile use`: makes a profile the active one. */
import { defineLocalWrite, oneWord, param } from '../../cli/define.js';
import { sentencesView } from '../../cli/views.js';
import { sandboxProfile } from '../../config/choices.js';
import { requireProfile, withActive } from '../../config/profiles.js';
import { activeProfileOf } from '../../config/store.js';

export default defineLocalWrite({
  summary: 'Make a profile the active one',
  about:
    'The active profile is used when a command names none. Name one with -p in scripts and cron, so that this does not change what they do.',
  examples: [
    ['A stored profile', 'work'],
    ['The built-in sandbox', 'sandbox'],
  ],
  args: { name: param(oneWord, 'the profile', { completes: 'profile' }) },
  view: sentencesView(({ name }: { name: string; active: true }) => [`Profile ${name} is active.`]),
  async plan({ config }, { name }) {
    const file = config.config();
    if (name !== sandboxProfile) requireProfile(file, { name });
    const previous = activeProfileOf(file);
    return {
      changes:
        previous === name
          ? []
          : [{ id: name, field: 'activeProfile', from: previous ?? null, to: name }],
      state: undefined,
    };
  },
  async apply(context, _, { name }) {
    const { config, env } = context;
    await config.update((now) => {
      if (name !== sandboxProfile) requireProfile(now.config, { name });
      return withActive(now, name);
    });
    if (env['ROSTERCTL_PROFILE'])
      context.note(
        `ROSTERCTL_PROFILE=${env['ROSTERCTL_PROFILE']} is set and overrides the active profile.`,
      );
    return { name, active: true as const };
  },
});
