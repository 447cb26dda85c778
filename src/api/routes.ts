/** Routes: how a call is sent, from the contract and the admin's overrides. */

import { parseRoute } from '../data/http.js';
import { type Overrides, type ResourceName, resourceWords } from '../data/resources.js';
import { lowerFirst, withArticle } from '../data/text.js';
import { type CallSite, UsageError } from '../errors.js';
import { contract, type Endpoint, type EndpointName, endpoint } from './contract.js';
import { idProblem } from './schemas.js';

/** How a call is sent, resolved from the contract, the configuration and the command line. */
export interface Route {
  readonly method: string;
  /** `/teams/{teamId}`; an admin's template may end in a query: `/teams?id={teamId}`. */
  readonly template: string;
  readonly org: Endpoint['org'];
  /** `replace`: the body must be the complete record, not only the changes. */
  readonly semantics: 'merge' | 'replace';
  /** True if it may replace the record: a PUT, also one that a setting calls a merge. */
  readonly mayReplace: boolean;
  /** Stated by the contract, assumed, or named by the admin. */
  readonly source: 'stated' | 'assumed' | 'named';
  /** The config key that overrides an assumed route. */
  readonly configKey?: string | undefined;
}

/** Splits the `METHOD /path` of a contract row. */
export function routeParts(route: string): { readonly method: string; readonly template: string } {
  const [method = '', template = ''] = route.split(' ');
  return { method, template };
}

/**
 * Resolves the route of a row. Only an assumed route can be overridden, by the setting that the row
 * names or by `override` (--route). Throws UsageError if the override is not a valid route.
 */
export function routeOf(row: Endpoint, overrides: Overrides, override?: string): Route {
  const { method, template } = routeParts(row.route);
  if ('stated' in row.basis) {
    if (override !== undefined)
      throw new UsageError(
        `The route of ${row.route} is stated by the contract; --route cannot replace it.`,
      );
    return {
      method,
      template,
      org: row.org,
      semantics: 'merge',
      mayReplace: false,
      source: 'stated',
    };
  }
  const { override: configKey } = row.basis;
  // Settings were checked when they were read.
  const setting = (name: string) => overrides[`${configKey}.${name}`];
  const named = override ?? overrides[configKey];
  const resolved =
    named === undefined ? { method, template } : readRoute(named, row, override !== undefined);
  const semantics = setting('semantics') === 'replace' ? 'replace' : 'merge';
  return {
    ...resolved,
    // A path names the organization itself.
    org: (setting('org') as Route['org'] | undefined) ?? (row.org === 'path' ? 'none' : row.org),
    semantics,
    mayReplace: resolved.method === 'PUT' || semantics === 'replace',
    source: named === undefined ? 'assumed' : 'named',
    configKey,
  };
}

/** Says that the service does not document an assumed row, as the start of a sentence. */
export function undocumented({ verb, resource, summary }: Endpoint): string {
  const action =
    verb === 'other' || verb === 'list'
      ? lowerFirst(summary)
      : `${verb} ${withArticle(resourceWords[resource].noun)}`;
  return `The service does not document how to ${action}`;
}

/** Throws UsageError, which names the flag if that is where the route comes from. */
function readRoute(text: string, { route }: Endpoint, isFlag: boolean) {
  try {
    const { method, path } = parseRoute(text, route);
    return { method, template: path };
  } catch (error) {
    if (!(error instanceof UsageError) || !isFlag) throw error;
    throw new UsageError(`--route: ${error.message}`, { hint: error.hint });
  }
}

/**
 * Returns the path and query of a call: ids percent-encoded, the organization id where the template
 * or `org` needs it. Throws UsageError for an id that cannot be part of a path.
 */
export function fillPath(
  { template, org }: Pick<Route, 'template' | 'org'>,
  params: { readonly [name: string]: string },
  organizationId: string,
): string {
  const organization = encodeId(organizationId, 'The organization id cannot be used');
  const path = template.replace(/\{(\w+)\}/g, (_, name: string) =>
    name === 'organizationId' ? organization : requireId(params, name),
  );
  if (org !== 'query' || /[?&]organizationId=/.test(template)) return path;
  return `${path}${template.includes('?') ? '&' : '?'}organizationId=${organization}`;
}

/** Returns the path of a list with the parameters that `lists.<resource>.query` adds. */
export function withListQuery(path: string, resource: string, overrides: Overrides): string {
  const query = new URLSearchParams(overrides[`lists.${resource}.query`]).toString();
  return query === '' ? path : `${path}${path.includes('?') ? '&' : '?'}${query}`;
}

function requireId(params: { readonly [name: string]: string }, name: string): string {
  const id = params[name] ?? (name === 'id' ? idParameter(params) : undefined);
  if (id === undefined) throw new UsageError(`The id ${name} is missing.`);
  return encodeId(id, 'This cannot be an id');
}

function encodeId(id: string, problemPrefix: string): string {
  const problem = idProblem(id);
  if (problem) throw new UsageError(`${problemPrefix}: ${problem}.`);
  return encodeURIComponent(id);
}

/** Returns the id in a call's route, whatever the contract calls it. */
export function idParameter(
  params: { readonly [name: string]: string } | undefined,
): string | undefined {
  for (const name in params) return params[name];
  return undefined;
}

/** True if the contract states this call; `path` is as sent, below the base URL. */
export function statedRoute(method: string, path: string): boolean {
  return rowsOf(method, path).some(({ basis }) => 'stated' in basis);
}

/** Returns the resource whose list the contract has at this path, below the base URL. */
export function listedAt(path: string): ResourceName | undefined {
  return rowsOf('GET', path).find(({ verb }) => verb === 'list')?.resource;
}

/** Returns the permission that the contract names for a call, or undefined if it names none. */
export function permissionFor({ method, path }: CallSite): string | undefined {
  return rowsOf(method, path).find(({ permission }) => permission !== undefined)?.permission;
}

/** Returns the contract's rows for a path as sent, or for its template. */
function rowsOf(method: string, path: string): readonly Endpoint[] {
  const [bare = ''] = path.split('?', 1);
  return (Object.keys(contract) as EndpointName[])
    .map((name) => endpoint(name))
    .filter(({ route }) => {
      const parts = routeParts(route);
      return parts.method === method && matchesTemplate(bare.split('/'), parts.template.split('/'));
    });
}

function matchesTemplate(parts: readonly string[], template: readonly string[]): boolean {
  return (
    parts.length === template.length &&
    template.every((part, index) => part.startsWith('{') || part === parts[index])
  );
}
