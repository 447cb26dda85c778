import { parseRoute } from '../data/http.js';
import { didYouMean } from '../data/nearest.js';
import { type ResourceName, resourceNames, resourceWords } from '../data/resources.js';
import { splitWords } from '../data/text.js';
import { UsageError } from '../errors.js';
import {
  organizationPlaces,
  outputFormats,
  pagingModes,
  timeStyles,
  updateSemantics,
} from './choices.js';
import {
  dottedPath,
  duration,
  integer,
  keepTime,
  nameList,
  oneOf,
  onOff,
  parameterName,
  type Parse,
  parseRate,
  queryText,
} from './parse.js';

/** One setting: where its text may come from, how it is read, what stands without it. */
export interface SettingKey<T = unknown> {
  readonly name: string;
  readonly text: string;
  readonly env?: string;
  readonly flag?: 'output' | 'time' | 'timeout' | 'retries' | 'maxWait';
  /** A variable that other programs share: counts only where nothing of ours is set. */
  readonly fallbackEnv?: string;
  /** As it would be typed; absent = unset. */
  readonly default?: string;
  /** Only a profile may have it, not the defaults of all. */
  readonly profileOnly?: boolean;
  readonly parse: Parse<T>;
}

/** A setting that always has a value. */
export type DefaultedKey<T> = SettingKey<T> & { readonly default: string };

/** The settings that have a place of their own in `Settings`. */
export const namedKeys = {
  output: named('output', 'how results are printed', oneOf(outputFormats), {
    flag: 'output',
    env: 'ROSTERCTL_OUTPUT',
    default: 'table',
  }),
  time: named('time', 'how times are written', oneOf(timeStyles), {
    flag: 'time',
    env: 'ROSTERCTL_TIME',
  }),
  timeout: named('timeout', 'how long to wait for the first byte of an answer', duration(1), {
    flag: 'timeout',
    env: 'ROSTERCTL_TIMEOUT',
    default: '30s',
  }),
  retries: named('retries', 'extra attempts after the first', integer(0, 100), {
    flag: 'retries',
    env: 'ROSTERCTL_RETRIES',
    default: '3',
  }),
  maxWait: named('maxWait', 'longest single wait that a Retry-After may cause', duration(0), {
    flag: 'maxWait',
    env: 'ROSTERCTL_MAX_WAIT',
    default: '60s',
  }),
  concurrency: named('concurrency', 'requests at once in a bulk run', integer(1, 256), {
    env: 'ROSTERCTL_CONCURRENCY',
    default: '4',
  }),
  rate: named('rate', 'requests per second in a bulk run', parseRate, {
    env: 'ROSTERCTL_RATE',
    default: 'none',
  }),
  pager: named('pager', 'the program that shows long output; none for none', parsePager, {
    env: 'ROSTERCTL_PAGER',
    lastEnv: 'PAGER',
  }),
  'undo.keep': named('undo.keep', 'how long runs undo stays possible, or off', keepTime, {
    default: '30d',
  }),
  'completion.cache': named('completion.cache', 'remember ids for completion', onOff, {
    default: 'on',
  }),
  'key.command': named('key.command', 'a program that prints the key', parseCommand, {
    profileOnly: true,
  }),
} as const;

const neverSent = 'id,organizationId,createdAt,updatedAt';

const pageWords = ['page', 'limit', 'offset', 'cursor', 'after', 'pageToken'] as const;

interface GuessKey extends SettingKey<string> {
  /** Its name for all resources that have such a key: `columns.<resource>`. */
  readonly forAll?: string;
}

/** What the contract does not show and an admin may set right; each value stays text. */
const guessKeys: readonly GuessKey[] = [
  ...ofEachResource(routeKeys),
  ...ofEachResource((resource) => [
    guess(`lists.${resource}.path`, 'where the records stand in the answer', dottedPath, 'auto'),
    guess(`lists.${resource}.query`, 'query parameters of the list call', queryText),
    guess(`columns.${resource}`, 'columns of the table', nameList),
    guess(`readOnly.${resource}`, 'fields never sent back', nameList, neverSent),
  ]),
  guess('paging.mode', 'how the service pages', oneOf(pagingModes), 'auto'),
  ...pageWords.map((word) =>
    guess(`paging.params.${word}`, `the query parameter for ${word}`, parameterName, word),
  ),
  guess('paging.size', 'how many records to ask for at once', integer(1, 100_000)),
  guess(
    'filters.tryouts.status',
    "the query parameter of the service's own filter by status, sent for a single one",
    parameterName,
  ),
  guess('download.urlPath', 'where the signed URL stands in the answer', dottedPath, 'auto'),
  guess(
    'upload.maxBytes',
    'refuse larger files before asking',
    integer(1, Number.MAX_SAFE_INTEGER),
  ),
];

