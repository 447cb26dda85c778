/** The upload operation: sends a file's bytes to the store, then the engine creates the document. */

import type { BulkValues } from '../bulk/invocation.js';
import type { Context } from '../context.js';
import type { JsonObject } from '../data/json.js';
import { notVerified, UnverifiedError } from '../data/outcome-errors.js';
import { quotedId } from '../data/references.js';
import { shellQuote } from '../data/text.js';
import type { Operation, Sent, Session, Step } from '../engine/operation.js';
import { BugError, InputError } from '../errors.js';
import { creating, sendCreate } from '../resources/send.js';
import type { SelectedRow } from '../runs/report.js';
import { documentFinder, existsAlready } from './compare.js';
import { verifyUpload } from './content.js';
import type { LocalFile } from './local-file.js';
import { mostHashedBytes, rememberUpload } from './memory.js';
import {
  badFile,
  ifExistsWords,
  inspected,
  nameAndTags,
  newDocument,
  storedBefore,
  type UploadJob,
  type UploadValues,
} from './plan.js';
import { replacementFinder } from './replacement.js';
import { localFiles } from './rows.js';
import {
  confirmDocument,
  documentCall,
  noteLeftover,
  plannedUpload,
  type StoredFile,
  storeFile,
} from './store-file.js';
import { openUpload } from './upload-source.js';
import { documentsByKey, verifyDocument } from './verify.js';

/** The operation of an upload; `held`: the spooled stdin, already open. */
export function uploadOperation(held?: LocalFile): Operation {
  return {
    resource: 'documents',
    confirm: 'never',
    verb: 'upload',
    addsEachTime: true,
    job: async (_, { name, tag = [], ifExists, verify }: UploadValues): Promise<UploadJob> => ({
      name: name ?? null,
      tags: [...new Set(tag)],
      ifExists: ifExists ?? ifExistsWords[0],
      isStrict: ifExists !== undefined,
      verify,
    }),
    open: (context, job: UploadJob) => uploadSession(context, job, held),
    files: localFiles,
  };
}

/** The invocation of an upload, for any command that finishes one. */
export function uploadInvocation(values: object, { isSingle }: { readonly isSingle: boolean }) {
  return {
    operation: uploadOperation(),
    words: ['documents', 'upload'],
    values: values as BulkValues,
    source: 'ids' as const,
    job: {},
    guards: {},
    isSingle,
  };
}

