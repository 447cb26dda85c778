/** Starts the two servers of a sandbox, the API and the file store, each on a port of its own. */
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { UsageError } from '../errors.js';
import { newApiListener } from './api-server.js';
import { createFaults, type RequestRecord } from './faults.js';
import { newFileListener } from './file-store.js';
import { newKeyRing, newSigner } from './keys.js';
import { defaultPersonality } from './personality.js';
import type { Tables } from './records.js';
import { parseShapes } from './shapes/shapes.js';
import { newSecret, type Storage } from './storage.js';

export interface ServeOptions {
  /** Keep the process alive; an embedded server does not. */
  readonly holdsProcess: boolean;
  readonly now: () => Date;
  /** The port of the API; any free one by default. */
  readonly port?: number | undefined;
  /** Rules for `parseFaultRule`. */
  readonly faults?: readonly string[] | undefined;
  readonly strictEvents?: boolean | undefined;
  /** `KEY=VALUE` texts for `parseShapes`. */
  readonly shapes?: readonly string[] | undefined;
}

export interface Servers {
  /** The origin of the API. */
  readonly origin: string;
  /** The origin of the file store, which signed URLs name. */
  readonly fileUrl: string;
  /** Proves the identity of this server, and opens its routes outside `/v1`. */
  readonly token: string;
  /** What is stored, whatever the shapes show. */
  readonly tables: () => Tables;
  /** The newest requests, oldest first. */
  readonly requests: () => readonly RequestRecord[];
  close(): Promise<void>;
}

/** Starts both servers. Throws UsageError when the wanted port is taken, a fault rule or a shape is invalid. */
export async function startServers(storage: Storage, options: ServeOptions): Promise<Servers> {
  const { state, bytes, secret } = storage;
  const { now, holdsProcess } = options;
  const token = newSecret();
  // Not kept: signed URLs end with the server that made them.
  const urlSecret = newSecret();
  const faults = createFaults(options.faults ?? []);
  const shapes = parseShapes(options.shapes ?? []);
  const fileListener = newFileListener({ state, bytes, secret: urlSecret, now, faults });
  const files = await listen(fileListener, 0, holdsProcess);
  const apiListener = newApiListener({
    state,
    grantOf: newKeyRing(secret),
    personality: { ...defaultPersonality, strictEvents: options.strictEvents ?? false },
    shapes,
    bytes,
    files: fileListener,
    urls: newSigner(urlSecret, files.origin),
    admin: { token, events: () => state.read().events, faults },
    faults,
    now,
  });
  try {
    const api = await listen(apiListener, options.port ?? 0, holdsProcess);
    return {
      origin: api.origin,
      fileUrl: files.origin,
      token,
      tables: () => state.read(),
      requests: () => faults.requests(),
      async close() {
        await api.close();
        await files.close();
        state.close();
      },
    };
  } catch (error) {
    await files.close();
    throw error;
  }
}

interface Listening {
  readonly origin: string;
  /** Lets running requests finish for at most two seconds, then ends the rest. */
  close(): Promise<void>;
}

/** The only address that a sandbox listens on. */
const loopback = '127.0.0.1';
const graceMs = 2000;

/** Listens on a port, 0 = any free one. Throws UsageError when it is taken or not permitted. */
function listen(
  listener: RequestListener,
  wanted: number,
  holdsProcess: boolean,
): Promise<Listening> {
  const server = createServer(listener);
  if (!holdsProcess) {
    server.unref();
    server.on('connection', (socket) => socket.unref());
  }
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      reject(error.code === 'EADDRINUSE' || error.code === 'EACCES' ? taken(wanted, error) : error);
    });
    server.listen(wanted, loopback, () => {
      const { port } = server.address() as AddressInfo;
      resolve({ origin: `http://${loopback}:${port}`, close: () => closeServer(server) });
    });
  });
}

function taken(port: number, cause: Error): UsageError {
  return new UsageError(`Port ${port} is taken, or you may not use it.`, {
    hint: 'Choose another with --port, or leave it out for any free one',
    cause,
  });
}

async function closeServer(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  // A kept-alive connection becomes idle only when its answer has been sent.
  const idle = setInterval(() => server.closeIdleConnections(), 10);
  const end = setTimeout(() => server.closeAllConnections(), graceMs);
  server.closeIdleConnections();
  await closed;
  clearInterval(idle);
  clearTimeout(end);
}
