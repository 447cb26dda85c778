/** Plans uploads: the job, the inspected files in its rows, the requests still to send, and conflicts of names. */
import type { UploadContentType } from '../api/schemas.js';
import type { Completeness } from '../api/types.js';
import type { Plan } from '../cli/views.js';
import type { Context } from '../context.js';
import type { JsonObject } from '../data/json.js';
import { GuardError } from '../errors.js';
import { storedState, type UnfinishedUpload } from '../runs/end.js';
import type { RowChange, SelectedRow } from '../runs/report.js';
import {
  type DocumentText,
  documentCall,
  type FileFacts,
  grantCall,
  plannedUpload,
  type StoredFile,
} from './store-file.js';

/** The job of an upload, which applies to every file; plain JSON. */
export interface UploadJob {
  readonly name: string | null;
  readonly tags: readonly string[];
  readonly ifExists: 'duplicate' | 'skip' | 'error';
  readonly verify: boolean;
}

/** The flags that make up the job. */
export interface UploadValues {
  readonly name: string | undefined;
  readonly tag: readonly string[] | undefined;
  readonly ifExists: UploadJob['ifExists'];
  readonly verify: boolean;
}

export function uploadJobOf({ name, tag = [], ifExists, verify }: UploadValues): UploadJob {
  return { name: name ?? null, tags: [...new Set(tag)], ifExists, verify };
}

/** The facts that the service gets about a file, and the default name of its document. */
type NamedFile = FileFacts & {
  readonly name: string;
};

/** A file as inspected before the upload; plain JSON. */
export type InspectedFile = NamedFile & {
  /** Absolute, so that an upload can be finished from another folder; `-` for stdin. */
  readonly path: string;
  readonly identity: string;
  /** An earlier file of the same invocation whose document gets the same name. */
  readonly duplicateOf?: string;
};

/** A file that failed inspection. */
export type BadFile = {
  /** Absolute. */
  readonly path: string;
  /** As given; null: to be determined from the file. */
  readonly contentType: UploadContentType | null;
  readonly problem: string;
  readonly hint: string | null;
};

/** The change that an upload makes. */
export const newDocument: RowChange = { field: 'id', from: null, to: '(new document)' };

/** The requests still to send: all three, or only that for the document if the file has arrived. */
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

/** The requests still to send for an unfinished upload. */
export function planUnfinished(context: Context, { plan, row, steps }: UnfinishedUpload) {
  const { job } = plan.job as { readonly job: UploadJob };
  return planUpload(context, job, inspected(row), storedBefore({ ...row, steps }));
}

/** The name and tags of a file's document. */
export function textOf({ name, tags }: UploadJob, file: NamedFile): DocumentText {
  return { name: name ?? file.name, tags };
}

/** The inspected file of a row. */
export function inspected({ own }: SelectedRow): InspectedFile {
  return own as InspectedFile;
}

/** The row of an inspected file. */
export function uploadRow(row: number, id: string, file: InspectedFile | BadFile): SelectedRow {
  return { row, id, own: { ...file }, cells: [id] };
}

/** The refused file of a row; undefined if it can be uploaded. */
export function badFile({ own = {} }: SelectedRow): BadFile | undefined {
  return own['problem'] === undefined ? undefined : (own as BadFile);
}

/** The file that an earlier process stored for a row, if any. */
export function storedBefore({ steps }: SelectedRow): StoredFile | undefined {
  return steps?.['state'] === storedState ? (steps as StoredFile) : undefined;
}

/** The code for a document name that is already in use. */
export const exists = 'exists';

/** A name that is already in use, and the document that has it. */
interface NameConflict {
  readonly message: string;
  readonly hint: string;
  readonly document?: JsonObject;
}

/**
 * Returns a function that finds the conflict of a file's name, with an earlier file of the same
 * invocation or with a document; it reads the list once, and only if conflicts matter. It throws
 * GuardError `exists` for `--if-exists error`, `incomplete` if a possibly incomplete list lacks the name.
 */
export function nameConflicts(context: Context, { name, ifExists }: UploadJob) {
  let documents: Promise<NamedDocuments> | undefined;
  const find = async (target: string): Promise<NameConflict | undefined> => {
    documents ??= documentNames(context);
    const { names, completeness, isNameless } = await documents;
    const document = names.get(target);
    if (!document && completeness.state !== 'complete')
      throw incompleteList(target, completeness.reason);
    if (!document && isNameless) throw incompleteList(target, 'its records show no name');
    return document && conflictWithDocument(target, document);
  };
  return async (file: Pick<InspectedFile, 'name' | 'duplicateOf'>, path: string) => {
    if (ifExists === 'duplicate') return undefined;
    const target = name ?? file.name;
    const { duplicateOf } = file;
    const conflict =
      duplicateOf === undefined
        ? await find(target)
        : conflictWithFile(target, [duplicateOf, path]);
    if (conflict && ifExists === 'error')
      throw new GuardError(conflict.message, { code: exists, hint: conflict.hint });
    return conflict;
  };
}

function conflictWithDocument(name: string, document: JsonObject): NameConflict {
  return {
    message: `A document named ${name} exists already: ${String(document['id'])}.`,
    hint: 'Give it another --name, or use --if-exists skip or duplicate.',
    document,
  };
}

function conflictWithFile(name: string, paths: readonly string[]): NameConflict {
  return {
    message: `Two files would be named ${name}: ${paths.join(' and ')}.`,
    hint: 'Upload one of them alone with another --name, or use --if-exists skip or duplicate.',
  };
}

function incompleteList(name: string, reason: string): GuardError {
  return new GuardError(
    `Cannot tell whether a document is named ${name}: the list of documents may be incomplete: ${reason}. Nothing was sent.`,
    { code: 'incomplete', hint: 'To upload it anyway: --if-exists duplicate' },
  );
}

/** The existing documents by name. */
interface NamedDocuments {
  readonly names: ReadonlyMap<unknown, JsonObject>;
  readonly completeness: Completeness;
  /** There are documents, and none shows its name. */
  readonly isNameless: boolean;
}

async function documentNames(context: Context): Promise<NamedDocuments> {
  const names = new Map<unknown, JsonObject>();
  const list = context.api.list('documents');
  for await (const record of list) names.set(record['name'], record);
  const isNameless = names.size > 0 && [...names.keys()].every((name) => typeof name !== 'string');
  return { names, completeness: list.completeness(), isNameless };
}
