/** The command line parser: argv to a command of the table and its raw values, through commander. */
import { Argument, Command, CommanderError, Option } from 'commander';
import { promisedFormat } from '../config/choices.js';
import type { GlobalFlags } from '../config/environment.js';
import {
  type CommandManifest,
  commandsAlone,
  findGroup,
  type ManifestCommand,
  type ManifestGroup,
  type ManifestParam,
  topWords,
} from '../data/command-manifest.js';
import { UsageError } from '../errors.js';
import type { Parsed, RawValue } from './check.js';
import { refuseEarlyFlag } from './failures/early-flags.js';
import {
  asUsageError,
  refuseExcess,
  refuseFieldWords,
  refuseFilter,
} from './failures/parse-errors.js';
import { globalFlags, standardFlags } from './global-flags.js';
import {
  commandWords,
  findCommand,
  rewriteJson,
  unknownNoun,
  unknownVerb,
} from './resolve-command.js';

/** Parses a command line. Throws UsageError, with the nearest known word, for an unknown command or flag. */
export function parseCommandLine(argv: readonly string[], table: CommandManifest): Parsed {
  const words = rewriteJson(argv);
  let parsed: Parsed | undefined;
  const pass: ParsePass = {
    words,
    globals: globalFlags.filter((flag) => mayOccur(flag, words)),
    onResult: (result) => {
      if (parsed?.kind !== 'version') parsed = result;
    },
  };
  const program = quietCommand('rosterctl', pass, pass.globals);
  const [noun, verb] = commandWords(words);
  const group = findGroup(noun, table);
  if (noun !== undefined && !topWords(table).includes(noun)) {
    refuseFilter([noun], words);
    refuseEarlyFlag(words, table);
    throw unknownNoun(words, table);
  }
  const alone = commandsAlone(table).find(({ words: [word] }) => word === noun);
  if (group) program.addCommand(groupCommand(group, table, verb, pass));
  if (alone) program.addCommand(leaf(alone, noun ?? '', pass));
  program.action(() => pass.onResult({ kind: 'start', globals: globalsOf([program], words) }));
  // Covers help that is requested before the command is named.
  onHelp(program, alone ?? findCommand(group, verb, table) ?? group, pass);
  try {
    program.parse([...words], { from: 'user' });
  } catch (error) {
    if (parsed?.kind === 'version' || parsed?.kind === 'help') return parsed;
    if (!(error instanceof CommanderError)) throw error;
    refuseEarlyFlag(words, table);
    throw asUsageError(error, { noun, command: findCommand(group, verb, table), table });
  }
  if (!parsed) throw new UsageError('Nothing to do.', { hint: 'See: rosterctl --help' });
  return parsed;
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

// --- building commander from the table ---

interface ParsePass {
  readonly words: readonly string[];
  /** The global flags that may occur in these words; declaring all at three levels costs milliseconds. */
  readonly globals: readonly ManifestParam[];
  readonly onResult: (result: Parsed) => void;
}

function mayOccur({ word, short }: ManifestParam, words: readonly string[]): boolean {
  return words.some(
    (typed) =>
      typed.startsWith(word) ||
      (short !== undefined && /^-[^-]/.test(typed) && typed.includes(short)),
  );
}

/** Creates a command that neither prints nor exits; a flag belongs to the command that it follows. */
function quietCommand(
  name: string,
  { onResult }: ParsePass,
  flags: readonly ManifestParam[],
): Command {
  const command = new Command(name);
  for (const flag of flags) command.addOption(option(flag));
  return command
    .option(standardFlags[1].dashes)
    .on('option:version', () => onResult({ kind: 'version' }))
    .exitOverride()
    .configureOutput({ writeOut: () => {}, writeErr: () => {} })
    .enablePositionalOptions()
    .showSuggestionAfterError(false)
    .helpCommand(false)
    .helpOption(standardFlags[0].dashes);
}

function groupCommand(
  group: ManifestGroup,
  table: CommandManifest,
  verb: string | undefined,
  pass: ParsePass,
): Command {
  const { globals, onResult } = pass;
  const noun = quietCommand(group.word, pass, globals).aliases([...group.aliases]);
  const command = findCommand(group, verb, table);
  if (verb !== undefined && !command) {
    refuseFilter([verb], pass.words);
    throw unknownVerb(group, pass.words, table);
  }
  if (command && verb) noun.addCommand(leaf(command, verb, pass));
  noun.action(() => onResult({ kind: 'help', of: group, long: false }));
  onHelp(noun, command ?? group, pass);
  return noun;
}

function leaf(command: ManifestCommand, word: string, pass: ParsePass): Command {
  const { globals, onResult } = pass;
  const own = new Set(command.flags.map((flag) => flag.word));
  const others = globals.filter((flag) => !own.has(flag.word));
  const verb = quietCommand(word, pass, [...command.flags, ...others]);
  for (const arg of command.args) {
    const name = arg.takes === 'values' ? `${arg.name}...` : arg.name;
    // Optional to commander: a missing one may be asked for.
    verb.addArgument(new Argument(`[${name}]`, arg.text));
  }
  verb.allowExcessArguments(true).action(() => {
    const { values, globals: given } = valuesOf(verb, command, pass.words);
    if (given.quiet && !command.args.some(({ completes }) => completes === 'file'))
      refuseFilter(verb.args, pass.words);
    if (given.json) refuseFieldWords(command, verb.args, pass.words);
    refuseExcess(verb.args, command, pass.words);
    onResult({ kind: 'command', command, values, globals: given });
  });
  onHelp(verb, command, pass);
  return verb;
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

/** Reports help while the words are parsed, so that it takes precedence over a missing argument. */
function onHelp(
  command: Command,
  of: ManifestCommand | ManifestGroup | undefined,
  pass: ParsePass,
): void {
  const { words, onResult } = pass;
  const long = words.includes('--help') || !words.includes('-h');
  command.outputHelp = () => onResult({ kind: 'help', of, long });
}

/** Collects the global flags, where leaf beats group beats program, and the command's own values. */
function valuesOf(verb: Command, command: ManifestCommand, words: readonly string[]) {
  const chain: Command[] = [];
  for (let at: Command | null = verb; at; at = at.parent) chain.unshift(at);
  const values: Record<string, RawValue> = {};
  for (const [index, arg] of command.args.entries()) {
    const word = verb.processedArgs[index] as RawValue;
    values[arg.name] = arg.takes === 'values' ? (word ?? []) : word;
  }
  for (const flag of command.flags)
    values[flag.name] = withoutEquals(
      verb.opts<Record<string, RawValue>>()[flag.name],
      flag,
      words,
    );
  return { values, globals: globalsOf(chain, words, command.flags) };
}

/** The global flags of a chain of commands, except those that the last one has as its own. */
function globalsOf(
  chain: readonly Command[],
  words: readonly string[],
  ownFlags: readonly Pick<ManifestParam, 'name'>[] = [],
): GlobalFlags {
  const merged = Object.assign({}, ...chain.map((at) => at.opts())) as Record<string, RawValue>;
  const own = new Set(ownFlags.map((flag) => flag.name));
  const globals: Record<string, RawValue> = {};
  for (const flag of globalFlags)
    if (!own.has(flag.name) && merged[flag.name] !== undefined)
      globals[flag.name] = withoutEquals(merged[flag.name], flag, words);
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
