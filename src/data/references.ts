/** References: what a user may type to name a record besides its id (`email:`, `name:`, `discord:`, `tag:`), which records answer to them, and the teams that a record names by id. */
import { isObject, type JsonObject } from './json.js';
import { nearest } from './nearest.js';
import { namedTest, normalName, plainText, valuesAt } from './path.js';
import {
  type LookedUpKind,
  type Overrides,
  type ResourceName,
  type ResourceWords,
  referenceKindsOf,
  resourceWords,
} from './resources.js';
import { foldCase, normalizedText, orList, shellQuote } from './text.js';

/** The kinds of references, by their prefix. */
export const referenceKinds = [
  'id',
  'email',
  'name',
  'discord',
  'tag',
] as const satisfies readonly ReferenceKind[];
type ReferenceKind = 'id' | LookedUpKind;

/** A reference as typed, parsed. */
export interface Reference {
  readonly kind: ReferenceKind;
  /** The word without its prefix: an id is verbatim, anything else is trimmed. */
  readonly value: string;
  /** The reference with its prefix; a plain id as it is. */
  readonly text: string;
}

const prefixed = new RegExp(`^(${referenceKinds.join('|')}):`);

/** Parses a word of the command line: `email:ann@example.org`, `id:WORD`, or a bare id. */
export function parseReference(word: string): Reference {
  const [prefix, kind] = prefixed.exec(word) ?? [];
  if (prefix === undefined) return { kind: 'id', value: word, text: word };
  const value = word.slice(prefix.length);
  if (kind === 'id') return { kind, value, text: word };
  return referenceOf(kind as LookedUpKind, value);
}

/**
 * Returns the question whether a bare word was meant as a reference: one that looks like an e-mail
 * address, has a blank, or begins with a misspelt prefix. Undefined for what looks like an id.
 */
export function meantReference(word: string, resource: ResourceName): string | undefined {
  if (prefixed.test(word)) return undefined;
  const kinds = referenceKindsOf(resource);
  const [, prefix = '', value = ''] = /^([A-Za-z]+):(?=\S)(.+)$/s.exec(word) ?? [];
  const typo = prefix === '' ? undefined : nearest(prefix.toLowerCase(), kinds);
  const own = /^[^\s@]+@[^\s@]+$/.test(word) ? 'email' : /\S\s+\S/.test(word) ? 'name' : undefined;
  const kind = kinds.find((known) => known === (typo ?? own));
  return kind && didYouMeanReference(referenceOf(kind, typo === undefined ? word : value));
}

/**
 * Returns the hint for a word that names no record: the reference that it may have meant, and where to
 * look. A word without a digit is a name rather than an id, and is searched for.
 */
export function missingHint(word: string, resource: ResourceName): string {
  const list = `rosterctl ${resource} list`;
  const bare = pasted(word);
  const words = bare.split(/[\s,;]+/);
  if (words.length > 1 && words.every((each) => /\d/.test(each)))
    return `Give each id by itself: ${words.map(shellQuote).join(' ')}`;
  const other = bare === word || bare === '' ? undefined : didYouMeanReference({ text: bare });
  const meant = meantReference(bare, resource) ?? other;
  if (meant !== undefined) return `${meant}\nSee: ${list}`;
  return /^[^\d:]+$/.test(word)
    ? `To search: ${list} --search ${shellQuote(word)}`
    : `See: ${list}`;
}

