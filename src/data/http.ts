/** Routes as typed, and the parts of HTTP that settings and requests share. */
import { UsageError } from '../errors.js';
import { orList } from './text.js';

/** A route that overrides an assumed one; `path` uses the contract's name for the id. */
interface RouteWords {
  readonly method: string;
  /** Begins with `/`; may end in a fixed query: `/players?id={playerId}`. */
  readonly path: string;
}

/** Methods that change something. */
const methods = ['POST', 'PUT', 'PATCH', 'DELETE'];

/**
 * Parses `PUT /players/{id}` or `DELETE /players?id={id}` for `--route` and `endpoints.*`, which
 * overrides an assumed `METHOD /path`. Replaces `{id}` with the assumed route's name for it. Throws
 * UsageError for a method that changes nothing, DELETE where nothing is to be deleted, any but GET where
 * the assumed one only reads, a host, `..`, `//`, the base URL's `/v1`, or a missing or unknown name.
 */
export function parseRoute(text: string, assumed: string): RouteWords {
  const refusal = (rule: string) => notARoute(text, rule, assumed);
  const idName = /\{(?!organizationId\})(\w+)\}/.exec(assumed)?.[1];
  const allowed = assumed.startsWith('GET ') ? ['GET'] : methods;
  const [method = '', path = '', ...rest] = text.trim().split(/ +/);
  if (path === '' || rest.length > 0) throw refusal('must be a method and a path');
  if (!allowed.includes(method.toUpperCase())) throw refusal(`must begin with ${orList(allowed)}`);
  if (!path.startsWith('/')) throw refusal('needs a path that begins with /');
  if (/^\/v1(?=[/?]|$)/.test(path))
    throw new UsageError(`"${text}" repeats /v1.`, {
      hint: 'Leave out /v1: the base URL already ends with it.',
    });
  const names = [...path.matchAll(/\{([^{}]*)\}/g)].map((found) => found[1] ?? '');
  const [steps = '', ...queries] = path.replace(/\{[^{}]*\}/g, 'x').split('?');
  if (
    steps.includes('//') ||
    steps.split('/').some((step) => step === '.' || step === '..') ||
    !/^[\w.~/{}-]+$/.test(steps) ||
    queries.length > 1
  )
    throw refusal('must have no host, fragment, // or .., and only plain names');
  if (/[{}]/.test(steps + queries.join(''))) throw refusal('must close each brace');
  const [, query] = path.split('?');
  if (query !== undefined && !query.split('&').every(isParameter))
    throw refusal('may only end in a query such as ?id={id}&organizationId={organizationId}');
  const known = ['organizationId', ...(idName === undefined ? [] : ['id', idName])];
  const unknownName = names.find((name) => !known.includes(name));
  if (unknownName !== undefined) {
    const allowedNames = idName === undefined ? '' : '{id} and ';
    throw refusal(`can contain ${allowedNames}{organizationId}, not {${unknownName}}`);
  }
  if (idName !== undefined && names.filter((name) => name !== 'organizationId').length !== 1)
    throw refusal('must contain {id} once');
  if (method.toUpperCase() === 'DELETE' && !assumed.startsWith('DELETE '))
    throw refusal('would delete the record');
  return { method: method.toUpperCase(), path: path.replace('{id}', `{${idName}}`) };
}

/** True for `name=value`, where the value may hold names in braces; a literal organization is never right. */
function isParameter(text: string): boolean {
  const [, name, value] = /^([\w.~$[\]-]+)=((?:[\w.~,:{}-]|%[\da-f]{2})*)$/i.exec(text) ?? [];
  return name !== undefined && (name !== 'organizationId' || value === '{organizationId}');
}

function notARoute(text: string, rule: string, assumed: string): UsageError {
  // A service that does not know the assumed PATCH most likely has a PUT.
  const example = withPlainId(assumed).replace(/^PATCH /, 'PUT ');
  return new UsageError(`"${text}" is not a route: it ${rule}.`, {
    hint: `For example: ${example}`,
  });
}

/** Returns a path template with `{id}` for the contract's name of the id, as an admin types it. */
export function withPlainId(template: string): string {
  return template.replace(/\{(?!organizationId\})\w+\}/, '{id}');
}

/** True for localhost, 127.0.0.0/8 (also as an IPv6 address) and ::1, in the URL parser's spelling. */
export function isLoopbackHost(hostname: string): boolean {
  return (
    hostname === 'localhost' ||
    hostname === '[::1]' ||
    /^127(\.\d{1,3}){3}$|^\[::ffff:7f[\da-f]{2}:[\da-f]{1,4}\]$/.test(hostname)
  );
}

/** True for `localhost` and its subdomains (RFC 6761), which a resolver may send elsewhere. */
export function isLocalName(hostname: string): boolean {
  return /^(.+\.)?localhost\.?$/.test(hostname);
}

/** True if a text can be sent as a key: visible ASCII, with spaces only in the middle. */
export function isHeaderValue(key: string): boolean {
  return /^[\u0021-\u007e]([\u0020-\u007e]*[\u0021-\u007e])?$/.test(key);
}
