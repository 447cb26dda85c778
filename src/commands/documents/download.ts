import { defineCommand } from '../../cli/define.js';
import {
  downloadDocuments,
  downloadExcludes,
  downloadFlags,
  downloadView,
} from '../download-documents.js';
import { documents, idsOf } from '../kinds.js';

export default defineCommand({
  summary: 'Download the files of documents',
  about:
    'A file is named after its document, made safe, and written to -D or the current folder; ' +
    'one that is there is not replaced (exit 11). The signed URL is fetched without the key.',
  examples: [
    ['Into the current folder', 'doc_0001'],
    ['Under another name', 'doc_0001 -O copy.pdf'],
    ['To a pipe', 'doc_0001 -O -'],
    ['Several into a folder', 'doc_0001 doc_0002 -D files --skip-existing'],
    ['The signed URL alone', 'doc_0001 --url'],
  ],
  calls: ['listDocuments', 'downloadDocument'],
  args: { ids: idsOf(documents) },
  flags: downloadFlags,
  excludes: downloadExcludes,
  view: downloadView,
  run(context, values) {
    return downloadDocuments(context, 'downloadDocument', values.ids, values);
  },
});
