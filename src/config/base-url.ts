/** The base URL: its rules and its normal form. */
import { isLoopbackHost } from '../data/http.js';
import { controlCharacter } from '../data/text.js';
import { UsageError } from '../errors.js';

/**
 * Parses and normalizes a base URL: https (http only on a loopback host), ending in `/v1`, no
 * trailing slash (contract 5.6, 9). Throws UsageError.
 */
export function parseBaseUrl(text: string): string {
  const typed = text.trim();
  const url = isFullAddress(typed) ? new URL(typed) : undefined;
  if (!url) throw refuse('is not a URL', `Write it in full: https://${hostOf(typed)}/v1`);
  // From here on, no message repeats the URL: it may contain a password or a token.
  if (url.username || url.password || /^[a-z]+:\/\/[^/?#]*@/i.test(typed))
    throw refuse(
      'must not hold a user name or password',
      'Keys are stored with: rosterctl auth login',
    );
  if (/[?#\\\s]/.test(typed) || controlCharacter.test(typed))
    throw refuse('must have no query, fragment, space or backslash', 'It ends in /v1.');
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    throw refuse('must begin with https://', 'http:// is accepted for this machine only.');
  if (url.protocol === 'http:' && !isLoopbackHost(url.hostname))
    throw refuse('must begin with https://', 'http:// would send the key unencrypted.');
  const path = url.pathname.replace(/\/+$/, '');
  if (!/(^|\/)v1$/.test(path) || path.includes('//'))
    throw refuse('must end in /v1', `Did you mean: ${url.origin}${withV1(path)}`);
  return `${url.origin}${path}`;
}

/** True for a URL with its scheme: `https://…`. */
export function isFullAddress(text: string): boolean {
  const typed = text.trim();
  return URL.canParse(typed) && /^[a-z][a-z+.-]*:\/\//i.test(typed);
}

/** Returns what a text that is not a base URL probably means: https, and ending in `/v1`; undefined if nothing fits. */
export function suggestBaseUrl(text: string): string | undefined {
  const typed = text.trim();
  const host = hostOf(typed);
  const full = /^[a-z][a-z+.-]*:\/\//i.test(typed) ? typed : `https://${typed}`;
  if (!URL.canParse(full) || (full !== typed && host === 'HOST')) return undefined;
  const { origin, pathname } = new URL(full);
  const meant = `${origin}${withV1(pathname.replace(/\/+$/, ''))}`;
  try {
    // What holds a password, a query or http:// is not corrected silently.
    return parseBaseUrl(meant) === meant && full.startsWith(origin) && !/[?#@]/.test(full)
      ? meant
      : undefined;
  } catch {
    return undefined;
  }
}

/** Replaces the version at the end of a path with ours. */
function withV1(path: string): string {
  return `${path.replace(/\/{2,}/g, '/').replace(/\/v\d[^/]*(\/.*)?$/i, '')}/v1`;
}

/** Returns scheme, host and port, to which a key is bound. Expects a result of `parseBaseUrl`. */
export function originOf(baseUrl: string): string {
  return new URL(baseUrl).origin;
}

function refuse(problem: string, hint: string): UsageError {
  return new UsageError(`The base URL ${problem}.`, { hint });
}

function hostOf(typed: string): string {
  return /^[a-z0-9][a-z0-9.-]*\.[a-z]{2,}(:\d+)?(?=\/|$)/i.exec(typed)?.[0] ?? 'HOST';
}
