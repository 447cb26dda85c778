/** `rosterctl documents download`: downloads the files of documents. */
import { allFlags, atOnceText, bulkFlags, idsFileFlag } from '../../bulk/invocation.js';
import { defineCommand } from '../../cli/define.js';
import { listSelectionFlags } from '../../cli/filters.js';
import {
  downloadExcludes,
  downloadFlags,
  downloadSelection,
  downloadView,
} from '../../downloads/download-documents.js';
import { documentFilters } from '../../resources/document-filters.js';
import { anyIdsArg } from '../../resources/params.js';

export default defineCommand({
  summary: 'Download the files of documents',
  about:
    'Each file is named after its document and written to -D or the current folder; if documents ' +
    'share a name, their ids are added to it. An existing file is not replaced (exit ' +
    '11). A file gets its final name only when it is complete. After a lost connection, the download continues where it stopped. ' +
    '--skip-existing downloads only what is missing; with -D it remembers what it downloaded ' +
    '(.rosterctl-downloads.json), so that it also fetches what was replaced on the service. It never renames or deletes a file: those whose documents are gone are listed. The API key is not sent to the file store.',
  examples: [
    ['Into the current folder', 'doc_0001'],
    ['A mirror of all; run it again to fetch what is new', '--all -D backup --skip-existing'],
    ['By name', 'name:NDA.docx'],
    ['Under another name', 'doc_0001 -O copy.pdf'],
    ['To a pipe', 'doc_0001 -O -'],
    ['Several into a folder', 'doc_0001 doc_0002 -D files --skip-existing'],
    ['The contracts', '--tag contract -D contracts'],
    ['The signed URL alone', 'doc_0001 --url'],
  ],
  calls: ['listDocuments', 'downloadDocument'],
  args: { ids: anyIdsArg('documents') },
  flags: {
    ...downloadFlags,
    ...idsFileFlag,
    ...documentFilters,
    ...listSelectionFlags,
    ...allFlags,
    concurrency: { ...bulkFlags.concurrency, text: atOnceText('documents') },
    rate: bulkFlags.rate,
  },
  excludes: downloadExcludes,
  hasSideEffects: true,
  view: downloadView,
  run: downloadSelection,
});
