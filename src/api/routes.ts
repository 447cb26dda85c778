import { parseRoute } from '../data/http.js';
import { type CallSite, ConfigError, UsageError } from '../errors.js';
import { contract, endpoint, type Endpoint, type EndpointName } from './contract.js';
import { idProblem } from './schemas.js';

/** Config values as text, by key: `endpoints.teams.update`. */
export interface Overrides {
  readonly [key: string]: string;
}

/** How a call travels, after the contract, the configuration and the command line have spoken. */
export interface Route {
  readonly method: string;
  /** `/teams/{teamId}`; a template of the admin's may say `{id}`. */
  readonly template: string;
  readonly org: Endpoint['org'];
  /** `replace`: the body must be the whole record, not only what changes. */
  readonly semantics: 'merge' | 'replace';
  /** The contract states it, we guess it, or the admin named it. */
  readonly source: 'stated' | 'assumed' | 'named';
  /** The config key that replaces a guess. */
  readonly configKey?: string | undefined;
}

/** `METHOD /path` of a contract row, in its two parts. */
export function partsOf(route: string): { readonly method: string; readonly template: string } {
  const [method = '', template = ''] = route.split(' ');
  return { method, template };
}

/**
 * The route of a row. Only an assumed one can be replaced, by the setting of its own that the row
 * names or by `override` (--route). Throws UsageError or ConfigError when the replacement is no
 * usable route.
 */
export function routeOf(row: Endpoint, overrides: Overrides, override?: string): Route {
  const parts = partsOf(row.route);
  if ('stated' in row.basis) {
    if (override !== undefined)
      throw new UsageError(
        `The route of ${row.route} is stated by the contract; --route cannot replace it.`,
      );
    return { ...parts, org: row.org, semantics: 'merge', source: 'stated' };
  }
  const { override: configKey } = row;
  const replacement =
    override !== undefined
      ? readRoute(override, row, '--route')
      : configKey !== undefined && overrides[configKey] !== undefined
        ? readRoute(overrides[configKey], row, `The setting ${configKey}`)
        : undefined;
  return {
    ...(replacement ?? parts),
    org: oneOf(overrides, `${configKey}.org`, ['none', 'body', 'query'], 'none'),
    semantics: oneOf(overrides, `${configKey}.semantics`, ['merge', 'replace'], 'merge'),
    source: replacement ? 'named' : 'assumed',
    configKey,
  };
}

/** Throws UsageError where the flag says it, else ConfigError. */
function readRoute(text: string, { route }: Endpoint, from: string) {
  try {
    const { method, path } = parseRoute(text, route);
    return { method, template: path };
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    const { message, hint } = error;
    if (from === '--route') throw new UsageError(`${from}: ${message}`, { hint });
    throw new ConfigError(`${from}: ${message}`, { hint });
  }
}

function oneOf<T extends string>(
  overrides: Overrides,
  key: string,
  allowed: readonly T[],
  usual: T,
): T {
  const text = overrides[key];
  if (text === undefined) return usual;
  const value = allowed.find((word) => word === text);
  if (value !== undefined) return value;
  throw new ConfigError(`The setting ${key} must be one of ${allowed.join(', ')}.`, {
    hint: `Mend it with: rosterctl config set ${key} ${usual}`,
  });
}

/**
 * The path of a call: ids percent-encoded, the organization id where the template or `org` wants it.
 * Throws UsageError on an id that cannot stand in a path.
 */
export function fillPath(
  { template, org }: Pick<Route, 'template' | 'org'>,
  params: { readonly [name: string]: string },
  organizationId: string,
): string {
  const own = encoded(organizationId, 'The organization id cannot be used');
  let path = '';
  for (const [index, part] of partsOfTemplate(template).entries()) {
    const isText = index % 2 === 0;
    path += isText ? part : part === 'organizationId' ? own : idIn(params, part);
  }
  return org === 'query' ? `${path}?organizationId=${own}` : path;
}

function idIn(params: { readonly [name: string]: string }, name: string): string {
  const id = params[name] ?? (name === 'id' ? idOf(params) : undefined);
  if (id === undefined) throw new UsageError(`The id ${name} is missing.`);
  return encoded(id, 'This is no id');
}

const parsedTemplates = new Map<string, readonly string[]>();

/** Text and names in turn: `/teams/{id}` is `/teams/`, `id` and an empty text. */
function partsOfTemplate(template: string): readonly string[] {
  const parts = parsedTemplates.get(template) ?? template.split(/\{(\w+)\}/);
  parsedTemplates.set(template, parts);
  return parts;
}

/** Nearly all ids are such, thousands of them in a run. */
const plainId = /^[\w-]+$/;

function encoded(id: string, refusal: string): string {
  if (plainId.test(id)) return id;
  const problem = idProblem(id);
  if (problem) throw new UsageError(`${refusal}: ${problem}.`);
  return encodeURIComponent(id);
}

/** The one id of a call's path, whatever the contract calls it. */
export function idOf(params: { readonly [name: string]: string } | undefined): string | undefined {
  return params && Object.values(params)[0];
}

/** Whether the contract states a call, given as it stands on the wire below the base URL. */
export function statedRoute(method: string, path: string): boolean {
  return rowsOf(method, path).some(({ basis }) => 'stated' in basis);
}

/** The permission that the contract names for a call; undefined where it names none. */
export function permissionFor({ method, path }: CallSite): string | undefined {
  return rowsOf(method, path).find(({ permission }) => permission !== undefined)?.permission;
}

/** The contract's rows for a call as it stands on the wire, or for its template. */
function rowsOf(method: string, path: string): readonly Endpoint[] {
  const [bare = ''] = path.split('?', 1);
  return (Object.keys(contract) as EndpointName[])
    .map((name) => endpoint(name))
    .filter(({ route }) => {
      const [own, template = ''] = route.split(' ');
      return own === method && fits(bare.split('/'), template.split('/'));
    });
}

function fits(parts: readonly string[], template: readonly string[]): boolean {
  return (
    parts.length === template.length &&
    template.every((part, index) => part.startsWith('{') || part === parts[index])
  );
}
