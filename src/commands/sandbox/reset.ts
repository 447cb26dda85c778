/** `rosterctl sandbox reset`: restores the demo data. */
import { defineLocalWrite } from '../../cli/define.js';
import { sentencesView } from '../../cli/views.js';
import { sandboxProfile } from '../../config/choices.js';
import { removeCache } from '../../config/remove-cache.js';
import { resetSandbox, sandboxOptions } from '../../sandbox/embedded.js';

export default defineLocalWrite({
  summary: 'Reset the sandbox to its demo data',
  examples: [['Start over', '']],
  view: sentencesView<{ reset: true }>(() => ['The sandbox is back to its demo data.']),
  plan: async () => ({
    changes: [{ id: null, field: 'sandbox data', from: 'your changes', to: 'demo data' }],
    state: undefined,
  }),
  async apply(context) {
    await resetSandbox(sandboxOptions(context));
    removeCache(context, sandboxProfile, sandboxProfile);
    return { reset: true as const };
  },
});
