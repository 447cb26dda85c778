/** The service and its file store, each connected when first used. */
import { createApi } from './api/client.js';
import { createProxyChoice } from './api/proxy.js';
import { createRateLimiter, type RateLimiter } from './api/rate-limiter.js';
import type { FileStore } from './api/store/file-store.js';
import { createTransport } from './api/transport.js';
import type { Api, ApiNotes } from './api/types.js';
import { sandboxProfile } from './config/choices.js';
import { checkSandboxFlags, resolveConnection } from './config/connection.js';
import { notedRoute } from './config/noted-routes.js';
import type { Paths } from './config/paths.js';
import type { Connection, GlobalFlags, Settings } from './config/settings.js';
import type { ConfigStore } from './config/store.js';
import type { Environment } from './data/environment.js';
import { type Instant, pause } from './data/time.js';
import type { ThisProcess } from './files/lock.js';

/** Everything the clients of the service and the file store need. */
interface ServiceParts {
  readonly flags: GlobalFlags;
  readonly env: Environment;
  readonly paths: Paths;
  readonly config: ConfigStore;
  readonly settings: Settings;
  /** True for a dry run, and for a command that only reads: nothing but a GET is sent. */
  readonly readsOnly: boolean;
  readonly nodeVersion: string;
  readonly version: string;
  readonly self: ThisProcess;
  readonly signal: AbortSignal;
  /** Milliseconds of a monotonic clock. */
  readonly clock: () => number;
  readonly instant: () => Instant;
  readonly notes: ApiNotes;
  /** Called with the source of the key once there is a connection. */
  readonly onConnected: (keySource: string) => void;
  /** Called while a response is awaited, with the text to show; the returned function ends the wait. */
  readonly waiting: (text: () => string) => () => void;
  /** True if a person watches the terminal and should learn why nothing happens. */
  readonly isWatched: () => boolean;
  /** A line of the `--debug` trace. */
  readonly trace: (line: string) => void;
  /** A secret that must never appear on stderr. */
  readonly redact: (secret: string) => void;
  /** A signed URL, whose query must never appear there. */
  readonly redactUrl: (url: string) => void;
}

/** The clients of one command, connected lazily. */
export interface Service {
  api(): Promise<Api>;
  apiTo(connection: Connection): Api;
  files(): Promise<FileStore>;
  close(): Promise<void>;
}

/**
 * Creates the clients. Profile, flags and environment decide the connection; the sandbox starts
 * inside this process.
 */
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
  const connect = () => (connection ??= findConnection(parts, closers));
  /** The limiter of the current connection. While it drains, a bulk run shows its own progress, waits included. */
  let currentLimiter: RateLimiter | undefined;
  const apiTo = (to: Connection): Api => {
    parts.redact(to.key);
    const limiter = createRateLimiter({
      clock: parts.clock,
      sleep: pause,
      maxWaitMs: settings.maxWaitMs,
    });
    currentLimiter = limiter;
    const waitText = () => `Waiting for ${new URL(to.baseUrl).host}`;
    const transport = createTransport({
      ...policy,
      waiting: () => parts.waiting(waitText),
      limiter,
      onWait: waitNotifier(parts, 'The service', () => limiter.isDraining),
      connection: to,
      timeoutMs: settings.timeoutMs,
      readsOnly: parts.readsOnly,
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
      onAssumedRoute: (route, note) => {
        // The sandbox has the assumed routes, and is not the service.
        if (to.service === sandboxProfile || settings.quiet) return;
        const { isNew, store } = notedRoute(parts.paths, to, route);
        if (!isNew) return;
        notes.note(note);
        closers.push(store);
      },
      instant: parts.instant,
    });
  };
  let files: Promise<FileStore> | undefined;
  const openFiles = async (): Promise<FileStore> => {
    const { createFileStore } = await import('./api/store/file-store.js');
    const { baseUrl } = await connect();
    const store = createFileStore({
      ...policy,
      onWait: waitNotifier(parts, 'The file store', () => currentLimiter?.isDraining === true),
      baseUrl,
      readsOnly: parts.readsOnly,
      trace,
      proxy,
      nodeVersion,
    });
    closers.unshift(() => store.close());
    return {
      ...store,
      put(url, file, headers) {
        const came = parts.waiting(() => `Sending to ${new URL(url).host}`);
        parts.redactUrl(url);
        return store.put(url, file, headers).finally(came);
      },
      get(url, part) {
        parts.redactUrl(url);
        return store.get(url, part);
      },
    };
  };
  return {
    api: () =>
      (api ??= connect().then((found) => {
        parts.onConnected(found.keySource);
        return apiTo(found);
      })),
    apiTo,
    // One store for all files, so that open connections are reused.
    files: () => (files ??= openFiles()),
    async close() {
      for (const close of closers) await close();
    },
  };
}

/** A shorter wait ends before its message is read. */
const longWaitMs = 3_000;

/**
 * Returns a callback that explains long waits on a terminal: once for concurrent waits, never while
 * progress is shown.
 */
function waitNotifier(
  { clock, notes, isWatched }: ServiceParts,
  who: string,
  hasProgress: () => boolean,
) {
  let until = 0;
  let lastNoteAt = clock();
  return (ms: number, isRequested: boolean): void => {
    const now = clock();
    // A short delay may follow a long wait for a response that never came.
    const isLong = ms >= longWaitMs || now - lastNoteAt >= longWaitMs;
    if (!isLong || now < until || hasProgress() || !isWatched()) return;
    until = now + ms;
    lastNoteAt = now;
    const why = isRequested ? `${who} asks to wait` : `${who} gives no good answer`;
    notes.note(`${why}; trying again in ${Math.ceil(ms / 1000)} s.`);
  };
}

async function findConnection(
  parts: ServiceParts,
  closers: (() => Promise<void> | void)[],
): Promise<Connection> {
  const { flags, env, settings, config, signal } = parts;
  if (settings.profile.name === sandboxProfile) {
    checkSandboxFlags(flags);
    const { openSandbox } = await import('./sandbox/embedded.js');
    const sandbox = await openSandbox({
      stateDir: parts.paths.state?.path,
      self: parts.self,
      owner: parts.paths.owner,
      now: () => new Date(),
    });
    closers.push(() => sandbox.close());
    if (sandbox.memoryReason !== undefined)
      parts.notes.note(
        `The sandbox is in memory and lost after this command: ${sandbox.memoryReason}`,
      );
    return {
      baseUrl: sandbox.baseUrl,
      organizationId: sandbox.organizationId,
      service: sandboxProfile,
      ...(sandbox.isEmbedded && { urlNote: embeddedUrlNote }),
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

const embeddedUrlNote =
  'A signed URL of this sandbox stops working when this command ends. For one that lasts, run in another terminal: rosterctl sandbox start';
