/** Prompts: questions to the user on stderr, cancelled by Escape, Ctrl-C, Ctrl-D or a signal. */
import { styleText } from 'node:util';
import { groupedNumber, upperFirst } from '../data/text.js';
import { UsageError } from '../errors.js';
import { type Choice, readYesNo } from './choices.js';
import type { PlainPrompts } from './prompt-plain.js';
import type { PromptContext, PromptWorld } from './prompt-screen.js';
import { singleLine } from './safe-text.js';
import type { ProcessStreams } from './streams.js';
import { dropTypedAhead } from './typed-ahead.js';

interface TextOptions {
  readonly default?: string;
  /** Returns what is wrong with an answer, which is then asked for again. */
  readonly validate?: (value: string) => string | undefined;
  /** Keys to type, such as `(y/N/l)`, and the word that stands for an answer once it was given. */
  readonly keys?: { readonly text: string; readonly answered: (typed: string) => string };
}

/** Questions to the user on stderr. Each throws UsageError if prompting is impossible. */
export type Prompts = Pick<TerminalPrompts, keyof TerminalPrompts>;

interface PromptOptions extends PromptWorld {
  readonly noInput: boolean;
  /** True for numbered lines and typed answers, without moving the cursor. */
  readonly plain: boolean;
}

/** The two ways to ask one question. */
interface Ways<T> {
  /** True if Enter alone takes an entry of a list, so that no key pressed before it is shown may answer. */
  readonly isList: boolean;
  readonly plain: (prompts: PlainPrompts, message: string) => Promise<T>;
  /** Loads the prompt; the function returned shows it. */
  readonly drawn: (message: string) => Promise<(context: PromptContext) => Promise<T>>;
}

const yesNo: TextOptions = {
  keys: { text: '(y/N)', answered: (typed) => (readYesNo(typed.trim()) ? 'Yes' : 'No') },
  validate: (typed) => (readYesNo(typed.trim()) === undefined ? 'Answer y or n.' : undefined),
};

/** Prompts on the process's terminal; `noInput` is also set in CI. */
export class TerminalPrompts {
  constructor(
    private readonly streams: ProcessStreams,
    private readonly options: PromptOptions,
  ) {}

  /**
   * Why prompting is impossible, as a clause ("this is not a terminal"); undefined if it is possible.
   * Evaluated only for a prompt, because opening both streams costs a millisecond at start-up.
   */
  get unavailable(): string | undefined {
    const { stdin, stderr } = this.streams;
    if (!stderr.isTerminal) return 'this is not a terminal';
    // A person who pipes ids into a command does sit at a terminal.
    if (!stdin.isTerminal) return 'stdin is not a terminal';
    if (this.options.noInput) return 'prompts are off (--no-input, ROSTERCTL_NO_INPUT or CI)';
    return stdin.wasRead ? 'stdin was already read' : undefined;
  }

  private async ask<T>(question: string, ways: Ways<T>): Promise<T> {
    const { streams, options, unavailable } = this;
    const message = singleLine(question);
    if (unavailable !== undefined)
      throw new UsageError(`${upperFirst(unavailable)}: ${message}`, {
        hint: 'Give it as a flag; see --help.',
      });
    if (options.plain) {
      const plain = await import('./prompt-plain.js');
      if (ways.isList) await dropTypedAhead(streams.terminal.input, options.signal);
      return ways.plain(new plain.PlainPrompts(streams, options), message);
    }
    const { withTerminal } = await import('./prompt-screen.js');
    const show = await ways.drawn(await wrappedFor(streams, message));
    return withTerminal(streams, options, async (context) => {
      if (ways.isList) await dropTypedAhead(streams.terminal.input, context.signal);
      return show(context);
    });
  }

  // Each name is taken from an import of its own, so that the bundle leaves the rest out.

  /** Asks `(y/N)`, default No. Throws CancelledError on Ctrl-C or Escape. */
  async confirm(question: string): Promise<boolean> {
    return readYesNo((await this.text(question, yesNo)).trim()) === true;
  }

  text(question: string, { validate, default: preset, keys }: TextOptions = {}): Promise<string> {
    const { streams } = this;
    return this.ask(question, {
      isList: false,
      plain: (prompts, message) =>
        prompts.text(keys ? `${message} ${keys.text}` : message, preset, validate),
      async drawn(message) {
        const { input } = await import('@inquirer/prompts');
        const config = {
          message,
          ...(keys && answeredAs(keys)),
          ...(preset !== undefined && { default: singleLine(preset) }),
          ...(validate && {
            validate: async (value: string) => {
              const problem = validate(value);
              return problem === undefined || wrappedFor(streams, singleLine(problem));
            },
          }),
        };
        return (context) => input(config, context);
      },
    });
  }

  /** Asks for a key with masked input. */
  secret(question: string): Promise<string> {
    return this.ask(question, {
      isList: false,
      plain: (prompts, message) => prompts.secret(message),
      async drawn(message) {
        const { password } = await import('@inquirer/prompts');
        return (context) => password({ message, mask: '*', toggleMask: false }, context);
      },
    });
  }

