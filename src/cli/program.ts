/** The command line parser: argv to a command of the table and its raw values, through commander. */
import { Command, CommanderError, Option } from 'commander';
import type { GlobalFlags } from '../config/environment.js';
import {
  type CommandManifest,
  findGroup,
  type ManifestCommand,
  type ManifestParam,
} from '../data/command-manifest.js';
import type { Parsed, RawValue } from './check.js';
import { refuseEarlyFlag } from './failures/early-flags.js';
import {
  asUsageError,
  refuseExcess,
  refuseFieldWords,
  refuseFilter,
} from './failures/parse-errors.js';
import { unknownNoun, unknownVerb } from './failures/unknown-command.js';
import { globalFlags, standardFlags } from './global-flags.js';
import { aroundCommand, commandNamed, commandWords, rewriteJson } from './resolve-command.js';

/** Parses a command line. Throws UsageError, with the nearest known word, for an unknown command or flag. */
export function parseCommandLine(argv: readonly string[], table: CommandManifest): Parsed {
  const words = rewriteJson(argv);
  const [noun, verb] = commandWords(words);
  const group = findGroup(noun, table);
  const command = commandNamed(words, table);
  const unknown = command ? undefined : group ? verb : noun;
  if (unknown !== undefined) {
    refuseFilter([unknown], words);
    if (group) throw unknownVerb(group, words, table);
    refuseEarlyFlag(words, table);
    throw unknownNoun(words, table);
  }
  try {
    const { before, after } = aroundCommand(words, command?.words.length ?? 2);
    const early = before.length === 0 ? {} : optionsBefore(before);
    if (!command && group) return { kind: 'help', of: group, long: false };
    if (!command) return { kind: 'start', globals: globalsIn(early, words) };
    const late = parseWords(after, command);
    return parsedCommand(command, late, { ...early, ...late.opts() }, words);
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.code === 'commander.version') return { kind: 'version' };
    const long = words.includes('--help') || !words.includes('-h');
    if (error.code === 'commander.helpDisplayed')
      return { kind: 'help', of: command ?? group, long };
    refuseEarlyFlag(words, table);
    throw asUsageError(error, { noun, command: group && command, table });
  }
}

/** Parses the global flags before a command's words. Throws CommanderError. */
function optionsBefore(words: readonly string[]): RawOptions {
  const parser = parseWords(words, { flags: [], args: [] });
  // Commander takes a negative number for no flag.
  const [number] = parser.args;
  if (number !== undefined) parser.error(`'${number}'`, { code: 'commander.unknownOption' });
  return parser.opts();
}

/** Parses words with these flags and the global ones. Throws CommanderError, for help and the version, too. */
function parseWords(
  words: readonly string[],
  { flags, args }: Pick<ManifestCommand, 'flags' | 'args'>,
): Command {
  const own = new Set(flags.map(({ word }) => word));
  const parser = new Command('rosterctl')
    .version('', standardFlags[1].dashes)
    .helpOption(standardFlags[0].dashes)
    .exitOverride()
    .configureOutput({ writeOut: () => {}, writeErr: () => {} })
    .showSuggestionAfterError(false)
    .allowExcessArguments(true)
    .action(() => {});
  parser.outputHelp = () => {};
  const all = [...flags, ...globalFlags.filter(({ word }) => !own.has(word))];
  for (const flag of all) if (mayOccur(flag, words)) parser.addOption(option(flag));
  // Optional to commander: a missing one may be asked for.
  for (const { name, takes } of args)
    parser.argument(takes === 'values' ? `[${name}...]` : `[${name}]`);
  return parser.parse(words, { from: 'user' });
}

/** True for a flag that these words may hold; declaring all costs milliseconds. */
function mayOccur({ word, short }: ManifestParam, words: readonly string[]): boolean {
  return words.some(
    (typed) =>
      typed.startsWith(word) ||
      (short !== undefined && /^-[^-]/.test(typed) && typed.includes(short)),
  );
}

function option(flag: ManifestParam): Option {
  const dashes = flag.short ? `-${flag.short}, ${flag.word}` : flag.word;
  const opt = new Option(
    flag.takes === 'nothing' ? dashes : `${dashes} <${flag.placeholder || 'VALUE'}>`,
    flag.text,
  );
  // Commander would read --no-input as the negation of --input.
  opt.negate = false;
  opt.attributeName = () => flag.name;
  if (flag.takes === 'values')
    opt.argParser((word: string, before: readonly string[] | undefined) => [
      ...(before ?? []),
      ...(flag.commaList ? word.split(',') : [word]),
    ]);
  return opt;
}

type RawOptions = Readonly<Record<string, RawValue>>;

/** Returns a parsed command with its values. Throws UsageError for an excess word. */
function parsedCommand(
  command: ManifestCommand,
  { args, processedArgs }: Command,
  options: RawOptions,
  words: readonly string[],
): Parsed {
  const globals = globalsIn(options, words, command.flags);
  if (globals.quiet && !command.args.some(({ completes }) => completes === 'file'))
    refuseFilter(args, words);
  if (globals.json) refuseFieldWords(command, args, words);
  refuseExcess(args, command, words);
  const values: Record<string, RawValue> = {};
  for (const [index, { name, takes }] of command.args.entries()) {
    const word = processedArgs[index] as RawValue;
    values[name] = takes === 'values' ? (word ?? []) : word;
  }
  for (const flag of command.flags)
    values[flag.name] = withoutEquals(options[flag.name], flag, words);
  return { kind: 'command', command, values, globals };
}

/** The global flags among the options, except those that the command has as its own. */
function globalsIn(
  options: RawOptions,
  words: readonly string[],
  ownFlags: readonly Pick<ManifestParam, 'name'>[] = [],
): GlobalFlags {
  const own = new Set(ownFlags.map((flag) => flag.name));
  const globals: Record<string, RawValue> = {};
  for (const flag of globalFlags)
    if (!own.has(flag.name) && options[flag.name] !== undefined)
      globals[flag.name] = withoutEquals(options[flag.name], flag, words);
  return globals;
}

/** Accepts `-o=json` and `-qo=json` for `-o json`, as other tools do. */
function withoutEquals(
  value: RawValue,
  { short }: Pick<ManifestParam, 'short'>,
  words: readonly string[],
): RawValue {
  if (short === undefined) return value;
  const isTyped = (text: string) =>
    words.some((word) => /^-\w+=/.test(word) && word.endsWith(`${short}${text}`));
  const plain = (text: string) => (text.startsWith('=') && isTyped(text) ? text.slice(1) : text);
  if (Array.isArray(value)) return value.map((text) => plain(String(text)));
  return typeof value === 'string' ? plain(value) : value;
}
