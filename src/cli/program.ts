import { Argument, Command, CommanderError, Option } from 'commander';
import type { GlobalFlags } from '../config/settings.js';
import { didYouMean, nearest } from '../data/nearest.js';
import type { PlainCommand, PlainGroup, PlainParam, PlainTable } from '../data/plain-table.js';
import { UsageError } from '../errors.js';
import type { Parsed, RawValue } from './check.js';
import { globalFlags, standardFlags } from './global-flags.js';
import {
  commandWords,
  isCalled,
  refuseFieldWords,
  refuseFilter,
  rewriteJson,
  topWords,
  unknownNoun,
  unknownVerb,
  verbAliases,
} from './resolve-command.js';

/**
 * Reads a command line. Throws UsageError with the nearest right word for what it does not know.
 */
export function parseCommandLine(argv: readonly string[], table: PlainTable): Parsed {
  const words = rewriteJson(argv);
  let parsed: Parsed | undefined;
  const reading: Reading = {
    words,
    globals: globalFlags.filter((flag) => mayMean(flag, words)),
    found: (result) => {
      if (parsed?.kind !== 'version') parsed = result;
    },
  };
  const program = root(reading);
  const [noun, verb] = commandWords(words);
  const group = table.groups.find((entry) => isCalled(entry, noun));
  if (noun !== undefined && !topWords(table).includes(noun)) {
    refuseFilter([noun], words);
    throw unknownNoun(verb === undefined ? [noun] : [noun, verb], table);
  }
  const alone = table.commands.find(({ words: own }) => own.length === 1 && own[0] === noun);
  if (group) program.addCommand(groupCommand(group, table, verb, reading));
  if (alone) program.addCommand(leaf(alone, noun ?? '', reading));
  program.action(() => reading.found({ kind: 'start' }));
  // Also where help is asked for before the command is named.
  onHelp(program, alone ?? verbOf(group, verb, table) ?? group, reading);
  try {
    program.parse([...words], { from: 'user' });
  } catch (error) {
    if (parsed?.kind === 'version' || parsed?.kind === 'help') return parsed;
    throw asUsageError(error, { noun, command: verbOf(group, verb, table), table });
  }
  if (!parsed) throw new UsageError('nothing to do', { hint: 'rosterctl --help' });
  return parsed;
}

/** Whether a usage error of this command line is to be told in JSON; looks at the words only. */
export function wantsJson(argv: readonly string[], env: string | undefined): boolean {
  const words = argv.slice(0, argv.includes('--') ? argv.indexOf('--') : undefined);
  let format = env;
  for (const [index, word] of words.entries()) {
    if (word === '--json' || word.startsWith('--json=')) return true;
    if (word === '-o' || word === '--output') format = words[index + 1];
    else if (word.startsWith('--output=')) format = word.slice('--output='.length);
    else if (/^-o./.test(word)) format = word.slice(2).replace(/^=/, '');
  }
  return format === 'json' || format === 'ndjson';
}

// --- building commander from the table ---

/** One command line on its way through commander. */
interface Reading {
  readonly words: readonly string[];
  /** The global flags that these words may hold: declaring all at three levels costs milliseconds. */
  readonly globals: readonly PlainParam[];
  readonly found: (result: Parsed) => void;
}

function mayMean({ word, short }: PlainParam, words: readonly string[]): boolean {
  return words.some(
    (typed) =>
      typed.startsWith(word) ||
      (short !== undefined && /^-[^-]/.test(typed) && typed.includes(short)),
  );
}

function root(reading: Reading): Command {
  const program = new Command('rosterctl');
  for (const flag of reading.globals) program.addOption(option(flag));
  return silenceCommander(program, reading);
}

/** No printing and no exiting of commander's own, and flags belong to the command they follow. */
function silenceCommander(command: Command, { found }: Reading): Command {
  return command
    .option(standardFlags[1].dashes)
    .on('option:version', () => found({ kind: 'version' }))
    .exitOverride()
    .configureOutput({ writeOut: () => {}, writeErr: () => {} })
    .enablePositionalOptions()
    .showSuggestionAfterError(false)
    .helpCommand(false)
    .helpOption(standardFlags[0].dashes);
}

