import * as z from 'zod/mini';
import { UploadContentType } from '../../api/schemas.js';
import { defineWrite, param, params, type Plan } from '../../cli/define.js';
import { recordOf } from '../../cli/views.js';
import type { Context } from '../../context.js';
import type { JsonObject } from '../../data/json.js';
import { GuardError, UsageError } from '../../errors.js';
import { documents, nameFlag } from '../kinds.js';
import { type LocalFile, lookAtFile, withStdinFile } from '../local-file.js';
import { type DocumentText, grantCall, plannedUpload, uploadFile } from '../upload-file.js';

interface Values {
  readonly paths: readonly string[];
  readonly name: string | undefined;
  readonly tag: readonly string[] | undefined;
  readonly contentType: UploadContentType | undefined;
  readonly ifExists: 'duplicate' | 'skip' | 'error';
}

/** The file as looked at, and the document of that name where one was looked for. */
interface State {
  readonly file: LocalFile | undefined;
  readonly text: DocumentText;
  readonly existing: JsonObject | undefined;
}

export default defineWrite({
  summary: 'Upload files as documents',
  about:
    'Each file takes three requests: ask for an upload URL, send the bytes to the store, record the document. ' +
    `All files are looked at before the first request. Allowed types: ${UploadContentType.options.join(', ')}; ` +
    'name and content must agree unless --content-type says what it is. Several files print a report.',
  examples: [
    ['One file', 'contract.pdf --tag contract'],
    ['Under another name', "contract.pdf --name 'Player contract 2026'"],
    ['Several files', 'contract.pdf photo.png --tag 2026-spring'],
    ['Not a second time', 'contract.pdf --if-exists skip'],
  ],
  calls: ['requestUpload', 'createDocument'],
  args: {
    paths: params(
      z.array(z.string()).check(z.minLength(1)),
      'files; - is stdin, with --name and --content-type',
      {
        placeholder: 'PATH',
        completes: 'file',
      },
    ),
  },
  flags: {
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
      'when a document has the name already (looks at the list)',
      { placeholder: 'WHAT', group: 'safety' },
    ),
  },
  view: recordOf('documents'),
  ids: ({ paths }) => paths,
  neverAsks: true,
  made: ({ id }) => (id === undefined ? {} : { id }),
  async check(context, values) {
    checkTogether(values);
    for (const path of values.paths) {
      if (path === '-') continue;
      const file = await lookAtFile(path, values.contentType);
      checkSize(context, file);
    }
    if (values.ifExists !== 'error') return;
    const names = await documentsByName(context);
    const taken = values.paths.find((path) => names.has(textOf(values, path).name));
    if (taken !== undefined)
      throw new GuardError(`A document named ${textOf(values, taken).name} exists already.`, {
        code: 'exists',
        hint: 'Give it another --name, or use --if-exists skip or duplicate.',
      });
  },
  async plan(context, values, path): Promise<Plan<State>> {
    const text = textOf(values, path);
    const existing =
      values.ifExists === 'skip' ? (await documentsByName(context)).get(text.name) : undefined;
    const file = path === '-' ? undefined : await lookAtFile(path, values.contentType);
    const state = { file, text, existing };
    if (existing) return { calls: [], changes: [], state };
    if (file) return planOf(context, file, state);
    if (!context.settings.dryRun) return { calls: [grantOfUnknownSize], changes: [], state };
    return withStdin(context, values, async (spooled) => planOf(context, spooled, state));
  },
  async apply(context, plan, values) {
    const { file, text, existing } = plan.state;
    if (existing) {
      context.note(`A document named ${text.name} exists already; nothing was sent.`);
      return existing;
    }
    if (file) return uploadFile(context, file, text);
    return withStdin(context, values, (spooled) => uploadFile(context, spooled, text));
  },
});

/** Stands for the requests of a file whose size is known only when stdin has been read. */
const grantOfUnknownSize = { endpoint: 'requestUpload' } as const;

function planOf(context: Context, file: LocalFile, state: State): Plan<State> {
  return {
    calls: [grantCall(file)],
    requests: plannedUpload(context, file, state.text),
    changes: [],
    state,
  };
}

function withStdin<T>(
  context: Context,
  { name, contentType }: Values,
  use: (file: LocalFile) => Promise<T>,
): Promise<T> {
  if (name === undefined || contentType === undefined) throw stdinNeeds();
  return withStdinFile(context.streams.stdin, context.signal, name, contentType, (file) => {
    checkSize(context, file);
    return use(file);
  });
}

function checkTogether({ paths, name, contentType }: Values): void {
  if (paths.includes('-') && paths.length > 1)
    throw new UsageError('- (stdin) cannot stand beside other files.');
  if (name !== undefined && paths.length > 1)
    throw new UsageError('--name names one document, and there are several files.');
  if (paths.includes('-') && (name === undefined || contentType === undefined)) throw stdinNeeds();
}

function stdinNeeds(): UsageError {
  return new UsageError('What comes from stdin needs --name and --content-type.', {
    hint: 'Example: rosterctl docs upload - --name Rules --content-type text/plain < rules.txt',
  });
}

const told = new WeakSet<LocalFile>();

function checkSize(context: Context, file: LocalFile): void {
  const most = Number(context.settings.guesses['upload.maxBytes'] ?? Number.POSITIVE_INFINITY);
  if (file.sizeBytes > most)
    throw new UsageError(
      `${file.path} has ${file.sizeBytes} bytes, more than upload.maxBytes (${most}) allows.`,
    );
  if (file.sizeBytes === 0 && !told.has(file)) context.note(`${file.path} is empty.`);
  told.add(file);
}

function textOf({ name, tag = [] }: Values, path: string): DocumentText {
  return { name: name ?? path.slice(path.lastIndexOf('/') + 1), tags: [...new Set(tag)] };
}

async function documentsByName(context: Context): Promise<ReadonlyMap<unknown, JsonObject>> {
  const names = new Map<unknown, JsonObject>();
  for await (const record of context.api.list('documents')) names.set(record['name'], record);
  return names;
}
