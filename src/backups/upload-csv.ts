/** The documents of a snapshot as a manifest of `docs upload`, which brings them back. */
import { join } from 'node:path';
import { safeParse } from 'zod/mini';
import { UploadContentType } from '../api/schemas.js';
import { csvLine, exportText } from '../data/csv.js';
import type { ListedDocument } from './documents.js';
import { sharedFile } from './layout.js';
import type { StoredDocument } from './manifest.js';

/**
 * Returns the manifest; of documents that share name and content, it names the first one. It leaves out
 * what an upload would refuse.
 */
export function uploadCsv(
  documents: readonly ListedDocument[],
  stored: readonly StoredDocument[],
): string {
  const options = { delimiter: ',', raw: false } as const;
  const listed = new Map(documents.map((document) => [document.id, document]));
  const lines = new Map<string, string>();
  for (const { id, name, sha256 } of stored) {
    // Relative to the snapshot, so that the folder of the backup can be moved.
    const path = join('..', sharedFile(sha256));
    const { tags, contentType } = listed.get(id) ?? {};
    const type = safeParse(UploadContentType, contentType).data ?? '';
    const key = `${sha256} ${name}`;
    if (!lines.has(key)) lines.set(key, csvLine([path, name, tagsCell(tags), type], options));
  }
  return [csvLine(['path', 'name', 'tags', 'contentType'], options), ...lines.values()].join('');
}

function tagsCell(tags: unknown): string {
  const areTexts = Array.isArray(tags) && tags.every((tag) => typeof tag === 'string');
  return areTexts ? exportText(tags) : '';
}
