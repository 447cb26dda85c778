/** Private copies of documents to look at: each in a folder of its own, removed after a day. */

import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { extensionsOf, mediaType } from '../api/schemas.js';
import type { Download } from '../api/store/download.js';
import type { Context } from '../context.js';
import { safeFileName } from '../data/file-names.js';
import type { JsonObject } from '../data/json.js';
import { recordedSize } from '../data/path.js';
import { quotedId } from '../data/references.js';
import { isSystemError } from '../data/system-errors.js';
import { Failure, GuardError } from '../errors.js';
import { openPlain } from '../files/atomic-write.js';
import { ensurePrivateFolders } from '../files/private.js';
import { type AtomicFile, attemptWrite } from '../files/writing.js';
import type { SavedRow } from './download-one.js';
import { fetchDocument } from './fetch.js';
import { createMeter } from './meter.js';
import type { FileSink } from './resumable-download.js';

const maxAgeMs = 24 * 60 * 60 * 1000;

/** A document and its record, if the list shows it. */
interface Document {
  readonly id: string;
  readonly record: JsonObject | undefined;
}

/**
 * Downloads a document into a private folder (0700), under a name whose extension comes from its
 * content type, and removes copies that are older than a day. Throws GuardError for a type that is not
 * one of the ten (contract section 8), and as `download` does.
 */
export async function copyPrivately(context: Context, document: Document): Promise<SavedRow> {
  const { id, record } = document;
  const folder = await newFolder(context);
  const meter = createMeter(context, [document]);
  const counted = meter.begin(record);
  let path = '';
  let file: AtomicFile | undefined;
  const copy: FileSink = {
    rewinds: true,
    async begin(at, headers) {
      if (!file) path = join(folder, copyName(document, headers));
      // Read-only, so that nobody edits it by mistake.
      file ??= await openPlain(path, { mode: 0o400, isNew: true });
      await file.cutTo?.(at);
    },
    write: async (chunk) => file?.write(chunk),
  };
  try {
    const bytes = await fetchDocument(context, id, recordedSize(record), counted.watch(copy));
    await file?.commit();
    return { id, path, bytes };
  } catch (error) {
    await file?.discard();
    await rm(folder, { recursive: true, force: true });
    throw error;
  } finally {
    counted.end();
    meter.stop();
  }
}

/** Throws GuardError for a type that is not opened, and so not downloaded either, if the record says it. */
export function requireOpenable(document: Document): void {
  if (typeOf(document.record, {}) !== undefined) copyName(document, {});
}

function typeOf(record: JsonObject | undefined, headers: Download['headers']): string | undefined {
  const stated = record?.['contentType'] ?? headers['content-type'];
  return typeof stated === 'string' ? mediaType(stated) : undefined;
}

/** The name of a copy. Throws GuardError for a type that is not one of the ten. */
function copyName({ id, record }: Document, headers: Download['headers']): string {
  const type = typeOf(record, headers) ?? 'of an unknown type';
  const extensions = extensionsOf(type);
  const [extension] = extensions;
  if (extension === undefined)
    throw new GuardError(`${id} is ${type}, which rosterctl does not open.`, {
      code: 'contentType',
      hint: `Download it and look at it yourself: rosterctl docs download ${quotedId(id)}`,
    });
  const { name } = record ?? {};
  const named = (typeof name === 'string' ? safeFileName(name) : undefined) ?? `document-${id}`;
  const own = extensions.find((known) => named.toLowerCase().endsWith(`.${known}`));
  const stem = own === undefined ? named : named.slice(0, -own.length - 1);
  return safeFileName(`${stem}.${extension}`) ?? `document.${extension}`;
}

/** A new folder of mode 0700: in the cache, else among the temporary files. */
async function newFolder(context: Context): Promise<string> {
  const { cache, owner } = context.paths;
  if (cache) {
    const parent = join(cache.path, 'open');
    try {
      ensurePrivateFolders(cache, [parent], owner);
      const start = join(parent, 'copy-');
      await removeOldCopies(start, context.now());
      return await mkdtemp(start);
    } catch (error) {
      if (!(error instanceof Failure) && !isSystemError(error)) throw error;
      context.detail(`The cache folder cannot be used: ${error.message}`);
    }
  }
  const start = join(tmpdir(), 'rosterctl-copy-');
  await removeOldCopies(start, context.now());
  return attemptWrite(start, mkdtemp(start));
}

/** Removes the copies whose paths have this start and that are older than a day; those that cannot be removed stay. */
async function removeOldCopies(start: string, now: Date): Promise<void> {
  const parent = dirname(start);
  const names = await readdir(parent).catch(() => []);
  const begin = basename(start);
  const copies = names.filter(
    (name) => name.startsWith(begin) && /^\w{6}$/.test(name.slice(begin.length)),
  );
  await Promise.all(
    copies.map(async (name) => {
      const folder = join(parent, name);
      const found = await stat(folder).catch(() => undefined);
      if (!found || now.getTime() - found.mtimeMs < maxAgeMs) return;
      await rm(folder, { recursive: true, force: true }).catch(() => {});
    }),
  );
}
