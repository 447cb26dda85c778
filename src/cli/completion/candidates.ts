/** The one completer: the words that fit at the cursor, from the command manifest and what is cached. */
import {
  type CommandManifest,
  commandsAlone,
  commandsOf,
  findGroup,
  type ManifestParam,
} from '../../data/command-manifest.js';
import { referenceKinds } from '../../data/references.js';
import { type ResourceName, referenceKindsOf, resourceNames } from '../../data/resources.js';
import { verbAliasesOf } from '../resolve-command.js';
import { findFlag, flagsOf, type Line } from './line.js';

/**
 * Lines, each a word or a word, a tab and a description, all safe to show. One text, since thousands
 * of ids handled one by one would take too long.
 */
export type Candidates = string;

/** The answer to a TAB. */
export interface Completion {
  /**
   * The text that follows a chosen word: a space or none. `replace`: the candidates do not begin as
   * typed and take its place, with a space. `files`, `folders`: the shell completes a path by itself.
   */
  readonly directive: 'space' | 'nospace' | 'replace' | 'files' | 'folders';
  /** The part of the word being typed that stays: `--status=pending,`. */
  readonly kept: string;
  /** Each follows `kept`; empty where the shell completes a path. */
  readonly candidates: Candidates;
}

/** Values that the command manifest does not hold; read when they are asked for. */
export interface Knowledge {
  settings(): Candidates;
  /** The words that a setting accepts; none if it accepts any text. */
  settingWords(key: string): Candidates;
  profiles(): Candidates;
  /** Remembered ids with their names, without those that are on the line already. */
  ids(resource: string): Candidates;
  /** Remembered values of one kind of reference, each with the name of its record; names with the ids. */
  references(resource: string, kind: string): Candidates;
  /** The values of a field that the service sent; of an object its keys. */
  values(resource: string, path: string): Candidates;
  /** The newest runs of this machine. */
  runs(): Candidates;
  /** The names of --since-last; of one list, or of all. */
  cursors(resource: string | undefined): Candidates;
  /** Names of the fields that the service sent. */
  fields(resource: string): Candidates;
}

/**
 * Returns the words that can replace `current`: the candidates that begin with it; where none does,
 * all, since zsh and fish also match in other ways.
 */
export function completionFor(
  line: Line,
  current: string,
  manifest: CommandManifest,
  knowledge: Knowledge,
): Completion | undefined {
  const { command, waiting, ended } = line;
  const at = { line, manifest, knowledge };
  if (waiting) return valueOf(waiting, '', current, at);
  if (!ended && current.startsWith('-')) {
    const [name = '', value] = current.split(/=(.*)/s);
    if (value === undefined || !name.startsWith('--')) return flagWords(line, current);
    // Only written with = it takes a value: the fields to print.
    const flag = findFlag(name === '--json' ? '--fields' : name, command);
    return flag && valueOf(flag, `${name}=`, value, at);
  }
  if (line.noun === undefined) return words(firstWords(manifest), current);
  if (line.group && line.lacksVerb) return words(verbsOf(line.group.word, manifest), current);
  const param = command && positional(command.args, line.positionals.length);
  return param && valueOf(param, '', current, at);
}

interface CompletionContext {
  readonly line: Line;
  readonly manifest: CommandManifest;
  readonly knowledge: Knowledge;
}

/** Completes a value; `kept` is the part of the same word before it. */
function valueOf(
  param: ManifestParam,
  kept: string,
  value: string,
  context: CompletionContext,
): Completion | undefined {
  const { completes, placeholder } = param;
  if (completes === 'file') return { directive: 'files', kept, candidates: '' };
  if (completes === 'directory') return { directive: 'folders', kept, candidates: '' };
  if (completes === 'topic') return topic(value, context);
  if (completes?.startsWith('id:')) {
    const resource = completes.slice('id:'.length) as ResourceName;
    return completeRecord(resource, kept, value, context.knowledge);
  }
  if (completes?.startsWith('pair:')) return pair(completes.slice('pair:'.length), value, kept);
  const offered = param.choices?.join('\n') ?? offeredValues(completes ?? '', context);
  const isList = param.commaList || placeholder.includes(',');
  // --where field=value, -F k=v, --form 'question=answer'
  if (!placeholder.includes('=')) return listed(offered, { kept, value, isList });
  const pairs = offered.replace(/^([^\t\n]+).*$/gm, '$1=');
  const found = listed(pairs, { kept, value, isList });
  return found && { ...found, directive: 'nospace' };
}

