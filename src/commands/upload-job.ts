import {
  isStored,
  type LeftUpload,
  leftUploads,
  notVerified,
  stored as storedState,
  uploadAction,
  uploadId,
} from '../bulk/upload-state.js';
import type { UploadContentType } from '../api/schemas.js';
import type { SelectedRow } from '../bulk/work.js';
import type { BulkValues } from '../cli/bulk-flags.js';
import type { BulkJob, BulkPart } from '../cli/bulk-part.js';
import type { Plan } from '../cli/plan.js';
import type { Context } from '../context.js';
import { isObject, type JsonObject } from '../data/json.js';
import { BugError, GuardError, InputError } from '../errors.js';
import { type LocalFile, sameFile } from './local-file.js';
import { checkStored } from './check-stored.js';
import {
  createDocumentOnce,
  documentCall,
  type DocumentText,
  documentOfKey,
  type FileFacts,
  grantCall,
  plannedUpload,
  type StoredFile,
  storeFile,
  tellLeftOver,
} from './upload-file.js';

/** What is wanted of every file of an upload, as plain JSON. */
export interface UploadJob {
  readonly name: string | null;
  readonly tags: readonly string[];
  readonly ifExists: 'duplicate' | 'skip' | 'error';
  readonly verify: boolean;
}

/** The flags that say what is wanted of every file. */
export interface UploadValues {
  readonly name: string | undefined;
  readonly tag: readonly string[] | undefined;
  readonly ifExists: UploadJob['ifExists'];
  readonly verify: boolean;
}

export function uploadJobOf({ name, tag = [], ifExists, verify }: UploadValues): UploadJob {
  return { name: name ?? null, tags: [...new Set(tag)], ifExists, verify };
}

/** What is told of a file, and the name that its document gets unless another is given. */
export interface NamedFile extends FileFacts {
  readonly name: string;
}

/** A file as the preflight saw it, as plain JSON. */
export interface SeenFile extends NamedFile {
  /** Absolute, so that an upload can be finished from another folder; `-` for what came from stdin. */
  readonly path: string;
  readonly identity: string;
}

/** A file that the preflight refused. */
export interface BadFile {
  /** Absolute. */
  readonly path: string;
  /** As given; null: it was to be found out. */
  readonly contentType: UploadContentType | null;
  readonly problem: string;
  readonly hint: string | null;
}

interface UploadState {
  readonly row: SelectedRow;
  readonly file: LocalFile | undefined;
  readonly stored: StoredFile | undefined;
}

/** What an upload hands to the engine besides its rows. */
export const uploadPart: BulkPart = {
  resource: 'documents',
  neverAsks: true,
  addsEachTime: true,
  goOn: ({ run, alone }) => (alone ? `uploads finish ${uploadId(run, 1)}` : 'uploads finish --all'),
  isLeft: (run) => leftUploads([run]).some(isStored),
  unfinishedRows: (run) => leftUploads([run]).map(({ row }) => row.row),
  job: async (_, values: UploadValues) => ({ ...uploadJobOf(values) }),
  open: (context, job) => openUploads(context, job as unknown as UploadJob),
};

/** The engine's line of an upload, whichever command goes on with it. */
export function uploadLine(values: object) {
  return { part: uploadPart, words: uploadAction.split('.'), values: values as BulkValues };
}

/** The row of a file that was looked at. */
export function uploadRow(row: number, id: string, file: SeenFile | BadFile): SelectedRow {
  return { row, id, own: { ...file }, cells: [id] };
}

/** What a row says of a file that was refused; undefined for one that can be uploaded. */
export function badFile({ own = {} }: SelectedRow): BadFile | undefined {
  return own['problem'] === undefined ? undefined : (own as unknown as BadFile);
}

/** Spooled stdin has no name by which it could be opened again. */
const held = new WeakMap<object, LocalFile>();

/** Lets the job read this file, which is open already. */
export function holdFile(job: object, file: LocalFile): void {
  held.set(job, file);
}

/** What an upload changes. */
export const newDocument = { field: 'id', from: null, to: '(new document)' } as const;