function groupCommand(
  group: PlainGroup,
  table: PlainTable,
  verb: string | undefined,
  reading: Reading,
): Command {
  const { globals, found } = reading;
  const noun = silenceCommander(new Command(group.word), reading).aliases([...group.aliases]);
  for (const flag of globals) noun.addOption(option(flag));
  const command = verbOf(group, verb, table);
  if (verb !== undefined && !command) {
    refuseFilter([verb], reading.words);
    throw unknownVerb(group, commandWords(reading.words), table);
  }
  if (command && verb) noun.addCommand(leaf(command, verb, reading));
  noun.action(() => found({ kind: 'help', of: group, long: false }));
  onHelp(noun, command ?? group, reading);
  return noun;
}

function verbsOf(group: PlainGroup, table: PlainTable): readonly PlainCommand[] {
  return table.commands.filter(({ words }) => words[0] === group.word && words.length === 2);
}

function verbOf(
  group: PlainGroup | undefined,
  word: string | undefined,
  table: PlainTable,
): PlainCommand | undefined {
  if (!group || word === undefined) return undefined;
  const verbs = verbsOf(group, table);
  const named = (verb: string | undefined) => verbs.find(({ words }) => words[1] === verb);
  return named(word) ?? named(verbAliases[word]);
}

function leaf(command: PlainCommand, word: string, reading: Reading): Command {
  const { globals, found } = reading;
  const verb = silenceCommander(new Command(word), reading);
  for (const arg of command.args) {
    const name = arg.takes === 'values' ? `${arg.name}...` : arg.name;
    verb.addArgument(new Argument(arg.required ? `<${name}>` : `[${name}]`, arg.text));
  }
  const own = new Set(command.flags.map((flag) => flag.word));
  for (const flag of [...command.flags, ...globals.filter((entry) => !own.has(entry.word))])
    verb.addOption(option(flag));
  verb.allowExcessArguments(true).action(() => {
    const { values, globals: given } = valuesOf(verb, command);
    if (given.quiet && !command.args.some(({ completes }) => completes === 'file'))
      refuseFilter(verb.args, reading.words);
    if (given.json) refuseFieldWords(command, verb.args, reading.words);
    refuseExcess(verb, command);
    found({ kind: 'command', command, values, globals: given });
  });
  onHelp(verb, command, reading);
  return verb;
}

function refuseExcess(verb: Command, { args, words: own }: PlainCommand): void {
  const extra = verb.args[args.length];
  if (extra === undefined || args.at(-1)?.takes === 'values') return;
  const name = `rosterctl ${own.join(' ')}`;
  throw new UsageError(`"${extra}" is a word too many for ${name}.`, {
    hint: `See: ${name} --help`,
  });
}

function option(flag: PlainParam): Option {
  const dashes = flag.short ? `-${flag.short}, ${flag.word}` : flag.word;
  const made = new Option(
    flag.takes === 'nothing' ? dashes : `${dashes} <${flag.placeholder || 'VALUE'}>`,
    flag.text,
  );
  // Commander would read --no-input as the negation of --input.
  made.negate = false;
  made.attributeName = () => flag.name;
  if (flag.takes === 'values')
    made.argParser((word: string, before: readonly string[] | undefined) => [
      ...(before ?? []),
      ...(flag.commaList ? word.split(',') : [word]),
    ]);
  return made;
}

/** Help is found while words are read, so it wins over a missing argument. */
function onHelp(
  command: Command,
  of: PlainCommand | PlainGroup | undefined,
  reading: Reading,
): void {
  const { words, found } = reading;
  const long = words.includes('--help') || !words.includes('-h');
  command.outputHelp = () => found({ kind: 'help', of, long });
}

