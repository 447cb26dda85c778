/** Errors of the parser: flags and words that commander refused, in our words. */
import {
  type CommandManifest,
  findGroup,
  type ManifestCommand,
} from '../../data/command-manifest.js';
import { nearest } from '../../data/nearest.js';
import { shellQuote } from '../../data/text.js';
import { UsageError } from '../../errors.js';
import { isAssignment } from '../check.js';
import { globalFlags } from '../global-flags.js';
import { conditionFor, flagFor } from './other-tools.js';

/** Throws UsageError if a positional word is a jq filter given to `-q`, as in gh. */
export function refuseFilter(positional: readonly string[], words: readonly string[]): void {
  const isFilter = (word: string) =>
    word.startsWith('.') &&
    words.some((typed, index) => typed === word && /^-[A-Za-z]*q$/.test(words[index - 1] ?? ''));
  if (!positional.some(isFilter)) return;
  throw new UsageError(
    'rosterctl has no -q filter (here -q is --quiet). Pipe to jq, or use --fields.',
  );
}

/** Throws UsageError if the word after `--json` names fields, as in gh, rather than a record. */
export function refuseFieldWords(
  { args, fields }: ManifestCommand,
  positional: readonly string[],
  words: readonly string[],
): void {
  const takesOthers = args.some(({ completes }) => !completes?.startsWith('id:'));
  const known = new Set(['id', 'name', ...fields]);
  const isExcess = args.length === 0;
  const mayBeField = (word: string) =>
    positional.includes(word) && (isExcess || word.split(',').every((name) => known.has(name)));
  const start = words.indexOf('--json') + 1;
  const after = words.slice(start);
  const end = after.findIndex((word) => !mayBeField(word));
  const named = end < 0 ? after : after.slice(0, end);
  if (takesOthers || named.length === 0) return;
  const line = words.toSpliced(start, named.length, '--fields', named.join(','));
  throw new UsageError(`Unexpected argument "${named.join(' ')}": --json takes no value.`, {
    hint: `To choose fields: ${['rosterctl', ...line].map(shellQuote).join(' ')}`,
  });
}

/** Throws UsageError for a positional word too many; it suggests the flag whose value it is. */
export function refuseExcess(
  words: readonly string[],
  { args, flags, words: own }: ManifestCommand,
  argv: readonly string[],
): void {
  const extra = words[args.length];
  if (extra === undefined || args.at(-1)?.takes === 'values') return;
  const before = flagBefore(extra, argv, flags);
  if (before && [...flags, ...globalFlags].some(({ word }) => word === before.value)) {
    const { flag, value } = before;
    throw new UsageError(`${flag.word} needs a value before ${value}.`, {
      hint: `If "${value}" is its value, write: ${flag.word}=${value}`,
    });
  }
  const name = `rosterctl ${own.join(' ')}`;
  const flag = flags.find(({ choices }) => nearest(extra, choices ?? []) !== undefined);
  const value = nearest(extra, flag?.choices ?? []);
  const isSearchable = flags.some(({ word }) => word === '--search');
  // A search finds what a reference holds, not its prefix.
  const text = shellQuote(extra.replace(/^[a-z]+:(?=.)/, ''));
  const see = isSearchable ? `To search: ${name} --search ${text}` : `See: ${name} -h`;
  const meant =
    flag && value
      ? `${flag.word} ${value}`
      : (unquotedFlag(extra, argv, flags) ?? flagForWord(extra, words, flags));
  throw new UsageError(`Unexpected argument "${extra}" for ${name}.`, {
    hint: meant === undefined ? see : `Did you mean: ${meant}`,
  });
}

interface FlagBefore {
  readonly flag: ManifestCommand['flags'][number];
  readonly value: string;
  /** The words after the value. */
  readonly rest: readonly string[];
}

/** The flag whose value stands before this word. */
function flagBefore(
  extra: string,
  argv: readonly string[],
  flags: ManifestCommand['flags'],
): FlagBefore | undefined {
  const start = argv.indexOf(extra) - 2;
  const [dashes = '', value = '', ...rest] = argv.slice(Math.max(start, 0));
  const flag = flags.find(
    ({ word, short, takes }) => takes !== 'nothing' && (dashes === word || dashes === `-${short}`),
  );
  return flag && { flag, value, rest };
}

