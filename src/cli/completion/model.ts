import { settingKeys } from '../../config/keys.js';
import type { PlainCommand, PlainGroup, PlainParam, PlainTable } from '../../data/plain-table.js';
import { globalFlags } from '../global-flags.js';
import { verbAliases } from '../resolve-command.js';

/** A word that a TAB may offer and what it means; both one line. */
export interface Choice {
  readonly word: string;
  readonly text: string;
}

/** What may stand where a value is due. */
export interface Slot {
  /** `fields` are the command's own, `topic` help topics and commands, `free` nothing can be known. */
  readonly kind: 'free' | 'words' | 'fields' | 'file' | 'directory' | 'topic';
  readonly words: readonly Choice[];
  /** What only this machine knows: the KIND of `rosterctl __complete KIND`. */
  readonly ask?: string | undefined;
  /** Several in one word, separated by commas. */
  readonly list: boolean;
  /** What follows a chosen word in place of a space. */
  readonly ends: '' | '=';
}

export interface FlagModel {
  readonly long: string;
  readonly short?: string | undefined;
  readonly text: string;
  /** Absent: a switch. */
  readonly slot?: Slot | undefined;
  /** May be given more than once. */
  readonly again: boolean;
}

export interface CommandModel {
  /** The words typed: `tryouts list`. */
  readonly name: string;
  readonly flags: readonly FlagModel[];
  readonly args: readonly Slot[];
  /** Whether the last of `args` stands for all further words. */
  readonly variadic: boolean;
  readonly fields: readonly string[];
  /** The KIND that adds the fields which the service sent. */
  readonly askFields?: string | undefined;
}

/** A word that may stand first or second, with what else it is called. */
export interface WordModel extends Choice {
  readonly aliases: readonly string[];
}

/** Everything that a shell has to know; made from the table alone. */
export interface Model {
  /** Nouns and commands of one word. */
  readonly first: readonly WordModel[];
  /** Verbs by noun. */
  readonly verbs: ReadonlyMap<string, readonly WordModel[]>;
  readonly commands: readonly CommandModel[];
  readonly globals: readonly FlagModel[];
  readonly topics: readonly Choice[];
}

/** Reads the table as the shells need it. */
export function completionModel(table: PlainTable): Model {
  const alone = table.commands.filter((command) => command.words.length === 1);
  const resources = askedResources(table);
  return {
    first: [
      ...table.groups.map(({ word, aliases, about }) => ({ word, aliases, text: about })),
      ...alone.map(({ words, summary }) => ({ word: words[0] ?? '', aliases: [], text: summary })),
    ],
    verbs: new Map(table.groups.map((group) => [group.word, verbsOf(group, table)])),
    commands: table.commands.map((command) => commandModel(command, resources)),
    globals: [
      ...globalFlags.map(flagModel),
      { long: '--help', short: '-h', text: 'explain the command', again: false },
    ],
    topics: table.topics.map(({ name, about }) => ({ word: name, text: about })),
  };
}

/** The nouns whose records are remembered: those whose ids some command asks for. */
function askedResources(table: PlainTable): ReadonlySet<string> {
  const asked = table.commands.flatMap(({ args, flags }) =>
    [...args, ...flags].map(({ completes }) => /^id:(.+)$/.exec(completes ?? '')?.[1]),
  );
  return new Set(asked.filter((name) => name !== undefined));
}

function verbsOf(group: PlainGroup, table: PlainTable): WordModel[] {
  const own = table.commands.filter(({ words }) => words.length > 1 && words[0] === group.word);
  const known = own.map(({ words }) => words[1] ?? '');
  return own.map(({ words, summary }) => ({
    word: words[1] ?? '',
    aliases: Object.entries(verbAliases)
      .filter(([alias, verb]) => verb === words[1] && !known.includes(alias))
      .map(([alias]) => alias),
    text: summary,
  }));
}

function commandModel(command: PlainCommand, resources: ReadonlySet<string>): CommandModel {
  const [noun = ''] = command.words;
  return {
    name: command.words.join(' '),
    flags: command.flags.map(flagModel),
    args: command.args.map(slotOf),
    variadic: command.args.at(-1)?.takes === 'values',
    fields: command.fields,
    askFields: resources.has(noun) ? `field:${noun}` : undefined,
  };
}

function flagModel(flag: PlainParam): FlagModel {
  return {
    long: flag.word,
    short: flag.short === undefined ? undefined : `-${flag.short}`,
    text: flag.text,
    slot: flag.takes === 'nothing' ? undefined : slotOf(flag),
    again: flag.takes === 'values',
  };
}

function slotOf(param: PlainParam): Slot {
  const rest = { words: [], list: param.commaList, ends: '' } as const;
  if (param.choices)
    return { ...rest, kind: 'words', words: param.choices.map((word) => ({ word, text: '' })) };
  const { completes = '' } = param;
  switch (completes) {
    case 'file':
    case 'directory':
    case 'topic':
      return { ...rest, kind: completes };
    case 'field':
      // --fields a,b.c · --where field=value, -F k=v · --sort field
      return {
        ...rest,
        kind: 'fields',
        list: param.commaList || param.placeholder.includes(','),
        ends: param.placeholder.includes('=') ? '=' : '',
      };
    case 'configKey':
      return { ...rest, kind: 'words', words: configKeys() };
    case '':
      return { ...rest, kind: 'free' };
    default:
      return { ...rest, kind: 'words', ask: completes };
  }
}

function configKeys(): Choice[] {
  return [...settingKeys.values()].map(({ name, text }) => ({ word: name, text }));
}
