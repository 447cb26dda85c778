/** Atomic writes: files that appear complete or not at all. */
import {
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  promises as fs,
  fsync,
  ftruncateSync,
  linkSync,
  openSync,
  renameSync,
  type Stats,
  write as startWrite,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { randomHex } from '../data/digest.js';
import { isDiskFailure, systemCode } from '../data/system-errors.js';
import { GuardError } from '../errors.js';
import type { ThisProcess } from './holder.js';
import { fixedMark, removeDeadTemps, removeNow, tempPath } from './temporary.js';
import {
  type AtomicFile,
  attemptWrite,
  cannotWrite,
  outputTarget,
  throughDevice,
} from './writing.js';

interface AtomicOptions {
  /** The mode of a new file. Default 0600. */
  readonly mode?: number | undefined;
  /** The file to be replaced, whose mode, group and owner are kept as far as the system allows. */
  readonly replaces?: Pick<Stats, 'mode' | 'uid' | 'gid'> | undefined;
  /**
   * Only one process at a time writes this file. Its temporary file then has a fixed name, so that
   * the next write replaces what a killed process left, and `removeSingleWriterTemp` finds it.
   */
  readonly singleWriter?: boolean | undefined;
  /** A file of ours, not one that the user named: a named pipe or a device in its place is replaced. */
  readonly isOwn?: boolean | undefined;
  /** Never replaces a file: throws GuardError if one of that name is there. */
  readonly isNew?: boolean | undefined;
  /** One of many files in a folder, which the caller syncs after the last of them. */
  readonly isOneOfMany?: boolean | undefined;
  /** The process that writes, after which the temporary file is named; those of dead ones are removed. */
  readonly self?: ThisProcess | undefined;
  /** Ends the wait for the reader of a named pipe. */
  readonly signal?: AbortSignal | undefined;
  /** A report of changes, which a signal does not cut off once the pipe has a reader. */
  readonly isReport?: boolean | undefined;
}

/**
 * Opens a file that appears complete or not at all: a temporary file in the same folder, fsync,
 * rename. Follows a link to its file. Writes directly to a device or a pipe. Throws OutputError,
 * CancelledError, GuardError.
 */
export async function openAtomic(file: string, options: AtomicOptions = {}): Promise<AtomicFile> {
  const target = await outputTarget(file);
  if (target.kind === 'device') return throughDevice(file, options);
  const replaces = target.kind === 'file' ? target.stats : undefined;
  return openBeside(file, target.path, { ...options, replaces });
}

/**
 * Opens a file as `openAtomic` does, but without looking for a link or a device there: whatever has
 * that name is replaced, or with `isNew` refused. Throws OutputError.
 */
export function openPlain(file: string, options: AtomicOptions): Promise<AtomicFile> {
  return openBeside(file, file, options);
}

/** Writing this much takes less time than handing it to a thread. */
const quickBytes = 1024 * 1024;

/**
 * Opens the temporary file for `path`, called `file` in messages. What is quick runs at once, because
 * handing it to a thread takes longer.
 */
async function openBeside(
  file: string,
  path: string,
  { mode = 0o600, replaces, singleWriter, isNew, isOneOfMany, self }: AtomicOptions,
): Promise<AtomicFile> {
  const mark = self && (await removeDeadTemps(path, self));
  const temp = tempPath(path, singleWriter ? fixedMark(path) : (mark ?? randomHex(8)));
  if (singleWriter) removeNow(temp);
  const opened = async () => openSync(temp, 'wx', 0o600);
  const descriptor = await attemptWrite(file, opened());
  let state: 'open' | 'closed' | 'gone' = 'open';
  let position = 0;
  let writing: Promise<void> | undefined;
  const write = async (chunk: string | Uint8Array) => {
    // Another file may have got the number of a closed one.
    if (state !== 'open') throw new Error('the file is closed');
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
    const at = position;
    position += bytes.length;
    if (position <= quickBytes) return writeNow(descriptor, bytes, at);
    writing = writeLater(descriptor, bytes, at);
    await writing;
  };
  const close = () => {
    if (state !== 'open') return;
    state = 'closed';
    closeSync(descriptor);
  };
  const finish = async () => {
    if (replaces) keepOwner(descriptor, replaces);
    // Set the mode explicitly: the umask would narrow it, and an existing mode is the user's
    // choice.
    try {
      fchmodSync(descriptor, replaces ? replaces.mode & 0o777 : mode);
    } catch {
      // FAT has no modes.
    }
    await synced(descriptor);
    close();
    if (isNew) placeNew(file, temp, path);
    else renameSync(temp, path);
  };
  return {
    write: (chunk) => attemptWrite(file, write(chunk)),
    async cutTo(bytes) {
      if (bytes === position) return;
      await attemptWrite(file, (async () => ftruncateSync(descriptor, bytes))());
      position = bytes;
    },
    async commit() {
      await attemptWrite(file, finish());
      state = 'gone';
      // A failure would be reported as if the old file were still there.
      if (!isOneOfMany) await syncFolder(dirname(path)).catch(() => {});
    },
    async discard() {
      if (state === 'gone') return;
      await writing?.catch(() => {});
      try {
        close();
      } catch {
        // The file is removed anyway.
      }
      state = 'gone';
      removeNow(temp);
    },
  };
}

/** Whoever could read the old file can read the new one. */
function keepOwner(descriptor: number, { uid, gid }: Pick<Stats, 'uid' | 'gid'>): void {
  for (const owner of [-1, uid])
    try {
      fchownSync(descriptor, owner, gid);
    } catch {
      // Only root gives a file away, and others only to a group of their own.
    }
}

function writeNow(descriptor: number, bytes: Uint8Array, position: number): void {
  for (let done = 0; done < bytes.length; )
    done += writeSync(descriptor, bytes, done, bytes.length - done, position + done);
}

const writePart = promisify(startWrite);

async function writeLater(descriptor: number, bytes: Uint8Array, position: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const at = position + done;
    done += (await writePart(descriptor, bytes, done, bytes.length - done, at)).bytesWritten;
  }
}

