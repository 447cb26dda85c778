/** The settings that have their own property: name, sources, parser and default. */
import { onWindows, splitWords } from '../data/text.js';
import { UsageError } from '../errors.js';
import { timeStyles, usualFormats } from './choices.js';
import {
  duration,
  integer,
  keepTime,
  offering,
  oneOf,
  onOff,
  type Parse,
  parseRate,
} from './parse.js';

/** One setting: where its text may come from, how it is parsed, and its default. */
export interface SettingKey<T = unknown> {
  readonly name: string;
  readonly text: string;
  readonly env?: string;
  readonly flag?: 'output' | 'time' | 'timeout' | 'retries' | 'maxWait';
  /** A variable shared with other programs: used only if nothing of ours is set. */
  readonly fallbackEnv?: string;
  /** True if an empty variable is a value and not unset. */
  readonly emptyCounts?: boolean;
  /** As it would be typed; absent = unset. */
  readonly default?: string;
  /** Allowed in a profile, not in the shared defaults. */
  readonly profileOnly?: boolean;
  readonly parse: Parse<T>;
}

/** A setting that always has a value. */
export type DefaultedKey<T> = SettingKey<T> & { readonly default: string };

const parseFormat = oneOf(usualFormats);

const usualFormat = offering(usualFormats, (text) => {
  if (text !== 'xlsx') return parseFormat(text);
  throw new UsageError('xlsx needs a file, so each command asks for it: --out FILE.xlsx.');
});

/** The settings that have their own property in `Settings`. */
export const namedKeys = {
  output: namedKey('output', 'how results are printed', usualFormat, {
    flag: 'output',
    env: 'ROSTERCTL_OUTPUT',
    default: 'table',
  }),
  time: namedKey('time', 'how times are written', oneOf(timeStyles), {
    flag: 'time',
    env: 'ROSTERCTL_TIME',
  }),
  timeout: namedKey('timeout', 'how long to wait for a response to start', duration(1), {
    flag: 'timeout',
    env: 'ROSTERCTL_TIMEOUT',
    default: '30s',
  }),
  retries: namedKey('retries', 'extra attempts after the first', integer(0, 100), {
    flag: 'retries',
    env: 'ROSTERCTL_RETRIES',
    default: '3',
  }),
  maxWait: namedKey(
    'maxWait',
    'longest wait to accept from the service (Retry-After)',
    duration(0),
    { flag: 'maxWait', env: 'ROSTERCTL_MAX_WAIT', default: '60s' },
  ),
  concurrency: namedKey(
    'concurrency',
    'requests at once in a bulk run (--concurrency)',
    integer(1, 256),
    { env: 'ROSTERCTL_CONCURRENCY', default: '4' },
  ),
  rate: namedKey('rate', 'requests per second in a bulk run (--rate)', parseRate, {
    env: 'ROSTERCTL_RATE',
    default: 'none',
  }),
  pager: namedKey('pager', 'the program that shows long output; cat for none', parsePager, {
    env: 'ROSTERCTL_PAGER',
    fallbackEnv: 'PAGER',
    emptyCounts: true,
    // Windows has no less, and would look for one in the current folder first.
    default: onWindows ? 'none' : 'less',
  }),
  prompts: namedKey(
    'prompts',
    'how questions are asked: auto, or plain lines',
    oneOf(['auto', 'plain']),
    { env: 'ROSTERCTL_PROMPTS', default: 'auto' },
  ),
  'undo.keep': namedKey('undo.keep', 'how long runs undo stays possible, or off', keepTime, {
    default: '30d',
  }),
  'completion.cache': namedKey('completion.cache', 'remember ids for completion', onOff, {
    default: 'on',
  }),
  'key.command': namedKey('key.command', 'a program that prints the key', parseCommand, {
    profileOnly: true,
  }),
} as const;

function namedKey<T, const M extends Omit<SettingKey<T>, 'name' | 'text' | 'parse'>>(
  name: string,
  text: string,
  parse: Parse<T>,
  rest: M,
): SettingKey<T> & M {
  return { name, text, parse, ...rest };
}

/** Returns a command line, or undefined for none. */
function parsePager(text: string): string | undefined {
  return ['', 'none', 'off', 'cat'].includes(text.trim()) ? undefined : text.trim();
}

function parseCommand(text: string): string {
  if (splitWords(text).length === 0) throw new UsageError('The command is empty.');
  return text;
}
