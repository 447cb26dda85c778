/** `rosterctl profile remove`: removes a profile with its settings and its key. */
import { defineLocalWrite, oneWord, param } from '../../cli/define.js';
import { sentencesView } from '../../cli/views.js';
import { checkProfileName, requireProfile, withoutProfile } from '../../config/profiles.js';
import { activeProfileOf } from '../../config/store.js';
import { ConflictError } from '../../data/outcome-errors.js';
import { shellQuote } from '../../data/text.js';

export default defineLocalWrite({
  summary: 'Remove a profile with its settings and its key',
  about:
    'Asks first; in a script, add --yes. The key itself stays valid until you revoke it in the dashboard.',
  examples: [
    ['See what would be removed', 'work -n'],
    ['From a script', 'work --yes'],
  ],
  args: { name: param(oneWord, 'the profile', { completes: 'profile' }) },
  view: sentencesView(({ name }: { name: string; removed: true }) => [
    `Profile ${name} is removed.`,
  ]),
  async plan({ config }, { name }) {
    checkProfileName(name);
    const profile = requireProfile(config.config(), { name });
    const change = { id: name, field: 'profile', from: name, to: null };
    const key = { id: name, field: 'key', from: 'stored', to: null };
    return {
      changes: config.keys().has(name) ? [change, key] : [change],
      state: { ...profile, key: config.keys().get(name)?.key },
    };
  },
  confirm({ state, changes }, { name }) {
    const place = [state.organization && `organization ${state.organization}`, state.baseUrl];
    const where = place.filter((part) => part !== undefined).join(', ');
    const key = changes.length > 1 ? ' and its key' : '';
    return `Remove profile ${name}${where ? ` (${where})` : ''}${key}?`;
  },
  async apply(context, { state }, { name }) {
    const wasActive = activeProfileOf(context.config.config()) === name;
    await context.config.update((now) => {
      const { organization, baseUrl } = requireProfile(now.config, { name });
      // Another login may have replaced the profile while the question waited.
      const isSame = organization === state.organization && baseUrl === state.baseUrl;
      if (!isSame || now.keys.get(name)?.key !== state.key) throw changedMeanwhile(name);
      return withoutProfile(now, name);
    });
    const remaining = context.config.profiles();
    const now = remaining.find(({ active }) => active);
    if (wasActive && now) context.note(`Profile ${now.name} is now active.`);
    else if (wasActive && remaining.length > 0)
      context.note('No profile is active now. Choose one: rosterctl profile use NAME');
    return { name, removed: true as const };
  },
});

function changedMeanwhile(name: string): ConflictError {
  return new ConflictError(`Profile ${name} was changed while this command asked. It stays.`, {
    hint: `Look at it: rosterctl profile show ${shellQuote(name)}`,
  });
}
