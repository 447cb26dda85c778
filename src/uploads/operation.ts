/** The upload operation: sends a file's bytes to the store, then the engine creates the document. */

import type { Context } from '../context.js';
import type { JsonObject } from '../data/json.js';
import { lazy } from '../data/lazy.js';
import { notVerified, UnverifiedError } from '../data/outcome-errors.js';
import { quotedId } from '../data/references.js';
import { shellQuote } from '../data/text.js';
import type { Operation, Sent, Session, Step, Task } from '../engine/operation.js';
import { InputError } from '../errors.js';
import { tagsIn } from '../resources/document-tags.js';
import { creating, withConflictAsSign } from '../resources/send.js';
import type { SelectedRow } from '../runs/report.js';
import { DocumentFinder, existsAlready } from './compare.js';
import { verifyUpload } from './content.js';
import { readDocuments, verifyDocument } from './documents.js';
import type { LocalFile } from './local-file.js';
import { mostHashedBytes, nameMark } from './memory.js';
import {
  badFile,
  documentOf,
  ifExistsWords,
  inspected,
  newDocument,
  storedBefore,
  type UploadJob,
  type UploadValues,
} from './plan.js';
import { localFiles } from './rows.js';
import {
  checkDocument,
  documentCall,
  noteLeftover,
  plannedUpload,
  type StoredFile,
  storeFile,
} from './store-file.js';
import { openUpload } from './upload-source.js';

