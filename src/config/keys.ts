/** The settings table: the named settings, and those for what the contract does not show. */
import { parseRoute } from '../data/http.js';
import { lazy } from '../data/lazy.js';
import { didYouMean } from '../data/nearest.js';
import { defaultFields, referenceSetting } from '../data/references.js';
import {
  type ResourceName,
  referenceKindsOf,
  resourceNames,
  resourceWords,
} from '../data/resources.js';
import { controlCharacter, orList, percentDecoded } from '../data/text.js';
import { UsageError } from '../errors.js';
import { namedKeys, type SettingKey } from './named-keys.js';
import { integer, nameList, offering, oneOf, type Parse } from './parse.js';

/** The place of the organization id in an update or delete. */
const organizationPlaces = ['none', 'body', 'query'] as const;

const neverSent = 'id,organizationId,createdAt,updatedAt';

/** The query parameters of paging, by the name that a service usually gives them. */
const pagingParameters = {
  page: 'page number',
  limit: 'page size',
  offset: 'offset',
  cursor: 'cursor',
  after: 'id or cursor to continue after',
  pageToken: 'token of the next page',
} as const;

interface OverrideSetting extends SettingKey<string> {
  /** The name shared by all resources that have such a key: `columns.<resource>`. */
  readonly forAll?: string;
}

/**
 * Settings for what the contract does not show and an admin may correct; their values stay text. Most
 * organizations set none of them, so a command makes the table only if the file names one.
 */
const overrideKeys = lazy((): readonly OverrideSetting[] => [
  ...forEachResource(routeKeys),
  ...forEachResource((resource) => [
    override(`lists.${resource}.path`, 'where the records are in the answer', listPath, 'auto'),
    override(`ids.${resource}`, 'the field that holds the id', dottedPath, 'id'),
    override(`lists.${resource}.query`, 'query parameters of the list call', queryText),
    override(`columns.${resource}`, 'columns of the table', nameList),
    override(`readOnly.${resource}`, 'fields never sent back', nameList, neverSent),
  ]),
  ...forEachResource((resource) =>
    referenceKindsOf(resource).map((kind) =>
      override(
        referenceSetting(resource, kind),
        `the fields that ${kind}: searches`,
        nameList,
        defaultFields(resource, kind),
      ),
    ),
  ),
  override(
    'paging.mode',
    'how the service pages',
    oneOf(['auto', 'none', 'page', 'offset', 'cursor', 'last-id']),
    'auto',
  ),
  ...Object.entries(pagingParameters).map(([word, what]) =>
    override(`paging.params.${word}`, `the query parameter for the ${what}`, parameterName, word),
  ),
  override('paging.first', 'the number of the first page', oneOf(['auto', '0', '1']), 'auto'),
  override(
    'paging.next',
    'where the next page is in the answer; none: nowhere',
    pathOrNone,
    'auto',
  ),
  override('paging.total', 'where the total is in the answer; none: nowhere', pathOrNone, 'auto'),
  override('paging.size', 'how many records to ask for at once', integer(1, 100_000)),
  override(
    'filters.tryouts.status',
    "the query parameter of the service's own filter by status, sent if only one status is given",
    parameterName,
  ),
  override('download.urlPath', 'where the signed URL is in the answer', answerPath, 'auto'),
  override(
    'upload.maxBytes',
    'refuse larger files without asking the service',
    integer(1, Number.MAX_SAFE_INTEGER),
  ),
]);

/** Every setting, by name. */
export const settingKeys = lazy(
  (): ReadonlyMap<string, SettingKey> =>
    new Map(
      [...Object.values(namedKeys), ...overrideKeys()].map((key) => [key.name, key as SettingKey]),
    ),
);

/** Returns the override settings, one row for all resources that have it: `columns.<resource>`. */
export function overrideRows(): readonly (readonly [name: string, text: string])[] {
  const keys = overrideKeys();
  const rows = keys.map(({ name, text, forAll }): [string, string] => {
    const isShared = keys.filter((key) => key.forAll === forAll).length > 1;
    return [isShared && forAll !== undefined ? forAll : name, text];
  });
  return [...new Map(rows)];
}

/** True for an override of an assumption, false for a named setting. */
export function isOverride(name: string): boolean {
  return !Object.hasOwn(namedKeys, name) && settingKeys().has(name);
}

