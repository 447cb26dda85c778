import { randomBytes } from 'node:crypto';
import type { RequestListener } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { UsageError } from '../errors.js';
import type { ThisProcess } from '../files/lock.js';
import { createFaults } from './faults.js';
import { newFileListener, type SeenRequest } from './file-store.js';
import type { Home } from './home.js';
import { whoListens } from './identity.js';
import { newKeyRing } from './keys.js';
import {
  type Listening,
  type ListenOptions,
  listenOn,
  loopback,
  takeOverWhenFree,
} from './listening.js';
import { defaultPersonality } from './personality.js';
import { replacePort } from './sandbox-settings.js';
import { newApiListener } from './server.js';
import { newSigner } from './signed-url.js';

export interface ServeOptions extends ListenOptions {
  readonly self: ThisProcess;
  readonly now: () => Date;
  /** Rules of `parseFaultRule`. */
  readonly faults?: readonly string[] | undefined;
  readonly strictEvents?: boolean | undefined;
  /** Ports that must be these; by default the kept ones, or others where those are taken. */
  readonly ports?: { readonly api?: number | undefined; readonly file?: number | undefined };
}

/** The two servers of one sandbox. */
export interface Serving {
  readonly origin: string;
  /** The origin that signed URLs name. */
  readonly fileUrl: string;
  /** Where this process serves files itself: works even when `fileUrl` is another process's. */
  readonly ownFileUrl: string;
  readonly token: string;
  /** What the file store of this process saw, oldest first. */
  readonly fileRequests: readonly SeenRequest[];
  close(): Promise<void>;
}

/** Starts the API and the file store. Throws UsageError when a port that must be is taken. */
export async function serveHome(home: Home, options: ServeOptions): Promise<Serving> {
  const { state, bytes, settings } = home;
  const { now } = options;
  const token = randomBytes(24).toString('hex');
  const faults = createFaults(options.faults ?? []);
  const fileRequests: SeenRequest[] = [];
  const fileListener = newFileListener({
    state,
    bytes,
    secret: settings.secret,
    now,
    seen: fileRequests,
    faults,
  });
  const files = await openFilePort(home, fileListener, options);
  const apiListener = newApiListener({
    state,
    grantOf: newKeyRing(settings.secret),
    personality: { ...defaultPersonality, strictEvents: options.strictEvents ?? false },
    urls: newSigner(settings.secret, () => files.fileUrl),
    admin: { token, events: () => state.read().events, fileRequests: () => fileRequests, faults },
    faults,
    now,
  });
  const api = await openApiPort(home, apiListener, options).catch(async (error: unknown) => {
    await files.close();
    throw error;
  });
  return {
    origin: originOf(api.port),
    fileUrl: files.fileUrl,
    ownFileUrl: files.ownFileUrl,
    token,
    fileRequests,
    async close() {
      await api.close();
      await files.close();
      state.close();
    },
  };
}

const originOf = (port: number) => `http://${loopback}:${port}`;

/**
 * The API is used by this process or while a server runs, so another port does as well. A server
 * waits a moment for the passing commands that may have the kept one.
 */
async function openApiPort(
  { settings, dir }: Home,
  listener: RequestListener,
  options: ServeOptions,
): Promise<Listening> {
  if (options.ports?.api !== undefined) return exactly(options.ports.api, listener, options);
  const attempts = options.holdsProcess ? 40 : 1;
  for (let attempt = 1; ; attempt += 1) {
    const listening = await listenOn(settings.apiPort, listener, options);
    if (listening) return listening;
    if (attempt >= attempts) break;
    await sleep(50);
  }
  if (!options.holdsProcess || dir === undefined) return exactly(0, listener, options);
  const { apiPort } = await replacePort(dir, options.self, 'apiPort', settings.apiPort);
  return (await listenOn(apiPort, listener, options)) ?? exactly(0, listener, options);
}

interface FilePort {
  readonly fileUrl: string;
  readonly ownFileUrl: string;
  close(): Promise<void>;
}

/**
 * Signed URLs name one kept port, whoever of the processes has it; who has not stands by to take
 * it over. A stranger on it makes us keep another.
 */
async function openFilePort(
  { settings, dir }: Home,
  listener: RequestListener,
  options: ServeOptions,
): Promise<FilePort> {
  if (options.ports?.file !== undefined)
    return onlyOurs(await exactly(options.ports.file, listener, options));
  let port = settings.filePort;
  for (let attempt = 0; attempt < 5; attempt += 1) {
    const listening = await listenOn(port, listener, options);
    if (listening) return onlyOurs(listening);
    const who = await whoListens(originOf(port), settings.secret);
    if (who === 'ours') break;
    if (who === 'stranger' && dir !== undefined)
      port = (await replacePort(dir, options.self, 'filePort', port)).filePort;
  }
  const own = await exactly(0, listener, options);
  const standby = takeOverWhenFree(port, listener, options);
  return {
    fileUrl: originOf(port),
    ownFileUrl: originOf(own.port),
    async close() {
      await standby.close();
      await own.close();
    },
  };
}

function onlyOurs(listening: Listening): FilePort {
  const url = originOf(listening.port);
  return { fileUrl: url, ownFileUrl: url, close: () => listening.close() };
}

async function exactly(
  port: number,
  listener: RequestListener,
  options: ListenOptions,
): Promise<Listening> {
  const listening = await listenOn(port, listener, options);
  if (listening) return listening;
  throw new UsageError(`Port ${port} is taken, or not yours to use.`, {
    hint: 'Choose another with --port, or leave it out',
  });
}
