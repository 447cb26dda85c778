/** Checks of a parsed command line that need only the command table, not the command's own module. */
import type { GlobalFlags } from '../config/environment.js';
import {
  argUsage,
  exampleLine,
  type ManifestCommand,
  type ManifestGroup,
  type ManifestParam,
} from '../data/command-manifest.js';
import { didYouMean } from '../data/nearest.js';
import { referenceKindsOf, resourceNames, resourceWords } from '../data/resources.js';
import { orList, shellQuote } from '../data/text.js';
import { MissingArgumentError, UsageError } from '../errors.js';
import { globalFlags } from './global-flags.js';

/**
 * Throws UsageError for a missing argument, a value outside its choices, a missing required flag, or
 * flags that exclude each other. `mayAsk`: whether a missing argument may be asked for later; called
 * only where one is missing.
 */
export function checkAgainstTable(
  command: ManifestCommand,
  values: RawValues,
  mayAsk: () => boolean = () => false,
): void {
  const missing = missingArgument(command, values);
  if (missing && !(canBePicked(command, values) && mayAsk())) throw missing;
  const help = `See: rosterctl ${command.words.join(' ')} --help`;
  const isNamed = (name: string) => isGiven(values[name]);
  const [, verb] = command.words;
  // A write without arguments names no record to change, so it creates one.
  const purpose = !command.writes ? 'do' : command.args.length === 0 ? 'create' : 'change';
  for (const flag of [...command.args, ...command.flags]) {
    if (flag.required && !isNamed(flag.name) && flag.word.startsWith('--'))
      throw new UsageError(flag.ifMissing ?? `${flag.word} is missing.`, {
        hint: exampleOf(command, flag.word, values) ?? help,
      });
    if (flag.choices)
      for (const word of [values[flag.name]].flat()) checkChoice(flag, word, verb === 'list');
  }
  const misplaced = filterBesideIds(command, values);
  if (misplaced) throw misplaced;
  for (const set of command.needsOneOf)
    if (!set.some(isNamed)) {
      const question = command.args.find(({ name }) => set.includes(name))?.ifMissing;
      const nothing = `Nothing to ${purpose}. Add ${orList(typedWords(command, set))}.`;
      throw new UsageError(question ?? nothing, {
        hint: command.writes ? (fieldHint(command, values) ?? help) : exampleOf(command),
      });
    }
  for (const set of command.excludes) {
    const both = set.filter(isNamed);
    if (both.length > 1)
      throw new UsageError(`${typedWords(command, both).join(' and ')} cannot be given together.`, {
        hint: help,
      });
  }
}

/** Returns the error for the first required argument that was not given. */
export function missingArgument(
  command: ManifestCommand,
  values: RawValues,
): MissingArgumentError | undefined {
  const missing = command.args.find(({ name, required }) => required && !isGiven(values[name]));
  if (!missing) return undefined;
  const resource = resourceNames.find((name) => missing.completes === `id:${name}`);
  if (resource === undefined) {
    const usage = ['rosterctl', ...command.words, ...command.args.map(argUsage)].join(' ');
    const [noun, list] = nounOfArg(missing);
    const choice = missing.choices ? ` Use ${orList(missing.choices)}.` : '';
    return new MissingArgumentError(missing.ifMissing ?? `Which ${noun}?${choice}`, {
      hint: list === undefined ? `Usage: ${usage}` : `See: rosterctl ${list}`,
    });
  }
  const kinds = orList(referenceKindsOf(resource).map((kind) => `${kind}:`));
  return new MissingArgumentError(
    `${missing.ifMissing ?? `Which ${resourceWords[resource].noun}?`} Give an id, or ${kinds}.`,
    { hint: `To find ids: rosterctl ${resource} list` },
  );
}

/** The noun of an argument and the command that lists such things, by the kind of its completion. */
const argNouns: { readonly [completes: string]: readonly [noun: string, list?: string] } = {
  run: ['run', 'runs list'],
  cursor: ['cursor', 'cursors list'],
  profile: ['profile', 'profile list'],
  configKey: ['setting', 'config list'],
  directory: ['folder'],
};

function nounOfArg({ completes = '', word }: ManifestParam) {
  return argNouns[completes] ?? ([word.split('|')[0]?.toLowerCase() ?? ''] as const);
}

/** True if the first argument of a command names something that can be listed, and every other one is given. */
export function canBePicked({ args }: ManifestCommand, values: RawValues): boolean {
  const [first, ...others] = args;
  const isListed = /^(id:|profile$|run$)/.test(first?.completes ?? '');
  return isListed && others.every(({ name }) => isGiven(values[name]));
}

/** True if a value was given; an empty list or a switch that is off was not. */
export function isGiven(value: unknown): boolean {
  return value !== undefined && value !== false && !(Array.isArray(value) && value.length === 0);
}

