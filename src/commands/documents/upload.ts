import { randomUUID } from 'node:crypto';
import { basename } from 'node:path';
import * as z from 'zod/mini';
import { UploadContentType } from '../../api/schemas.js';
import { atOnceText, bulkFlags, type BulkValues } from '../../cli/bulk-flags.js';
import { runOne } from '../../cli/bulk-one.js';
import { defineWrite, flag, Outcome, param, params, type Plan } from '../../cli/define.js';
import { recordOf } from '../../cli/views.js';
import type { Context } from '../../context.js';
import { isObject, type JsonObject } from '../../data/json.js';
import { UsageError } from '../../errors.js';
import { documents, nameFlag } from '../kinds.js';
import { type LocalFile, lookAtFile, withStdinFile } from '../local-file.js';
import { takenNames } from '../taken-names.js';
import { holdFile, uploadLine, uploadPart } from '../upload-job.js';
import { namesMany } from '../upload-paths.js';
import {
  newDocument,
  planUpload,
  uploadJobOf,
  uploadRow,
  type UploadValues,
} from '../upload-plan.js';
import {
  checkSize,
  filesDigest,
  lookAgain,
  oneNameForMany,
  seenFile,
  uploadRows,
} from '../upload-rows.js';

interface Values extends UploadValues, Pick<BulkValues, 'failFast' | 'waitLock' | 'restart'> {
  readonly paths: readonly string[];
  readonly contentType: UploadContentType | undefined;
  readonly recursive: boolean;
}

/** The file as looked at (undefined: stdin, not read yet), and the document of its name, if that matters. */
interface State {
  readonly file: LocalFile | undefined;
  readonly existing: JsonObject | undefined;
}

const { expect, maxChanges, failFast, maxErrors, concurrency, rate } = bulkFlags;
const { restart, waitLock, results, exitCode } = bulkFlags;

export default defineWrite({
  summary: 'Upload files as documents',
  about:
    'Each file takes three requests: ask for an upload URL, send the bytes to the store, record the document. ' +
    'All files are looked at before the first request; one that cannot be uploaded fails alone, unless --fail-fast. ' +
    `Allowed types: ${UploadContentType.options.join(', ')}; ` +
    'name and content must agree unless --content-type says what it is. Several files print a report. ' +
    'An upload that was interrupted goes on with the same line or with rosterctl uploads finish.',
  examples: [
    ['One file', 'contract.pdf --tag contract'],
    ['Under another name', "contract.pdf --name 'Player contract 2026'"],
    ['Several files', 'contract.pdf photo.png --tag 2026-spring'],
    ['All files of a folder, each read back and compared', '-r consents --verify'],
    ['Not a second time', 'contract.pdf --if-exists skip'],
  ],
  calls: ['requestUpload', 'createDocument', 'listDocuments', 'downloadDocument'],
  args: {
    paths: params(
      z.array(z.string()).check(z.minLength(1)),
      'files, folders with -r, patterns; - is stdin, with --name',
      {
        placeholder: 'PATH',
        completes: 'file',
      },
    ),
  },
  flags: {
    recursive: flag('all files below a folder, but hidden ones and links', {
      short: 'r',
      group: 'selection',
    }),
    name: nameFlag(documents),
    tag: params(
      z.optional(z.array(z.string().check(z.minLength(1, 'must not be empty')))),
      'a tag of the documents',
      {
        group: 'change',
      },
    ),
    contentType: param(z.optional(UploadContentType), 'what the file is, whatever its name says', {
      placeholder: 'TYPE',
      group: 'change',
    }),
    ifExists: param(
      z._default(z.enum(['duplicate', 'skip', 'error']), 'duplicate'),
      'when a document or an earlier file has the name (looks at the list)',
      { placeholder: 'WHAT', group: 'safety' },
    ),
    verify: flag('download each document again and compare its bytes', { group: 'safety' }),
    concurrency: { ...concurrency, text: atOnceText('files'), rare: false },
    ...{ expect, maxChanges, failFast, maxErrors, rate, restart, waitLock, results, exitCode },
  },
  view: recordOf('documents'),
  ids: ({ paths }) => paths,
  bulk: {
    ...uploadPart,
    isMany: async ({ paths: [path = ''], recursive }: Values) =>
      recursive || (path !== '-' && (await namesMany(path))),
    rows: (context, values: Values) =>
      uploadRows(context, { ...values, failFast: values.failFast ?? false }),
    lookAgain,
  },
  check: (_, values) => checkTogether(values),
  async plan(context, values, path): Promise<Plan<State>> {
    const job = uploadJobOf(values);
    const file = path === '-' ? undefined : await lookAtFile(path, values.contentType);
    if (file) checkSize(context, file);
    const taken = await takenNames(context, job)({ name: basename(path) }, path);
    const bare = { changes: [], state: { file, existing: taken?.document } };
    if (taken) return { ...bare, calls: [] };
    if (file) return { ...bare, ...planUpload(context, job, file, undefined) };
    if (!context.settings.dryRun) return { ...bare, calls: [grantOfUnknownSize] };
    return withStdin(context, values, async (held) => ({
      ...bare,
      ...planUpload(context, job, held, undefined),
    }));
  },
  async apply(context, { state: { file, existing } }, values): Promise<Outcome<JsonObject>> {
    if (existing) {
      context.note(
        `A document named ${String(existing['name'])} exists already; nothing was sent.`,
      );
      return new Outcome(existing, 'done');
    }
    if (file) return uploadOne(context, file, values);
    return withStdin(context, values, (held) => uploadOne(context, held, values));
  },
});

/** Stands for the requests of a file whose size is known only when stdin has been read. */
const grantOfUnknownSize = { endpoint: 'requestUpload' } as const;

async function uploadOne(
  context: Context,
  file: LocalFile,
  values: Values,
): Promise<Outcome<JsonObject>> {
  const job = { ...uploadJobOf(values) };
  holdFile(job, file);
  const row = uploadRow(1, file.path, seenFile(file));
  const { value, written } = await runOne(context, uploadLine(values), {
    kept: { job, guards: {} },
    row,
    changes: [newDocument],
    // What comes from stdin is never what came before.
    digest: file.path === '-' ? randomUUID() : filesDigest([row]),
  });
  return new Outcome(isObject(value) ? value : {}, 'done', { written });
}

function withStdin<T>(
  context: Context,
  { name, contentType }: Values,
  use: (file: LocalFile) => Promise<T>,
): Promise<T> {
  if (name === undefined) throw stdinNeedsName();
  return withStdinFile(context.streams.stdin, context.signal, { name, contentType }, (file) => {
    checkSize(context, file);
    return use(file);
  });
}

function checkTogether({ paths, name, recursive }: Values): void {
  if (paths.includes('-') && paths.length > 1)
    throw new UsageError('- (stdin) cannot stand beside other files.');
  if (name !== undefined && (paths.length > 1 || recursive)) throw oneNameForMany();
  if (paths.includes('-') && name === undefined) throw stdinNeedsName();
}

function stdinNeedsName(): UsageError {
  return new UsageError('A document from stdin needs a --name.', {
    hint: 'Example: rosterctl docs upload - --name rules.txt < rules.txt',
  });
}