/** Names that people try with `config set` and the commands that set them. */
const setElsewhere: Readonly<Record<string, string>> = {
  profile: 'rosterctl profile use NAME',
  activeProfile: 'rosterctl profile use NAME',
  baseUrl: 'rosterctl auth login --base-url URL',
  org: 'rosterctl auth login --org ID',
  organization: 'rosterctl auth login --org ID',
  key: 'rosterctl auth login',
  apiKey: 'rosterctl auth login',
};

/** Returns a key by name. Throws UsageError with the nearest name, or the command that sets it. */
export function requireKey(name: string): SettingKey {
  const key = settingKeys().get(name);
  if (key) return key;
  const command = Object.hasOwn(setElsewhere, name) ? setElsewhere[name] : undefined;
  if (command) throw new UsageError(`${name} is not a setting.`, { hint: `Use: ${command}` });
  throw new UsageError(`Unknown setting "${name}".${didYouMean(name, [...settingKeys().keys()])}`, {
    hint: 'See: rosterctl config list\nSettings for an undocumented service: rosterctl help undocumented',
  });
}

/** Defines an override. Its value stays text; the parser checks it and may normalize it. */
function override(name: string, text: string, check: Parse<unknown>, defaultText?: string) {
  const parse = (value: string) => {
    if (value === defaultText) return value;
    const checked = check(value);
    return Array.isArray(checked) ? checked.join(',') : String(checked);
  };
  const { words } = check;
  return {
    name,
    text,
    parse: words ? offering(words, parse) : parse,
    ...(defaultText !== undefined && { default: defaultText }),
  };
}

function forEachResource(
  keysOf: (resource: ResourceName) => readonly SettingKey<string>[],
): readonly OverrideSetting[] {
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
    const semantics = override(
      `${key}.semantics`,
      'whether fields left out of an update are kept or removed: merge, replace',
      oneOf(['merge', 'replace']),
      'merge',
    );
    return [
      override(key, `the request that ${action}s a record`, route, assumed),
      ...(action === 'update' ? [semantics] : []),
      override(
        `${key}.org`,
        `where that request sends organizationId: ${orList(organizationPlaces)}`,
        places,
        'none',
      ),
    ];
  });
}

/** True for a text that a pattern matches and that holds no control character. */
const matches = (text: string, pattern: RegExp) =>
  pattern.test(text) && !controlCharacter.test(text);

/** Accepts the path of a field in a response: `meta.nextCursor`; a header has a path of one name. */
const dottedPath: Parse<string> = (text) => {
  if (text.split('.').every((step) => matches(step, /^[^\s.]+$/))) return text;
  throw new UsageError(`"${text}" is not a path of fields.`, {
    hint: 'Write the names with dots between them: meta.nextCursor.',
  });
};

const pathOrNone = offering(['auto', 'none'], (text) => dottedPath(text));

/** Accepts the path of a list: `data.teams`, `data.teams.edges[].node`. */
const listPath: Parse<string> = (text) => {
  if (text.split('.').every((step) => matches(step, /^[^\s[\]]+(\[\])?$/))) return text;
  throw new UsageError(`"${text}" is not a path to a list.`, {
    hint: 'Write data.players, or data.players.edges[].node for the node of each edge.',
  });
};

/** Accepts the path of a value in a response, also into lists: `data.signedUrl`, `files[0].url`. */
const answerPath: Parse<string> = (text) => {
  if (matches(text, /^(?:[^\s.[\]]+|\[\d+\])(?:\.[^\s.[\]]+|\[\d+\])*$/)) return text;
  throw new UsageError(`"${text}" is not a path.`, {
    hint: 'Write data.signedUrl, or files.0.url for the first of a list.',
  });
};

/** Accepts the name of a query parameter: `$skip`, `page[number]`. */
const parameterName: Parse<string> = (text) => {
  if (matches(text, /^[^\s&=#?]+$/) && text !== 'organizationId') return text;
  throw new UsageError(`"${text}" cannot be the name of a query parameter.`, {
    hint: 'Leave out spaces and & = # ?; rosterctl sends organizationId itself.',
  });
};

/** Accepts query parameters for a list call: `include=gamerTags&active=true`. */
const queryText: Parse<string> = (text) => {
  for (const pair of text.split('&')) {
    const at = pair.indexOf('=');
    if (at < 1 || !matches(pair, /^[^?#\s]+$/))
      throw new UsageError(`"${text}" is not a query.`, {
        hint: 'Write include=gamerTags&active=true.',
      });
    parameterName(percentDecoded(pair.slice(0, at)));
  }
  return text;
};
