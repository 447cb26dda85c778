/** Prompts: questions to the user on stderr, cancelled by Escape, Ctrl-C, Ctrl-D or a signal. */
import { upperFirst } from '../data/text.js';
import { UsageError } from '../errors.js';
import type { PromptContext, PromptWorld } from './prompt-screen.js';
import { singleLine } from './safe-text.js';
import type { ProcessStreams } from './streams.js';

/** The hint for when prompting is impossible, such as `Add: --yes`. */
interface PromptFallback {
  readonly hint?: string | undefined;
}

/** Questions to the user on stderr. Each throws UsageError if prompting is impossible. */
export interface Prompts {
  /** Why prompting is impossible, as a clause ("this is not a terminal"); undefined if it is possible. */
  readonly unavailable: string | undefined;
  /** Asks `[y/N]`, default No. Throws CancelledError on Ctrl-C or Escape. */
  confirm(question: string, options?: PromptFallback): Promise<boolean>;
  text(
    question: string,
    options?: PromptFallback & {
      default?: string;
      validate?: (value: string) => string | undefined;
    },
  ): Promise<string>;
  /** Asks for a key with masked input. */
  secret(question: string, options?: PromptFallback): Promise<string>;
  select<T extends string>(
    question: string,
    choices: readonly { value: T; label: string }[],
    options?: PromptFallback,
  ): Promise<T>;
}

/** Creates prompts on the process's terminal; `noInput` is also set in CI. */
export function createPrompts(
  streams: ProcessStreams,
  { noInput, ...world }: { readonly noInput: boolean } & PromptWorld,
): Prompts {
  // Evaluated only for a prompt, because opening both streams costs a millisecond at start-up.
  const nobody = (): string | undefined => {
    const { stdin, stderr } = streams;
    if (!stdin.isTerminal || !stderr.isTerminal) return 'this is not a terminal';
    if (noInput) return 'prompts are off (--no-input, ROSTERCTL_NO_INPUT or CI)';
    return stdin.wasRead ? 'stdin was already read' : undefined;
  };
  const ask = async <T>(
    question: string,
    { hint = 'Give it as a flag; see --help.' }: PromptFallback,
    prompt: (message: string, context: PromptContext) => Promise<T>,
  ): Promise<T> => {
    const message = singleLine(question);
    const why = nobody();
    if (why !== undefined) throw new UsageError(`${upperFirst(why)}: ${message}`, { hint });
    const { withTerminal } = await import('./prompt-screen.js');
    return withTerminal(streams, world, (context) => prompt(message, context));
  };
  const { withEditing } = world;
  return {
    get unavailable() {
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
        const config = {
          message,
          ...(preset !== undefined && { default: singleLine(preset) }),
          ...(validate && { validate: (value: string) => validationResult(validate(value)) }),
        };
        return withEditing(() => input(config, context));
      }),
    secret: (question, options = {}) =>
      ask(question, options, async (message, context) => {
        const { password } = await import('@inquirer/prompts');
        return withEditing(() => password({ message, mask: '*', toggleMask: false }, context));
      }),
    select: (question, choices, options = {}) =>
      ask(question, options, async (message, context) => {
        const { select } = await import('@inquirer/prompts');
        const labelled = choices.map(({ value, label }) => ({ value, name: singleLine(label) }));
        return withEditing(() => select({ message, choices: labelled }, context));
      }),
  };
}

function validationResult(problem: string | undefined): string | true {
  return problem === undefined ? true : singleLine(problem);
}