  select<T extends string>(question: string, choices: readonly Choice<T>[]): Promise<T> {
    return this.ask(question, {
      isList: true,
      plain: (prompts, message) => prompts.select(message, choices),
      async drawn(message) {
        const { select } = await import('@inquirer/prompts');
        const labelled = choices.map(({ value, label }) => ({ value, name: singleLine(label) }));
        const theme = { style: { keysHelpTip: () => 'arrow keys, Enter, Esc' } };
        return (context) => select({ message, choices: labelled, loop: false, theme }, context);
      },
    });
  }

  /** Asks for one of many choices, which typing narrows down; `term`: what is searched for at first. */
  search(question: string, choices: readonly Choice[], term?: string): Promise<string> {
    const { streams } = this;
    return this.ask(question, {
      isList: true,
      plain: (prompts, message) => prompts.search(message, choices, term),
      async drawn(message) {
        const { search } = await import('@inquirer/prompts');
        const { matchChoices } = await import('./choices.js');
        const { wrapWholeWords } = await import('./whole-words.js');
        const fit = await fitted(streams, '> ');
        let found = choices;
        const help = () => `${countOf(found, choices, streams)}: type to search, Enter, Esc`;
        const style = {
          keysHelpTip: () => wrapWholeWords(help(), streams.stderr.columns - 1).join('\n'),
          // The only error of a list that was read before.
          error: () => styleText('red', '> Nothing matches.'),
        };
        const source = (typed: string | undefined) => {
          found = matchChoices(choices, typed);
          return found.map(fit);
        };
        const initial = term === undefined ? {} : { initialValue: singleLine(term) };
        const config = {
          message,
          pageSize: pageSize(streams),
          source,
          theme: { style },
          ...initial,
        };
        return (context) => search(config, context);
      },
    });
  }

  /** Asks for one or several of many choices, which typing narrows down, to be marked. */
  mark(question: string, choices: readonly Choice[]): Promise<readonly string[]> {
    const { streams } = this;
    return this.ask(question, {
      isList: true,
      plain: (prompts, message) => prompts.mark(message, choices),
      async drawn(message) {
        const { markPrompt } = await import('./prompt-mark.js');
        const { wrapWholeWords } = await import('./whole-words.js');
        const help = (found: readonly Choice[]) => {
          const keys = 'type to search, Space marks, Ctrl-A all, Enter, Esc';
          const line = `${countOf(found, choices, streams)}: ${keys}`;
          return wrapWholeWords(line, streams.stderr.columns - 1).join('\n');
        };
        const fit = await fitted(streams, '> o ');
        const config = { message, choices, pageSize: pageSize(streams), fit, help };
        return (context) => markPrompt(config, context);
      },
    });
  }
}

/** Shows the keys while a question is open, as a confirmation does, and a word once it is answered. */
function answeredAs({ text, answered }: NonNullable<TextOptions['keys']>) {
  const message = (question: string, status: string) =>
    styleText('bold', question) + (status === 'done' ? '' : ` ${styleText('dim', text)}`);
  return {
    // A wrong key is not to be erased first.
    theme: { style: { message }, validationFailureMode: 'clear' as const },
    transformer: (typed: string, { isFinal }: { isFinal: boolean }) =>
      isFinal ? styleText('cyan', answered(typed)) : typed,
  };
}

/** How many choices there are and match, and how many of these are not on the screen. */
function countOf(
  found: readonly Choice[],
  all: readonly Choice[],
  streams: ProcessStreams,
): string {
  const more = found.length - pageSize(streams);
  const isAll = found.length === all.length;
  const count = isAll
    ? `${groupedNumber(all.length)} in all`
    : `${groupedNumber(found.length)} of ${groupedNumber(all.length)} match`;
  return more > 0 ? `${count}, ${groupedNumber(more)} more` : count;
}

/** How many lines of choices fit on the screen, next to the question and the help below it. */
function pageSize({ stderr }: ProcessStreams): number {
  return Math.max(3, Math.min(15, stderr.rows - 5));
}

/** Returns what cuts a label to the width that is left beside the marks of a list. */
async function fitted(streams: ProcessStreams, marks: string) {
  const { truncate } = await import('./width.js');
  return ({ value, label, chosen = value }: Choice) => {
    const room = Math.max(1, streams.stderr.columns - marks.length - 1);
    const name = truncate(singleLine(label), room);
    return { value, name, short: truncate(singleLine(chosen), room) };
  };
}

/** The columns beside a question: its mark, and ` (y/N)` with an answer. */
const promptMargin = 14;

/** Wraps a question or a complaint, which the prompts would break inside a word. */
async function wrappedFor({ stderr }: ProcessStreams, message: string): Promise<string> {
  const { wrapWholeWords } = await import('./whole-words.js');
  const room = Math.max(20, stderr.columns - promptMargin);
  return wrapWholeWords(message, room).join('\n  ');
}
