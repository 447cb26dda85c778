import { setTimeout as wait } from 'node:timers/promises';
import { Client } from '../../src/api/client.js';
import { RateLimiter } from '../../src/api/rate-limiter.js';
import type { ClientOptions } from '../../src/api/retry.js';
import { FileStore, type FileStoreOptions } from '../../src/api/store/file-store.js';
import { Transport, type TransportOptions } from '../../src/api/transport.js';
import type { Api } from '../../src/api/types.js';
import { pause } from '../../src/data/time.js';
import { atEnd } from '../support/cleaning.js';
import { key, organization } from '../support/service.js';

/** Requested waits, in milliseconds; none really takes place. */
export const noWait = () => {
  const waits: number[] = [];
  return { waits, sleep: async (ms: number) => void waits.push(ms) };
};

/** A limiter on the real clock, as every connection has. */
export const realLimiter = () =>
  new RateLimiter({ clock: () => performance.now(), sleep: pause, maxWaitMs: 60_000 });

/** The real clocks. */
export const instant = () => ({ wall: Date.now(), mono: performance.now() });

/** What every client is given: no retries, no proxy, and no signal. */
const clientOptions = (): ClientOptions => ({
  retries: 0,
  maxWaitMs: 60_000,
  readsOnly: false,
  signal: new AbortController().signal,
  instant,
  random: () => 0.5,
  sleep: (ms, signal) => wait(ms, undefined, { signal }).catch(() => undefined),
  proxy: () => undefined,
  nodeVersion: process.versions.node,
});

export function transportTo(baseUrl: string, changes: Partial<TransportOptions> = {}) {
  const transport = new Transport({
    ...clientOptions(),
    connection: { baseUrl, key },
    timeoutMs: 5000,
    waiting: () => () => undefined,
    limiter: realLimiter(),
    userAgent: 'rosterctl/test',
    ...changes,
  });
  atEnd(() => transport.close());
  return transport;
}

export interface Heard {
  readonly notes: string[];
}

export function apiTo(
  baseUrl: string,
  changes: Partial<TransportOptions> & {
    readonly overrides?: Record<string, string>;
    readonly strict?: boolean;
    readonly organizationId?: string;
  } = {},
): { readonly api: Api; readonly heard: Heard } {
  const heard: Heard = { notes: [] };
  const api = new Client({
    connection: { baseUrl, organizationId: changes.organizationId ?? organization },
    transport: transportTo(baseUrl, changes),
    limiter: changes.limiter ?? realLimiter(),
    overrides: changes.overrides ?? {},
    strict: changes.strict ?? false,
    notes: {
      note: (text) => heard.notes.push(text),
      message: (text) => heard.notes.push(text),
    },
    onAssumedRoute: (_, text) => heard.notes.push(text),
    instant:
      changes.instant ?? (() => ({ ...instant(), wall: Date.parse('2026-11-21T12:00:00Z') })),
  });
  return { api, heard };
}

export function storeFor(baseUrl: string, changes: Partial<FileStoreOptions> = {}) {
  const store = new FileStore({
    baseUrl,
    ...clientOptions(),
    ...changes,
  });
  atEnd(() => store.close());
  return store;
}

/** Returns what an awaited call threw. */
export async function thrownBy(call: Promise<unknown>): Promise<unknown> {
  try {
    await call;
  } catch (error) {
    return error;
  }
  throw new Error('nothing was thrown');
}

/** A promise and the call that fulfils it. */
export function later() {
  const fulfil: { now?: () => void } = {};
  const promise = new Promise<void>((done) => {
    fulfil.now = done;
  });
  return { promise, resolve: () => fulfil.now?.() };
}
