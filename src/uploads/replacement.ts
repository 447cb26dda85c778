/** Replacing a document: the upload of the file that takes its place, under its name and with its tags. */
import type { UploadContentType } from '../api/schemas.js';
import type { Context } from '../context.js';
import { digestOf } from '../data/digest.js';
import type { JsonObject } from '../data/json.js';
import type { Operation } from '../engine/operation.js';
import { UsageError } from '../errors.js';
import { tagsIn } from '../resources/document-tags.js';
import { recordIfThere, recordReader } from '../resources/read.js';
import { inspectFile } from './local-file.js';
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
    const inspectedFile = toInspectedFile(context, await inspectFile(file, contentType));
    const old = await recordIfThere(recordReader(context, 'documents'), id);
    const own = { ...inspectedFile, ...(old ? { text: textOf(id, old) } : { isMissing: true }) };
    return {
      rows: [{ row: 1, id: file, own, cells: [file] }],
      header: ['path'],
      // What the old document says may change or be gone before the same command is run again.
      digest: digestOf([id, inspectedFile]),
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
