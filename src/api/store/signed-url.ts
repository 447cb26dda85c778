/** Signed URLs: which of them are safe to open. */
import type { LookupAddress, LookupAllOptions, LookupOptions } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { isLocalName, isLoopbackHost } from '../../data/http.js';
import { ProtocolError } from '../../errors.js';

/** Resolves a host name to all its addresses. */
export type ResolveAll = (
  hostname: string,
  options: LookupAllOptions,
  done: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

/**
 * Decides which signed URLs may be opened. They come from the service, so they are not trusted:
 * https only (http if the service itself is on loopback), no userinfo, and no private, loopback,
 * link-local or metadata address unless the service's own host has one. Addresses are checked in
 * the text and again when a name is resolved, because a name can point anywhere.
 */
export interface UrlGuard {
  /** Returns the parsed URL. Throws UnsafeUrlError. */
  check(text: string): Promise<URL>;
  /** The lookup function for connections to signed URLs. */
  readonly lookup: LookupFunction;
}

/** Returns the guard for a service; `onUrl` is called with each URL before anything is done with it. */
export function createUrlGuard(
  baseUrl: string,
  resolve: ResolveAll,
  onUrl?: (url: string) => void,
): UrlGuard {
  const service = new URL(baseUrl);
  const serviceHost = hostOf(service);
  const isServiceLoopback = isLoopbackHost(service.hostname) || isLocalName(serviceHost);
  let servicePrivacy: Promise<boolean> | undefined;
  /** True for a service inside a private network, which keeps its files there too. */
  const isServicePrivate = (): Promise<boolean> => {
    if (isIP(serviceHost) || isLocalName(serviceHost))
      return Promise.resolve(isPrivate(serviceHost));
    servicePrivacy ??= new Promise((resolvePrivacy) =>
      resolve(serviceHost, { all: true }, (error, addresses) =>
        resolvePrivacy(!error && addresses.some(({ address }) => isPrivate(address))),
      ),
    );
    return servicePrivacy;
  };
  return {
    async check(text) {
      onUrl?.(text);
      const url = parseUrl(text);
      if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isServiceLoopback))
        throw new UnsafeUrlError(`it does not begin with https (${url.protocol})`);
      if (url.username !== '' || url.password !== '')
        throw new UnsafeUrlError('it holds a user name');
      if (isPrivate(hostOf(url)) && !(await isServicePrivate()))
        throw new UnsafeUrlError(`it leads into a private network (${url.origin})`);
      return url;
    },
    lookup(hostname, options, done) {
      const name = isLocalName(hostname) ? 'localhost' : hostname;
      resolve(name, { ...options, all: true }, (error, addresses) => {
        if (error) {
          done(error, '', 0);
          return;
        }
        const hasPrivate = addresses.some(({ address }) => isPrivate(address));
        const allowed = hasPrivate ? isServicePrivate() : Promise.resolve(true);
        void allowed.then((isAllowed) => {
          if (isAllowed) passAddresses(addresses, options, done);
          else done(new UnsafeUrlError('its name leads into a private network'), '', 0);
        });
      });
    },
  };
}

function passAddresses(
  addresses: readonly LookupAddress[],
  options: LookupOptions,
  done: Parameters<LookupFunction>[2],
): void {
  const [first] = addresses;
  if (options.all) done(null, [...addresses]);
  else if (first) done(null, first.address, first.family);
  else done(new Error('no address'), '', 0);
}

/** A signed URL that must not be opened. `why` reveals at most its origin. */
export class UnsafeUrlError extends ProtocolError {
  constructor(readonly why: string) {
    super(`The service returned a signed URL that rosterctl does not open: ${why}.`, {
      code: 'unsafeUrl',
    });
  }
}

function parseUrl(text: string): URL {
  // The URL parser would silently remove these; a real signed URL has none. It encodes a space in a path.
  // oxlint-disable-next-line no-control-regex
  if (/[\u0000-\u001f\u007f\\]/.test(text) || !/^[a-z][a-z0-9+.-]*:\/\//i.test(text))
    throw new UnsafeUrlError('it is not an absolute URL');
  if (!URL.canParse(text)) throw new UnsafeUrlError('it is not a URL');
  return new URL(text);
}

/** Returns the host. The parser has already normalized every spelling of an IPv4 address. */
function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '');
}

/** True for an address that is not on the public internet. */
function isPrivate(host: string): boolean {
  if (isLocalName(host)) return true;
  return isIP(host) !== 0 && privateAddresses.check(host, family(host));
}

function family(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 6 ? 'ipv6' : 'ipv4';
}

/** Blocks of addresses; those of IPv4 also where NAT64 (64:ff9b::/96) and 6to4 (2002::/16) embed them. */
const privateAddresses = new BlockList();
for (const block of [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '168.63.129.16/32',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '224.0.0.0/4',
  '240.0.0.0/4',
  // Local NAT64 (RFC 8215).
  '64:ff9b:1::/48',
  // These two contain IPv4 addresses in forms that no network routes but a system may translate.
  '::/96',
  '::ffff:0:0:0/96',
  // Teredo, whose addresses contain two IPv4 addresses.
  '2001::/32',
  'fc00::/7',
  'fe80::/10',
  'fec0::/10',
  'ff00::/8',
]) {
  const [address = '', bits] = block.split('/');
  privateAddresses.addSubnet(address, Number(bits), family(address));
  if (isIP(address) === 6) continue;
  const groups = Buffer.from(address.split('.').map(Number)).toString('hex').match(/.{4}/g);
  privateAddresses.addSubnet(`64:ff9b::${address}`, 96 + Number(bits), 'ipv6');
  privateAddresses.addSubnet(`2002:${groups?.join(':')}::`, 16 + Number(bits), 'ipv6');
}
