/** `rosterctl uploads create`: requests a presigned upload URL, step 1 of an upload. */
import { UploadContentType } from '../../api/schemas.js';
import { defineWrite, param } from '../../cli/define.js';
import type { View } from '../../cli/views.js';
import type { JsonObject } from '../../data/json.js';
import { sizeBytesSchema } from '../../resources/params.js';
import { grantCall } from '../../uploads/store-file.js';

const grantView: View<JsonObject> = {};

export default defineWrite({
  summary: 'Ask for a presigned upload URL (step 1 of an upload)',
  about:
    'The URL is a secret while it is valid. The file must have exactly this size and content type.',
  examples: [
    ['For a picture', '--content-type image/png --size-bytes 1024'],
    [
      'The URL alone, as JSON',
      '--content-type application/pdf --size-bytes 2048 --json --fields uploadUrl',
    ],
  ],
  calls: ['requestUpload'],
  flags: {
    contentType: param(UploadContentType, 'one of the ten allowed types', { placeholder: 'TYPE' }),
    sizeBytes: param(sizeBytesSchema, 'exact length of the file', { placeholder: 'N' }),
  },
  view: grantView,
  async plan({ api }, values) {
    const call = grantCall(values);
    return { requests: [api.describe(call)], changes: [], state: call };
  },
  async apply(context, plan) {
    const { body } = await context.api.send(plan.state);
    if (context.api.urlNote !== undefined) context.message(context.api.urlNote);
    return body as JsonObject;
  },
});
