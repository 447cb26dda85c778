/** The table of commands, and its description as plain data, which help, completion and the documents read. */
import type * as z from 'zod/mini';
import { type Endpoint, type EndpointName, endpoint } from '../api/contract.js';
import type {
  ManifestCall,
  ManifestCommand,
  ManifestGroup,
  ManifestParam,
} from '../data/command-manifest.js';
import { resourceWords } from '../data/resources.js';
import { kebab } from '../data/text.js';
import type { Command, Params } from './define.js';
import { recordFields, type SchemaDefinition } from './record-fields.js';
import type { View } from './views.js';

type CommandLoader = () => Promise<{ readonly default: Command }>;

/** A noun and its verbs, keyed by the word typed. */
export interface Group {
  readonly about: string;
  readonly aliases: readonly string[];
  readonly commands: { readonly [verb: string]: CommandLoader };
}

/** A table entry is a group (`teams list`) or a command of one word (`api`, `doctor`). */
export type CommandTable = { readonly [word: string]: Group | CommandLoader };

/** Loads every command once and returns its description. */
export async function describeCommands(
  table: CommandTable,
): Promise<{ groups: ManifestGroup[]; commands: ManifestCommand[] }> {
  const groups: ManifestGroup[] = [];
  const loaded: { readonly words: readonly string[]; readonly command: Command }[] = [];
  for (const [word, entry] of Object.entries(table)) {
    if (typeof entry === 'function') {
      loaded.push({ words: [word], command: (await entry()).default });
      continue;
    }
    groups.push({ word, aliases: entry.aliases, about: entry.about });
    for (const [verb, load] of Object.entries((entry satisfies Group).commands))
      loaded.push({ words: [word, verb], command: (await load()).default });
  }
  const ofOperations = loaded.flatMap(({ command: { kind, calls = [] } }) =>
    kind === 'operation' && calls !== 'ofOperations' ? calls : [],
  );
  const commands = loaded.map(({ words, command }) =>
    describeCommand(words, command, [...new Set(ofOperations)]),
  );
  return { groups, commands };
}

function describeCommand(
  words: readonly string[],
  command: Command,
  ofOperations: readonly EndpointName[],
): ManifestCommand {
  const { calls: own = [] } = command;
  const names = own === 'ofOperations' ? ofOperations : own;
  const calls = names.map((name) => describeCall(endpoint(name)));
  return {
    words,
    summary: command.summary,
    about: command.about,
    examples: command.examples,
    args: describeParams(command.args, false),
    flags: describeParams(command.flags, true),
    needsOneOf: (command.needsOneOf ?? []) as readonly (readonly string[])[],
    excludes: (command.excludes ?? []) as readonly (readonly string[])[],
    calls,
    basis: command.basis ?? basisOf(calls),
    local: command.local,
    writes: command.kind !== 'read',
    asks: 'asks' in command ? command.asks : 'confirm' in command,
    shows: (command.shows ?? []).map((name) => `--${kebab(name)}`),
    fields: viewFields(command.view),
  };
}

function describeCall(row: Endpoint): ManifestCall {
  const stated = 'stated' in row.basis;
  return {
    route: row.route,
    basis: stated ? 'stated' : 'assumed',
    source: 'stated' in row.basis ? `contract ${row.basis.stated}` : row.basis.assumed,
    permission: row.permission,
  };
}

function basisOf(calls: readonly ManifestCall[]): ManifestCommand['basis'] {
  if (calls.length === 0) return 'local';
  return calls.some((call) => call.basis === 'assumed') ? 'assumed' : 'stated';
}

function describeParams(given: Params | undefined, asFlags: boolean): ManifestParam[] {
  return Object.entries(given ?? {}).map(([name, param]) => ({
    name,
    word: asFlags
      ? (param.word ?? `--${kebab(name)}`)
      : (param.placeholder ?? kebab(name).toUpperCase()),
    short: param.short,
    placeholder: param.placeholder ?? kebab(name).toUpperCase(),
    text: param.text,
    takes: param.takes,
    ...(param.commaList && { commaList: true }),
    ...(isRequired(param) && { required: true }),
    choices:
      '_zod' in param.schema ? enumWords(param.schema as z.ZodMiniType) : param.schema.choices,
    group: param.group,
    ...(param.rare && { rare: true }),
    ...(param.ifMissing !== undefined && { ifMissing: param.ifMissing }),
    completes: param.completes,
  }));
}

function isRequired({ takes, schema }: Params[string]): boolean {
  return takes !== 'nothing' && !schema.safeParse(undefined).success;
}

function viewFields({ columns, resource }: View<never>): readonly string[] {
  if (columns || resource === undefined) return columns ?? [];
  return [...new Set([...recordFields(resource), ...resourceWords[resource].columns])];
}

/** The values of an enum, also inside optional, default and array, and at the end of a pipe. */
function enumWords(schema: z.core.$ZodType): readonly string[] | undefined {
  const def: SchemaDefinition = schema._zod.def;
  if (def.type === 'enum' && def.entries) return Object.values(def.entries);
  const inner = def.innerType ?? def.out ?? (def.type === 'array' ? def.element : undefined);
  return inner && enumWords(inner);
}
