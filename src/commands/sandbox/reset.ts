/** `rosterctl sandbox reset`: restores the demo data. */
import * as z from 'zod/mini';
import { defineLocalWrite } from '../../cli/define.js';
import { linesOf } from '../../cli/views.js';
import { resetSandbox } from '../../sandbox/embedded.js';
import { sandboxPlace } from './place.js';

export default defineLocalWrite({
  summary: 'Bring the sandbox back to its demo data',
  examples: [['Begin anew', '']],
  calls: [],
  view: linesOf(z.object({ reset: z.literal(true) }), () => [
    'The sandbox holds its demo data again.',
  ]),
  plan: async () => ({
    calls: [],
    changes: [{ id: null, field: 'sandbox data', from: 'as it stands', to: 'demo data' }],
    state: undefined,
  }),
  async apply(context) {
    await resetSandbox(sandboxPlace(context));
    return { reset: true as const };
  },
});