function openUploads(context: Context, job: UploadJob): BulkJob {
  const arrived = new Map<number, StoredFile>();
  const rows = new Map<string, SelectedRow>();
  const storedOf = (row: SelectedRow) => arrived.get(row.row) ?? storedBefore(row);
  const bytes = byteCount((row) => (storedOf(row) ? 0 : seen(row).sizeBytes));
  const nameHolder = nameHolders(context, job);

  const planFor = (row: SelectedRow, file: LocalFile | undefined): Plan<UploadState> => {
    const stored = storedOf(row);
    return {
      ...planUpload(context, job, seen(row), stored),
      changes: [{ id: row.id, ...newDocument }],
      state: { row, file, stored },
    };
  };

  return {
    // A document that provably was not made is asked for once more.
    resends: 1,
    bytes,
    read: async () => undefined,
    async plan(row) {
      const bad = badFile(row);
      if (bad) throw new InputError(bad.problem, { hint: bad.hint ?? undefined });
      rows.set(row.id, row);
      if (storedOf(row)) return planFor(row, undefined);
      const { path, contentType, identity } = seen(row);
      const spooled = held.get(job);
      if (path === '-' && !spooled)
        throw new InputError('What came from stdin cannot be read again.', {
          hint: 'Upload it anew.',
        });
      const file = spooled ?? (await sameFile(path, contentType, identity));
      const plan = planFor(row, { ...file, path: row.id });
      if (row.previewed) return plan;
      const { name } = textOf(job, seen(row));
      const existing = await nameHolder(name);
      return existing ? { ...plan, skipped: nameTaken(name, existing) } : plan;
    },
    async witness(row) {
      rows.set(row.id, row);
      const stored = storedOf(row);
      return stored && documentOfKey(context, stored.fileKey);
    },
    async prepare(plan, row, step) {
      const { file, stored } = plan.state as UploadState;
      if (stored || !file) return plan;
      const earlier = earlierKeys(row);
      if (earlier.length > 0)
        context.note(
          `${row.id} is sent anew; an earlier attempt may have left bytes in the store under ${earlier.join(', ')}.`,
        );
      const onBytes = bytes.counter();
      arrived.set(
        row.row,
        await storeFile(context, file, { step, hashes: job.verify, earlier, onBytes }),
      );
      return planFor(row, file);
    },
    async send({ calls, state }) {
      const { row, stored } = state as UploadState;
      const [call] = calls;
      if (!call || !stored)
        throw new BugError('A document was to be made before its file arrived.');
      const record = await createDocumentOnce(context, call);
      if (stored.sha256 !== undefined) await checkStored(context, record, seen(row), stored.sha256);
      return record;
    },
    failed(error, id) {
      const row = rows.get(id);
      const stored = row && storedOf(row);
      if (row && stored && error.code !== notVerified)
        tellLeftOver(context, id, seen(row), stored, textOf(job, seen(row)), error);
    },
    made: (value) => (isObject(value) ? madeOf(value) : undefined),
    madeOf,
  };
}

/** What is still to be sent: all three requests, or the document alone of a file that has arrived. */
export function planUpload(
  context: Context,
  job: UploadJob,
  file: NamedFile,
  stored: StoredFile | undefined,
): Pick<Plan, 'calls' | 'requests'> {
  const text = textOf(job, file);
  if (!stored) return { calls: [grantCall(file)], requests: plannedUpload(context, file, text) };
  const call = documentCall(file, stored, text);
  return { calls: [call], requests: [context.api.describe(call)] };
}

/** The same for an upload that a run left. */
export function planLeft(context: Context, { plan, row, steps }: LeftUpload) {
  const { job } = plan.job as unknown as { readonly job: UploadJob };
  return planUpload(context, job, seen(row), storedBefore({ ...row, steps }));
}

function textOf({ name, tags }: UploadJob, file: NamedFile): DocumentText {
  return { name: name ?? file.name, tags };
}

/**
 * Gives the document that has a name already, where that matters; the list is read once. It throws
 * GuardError `exists` for `--if-exists error`.
 */
export function nameHolders(context: Context, { ifExists }: UploadJob) {
  let names: Promise<ReadonlyMap<unknown, JsonObject>> | undefined;
  return async (name: string): Promise<JsonObject | undefined> => {
    if (ifExists === 'duplicate') return undefined;
    names ??= documentNames(context);
    const existing = (await names).get(name);
    if (existing && ifExists === 'error')
      throw new GuardError(nameTaken(name, existing).message, {
        code: 'exists',
        hint: 'Give it another --name, or use --if-exists skip or duplicate.',
      });
    return existing;
  };
}

function nameTaken(name: string, { id }: JsonObject) {
  return { code: 'exists', message: `A document named ${name} exists already: ${String(id)}.` };
}

/** The documents there are, by name. */
async function documentNames(context: Context): Promise<ReadonlyMap<unknown, JsonObject>> {
  const names = new Map<unknown, JsonObject>();
  for await (const record of context.api.list('documents')) names.set(record['name'], record);
  return names;
}

function byteCount(of: (row: SelectedRow) => number) {
  const count = {
    done: 0,
    of,
    /** For one file; an attempt that begins anew takes back what the last one counted. */
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

function seen({ own }: SelectedRow): SeenFile {
  return own as unknown as SeenFile;
}

/** What an earlier process got to the store. */
function storedBefore({ steps }: SelectedRow): StoredFile | undefined {
  return steps?.['state'] === storedState ? (steps as unknown as StoredFile) : undefined;
}

/** Keys under which an earlier process may have left bytes. */
function earlierKeys({ steps }: SelectedRow): readonly string[] {
  if (!steps) return [];
  const { earlier = [], fileKey } = steps as { earlier?: readonly string[]; fileKey?: string };
  return [...earlier, ...(fileKey === undefined ? [] : [fileKey])];
}

function madeOf({ id }: JsonObject): JsonObject {
  return id === undefined ? {} : { id };
}