const synced = promisify(fsync);

/** Throws OutputError if it is known in advance that a file of this name cannot be written. */
export async function checkWritable(file: string): Promise<void> {
  const { kind, path } = await outputTarget(file);
  if (kind === 'device') return;
  await attemptWrite(file, fs.access(dirname(path), constants.W_OK));
  // A name that is too long, a file in place of the folder.
  await attemptWrite(
    file,
    fs.lstat(path).catch((error: unknown) => {
      if (systemCode(error) !== 'ENOENT') throw error;
    }),
  );
}

/** Writes a complete file, or leaves the old one. Throws as `openAtomic` and `write` do. */
export async function writeAtomically(
  file: string,
  content: string | Uint8Array,
  options: AtomicOptions = {},
): Promise<void> {
  const output = await (options.isOwn ? openPlain : openAtomic)(file, options);
  try {
    await output.write(content);
    await output.commit();
  } finally {
    await output.discard();
  }
}

/**
 * Gives the finished file `temp` its final name `path`, called `file` in messages. A hard link
 * never replaces an existing file, so only one of two writers of a name wins. Throws GuardError, or
 * the system's error.
 */
function placeNew(file: string, temp: string, path: string): void {
  try {
    linkSync(temp, path);
  } catch (error) {
    if (systemCode(error) === 'EEXIST') throw alreadyExists(file);
    // No hard links on FAT and some network file systems; any other reason stops this too.
    return claimThenRename(file, temp, path);
  }
  removeNow(temp);
}

/** Claims the name with an empty file first. */
function claimThenRename(file: string, temp: string, path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch (error) {
    throw systemCode(error) === 'EEXIST' ? alreadyExists(file) : error;
  }
  try {
    renameSync(temp, path);
  } catch (error) {
    removeNow(path);
    throw error;
  }
}

/** Syncs a folder, so that a new name in it is on disk. Throws OutputError if the disk fails. */
export async function syncFolder(folder: string): Promise<void> {
  try {
    const descriptor = openSync(folder, 'r');
    await synced(descriptor).finally(() => closeSync(descriptor));
  } catch (error) {
    // Not every file system can sync a folder; the file itself is on disk already.
    if (isDiskFailure(error)) throw cannotWrite(folder, error);
  }
}

/** Syncs a folder and those above it, whose names may be new, too. Throws OutputError if the disk fails. */
export async function syncPath(folder: string): Promise<void> {
  const above = dirname(folder);
  await Promise.all([syncFolder(folder), ...(above === folder ? [] : [syncPath(above)])]);
}

function alreadyExists(file: string): GuardError {
  return new GuardError(`${file} already exists.`, {
    code: 'exists',
    hint: 'It was created in the meantime. Look at it, then run the same command again.',
  });
}
