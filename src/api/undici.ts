import { subscribe } from 'node:diagnostics_channel';
import type { LookupFunction, Socket } from 'node:net';
import type RawAgent from 'undici/lib/dispatcher/agent.js';
import type connectorFor from 'undici/lib/core/connect.js';
import type { buildConnector } from 'undici';
import type { Proxy, ProxyChoice } from './proxy.js';

export type Agent = RawAgent;

/** The parts of undici that are used. */
interface Undici {
  readonly Agent: typeof RawAgent;
  readonly connectorFor: typeof connectorFor;
}

/** Connections to wherever requests go, closed together. */
export interface Connections {
  readonly agent: Agent;
  /** Drops every connection at once, also those still being made; waits for nothing. */
  close(): void;
}

interface ConnectionOptions {
  readonly connectMs: number;
  /** False: every request gets a connection of its own. */
  readonly keepAlive: boolean;
  readonly lookup?: LookupFunction | undefined;
  readonly proxy?: ProxyChoice | undefined;
}

const headerBytes = 16 * 1024;

/** Loads undici when it is first needed and opens a set of connections that always verify TLS. */
export async function openConnections(
  nodeVersion: string,
  { connectMs, keepAlive, lookup, proxy }: ConnectionOptions,
): Promise<Connections> {
  const undici = await loadUndici(nodeVersion);
  const connect = undici.connectorFor({
    timeout: connectMs,
    rejectUnauthorized: true,
    ...(lookup && { lookup }),
  });
  const connecting = new Set<Socket>();
  const direct = (options: buildConnector.Options, done: buildConnector.Callback) => {
    const socket = connect(options, (...outcome) => {
      connecting.delete(socket);
      done(...outcome);
    });
    connecting.add(socket);
  };
  const tunnels = new Set<() => void>();
  const through = async (
    used: Proxy,
    options: buildConnector.Options,
    done: buildConnector.Callback,
  ) => {
    const { openTunnel } = await import('./tunnel.js');
    const drop = openTunnel(used, options, connectMs, (failure, socket) => {
      tunnels.delete(drop);
      if (!socket) done(failure ?? new Error('no tunnel'), null);
      else if (options.protocol === 'https:') direct({ ...options, httpSocket: socket }, done);
      else done(null, socket);
    });
    tunnels.add(drop);
  };
  const agent = new undici.Agent({
    connect(options, done) {
      const used = proxy?.(targetOf(options));
      if (used) through(used, options, done).catch((error: Error) => done(error, null));
      else direct(options, done);
    },
    // Deadlines are ours: undici's own count in steps of half a second and from other moments.
    headersTimeout: 0,
    bodyTimeout: 0,
    maxHeaderSize: headerBytes,
    pipelining: keepAlive ? 1 : 0,
  });
  return {
    agent,
    close() {
      void agent.destroy();
      for (const socket of connecting) socket.destroy();
      for (const drop of tunnels) drop();
    },
  };
}

function targetOf({ protocol, host, hostname }: buildConnector.Options): URL {
  return new URL(`${protocol}//${host ?? hostname}`);
}

let loading: Promise<Undici> | undefined;

/**
 * On Node 20 V8 compiles undici's WebAssembly parser a second time in the background and the process
 * waits for that at its exit; a flag set before prevents it. On later versions there is no such wait
 * and setting a flag costs time.
 */
function loadUndici(nodeVersion: string): Promise<Undici> {
  loading ??= load(nodeVersion);
  return loading;
}

async function load(nodeVersion: string): Promise<Undici> {
  if (/^v?20\./.test(nodeVersion)) {
    const { setFlagsFromString } = await import('node:v8');
    setFlagsFromString('--liftoff-only');
  }
  const [agent, connect] = await Promise.all([
    import('undici/lib/dispatcher/agent.js'),
    import('undici/lib/core/connect.js'),
  ]);
  subscribe('undici:client:sendHeaders', (message) => {
    const told = departing;
    departing = undefined;
    told?.((message as { socket: Socket }).socket);
  });
  return { Agent: agent.default, connectorFor: connect.default };
}

let departing: ((socket: Socket) => void) | undefined;

/**
 * To be called inside a handler's `onConnect`: tells when the head of this request is written to a
 * socket. undici publishes that in the same turn, right after `onConnect`, so nothing comes between;
 * its error codes cannot tell a request that left from one that did not.
 */
export function onHeadWritten(told: (socket: Socket) => void): void {
  departing = told;
}
