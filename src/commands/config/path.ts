/** `rosterctl config path`: where the configuration is kept. */
import { defineLocalCommand } from '../../cli/define.js';
import { linesView } from '../../cli/views.js';

interface Places {
  readonly config: string;
  readonly credentials: string;
  readonly state: string | null;
  readonly cache: string | null;
}

export default defineLocalCommand({
  summary: 'Show where the configuration is stored',
  about: 'Prints the path of the configuration file; --json adds those of keys, state and cache.',
  examples: [['The file', '']],
  view: linesView<Places>(({ config }) => [config]),
  run({ config, paths }) {
    return {
      config: config.configFile,
      credentials: config.credentialsFile,
      state: paths.state?.path ?? null,
      cache: paths.cache?.path ?? null,
    };
  },
});
