/** The sandbox as commands use it: open it for one command, start it as a server, reset it, list its events. */

import { demoOrganization } from '../config/profiles.js';
import { systemReason } from '../data/system-errors.js';
import { OutputError } from '../errors.js';
import { issuedKeys, type KeyName } from './keys.js';
import type { SandboxEvent } from './records.js';
import { type ServeOptions, type Servers, startServers } from './serve.js';
import { findServer, lockServer, removeServerFile, writeServerFile } from './server-file.js';
import { readEvents } from './state.js';
import {
  loadSecret,
  openStorage,
  resetStorage,
  type SandboxPlace,
  type Storage,
  sandboxFolder,
} from './storage.js';

export { type SandboxEvent, seedSizes } from './records.js';
export type { SandboxPlace } from './storage.js';

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
  /** The process that answers. */
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

interface StartOptions extends SandboxPlace, Omit<ServeOptions, 'holdsProcess'> {}

/**
 * `sandbox start`: the one server of a state, which commands find while it runs. It keeps the
 * process alive until `close`. Throws GuardError `locked` when there is one already, UsageError for
 * a port that is taken and for an invalid fault rule or shape.
 */
export async function startSandbox(options: StartOptions): Promise<SandboxServer> {
  const storage = await openStorage(options);
  const { dir } = storage;
  const serve = () => startServers(storage, { ...options, holdsProcess: true });
  if (dir === undefined) return ownSandbox(storage, await serve(), options);
  const lock = await lockServer(dir, options.self).catch((error: unknown) => {
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
export async function openSandbox(place: SandboxPlace): Promise<Sandbox> {
  const running = await runningSandbox(place);
  if (running) return running;
  const storage = await openStorage(place);
  const servers = await startServers(storage, { now: place.now, holdsProcess: false });
  return ownSandbox(storage, servers, place);
}

/**
 * `sandbox reset`: back to the demo data. Throws GuardError `locked` while a server runs,
 * OutputError when the folder cannot be written.
 */
export async function resetSandbox(place: SandboxPlace): Promise<void> {
  const { stateDir } = place;
  // A sandbox in memory starts with the demo data each time.
  if (stateDir === undefined) return;
  try {
    const lock = await lockServer(sandboxFolder(stateDir), place.self);
    await resetStorage({ ...place, stateDir }).finally(() => lock.release());
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
  if (!(error instanceof Error) || !('syscall' in error)) return error;
  const message = `The sandbox in ${sandboxFolder(stateDir)} cannot be used: ${systemReason(error)}.`;
  return new OutputError(message, { cause: error });
}

async function runningSandbox({ stateDir, self }: SandboxPlace): Promise<Sandbox | undefined> {
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
  { self }: SandboxPlace,
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