/** Completes an id, a name to its id, and after `email:` and the like what they find. */
function completeRecord(
  resource: ResourceName,
  kept: string,
  value: string,
  knowledge: Knowledge,
): Completion | undefined {
  const kinds = ['id', ...referenceKindsOf(resource)];
  const [prefix, kind = ''] = /^([a-z]+):/.exec(value) ?? [];
  if (prefix !== undefined && kinds.includes(kind)) {
    const offered = kind === 'id' ? knowledge.ids(resource) : knowledge.references(resource, kind);
    const typed = value.slice(prefix.length);
    const found = beginning(offered, typed);
    if (found !== '') return answer(found, `${kept}${prefix}`);
    return replacing(beginning(offered, typed, 'i'), `${kept}${prefix}`);
  }
  // An id that begins as a reference does has to be typed with id:.
  const ids = knowledge.ids(resource).replace(prefixedId, 'id:$&');
  if (beginning(ids, value, 'i') !== '') return answer(matching(ids, value), kept);
  const named = withName(ids, value);
  if (named !== '') return replacing(named, kept);
  const prefixes = kinds.map((each) => `${each}:`).join('\n');
  const begun = value === '' ? '' : beginning(prefixes, value);
  if (begun !== '') return { directive: 'nospace', kept, candidates: begun };
  return answer(ids, kept);
}

function replacing(candidates: Candidates, kept: string): Completion | undefined {
  return candidates === '' ? undefined : { directive: 'replace', kept, candidates };
}

const prefixedId = new RegExp(`^(?:${referenceKinds.join('|')}):`, 'gm');

/** The lines in whose name a word begins as typed. */
function withName(ids: Candidates, typed: string): Candidates {
  const start = typed.replace(/[^\w\s]/g, '\\$&');
  return (ids.match(new RegExp(`^[^\t\n]+\t(?:|[^\n]* )${start}[^\n]*$`, 'gim')) ?? []).join('\n');
}

/** `KEY=VALUE` of a fixed set, `list=array|data paging=none|page`: first the key, then its values. */
function pair(known: string, current: string, kept: string): Completion | undefined {
  const values = new Map(
    known.split(' ').map((each) => each.split('=') as [key: string, values: string]),
  );
  const [key = '', value] = current.split(/=(.*)/s);
  if (value === undefined) {
    const keys = [...values.keys()].map((each) => `${each}=`).join('\n');
    const found = listed(keys, { kept, value: key, isList: false });
    return found && { ...found, directive: 'nospace' };
  }
  const offered = values.get(key) ?? values.get(key.replace(/\.[^.]*$/, '')) ?? '';
  return listed(offered.replaceAll('|', '\n'), { kept: `${kept}${key}=`, value, isList: false });
}

function offeredValues(completes: string, { line, knowledge }: CompletionContext): Candidates {
  const [kind, typed, path = ''] = completes.split(':');
  const resource = typed ?? line.command?.words[0] ?? line.noun ?? '';
  switch (kind) {
    case 'field':
      return [
        ...new Set([...(line.command?.fields ?? []), ...knowledge.fields(resource).split('\n')]),
      ]
        .filter((field) => field !== '')
        .join('\n');
    case 'value':
      return knowledge.values(resource, path);
    case 'resource':
      return resourceNames.join('\n');
    case 'run':
      return knowledge.runs();
    case 'cursor':
      return knowledge.cursors(line.command?.args.length === 0 ? resource : undefined);
    case 'profile':
      return knowledge.profiles();
    case 'configKey':
      return knowledge.settings();
    case 'configValue':
      return knowledge.settingWords(line.positionals[0] ?? '');
    default:
      return '';
  }
}

