import { request as plainRequest } from 'node:http';
import { request as tlsRequest } from 'node:https';
import { isIP, isIPv6, type Socket } from 'node:net';
import type { Proxy } from './proxy.js';
import { ProxyFailure } from './transport-error.js';

/** Where a tunnel is to lead. */
interface TunnelTarget {
  readonly hostname: string;
  readonly protocol: string;
  /** Empty for the protocol's own. */
  readonly port: string;
}

/**
 * Opens a tunnel through a proxy with CONNECT; what goes through it is not for the proxy's eyes,
 * and of a request it learns host and port alone. `done` is told the socket or a ProxyFailure.
 * Returns what drops the attempt.
 */
export function openTunnel(
  proxy: Proxy,
  { hostname, protocol, port }: TunnelTarget,
  connectMs: number,
  done: (failure: ProxyFailure | null, socket?: Socket) => void,
): () => void {
  const url = new URL(proxy.origin);
  const to = port || ownPort(protocol);
  const send = url.protocol === 'https:' ? tlsRequest : plainRequest;
  const place = `${isIPv6(hostname) ? `[${hostname}]` : hostname}:${to}`;
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  const request = send({
    method: 'CONNECT',
    hostname: host,
    // Otherwise the name in the header `host` would be looked for in the proxy's certificate.
    servername: isIP(host) ? '' : host,
    port: url.port || ownPort(url.protocol),
    path: place,
    headers: {
      host: place,
      ...(proxy.authorization !== undefined && { 'proxy-authorization': proxy.authorization }),
    },
    agent: false,
    rejectUnauthorized: true,
  });
  let open = true;
  const end = (failure: ProxyFailure | null, socket?: Socket) => {
    if (!open) return;
    open = false;
    clearTimeout(timer);
    done(failure, socket);
  };
  const timer = setTimeout(() => {
    end(new ProxyFailure(proxy.origin, { problem: 'did not open a connection in time' }));
    request.destroy();
  }, connectMs);
  request.on('error', (cause: NodeJS.ErrnoException) => {
    const problem = `cannot be used: ${cause.code ?? cause.message}`;
    end(new ProxyFailure(proxy.origin, { problem, cause }));
  });
  request.on('connect', ({ statusCode = 0 }, socket: Socket, head: Buffer) => {
    // A server that speaks before it is spoken to is none of HTTP or TLS.
    if (statusCode >= 200 && statusCode < 300 && head.length === 0) return end(null, socket);
    socket.destroy();
    end(new ProxyFailure(proxy.origin, { problem: `answered ${statusCode}`, status: statusCode }));
  });
  request.end();
  return () => request.destroy();
}

function ownPort(protocol: string): string {
  return protocol === 'https:' ? '443' : '80';
}
