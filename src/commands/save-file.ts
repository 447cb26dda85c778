import { lstat, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { extensionsOf } from '../api/content-types.js';
import type { Download } from '../api/file-store.js';
import type { Context } from '../context.js';
import { dispositionName, safeFileName } from '../data/file-names.js';
import type { JsonObject } from '../data/json.js';
import { CancelledError, GuardError, OutputError, ProtocolError } from '../errors.js';
import { openAtomic, sweepStaleTemps } from '../files/atomic-write.js';

/** Where downloads go and what happens to a file that is there. */
export interface SaveOptions {
  /** A file's own name, when one was given. */
  readonly file: string | undefined;
  readonly folder: string | undefined;
  readonly whenThere: 'refuse' | 'skip' | 'overwrite';
}

/** Where the file of a document goes: as given, else named after its record; undefined when neither helps. */
export function pathFor(
  { file, folder }: SaveOptions,
  record: JsonObject | undefined,
): string | undefined {
  if (file !== undefined) return file;
  const { name, contentType } = record ?? {};
  if (typeof name !== 'string') return undefined;
  const extensions = typeof contentType === 'string' ? extensionsOf(contentType) : [];
  const safe = safeFileName(name, extensions);
  return safe === undefined ? undefined : inFolder(folder, safe);
}

/** For a record without a name: what the store calls it, else the document's id. */
export function pathFromHeaders(
  { folder }: SaveOptions,
  headers: Download['headers'],
  id: string,
): string {
  const extensions = extensionsOf(headers['content-type']?.split(';')[0]?.trim() ?? '');
  const named = dispositionName(headers['content-disposition']);
  const safe =
    (named === undefined ? undefined : safeFileName(named, extensions)) ??
    safeFileName(`document-${id}`, extensions) ??
    'document';
  return inFolder(folder, safe);
}

function inFolder(folder: string | undefined, name: string): string {
  return folder === undefined ? name : join(folder, name);
}

/** Whether something stands there already; a link counts, wherever it points. Throws GuardError unless skipped or overwritten. */
export async function isTaken(path: string, { whenThere }: SaveOptions): Promise<boolean> {
  const found = await lstat(path).catch(() => undefined);
  if (!found || whenThere === 'overwrite') return false;
  if (whenThere === 'skip') return true;
  throw alreadyThere(path);
}

function alreadyThere(path: string): GuardError {
  return new GuardError(`${path} exists already; nothing was written.`, {
    code: 'exists',
    hint: 'Add --overwrite or --skip-existing, or name another file with -O.',
  });
}

/**
 * Writes a download to a file that appears whole or not at all, readable by its owner only. Throws
 * GuardError when the file appeared meanwhile, ProtocolError when bytes are missing, OutputError.
 */
export async function saveDownload(
  context: Context,
  download: Pick<Download, 'headers' | 'bytes'>,
  path: string,
  options: SaveOptions,
  expected: number | undefined,
): Promise<number> {
  const { folder, whenThere } = options;
  if (folder !== undefined) await makeFolder(folder);
  await sweepStaleTemps(folder ?? '.', context.now());
  const file = await openAtomic(path, { mode: 0o600, mustBeNew: whenThere !== 'overwrite' });
  const line = context.progress.start(`Downloading ${path}`);
  try {
    const bytes = await copyBytes(context, download, expected, async (chunk, sum) => {
      await file.write(chunk);
      line.update(`Downloading ${path}: ${sum} bytes`);
    });
    await file.commit();
    return bytes;
  } finally {
    line.stop();
    await file.discard();
  }
}

/** Hands a download's bytes on and compares their number with what was promised. Throws ProtocolError. */
export async function copyBytes(
  context: Context,
  { headers, bytes }: Pick<Download, 'headers' | 'bytes'>,
  expected: number | undefined,
  write: (chunk: Uint8Array, sum: number) => Promise<void>,
): Promise<number> {
  let sum = 0;
  for await (const chunk of bytes) {
    if (context.signal.aborted)
      throw new CancelledError('The download was stopped; nothing was kept.');
    sum += chunk.length;
    await write(chunk, sum);
  }
  const promised =
    headers['content-encoding'] === undefined ? headers['content-length'] : undefined;
  for (const [who, size] of [
    ['the store', promised === undefined ? undefined : Number(promised)],
    ['the record', expected],
  ] as const)
    if (size !== undefined && size !== sum)
      throw new ProtocolError(`The file has ${sum} bytes, but ${who} says ${size}.`, {
        code: 'wrongSize',
        hint: 'Nothing was kept. Try again; if it stays so, upload the document anew.',
      });
  return sum;
}

async function makeFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true });
  } catch (error) {
    throw new OutputError(`The folder ${folder} cannot be made.`, { cause: error });
  }
}