interface Value {
  readonly kept: string;
  readonly value: string;
  /** Several in one word, separated by commas. */
  readonly isList: boolean;
}

function listed(offered: Candidates, { kept, value, isList }: Value): Completion | undefined {
  if (!isList || !value.includes(',')) return answer(matching(offered, value), kept);
  const before = value.slice(0, value.lastIndexOf(',') + 1);
  const chosen = new Set(before.split(','));
  const left = offered.split('\n').filter((candidate) => !chosen.has(typedPart(candidate)));
  return answer(matching(left.join('\n'), value.slice(before.length)), `${kept}${before}`);
}

/** A word that has other names, too; they are offered only where its own does not match. */
interface Name {
  readonly word: string;
  readonly aliases: readonly string[];
  readonly text: string;
}

function firstWords(manifest: CommandManifest): Name[] {
  return [
    ...manifest.groups.map(({ word, aliases, about }) => ({ word, aliases, text: about })),
    ...commandsAlone(manifest).map(({ words: [word = ''], summary }) => ({
      word,
      aliases: [],
      text: summary,
    })),
  ];
}

function verbsOf(noun: string | undefined, manifest: CommandManifest): Name[] {
  const group = findGroup(noun, manifest);
  if (!group) return [];
  const all = commandsOf(group, manifest);
  return all.map(({ words: [, word = ''], summary }) => ({
    word,
    aliases: verbAliasesOf(word, all),
    text: summary,
  }));
}

function words(names: readonly Name[], current: string): Completion | undefined {
  const own = names.map(({ word, text }) => describedWord(word, text)).join('\n');
  if (beginning(own, current, 'i') !== '') return answer(matching(own, current), '');
  const others = names.flatMap(({ aliases, text }) =>
    aliases.map((word) => describedWord(word, text)),
  );
  return answer(matching([own, ...others].join('\n'), current), '');
}

function topic(current: string, { line, manifest }: CompletionContext): Completion | undefined {
  const [noun, ...further] = line.positionals;
  if (further.length > 0) return undefined;
  if (noun !== undefined) return words(verbsOf(noun, manifest), current);
  const topics = manifest.topics.map(({ name, about }) => ({
    word: name,
    aliases: [],
    text: about,
  }));
  // A topic and a command of one name have one page.
  const names = new Set(topics.map(({ word }) => word));
  const others = firstWords(manifest).filter(({ word }) => !names.has(word));
  return words([...topics, ...others], current);
}

function flagWords({ command, given }: Line, current: string): Completion | undefined {
  const offered = flagsOf(command)
    .filter(({ word, takes }) => takes === 'values' || !given.has(word))
    .map(({ word, text }) => describedWord(word, text));
  // No others: a shell that matches loosely would offer a flag that only resembles the typed one.
  return answer(beginning(offered.join('\n'), current, 'i'), '');
}

/** The last one takes all further words if it is variadic. */
function positional(args: readonly ManifestParam[], index: number): ManifestParam | undefined {
  const last = args.at(-1);
  return args[index] ?? (last?.takes === 'values' ? last : undefined);
}

function answer(candidates: Candidates, kept: string): Completion | undefined {
  return candidates === '' ? undefined : { directive: 'space', kept, candidates };
}

/** Those that begin as typed, else those that do in another case, else all. */
function matching(candidates: Candidates, typed: string): Candidates {
  return beginning(candidates, typed) || beginning(candidates, typed, 'i') || candidates;
}

/** The candidates that begin so. */
export function beginning(candidates: Candidates, typed: string, mode = ''): Candidates {
  if (typed === '') return candidates;
  const start = typed.replace(/[^\w\s]/g, '\\$&');
  return (candidates.match(new RegExp(`^${start}.*$`, `gm${mode}`)) ?? []).join('\n');
}

/** The part of a candidate that is typed. */
export function typedPart(candidate: string): string {
  const tab = candidate.indexOf('\t');
  return tab < 0 ? candidate : candidate.slice(0, tab);
}

/** Joins a word and what it means. */
export function describedWord(word: string, text: string): string {
  return text === '' ? word : `${word}\t${text}`;
}
