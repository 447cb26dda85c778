/** `rosterctl config set`: stores a setting. */
import { defineLocalWrite, oneWord, param } from '../../cli/define.js';
import { fieldByLabel } from '../../cli/lists/labels.js';
import { documentedFields, isDocumented } from '../../cli/record-fields.js';
import { sentencesView } from '../../cli/views.js';
import { replacementNote } from '../../config/choices.js';
import { readFlag } from '../../config/decide.js';
import { overrideRows, requireKey, settingKeys } from '../../config/keys.js';
import { namedKeys, type SettingKey } from '../../config/named-keys.js';
import { withSetting } from '../../config/profiles.js';
import type { LocalContext } from '../../context.js';
import { nearest } from '../../data/nearest.js';
import { resourceNames } from '../../data/resources.js';
import { UsageError } from '../../errors.js';
import { settingPlace } from './shared.js';

const overrideGroups = [...new Set(overrideRows().map(([name]) => name.replace(/\..*$/, '.*')))];

export default defineLocalWrite({
  summary: 'Change a setting of the profile in use, or of all profiles',
  about:
    `Settings: ${Object.keys(namedKeys).join(', ')}. To say how an undocumented service works: ` +
    `${overrideGroups.join(', ')}; see rosterctl help undocumented.`,
  examples: [
    ['JSON by default', 'output json'],
    ['Use another route', 'endpoints.players.update "PUT /players/{id}"'],
  ],
  args: {
    key: param(oneWord, 'the setting, as config list shows it', { completes: 'configKey' }),
    value: param(oneWord, 'its value', { completes: 'configValue' }),
  },
  view: sentencesView(({ key, value, origin }: { key: string; value: string; origin: string }) => [
    `${key} = ${value} (${origin})`,
  ]),
  async plan({ config, settings }, { key, value }) {
    const setting = requireKey(key);
    const place = settingPlace(config.config(), settings);
    if (setting.profileOnly && place.profile === undefined)
      throw new UsageError(`${key} belongs to one profile, and there is none.`, {
        hint: 'Store one first: rosterctl auth login',
      });
    const to = normalValue(setting, value);
    const from = place.settings.get(key) ?? null;
    return {
      changes: from === to ? [] : [{ id: place.profile ?? null, field: key, from, to }],
      state: { to, place },
    };
  },
  async apply(context, { state: { to, place } }, { key }) {
    await context.config.update((now) => withSetting(now, place.profile, key, to));
    noteOverridingSources(context, requireKey(key));
    noteUnknownColumns(context, key, to);
    noteReplacement(context, key, to);
    return { key, value: to, origin: place.origin };
  },
});

/** The value to store: a route in the contract's spelling, everything else as typed. */
function normalValue(setting: SettingKey, text: string): string {
  const value = readFlag(setting.name, text, setting.parse);
  return typeof value === 'string' ? value : text;
}

/** Notes a column that resembles a documented field. This is not an error, because undocumented fields may be columns. */
function noteUnknownColumns(context: LocalContext, key: string, value: string): void {
  const resource = resourceNames.find((name) => key === `columns.${name}`);
  if (resource === undefined) return;
  const known = documentedFields(resource);
  for (const typed of value.split(',')) {
    const name = typed.trim();
    if (isDocumented(resource, name) || fieldByLabel(name, known) !== undefined) continue;
    const near = nearest(name, known);
    if (near) context.note(`No documented field is called ${name}; did you mean ${near}?`);
  }
}

function noteReplacement(context: LocalContext, key: string, value: string): void {
  const semantics = `${key}.semantics`;
  const isOpen = settingKeys().has(semantics) && !context.settings.overrides[semantics];
  if (isOpen && value.startsWith('PUT ')) context.note(replacementNote(key));
}

function noteOverridingSources(context: LocalContext, key: SettingKey): void {
  const { env, config, settings } = context;
  if (key.env && env[key.env])
    context.note(`${key.env} is set in the environment and overrides it.`);
  if (key.name === 'key.command' && config.keys().has(settings.profile.name))
    context.note('The stored key is used until it is removed: rosterctl auth logout');
}
