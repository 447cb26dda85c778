import { upperFirst } from '../data/text.js';
import { UsageError } from '../errors.js';
import { singleLine } from './safe-text.js';
import type { Asking, PromptWorld } from './prompt-screen.js';
import type { ProcessStreams } from './streams.js';

/** What to do when nobody can be asked, such as `Add: --yes`. */
interface NotAsked {
  readonly hint?: string | undefined;
}

/** Questions to a person; all go to stderr. Each throws UsageError when nobody can be asked. */
export interface Prompts {
  /** Why nobody can be asked, as in "would change, and there is nobody to ask"; undefined: somebody can. */
  readonly nobody: string | undefined;
  /** `[y/N]`, default No. Throws CancelledError on Ctrl-C or Escape; false is a No. */
  confirm(question: string, options?: NotAsked): Promise<boolean>;
  text(
    question: string,
    options?: NotAsked & {
      default?: string;
      validate?: (value: string) => string | undefined;
    },
  ): Promise<string>;
  /** Masked input for a key. */
  secret(question: string, options?: NotAsked): Promise<string>;
  select<T extends string>(
    question: string,
    choices: readonly { value: T; label: string }[],
    options?: NotAsked,
  ): Promise<T>;
}

/** Prompts on the process's terminal; `noInput` also says that this is CI. */
export function createPrompts(
  streams: ProcessStreams,
  { noInput, ...world }: { readonly noInput: boolean } & PromptWorld,
): Prompts {
  // Looked at when somebody is to be asked: opening both streams costs a start a millisecond.
  const nobody = (): string | undefined => {
    const { stdin, stderr } = streams;
    if (!stdin.isTerminal || !stderr.isTerminal) return 'there is nobody to ask';
    if (noInput) return 'nobody is to be asked (--no-input, ROSTERCTL_NO_INPUT or CI)';
    return stdin.wasRead ? 'stdin was read, so nobody can be asked' : undefined;
  };
  const ask = async <T>(
    question: string,
    { hint = 'Give it as a flag; see --help.' }: NotAsked,
    prompt: (message: string, context: Asking) => Promise<T>,
  ): Promise<T> => {
    const message = singleLine(question);
    const why = nobody();
    if (why !== undefined) throw new UsageError(`${upperFirst(why)}: ${message}`, { hint });
    const { withTerminal } = await import('./prompt-screen.js');
    return withTerminal(streams, world, (context) => prompt(message, context));
  };
  const { withEditing } = world;
  return {
    get nobody() {
      return nobody();
    },
    confirm: (question, options = {}) =>
      ask(question, options, async (message, context) => {
        const { confirm } = await import('@inquirer/prompts');
        return withEditing(() => confirm({ message, default: false }, context));
      }),
    text: (question, { validate, default: preset, ...options } = {}) =>
      ask(question, options, async (message, context) => {
        const { input } = await import('@inquirer/prompts');
        const asked = {
          message,
          ...(preset !== undefined && { default: singleLine(preset) }),
          ...(validate && { validate: (value: string) => complaint(validate(value)) }),
        };
        return withEditing(() => input(asked, context));
      }),
    secret: (question, options = {}) =>
      ask(question, options, async (message, context) => {
        const { password } = await import('@inquirer/prompts');
        return withEditing(() => password({ message, mask: '*', toggleMask: false }, context));
      }),
    select: (question, choices, options = {}) =>
      ask(question, options, async (message, context) => {
        const { select } = await import('@inquirer/prompts');
        const shown = choices.map(({ value, label }) => ({ value, name: singleLine(label) }));
        return withEditing(() => select({ message, choices: shown }, context));
      }),
  };
}

function complaint(problem: string | undefined): string | true {
  return problem === undefined ? true : singleLine(problem);
}