/** The operation of an upload; `held`: the spooled stdin, already open. */
export function uploadOperation(held?: LocalFile): Operation {
  return {
    resource: 'documents',
    confirm: 'never',
    verb: 'upload',
    addsEachTime: true,
    locksRows: true,
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

function uploadSession(context: Context, job: UploadJob, held: LocalFile | undefined): Session {
  const files = new UploadFiles(job, held);
  const existing = new Map<number, JsonObject>();
  const { replaces } = job;
  const finder = new DocumentFinder(context, job);
  const listed = lazy(() => readDocuments(context));
  const noteTags = tagNote(context);
  /** A single file is locked while it is compared; others may be uploaded by another process meanwhile. */
  let isShared = false;
  let isResumed = false;
  /** True if another run may have made the document of a file whose bytes an earlier process stored. */
  const mayBeElsewhere = async (row: Task, { fileKey }: StoredFile) =>
    isResumed &&
    replaces === undefined &&
    !files.arrived.has(row.row) &&
    !(await listed()).byKey.has(fileKey);
  const base = creating(context, 'documents');
  return {
    ...base,
    read(_, purpose) {
      if (purpose === 'resend') finder.renew();
      return base.read();
    },
    made: (record) =>
      record && { id: record['id'] ?? null, ...(replaces !== undefined && { replaces }) },
    // Only one resend, for a document that was provably not created.
    resends: 1,
    async plan(row) {
      const bad = badFile(row);
      if (bad) throw new InputError(bad.problem, { hint: bad.hint ?? undefined });
      const stored = files.storedOf(row);
      if (stored && !(await mayBeElsewhere(row, stored)))
        return { steps: [files.documentStep(row, stored)] };
      // Loads the file store module before many open files leave no descriptor for it.
      if (row.previewed) await context.files();
      const document = documentOf(job, row);
      const { call, requests } = plannedUpload(context, document, stored);
      const steps = [{ call, changes: [newDocument] }];
      const bytes = stored ? { open: () => files.open(row).open() } : files.open(row);
      if (row.previewed && !isShared) return { steps, requests };
      const { sha256 } = stored ?? {};
      const compared = { file: inspected(row), name: document.name, path: row.id, bytes, sha256 };
      const found = await (row.previewed ? finder.findNew(compared) : finder.find(compared));
      if (!found) return { steps, requests };
      const { id, message, record = id === undefined ? undefined : { id } } = found;
      if (record) existing.set(row.row, record);
      noteTags(document.tags, record);
      return { steps, requests, skipped: { code: existsAlready, message, id } };
    },
    planned(isSingle) {
      isShared = !isSingle;
    },
    resumes(finished) {
      isShared = isResumed = true;
      finder.resume(finished.map(({ after }) => after?.['id']));
    },
    async send(step, row, isFresh): Promise<Sent> {
      // After an earlier process was refused, the user may have created the document by hand, as its
      // message suggests.
      const before = storedBefore(row);
      const record = before && (await listed()).byKey.get(before.fileKey)?.[0];
      if (record) return { answer: { status: 200, headers: {}, body: undefined }, record };
      // A proxy between us and the service may have sent the request twice.
      return withConflictAsSign(() => base.send(step, row, isFresh));
    },
    checkSuccess: (step, _, sent) => checkDocument(context, step.call, sent),
    async verify(row) {
      const stored = files.storedOf(row);
      if (!stored) return { outcome: 'unclear' };
      return verifyDocument(context, files.documentStep(row, stored));
    },
    present: (record, { row }) => record ?? existing.get(row) ?? {},
    transfer: fileTransfer(context, job, files, finder),
  };
}

/** The files of a run, and where in the store their bytes are. */
class UploadFiles {
  /** The place of the bytes that this process sent, by row. */
  readonly arrived = new Map<number, StoredFile>();
  /** The row that each key was granted for: a service may take two files of one size for the same request. */
  private readonly granted = new Map<string, SelectedRow>();

  constructor(
    private readonly job: UploadJob,
    /** The spooled stdin. */
    private readonly held: LocalFile | undefined,
  ) {}

  /** Returns the file of a row to read. Throws InputError if it changed since it was inspected. */
  open(row: SelectedRow): LocalFile {
    const { path, name, contentType, identity } = inspected(row);
    if (path === '-' && !this.held)
      throw new InputError('What came from stdin cannot be read again.', {
        hint: 'Upload it again.',
      });
    const bytes = this.held ?? openUpload(path, identity);
    return { ...bytes, path: row.id, name, contentType };
  }

  /** The stored bytes of a row, from this process or an earlier one. */
  storedOf(row: SelectedRow): StoredFile | undefined {
    return this.arrived.get(row.row) ?? storedBefore(row);
  }

  /** Takes a key for a row. Returns the path of the other row that has it already, if one does. */
  take(key: string, row: SelectedRow): string | undefined {
    const first = this.granted.get(key) ?? row;
    this.granted.set(key, first);
    return first.row === row.row ? undefined : first.id;
  }

  documentStep(row: SelectedRow, stored: StoredFile): Step {
    return { call: documentCall(documentOf(this.job, row), stored), changes: [newDocument] };
  }
}

/** Sends the bytes of files before their documents are created, and compares the documents with them. */
function fileTransfer(
  context: Context,
  job: UploadJob,
  files: UploadFiles,
  finder: DocumentFinder,
): NonNullable<Session['transfer']> {
  const bytes = {
    done: 0,
    of: (row: SelectedRow) => (files.storedOf(row) ? 0 : inspected(row).sizeBytes),
  };
  return {
    bytes,
    async prepare(row, step, note) {
      if (files.storedOf(row)) return step;
      const file = files.open(row);
      const earlier = earlierKeys(row);
      if (earlier.length > 0)
        context.note(
          `${row.id} is sent again; an earlier attempt may have left bytes in the store under ${earlier.join(', ')}.`,
        );
      let counted = 0;
      const stored = await storeFile(context, file, {
        step: note,
        hashes: job.verify || file.sizeBytes <= mostHashedBytes,
        earlier,
        ownerOf: (key) => files.take(key, row),
        onBytes(sent) {
          // A new attempt replaces the count of the previous one.
          bytes.done += sent - counted;
          counted = sent;
        },
      });
      files.arrived.set(row.row, stored);
      return files.documentStep(row, stored);
    },
    async checkCreated(row, record) {
      const sha256 = files.storedOf(row)?.sha256;
      if (sha256 === undefined) return;
      const { id } = record;
      const { sizeBytes } = inspected(row);
      const remember = async () => {
        if (typeof id === 'string' && sizeBytes <= mostHashedBytes)
          await finder.remember({
            sha256,
            sizeBytes,
            id,
            name: nameMark(documentOf(job, row).name),
          });
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
      const stored = files.storedOf(row);
      if (stored && error.code !== notVerified)
        noteLeftover(context, row.id, documentOf(job, row), stored, error);
    },
  };
}

/** Returns a function that notes once that the tags typed are not those of a document that is left as it is. */
function tagNote(context: Context) {
  let isNoted = false;
  return (tags: readonly string[], record: JsonObject | undefined) => {
    const { tags: own } = record ?? {};
    // Absent tags may be hidden.
    const held = own == null ? undefined : tagsIn(own);
    const missing = tags.find((tag) => held?.includes(tag) === false);
    if (isNoted || missing === undefined) return;
    isNoted = true;
    const id = quotedId(String(record?.['id']));
    context.note(
      `Files that are skipped keep their tags. To add one: rosterctl docs update ${id} --add-tag ${shellQuote(missing)}`,
    );
  };
}

/** Keys under which earlier processes may have left bytes in the store. */
function earlierKeys({ steps }: SelectedRow): readonly string[] {
  if (!steps) return [];
  const { earlier = [], fileKey } = steps as { earlier?: readonly string[]; fileKey?: string };
  return [...earlier, ...(fileKey === undefined ? [] : [fileKey])];
}
