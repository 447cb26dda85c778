import { isIPv6 } from 'node:net';
import { isLocalName, isLoopbackHost } from '../data/http.js';
import { ConfigError } from '../errors.js';

/** A proxy that the user named in the environment. */
export interface Proxy {
  /** scheme://host:port without user name and password: the only part that is ever shown. */
  readonly origin: string;
  /** The value of the header `proxy-authorization`, where the variable holds a user. */
  readonly authorization: string | undefined;
}

/** The proxy through which an origin is reached; undefined = directly. Throws ConfigError. */
export type ProxyChoice = (target: URL) => Proxy | undefined;

interface Environment {
  readonly [name: string]: string | undefined;
}

/**
 * Reads HTTPS_PROXY, HTTP_PROXY and NO_PROXY. Lower-case names win and an empty value is none;
 * loopback is never reached through a proxy. `trace` is told once per origin.
 */
export function createProxyChoice(env: Environment, trace?: (line: string) => void): ProxyChoice {
  const told = new Set<string>();
  return (target) => {
    const kind = target.protocol === 'https:' ? 'https_proxy' : 'http_proxy';
    const set = variable(env, kind);
    if (!set || isLoopbackHost(target.hostname) || isLocalName(target.hostname)) return undefined;
    if (isExcepted(target, variable(env, 'no_proxy')?.value ?? '')) return undefined;
    const proxy = readProxy(set.name, set.value);
    if (!told.has(target.origin))
      trace?.(`${target.origin} is reached through the proxy ${proxy.origin} (${set.name})`);
    told.add(target.origin);
    return proxy;
  };
}

function variable(env: Environment, lower: string): { name: string; value: string } | undefined {
  for (const name of [lower, lower.toUpperCase()]) {
    const value = env[name]?.trim();
    if (value) return { name, value };
  }
  return undefined;
}

/** `proxy:3128` is an http proxy, as everywhere. The value is not shown: it may hold a password. */
function readProxy(name: string, value: string): Proxy {
  const text = /^[a-z][a-z0-9+.-]*:\/\//i.test(value) ? value : `http://${value}`;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || url.hostname === '' || !/^https?:$/.test(url.protocol))
    throw new ConfigError(`${name} does not name an http or https proxy.`, {
      hint: `Write it as ${name}=http://HOST:PORT, or unset it.`,
    });
  const user = `${plain(url.username)}:${plain(url.password)}`;
  return {
    origin: url.origin,
    authorization:
      user === ':' ? undefined : `Basic ${Buffer.from(user, 'utf8').toString('base64')}`,
  };
}

function plain(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** `*`, `example.org` and `.example.org` (with all below them), an address; each with `:port`. */
function isExcepted(target: URL, list: string): boolean {
  const port = target.port || (target.protocol === 'https:' ? '443' : '80');
  return list
    .toLowerCase()
    .split(/[\s,]+/)
    .some((entry) => {
      if (entry === '*') return true;
      const [, name = '', only] = /^(.*?)(?::(\d+))?$/.exec(bracketed(entry)) ?? [];
      const domain = name.replace(/^\*?\./, '').replace(/\.$/, '');
      if (domain === '' || (only !== undefined && only !== port)) return false;
      const host = target.hostname.replace(/\.$/, '');
      return host === domain || host.endsWith(`.${domain}`);
    });
}

function bracketed(entry: string): string {
  return isIPv6(entry) ? `[${entry}]` : entry;
}
