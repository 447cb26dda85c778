/** `rosterctl help`: a topic or the help page of a command. `command-line.ts` prints it as text; this is for a format that a flag asks for. */
import { anyWords, defineLocalCommand, params } from '../cli/define.js';
import { helpTopic } from '../cli/help-topic.js';
import { linesView } from '../cli/views.js';
import { fullWidth } from '../terminal/whole-words.js';

export default defineLocalCommand({
  summary: 'Explain a topic or a command',
  examples: [
    ['What each exit code means', 'exit-codes'],
    ['Everything about one command', 'tryouts list'],
  ],
  args: {
    topic: params(anyWords, 'a topic, or the words of a command', { completes: 'topic' }),
  },
  view: linesView(({ text }: { text: string }) => text.trimEnd().split('\n')),
  async run(context, { topic }) {
    return { text: await helpTopic(topic, context, { width: fullWidth, bold: (text) => text }) };
  },
});