/** Returns the flag with its whole value, quoted, if this word belongs to a value that was not: `--team Paper Lions`. */
function unquotedFlag(
  extra: string,
  argv: readonly string[],
  flags: ManifestCommand['flags'],
): string | undefined {
  const { flag, value = '', rest = [] } = flagBefore(extra, argv, flags) ?? {};
  if (!flag || flag.choices || /^\d/.test(value)) return undefined;
  // The name of a field, of a run or a file is one word.
  const { completes = 'value:' } = flag;
  const isReference = completes.startsWith('id:');
  const isText = isReference || completes.startsWith('value:') || isAssignment(value);
  const end = rest.findIndex((word) => word.startsWith('-'));
  const words = [value, ...rest.slice(0, end < 0 ? undefined : end)].join(' ');
  // Several words are no id.
  const text = isReference && !words.includes(':') ? `name:${words}` : words;
  return isText ? `${flag.word} ${shellQuote(text)}` : undefined;
}

/** `Did you mean: --name 'Paper Lions'`, if these positional words are the rest of a flag's value. */
export function quotesHint(
  { argv, table }: { readonly argv: readonly string[]; readonly table: CommandManifest },
  action: string,
  strays: readonly string[],
): string | undefined {
  const [first] = strays;
  if (first === undefined || !argv.includes(first)) return undefined;
  const at = argv.indexOf(first);
  const end = argv.findIndex((word, index) => index > at && !strays.includes(word));
  const typed = argv.slice(0, end < 0 ? undefined : end);
  const flags = table.commands.find(({ words }) => words.join('.') === action)?.flags ?? [];
  const meant = unquotedFlag(first, typed, flags);
  return meant === undefined ? undefined : `Did you mean: ${meant}`;
}

/** The flag whose value a word looks like: `tag:legal`, a field, a condition, a page to write, the name of what is created. */
function flagForWord(
  word: string,
  words: readonly string[],
  flags: ManifestCommand['flags'],
): string | undefined {
  const has = (flag: string) => flags.some((known) => known.word === flag);
  const [method = ''] = words;
  if (has('--method') && /^[A-Z]+$/.test(method)) return `-X ${method}`;
  const page = /\.(html|md)$/.exec(word)?.[1];
  const [, filter, value = ''] = /^([a-z]+):(.+)$/s.exec(word) ?? [];
  if (has(`--${filter}`)) return `--${filter} ${shellQuote(value)}`;
  if (isAssignment(word) && has('--set')) return `-F ${shellQuote(word)}`;
  if (isAssignment(word) && has('--where')) return `--where ${shellQuote(word)}`;
  if (page !== undefined && has(`--${page}`)) return `--${page} ${shellQuote(word)}`;
  return has('--name') && has('--set') && words.length === 1
    ? `--name ${shellQuote(word)}`
    : undefined;
}

/** The command at which commander failed. */
interface ErrorSite {
  readonly noun: string | undefined;
  readonly command: ManifestCommand | undefined;
  readonly table: CommandManifest;
}

/** Returns an error of commander in our words. */
export function asUsageError(
  error: { readonly code: string; readonly message: string },
  site: ErrorSite,
): UsageError {
  const quoted = /'(.*)'/s.exec(error.message)?.[1] ?? '';
  const hint = `See: ${['rosterctl', ...commandPath(site), '--help'].join(' ')}`;
  if (error.code === 'commander.unknownOption') return unknownFlag(quoted, site, hint);
  // The only other error of commander: a flag without its value.
  const flag = quoted.split(/[ ,]+/).find((word) => word.startsWith('--'));
  return new UsageError(`${flag} needs a value.`, { hint });
}

/** The words of the command that was typed; none without a noun. */
function commandPath({ command, noun, table }: ErrorSite): readonly string[] {
  if (command || noun === undefined) return command?.words ?? [];
  return [findGroup(noun, table)?.word ?? noun];
}

