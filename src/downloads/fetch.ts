/** Fetches the file of a document: asks for its link, and downloads the bytes into a sink, hashed on the way. */

import { createHash } from 'node:crypto';
import { callFor } from '../api/resources.js';
import type { Link } from '../api/types.js';
import type { Context } from '../context.js';
import { isMissingFile } from '../data/outcome-errors.js';
import { recordedSize } from '../data/path.js';
import { quotedId } from '../data/references.js';
import { pause } from '../data/time.js';
import { CancelledError, Failure, StoreError } from '../errors.js';
import { recordIfThere, recordReader } from '../resources/read.js';
import { download, type FileSink, type FileSource } from './resumable-download.js';

/** The calls whose answer leads to the file of a document (contract 4.4). */
export type DownloadCall = 'download' | 'preview';

/** Requests the signed URL of a document; the `fileUrl` of its record is never one (contract 2.5). */
export function linkOf(context: Context, call: DownloadCall, id: string): Promise<Link> {
  return context.api.link(callFor('documents', call, id));
}

/** Downloads the file of a document into a sink and returns its size. Throws as `download` does. */
export async function fetchDocument(
  context: Context,
  id: string,
  size: number | undefined,
  sink: FileSink,
  call: DownloadCall = 'download',
): Promise<number> {
  const files = await context.files();
  const source: FileSource = {
    link: () => linkOf(context, call, id),
    get: (url, part) => files.get(url, part),
    // A preview may hold other bytes than its document.
    size: call === 'download' ? size : undefined,
    findSize: async () => (call === 'download' ? findSize(context, id) : undefined),
  };
  const { retries, maxWaitMs } = context.settings;
  const { signal } = context;
  const options = { retries, maxWaitMs, signal, sleep: pause, random: Math.random };
  try {
    return await download(source, sink, options);
  } catch (error) {
    if (!isMissingFile(error)) throw error;
    const { message, status, code } = error;
    const hint = `${error.hint} If you have it: rosterctl docs replace ${quotedId(id)} FILE`;
    throw new StoreError(message, status, code, { hint });
  }
}

/** The size of a document according to the list; notes if that does not show it. */
async function findSize(context: Context, id: string): Promise<number | undefined> {
  const record = await recordIfThere(recordReader(context, 'documents'), id).catch(
    (error: unknown) => {
      if (!(error instanceof Failure) || error instanceof CancelledError) throw error;
      return undefined;
    },
  );
  const size = recordedSize(record);
  if (size === undefined)
    context.note(
      `Neither the file store nor the list says how long the file of ${id} is, so it may be incomplete.`,
    );
  return size;
}

/** Wraps a sink so that it knows the SHA-256, in hex, of its bytes; without one, they are only hashed. */
export function hashedSink(sink?: FileSink): FileSink & { sha256(): string } {
  let hash = createHash('sha256');
  return {
    rewinds: sink?.rewinds ?? true,
    async begin(at, headers) {
      // The download restarted, so earlier bytes no longer count.
      if (at === 0) hash = createHash('sha256');
      await sink?.begin(at, headers);
    },
    async write(chunk) {
      await sink?.write(chunk);
      hash.update(chunk);
    },
    sha256: () => hash.digest('hex'),
  };
}