/** Returns a word without what is pasted along with it: quotes, brackets, commas, the URL around an id. */
function pasted(word: string): string {
  const last = /^https?:\/\/[^?#]*\/([^/?#]+)/.exec(word.trim())?.[1];
  return last ?? word.replace(/^[\s"'<(]+|[\s"'>),;]+$/g, '');
}

/** Returns `Did you mean 'name:Ann Example'?`. */
export function didYouMeanReference({ text }: Pick<Reference, 'text'>): string {
  return `Did you mean ${shellQuote(text)}?`;
}

/** Returns the reference of a plain value, such as a CSV cell. */
export function referenceOf(kind: LookedUpKind, value: string): Reference {
  return { kind, value: value.trim(), text: `${kind}:${value.trim()}` };
}

/** The column of a CSV that names the record of each line. */
export interface CsvKey {
  readonly kind: ReferenceKind;
  readonly names: readonly string[];
}

/** The key of a CSV without `--key`. */
export const idKey: CsvKey = { kind: 'id', names: ['id'] };

/** Returns the columns that `--key` may name besides the id. */
export function csvKeysOf(resource: ResourceName, overrides: Overrides): readonly CsvKey[] {
  return referenceKindsOf(resource).map((kind) => ({
    kind,
    names: [kind, ...(fieldPathsOf(resource, kind, overrides) ?? []), ...obviousNames[kind]],
  }));
}

/** Returns an id as a word that means this id: one that begins with a prefix gets `id:`. */
export function wordOfId(id: string): string {
  return prefixed.test(id) ? `id:${id}` : id;
}

/** Returns an id as a word of a command to copy: quoted for a shell, and never taken for a flag. */
export function quotedId(id: string): string {
  return shellQuote(id.startsWith('-') ? `id:${id}` : wordOfId(id));
}

/** How messages call what a reference holds. */
export const kindWords: { readonly [K in LookedUpKind]: string } = {
  email: 'e-mail',
  name: 'name',
  discord: 'Discord user',
  tag: 'gamer tag',
};

/** Names that a record without documented fields may use, normalized: `discord_user_id` is `discorduserid`. */
const obviousNames: { readonly [K in LookedUpKind]: readonly string[] } = {
  email: ['email', 'emailaddress', 'mail'],
  name: ['name', 'displayname', 'fullname', 'title'],
  discord: ['discord', 'discorduserid', 'discordid', 'discordusername', 'discordname'],
  tag: ['gamertag', 'gamertags'],
};

/** Within an object or a list of objects, as in `gamerTags` or `discord`, the fields that count. */
const innerNames: { readonly [K in LookedUpKind]: readonly string[] } = {
  email: ['address', 'email'],
  name: [],
  discord: ['id', 'userid', 'username', 'name'],
  tag: ['gamertag', 'tag', 'name'],
};

/** The documented fields of a reference; undefined for the obvious names. */
function referenceFields(
  resource: ResourceName,
  kind: LookedUpKind,
): readonly string[] | undefined {
  const { references }: ResourceWords = resourceWords[resource];
  return references[kind];
}

/** Returns the setting that names the fields of a kind of reference: `refs.players.email`. */
export function referenceSetting(resource: ResourceName, kind: LookedUpKind): string {
  return `refs.${resource}.${kind}`;
}

/** Returns the default of that setting as it would be typed. */
export function defaultFields(resource: ResourceName, kind: LookedUpKind): string {
  return referenceFields(resource, kind)?.join(',') ?? 'auto';
}

/** Returns the fields of `refs.<resource>.<kind>` or of the contract; undefined for the obvious names. */
function fieldPathsOf(
  resource: ResourceName,
  kind: LookedUpKind,
  overrides: Overrides,
): readonly string[] | undefined {
  const typed = overrides[referenceSetting(resource, kind)];
  if (typed !== undefined && typed !== 'auto') return typed.split(/\s*,\s*/);
  return referenceFields(resource, kind);
}

/**
 * Returns a function that reads the values by which a record answers to one kind of reference, by
 * `refs.<resource>.<kind>` where it is set: without empty ones, and undefined if the record has no such field.
 */
export function referenceValues(
  resource: ResourceName,
  kind: LookedUpKind,
  overrides: Overrides,
): (record: JsonObject) => readonly string[] | undefined {
  const paths = fieldPathsOf(resource, kind, overrides);
  const find = paths ? byPath(paths) : byName(obviousNames[kind]);
  return (record) => {
    const found = find(record);
    if (found.length === 0) return undefined;
    return found.flatMap((value) => textsIn(value, innerNames[kind]));
  };
}

function byPath(paths: readonly string[]): (record: JsonObject) => readonly unknown[] {
  const fields = paths.map((path) => ({ path, root: path.split('.', 1)[0] ?? '' }));
  return (record) =>
    fields.flatMap(({ path, root }) => {
      const value = record[root];
      // An empty list has the field, without a value.
      return Array.isArray(value) && value.length === 0 ? [null] : (valuesAt(record, path) ?? []);
    });
}

function byName(names: readonly string[]): (record: JsonObject) => readonly unknown[] {
  const isNamed = namedTest(names);
  return (record) =>
    Object.keys(record)
      .filter(isNamed)
      .map((key) => record[key]);
}

function textsIn(value: unknown, names: readonly string[]): readonly string[] {
  if (value === null || value === undefined || typeof value === 'boolean') return [];
  if (Array.isArray(value)) return value.flatMap((each) => textsIn(each, names));
  if (isObject(value))
    return Object.entries(value)
      .filter(([key, inner]) => names.includes(normalName(key)) && !isObject(inner))
      .flatMap(([, inner]) => textsIn(inner, []));
  const text = plainText(value).trim();
  return text === '' ? [] : [text];
}

/** True for names and tags, where an equal spelling is preferred; e-mail and Discord have no case. */
export function comparesExactly(kind: ReferenceKind): boolean {
  return kind === 'name' || kind === 'tag';
}

/** True if a record answers to a reference: ids exactly, others in any case and Unicode normalization. */
export function answersTo(
  record: JsonObject,
  { kind, value }: Reference,
  resource: ResourceName,
  overrides: Overrides,
): boolean {
  if (kind === 'id') return record['id'] === value;
  const folded = foldCase(value);
  const own = referenceValues(resource, kind, overrides)(record) ?? [];
  return folded !== '' && own.some((each) => foldCase(each) === folded);
}

/** Returns why a word cannot name a record of a resource, and after a line break what to type; undefined if it can. */
export function referenceProblem(
  { kind, value, text }: Reference,
  resource: ResourceName,
): string | undefined {
  if (kind === 'id') return undefined;
  const known = referenceKindsOf(resource);
  if (!known.includes(kind)) {
    const ways = orList(['id', ...known.map((each) => `${each}:`)]);
    const { plural, columns }: ResourceWords = resourceWords[resource];
    const problem = `${plural} are found by ${ways}, not by ${kind}:.`;
    // `--tag` selects by a label, which `tag:` (a gamer tag) does not.
    if (!columns.includes('tags') || kind !== 'tag' || value === '') return problem;
    return `${problem}\nTo find them: rosterctl ${resource} list --tag ${shellQuote(value)}`;
  }
  return value === '' ? `Add the ${kindWords[kind]} after "${text}".` : undefined;
}

/** Returns a row whose id is empty, and so unusable, until its reference is resolved. */
export function rowOf(
  { kind, value, text }: Reference,
  row: number,
): { row: number; id: string; ref?: string } {
  return kind === 'id' ? { row, id: value } : { row, id: '', ref: text };
}

/** Returns a text that is equal for references that must name the same record. */
export function identityOf({ kind, value }: Reference): string {
  if (kind === 'id') return `id:${value}`;
  return `${kind}:${comparesExactly(kind) ? normalizedText(value) : foldCase(value)}`;
}

// The contract does not show whether a player names one team, several ids or several teams.
const teamFields = ['teamid', 'teamids', 'team', 'teams'];

/** Returns the fields of a record, of a player or of what makes one, that may name teams. */
export function teamKeys(record: JsonObject): readonly string[] {
  return Object.keys(record).filter((key) => teamFields.includes(normalName(key)));
}

/** Returns a record in whose team fields each known id is `Lanternfish (team_1)`. */
export function withTeamNames(
  record: JsonObject,
  names: ReadonlyMap<string, string> = new Map(),
): JsonObject {
  const named = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(named);
    const name = names.get(String(value)) ?? '';
    return name === '' ? value : `${name} (${String(value)})`;
  };
  return {
    ...record,
    ...Object.fromEntries(teamKeys(record).map((key) => [key, named(record[key])])),
  };
}
