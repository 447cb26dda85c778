import { OutputError } from '../errors.js';
import {
  type Home,
  loadSecret,
  openHome,
  resetHome,
  sandboxFolder,
  type SandboxPlace,
} from './storage.js';
import { demoOrganization, type KeyName, keysOf } from './keys.js';
import type { SandboxEvent } from './records.js';
import { serveHome, type Serving } from './serve.js';
import { becomeServer, findServer, removeServerNote, writeServerNote } from './server-file.js';
import { readEvents } from './state.js';

export type { SandboxPlace } from './storage.js';
export { type SandboxEvent, seedSizes } from './records.js';

/** A sandbox that answers, in this process or in another one. */
export interface Sandbox {
  /** Ends in `/v1`. */
  readonly baseUrl: string;
  readonly organizationId: string;
  /** The key that may do everything; `keys` has the others. */
  readonly apiKey: string;
  readonly keys: { readonly [N in KeyName]: string };
  /** The origin that signed URLs name. */
  readonly fileUrl: string;
  /** The process that answers. */
  readonly pid: number;
  /** Why its data is in memory and lost with the process; undefined when it is kept. */
  readonly memoryReason: string | undefined;
  /** True when this process serves it: signed URLs then end with this process. */
  readonly isEmbedded: boolean;
  /** Lets running requests finish and stops; resolves within seconds, leaves no timer. */
  close(): Promise<void>;
}

/** A sandbox server of this process. */
export interface SandboxServer extends Sandbox {
  /** For the routes outside `/v1`, in `x-sandbox-token`. */
  readonly token: string;
}

export interface StartOptions extends SandboxPlace {
  /** The port of the API, 0 = any free one; a taken one is a UsageError. */
  readonly port?: number | undefined;
  /** Faults by rule, such as `PATCH /tryout-applications/* #2 close-after`. Throws UsageError for a bad one. */
  readonly faults?: readonly string[] | undefined;
  /** Every update that carries a status emits its events. */
  readonly strictEvents?: boolean | undefined;
}

/**
 * `sandbox start`: the one server of a state, found by the commands that run meanwhile. It keeps
 * the process alive until `close`. Throws GuardError `locked` when there is one already.
 */
export async function startSandbox(options: StartOptions): Promise<SandboxServer> {
  const home = await openHome(options);
  const { dir } = home;
  if (dir === undefined) return here(home, await serve(home, options, true), options);
  const lock = await becomeServer(dir, options.self).catch(async (error: unknown) => {
    home.state.close();
    throw error;
  });
  let serving: Serving | undefined;
  try {
    serving = await serve(home, options, true);
    const { origin, fileUrl, token } = serving;
    await writeServerNote(dir, { pid: options.self.pid, origin, fileUrl, token });
  } catch (error) {
    await (serving ?? home.state).close();
    lock.release();
    throw error;
  }
  return here(home, serving, options, () => {
    removeServerNote(dir);
    lock.release();
  });
}

/**
 * The sandbox for one command: the server that runs on this state, else one inside this process,
 * which does not keep it alive. Throws GuardError when the kept data is damaged.
 */
export async function openSandbox(place: SandboxPlace): Promise<Sandbox> {
  const dir = place.stateDir === undefined ? undefined : sandboxFolder(place.stateDir);
  const note = dir === undefined ? undefined : await findServer(dir, place.self);
  if (note && dir !== undefined) {
    const keys = keysOf(await loadSecret(dir, place.self));
    return {
      ...common(keys),
      baseUrl: `${note.origin}/v1`,
      fileUrl: note.fileUrl,
      pid: note.pid,
      memoryReason: undefined,
      isEmbedded: false,
      close: async () => {},
    };
  }
  const home = await openHome(place);
  return here(home, await serve(home, place, false), place);
}

/**
 * `sandbox reset`: back to the demo data. Throws GuardError `locked` while a server runs,
 * OutputError when the folder cannot be written.
 */
export async function resetSandbox(place: SandboxPlace): Promise<void> {
  const { stateDir } = place;
  // In memory every command begins anew by itself.
  if (stateDir === undefined) return;
  try {
    const lock = await becomeServer(sandboxFolder(stateDir), place.self);
    await resetHome({ ...place, stateDir }).finally(() => lock.release());
  } catch (error) {
    throw told(error, stateDir);
  }
}

/**
 * `sandbox events`: what was emitted since the seed, oldest first; writes nothing. Throws
 * OutputError when the folder cannot be read, GuardError when the log is damaged.
 */
export function sandboxEvents(stateDir: string): readonly SandboxEvent[] {
  try {
    return readEvents(sandboxFolder(stateDir));
  } catch (error) {
    throw told(error, stateDir);
  }
}

/** The file system's own errors in our words. */
function told(error: unknown, stateDir: string): unknown {
  if (!(error instanceof Error) || !('syscall' in error)) return error;
  return new OutputError(
    `The sandbox in ${sandboxFolder(stateDir)} cannot be used: ${error.message}`,
    {
      cause: error,
    },
  );
}

function serve(home: Home, options: StartOptions, holdsProcess: boolean): Promise<Serving> {
  const { now, port, faults, strictEvents } = options;
  return serveHome(home, { now, holdsProcess, port, faults, strictEvents });
}

function here(
  home: Home,
  serving: Serving,
  { self }: SandboxPlace,
  afterClose = () => {},
): SandboxServer {
  const { origin, fileUrl, token } = serving;
  let closing: Promise<void> | undefined;
  return {
    ...common(keysOf(home.secret)),
    baseUrl: `${origin}/v1`,
    fileUrl,
    pid: self.pid,
    memoryReason: home.memoryReason,
    token,
    isEmbedded: true,
    close() {
      closing ??= serving.close().finally(afterClose);
      return closing;
    },
  };
}

function common(keys: { readonly [N in KeyName]: string }) {
  return { organizationId: demoOrganization, apiKey: keys.full, keys };
}
