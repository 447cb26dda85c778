/** `rosterctl sandbox events`: the events that the sandbox emitted. */
import { defineLocalCommand } from '../../cli/define.js';
import { rowsView } from '../../cli/views.js';
import { sandboxEvents } from '../../sandbox/embedded.js';

export default defineLocalCommand({
  summary: 'List the events that the sandbox emitted',
  about:
    'Oldest first, since the last reset: the events that the Flows (automations) of a real organization react to.',
  examples: [
    ['All of them', ''],
    ['Count them in a script', '--json'],
  ],
  view: rowsView(['kind', 'applicationId', 'at'], 'No events since the last reset.'),
  run: ({ paths }) => (paths.state ? [...sandboxEvents(paths.state.path)] : []),
});
