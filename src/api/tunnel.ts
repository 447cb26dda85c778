/** Proxy tunnels: a CONNECT request that turns into a socket to the target. */
import { request as plainRequest } from 'node:http';
import { request as tlsRequest } from 'node:https';
import { isIP, isIPv6, type Socket } from 'node:net';
import { systemCode } from '../data/system-errors.js';
import { type Proxy, ProxyFailure } from './proxy.js';

interface TunnelTarget {
  readonly hostname: string;
  readonly protocol: string;
  /** Empty for the default port of the protocol. */
  readonly port: string;
}

/**
 * Opens a tunnel through a proxy with CONNECT. The proxy learns only host and port, and cannot read
 * the traffic. Calls `done` with the socket or a ProxyFailure. Returns a function that aborts the
 * attempt.
 */
export function openTunnel(
  proxy: Proxy,
  { hostname, protocol, port }: TunnelTarget,
  connectMs: number,
  done: (failure: ProxyFailure | null, socket?: Socket) => void,
): () => void {
  const url = new URL(proxy.origin);
  const targetPort = port || defaultPort(protocol);
  const send = url.protocol === 'https:' ? tlsRequest : plainRequest;
  const authority = `${isIPv6(hostname) ? `[${hostname}]` : hostname}:${targetPort}`;
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  const request = send({
    method: 'CONNECT',
    hostname: host,
    // Otherwise the proxy's certificate would be checked against the name in the `host` header.
    servername: isIP(host) ? '' : host,
    port: url.port || defaultPort(url.protocol),
    path: authority,
    headers: {
      host: authority,
      ...(proxy.authorization !== undefined && { 'proxy-authorization': proxy.authorization }),
    },
    agent: false,
    rejectUnauthorized: true,
  });
  let isPending = true;
  const end = (failure: ProxyFailure | null, socket?: Socket) => {
    if (!isPending) return;
    isPending = false;
    clearTimeout(timer);
    done(failure, socket);
  };
  const timer = setTimeout(() => {
    end(new ProxyFailure(proxy, { problem: 'did not open a connection in time' }));
    request.destroy();
  }, connectMs);
  request.on('error', (cause) => {
    const problem = `cannot be used: ${systemCode(cause) ?? cause.message}`;
    end(new ProxyFailure(proxy, { problem, cause }));
  });
  request.on('connect', ({ statusCode = 0 }, socket: Socket, head: Buffer) => {
    // A server that sends data first speaks neither HTTP nor TLS.
    if (statusCode >= 200 && statusCode < 300 && head.length === 0) return end(null, socket);
    socket.destroy();
    end(ProxyFailure.answered(proxy, statusCode, authority));
  });
  request.end();
  return () => request.destroy();
}

function defaultPort(protocol: string): string {
  return protocol === 'https:' ? '443' : '80';
}
