/** `rosterctl config path`: where the configuration is kept. */
import * as z from 'zod/mini';
import { defineLocalCommand } from '../../cli/define.js';
import { linesOf } from '../../cli/views.js';

export default defineLocalCommand({
  summary: 'Show where the configuration is kept',
  about: 'Prints the path of the configuration file alone; --json adds keys, state and cache.',
  examples: [['The file', '']],
  calls: [],
  view: linesOf(
    z.object({
      config: z.string(),
      credentials: z.string(),
      state: z.nullable(z.string()),
      cache: z.nullable(z.string()),
    }),
    ({ config }) => [config],
  ),
  run({ config, paths }) {
    return {
      config: config.configFile,
      credentials: config.credentialsFile,
      state: paths.state?.path ?? null,
      cache: paths.cache?.path ?? null,
    };
  },
});
