/** `completion`: prints a shell's completion script, or installs and removes it. */
import { ValueWithExit } from '../cli/command-output.js';
import type { FileChange } from '../cli/completion/install.js';
import { completionScripts, type Shell, shells } from '../cli/completion/scripts.js';
import { defineLocalWrite, flag, oneOfWords, type PlannedChange, param } from '../cli/define.js';
import { asksForOutput } from '../cli/global-flags.js';
import { linesView } from '../cli/views.js';
import type { LocalContext } from '../context.js';

interface Script {
  readonly shell: Shell;
  readonly script: string;
}

interface FileResults {
  readonly shell: Shell;
  readonly files: readonly { readonly path: string; readonly done: ReturnType<typeof doneTo> }[];
}

type CompletionResult = Script | FileResults;

export default defineLocalWrite({
  summary: 'Set up TAB completion for bash, zsh, fish or PowerShell',
  about:
    'Prints the script, or installs it where the shell finds it; open a new shell afterwards. TAB completes from the commands and from a private cache that your lists fill (config set completion.cache off turns it off). It never asks the service.',
  examples: [
    ['Print the script', 'bash'],
    ['Install it for this user', 'zsh --install'],
    ['See what that would write', 'fish --install -n'],
    ['Remove it again', 'bash --uninstall'],
  ],
  args: { shell: param(oneOfWords(shells), 'bash, zsh, fish or powershell') },
  flags: {
    install: flag('put the script where the shell finds it'),
    uninstall: flag('remove what --install wrote, and nothing else'),
  },
  excludes: [['install', 'uninstall']],
  view: { ...linesView(linesFor), isSentence: (answer) => 'files' in answer },
  async plan(context, { shell, install, uninstall }) {
    if (!install && !uninstall) return { changes: [], onlyReads: true, state: undefined };
    const { installation } = await import('../cli/completion/install.js');
    const files = installation(shell, install ? completionScripts[shell].text : undefined, context);
    return { changes: files.filter(({ from, to }) => from !== to).map(changeOf), state: files };
  },
  async apply(
    { settings, flags }: LocalContext,
    { state },
    { shell },
  ): Promise<CompletionResult | ValueWithExit<CompletionResult>> {
    if (!state) {
      const script = completionScripts[shell].text;
      // A shell reads it at its start, so a format that is only stored leaves it a script.
      if (settings.output !== 'table' && !asksForOutput(flags))
        return new ValueWithExit(Buffer.from(script) as never, 'done');
      return { shell, script };
    }
    const { writeChanges } = await import('../cli/completion/install.js');
    await writeChanges(state);
    return { shell, files: state.map((file) => ({ path: file.path, done: doneTo(file) })) };
  },
});

function linesFor(answer: CompletionResult): string[] {
  if ('script' in answer) return answer.script.replace(/\n$/, '').split('\n');
  const sentences = answer.files.map(({ path, done }) => `${done.padEnd(9)}  ${path}`);
  const changed = answer.files.some(({ done }) => done === 'written' || done === 'removed');
  if (!changed) return sentences;
  const shell = answer.shell === 'powershell' ? 'PowerShell' : answer.shell;
  return [...sentences, `Start a new ${shell} to use it.`];
}

function changeOf({ path, what, from, to }: FileChange): PlannedChange {
  const thing = what === 'script' ? 'the script' : 'the lines that load it';
  const old = what === 'script' ? 'another version' : 'the file without them';
  return to === undefined || (what === 'lines' && from !== undefined && to.length < from.length)
    ? { id: path, field: path, from: thing, to: null }
    : { id: path, field: path, from: from === undefined ? null : old, to: thing };
}

function doneTo({ from, to }: FileChange): 'written' | 'removed' | 'unchanged' | 'absent' {
  if (from === to) return to === undefined ? 'absent' : 'unchanged';
  return to === undefined ? 'removed' : 'written';
}
