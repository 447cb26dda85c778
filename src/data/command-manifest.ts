/** The command manifest: the tool's own commands, flags and topics as plain data, and its file `table.json`. */
import { lazy } from './lazy.js';
import { escapedUnit } from './text.js';

/**
 * The command table without schemas and functions: what help, usage errors, completion and
 * `commands` read. The build runs the real table once and writes this, so that none of those
 * loads zod or a command.
 */
export interface CommandManifest {
  readonly version: string;
  readonly groups: readonly ManifestGroup[];
  readonly commands: readonly ManifestCommand[];
  /** The first words of what does the same for every organization: messages name it without connection flags. */
  readonly withoutConnection?: readonly string[];
  readonly topics: readonly ManifestTopic[];
}

export interface ManifestGroup {
  readonly word: string;
  readonly aliases: readonly string[];
  readonly about: string;
}

interface ManifestTopic {
  readonly name: string;
  readonly about: string;
}

export interface ManifestCommand {
  /** The words typed: ['tryouts', 'list'] or ['api']. */
  readonly words: readonly string[];
  readonly summary: string;
  readonly about?: string | undefined;
  readonly examples: readonly (readonly [what: string, words: string])[];
  readonly args: readonly ManifestParam[];
  readonly flags: readonly ManifestParam[];
  readonly needsOneOf: readonly (readonly string[])[];
  readonly excludes: readonly (readonly string[])[];
  readonly calls: readonly ManifestCall[];
  readonly basis: 'stated' | 'assumed' | 'local';
  /** It runs without a connection, also with a broken configuration. */
  readonly local: boolean;
  readonly writes: boolean;
  /** It may ask before it writes, so `--yes` means something. */
  readonly asks: boolean;
  /** Global flags that its short help shows too. */
  readonly shows: readonly string[];
  /** Documented fields of what it prints, for completing --fields. */
  readonly fields: readonly string[];
}

export interface ManifestCall {
  readonly route: string;
  readonly basis: 'stated' | 'assumed';
  /** The contract's section, or why the call is assumed. */
  readonly source: string;
  readonly permission?: string | undefined;
}

export interface ManifestParam {
  /** As commands know it: `clearNote`. */
  readonly name: string;
  /** As typed: `--clear-note`; for a positional the placeholder. */
  readonly word: string;
  readonly short?: string | undefined;
  readonly placeholder: string;
  readonly text: string;
  /** `value` takes one word, `values` is repeatable, `nothing` is a switch. */
  readonly takes: 'value' | 'values' | 'nothing';
  readonly commaList?: boolean | undefined;
  readonly required?: boolean | undefined;
  readonly choices?: readonly string[] | undefined;
  readonly group?: string | undefined;
  /** Left out of the short help page. */
  readonly rare?: boolean | undefined;
  /** The message if it is required and missing, if not the usual one. */
  readonly ifMissing?: string | undefined;
  /** The kind of value that a TAB offers: `file`, `profile`, `id:tryouts` … */
  readonly completes?: string | undefined;
}

/** Returns the group of this name or alias. */
export function findGroup(
  word: string | undefined,
  { groups }: Pick<CommandManifest, 'groups'>,
): ManifestGroup | undefined {
  if (word === undefined) return undefined;
  return groups.find((group) => group.word === word || group.aliases.includes(word));
}

/** Returns the commands of a group: one for each of its verbs. */
export function commandsOf(
  group: ManifestGroup,
  { commands }: CommandManifest,
): readonly ManifestCommand[] {
  return commands.filter(({ words }) => words.length > 1 && words[0] === group.word);
}

/** Returns one example of a command as it is typed. */
export function exampleLine({ words }: Pick<ManifestCommand, 'words'>, example: string): string {
  return example.startsWith('rosterctl ')
    ? example
    : `rosterctl ${words.join(' ')} ${example}`.trim();
}

/** Returns what follows the name of a command in its usage line: `ID… [flags]`. */
export function usageWords({ args, flags }: ManifestCommand): readonly string[] {
  return [...args.map(argUsage), ...(flags.length > 0 ? ['[flags]'] : [])];
}

/** Returns a positional as the usage line shows it: `ID…`, `[PATH]`. */
export function argUsage(arg: ManifestParam): string {
  const word = arg.takes === 'values' ? `${arg.word}…` : arg.word;
  return arg.required ? word : `[${word}]`;
}

/** Returns the commands of one word: `api`, `doctor`. */
export function commandsAlone({ commands }: CommandManifest): readonly ManifestCommand[] {
  return commands.filter(({ words }) => words.length === 1);
}

/** Returns every word that may come first. */
export function topWords(table: CommandManifest): string[] {
  const alone = commandsAlone(table).map(({ words }) => words[0] ?? '');
  return [...table.groups.flatMap((group) => [group.word, ...group.aliases]), ...alone];
}

/**
 * Returns the text of `table.json`: ASCII JSON with each command on its own line, so that a start
 * parses only the command it needs. The first line also contains all their names.
 */
export function manifestText({ commands, ...rest }: CommandManifest): string {
  const names = commands.map(({ words, summary }) => [words, summary]);
  const head = JSON.stringify({ ...rest, names, commands: [] });
  const lines = commands.map((command) => JSON.stringify(command));
  const text = `${head.slice(0, -end.length)}\n${lines.join(',\n')}\n${end}\n`;
  return text.replaceAll(/[^\0-\x7f]/g, escapedUnit);
}

/** Reads what `manifestText` wrote. Parses a command's line when more than its name is needed. */
export function readManifest(text: string): CommandManifest {
  const [head = '', ...lines] = text.split('\n');
  const { names, ...rest } = JSON.parse(`${head}${end}`) as Head;
  const commands = names.map(([words, summary], index) =>
    commandAt(words, summary, lines[index] ?? ''),
  );
  return { ...rest, commands };
}

const end = ']}';

interface Head extends Omit<CommandManifest, 'commands'> {
  readonly names: readonly (readonly [words: readonly string[], summary: string])[];
}

/** A command whose line is parsed when more than its name is needed. */
function commandAt(words: readonly string[], summary: string, line: string): ManifestCommand {
  const whole = lazy(() => JSON.parse(line.replace(/,$/, '')) as ManifestCommand);
  const known = { words, summary } as ManifestCommand;
  return new Proxy(known, {
    get: (_, name): unknown => Reflect.get(Object.hasOwn(known, name) ? known : whole(), name),
  });
}