/** Every key that `config` knows, by name. */
export const settingKeys: ReadonlyMap<string, SettingKey> = new Map(
  [...Object.values(namedKeys), ...guessKeys].map((key) => [key.name, key as SettingKey]),
);

/** The keys that replace a guess, one row for all resources: `columns.<resource>`. */
export function overrideRows(): readonly (readonly [name: string, text: string])[] {
  const rows = guessKeys.map(({ name, text, forAll = name }): [string, string] => [forAll, text]);
  return [...new Map(rows)];
}

/** Whether a key is one of the guesses rather than a named setting. */
export function isOverride(name: string): boolean {
  return settingKeys.has(name) && !Object.hasOwn(namedKeys, name);
}

/** What is set by other means, and by which: asked for by people who try `config set`. */
const setElsewhere: Readonly<Record<string, string>> = {
  profile: 'rosterctl profile use NAME',
  activeProfile: 'rosterctl profile use NAME',
  baseUrl: 'rosterctl auth login --base-url URL',
  org: 'rosterctl auth login --org ID',
  organization: 'rosterctl auth login --org ID',
  key: 'rosterctl auth login',
  apiKey: 'rosterctl auth login',
};

/** A key by name. Throws UsageError with the nearest right one, or the command that sets it instead. */
export function requireKey(name: string): SettingKey {
  const key = settingKeys.get(name);
  if (key) return key;
  const instead = Object.hasOwn(setElsewhere, name) ? setElsewhere[name] : undefined;
  if (instead)
    throw new UsageError(`${name} is no setting of its own.`, { hint: `Use: ${instead}` });
  throw new UsageError(
    `There is no setting "${name}".${didYouMean(name, [...settingKeys.keys()])}`,
    {
      hint: 'See: rosterctl config list; what replaces a guess: rosterctl help undocumented',
    },
  );
}

function named<T, const M extends Omit<SettingKey<T>, 'name' | 'text' | 'parse'>>(
  name: string,
  text: string,
  parse: Parse<T>,
  more: M,
): SettingKey<T> & M {
  return { name, text, parse, ...more };
}

/** A guess keeps its text; the parser judges it and may spell it in one way. */
function guess(name: string, text: string, check: Parse<unknown>, normal?: string) {
  const parse = (value: string) => {
    if (value === normal) return value;
    const checked = check(value);
    return Array.isArray(checked) ? checked.join(',') : String(checked);
  };
  return { name, text, parse, ...(normal !== undefined && { default: normal }) };
}

function ofEachResource(
  keysOf: (resource: ResourceName) => readonly SettingKey<string>[],
): readonly GuessKey[] {
  return resourceNames.flatMap((resource) =>
    keysOf(resource).map((key) => ({
      ...key,
      forAll: key.name.replace(`.${resource}`, '.<resource>'),
    })),
  );
}

function routeKeys(resource: ResourceName): readonly SettingKey<string>[] {
  const places = oneOf(organizationPlaces);
  return Object.entries(resourceWords[resource].overrides).flatMap(([action, assumed]) => {
    const key = `endpoints.${resource}.${action}`;
    const route = (text: string) => {
      const { method, path } = parseRoute(text, assumed);
      return `${method} ${path}`;
    };
    const semantics = guess(
      `${key}.semantics`,
      'what an update leaves out stays or goes',
      oneOf(updateSemantics),
      'merge',
    );
    return [
      guess(key, `the ${action} call`, route, assumed),
      ...(action === 'update' ? [semantics] : []),
      guess(`${key}.org`, `where the ${action} call carries organizationId`, places, 'none'),
    ];
  });
}

/** A command line, or undefined for none. */
function parsePager(text: string): string | undefined {
  return ['none', 'off', 'cat'].includes(text.trim()) ? undefined : text.trim();
}

function parseCommand(text: string): string {
  if (splitWords(text).length === 0) throw new UsageError('The command is empty.');
  return text;
}
