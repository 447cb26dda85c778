/** The two servers of a sandbox, the API and the file store, each on a port of its own. */
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { UsageError } from '../errors.js';
import { newApiListener } from './api-server.js';
import { createFaults } from './faults.js';
import { newFileListener } from './file-store.js';
import { newKeyRing } from './keys.js';
import { defaultPersonality } from './personality.js';
import { newSigner } from './signed-url.js';
import { type Home, newSecret } from './storage.js';

export interface ServeOptions extends ListenOptions {
  readonly now: () => Date;
  /** The port of the API; any free one by default. */
  readonly port?: number | undefined;
  /** Rules of `parseFaultRule`. */
  readonly faults?: readonly string[] | undefined;
  readonly strictEvents?: boolean | undefined;
}

export interface Serving {
  readonly origin: string;
  /** The origin of the file store, which signed URLs name. */
  readonly fileUrl: string;
  /** Proves the identity of this server, and opens its routes outside `/v1`. */
  readonly token: string;
  close(): Promise<void>;
}

/** Starts the API and the file store. Throws UsageError when the wanted port is taken. */
export async function serveHome(home: Home, options: ServeOptions): Promise<Serving> {
  const { state, bytes, secret } = home;
  const { now } = options;
  const token = newSecret();
  // Of this server alone: its URLs end with it.
  const urlSecret = newSecret();
  const faults = createFaults(options.faults ?? []);
  const files = await listen(
    newFileListener({ state, bytes, secret: urlSecret, now, faults }),
    options,
  );
  const apiListener = newApiListener({
    state,
    grantOf: newKeyRing(secret),
    personality: { ...defaultPersonality, strictEvents: options.strictEvents ?? false },
    urls: newSigner(urlSecret, originOf(files)),
    admin: { token, events: () => state.read().events, faults },
    faults,
    now,
  });
  const api = await listen(apiListener, options, options.port).catch(async (error: unknown) => {
    await files.close();
    throw error;
  });
  return {
    origin: originOf(api),
    fileUrl: originOf(files),
    token,
    async close() {
      await api.close();
      await files.close();
      state.close();
    },
  };
}

const originOf = ({ port }: Listening) => `http://${loopback}:${port}`;

async function listen(
  listener: Parameters<typeof listenOn>[1],
  options: ListenOptions,
  port = 0,
): Promise<Listening> {
  const listening = await listenOn(port, listener, options);
  if (listening) return listening;
  throw new UsageError(`Port ${port} is taken, or not yours to use.`, {
    hint: 'Choose another with --port, or leave it out for any free one',
  });
}

/** One port that is being listened on. */
export interface Listening {
  readonly port: number;
  /** Lets running requests finish, ends the rest; resolves within about two seconds. */
  close(): Promise<void>;
}

/** The only address that a sandbox is served on. */
export const loopback = '127.0.0.1';

/** How a server behaves towards the process it lives in. */
export interface ListenOptions {
  /** Keep the process alive; an embedded server does not. */
  readonly holdsProcess: boolean;
}

const graceMs = 2000;

/** Listens on a port (0 = any free one); undefined when it is taken or not ours to take. */
export function listenOn(
  port: number,
  listener: RequestListener,
  { holdsProcess }: ListenOptions,
): Promise<Listening | undefined> {
  const server = createServer(listener);
  if (!holdsProcess) {
    server.unref();
    server.on('connection', (socket) => socket.unref());
  }
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE' || error.code === 'EACCES') resolve(undefined);
      else reject(error);
    });
    server.listen(port, loopback, () =>
      resolve({ port: (server.address() as AddressInfo).port, close: () => closeServer(server) }),
    );
  });
}

async function closeServer(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  // A kept connection becomes idle only when its answer is out.
  const idle = setInterval(() => server.closeIdleConnections(), 10);
  const end = setTimeout(() => server.closeAllConnections(), graceMs);
  server.closeIdleConnections();
  await closed;
  clearInterval(idle);
  clearTimeout(end);
}
