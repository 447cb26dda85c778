/** `rosterctl config unset`: removes a stored setting. */
import { defineLocalWrite, oneWord, param } from '../../cli/define.js';
import { sentencesView } from '../../cli/views.js';
import { requireKey, settingKeys } from '../../config/keys.js';
import { withSetting } from '../../config/profiles.js';
import { settingPlace } from './shared.js';

interface Unset {
  readonly key: string;
  readonly value: null;
  readonly origin: string;
  readonly removed: boolean;
}

export default defineLocalWrite({
  summary: 'Remove a setting',
  examples: [['Back to tables', 'output']],
  args: { key: param(oneWord, 'the setting', { completes: 'configKey' }) },
  view: sentencesView(({ key, origin, removed }: Unset) => [
    `${key} ${removed ? 'is no longer' : 'was not'} set (${origin}).`,
  ]),
  async plan({ config, settings }, { key }) {
    const place = settingPlace(config.config(), settings);
    const from = place.settings.get(key);
    // A key in the file can be removed even if this version does not know it.
    if (from === undefined) requireKey(key);
    return {
      changes:
        from === undefined ? [] : [{ id: place.profile ?? null, field: key, from, to: null }],
      state: place,
    };
  },
  async apply(context, { state: place, changes }, { key }) {
    const { config } = context;
    const removed = changes.length > 0;
    if (removed) await config.update((now) => withSetting(now, place.profile, key, undefined));
    const isShared = place.profile && !settingKeys().get(key)?.profileOnly;
    const shared = isShared ? config.config().defaults.get(key) : undefined;
    if (shared !== undefined)
      context.note(
        `${key} is still ${shared} in the defaults of all profiles: ${config.configFile}`,
      );
    return { key, value: null, origin: place.origin, removed };
  },
});
