/** `rosterctl config unset`: removes a stored setting. */
import * as z from 'zod/mini';
import { defineLocalWrite, param } from '../../cli/define.js';
import { linesOf } from '../../cli/views.js';
import { requireKey } from '../../config/keys.js';
import { withSetting } from '../../config/profiles.js';
import { settingPlace } from './shared.js';

export default defineLocalWrite({
  summary: 'Take a setting back',
  examples: [['Back to the table', 'output']],
  calls: [],
  args: { key: param(z.string(), 'the setting', { completes: 'configKey' }) },
  view: linesOf(
    z.object({ key: z.string(), value: z.null(), origin: z.string(), removed: z.boolean() }),
    ({ key, origin, removed }) => [
      `${key} ${removed ? 'is no longer' : 'was not'} set (${origin}).`,
    ],
  ),
  async plan({ config, settings }, { key }) {
    const place = settingPlace(config.config(), settings);
    const from = place.settings.get(key);
    // A key in the file can be removed even if this version does not know it.
    if (from === undefined) requireKey(key);
    return {
      calls: [],
      changes:
        from === undefined ? [] : [{ id: place.profile ?? null, field: key, from, to: null }],
      state: place,
    };
  },
  async apply({ config }, { state: place, changes }, { key }) {
    const removed = changes.length > 0;
    if (removed) await config.update((now) => withSetting(now, place.profile, key, undefined));
    return { key, value: null, origin: place.origin, removed };
  },
});
