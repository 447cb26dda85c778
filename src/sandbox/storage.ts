/** Stores a sandbox: its records, the bytes of uploads and its secret, on disk or all of it in memory. */
import { createHash, randomBytes } from 'node:crypto';
import {
  accessSync,
  constants,
  createReadStream,
  existsSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { Paths } from '../config/paths.js';
import { objectIn } from '../data/json.js';
import { isSystemError, systemCode, systemReason } from '../data/system-errors.js';
import { Failure, GuardError } from '../errors.js';
import { writeAtomically } from '../files/atomic-write.js';
import type { ThisProcess } from '../files/holder.js';
import { withLock } from '../files/lock.js';
import { ensurePrivateFolder, makeFolder, readOwnText } from '../files/private.js';
import { demoFile } from './demo/documents.js';
import type { SeedChoice, SeedSize } from './records.js';
import { openMemoryState, openState, readSeed, resetState, type State } from './state.js';

/** Whose sandbox is opened, where its data are, and what it starts with. */
export interface SandboxOptions {
  /** The tool's state folder; the sandbox uses its sub-folder `sandbox`. */
  readonly stateDir: string | undefined;
  /** True for a folder of --data, which `sandbox reset` does not reset. */
  readonly isElsewhere?: boolean;
  readonly self: ThisProcess;
  /** The user's own id, where the platform knows one: foreign folders are not trusted. */
  readonly owner?: number | undefined;
  readonly now: () => Date;
  /** The demo data of a first use; another size replaces only data that nobody has changed. */
  readonly seedSize?: SeedSize | undefined;
}

/** Returns the options of this user's sandbox; `data` selects another folder. */
export function sandboxOptions(
  { paths, self, now }: Pick<SandboxOptions, 'self' | 'now'> & { readonly paths: Paths },
  data?: string,
): SandboxOptions {
  const { state } = paths;
  // A home folder that does not exist is not created.
  const isThere = state?.within === undefined || existsSync(state.within);
  const stateDir = data ?? (isThere ? state?.path : undefined);
  return { stateDir, isElsewhere: data !== undefined, self, owner: paths.owner, now };
}

export interface Storage {
  readonly state: State;
  readonly bytes: FileBytes;
  /** Makes the API keys; never leaves its 0600 file. */
  readonly secret: string;
  /** Undefined for a sandbox in memory. */
  readonly dir: string | undefined;
  /** Why it is in memory. */
  readonly memoryReason: string | undefined;
}

/** The folder of the sandbox below the tool's state folder. */
export const sandboxFolder = (stateDir: string): string => join(stateDir, 'sandbox');

/**
 * Opens the data, or data in memory when the folder cannot be written. Throws GuardError when the
 * log is damaged, or holds changes to demo data of another size than the one asked for.
 */
export async function openStorage(options: SandboxOptions): Promise<Storage> {
  const { stateDir } = options;
  if (stateDir === undefined)
    return openInMemory(options, 'there is no home folder. To keep it, set ROSTERCTL_STATE_DIR.');
  try {
    return await openInFolder({ ...options, stateDir });
  } catch (error) {
    if (error instanceof GuardError || !(error instanceof Failure || isSystemError(error)))
      throw error;
    return openInMemory(
      options,
      error instanceof Failure ? error.message : `${systemReason(error)}.`,
    );
  }
}

/** Restores the demo data and removes the uploads; the keys stay the same. */
export async function resetStorage({
  stateDir,
  self,
  now,
  seedSize,
}: SandboxOptions & { readonly stateDir: string }): Promise<void> {
  const dir = sandboxFolder(stateDir);
  const size = seedSize ?? readSeed(dir)?.size ?? 'small';
  await resetState(dir, self, { size, at: now().toISOString() }, () =>
    rmSync(uploadsIn(dir), { recursive: true, force: true }),
  );
}

/** Reads the secret of a folder, or chooses and writes one. */
export async function loadSecret(dir: string, self: ThisProcess): Promise<string> {
  return (
    readSecret(dir) ??
    withLock(dir, 'settings', { self, waitMs: 10_000, purpose: 'sandbox' }, async () => {
      const kept = readSecret(dir);
      if (kept !== undefined) return kept;
      const secret = newSecret();
      await writeAtomically(settingsIn(dir), `${JSON.stringify({ secret })}\n`);
      return secret;
    })
  );
}

/** 64 random hexadecimal digits. */
export const newSecret = (): string => randomBytes(32).toString('hex');

async function openInFolder(
  options: SandboxOptions & { readonly stateDir: string },
): Promise<Storage> {
  const { self, owner, seedSize, isElsewhere } = options;
  const dir = sandboxFolder(options.stateDir);
  const startOver = `To start over, remove ${dir}.`;
  ensurePrivateFolder(dir, { owner });
  accessSync(dir, constants.R_OK | constants.W_OK | constants.X_OK);
  const secret = await loadSecret(dir, self);
  const seed = firstSeed(options);
  const state = await openState(dir, self, seed).catch((error: unknown) => {
    const isDamaged = error instanceof GuardError && error.code === 'damaged';
    if (!isElsewhere || !isDamaged) throw error;
    throw new GuardError(error.message, { code: error.code, hint: startOver, cause: error });
  });
  const held = state.seed().size;
  if (seedSize !== undefined && held !== seedSize && !(await state.reseed(seed))) {
    state.close();
    throw new GuardError(`This sandbox holds changes to its ${held} demo data.`, {
      hint: isElsewhere
        ? `${startOver} Or keep the ${seedSize} set in another folder: --data DIR`
        : `Start over with rosterctl sandbox reset, or keep the ${seedSize} set in another folder: --data DIR`,
    });
  }
  return { state, bytes: bytesInFolder(uploadsIn(dir)), secret, dir, memoryReason: undefined };
}

function openInMemory(options: SandboxOptions, memoryReason: string): Storage {
  return {
    state: openMemoryState(firstSeed(options)),
    bytes: bytesInMemory(),
    secret: newSecret(),
    dir: undefined,
    memoryReason,
  };
}

function firstSeed({ now, seedSize = 'small' }: SandboxOptions): SeedChoice {
  return { size: seedSize, at: now().toISOString() };
}

/** Undefined when there is none, or none that is usable: then a new one is chosen. */
function readSecret(dir: string): string | undefined {
  try {
    const { secret } = objectIn(readOwnText(settingsIn(dir))) ?? {};
    return typeof secret === 'string' && secret.length >= 32 ? secret : undefined;
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

const uploadsIn = (dir: string) => join(dir, 'files');
const settingsIn = (dir: string) => join(dir, 'settings.json');

export interface StoredBytes {
  readonly sizeBytes: number;
  /** Only of bytes in memory; the record of an upload has its own. */
  readonly sha256?: string;
  /** From `first` to `last`, both included. */
  open(first: number, last: number): Readable;
}

export interface FileBytes {
  find(key: string): StoredBytes | undefined;
  /** Receives the bytes of one upload; `find` returns them after `keep`. */
  newTarget(key: string): UploadTarget;
}

interface UploadTarget {
  write(chunk: Buffer): Promise<void>;
  /** Called after the last chunk. */
  finish(): Promise<void>;
  /** Stores the finished file under its key. */
  keep(): void;
  /** Removes what was written; does nothing after `keep`. */
  discard(): Promise<void>;
}

/** Uploads as files of a folder, each renamed into place when it is complete. */
function bytesInFolder(dir: string): FileBytes {
  const pathOf = (key: string) => join(dir, key.slice(key.lastIndexOf('/') + 1));
  return {
    find(key) {
      const demo = demoFile(key);
      if (demo) return inMemory(demo);
      const found = statSync(pathOf(key), { throwIfNoEntry: false });
      return (
        found && {
          sizeBytes: found.size,
          open: (start, end) => createReadStream(pathOf(key), { start, end }),
        }
      );
    },
    newTarget: (key) => folderTarget(dir, pathOf(key)),
  };
}

/** Uploads in memory, which end with this process. */
function bytesInMemory(): FileBytes {
  const uploads = new Map<string, Buffer>();
  return {
    find(key) {
      const bytes = demoFile(key) ?? uploads.get(key);
      return bytes && inMemory(bytes);
    },
    newTarget(key) {
      const chunks: Buffer[] = [];
      return {
        write: async (chunk) => void chunks.push(chunk),
        finish: async () => {},
        keep: () => void uploads.set(key, Buffer.concat(chunks)),
        discard: async () => void chunks.splice(0),
      };
    },
  };
}

function inMemory(bytes: Buffer): StoredBytes {
  return {
    sizeBytes: bytes.length,
    get sha256() {
      return createHash('sha256').update(bytes).digest('hex');
    },
    open: (first, last) => Readable.from([bytes.subarray(first, last + 1)]),
  };
}

function folderTarget(dir: string, path: string): UploadTarget {
  let handle: FileHandle | undefined;
  const temporary = `${path}.${randomBytes(6).toString('hex')}.part`;
  const opened = async () => {
    makeFolder(dir, 0o700);
    handle ??= await open(temporary, 'wx', 0o600);
    return handle;
  };
  const close = async () => {
    await handle?.close();
    handle = undefined;
  };
  return {
    write: async (chunk) => (await opened()).writeFile(chunk),
    async finish() {
      await opened();
      await close();
    },
    keep: () => renameSync(temporary, path),
    async discard() {
      await close();
      rmSync(temporary, { force: true });
    },
  };
}
