import { createApi } from './api/client.js';
import type { FileStore } from './api/file-store.js';
import { createProxyChoice } from './api/proxy.js';
import { createRateLimiter, type RateLimiter } from './api/rate-limiter.js';
import { createTransport } from './api/transport.js';
import type { Api, ApiNotes } from './api/types.js';
import { checkSandboxFlags, resolveConnection } from './config/connection.js';
import type { Environment, Paths } from './config/paths.js';
import { sandboxProfile } from './config/profiles.js';
import type { Connection, GlobalFlags, Settings } from './config/settings.js';
import type { ConfigStore } from './config/store.js';
import { type Instant, pause } from './data/time.js';
import type { ThisProcess } from './files/lock.js';

/** What the service's clients are made of. */
interface ServiceParts {
  readonly flags: GlobalFlags;
  readonly env: Environment;
  readonly paths: Paths;
  readonly config: ConfigStore;
  readonly settings: Settings;
  readonly nodeVersion: string;
  readonly version: string;
  readonly self: ThisProcess;
  readonly signal: AbortSignal;
  /** Milliseconds of a clock that never goes back. */
  readonly clock: () => number;
  readonly instant: () => Instant;
  readonly notes: ApiNotes;
  /** Hears where the key came from when there is a connection. */
  readonly connected: (keySource: string) => void;
  /** Hears that an answer is waited for, by what to say of it, and by the result that it came. */
  readonly waiting: (text: () => string) => () => void;
  /** Whether somebody looks on, who is to know why nothing happens. */
  readonly watched: () => boolean;
  /** A line of the `--debug` trace. */
  readonly trace: (line: string) => void;
  /** A secret that must never appear on stderr. */
  readonly redact: (secret: string) => void;
  /** A signed URL, whose query must never appear there. */
  readonly redactUrl: (url: string) => void;
}

/** The service and its file store, each connected when first asked for. */
export interface Service {
  api(): Promise<Api>;
  apiTo(connection: Connection): Api;
  files(): Promise<FileStore>;
  close(): Promise<void>;
}

/** Finds the connection by profile, flags and environment; the sandbox is started inside this process. */
export function createService(parts: ServiceParts): Service {
  const { settings, signal, nodeVersion, notes } = parts;
  const closers: (() => Promise<void> | void)[] = [];
  const policy = {
    retries: settings.retries,
    maxWaitMs: settings.maxWaitMs,
    signal,
    instant: parts.instant,
    random: Math.random,
    sleep: pause,
  };
  const trace = settings.debug ? parts.trace : undefined;
  const proxy = createProxyChoice(parts.env, trace);
  let connection: Promise<Connection> | undefined;
  let api: Promise<Api> | undefined;
  let reachable = same;
  const opened = (url: string) => {
    parts.redactUrl(url);
    return reachable(url);
  };
  const connect = () =>
    (connection ??= findConnection(parts, closers, (found) => {
      reachable = found;
    }));
  /** While it drains, a bulk run shows its own progress, waits included. */
  let running: RateLimiter | undefined;
  const apiTo = (to: Connection): Api => {
    parts.redact(to.key);
    const limiter = createRateLimiter({
      clock: parts.clock,
      sleep: pause,
      maxWaitMs: settings.maxWaitMs,
    });
    running = limiter;
    const waitText = () => `Waiting for ${new URL(to.baseUrl).host}`;
    const transport = createTransport({
      ...policy,
      waiting: () => parts.waiting(waitText),
      limiter,
      onWait: waitTeller(parts, 'The service', () => limiter.isDraining),
      connection: to,
      timeoutMs: settings.timeoutMs,
      dryRun: settings.dryRun,
      trace,
      proxy,
      userAgent: `rosterctl/${parts.version}`,
      nodeVersion,
    });
    closers.unshift(() => transport.close());
    return createApi({
      connection: to,
      transport,
      limiter,
      overrides: settings.overrides,
      strict: settings.strict,
      notes,
      instant: parts.instant,
    });
  };
  let files: Promise<FileStore> | undefined;
  const openFiles = async (): Promise<FileStore> => {
    const { createFileStore } = await import('./api/file-store.js');
    const { baseUrl } = await connect();
    const store = createFileStore({
      ...policy,
      onWait: waitTeller(parts, 'The file store', () => running?.isDraining === true),
      baseUrl,
      dryRun: settings.dryRun,
      trace,
      proxy,
      nodeVersion,
    });
    closers.unshift(() => store.close());
    return {
      ...store,
      put(url, file, headers) {
        const came = parts.waiting(() => `Sending to ${new URL(url).host}`);
        return store.put(opened(url), file, headers).finally(came);
      },
      get: (url, part) => store.get(opened(url), part),
    };
  };
  return {
    api: () =>
      (api ??= connect().then((found) => {
        parts.connected(found.keySource);
        return apiTo(found);
      })),
    apiTo,
    // One for all files: a connection that stands serves the next one.
    files: () => (files ??= openFiles()),
    async close() {
      for (const close of closers) await close();
    },
  };
}

/** A shorter wait is over before it is read. */
const longWaitMs = 3_000;

/** Says at a terminal why nothing happens for a while; once where several wait, never beside progress. */
function waitTeller({ clock, notes, watched }: ServiceParts, who: string, isShown: () => boolean) {
  let until = 0;
  let told = clock();
  return (ms: number, asked: boolean): void => {
    const now = clock();
    // Before a short wait there may have been a long one, for an answer that did not come.
    const isLong = ms >= longWaitMs || now - told >= longWaitMs;
    if (!isLong || now < until || isShown() || !watched()) return;
    until = now + ms;
    told = now;
    const why = asked ? `${who} asks to wait` : `${who} gives no good answer`;
    notes.note(`${why}; trying again in ${Math.ceil(ms / 1000)} s.`);
  };
}

async function findConnection(
  parts: ServiceParts,
  closers: (() => Promise<void> | void)[],
  reach: (reachable: (url: string) => string) => void,
): Promise<Connection> {
  const { flags, env, settings, config, signal } = parts;
  if (settings.profile.name === sandboxProfile) {
    checkSandboxFlags(flags);
    const [{ openSandbox }, { sandboxService }] = await Promise.all([
      import('./sandbox/embedded.js'),
      import('./sandbox/keys.js'),
    ]);
    const sandbox = await openSandbox({
      stateDir: parts.paths.state?.path,
      self: parts.self,
      owner: parts.paths.owner,
      now: () => new Date(),
    });
    closers.push(() => sandbox.close());
    if (sandbox.memoryReason !== undefined)
      parts.notes.note(
        `The sandbox forgets everything after this command: ${sandbox.memoryReason}`,
      );
    reach((url) => sandbox.reachable(url));
    return {
      baseUrl: sandbox.baseUrl,
      organizationId: sandbox.organizationId,
      ...(sandbox.memoryReason === undefined && { service: sandboxService }),
      key: sandbox.apiKey,
      keySource: 'the sandbox',
    };
  }
  const { connection, notes } = await resolveConnection({
    flags,
    env,
    profile: settings.profile,
    file: config.config(),
    keys: () => config.keys(),
    signal,
  });
  for (const line of notes) parts.notes.note(line);
  return connection;
}

function same(url: string): string {
  return url;
}