/** Returns the error for a filter beside ids, as of somebody who wants to set the field that it looks at. */
function filterBesideIds(command: ManifestCommand, values: RawValues): UsageError | undefined {
  const { words, args, flags, examples, needsOneOf } = command;
  const ids = args.flatMap(({ name }) => values[name] ?? []);
  const filter = flags.find(
    ({ name, group, completes = '' }) =>
      group === 'selection' && /^(id|value):/.test(completes) && isGiven(values[name]),
  );
  const resource = resourceNames.find((name) => name === words[0]);
  // A conversion sets fields of a player.
  const canSet = needsOneOf.some((set) => set.includes('set'));
  if (!filter || !resource || !canSet || ids.length === 0) return undefined;
  const { name, word, completes } = filter;
  const field = completes?.split(':')[2] ?? name;
  const setting = examples.flatMap(([, line]) => /-F .*/.exec(line) ?? []);
  const change = setting.find((text) => text.includes(field)) ?? `-F ${field}=VALUE`;
  const typed = ids.map((id) => shellQuote(String(id))).join(' ');
  return new UsageError(
    `${word} selects ${resourceWords[resource].plural}, so it cannot be given with ids.`,
    { hint: `To set a field: rosterctl ${words.join(' ')} ${typed} ${change}` },
  );
}

/** Suggests the flag for a field that was typed as `key=value` among the ids. */
function fieldHint({ args, flags }: ManifestCommand, values: RawValues): string | undefined {
  const typed = args.flatMap(({ name }) => values[name] ?? []);
  const fields = typed.filter((value) => typeof value === 'string' && isAssignment(value));
  if (fields.length === 0 || !flags.some(({ word }) => word === '--set')) return undefined;
  return `Did you mean: ${fields.map((field) => `-F ${shellQuote(String(field))}`).join(' ')}`;
}

/** True for a word such as `role=Support`. */
export function isAssignment(word: string): boolean {
  return /^[A-Za-z_][\w.[\]]*=./.test(word);
}

/** Returns the first example of the command, or of this flag, with the arguments that were typed. */
function exampleOf(
  command: ManifestCommand,
  flag?: string,
  values: RawValues = {},
): string | undefined {
  const { args, examples } = command;
  const lines = examples.map(([, line]) => line);
  const line = lines.find((text) => flag === undefined || text.split(' ').includes(flag));
  if (line === undefined) return undefined;
  const typed = args
    .flatMap(({ name }) => values[name] ?? [])
    .filter((value) => typeof value === 'string');
  const flags = line.slice(Math.max(0, line.search(/(?<= |^)--/)));
  const example = typed.length > 0 ? [...typed.map(shellQuote), flags].join(' ') : line;
  return `For example: ${exampleLine(command, example)}`;
}

/** Throws UsageError for a word outside a fixed set; it suggests the nearest one and lists all. */
function checkChoice(
  flag: Pick<ManifestParam, 'word' | 'choices'>,
  word: unknown,
  isFilterOfList: boolean,
): void {
  if (typeof word !== 'string' || !flag.choices) return;
  // HTTP methods, which are choices in capitals, may be typed in any case.
  if (flag.choices.includes(word) || flag.choices.includes(word.toUpperCase())) return;
  const suggestion = didYouMean(word, flag.choices);
  const meansAll = isFilterOfList && /^(all|any)$/i.test(word);
  throw new UsageError(`Unknown value "${word}" for ${flag.word}.${suggestion}`, {
    hint: `${flag.choices.length > 1 ? 'Use one of' : 'The only value is'}: ${flag.choices.join(', ')}${meansAll ? `\nTo list all, leave ${flag.word} out.` : ''}`,
  });
}

/**
 * Throws UsageError for a value that is not UTF-8, because it would be sent with U+FFFD in place of
 * what was typed. File names are not checked: no file has the decoded name.
 */
export function checkEncoding(
  { command, values, globals }: ParsedCommand,
  notUtf8: readonly string[],
): void {
  const own = [...command.args, ...command.flags].map((param) => ({ param, of: values }));
  const global = globalFlags.map((param) => ({ param, of: { ...globals } as RawValues }));
  for (const { param, of } of [...own, ...global]) {
    if (param.completes === 'file' || param.completes === 'directory') continue;
    for (const value of [of[param.name]].flat()) {
      if (typeof value !== 'string' || !value.includes('\ufffd')) continue;
      const isFileOfField = param.name === 'set' && /^[^=]*=@/.test(value);
      if (isFileOfField || !notUtf8.some((typed) => typed.includes(value))) continue;
      throw new UsageError(`${param.word} "${value}" is not UTF-8. Nothing was sent.`, {
        hint: 'Type it in a terminal that is set to UTF-8, or convert it: iconv -f latin1 -t utf-8',
      });
    }
  }
}

export type RawValue = string | readonly string[] | boolean | undefined;
/** The raw values of a command line, by parameter name. */
export type RawValues = Readonly<Record<string, RawValue>>;

/** A command line with its words and flags resolved; values are not parsed yet. */
export type Parsed =
  | { readonly kind: 'version' }
  | { readonly kind: 'start'; readonly globals: GlobalFlags }
  | {
      readonly kind: 'help';
      readonly of: ManifestCommand | ManifestGroup | undefined;
      readonly long: boolean;
    }
  | ParsedCommand;

export interface ParsedCommand {
  readonly kind: 'command';
  readonly command: ManifestCommand;
  readonly values: RawValues;
  readonly globals: GlobalFlags;
}

/** Returns parameters as they are typed: `--clear-note`. */
export function typedWords({ args, flags }: ManifestCommand, names: readonly string[]) {
  return names.map((name) => [...args, ...flags].find((each) => each.name === name)?.word ?? name);
}
