/** The service and its file store, each connected when first used. */
import { createApi } from './api/client.js';
import { createProxyChoice } from './api/proxy.js';
import { RateLimiter } from './api/rate-limiter.js';
import type { FileStore } from './api/store/file-store.js';
import { Transport } from './api/transport.js';
import type { Api } from './api/types.js';
import { sandboxProfile } from './config/choices.js';
import { checkSandboxFlags, resolveConnection } from './config/connection.js';
import { notedRoute } from './config/noted-routes.js';
import type { Connection } from './config/settings.js';
import type { LocalContext } from './context.js';
import { lowerFirst } from './data/text.js';
import { pause } from './data/time.js';

/** How one command uses its clients. */
interface ServiceOptions {
  /** True for a dry run, and for a command that only reads: nothing but a GET is sent. */
  readonly readsOnly: boolean;
  /** Called while a response is awaited, with the text to show; the returned function ends the wait. */
  readonly waiting: (text: () => string) => () => void;
  /** Prints a line of the `--debug` trace. */
  readonly trace: (line: string) => void;
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
export function createService(
  context: LocalContext,
  { readsOnly, waiting, ...options }: ServiceOptions,
): Service {
  const { settings, signal, instant, nodeVersion, streams } = context;
  const closers: (() => Promise<void> | void)[] = [];
  const trace = settings.debug ? options.trace : undefined;
  const shared = {
    retries: settings.retries,
    maxWaitMs: settings.maxWaitMs,
    signal,
    instant,
    random: Math.random,
    sleep: pause,
    readsOnly,
    trace,
    proxy: createProxyChoice(context.env, trace),
    nodeVersion,
  };
  let connection: Promise<Connection> | undefined;
  let api: Promise<Api> | undefined;
  const connect = () => (connection ??= openConnection(context, closers));
  /** The limiter of the current connection. While it drains, a bulk run shows its own progress, waits included. */
  let currentLimiter: RateLimiter | undefined;
  const apiTo = (to: Connection): Api => {
    streams.redact(to.key);
    const limiter = new RateLimiter({
      clock: context.clock,
      sleep: pause,
      maxWaitMs: settings.maxWaitMs,
    });
    currentLimiter = limiter;
    const waitText = () => `Waiting for ${new URL(to.baseUrl).host}`;
    const transport = new Transport({
      ...shared,
      waiting: () => waiting(waitText),
      limiter,
      onWait: waitNotifier(context, 'The service', () => limiter.isDraining),
      connection: to,
      timeoutMs: settings.timeoutMs,
      userAgent: `rosterctl/${context.table.version}`,
    });
    closers.unshift(() => transport.close());
    return createApi({
      connection: to,
      transport,
      limiter,
      overrides: settings.overrides,
      strict: settings.strict,
      notes: context,
      onAssumedRoute: (route, note) => {
        // The sandbox has the assumed routes, and is not the service.
        if (to.service === sandboxProfile || settings.quiet) return;
        const { isNew, store } = notedRoute(context.paths, to, route);
        if (!isNew) return;
        context.note(note);
        closers.push(store);
      },
      instant,
    });
  };
  let files: Promise<FileStore> | undefined;
  const openFiles = async (): Promise<FileStore> => {
    const { createFileStore } = await import('./api/store/file-store.js');
    const { baseUrl } = await connect();
    const store = createFileStore({
      ...shared,
      onWait: waitNotifier(context, 'The file store', () => currentLimiter?.isDraining === true),
      baseUrl,
      redactUrl: (url) => streams.redactUrl(url),
    });
    closers.unshift(() => store.close());
    return {
      ...store,
      put(url, file, headers) {
        const came = waiting(() => `Sending to ${new URL(url).host}`);
        return store.put(url, file, headers).finally(came);
      },
    };
  };
  return {
    api: () =>
      (api ??= connect().then((found) => {
        context.known.keySource = found.keySource;
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
function waitNotifier(context: LocalContext, who: string, hasProgress: () => boolean) {
  let until = 0;
  const { clock, streams } = context;
  let lastNoteAt = clock();
  return (ms: number, isRequested: boolean): void => {
    const now = clock();
    // A short delay may follow a long wait for a response that never came.
    const isLong = ms >= longWaitMs || now - lastNoteAt >= longWaitMs;
    if (!isLong || now < until || hasProgress() || !streams.stderr.isTerminal) return;
    until = now + ms;
    lastNoteAt = now;
    const why = isRequested ? `${who} asks to wait` : `No usable answer from ${lowerFirst(who)}`;
    context.note(`${why}; trying again in ${Math.ceil(ms / 1000)} s.`);
  };
}

async function openConnection(
  context: LocalContext,
  closers: (() => Promise<void> | void)[],
): Promise<Connection> {
  const { flags, env, settings, config, signal, paths, self, now } = context;
  if (settings.profile.name === sandboxProfile) {
    checkSandboxFlags(flags);
    const { openSandbox } = await import('./sandbox/embedded.js');
    const sandbox = await openSandbox({
      stateDir: paths.state?.path,
      self,
      owner: paths.owner,
      now,
    });
    closers.push(() => sandbox.close());
    if (sandbox.memoryReason !== undefined)
      context.note(`The sandbox is in memory and lost after this command: ${sandbox.memoryReason}`);
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
  for (const line of notes) context.note(line);
  return connection;
}

const embeddedUrlNote =
  'A signed URL of this sandbox stops working when this command ends. For one that lasts, run in another terminal: rosterctl sandbox start';
