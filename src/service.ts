/** The service and its file store, each connected when first used. */

import { dirname, join } from 'node:path';
import { Client } from './api/client.js';
import { createProxyChoice } from './api/proxy.js';
import { RateLimiter } from './api/rate-limiter.js';
import type { FileStore } from './api/store/file-store.js';
import { Transport } from './api/transport.js';
import type { Api } from './api/types.js';
import { originOf, parseBaseUrl } from './config/base-url.js';
import { sandboxProfile } from './config/choices.js';
import { checkSandboxFlags, connectionSources, resolveConnection } from './config/connection.js';
import { cacheFolder, type Paths } from './config/paths.js';
import type { Connection } from './config/settings.js';
import type { LocalContext } from './context.js';
import { lowerFirst } from './data/text.js';
import { pause } from './data/time.js';
import { ensurePrivateFolders, readIfOurs, writePrivateFile } from './files/private.js';

/** How one command uses its clients. */
interface ServiceOptions {
  /** True for a dry run, and for a command that only reads: nothing but a GET is sent. */
  readonly readsOnly: boolean;
  /** Called while a response is awaited, with the text to show; the returned function ends the wait. */
  readonly waiting: (text: () => string) => () => void;
  readonly trace: (line: string) => void;
}

/** The clients of one command, each connected when first used. */
export class Service {
  private readonly shared: ReturnType<typeof sharedOptions>;
  private readonly closers: (() => Promise<void> | void)[] = [];
  private connection: Promise<Connection> | undefined;
  private opened: Promise<Api> | undefined;
  private fileStore: Promise<FileStore> | undefined;
  /** The limiter of the current connection. While it drains, a bulk run shows its own progress, waits included. */
  private currentLimiter: RateLimiter | undefined;

  constructor(
    private readonly context: LocalContext,
    private readonly options: ServiceOptions,
  ) {
    this.shared = sharedOptions(context, options);
  }

  /** Profile, flags and environment decide the connection; the sandbox starts inside this process. */
  api(): Promise<Api> {
    return (this.opened ??= this.connect().then((connection) => {
      this.context.known.keySource = connection.keySource;
      return this.apiTo(connection);
    }));
  }

  apiTo(to: Connection): Api {
    const { context, shared, options } = this;
    const { settings, streams, clock, instant } = context;
    streams.redact(to.key);
    const limiter = new RateLimiter({ clock, sleep: pause, maxWaitMs: settings.maxWaitMs });
    this.currentLimiter = limiter;
    const waitText = () => `Waiting for ${new URL(to.baseUrl).host}`;
    const transport = new Transport({
      ...shared,
      waiting: () => options.waiting(waitText),
      limiter,
      onWait: waitNotifier(context, 'The service', () => limiter.isDraining),
      connection: to,
      timeoutMs: settings.timeoutMs,
      userAgent: `rosterctl/${context.table.version}`,
    });
    this.closers.unshift(() => transport.close());
    return new Client({
      connection: to,
      transport,
      limiter,
      overrides: settings.overrides,
      strict: settings.strict,
      notes: context,
      onAssumedRoute: (route, note) => this.noteAssumedRoute(to, route, note),
      instant,
    });
  }

  private noteAssumedRoute(to: Connection, route: string, note: string): void {
    const { paths, settings } = this.context;
    // The sandbox has the assumed routes, and is not the service.
    if (to.service === sandboxProfile || settings.quiet) return;
    const { isNew, store } = notedRoute(paths, to, route);
    if (!isNew) return;
    this.context.note(note);
    this.closers.push(store);
  }

  /** The file store; one for all files, so that open connections are reused. */
  files(): Promise<FileStore> {
    return (this.fileStore ??= this.openFiles());
  }

