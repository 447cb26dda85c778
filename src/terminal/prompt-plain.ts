/** Plain prompts: numbered lines and typed answers, for screen readers and terminals that cannot move the cursor. */
import { groupedNumber } from '../data/text.js';
import { CancelledError, nothingDone } from '../errors.js';
import { type Choice, matchChoices } from './choices.js';
import type { PromptWorld } from './prompt-screen.js';
import { singleLine } from './safe-text.js';
import type { ProcessStreams, TerminalInput } from './streams.js';
import { truncate } from './width.js';

/** More choices are not listed; the user narrows them down. */
const mostChoices = 20;

/** How an answer picks from a list of choices. */
interface Picking<R> {
  readonly question: string;
  /** The text that the list is narrowed down to at first. */
  readonly term?: string | undefined;
  readonly picked: (answer: string, listed: readonly Choice[]) => R | undefined;
}

/**
 * The questions of `Prompts`, as lines written to stderr and read from the terminal; each throws
 * CancelledError on Escape, Ctrl-C, Ctrl-D or a signal.
 */
export class PlainPrompts {
  constructor(
    private readonly streams: ProcessStreams,
    private readonly world: Pick<PromptWorld, 'signal' | 'onAsk' | 'onSuspend'>,
  ) {}

  async text(
    message: string,
    preset: string | undefined,
    validate: ((value: string) => string | undefined) | undefined,
  ): Promise<string> {
    const suffix = preset === undefined ? '' : ` [${preset}]`;
    for (;;) {
      const answer = (await this.ask(`${message}${suffix} `)) || (preset ?? '');
      const problem = validate?.(answer);
      if (problem === undefined) return answer;
      await this.print(problem);
    }
  }

  secret(message: string): Promise<string> {
    // Emacs shows what is typed in its shell, unless the question ends as one for a password does.
    return this.ask(`Enter ${message}, hidden like a password:`, true);
  }

  async select<T extends string>(message: string, choices: readonly Choice<T>[]): Promise<T> {
    return (await this.search(message, choices)) as T;
  }

  search(message: string, choices: readonly Choice[], term?: string): Promise<string> {
    const question = 'Type a number or a word: ';
    return this.pick(message, choices, { question, term, picked: numberedOne });
  }

  mark(message: string, choices: readonly Choice[]): Promise<readonly string[]> {
    const question = 'Type numbers separated by commas, or part of a name: ';
    return this.pick(message, choices, { question, picked: numberedOnes });
  }

  /** Asks until an answer picks from the list by number; any other answer narrows the list down. */
  private async pick<R>(
    message: string,
    choices: readonly Choice[],
    { question, term, picked }: Picking<R>,
  ): Promise<R> {
    let found = matchChoices(choices, term);
    for (;;) {
      await this.print(message);
      await this.printList(found);
      const answer = await this.ask(question);
      const result = picked(answer, found.slice(0, mostChoices));
      if (result !== undefined) return result;
      const next = matchChoices(choices, answer);
      if (next.length > 0) found = next;
      else await this.print(`Nothing matches "${answer}".`);
    }
  }

  private async printList(choices: readonly Choice[]): Promise<void> {
    const listed = choices.slice(0, mostChoices);
    const digits = String(listed.length).length;
    for (const [index, { label }] of listed.entries()) {
      const number = String(index + 1).padStart(digits);
      await this.print(truncate(`  ${number}  ${label}`, this.streams.stderr.columns - 1));
    }
    const more = choices.length - mostChoices;
    if (more > 0) await this.print(`  and ${groupedNumber(more)} more`);
  }

  private print(line: string): Promise<void> {
    return this.streams.stderr.write(`${singleLine(line)}\n`);
  }

  private ask(question: string, hidden = false): Promise<string> {
    return readAnswer(this.streams, this.world, question, hidden);
  }
}

function numberedOne(answer: string, listed: readonly Choice[]): string | undefined {
  return /^\d{1,2}$/.test(answer) ? listed[Number(answer) - 1]?.value : undefined;
}

/** Returns the values of the choices with these numbers, if the answer holds nothing else. */
function numberedOnes(answer: string, listed: readonly Choice[]): readonly string[] | undefined {
  const values = answer.split(/[\s,]+/).map((word) => listed[Number(word) - 1]?.value);
  const known = values.filter((value) => value !== undefined);
  return known.length > 0 && known.length === values.length ? [...new Set(known)] : undefined;
}

const interrupt = '\u0003';
const endOfInput = '\u0004';
const escape = '\u001b';

/** Asks on the current line and reads one line; `hidden` reads keys one by one and shows none. */
async function readAnswer(
  streams: ProcessStreams,
  { signal, onAsk, onSuspend }: Pick<PromptWorld, 'signal' | 'onAsk' | 'onSuspend'>,
  question: string,
  hidden: boolean,
): Promise<string> {
  if (signal.aborted) throw new CancelledError(nothingDone);
  onAsk?.();
  const { input } = streams.terminal;
  // A trailing space separates the answer; sanitizing trims none of it.
  const print = () => streams.stderr.write(`${singleLine(question.trimEnd())} `);
  // Before the question: what is typed at once would be shown otherwise.
  input.setRawMode?.(hidden);
  const offSuspend = onSuspend(() => () => {
    input.setRawMode?.(false);
    input.setRawMode?.(hidden);
    void print();
  });
  try {
    await print();
    const line = await nextLine(input, signal);
    if (hidden) await streams.stderr.write('\n');
    return line.trim();
  } catch (error) {
    await streams.stderr.write('\n');
    throw error;
  } finally {
    offSuspend();
    input.setRawMode?.(false);
    input.pause();
  }
}

function nextLine(input: TerminalInput, signal: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    let typed: Buffer = Buffer.alloc(0);
    const end = () => {
      input.off('data', onData);
      input.off('end', cancel);
      signal.removeEventListener('abort', cancel);
    };
    const cancel = () => {
      end();
      reject(new CancelledError(nothingDone));
    };
    const onData = (chunk: Uint8Array | string) => {
      typed = Buffer.concat([typed, Buffer.from(chunk as string)]);
      const text = typed.toString('utf8');
      const at = text.search(/[\r\n]/);
      const line = at < 0 ? text : text.slice(0, at);
      if ([interrupt, endOfInput, escape].some((key) => line.includes(key))) return cancel();
      if (at < 0) return undefined;
      end();
      return resolve(withErased(line));
    };
    input.on('data', onData);
    input.once('end', cancel);
    signal.addEventListener('abort', cancel, { once: true });
    input.resume();
  });
}

/** Applies Backspace where the terminal did not: while keys are hidden, and for the code it is not set to. */
function withErased(line: string): string {
  const kept: string[] = [];
  for (const key of line)
    if (key === '\u007f' || key === '\b') kept.pop();
    else kept.push(key);
  return kept.join('');
}
