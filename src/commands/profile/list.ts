/** `rosterctl profile list`: lists the stored profiles. */
import { defineLocalCommand } from '../../cli/define.js';
import { rowsView } from '../../cli/views.js';
import { sandboxProfile } from '../../config/choices.js';
import { demoOrganization } from '../../config/profiles.js';

export interface ProfileRow {
  readonly name: string;
  readonly organization: string | null;
  readonly baseUrl: string | null;
  readonly active: boolean;
}

export default defineLocalCommand({
  summary: 'List the stored profiles',
  about: 'The built-in profile sandbox is listed only while it is active.',
  examples: [['All of them', '']],
  view: rowsView<ProfileRow>(
    ['name', 'organization', 'baseUrl', 'active'],
    'No profile is stored. To store one: rosterctl auth login',
  ),
  run({ config }) {
    const stored = config
      .profiles()
      .filter(({ name }) => name !== sandboxProfile)
      .map((entry) => ({
        name: entry.name,
        organization: entry.organization ?? null,
        baseUrl: entry.baseUrl ?? null,
        active: entry.active,
      }));
    if (config.config().activeProfile !== sandboxProfile) return stored;
    return [
      ...stored,
      { name: sandboxProfile, organization: demoOrganization, baseUrl: null, active: true },
    ];
  },
});
