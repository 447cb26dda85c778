/** Reads the words before the cursor: the command, the flags given and the value that is due. */
import type { GlobalFlags } from '../../config/environment.js';
import {
  type CommandManifest,
  findGroup,
  type ManifestCommand,
  type ManifestGroup,
  type ManifestParam,
} from '../../data/command-manifest.js';
import { globalFlags } from '../global-flags.js';
import { commandNamed, findCommand } from '../resolve-command.js';

/** A command line up to the word that is being typed. */
export interface Line {
  /** The first word, as typed. */
  readonly noun: string | undefined;
  readonly group: ManifestGroup | undefined;
  /** Undefined while it is not named, and where no command has that name. */
  readonly command: ManifestCommand | undefined;
  /** True if the next positional word names a command of `group`. */
  readonly lacksVerb: boolean;
  /** The words after the command. */
  readonly positionals: readonly string[];
  /** The flags given, by their long name, with the last value of each. */
  readonly given: ReadonlyMap<string, string>;
  /** The flag whose value is being typed. */
  readonly waiting: ManifestParam | undefined;
  /** True once `--` has ended the flags. */
  readonly ended: boolean;
  /** Every word as typed. */
  readonly words: readonly string[];
}

const help: ManifestParam = {
  name: 'help',
  word: '--help',
  short: 'h',
  text: 'explain the command',
  placeholder: '',
  takes: 'nothing',
};

/** Reads the words between the program's name and the one at the cursor. */
export function readLine(words: readonly string[], manifest: CommandManifest): Line {
  let noun: string | undefined;
  let verb: string | undefined;
  let group: ManifestGroup | undefined;
  let command: ManifestCommand | undefined;
  let waiting: ManifestParam | undefined;
  let ended = false;
  const positionals: string[] = [];
  const given = new Map<string, string>();
  for (const word of words) {
    if (waiting) {
      given.set(waiting.word, word);
      waiting = undefined;
    } else if (!ended && word === '--') {
      ended = true;
    } else if (!ended && /^-./s.test(word)) {
      waiting = readFlags(word, command, given);
    } else if (noun === undefined) {
      noun = word;
      group = findGroup(word, manifest);
      command = commandNamed([word], manifest);
    } else if (group && verb === undefined) {
      verb = word;
      command = findCommand(group, word, manifest);
    } else {
      positionals.push(word);
    }
  }
  const lacksVerb = group !== undefined && verb === undefined;
  return { noun, group, command, lacksVerb, positionals, given, waiting, ended, words };
}

/** The flags that say which organization is meant; one without its value counts as not given. */
export function connectionFlags({ given }: Pick<Line, 'given'>): GlobalFlags {
  const [profile, org, baseUrl] = ['--profile', '--org', '--base-url'].map(
    (flag) => given.get(flag) || undefined,
  );
  return {
    ...(profile !== undefined && { profile }),
    ...(org !== undefined && { org }),
    ...(baseUrl !== undefined && { baseUrl }),
  };
}

/** Reads `--flag`, `--flag=value`, `-qy` or `-pNAME`; returns the flag whose value comes next. */
function readFlags(
  word: string,
  command: ManifestCommand | undefined,
  given: Map<string, string>,
): ManifestParam | undefined {
  if (word.startsWith('--')) {
    const [, name = word, value] = /^([^=]*)=(.*)$/s.exec(word) ?? [];
    const flag = findFlag(name, command);
    if (!flag) return undefined;
    given.set(flag.word, value ?? '');
    return flag.takes === 'nothing' || value !== undefined ? undefined : flag;
  }
  for (let index = 1; index < word.length; index++) {
    const flag = findFlag(`-${word[index]}`, command);
    if (!flag) continue;
    const value = flag.takes === 'nothing' ? '' : word.slice(index + 1).replace(/^=/, '');
    given.set(flag.word, value);
    if (flag.takes !== 'nothing') return value === '' ? flag : undefined;
  }
  return undefined;
}

/** The flag of this long or short name; a command's own comes before one of every command. */
export function findFlag(
  name: string,
  command: ManifestCommand | undefined,
): ManifestParam | undefined {
  return flagsOf(command).find(
    ({ word, short }) => word === name || (short !== undefined && `-${short}` === name),
  );
}

/** The flags that a command takes, its own first. */
export function flagsOf(command: ManifestCommand | undefined): readonly ManifestParam[] {
  const own = command?.flags ?? [];
  const names = new Set(own.map(({ word }) => word));
  return [...own, ...globalFlags.filter(({ word }) => !names.has(word)), help];
}
