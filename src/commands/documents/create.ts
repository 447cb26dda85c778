/** `rosterctl documents create`: records an uploaded file as a document, step 3 of an upload. */
import * as z from 'zod/mini';
import { UploadContentType } from '../../api/schemas.js';
import type { Call } from '../../api/types.js';
import { restartCreateFlag } from '../../bulk/invocation.js';
import { defineOperation } from '../../bulk/run-operation.js';
import { param, params } from '../../cli/define.js';
import { nonEmptyText } from '../../cli/schemas.js';
import { recordView } from '../../cli/views.js';
import type { Context } from '../../context.js';
import type { JsonObject } from '../../data/json.js';
import type { Session } from '../../engine/operation.js';
import { createStep, creation } from '../../resources/create.js';
import { nameFlag, sizeBytesSchema } from '../../resources/params.js';
import { creating } from '../../resources/send.js';
import { verifyDocument } from '../../uploads/documents.js';
import {
  checkDocument,
  documentCall,
  type FileFacts,
  type StoredFile,
} from '../../uploads/store-file.js';

interface DocumentValues extends FileFacts, Pick<StoredFile, 'fileKey' | 'fileRef'> {
  readonly name?: string | undefined;
  readonly tag?: readonly string[] | undefined;
}

export default defineOperation({
  summary: 'Create the document of an uploaded file (step 3 of an upload)',
  about:
    'Step 1 is rosterctl uploads create, step 2 rosterctl uploads put; rosterctl docs upload does all three. ' +
    'Content type and size must be those from step 1.',
  examples: [
    [
      'Finish an upload',
      '--file-key documents/org_1/upload_1.pdf --file-ref private://files/1 --content-type application/pdf --size-bytes 1024 --name Contract --dry-run',
    ],
  ],
  calls: ['createDocument'],
  flags: {
    fileKey: param(nonEmptyText, 'the key from step 1', { placeholder: 'KEY' }),
    fileRef: param(nonEmptyText, 'the fileRef from step 1', { placeholder: 'REF' }),
    contentType: param(UploadContentType, 'the content type from step 1', { placeholder: 'TYPE' }),
    sizeBytes: param(sizeBytesSchema, 'the size from step 1', { placeholder: 'N' }),
    name: nameFlag('documents'),
    tag: params(z.optional(z.array(z.string())), 'a tag of the document', {
      completes: 'value:documents:tags',
    }),
    restart: restartCreateFlag,
  },
  view: recordView('documents'),
  operation: creation(
    'documents',
    async (_, { name, tag: tags = [], ...file }: DocumentValues) => {
      const lastPart = file.fileKey.slice(file.fileKey.lastIndexOf('/') + 1);
      return documentCall({ ...file, name: name ?? lastPart, tags }, file).body ?? {};
    },
    documentSession,
  ),
});

/** The session of one creation; after a lost response, the document is found by its file key. */
function documentSession(context: Context, body: JsonObject): Session {
  const call: Call = { endpoint: 'createDocument', body };
  const step = createStep(call);
  return {
    ...creating(context, 'documents'),
    // Retry once if the document provably was not created.
    resends: 1,
    plan: () => ({ steps: [step] }),
    checkSuccess: (_, __, sent) => checkDocument(context, call, sent),
    // The key was not requested by this process, so a document with it may be older.
    verify: (_, since) => verifyDocument(context, step, since),
    present: (record) => record ?? {},
  };
}
