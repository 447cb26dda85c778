/** `rosterctl profile rename`: renames a profile. */
import { defineLocalWrite, oneWord, param } from '../../cli/define.js';
import { sentencesView } from '../../cli/views.js';
import { type Stored, withoutLeftovers } from '../../config/config-file.js';
import { checkProfileName, requireProfile, withRenamed } from '../../config/profiles.js';
import { shellQuote } from '../../data/text.js';
import { UsageError } from '../../errors.js';

export default defineLocalWrite({
  summary: 'Rename a profile',
  examples: [['From default to main', 'default main']],
  args: {
    old: param(oneWord, 'the profile', { completes: 'profile' }),
    new: param(oneWord, 'its new name', { ifMissing: 'Which new name?' }),
  },
  view: sentencesView(({ name, was }: { name: string; was: string }) => [
    was === name
      ? `Profile ${name} already has this name.`
      : `Profile ${was} is now ${name}. Update scripts that use -p ${shellQuote(was)}.`,
  ]),
  async plan({ config }, names) {
    checkRename(withoutLeftovers({ config: config.config(), keys: config.keys() }), names);
    const change = { id: names.old, field: 'name', from: names.old, to: names.new };
    return { changes: names.old === names.new ? [] : [change], state: undefined };
  },
  async apply({ config }, _, names) {
    await config.update((now) => {
      checkRename(now, names);
      return withRenamed(now, names.old, names.new);
    });
    return { name: names.new, was: names.old };
  },
});

function checkRename({ config, keys }: Stored, names: { old: string; new: string }): void {
  checkProfileName(names.old);
  checkProfileName(names.new);
  requireProfile(config, { name: names.old });
  if (names.old !== names.new && (config.profiles.has(names.new) || keys.has(names.new)))
    throw new UsageError(`The profile ${names.new} already exists.`, {
      hint: `Remove it first: rosterctl profile remove ${shellQuote(names.new)}`,
    });
}
