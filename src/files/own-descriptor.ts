import { write } from 'node:fs';
import { constants, type FileHandle, open, readFile, readlink, realpath } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { CancelledError, PipeClosedError } from '../errors.js';
import { type AtomicFile, attempt, cannotWrite, writeAll } from './writing.js';

const mostLinks = 40;

/**
 * The descriptor of ours that a path names, be it through links (`/dev/stdout`, `/dev/fd/63`);
 * undefined for any other path, -1 for one that nobody left open for us. Such paths are links on Linux
 * alone.
 */
export async function ownDescriptor(file: string): Promise<number | undefined> {
  const own = await realpath('/proc/self').catch(() => undefined);
  if (own === undefined) return undefined;
  let path = resolve(file);
  for (let links = 0; links < mostLinks; links++) {
    const folder = await realpath(dirname(path)).catch(() => undefined);
    if (folder === undefined) return undefined;
    if (folder === `${own}/fd`)
      return (await isInherited(basename(path))) ? Number(basename(path)) : -1;
    const next = await readlink(path).catch(() => undefined);
    if (next === undefined) return undefined;
    path = resolve(folder, next);
  }
  return undefined;
}

/** Whether the shell left it open for us: what the process opens itself is closed for its children. */
async function isInherited(number: string): Promise<boolean> {
  const info = await readFile(`/proc/self/fdinfo/${number}`, 'utf8').catch(() => '');
  const flags = /^flags:\s*([0-7]+)$/m.exec(info)?.[1];
  if (flags === undefined) return false;
  return Number(number) <= 2 || (Number.parseInt(flags, 8) & closedForChildren) === 0;
}

const closedForChildren = 0o2000000;

const fullMs = 5;

/**
 * Writes behind what stands there already and does not end it: the shell does, and others write to
 * it. Throws PipeClosedError, and what the system says.
 */
async function writeToDescriptor(descriptor: number, chunk: string | Uint8Array): Promise<void> {
  const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
  for (let at = 0; at < bytes.length; ) at += await put(descriptor, bytes.subarray(at));
}

/** How many bytes were taken. */
async function put(descriptor: number, bytes: Uint8Array): Promise<number> {
  try {
    return await new Promise((done, fail) => {
      write(descriptor, bytes, (error, taken) => (error ? fail(error) : done(taken)));
    });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EPIPE') throw new PipeClosedError('the reader of the output went away');
    if (code !== 'EAGAIN') throw error;
    await sleep(fullMs);
    return 0;
  }
}

const pollMs = 50;

/** Writes to what this process has open already; that stays open and nothing of it is replaced. */
export function throughDescriptor(file: string, number: number): AtomicFile {
  return {
    write: (chunk) => attempt(file, writeToDescriptor(number, chunk)),
    commit: async () => {},
    discard: async () => {},
  };
}

/**
 * Opens a device or a named pipe, for whose reader it waits until `signal` ends it. Throws
 * OutputError, CancelledError.
 */
export async function throughDevice(
  file: string,
  isPipe: boolean,
  signal: AbortSignal | undefined,
): Promise<AtomicFile> {
  const handle = await (isPipe ? openPipe(file, signal) : attempt(file, open(file, 'w')));
  let isOpen = true;
  const close = async () => {
    if (!isOpen) return;
    isOpen = false;
    await handle.close();
  };
  return {
    write: (chunk) => attempt(file, writeAll(handle, chunk)),
    commit: () => attempt(file, close()),
    discard: () => close().catch(() => {}),
  };
}

/**
 * Opens a named pipe for writing. Without a reader the system's own waiting would hold a thread, and
 * the process with it, whatever signal comes.
 */
async function openPipe(file: string, signal: AbortSignal | undefined): Promise<FileHandle> {
  for (;;) {
    const first = await open(file, constants.O_WRONLY | constants.O_NONBLOCK).catch(
      (error: NodeJS.ErrnoException) => {
        if (error.code !== 'ENXIO') throw cannotWrite(file, error);
        return undefined;
      },
    );
    if (first) {
      const handle = await attempt(file, open(file, 'w'));
      // Any earlier it would be the end of the file for the reader.
      await first.close();
      return handle;
    }
    if (signal?.aborted) throw new CancelledError('Interrupted.');
    await sleep(pollMs);
  }
}
