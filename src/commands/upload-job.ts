import { isSamePlace } from '../bulk/run-plan.js';
import { listOpenRuns } from '../bulk/runs.js';
import {
  isInDoubt,
  isStored,
  type LeftUpload,
  leftUploads,
  uploadAction,
  uploadId,
} from '../bulk/upload-state.js';
import type { SelectedRow } from '../bulk/work.js';
import type { BulkValues } from '../cli/bulk-flags.js';
import type { BulkJob, BulkPart } from '../cli/bulk-part.js';
import type { Plan } from '../cli/plan.js';
import type { Context } from '../context.js';
import { isObject, type JsonObject } from '../data/json.js';
import { BugError, InputError, notVerified } from '../errors.js';
import { type LocalFile, sameFile } from './local-file.js';
import { checkStored } from './check-stored.js';
import { documentsByKey, madeDocument } from './made-document.js';
import { exists, takenNames } from './taken-names.js';
import {
  createDocumentOnce,
  documentCall,
  type StoredFile,
  storeFile,
  tellLeftOver,
} from './upload-file.js';
import {
  badFile,
  newDocument,
  planUpload,
  seen,
  storedBefore,
  textOf,
  type UploadJob,
  uploadJobOf,
  type UploadValues,
} from './upload-plan.js';

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
  isLeft: (run) =>
    leftUploads([run]).some((left) => isStored(left) || (wasCutOff(left) && !isSpooled(left.row))),
  // Which document it made tells an upload in doubt which one is not its own.
  isEvidence: async (store, head) =>
    leftUploads(await listOpenRuns(store, () => {}, { untold: false })).some(
      (left) => isInDoubt(left) && isSamePlace(left.run.head, head),
    ),
  unfinishedRows: (run) => leftUploads([run]).map(({ row }) => row.row),
  subjectOf: (row) => (isSpooled(row) ? undefined : seen(row).path),
  job: async (_, values: UploadValues) => ({ ...uploadJobOf(values) }),
  open: (context, job: UploadJob) => openUploads(context, job),
};

/** The engine's line of an upload, whichever command goes on with it. */
export function uploadLine(values: object) {
  return { part: uploadPart, words: uploadAction.split('.'), values: values as BulkValues };
}

/** A signal ended it: its bytes may have arrived. What failed says so itself. */
function wasCutOff({ state, run, row }: LeftUpload): boolean {
  return state === 'put_started' && run.state.results.get(row.row)?.error === undefined;
}

/** What came from stdin cannot be sent anew. */
function isSpooled(row: SelectedRow): boolean {
  return seen(row).path === '-';
}

/** Spooled stdin has no name by which it could be opened again. */
const held = new WeakMap<object, LocalFile>();

/** Lets the job read this file, which is open already. */
export function holdFile(job: object, file: LocalFile): void {
  held.set(job, file);
}

function openUploads(context: Context, job: UploadJob): BulkJob {
  const arrived = new Map<number, StoredFile>();
  const rows = new Map<string, SelectedRow>();
  const storedOf = (row: SelectedRow) => arrived.get(row.row) ?? storedBefore(row);
  const bytes = byteCount((row) => (storedOf(row) ? 0 : seen(row).sizeBytes));
  const takenOf = takenNames(context, job);
  let keys: ReturnType<typeof documentsByKey> | undefined;
  // Since an earlier process was refused somebody may have recorded the file by hand, as it was told.
  const recordedMeanwhile = async (row: SelectedRow, { fileKey }: StoredFile) =>
    storedBefore(row) && (await (keys ??= documentsByKey(context))).get(fileKey);

  const verify = async (row: SelectedRow, record: JsonObject) => {
    const sha256 = storedOf(row)?.sha256;
    if (sha256 !== undefined) await checkStored(context, record, seen(row), sha256);
  };

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
      // What sends it is loaded before many open files leave no descriptor for that.
      if (row.previewed) await context.files();
      const file = spooled ?? (await sameFile(path, contentType, identity));
      const plan = planFor(row, { ...file, path: row.id });
      if (row.previewed) return plan;
      const taken = await takenOf(seen(row), row.id);
      return taken ? { ...plan, skipped: { code: exists, message: taken.message } } : plan;
    },
    async witness(row, since) {
      rows.set(row.id, row);
      const stored = storedOf(row);
      if (!stored) return undefined;
      const file = seen(row);
      const { body = {} } = documentCall(file, stored, textOf(job, file));
      return madeDocument(context, body, since);
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
      const record =
        (await recordedMeanwhile(row, stored)) ?? (await createDocumentOnce(context, call));
      await verify(row, record);
      return record;
    },
    confirm: verify,
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

/** Keys under which an earlier process may have left bytes. */
function earlierKeys({ steps }: SelectedRow): readonly string[] {
  if (!steps) return [];
  const { earlier = [], fileKey } = steps as { earlier?: readonly string[]; fileKey?: string };
  return [...earlier, ...(fileKey === undefined ? [] : [fileKey])];
}

/** What stands for the id while nothing is sent is none. */
function madeOf({ id = null }: JsonObject): JsonObject {
  return { id };
}