/** Leaf over group over program, for the global flags; then the command's own. */
function valuesOf(verb: Command, command: PlainCommand) {
  const chain: Command[] = [];
  for (let at: Command | null = verb; at; at = at.parent) chain.unshift(at);
  const merged = Object.assign({}, ...chain.map((at) => at.opts())) as Record<string, RawValue>;
  const own = new Set(command.flags.map((flag) => flag.name));
  const globals: Record<string, RawValue> = {};
  for (const flag of globalFlags)
    if (!own.has(flag.name) && merged[flag.name] !== undefined)
      globals[flag.name] = flag.short ? ungluedOf(merged[flag.name]) : merged[flag.name];
  const values: Record<string, RawValue> = {};
  for (const [index, arg] of command.args.entries()) {
    const word = verb.processedArgs[index] as RawValue;
    values[arg.name] = arg.takes === 'values' ? (word ?? []) : word;
  }
  for (const flag of command.flags)
    values[flag.name] = verb.opts<Record<string, RawValue>>()[flag.name];
  return { values, globals: globals as GlobalFlags };
}

/** `-o=json` is typed by those who come from other tools; no format or profile begins with `=`. */
function ungluedOf(value: RawValue): RawValue {
  return typeof value === 'string' ? value.replace(/^=/, '') : value;
}

// --- commander's errors, in our words ---

/** Where commander met what it refuses. */
interface Place {
  readonly noun: string | undefined;
  readonly command: PlainCommand | undefined;
  readonly table: PlainTable;
}

function asUsageError(error: unknown, place: Place): unknown {
  if (!(error instanceof CommanderError)) return error;
  const quoted = /'([^']*)'/.exec(error.message)?.[1] ?? '';
  const hint = `See: ${['rosterctl', ...wordsOf(place), '--help'].join(' ')}`;
  switch (error.code) {
    case 'commander.unknownOption':
      return unknownFlag(quoted, place, hint);
    case 'commander.missingArgument':
      return new UsageError(`A word is missing: ${missingWord(quoted, place)}.`, { hint });
    case 'commander.optionMissingArgument':
      return new UsageError(
        `${quoted.split(/[ ,]+/).find((word) => word.startsWith('--')) ?? quoted} needs a value.`,
        { hint },
      );
    default:
      return new UsageError(error.message.replace(/^error: /, ''), { hint });
  }
}

/** The words of the command that was typed, as far as there is one. */
function wordsOf({ command, noun, table }: Place): readonly string[] {
  if (command || noun === undefined) return command?.words ?? [];
  return [table.groups.find((entry) => isCalled(entry, noun))?.word ?? noun];
}

function missingWord(quoted: string, { command }: Place): string {
  const name = quoted.replace(/\.{3}$/, '');
  return command?.args.find((arg) => arg.name === name)?.word ?? name.toUpperCase();
}

function unknownFlag(flag: string, place: Place, hint: string): UsageError {
  const { command, table } = place;
  const word = flag.split('=')[0] ?? flag;
  // The only way in which commander does not know a flag that is there.
  if (flag !== word && [...globalFlags, ...(command?.flags ?? [])].some((one) => one.word === word))
    return new UsageError(`${word} takes no value.`, { hint });
  // `-q=false`, of which commander has read the -q.
  if (word === '-')
    return new UsageError(`A short flag before "${flag.slice(1)}" takes no value.`, { hint });
  const [noun] = wordsOf(place);
  const here = table.commands.filter(({ words }) => words[0] === noun);
  const known = new Set([
    ...globalFlags.map((entry) => entry.word),
    ...(command ? [command] : here).flatMap(flagWords),
    '--help',
    '--version',
  ]);
  const has = (entry: PlainCommand) => flagWords(entry).includes(word);
  const sameVerb = table.commands.filter(({ words }) => words[1] === command?.words[1]);
  const owner =
    here.find(has) ?? (nearest(word, [...known]) === undefined ? sameVerb.find(has) : undefined);
  const meant = owner ? ` ${owner.words.join(' ')} has it.` : didYouMean(word, [...known]);
  return new UsageError(`There is no flag ${word} here.${meant}`, { hint });
}

function flagWords({ flags }: PlainCommand): readonly string[] {
  return flags.map((entry) => entry.word);
}