function unknownFlag(flag: string, site: ErrorSite, hint: string): UsageError {
  const { command } = site;
  const word = flag.split('=')[0] ?? flag;
  const refusal = unexpectedValue(flag, word, command);
  if (refusal !== undefined) return new UsageError(refusal, { hint });
  if (word === '--jq')
    return new UsageError(`rosterctl has no ${word}. Pipe to jq, or use --fields.`);
  const place = command ? ` for ${command.words.join(' ')}` : '';
  const meant = meantFlag(word, site);
  const sentences = [
    `Unknown flag ${word}${place}.`,
    ...(meant.said === undefined ? [] : [meant.said]),
  ];
  return new UsageError(sentences.join(' '), { hint: meant.hint ?? hint });
}

/** Returns the error for a flag that takes no value but was given one; undefined for any other. */
function unexpectedValue(
  flag: string,
  word: string,
  command: ManifestCommand | undefined,
): string | undefined {
  const flags = [...globalFlags, ...(command?.flags ?? [])];
  // Commander rejects a known flag only if it has a value and takes none.
  if (flag !== word && flags.some((known) => known.word === word)) return `${word} takes no value.`;
  // `-q=false`, of which commander has consumed the -q.
  return word === '-' ? `A short flag before "${flag.slice(1)}" takes no value.` : undefined;
}

/** Guesses which flag was meant: a sentence for the error, and a hint. */
function meantFlag(
  word: string,
  site: ErrorSite,
): { readonly said?: string | undefined; readonly hint?: string | undefined } {
  const { command, table } = site;
  const [noun] = commandPath(site);
  const siblings = table.commands.filter(({ words }) => words[0] === noun);
  const known = new Set([
    ...globalFlags.map((entry) => entry.word),
    ...(command ? [command] : siblings).flatMap(flagWords),
    '--help',
    '--version',
  ]);
  const ours = flagFor(word, known);
  if (ours !== undefined) return { said: `Did you mean ${ours}?` };
  const condition = command && known.has('--where') ? conditionFor(word) : undefined;
  if (condition !== undefined)
    return { hint: `To filter by a date: --where ${shellQuote(condition)}` };
  // No flag of ours holds a dot; the files of a folder (`*`) may begin with a dash.
  if (word.includes('.') && command?.args.some(({ completes }) => completes === 'file'))
    return { hint: 'If it is a file, put ./ before its name.' };
  const value = word.replace(/^--/, '');
  const choice = flagWithChoice(value, command);
  if (choice) return { said: `Did you mean ${choice.word} ${value}?` };
  const has = (entry: ManifestCommand) => flagWords(entry).includes(word);
  const sameVerb = table.commands.filter(({ words }) => words[1] === command?.words[1]);
  const near = nearest(word, [...known]);
  const owner = siblings.find(has) ?? (near === undefined ? sameVerb.find(has) : undefined);
  return {
    said: owner ? `It belongs to ${owner.words.join(' ')}.` : near && `Did you mean ${near}?`,
    hint: fieldHint(word, known, owner !== undefined || near !== undefined),
  };
}

/** Says how to set or filter by a field that has no flag of its own. */
function fieldHint(
  word: string,
  known: ReadonlySet<string>,
  isSuggested: boolean,
): string | undefined {
  if (!/^--[a-z]\w+$/i.test(word)) return undefined;
  const field = word.slice(2);
  if (known.has('--set')) return `To set a field of that name: -F ${field}=VALUE`;
  if (!known.has('--where') || isSuggested) return undefined;
  return `To filter by a field of that name: --where '${field}=VALUE'`;
}

/** The flag that takes a word as its value: `--accepted` for `--status accepted`. */
function flagWithChoice(value: string, command: ManifestCommand | undefined) {
  // `--ids` and `--all` name rows elsewhere.
  if (!command || value === 'ids' || value === 'all') return undefined;
  return [...command.flags, ...globalFlags].find(({ choices }) => choices?.includes(value));
}

function flagWords({ flags }: ManifestCommand): readonly string[] {
  return flags.map((entry) => entry.word);
}
