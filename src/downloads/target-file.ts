/** Target files of downloads: their names, what exists at their paths, and the sinks that write them. */
import { lstatSync, type Stats, statSync } from 'node:fs';
import { extensionsOf } from '../api/schemas.js';
import type { Download } from '../api/store/download.js';
import type { Context } from '../context.js';
import { dispositionName, safeFileName } from '../data/file-names.js';
import type { JsonObject } from '../data/json.js';
import { systemReason } from '../data/system-errors.js';
import { GuardError, OutputError } from '../errors.js';
import { openAtomic, openPlain } from '../files/atomic-write.js';
import { folderReasons, makeFolder } from '../files/private.js';
import type { AtomicFile } from '../files/writing.js';
import { multiLine } from '../terminal/safe-text.js';
import type { FileSink } from './resumable-download.js';

/** The destination of downloads, and the policy for existing files. */
export interface SaveOptions {
  /** The path given with -O, if any. */
  readonly file: string | undefined;
  readonly folder: string | undefined;
  readonly onExisting: 'refuse' | 'skip' | 'overwrite';
  /** The hint for a file that is in the way; by default, the flags of `docs download`. */
  readonly ifThere?: string;
}

/** A safe file name from a document's record; undefined if it has no name. */
export function nameFor(record: JsonObject | undefined): string | undefined {
  const { name, contentType } = record ?? {};
  if (typeof name !== 'string') return undefined;
  const extensions = typeof contentType === 'string' ? extensionsOf(contentType) : [];
  return safeFileName(name, extensions);
}

/** A file name for a record without one: from the store's headers, else from the document's id. */
export function nameFromHeaders(headers: Download['headers'], id: string): string {
  const extensions = extensionsOf(headers['content-type'] ?? '');
  const named = dispositionName(headers['content-disposition']);
  return (
    (named === undefined ? undefined : safeFileName(named, extensions)) ??
    safeFileName(`document-${id}`, extensions) ??
    'document'
  );
}

/**
 * True if a file exists at a target path and is to be skipped. Throws GuardError for what may be neither
 * skipped nor replaced: a file without either flag, a folder, a link with --overwrite unless named with -O.
 */
export function skipsTarget(path: string, { onExisting, file, ifThere }: SaveOptions): boolean {
  const found = statIfThere(path, lstatSync);
  if (!found) return false;
  if (onExisting === 'refuse') throw alreadyThere(path, ifThere);
  const isLink = found.isSymbolicLink();
  const target = isLink ? statIfThere(path, statSync) : found;
  const isFile = target?.isFile() ?? false;
  if (onExisting === 'skip') {
    if (isFile) return true;
    throw notPlainFile(path);
  }
  // A path given with -O may be a link, even a broken one, or a device.
  const isReplaceable = file === undefined ? isFile && !isLink : !target?.isDirectory();
  if (!isReplaceable) throw notPlainFile(path);
  return false;
}

/** The error for a file that is in the way; `hint`: what the command offers instead. */
export function alreadyThere(
  path: string,
  hint = 'Add --overwrite or --skip-existing, or name another file with -O.',
): GuardError {
  return new GuardError(`${path} already exists; nothing was written.`, { code: 'exists', hint });
}

function notPlainFile(path: string): GuardError {
  return new GuardError(`${path} exists and is not a regular file; it was left as it is.`, {
    code: 'exists',
    hint: 'Move it away, or download to another place with -D or -O.',
  });
}

/** Opens the file at a target path; it gets its name when it is complete. Throws GuardError, OutputError. */
export async function openTarget(
  { signal }: Context,
  path: string,
  { file, folder, onExisting }: SaveOptions,
): Promise<AtomicFile> {
  if (folder !== undefined) createFolder(folder, '-D');
  if (onExisting !== 'overwrite') return openPlain(path, { isNew: true, isOneOfMany: true });
  // Only what the user named is followed to its target, or may be a pipe.
  if (file !== undefined) return openAtomic(path, { signal, isOneOfMany: true });
  return openPlain(path, { isOneOfMany: true, replaces: statIfThere(path, lstatSync) });
}

/** A sink that writes to a file. */
export function fileSink(file: AtomicFile): FileSink {
  return {
    rewinds: file.cutTo !== undefined,
    begin: async (at) => file.cutTo?.(at),
    write: (chunk) => file.write(chunk),
  };
}

/** A sink for stdout, which cannot rewind. */
export function pipeSink(context: Context): FileSink {
  const { stdout } = context.streams;
  if (!stdout.isTerminal) return forwardSink((chunk) => stdout.write(chunk));
  // Untrusted bytes must not control the terminal.
  const decoder = new TextDecoder();
  return forwardSink((chunk) => stdout.write(multiLine(decoder.decode(chunk, { stream: true }))));
}

function forwardSink(write: FileSink['write']): FileSink {
  return { rewinds: false, begin: async () => {}, write };
}

/** Returns the stats of a path; undefined if nothing is there or it cannot be inspected. */
export function statIfThere(path: string, look: typeof lstatSync): Stats | undefined {
  try {
    return look(path);
  } catch {
    return undefined;
  }
}

/** Creates the folder that a flag names. Throws OutputError. */
export function createFolder(folder: string, flag: string, mode?: number): void {
  try {
    makeFolder(folder, mode);
  } catch (error) {
    const reason = systemReason(error, { ...folderReasons, EEXIST: 'a file has that name' });
    throw new OutputError(`The folder ${folder} cannot be created: ${reason}.`, {
      hint: `Name another one with ${flag}.`,
      cause: error,
    });
  }
}
