import { randomBytes } from 'node:crypto';
import {
  access,
  constants,
  link,
  lstat,
  open,
  readdir,
  realpath,
  rename,
  stat,
  unlink,
} from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { digestOf } from '../data/digest.js';
import { GuardError, OutputError } from '../errors.js';
import { ownDescriptor, throughDescriptor, throughDevice } from './own-descriptor.js';
import { type AtomicFile, attempt, cannotWrite, writeAll } from './writing.js';

interface AtomicOptions {
  /** The mode of a new file; an existing file keeps its own. Default 0600. */
  readonly mode?: number | undefined;
  /**
   * One process at a time writes this file: its temporary file has a name of its own, so that the
   * next write takes what a kill left, and `dropAloneTemp` finds it.
   */
  readonly singleWriter?: boolean | undefined;
  /** Ends the wait for the reader of a named pipe. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Opens a file that appears whole or not at all: a temporary file in the same folder, fsync, rename.
 * A link is followed to its file; a device, a pipe or what is open already is written straight
 * through. Throws OutputError, CancelledError.
 */
export async function openAtomic(file: string, options: AtomicOptions = {}): Promise<AtomicFile> {
  const target = await inspectTarget(file);
  if (target.kind === 'descriptor') return throughDescriptor(file, target.number);
  if (target.kind === 'device') return throughDevice(file, target.isPipe, options.signal);
  const temp = tempOf(target.path, options.singleWriter ? aloneMark(target.path) : randomMark());
  if (options.singleWriter) await unlink(temp).catch(() => {});
  const mode = target.kind === 'file' ? target.mode : (options.mode ?? 0o600);
  const handle = await attempt(file, open(temp, 'wx', 0o600));
  let state: 'open' | 'closed' | 'gone' = 'open';
  const close = async () => {
    if (state === 'open') await handle.close();
    if (state === 'open') state = 'closed';
  };
  return {
    write: (chunk) => attempt(file, writeAll(handle, chunk)),
    async commit() {
      // The umask would narrow it, and an existing file's mode is the user's choice.
      await attempt(file, handle.chmod(mode));
      await attempt(file, handle.sync());
      await attempt(file, close());
      await attempt(file, rename(temp, target.path));
      state = 'gone';
      await syncFolder(dirname(target.path));
    },
    async discard() {
      if (state === 'gone') return;
      await close().catch(() => {});
      state = 'gone';
      await unlink(temp).catch(() => {});
    },
  };
}

/** Throws OutputError where a file of this name cannot be written, as far as that shows beforehand. */
export async function checkWritable(file: string): Promise<void> {
  const { kind, path } = await inspectTarget(file);
  if (kind === 'absent' || kind === 'file')
    await attempt(file, access(dirname(path), constants.W_OK));
}

/** Writes a whole file at once, or leaves what was there. Throws as `openAtomic` and `write` do. */
export async function writeAtomically(
  file: string,
  content: string | Uint8Array,
  options: AtomicOptions = {},
): Promise<void> {
  const made = await openAtomic(file, options);
  try {
    await made.write(content);
    await made.commit();
  } finally {
    await made.discard();
  }
}

/**
 * Removes temporary files that a killed process of ours left in a folder, older than `olderThanMs`.
 * Never throws: a folder that cannot be read has nothing to sweep.
 */
export async function sweepStaleTemps(
  folder: string,
  now: Date,
  olderThanMs = 3_600_000,
): Promise<readonly string[]> {
  const names = await readdir(folder).catch(() => []);
  const swept: string[] = [];
  for (const name of names.filter((entry) => tempPattern.test(entry))) {
    const path = join(folder, name);
    const found = await lstat(path).catch(() => undefined);
    if (!found?.isFile() || now.getTime() - found.mtimeMs < olderThanMs) continue;
    await unlink(path).then(
      () => swept.push(name),
      () => {},
    );
  }
  return swept;
}

const tempPattern = /^\..{0,100}\.[0-9a-f]{16}\.rosterctl-tmp$/su;

/** Removes what a killed process left of a file that was written `alone`; never throws. */
export async function removeSingleWriterTemp(file: string): Promise<void> {
  await unlink(tempOf(file, aloneMark(file))).catch(() => {});
}

function tempOf(path: string, mark: string): string {
  // Short enough for any file system whatever the name; letters are not cut in half.
  const start = Array.from(basename(path)).slice(0, 40).join('');
  return join(dirname(path), `.${start}.${mark}.rosterctl-tmp`);
}

function aloneMark(path: string): string {
  return digestOf(basename(path)).slice(0, 16);
}

function randomMark(): string {
  return randomBytes(8).toString('hex');
}

type Target =
  | { readonly kind: 'absent'; readonly path: string }
  /** One that this process has open already: `/dev/stdout`, `/dev/fd/63`. */
  | { readonly kind: 'descriptor'; readonly path: string; readonly number: number }
  | { readonly kind: 'device'; readonly path: string; readonly isPipe: boolean }
  | { readonly kind: 'file'; readonly path: string; readonly mode: number };

async function inspectTarget(file: string): Promise<Target> {
  const number = await ownDescriptor(file);
  if (number !== undefined && number < 0)
    throw new OutputError(`${file} cannot be written: it is not open.`, {
      hint: 'Name a file, or - for stdout.',
    });
  if (number !== undefined) return { kind: 'descriptor', path: file, number };
  const path = await realpath(file).catch(() => file);
  // What a link stands for is asked of the system: of a pipe it is no path that could be read.
  const found = await stat(path).catch(() => undefined);
  // A link that points nowhere: the new file takes its place.
  if (!found) return { kind: 'absent', path };
  if (found.isDirectory())
    throw new OutputError(`${file} is a folder, not a file.`, { hint: 'Name a file in it.' });
  if (!found.isFile()) return { kind: 'device', path, isPipe: found.isFIFO() };
  return { kind: 'file', path, mode: found.mode & 0o777 };
}

/**
 * Gives the finished file `temp` its name `path`, called `file` in messages. A hard link never
 * replaces what stands there, so two writers of one name have one winner. Throws GuardError,
 * OutputError.
 */
export async function placeNew(file: string, temp: string, path: string): Promise<void> {
  try {
    await link(temp, path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') throw exists(file);
    if (code !== 'EPERM' && code !== 'ENOTSUP') throw cannotWrite(file, error);
    await claimThenRename(file, temp, path);
    return;
  }
  await unlink(temp).catch(() => {});
}

/** Where there are no hard links (FAT), an empty file claims the name first. */
async function claimThenRename(file: string, temp: string, path: string): Promise<void> {
  try {
    await (await open(path, 'wx', 0o600)).close();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw exists(file);
    throw cannotWrite(file, error);
  }
  try {
    await rename(temp, path);
  } catch (error) {
    await unlink(path).catch(() => {});
    throw cannotWrite(file, error);
  }
}

/** Brings a new name to disk. */
export async function syncFolder(folder: string): Promise<void> {
  // Not every file system lets a folder be synced; the file itself is on disk already.
  const handle = await open(folder, 'r').catch(() => undefined);
  await handle?.sync().catch(() => {});
  await handle?.close();
}

function exists(file: string): GuardError {
  return new GuardError(`${file} exists already.`, {
    code: 'exists',
    hint: 'It was made meanwhile. Look at it, then run the same command again.',
  });
}