function uploadSession(context: Context, job: UploadJob, held: LocalFile | undefined): Session {
  const arrived = new Map<number, StoredFile>();
  const files = new Map<number, LocalFile>();
  const existing = new Map<number, JsonObject>();
  const storedOf = (row: SelectedRow) => arrived.get(row.row) ?? storedBefore(row);
  const bytes = byteCount((row) => (storedOf(row) ? 0 : inspected(row).sizeBytes));
  const { replaces } = job;
  const findDocument =
    replaces === undefined ? documentFinder(context, job) : replacementFinder(context, replaces);
  let keys: ReturnType<typeof documentsByKey> | undefined;
  // After an earlier process was refused, the user may have created the document by hand, as its message suggests.
  const recordedMeanwhile = async (row: SelectedRow, { fileKey }: StoredFile) =>
    storedBefore(row) && (await (keys ??= documentsByKey(context))).get(fileKey);

  const documentStep = (row: SelectedRow, stored: StoredFile): Step => {
    const file = inspected(row);
    return { call: documentCall(file, stored, nameAndTags(job, file)), changes: [newDocument] };
  };

  let isTagNoted = false;
  /** Notes once that the tags typed are not those of a document that is left as it is. */
  const noteTags = (tags: readonly string[], record: JsonObject | undefined) => {
    const own: unknown = record?.['tags'];
    const missing = tags.find((tag) => Array.isArray(own) && !own.includes(tag));
    if (isTagNoted || missing === undefined) return;
    isTagNoted = true;
    const id = quotedId(String(record?.['id']));
    context.note(
      `Files that are skipped keep their tags. To add one: rosterctl docs update ${id} --add-tag ${shellQuote(missing)}`,
    );
  };

  return {
    ...creating(context),
    made: ({ id = null }) => ({ id, ...(replaces !== undefined && { replaces }) }),
    // Only one resend, for a document that was provably not created.
    resends: 1,
    async plan(row) {
      const bad = badFile(row);
      if (bad) throw new InputError(bad.problem, { hint: bad.hint ?? undefined });
      const stored = storedOf(row);
      if (stored) return { steps: [documentStep(row, stored)] };
      const { path, name, contentType, identity } = inspected(row);
      if (path === '-' && !held)
        throw new InputError('What came from stdin cannot be read again.', {
          hint: 'Upload it again.',
        });
      // Loads the file store module before many open files leave no descriptor for it.
      if (row.previewed) await context.files();
      const file = held ?? (await openUpload(path, identity));
      files.set(row.row, { ...file, path: row.id, name, contentType });
      const text = nameAndTags(job, inspected(row));
      const { call, requests } = plannedUpload(context, inspected(row), text, undefined);
      const steps = [{ call, changes: [newDocument] }];
      if (row.previewed) return { steps, requests };
      const found = await findDocument({
        file: inspected(row),
        name: text.name,
        path: row.id,
        bytes: file,
      });
      if (!found) return { steps, requests };
      const { id, message, record = id === undefined ? undefined : { id } } = found;
      if (record) existing.set(row.row, record);
      noteTags(text.tags, record);
      return { steps, requests, skipped: { code: existsAlready, message, id } };
    },
    async send({ call }, row, isFresh): Promise<Sent> {
      const stored = storedOf(row);
      if (!stored) throw new BugError('A document was to be made before its file arrived.');
      const record = await recordedMeanwhile(row, stored);
      if (record) return { answer: { status: 200, headers: {}, body: undefined }, record };
      return sendCreate(context, call, 'documents', isFresh);
    },
    confirm: (step, _, sent) => confirmDocument(context, step.call, sent),
    async verify(row) {
      const stored = storedOf(row);
      return stored ? verifyDocument(context, documentStep(row, stored)) : { outcome: 'unclear' };
    },
    present: (record, { row }) => record ?? existing.get(row) ?? {},
    unchangedNote: (_, { id }) => `${id} was already uploaded; nothing was sent.`,
    transfer: {
      bytes,
      async prepare(row, step, note) {
        const file = files.get(row.row);
        if (storedOf(row) || !file) return step;
        const earlier = earlierKeys(row);
        if (earlier.length > 0)
          context.note(
            `${row.id} is sent again; an earlier attempt may have left bytes in the store under ${earlier.join(', ')}.`,
          );
        const onBytes = bytes.counter();
        const stored = await storeFile(context, file, {
          step: note,
          hashes: job.verify || file.sizeBytes <= mostHashedBytes,
          earlier,
          onBytes,
        });
        arrived.set(row.row, stored);
        return documentStep(row, stored);
      },
      async confirm(row, record) {
        const sha256 = storedOf(row)?.sha256;
        if (sha256 === undefined) return;
        const { id } = record;
        const { sizeBytes } = inspected(row);
        const remember = async () => {
          if (typeof id === 'string' && sizeBytes <= mostHashedBytes)
            await rememberUpload(context, { sha256, sizeBytes, id });
        };
        try {
          if (job.verify) await verifyUpload(context, record, inspected(row), sha256);
        } catch (error) {
          if (error instanceof UnverifiedError) await remember();
          throw error;
        }
        await remember();
      },
      failed(error, row) {
        const stored = storedOf(row);
        if (stored && error.code !== notVerified)
          noteLeftover(
            context,
            row.id,
            inspected(row),
            stored,
            nameAndTags(job, inspected(row)),
            error,
          );
      },
    },
  };
}

function byteCount(of: (row: SelectedRow) => number) {
  const count = {
    done: 0,
    of,
    /** Returns a counter for one file; a new attempt replaces the count of the previous one. */
    counter() {
      let counted = 0;
      return (bytes: number) => {
        count.done += bytes - counted;
        counted = bytes;
      };
    },
  };
  return count;
}

/** Keys under which earlier processes may have left bytes in the store. */
function earlierKeys({ steps }: SelectedRow): readonly string[] {
  if (!steps) return [];
  const { earlier = [], fileKey } = steps as { earlier?: readonly string[]; fileKey?: string };
  return [...earlier, ...(fileKey === undefined ? [] : [fileKey])];
}
