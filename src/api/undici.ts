/** The parts of undici that rosterctl uses: agents, and connections through proxies. */

import { subscribe } from 'node:diagnostics_channel';
import {
  type LookupFunction,
  type Socket,
  setDefaultAutoSelectFamilyAttemptTimeout,
} from 'node:net';
import type { buildConnector } from 'undici';
import type RawAgent from 'undici/lib/dispatcher/agent.js';
import { lazy } from '../data/lazy.js';
import { BugError } from '../errors.js';
import type { Proxy, ProxyChoice } from './proxy.js';

export type Agent = RawAgent;

/** A set of connections that are closed together. */
interface Connections {
  readonly agent: Agent;
  /** Drops every connection at once, including those still being opened. Does not wait. */
  close(): void;
}

interface ConnectionOptions {
  readonly connectMs?: number | undefined;
  /** If false, every request gets its own connection. */
  readonly keepAlive: boolean;
  readonly lookup?: LookupFunction | undefined;
  readonly proxy?: ProxyChoice | undefined;
}

const headerBytes = 16 * 1024;
/** undici ends the wait half a second to a second later. */
const defaultConnectMs = 9_000;
/**
 * Node tries the addresses of a host in turn. Its own 250 ms for each but the last are too short for a
 * service far away, whose last address may be one that this machine cannot reach (IPv6).
 */
const nextAddressMs = 500;

/** Opens a set of connections. Loads undici on first use. */
async function openConnections(
  nodeVersion: string,
  { connectMs = defaultConnectMs, keepAlive, lookup, proxy }: ConnectionOptions,
): Promise<Connections> {
  const undici = await loadUndici(nodeVersion);
  const connect = undici.connectorFor({
    timeout: connectMs,
    rejectUnauthorized: true,
    ...(lookup && { lookup }),
  });
  const connecting = new Set<Socket>();
  const connectDirectly = (options: buildConnector.Options, done: buildConnector.Callback) => {
    const socket = connect(options, (...outcome) => {
      connecting.delete(socket);
      // A server may end a TLS 1.3 handshake after ours; undici would say only that it closed the connection.
      outcome[1]?.once('error', (error) => socket.destroy(error));
      done(...outcome);
    });
    connecting.add(socket);
  };
  const tunnels = new Set<() => void>();
  const connectThroughProxy = async (
    chosenProxy: Proxy,
    options: buildConnector.Options,
    done: buildConnector.Callback,
  ) => {
    const { openTunnel } = await import('./tunnel.js');
    const abortTunnel = openTunnel(chosenProxy, options, connectMs, (failure, socket) => {
      tunnels.delete(abortTunnel);
      if (!socket) done(failure ?? new Error('no tunnel'), null);
      else if (options.protocol === 'https:')
        connectDirectly({ ...options, httpSocket: socket }, done);
      else done(null, socket);
    });
    tunnels.add(abortTunnel);
  };
  const agent = new undici.Agent({
    connect(options, done) {
      const chosenProxy = proxy?.(
        new URL(`${options.protocol}//${options.host ?? options.hostname}`),
      );
      if (chosenProxy)
        connectThroughProxy(chosenProxy, options, done).catch((error: Error) => done(error, null));
      else connectDirectly(options, done);
    },
    // We keep our own deadlines: undici's have a resolution of half a second and start elsewhere.
    headersTimeout: 0,
    bodyTimeout: 0,
    maxHeaderSize: headerBytes,
    pipelining: keepAlive ? 1 : 0,
    // A server may offer a minute. By then something on the way may have forgotten the connection, and
    // the write that is sent on it gets no answer.
    keepAliveMaxTimeout: 5000,
  });
  return {
    agent,
    close() {
      void agent.destroy();
      for (const socket of connecting) socket.destroy();
      for (const abortTunnel of tunnels) abortTunnel();
    },
  };
}

/** Opens connections when first used: those that may be reused, and those for one request each. */
export function connectionPool({
  nodeVersion,
  proxy,
  connectMs,
  lookup,
}: Omit<ConnectionOptions, 'keepAlive'> & { readonly nodeVersion: string }) {
  let isClosed = false;
  const sets = new Map<boolean, Promise<Connections>>();
  return {
    async agent(keepAlive: boolean): Promise<Agent> {
      const open =
        sets.get(keepAlive) ??
        openConnections(nodeVersion, { connectMs, keepAlive, lookup, proxy });
      sets.set(keepAlive, open);
      const { agent } = await open;
      if (isClosed) throw new BugError('A request after the transport was closed.');
      return agent;
    },
    close(): void {
      isClosed = true;
      for (const open of sets.values())
        void open.then(
          (set) => set.close(),
          () => undefined,
        );
    },
  };
}

/**
 * Loads undici once. On Node 20, V8 compiles undici's WebAssembly parser a second time in the
 * background, and the process waits for that at exit; a flag set before loading prevents it. Later
 * versions do not wait, and setting a flag would cost time.
 */
async function loadUndici(nodeVersion: string) {
  if (/^v?20\./.test(nodeVersion)) {
    const { setFlagsFromString } = await import('node:v8');
    setFlagsFromString('--liftoff-only');
  }
  const [agent, connect] = await Promise.all([
    import('undici/lib/dispatcher/agent.js'),
    import('undici/lib/core/connect.js'),
  ]);
  setDefaultAutoSelectFamilyAttemptTimeout(nextAddressMs);
  subscribeOnce();
  return { Agent: agent.default, connectorFor: connect.default };
}

const subscribeOnce = lazy(() =>
  subscribe('undici:client:sendHeaders', (message) => {
    const listener = pendingListener;
    pendingListener = undefined;
    listener?.((message as { socket: Socket }).socket);
  }),
);

let pendingListener: ((socket: Socket) => void) | undefined;

/**
 * Calls `listener` when the headers of this request are written to a socket. Call it inside a
 * handler's `onConnect`: undici publishes the event synchronously right after that, so nothing can
 * come between. Its error codes do not distinguish a request that was sent from one that was not.
 */
export function onHeadWritten(listener: (socket: Socket) => void): void {
  pendingListener = listener;
}