  private async openFiles(): Promise<FileStore> {
    const { context, options } = this;
    const stores = await import('./api/store/file-store.js');
    const { baseUrl } = await this.connect();
    const isDraining = () => this.currentLimiter?.isDraining === true;
    const store = new stores.FileStore({
      ...this.shared,
      onWait: waitNotifier(context, 'The file store', isDraining),
      baseUrl,
      redactUrl: (url) => context.streams.redactUrl(url),
      waiting: options.waiting,
    });
    this.closers.unshift(() => store.close());
    return store;
  }

  private connect(): Promise<Connection> {
    return (this.connection ??= openConnection(this.context, this.closers));
  }

  async close(): Promise<void> {
    for (const close of this.closers) await close();
  }
}

/** The options that the clients of the service and of its file store have in common. */
function sharedOptions(context: LocalContext, { readsOnly, trace }: ServiceOptions) {
  const { settings, signal, instant, nodeVersion, env } = context;
  const { retries, maxWaitMs } = settings;
  const shownTrace = settings.debug ? trace : undefined;
  return {
    ...{ retries, maxWaitMs, signal, instant, nodeVersion, readsOnly },
    random: Math.random,
    sleep: pause,
    trace: shownTrace,
    proxy: createProxyChoice(env, shownTrace),
  };
}

/** A shorter wait ends before its message is read. */
const longWaitMs = 3_000;

/** Returns a callback that explains long waits: once for concurrent ones, never beside progress. */
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
    const why = isRequested
      ? `${who} asks you to wait`
      : `No usable answer from ${lowerFirst(who)}`;
    context.note(`${why}; trying again in ${Math.ceil(ms / 1000)} s.`);
  };
}

async function openConnection(
  context: LocalContext,
  closers: (() => Promise<void> | void)[],
): Promise<Connection> {
  const { flags, settings, signal } = context;
  if (settings.profile.name === sandboxProfile) {
    checkSandboxFlags(flags);
    const { openSandbox, sandboxOptions } = await import('./sandbox/embedded.js');
    const sandbox = await openSandbox(sandboxOptions(context));
    closers.push(() => sandbox.close());
    if (sandbox.memoryReason !== undefined)
      context.note(
        `The sandbox is in memory and lost after this command: ${lowerFirst(sandbox.memoryReason)}`,
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
  const { connection, notes } = await resolveConnection({ ...connectionSources(context), signal });
  for (const line of notes) context.note(line);
  return connection;
}

const embeddedUrlNote =
  'A signed URL of this sandbox stops working when this command ends. For one that lasts, run in another terminal: rosterctl sandbox start';

/** An assumed route, as far as this machine has noted it. */
interface NotedRoute {
  readonly isNew: boolean;
  /** Remembers it. Never rejects: a cache that cannot be written costs a repeated note. */
  readonly store: () => Promise<void>;
}

/**
 * Looks an assumed `METHOD /path` up among those noted for an organization at a service. They are kept
 * in the cache folder that `auth logout` removes. Never throws.
 */
function notedRoute(
  paths: Paths,
  { baseUrl, organizationId }: Pick<Connection, 'baseUrl' | 'organizationId'>,
  route: string,
): NotedRoute {
  const folder = cacheFolder(paths, originOf(parseBaseUrl(baseUrl)), organizationId);
  const file = folder === undefined ? undefined : join(folder, 'noted-routes.txt');
  return {
    isNew: file === undefined || !readNoted(file, paths).includes(route),
    async store() {
      if (file !== undefined) await writeNoted(file, paths, route).catch(() => {});
    },
  };
}

/** Returns the noted routes, one a line; none for a file that is absent or not ours. */
function readNoted(file: string, { owner }: Paths): readonly string[] {
  return (readIfOurs(file, owner) ?? '').split('\n').filter(Boolean);
}

async function writeNoted(file: string, paths: Paths, route: string): Promise<void> {
  const { owner, cache } = paths;
  if (!cache) return;
  ensurePrivateFolders(cache, [dirname(file)], owner);
  const all = new Set([...readNoted(file, paths), route]);
  await writePrivateFile(file, `${[...all].join('\n')}\n`, owner);
}
