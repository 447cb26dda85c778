/** `rosterctl documents preview`: gets the preview of a document, or its signed URL. */
import { defineCommand } from '../../cli/define.js';
import {
  downloadDocuments,
  downloadExcludes,
  downloadFlags,
  downloadView,
} from '../../downloads/download-documents.js';
import { documentsNamed } from '../../downloads/target-names.js';
import { idArg } from '../../resources/params.js';

export default defineCommand({
  summary: 'Get the preview of a document, or its signed URL',
  about:
    'Works like rosterctl docs download, but with a URL that shows the file in a browser instead of saving it.',
  examples: [
    ['A URL for a browser', 'doc_0001 --url'],
    ['The file itself', 'doc_0001 -O preview.pdf'],
  ],
  calls: ['listDocuments', 'previewDocument'],
  args: { id: idArg('documents') },
  flags: downloadFlags,
  excludes: downloadExcludes,
  view: downloadView,
  async run(context, values) {
    const rows = await documentsNamed(context, [values.id]);
    return downloadDocuments(context, 'preview', rows, values, true);
  },
});
