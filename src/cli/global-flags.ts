/** The flags that every command takes. */
import { outputFormats, promisedFormat, timeStyles } from '../config/choices.js';
import type { GlobalFlags } from '../config/environment.js';
import type { ManifestParam } from '../data/command-manifest.js';
import { kebab } from '../data/text.js';

interface GlobalFlag extends ManifestParam {
  readonly name: keyof GlobalFlags;
  /** True if the short help page shows it too. */
  readonly common: boolean;
  /** Restricts it to the short help of commands that change something, or that ask first. */
  readonly only?: 'writes' | 'asks';
}

const formats: readonly string[] = outputFormats;

/** The global flags in the order in which help lists them. */
export const globalFlags: readonly GlobalFlag[] = [
  value('profile', 'NAME', 'the profile to use; `sandbox` is built in', {
    short: 'p',
    common: true,
    completes: 'profile',
  }),
  value('org', 'ID', 'the organization that the key belongs to'),
  value('baseUrl', 'URL', 'the address of the service, ending in /v1'),
  value(
    'output',
    'FORMAT',
    `${formats.slice(0, -1).join(', ')} or ${formats.at(-1)} (default table)`,
    {
      short: 'o',
      choices: formats,
      common: true,
    },
  ),
  toggle('json', 'same as -o json', { common: true }),
  value('fields', 'a,b.c', 'keep only these fields, in this order', {
    common: true,
    completes: 'field',
  }),
  value('template', 'TEXT', "one line per record: '{name} <{email}> {submittedAt|ago}'"),
  value(
    'out',
    'FILE',
    'write the result to a file; .csv, .xlsx, .json, .ndjson choose the format',
    { completes: 'file' },
  ),
  toggle('bom', 'begin csv with a byte order mark, for Excel'),
  value('delimiter', 'CHAR', 'csv delimiter: , or ; or tab'),
  toggle('csvRaw', 'do not escape csv cells that look like formulas'),
  toggle('noHeader', 'no header row in tables and csv'),
  value('time', 'STYLE', 'how to show times: iso, local, relative', { choices: timeStyles }),
  toggle('dryRun', 'change nothing; show what would be sent', {
    short: 'n',
    common: true,
    only: 'writes',
  }),
  toggle('yes', 'answer confirmations with yes', { short: 'y', common: true, only: 'asks' }),
  toggle('noInput', 'never prompt'),
  toggle('quiet', 'print only what was asked for, and failures', { short: 'q' }),
  toggle('verbose', 'print more detail', { short: 'v' }),
  toggle('debug', 'HTTP trace on stderr; never a body, a key or a signed query'),
  toggle('strict', 'treat an unexpected answer from the service as an error'),
  toggle('noColor', 'no colour; also NO_COLOR'),
  toggle('noPager', 'no pager'),
  value('timeout', '30s', 'how long to wait for a response to start (default 30s)'),
  value('retries', 'N', 'extra attempts after the first (default 3)'),
  value('maxWait', '60s', 'longest wait to accept from the service (Retry-After; default 60s)'),
  value('maxTime', '10m', 'end the whole command after this time (exit 143); a run can be resumed'),
];

/** The flags that print a page and run no command. */
export const standardFlags = [
  { dashes: '-h, --help', text: 'the short page of a command; --help shows everything' },
  { dashes: '-V, --version', text: 'the version' },
] as const;

/** True if a command line asks for a format, fields or a file. */
export function asksForOutput({ json, output, fields, template, out }: GlobalFlags): boolean {
  return [json, output, fields, template, out].some((flag) => flag !== undefined);
}

/** Returns the format that a command line or the environment asks for, if any; inspects the words only. */
export function typedFormat(argv: readonly string[], env: string | undefined): string | undefined {
  const words = argv.slice(0, argv.includes('--') ? argv.indexOf('--') : undefined);
  const switches = globalFlags.map(({ takes, short }) => (takes === 'nothing' && short) || '');
  // `--output`, `-o` or `-qo`, with what follows in the same word.
  const outputFlag = new RegExp(`^(?:--output(?:=|$)|-[${switches.join('')}]*o=?)(.*)$`, 's');
  let format: string | undefined;
  let promised: string | undefined;
  for (const [index, word] of words.entries()) {
    if (word === '--json' || word.startsWith('--json=')) return 'json';
    if (word === '--out') promised = promisedFormat(words[index + 1]);
    else if (word.startsWith('--out=')) promised = promisedFormat(word);
    const typed = outputFlag.exec(word)?.[1];
    if (typed !== undefined) format = typed || words[index + 1];
  }
  return format ?? promised ?? (env || undefined);
}

function value(
  name: keyof GlobalFlags,
  placeholder: string,
  text: string,
  more: Partial<GlobalFlag> = {},
): GlobalFlag {
  return { ...base(name, text), placeholder, takes: 'value', ...more };
}

function toggle(name: keyof GlobalFlags, text: string, more: Partial<GlobalFlag> = {}): GlobalFlag {
  return { ...base(name, text), placeholder: '', takes: 'nothing', ...more };
}

function base(name: keyof GlobalFlags, text: string) {
  const word = `--${kebab(name)}`;
  return { name, word, text, common: false };
}
