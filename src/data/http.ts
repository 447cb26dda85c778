import { UsageError } from '../errors.js';

/** A route that replaces an assumed one; `path` spells the id as the contract does. */
export interface Route {
  readonly method: string;
  readonly path: string;
}

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

/**
 * Reads `PUT /players/{id}` for `--route` and `endpoints.*`, in place of an assumed `METHOD /path`;
 * `{id}` becomes the assumed route's own name for it. Throws UsageError for another method, a host, a
 * query, `..`, `//`, or a missing or foreign name.
 */
export function parseRoute(text: string, assumed: string): Route {
  const idName = /\{(?!organizationId\})(\w+)\}/.exec(assumed)?.[1] ?? 'id';
  const [method = '', path = '', ...rest] = text.trim().split(/ +/);
  if (path === '' || rest.length > 0) throw refuse(text, 'is a method and a path', assumed);
  if (!methods.includes(method.toUpperCase()))
    throw refuse(text, `begins with ${methods.join(', ')}`, assumed);
  if (!path.startsWith('/')) throw refuse(text, 'has a path that begins with /', assumed);
  const bare = path.replace(/\{[^{}]*\}/g, 'x');
  if (bare.includes('//') || bare.split('/').some(isDots) || !/^[\w.~/{}-]+$/.test(bare))
    throw refuse(text, 'has no host, query, fragment, //, or .., and only plain names', assumed);
  const names = [...path.matchAll(/\{([^{}]*)\}/g)].map((found) => found[1] ?? '');
  if (/[{}]/.test(bare)) throw refuse(text, 'has names in whole braces', assumed);
  const foreign = names.find((name) => !['id', 'organizationId', idName].includes(name));
  if (foreign !== undefined)
    throw refuse(text, `knows {id} and {organizationId}, not {${foreign}}`, assumed);
  if (names.filter((name) => name !== 'organizationId').length !== 1)
    throw refuse(text, 'holds {id} once', assumed);
  return { method: method.toUpperCase(), path: path.replace('{id}', `{${idName}}`) };
}

function isDots(step: string): boolean {
  return step === '.' || step === '..';
}

function refuse(text: string, rule: string, assumed: string): UsageError {
  const [, path = ''] = assumed.split(' ');
  return new UsageError(`"${text}" is no route: it ${rule}.`, {
    hint: `For example: PUT ${path.replace(/\{(?!organizationId\})\w+\}/, '{id}')}`,
  });
}

/** localhost, 127.0.0.0/8 and ::1, as the URL parser spells them. */
export function isLoopbackHost(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d{1,3}){3}$/.test(hostname);
}

/** `localhost` and every name below it: RFC 6761 gives them to this machine, a resolver may not. */
export function isLocalName(hostname: string): boolean {
  return /^(.+\.)?localhost\.?$/.test(hostname);
}

/** Whether a text can be sent as a key: visible ASCII, with spaces at most in its middle. */
export function isHeaderValue(key: string): boolean {
  return /^[\u0021-\u007e]([\u0020-\u007e]*[\u0021-\u007e])?$/.test(key);
}
