/** Proxies: which one a request goes through, and why one could not be used. */

import { BlockList, isIP } from 'node:net';
import type { Environment } from '../data/environment.js';
import { isLocalName, isLoopbackHost } from '../data/http.js';
import { percentDecoded } from '../data/text.js';
import { ConfigError } from '../errors.js';

/** A proxy named in the environment. */
export interface Proxy {
  /** The variable: `https_proxy` or `HTTPS_PROXY`. */
  readonly variable: string;
  /** scheme://host:port without user name and password, the only part that is ever shown. */
  readonly origin: string;
  /** The value of the `proxy-authorization` header, if the variable contains a user name. */
  readonly authorization: string | undefined;
}

/** Returns the proxy for an origin, or undefined for a direct connection. Throws ConfigError. */
export type ProxyChoice = (target: URL) => Proxy | undefined;

/**
 * Reads HTTPS_PROXY, HTTP_PROXY and NO_PROXY. Lower-case names win, an empty value counts as unset,
 * and loopback never uses a proxy. Calls `trace` once per origin.
 */
export function createProxyChoice(env: Environment, trace?: (line: string) => void): ProxyChoice {
  const traced = new Set<string>();
  return (target) => {
    const variableName = target.protocol === 'https:' ? 'https_proxy' : 'http_proxy';
    const set = variable(env, variableName);
    if (!set || isLoopbackHost(target.hostname) || isLocalName(target.hostname)) return undefined;
    if (bypassesProxy(target, variable(env, 'no_proxy')?.value ?? '')) return undefined;
    const proxy = readProxy(set.name, set.value);
    if (!traced.has(target.origin))
      trace?.(`${target.origin} is reached through the proxy ${proxy.origin} (${set.name})`);
    traced.add(target.origin);
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

/** `proxy:3128` is an http proxy, as usual. Never show the value: it may contain a password. */
function readProxy(name: string, value: string): Proxy {
  const text = /^[a-z][a-z0-9+.-]*:\/\//i.test(value) ? value : `http://${value}`;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  // An `@` there ends a user name and a password that holds a `/`, `?` or `#`: the host is part of them.
  const isCut = url && `${url.pathname}${url.search}${url.hash}`.includes('@');
  if (!url || isCut || url.hostname === '' || !/^https?:$/.test(url.protocol))
    throw new ConfigError(`${name} does not name an http or https proxy.`, {
      hint: text.includes('@')
        ? `Write it as ${name}=http://USER:PASSWORD@HOST:PORT, and percent-encode special characters: %23 for #, %2F for /.`
        : `Write it as ${name}=http://HOST:PORT, or unset it.`,
    });
  const user = `${percentDecoded(url.username)}:${percentDecoded(url.password)}`;
  return {
    variable: name,
    origin: url.origin,
    authorization:
      user === ':' ? undefined : `Basic ${Buffer.from(user, 'utf8').toString('base64')}`,
  };
}

/**
 * Matches `*`, `example.org` and `.example.org` (with subdomains), or an address, each with `:port`; or an
 * address in any spelling, or a block of them, `10.0.0.0/8`.
 */
function bypassesProxy(target: URL, list: string): boolean {
  const port = target.port || (target.protocol === 'https:' ? '443' : '80');
  return list
    .toLowerCase()
    .split(/[\s,]+/)
    .some((entry) => {
      if (entry === '*' || isInBlock(target.hostname, entry)) return true;
      const [, name = '', entryPort] = /^(.*?)(?::(\d+))?$/.exec(entry) ?? [];
      const domain = name.replace(/^\*?\./, '').replace(/\.$/, '');
      if (domain === '' || (entryPort !== undefined && entryPort !== port)) return false;
      const host = target.hostname.replace(/\.$/, '');
      return host === domain || host.endsWith(`.${domain}`);
    });
}

function isInBlock(hostname: string, entry: string): boolean {
  const [address = '', length] = entry.replace(/^\[(.*)\]$/, '$1').split('/');
  const host = hostname.replace(/^\[|\]$/g, '');
  const version = isIP(address);
  const bits = version === 6 ? 128 : 32;
  const isBlock = length === undefined || (/^\d{1,3}$/.test(length) && Number(length) <= bits);
  if (version === 0 || isIP(host) !== version || !isBlock) return false;
  const family = version === 6 ? 'ipv6' : 'ipv4';
  const block = new BlockList();
  block.addSubnet(address, Number(length ?? bits), family);
  return block.check(host, family);
}

/** A proxy could not be used: the service was not reached, and nothing was sent to it. */
export class ProxyFailure extends Error {
  override readonly name = 'ProxyFailure';
  /** The status of the proxy's response, if there was one. */
  readonly status: number | undefined;
  constructor(
    readonly proxy: Proxy,
    { problem, status, cause }: { problem: string; status?: number; cause?: unknown },
  ) {
    super(`The proxy ${proxy.origin} ${problem}.`, { cause });
    this.status = status;
  }

  /** The proxy answered a request to connect to `place` (host:port) with an error. */
  static answered(proxy: Proxy, status: number, place: string): ProxyFailure {
    const verb =
      status === 403 ? 'refuses connections' : isUnreachable(status) ? 'cannot connect' : undefined;
    const answer = `answered ${status}`;
    const problem = verb === undefined ? answer : `${verb} to ${place}: it ${answer}`;
    return new ProxyFailure(proxy, { problem, status });
  }

  /** True if a retry cannot help, because the proxy itself refused. */
  get lasts(): boolean {
    return this.status !== undefined && this.status < 500;
  }

  get hint(): string {
    const { variable: name, authorization } = this.proxy;
    if (this.status === 403) return 'Ask its operator to allow that host, or name it in NO_PROXY.';
    if (isUnreachable(this.status))
      return 'Check that host. If it needs no proxy, name it in NO_PROXY.';
    if (this.status !== 407) return `Check ${name}, or name the host of the service in NO_PROXY.`;
    return authorization === undefined
      ? `The proxy needs a user name: set ${name} to http://USER:PASSWORD@HOST:PORT.`
      : `Correct the user name or the password in ${name}, which the proxy refused.`;
  }
}

/** True for the answer of a proxy that works but cannot reach the host, or does not know its name. */
function isUnreachable(status: number | undefined): boolean {
  return status !== undefined && [500, 502, 503, 504].includes(status);
}
