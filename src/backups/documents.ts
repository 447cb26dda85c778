/** The files of documents in a backup: each is fetched once, kept under its hash, and shared by the snapshots. */
import { rename, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { errorMessage } from '../cli/failure.js';
import type { Context } from '../context.js';
import { digestOf } from '../data/digest.js';
import type { JsonObject } from '../data/json.js';
import { isNotFound } from '../data/outcome-errors.js';
import { labelOf, recordedSize } from '../data/path.js';
import { DownloadRun } from '../downloads/download-run.js';
import { fetchDocument, hashedSink } from '../downloads/fetch.js';
import { createMeter, type Meter } from '../downloads/meter.js';
import { asOf, isSameVersion, type RecordVersion } from '../downloads/mirror-file.js';
import type { FileSink } from '../downloads/resumable-download.js';
import { fileSink } from '../downloads/target-file.js';
import { CancelledError, Failure } from '../errors.js';
import { openPlain, syncFolder } from '../files/atomic-write.js';
import { attemptWrite } from '../files/writing.js';
import { attemptFolder, type FetchedFile, type OpenBackup } from './folder.js';
import { sharedFile } from './layout.js';
import type { MissingPart, StoredDocument } from './manifest.js';

/** A document of the list, as far as its file is concerned. */
export interface ListedDocument {
  readonly id: string;
  readonly name: string;
  readonly tags: unknown;
  readonly contentType: unknown;
  readonly version: RecordVersion;
  /** The field that a download needs, without the others, which would fill the memory. */
  readonly record: JsonObject;
}

export function listedDocument(record: JsonObject): ListedDocument {
  const id = String(record['id']);
  const { sizeBytes, tags, contentType } = record;
  return {
    id,
    name: labelOf(record, id),
    tags,
    contentType,
    version: asOf(record),
    record: { sizeBytes },
  };
}

interface FilesByFate {
  readonly stored: readonly StoredDocument[];
  readonly missing: readonly Pick<MissingPart, 'id' | 'reason'>[];
  /** Documents that the service no longer knew when their file was asked for. */
  readonly vanished: readonly string[];
}

interface FileOptions {
  /** Fetch each file again. */
  readonly recheck: boolean;
  readonly concurrency: number;
}

/**
 * Fetches the files of documents, except those whose record is as it was when their file was fetched.
 * Throws what stops all downloads: a refused key, a full disk, a service that does not answer.
 */
export async function backUpFiles(
  context: Context,
  backup: OpenBackup,
  listed: readonly ListedDocument[],
  { recheck, concurrency }: FileOptions,
): Promise<FilesByFate> {
  // Of each document, the newest file.
  const earlier = recheck ? [] : backup.earlier.map(({ manifest }) => manifest.files?.documents);
  const before = new Map(earlier.flatMap((files = []) => files.map((file) => [file.id, file])));
  const stored = new Map<string, StoredDocument>();
  const toFetch: ListedDocument[] = [];
  for (const document of listed) {
    const { id, name, version } = document;
    const now = backup.fetched.get(id);
    const known = [now, before.get(id)].find((file) => file && isSameVersion(file, version));
    if (!known || !(await isFileStored(backup.folder, known))) toFetch.push(document);
    else {
      const { bytes, sha256 } = known;
      const proven = known === now ? 'fetched' : 'unchanged';
      const how = version.updatedAt === undefined ? 'assumed' : proven;
      stored.set(id, { id, name, bytes, sha256, ...version, how });
    }
  }
  const { missing, vanished } = await fetchFiles(context, backup, toFetch, stored, concurrency);
  const inOrder = [...stored.values()].toSorted((a, b) => (a.id < b.id ? -1 : 1));
  return { stored: inOrder, missing, vanished };
}

/** True if the file is in the folder with its size; `backup verify` compares the content. */
async function isFileStored(folder: string, { sha256, bytes }: FetchedFile): Promise<boolean> {
  const found = await stat(join(folder, sharedFile(sha256))).catch(() => undefined);
  return found?.isFile() === true && found.size === bytes;
}

async function fetchFiles(
  context: Context,
  backup: OpenBackup,
  toFetch: readonly ListedDocument[],
  stored: Map<string, StoredDocument>,
  concurrency: number,
): Promise<Omit<FilesByFate, 'stored'>> {
  const failures = new Map<string, Failure>();
  const vanished: string[] = [];
  if (toFetch.length === 0) return { missing: [], vanished };
  const meter = createMeter(context, toFetch);
  const work = async (document: ListedDocument): Promise<void> => {
    const { id } = document;
    try {
      stored.set(id, await fetchFile(context, backup, document, meter));
    } catch (error) {
      if (isNotFound(error)) vanished.push(id);
      else {
        if (error instanceof Failure) failures.set(id, error);
        throw error;
      }
    }
  };
  const run = new DownloadRun(context, toFetch, concurrency, {
    work,
    printBeside: (say) => meter.printBeside(say),
    continueHint: 'Run the same command again to continue.',
    close: async () => meter.stop(),
  });
  for await (const _ of run.rows());
  if (context.signal.aborted) throw new CancelledError('Interrupted.');
  const stop = run.stop();
  // A key that may read documents and not their files is a gap like any other.
  if (stop?.error && stop.exitName !== 'forbidden') throw stop.error;
  const missing = toFetch
    .filter(({ id }) => !stored.has(id) && !vanished.includes(id))
    .map(({ id }) => {
      const error = failures.get(id) ?? stop?.error;
      const reason = error ? errorMessage(context, id, error) : 'not fetched';
      return { id, reason };
    });
  return { missing, vanished };
}

async function fetchFile(
  context: Context,
  backup: OpenBackup,
  document: ListedDocument,
  meter: Meter,
): Promise<StoredDocument> {
  const { id, name, version, record } = document;
  const counted = meter.begin(record);
  try {
    const folder = join(backup.unfinished, 'downloads');
    attemptFolder(folder);
    // An id may hold anything, a digest is always a file name.
    const path = join(folder, digestOf(id).slice(0, 32));
    const { bytes, sha256 } = await downloadTo(context, document, path, counted.watch);
    const shared = join(backup.folder, sharedFile(sha256));
    attemptFolder(dirname(shared));
    // Also where a file of this hash is there: the new one is proven to be whole.
    await attemptWrite(shared, rename(path, shared));
    await syncFolder(dirname(shared));
    await backup.journal.append({ id, bytes, sha256, ...version } satisfies FetchedFile);
    return { id, name, bytes, sha256, ...version, how: 'fetched' };
  } finally {
    counted.end();
  }
}

/** Downloads a file to a path that only this program writes. */
async function downloadTo(
  context: Context,
  { id, record }: ListedDocument,
  path: string,
  watch: (sink: FileSink) => FileSink,
): Promise<{ readonly bytes: number; readonly sha256: string }> {
  const file = await openPlain(path, { isOneOfMany: true });
  try {
    const sink = hashedSink(fileSink(file));
    const size = recordedSize(record);
    const bytes = await fetchDocument(context, id, size, watch(sink));
    await file.commit();
    return { bytes, sha256: sink.sha256() };
  } finally {
    await file.discard();
  }
}
