import type { UploadContentType } from '../api/schemas.js';
import { type LeftUpload, stored as storedState } from '../bulk/end-run.js';
import type { RowChange, SelectedRow } from '../bulk/report.js';
import type { Plan } from '../cli/plan.js';
import type { Context } from '../context.js';
import {
  documentCall,
  type DocumentText,
  type FileFacts,
  grantCall,
  plannedUpload,
  type StoredFile,
} from './store-file.js';

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
  /** An earlier file of the same line whose document gets the same name. */
  readonly namesake?: string;
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

/** What an upload changes. */
export const newDocument: RowChange = { field: 'id', from: null, to: '(new document)' };

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
  const { job } = plan.job as { readonly job: UploadJob };
  return planUpload(context, job, seen(row), storedBefore({ ...row, steps }));
}

/** What the record of a file's document says. */
export function textOf({ name, tags }: UploadJob, file: NamedFile): DocumentText {
  return { name: name ?? file.name, tags };
}

/** What the preflight saw of a row's file. */
export function seen({ own }: SelectedRow): SeenFile {
  return own as unknown as SeenFile;
}

/** The row of a file that was looked at. */
export function uploadRow(row: number, id: string, file: SeenFile | BadFile): SelectedRow {
  return { row, id, own: { ...file }, cells: [id] };
}

/** What a row says of a file that was refused; undefined for one that can be uploaded. */
export function badFile({ own = {} }: SelectedRow): BadFile | undefined {
  return own['problem'] === undefined ? undefined : (own as unknown as BadFile);
}

/** What an earlier process got to the store. */
export function storedBefore({ steps }: SelectedRow): StoredFile | undefined {
  return steps?.['state'] === storedState ? (steps as unknown as StoredFile) : undefined;
}
