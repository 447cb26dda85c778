/** Replacing a document: the upload of the file that takes its place, under its name and with its tags. */
import type { UploadContentType } from '../api/schemas.js';
import type { Context } from '../context.js';
import { digestOf } from '../data/digest.js';
import type { JsonObject } from '../data/json.js';
import type { Operation } from '../engine/operation.js';
import { NotFoundError, UsageError } from '../errors.js';
import { tagsIn } from '../resources/document-tags.js';
import { recordIfThere, recordReader } from '../resources/read.js';
import { type Compared, type ExistingDocument, readDocuments, uploadedBefore } from './compare.js';
import { hasContent, hashOfUpload } from './content.js';
import { inspectFile } from './local-file.js';
import { idsOfContent, readUploadMemory } from './memory.js';
import type { UploadJob } from './plan.js';
import { toInspectedFile } from './rows.js';

export interface ReplaceValues {
  readonly id: string;
  readonly file: string;
  readonly contentType: UploadContentType | undefined;
}

/** The differences between the upload of a replacement and any other upload. */
export const replacementParts = {
  isMany: () => false,
  job: async (_: Context, { id }: ReplaceValues): Promise<UploadJob> => ({
    name: null,
    tags: [],
    ifExists: 'duplicate',
    verify: true,
    replaces: id,
  }),
  async rows(context: Context, { id, file, contentType }: ReplaceValues) {
    const inspected = toInspectedFile(context, await inspectFile(file, contentType));
    const old = await recordIfThere(recordReader(context, 'documents'), id);
    const own = { ...inspected, ...(old ? { text: textOf(id, old) } : { isMissing: true }) };
    return {
      rows: [{ row: 1, id: file, own, cells: [file] }],
      header: ['path'],
      // What the old document says may change or be gone before the same command is run again.
      digest: digestOf([id, inspected]),
    };
  },
} satisfies Partial<Operation>;

function textOf(id: string, { name, tags }: JsonObject) {
  const found = tagsIn(tags);
  if (!found)
    throw new UsageError(`The tags of ${id} cannot be read, so the new document would lose them.`, {
      hint: 'Upload the file by itself: rosterctl docs upload FILE --tag TAG',
    });
  return { ...(typeof name === 'string' && { name }), tags: found };
}

/**
 * Returns a function that finds the document that makes the upload unnecessary: the old one, if it
 * holds these bytes already, or the one that an earlier command uploaded in its place.
 */
export function replacementFinder(context: Context, replaces: string) {
  return async ({ file, name, bytes }: Compared): Promise<ExistingDocument | undefined> => {
    if (file.isMissing)
      throw new NotFoundError(`The document ${replaces} is not in the list of documents.`, {
        isProven: true,
        hint: 'See: rosterctl documents list',
      });
    const sha256 = await hashOfUpload(bytes);
    const documents = await readDocuments(context);
    const memory = await readUploadMemory(context);
    const old = documents.byId(replaces);
    if (old && old['sizeBytes'] === file.sizeBytes && old['contentType'] === file.contentType)
      if (await hasContent(context, replaces, file, sha256))
        return { id: replaces, record: old, message: `${replaces} already holds this content` };
    const tags = new Set(file.text?.tags);
    for (const id of idsOfContent(memory, sha256)) {
      const record = documents.byId(id);
      if (!record || id === replaces || record['name'] !== name) continue;
      const held = tagsIn(record['tags']) ?? [];
      const hasTags = held.length === tags.size && held.every((tag) => tags.has(tag));
      // oxlint-disable-next-line no-await-in-loop
      if (hasTags && (await hasContent(context, id, file, sha256)))
        return { id, record, message: uploadedBefore(id) };
    }
    return undefined;
  };
}
