/** Routes as typed, and the parts of HTTP that settings and requests share. */
import { UsageError } from '../errors.js';

/** A route that overrides an assumed one; `path` uses the contract's name for the id. */
export interface RouteWords {
  readonly method: string;
  readonly path: string;
}

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

/**
 * Parses `PUT /players/{id}` for `--route` and `endpoints.*`, which overrides an assumed `METHOD
 * /path`. Replaces `{id}` with the assumed route's name for it. Throws UsageError for an
 * unsupported method, a host, a query, `..`, `//`, or a missing or unknown name.
 */
export function parseRoute(text: string, assumed: string): RouteWords {
  const idName = /\{(?!organizationId\})(\w+)\}/.exec(assumed)?.[1] ?? 'id';
  const [method = '', path = '', ...rest] = text.trim().split(/ +/);
  if (path === '' || rest.length > 0) throw refuse(text, 'is a method and a path', assumed);
  if (!methods.includes(method.toUpperCase()))
    throw refuse(text, `begins with ${methods.join(', ')}`, assumed);
  if (!path.startsWith('/')) throw refuse(text, 'has a path that begins with /', assumed);
  const withoutNames = path.replace(/\{[^{}]*\}/g, 'x');
  if (
    withoutNames.includes('//') ||
    withoutNames.split('/').some(isDotSegment) ||
    !/^[\w.~/{}-]+$/.test(withoutNames)
  )
    throw refuse(text, 'has no host, query, fragment, //, or .., and only plain names', assumed);
  const names = [...path.matchAll(/\{([^{}]*)\}/g)].map((found) => found[1] ?? '');
  if (/[{}]/.test(withoutNames)) throw refuse(text, 'has names in whole braces', assumed);
  const unknownName = names.find((name) => !['id', 'organizationId', idName].includes(name));
  if (unknownName !== undefined)
    throw refuse(text, `knows {id} and {organizationId}, not {${unknownName}}`, assumed);
  if (names.filter((name) => name !== 'organizationId').length !== 1)
    throw refuse(text, 'holds {id} once', assumed);
  return { method: method.toUpperCase(), path: path.replace('{id}', `{${idName}}`) };
}

function isDotSegment(step: string): boolean {
  return step === '.' || step === '..';
}

function refuse(text: string, rule: string, assumed: string): UsageError {
  const [, path = ''] = assumed.split(' ');
  return new UsageError(`"${text}" is not a route: it ${rule}.`, {
    hint: `For example: PUT ${path.replace(/\{(?!organizationId\})\w+\}/, '{id}')}`,
  });
}

/** True for localhost, 127.0.0.0/8 and ::1, in the URL parser's spelling. */
export function isLoopbackHost(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d{1,3}){3}$/.test(hostname);
}

/**
 * True for `localhost` and its subdomains: RFC 6761 assigns them to this machine, but a resolver
 * may not.
 */
export function isLocalName(hostname: string): boolean {
  return /^(.+\.)?localhost\.?$/.test(hostname);
}

/** True if a text can be sent as a key: visible ASCII, with spaces only in the middle. */
export function isHeaderValue(key: string): boolean {
  return /^[\u0021-\u007e]([\u0020-\u007e]*[\u0021-\u007e])?$/.test(key);
}
