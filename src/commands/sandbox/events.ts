/** `rosterctl sandbox events`: the events that the sandbox emitted. */
import * as z from 'zod/mini';
import { defineLocalCommand } from '../../cli/define.js';
import { rowsOf } from '../../cli/views.js';
import { sandboxEvents } from '../../sandbox/embedded.js';

const Event = z.object({ kind: z.string(), applicationId: z.string(), at: z.string() });

export default defineLocalCommand({
  summary: 'List the events that the sandbox emitted',
  about:
    'The events of contract section 6, oldest first: what the Flows of a real organization would have been told.',
  examples: [
    ['All so far', ''],
    ['Count them in a script', '--json'],
  ],
  calls: [],
  view: rowsOf(Event, ['kind', 'applicationId', 'at']),
  run: ({ paths }) => (paths.state ? [...sandboxEvents(paths.state.path)] : []),
});
