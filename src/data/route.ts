import { UsageError } from '../errors.js';

/** The resources whose update and delete routes are guesses, and the contract's word for their id. */
export const routedResources = {
  teams: 'teamId',
  players: 'playerId',
  documents: 'documentId',
} as const;

export type RoutedResource = keyof typeof routedResources;

/** A route that replaces an assumed one; `path` spells the id as the contract does. */
export interface Route {
  readonly method: string;
  readonly path: string;
}

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

/**
 * Reads `PUT /players/{id}` for `--route` and `endpoints.*`; `{id}` becomes the contract's own name.
 * Throws UsageError for another method, a host, a query, `..`, `//`, or a missing or foreign name.
 */
export function parseRoute(text: string, resource: RoutedResource): Route {
  const idName = routedResources[resource];
  const [method = '', path = '', ...rest] = text.trim().split(/ +/);
  if (path === '' || rest.length > 0) throw refuse(text, 'is a method and a path', resource);
  if (!methods.includes(method.toUpperCase()))
    throw refuse(text, `begins with ${methods.join(', ')}`, resource);
  if (!path.startsWith('/')) throw refuse(text, 'has a path that begins with /', resource);
  const bare = path.replace(/\{[^{}]*\}/g, 'x');
  if (bare.includes('//') || bare.split('/').some(isDots) || !/^[\w.~/{}-]+$/.test(bare))
    throw refuse(text, 'has no host, query, fragment, //, or .., and only plain names', resource);
  const names = [...path.matchAll(/\{([^{}]*)\}/g)].map((found) => found[1] ?? '');
  if (/[{}]/.test(bare)) throw refuse(text, 'has names in whole braces', resource);
  const foreign = names.find((name) => !['id', 'organizationId', idName].includes(name));
  if (foreign !== undefined)
    throw refuse(text, `knows {id} and {organizationId}, not {${foreign}}`, resource);
  if (names.filter((name) => name !== 'organizationId').length !== 1)
    throw refuse(text, 'holds {id} once', resource);
  return { method: method.toUpperCase(), path: path.replace('{id}', `{${idName}}`) };
}

function isDots(step: string): boolean {
  return step === '.' || step === '..';
}

function refuse(text: string, rule: string, resource: RoutedResource): UsageError {
  return new UsageError(`"${text}" is no route: it ${rule}.`, {
    hint: `For example: PUT /${resource}/{id}`,
  });
}
