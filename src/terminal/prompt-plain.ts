/** Plain prompts: numbered lines and typed answers, for screen readers and terminals that cannot move the cursor. */
import { groupedNumber } from '../data/text.js';
import { CancelledError, nothingDone } from '../errors.js';
import { type Choice, matchChoices } from './choices.js';
import type { PromptWorld } from './prompt-screen.js';
import { singleLine } from './safe-text.js';
import type { ProcessStreams, TerminalInput } from './streams.js';
import { truncate } from './width.js';

/** The questions of `Prompts`; each throws CancelledError on Escape, Ctrl-C, Ctrl-D or a signal. */
export type PlainPrompts = ReturnType<typeof plainPrompts>;

/** More choices are not listed; the user narrows them down. */
const mostChoices = 20;

/** Creates plain prompts, which write lines to stderr and read lines from the terminal. */
export function plainPrompts(
  streams: ProcessStreams,
  world: Pick<PromptWorld, 'signal' | 'onAsk'>,
) {
  const print = (line: string) => streams.stderr.write(`${singleLine(line)}\n`);
  const ask = (question: string, hidden = false) => readAnswer(streams, world, question, hidden);
  const printList = async (choices: readonly Choice[]) => {
    const listed = choices.slice(0, mostChoices);
    const digits = String(listed.length).length;
    // oxlint-disable-next-line no-await-in-loop
    for (const [index, { label }] of listed.entries()) {
      const number = String(index + 1).padStart(digits);
      await print(truncate(`  ${number}  ${label}`, streams.stderr.columns - 1));
    }
    const more = choices.length - mostChoices;
    if (more > 0) await print(`  and ${groupedNumber(more)} more`);
  };
  /** Asks until an answer picks from the list by number; any other answer narrows the list down. */
  const pick = async <R>(
    message: string,
    choices: readonly Choice[],
    how: {
      readonly question: string;
      readonly term?: string | undefined;
      readonly picked: (answer: string, listed: readonly Choice[]) => R | undefined;
    },
  ): Promise<R> => {
    let found = matchChoices(choices, how.term);
    for (;;) {
      // oxlint-disable no-await-in-loop
      await print(message);
      await printList(found);
      const answer = await ask(how.question);
      const picked = how.picked(answer, found.slice(0, mostChoices));
      if (picked !== undefined) return picked;
      const next = matchChoices(choices, answer);
      if (next.length > 0) found = next;
      else await print(`Nothing matches "${answer}".`);
      // oxlint-enable no-await-in-loop
    }
  };
  const pickOne = (message: string, choices: readonly Choice[], term?: string) =>
    pick(message, choices, { question: 'Type a number or a word: ', term, picked: numberedOne });
  return {
    async confirm(message: string): Promise<boolean> {
      return /^y(es)?$/i.test(await ask(`${message} (y/N) `));
    },
    async text(
      message: string,
      preset: string | undefined,
      validate: ((value: string) => string | undefined) | undefined,
    ): Promise<string> {
      const suffix = preset === undefined ? '' : ` [${preset}]`;
      for (;;) {
        // oxlint-disable no-await-in-loop
        const typed = await ask(`${message}${suffix} `);
        const answer = typed === '' && preset !== undefined ? preset : typed;
        const problem = validate?.(answer);
        if (problem === undefined) return answer;
        await print(problem);
        // oxlint-enable no-await-in-loop
      }
    },
    secret: (message: string) => ask(`${message} (not shown) `, true),
    select: async <T extends string>(message: string, choices: readonly Choice<T>[]) =>
      (await pickOne(message, choices)) as T,
    search: pickOne,
    mark: (message: string, choices: readonly Choice[]) =>
      pick(message, choices, {
        question: 'Type numbers with commas between, or a part of a name: ',
        picked: numberedOnes,
      }),
  };
}

/** Returns the value of the choice with this number, if the answer is one. */
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
  { signal, onAsk }: Pick<PromptWorld, 'signal' | 'onAsk'>,
  question: string,
  hidden: boolean,
): Promise<string> {
  if (signal.aborted) throw new CancelledError(nothingDone);
  onAsk?.();
  // A trailing space separates the answer; sanitizing trims none of it.
  await streams.stderr.write(`${singleLine(question.trimEnd())} `);
  const { input } = streams.terminal;
  input.setRawMode?.(hidden);
  try {
    const line = await nextLine(input, signal);
    if (hidden) await streams.stderr.write('\n');
    return line.trim();
  } catch (error) {
    await streams.stderr.write('\n');
    throw error;
  } finally {
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
