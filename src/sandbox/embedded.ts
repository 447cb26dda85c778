/** The sandbox as commands use it: open it for one command, start it as a server, reset it, list its events. */

import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { demoOrganization } from '../config/profiles.js';
import { isSystemError, systemCode, systemReason } from '../data/system-errors.js';
import { OutputError, UsageError } from '../errors.js';
import { newApiListener } from './api-server.js';
import { createFaults, type RequestRecord } from './faults.js';
import { newFileListener } from './file-store.js';
import { issuedKeys, type KeyName, newKeyRing, newSigner } from './keys.js';
import type { SandboxEvent, Tables } from './records.js';
import { findServer, lockServer, removeServerFile, writeServerFile } from './server-file.js';
import { parseShapes } from './shapes/shapes.js';
import { readEvents } from './state.js';
import {
  loadSecret,
  newSecret,
  openStorage,
  resetStorage,
  type SandboxOptions,
  type Storage,
  sandboxFolder,
} from './storage.js';

export { type SandboxEvent, seedSizes } from './records.js';
export { type SandboxOptions, sandboxOptions } from './storage.js';

/** A running sandbox, in this process or in another one. */
interface Sandbox {
  /** Ends in `/v1`. */
  readonly baseUrl: string;
  readonly organizationId: string;
  /** The key with every permission; `keys` has the others. */
  readonly apiKey: string;
  readonly keys: { readonly [N in KeyName]: string };
  /** The origin of signed URLs. */
  readonly fileUrl: string;
  readonly pid: number;
  /** True when this process is the server: signed URLs then end with it. */
  readonly isEmbedded: boolean;
  /** Why the data is in memory and lost with the process; undefined when it is kept. */
  readonly memoryReason: string | undefined;
  /** Lets running requests finish and stops; resolves within seconds, leaves no timer. */
  close(): Promise<void>;
}

/** A sandbox server of this process. */
export type SandboxServer = Sandbox & Pick<Servers, 'token' | 'tables' | 'requests'>;

/**
 * `sandbox start`: the one server of a state, which commands find while it runs. It keeps the
 * process alive until `close`. Throws GuardError `locked` when there is one already, UsageError for
 * a port that is taken and for an invalid fault rule or shape.
 */
export async function startSandbox(
  options: SandboxOptions & Omit<ServeOptions, 'holdsProcess'>,
): Promise<SandboxServer> {
  const storage = await openStorage(options);
  const { dir } = storage;
  const serve = () => startServers(storage, { ...options, holdsProcess: true });
  if (dir === undefined) return ownSandbox(storage, await serve(), options);
  const lock = await lockServer(dir, options.self, 'sandbox start').catch((error: unknown) => {
    storage.state.close();
    throw error;
  });
  let servers: Servers | undefined;
  try {
    servers = await serve();
    const { origin, fileUrl, token } = servers;
    await writeServerFile(dir, { pid: options.self.pid, origin, fileUrl, token });
  } catch (error) {
    await (servers ?? storage.state).close();
    lock.release();
    throw error;
  }
  return ownSandbox(storage, servers, options, () => {
    removeServerFile(dir);
    lock.release();
  });
}

/**
 * The sandbox for one command: the server that runs on this state, else one inside this process,
 * which does not keep it alive. Throws GuardError when the kept data is damaged.
 */
export async function openSandbox(options: SandboxOptions): Promise<Sandbox> {
  const running = await runningSandbox(options);
  if (running) return running;
  const storage = await openStorage(options);
  const servers = await startServers(storage, { now: options.now, holdsProcess: false });
  return ownSandbox(storage, servers, options);
}

/**
 * `sandbox reset`: back to the demo data. Throws GuardError `locked` while a server runs,
 * OutputError when the folder cannot be written.
 */
export async function resetSandbox(options: SandboxOptions): Promise<void> {
  const { stateDir } = options;
  // A sandbox in memory starts with the demo data each time.
  if (stateDir === undefined) return;
  try {
    const lock = await lockServer(sandboxFolder(stateDir), options.self, 'sandbox reset');
    await resetStorage({ ...options, stateDir }).finally(() => lock.release());
  } catch (error) {
    throw unusable(error, stateDir);
  }
}

/**
 * `sandbox events`: the events since the last reset, oldest first; writes nothing. Throws
 * OutputError when the folder cannot be read, GuardError when the log is damaged.
 */
export function sandboxEvents(stateDir: string): readonly SandboxEvent[] {
  try {
    return readEvents(sandboxFolder(stateDir));
  } catch (error) {
    throw unusable(error, stateDir);
  }
}

/** An error of the file system as an OutputError; any other as it is. */
function unusable(error: unknown, stateDir: string): unknown {
  if (!isSystemError(error)) return error;
  const message = `The sandbox in ${sandboxFolder(stateDir)} cannot be used: ${systemReason(error)}.`;
  return new OutputError(message, { cause: error });
}

async function runningSandbox({ stateDir, self }: SandboxOptions): Promise<Sandbox | undefined> {
  if (stateDir === undefined) return undefined;
  const dir = sandboxFolder(stateDir);
  const server = await findServer(dir, self);
  if (!server) return undefined;
  return {
    ...accessWith(await loadSecret(dir, self)),
    baseUrl: `${server.origin}/v1`,
    fileUrl: server.fileUrl,
    pid: server.pid,
    isEmbedded: false,
    memoryReason: undefined,
    close: async () => {},
  };
}

function ownSandbox(
  { secret, memoryReason }: Storage,
  servers: Servers,
  { self }: SandboxOptions,
  afterClose = () => {},
): SandboxServer {
  const { origin, ...server } = servers;
  let closing: Promise<void> | undefined;
  return {
    ...server,
    ...accessWith(secret),
    baseUrl: `${origin}/v1`,
    pid: self.pid,
    isEmbedded: true,
    memoryReason,
    close() {
      closing ??= servers.close().finally(afterClose);
      return closing;
    },
  };
}

function accessWith(secret: string) {
  const keys = issuedKeys(secret);
  return { organizationId: demoOrganization, apiKey: keys.full, keys };
}

interface ServeOptions {
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

interface Servers {
  readonly origin: string;
  /** The origin of the file store, which signed URLs name. */
  readonly fileUrl: string;
  /** Proves the identity of this server, and opens its routes outside `/v1`. */
  readonly token: string;
  /** The stored records, in full, whichever shapes are in force. */
  readonly tables: () => Tables;
  /** The newest requests, oldest first. */
  readonly requests: () => readonly RequestRecord[];
  close(): Promise<void>;
}

/** Starts both servers. Throws UsageError when the wanted port is taken, a fault rule or a shape is invalid. */
async function startServers(storage: Storage, options: ServeOptions): Promise<Servers> {
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
    strictEvents: options.strictEvents ?? false,
    shapes,
    bytes,
    files: fileListener,
    signUrl: newSigner(urlSecret, files.origin),
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
    server.once('error', (error) => {
      const isTaken = ['EADDRINUSE', 'EACCES'].includes(systemCode(error) ?? '');
      reject(isTaken ? taken(wanted, error) : error);
    });
    server.listen(wanted, loopback, () => {
      const { port } = server.address() as AddressInfo;
      resolve({ origin: `http://${loopback}:${port}`, close: () => closeServer(server) });
    });
  });
}

function taken(port: number, cause: Error): UsageError {
  return new UsageError(`Port ${port} is taken, or you may not use it.`, {
    hint: 'Choose another with --port, or leave it out for any free one.',
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
