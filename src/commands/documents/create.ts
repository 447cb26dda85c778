import * as z from 'zod/mini';
import { UploadContentType } from '../../api/schemas.js';
import { defineWrite, param, params } from '../../cli/define.js';
import { recordOf } from '../../cli/views.js';
import { documents, nameFlag } from '../kinds.js';
import { sizeBytesSchema } from '../size-bytes.js';
import { createDocument, documentCall } from '../upload-file.js';

export default defineWrite({
  summary: 'Record a file that was uploaded already (step 3 of an upload alone)',
  about:
    'Step 1 is rosterctl uploads create, step 2 rosterctl uploads put; rosterctl docs upload does all three. ' +
    'Content type and size must be those of step 1.',
  examples: [
    [
      'Finish an upload',
      '--file-key documents/org_1/upload_1.pdf --file-ref private://files/1 --content-type application/pdf --size-bytes 1024 --name Contract --dry-run',
    ],
  ],
  calls: ['createDocument'],
  flags: {
    fileKey: param(z.string().check(z.minLength(1)), 'the key that step 1 answered', {
      placeholder: 'KEY',
    }),
    fileRef: param(z.string().check(z.minLength(1)), 'the fileRef that step 1 answered', {
      placeholder: 'REF',
    }),
    contentType: param(UploadContentType, 'the content type of step 1', { placeholder: 'TYPE' }),
    sizeBytes: param(sizeBytesSchema, 'the size of step 1', { placeholder: 'N' }),
    name: nameFlag(documents),
    tag: params(z.optional(z.array(z.string())), 'a tag of the document'),
  },
  view: recordOf('documents'),
  async plan(_, { fileKey, fileRef, contentType, sizeBytes, name, tag = [] }) {
    const call = documentCall(
      { contentType, sizeBytes },
      { fileKey, fileRef },
      { name: name ?? fileKey.slice(fileKey.lastIndexOf('/') + 1), tags: tag },
    );
    const changes = Object.entries(call.body ?? {}).map(([field, to]) => ({
      id: null,
      field,
      from: null,
      to,
    }));
    return { calls: [call], changes, state: call };
  },
  apply(context, plan) {
    return createDocument(context, plan.state);
  },
});
