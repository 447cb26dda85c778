/** `rosterctl documents upload`: uploads files as documents. */
import { randomUUID } from 'node:crypto';
import { extname } from 'node:path';
import * as z from 'zod/mini';
import { UploadContentType } from '../../api/schemas.js';
import { atOnceText, type BulkValues, bulkFlags, planFlags } from '../../bulk/invocation.js';
import { defineOperation } from '../../bulk/run-operation.js';
import { flag, param, params } from '../../cli/define.js';
import { quotesHint } from '../../cli/failures/parse-errors.js';
import { nonEmptyText } from '../../cli/schemas.js';
import { recordView } from '../../cli/views.js';
import type { Context } from '../../context.js';
import { UsageError } from '../../errors.js';
import { nameFlag } from '../../resources/params.js';
import { withStdinFile } from '../../uploads/local-file.js';
import { uploadOperation } from '../../uploads/operation.js';
import { namesMany } from '../../uploads/paths.js';
import { ifExistsWords, type UploadValues } from '../../uploads/plan.js';
import { manifestRows, oneNameForMany, toInspectedFile, uploadRows } from '../../uploads/rows.js';

interface Values
  extends UploadValues,
    Pick<BulkValues, 'failFast' | 'waitLock' | 'restart' | 'results'> {
  readonly paths: readonly string[];
  readonly contentType: UploadContentType | undefined;
  readonly recursive: boolean;
  readonly manifest: string | undefined;
}

const { expect, maxChanges, failFast, maxErrors, concurrency, rate } = bulkFlags;
const { restart, waitLock, results, exitCode } = bulkFlags;

export default defineOperation({
  summary: 'Upload files as documents',
  about:
    'Each file takes three requests: ask for an upload URL, send the bytes to the store, record the document. ' +
    'All files are checked before the first request. A file is skipped if this machine has uploaded the same content before, or if a document has the same name, type and size; --verify compares their bytes. A file that cannot be uploaded does not stop the others, unless you add --fail-fast. ' +
    `Allowed types: ${UploadContentType.options.join(', ')}; ` +
    'name and content must agree; otherwise, state the type with --content-type. Several files print a report. ' +
    'In a manifest, tags are written as a;b, and paths are relative to its folder, in a pipe to the current one; --results writes the manifest again, with the id of each document. ' +
    'If an upload is interrupted, run the same command again, or rosterctl uploads finish.',
  examples: [
    ['One file', 'contract.pdf --tag contract'],
    ['Under another name', "contract.pdf --name 'Player contract 2026'"],
    ['Several files', 'contract.pdf photo.png --tag 2026-spring'],
    ['All files of a folder, and compare each with the upload', '-r consents --verify'],
    ['Names and tags from a spreadsheet', '--manifest papers.csv --results uploaded.csv --dry-run'],
    ['Even if it was uploaded before', 'contract.pdf --if-exists duplicate'],
  ],
  calls: ['requestUpload', 'createDocument', 'listDocuments', 'downloadDocument'],
  args: {
    paths: params(
      z._default(z.array(nonEmptyText), []),
      'files, folders with -r, patterns; - is stdin, with --name',
      {
        ifMissing: 'Which files? Name them, or add --manifest FILE.csv.',
        placeholder: 'PATH',
        completes: 'file',
      },
    ),
  },
  flags: {
    recursive: flag('all files in a folder, except hidden ones and links', {
      short: 'r',
      group: 'selection',
    }),
    manifest: param(
      z.optional(nonEmptyText),
      'the files from a CSV: path, name, tags, contentType',
      { placeholder: 'FILE.csv', group: 'selection', completes: 'file' },
    ),
    name: nameFlag('documents'),
    tag: params(z.optional(z.array(nonEmptyText)), 'a tag of the documents', {
      group: 'change',
      completes: 'value:documents:tags',
    }),
    contentType: param(z.optional(UploadContentType), 'the type of the file, whatever its name', {
      placeholder: 'TYPE',
      group: 'change',
    }),
    ifExists: param(
      z.optional(z.enum(ifExistsWords)),
      `what to do with a file that was already uploaded: ${ifExistsWords.join(', ')} (default ${ifExistsWords[0]})`,
      { placeholder: 'WHAT', group: 'safety' },
    ),
    verify: flag('download each document again and compare its bytes', { group: 'safety' }),
    concurrency: { ...concurrency, text: atOnceText('files'), rare: false },
    ...planFlags,
    expect: { ...expect, text: 'stop unless there are exactly N files' },
    maxChanges,
    failFast,
    maxErrors,
    rate,
    restart,
    waitLock,
    results,
    exitCode,
  },
  needsOneOf: [['paths', 'manifest']],
  excludes: [
    ['paths', 'manifest'],
    ['recursive', 'manifest'],
    ['name', 'manifest'],
  ],
  view: recordView('documents'),
  operation: {
    ...uploadOperation(),
    isMany: async ({ paths: [path = '', ...others], recursive, manifest }: Values) =>
      manifest !== undefined ||
      recursive ||
      others.length > 0 ||
      (path !== '-' && (await namesMany(path))),
    rows(context, values: Values) {
      const { manifest } = values;
      return manifest === undefined
        ? uploadRows(context, values)
        : manifestRows(context, manifest, values);
    },
    // Stdin is spooled to a file while the command runs.
    bind(context, values: Values, use) {
      checkCombination(context, values);
      const { paths, name, contentType } = values;
      if (paths[0] !== '-' || name === undefined) return use({});
      const { signal, streams } = context;
      return withStdinFile(streams.stdin, signal, { name, contentType }, (file) => {
        const own = toInspectedFile(context, file);
        return use({
          ...uploadOperation(file),
          rows: async () => ({
            rows: [{ row: 1, id: file.path, own, cells: [file.path] }],
            header: ['path'],
            // Input from stdin never counts as the same upload.
            digest: randomUUID(),
          }),
        });
      });
    },
  },
});

function checkCombination(
  context: Pick<Context, 'argv' | 'table'>,
  { paths, name, recursive }: Values,
): void {
  if (paths.includes('-') && paths.length > 1)
    throw new UsageError('- (stdin) cannot be combined with other files.');
  if (name !== undefined && (paths.length > 1 || recursive)) {
    const strays = paths.filter((path) => extname(path) === '');
    throw oneNameForMany(quotesHint(context, 'documents.upload', strays));
  }
  if (paths.includes('-') && name === undefined)
    throw new UsageError('A document from stdin needs a --name.', {
      hint: 'Example: rosterctl docs upload - --name rules.txt < rules.txt',
    });
}
