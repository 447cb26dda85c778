/** Plans uploads: the job, and the inspected files in its rows. */

import type { UploadContentType } from '../api/schemas.js';
import type { JsonObject } from '../data/json.js';
import type { RowChange, SelectedRow } from '../runs/report.js';
import { storedState } from '../runs/unfinished.js';
import { futureIds } from '../runs/verb.js';
import type { DocumentFields, FileFacts, StoredFile } from './store-file.js';

/** The values of `--if-exists`; the first is the default. */
export const ifExistsWords = ['skip', 'duplicate', 'error'] as const;

/** The job of an upload, which applies to every file; plain JSON. */
export type UploadJob = JsonObject & {
  readonly name: string | null;
  readonly tags: readonly string[];
  /** How to treat a file whose content is stored as a document already. */
  readonly ifExists: (typeof ifExistsWords)[number];
  /** It was typed: where the list cannot tell, nothing is uploaded. */
  readonly isStrict?: boolean;
  readonly verify: boolean;
  /** The document that the file replaces. */
  readonly replaces?: string;
};

/** The flags that make up the job. */
export interface UploadValues {
  readonly name: string | undefined;
  readonly tag: readonly string[] | undefined;
  readonly ifExists: UploadJob['ifExists'] | undefined;
  readonly verify: boolean;
}

/** A file as inspected before the upload; plain JSON. */
export type InspectedFile = FileFacts & {
  /** The default name of its document. */
  readonly name: string;
  /** Absolute, so that an upload can be finished from another folder; `-` for stdin. */
  readonly path: string;
  readonly identity: string;
  /** An earlier file of the same invocation with the same name and content. */
  readonly sameAs?: string;
  /** Other files of the same invocation have its content, under other names. */
  readonly hasTwin?: boolean;
  /** The document that it would replace does not exist. */
  readonly isMissing?: boolean;
  readonly text?: OwnText | undefined;
};

/** A manifest's values for one file's document. */
export type OwnText = {
  readonly name?: string;
  readonly tags?: readonly string[];
};

/** A file that failed inspection. */
export type BadFile = {
  /** Absolute. */
  readonly path: string;
  /** As given; null: to be determined from the file. */
  readonly contentType: UploadContentType | null;
  readonly problem: string;
  readonly hint: string | null;
  readonly text?: OwnText | undefined;
};

/** The change that an upload makes. */
export const newDocument: RowChange = { field: 'id', from: null, to: futureIds.document };

/** The fields of the document of a row's file. */
export function documentOf(job: UploadJob, row: SelectedRow): DocumentFields {
  const file = inspected(row);
  const { contentType, sizeBytes } = file;
  return { ...nameAndTags(job, file), contentType, sizeBytes };
}

/** The name and tags of a file's document. */
export function nameAndTags(
  { name, tags }: Pick<UploadJob, 'name' | 'tags'>,
  { name: ofFile, text }: Pick<InspectedFile, 'name' | 'text'>,
): Pick<DocumentFields, 'name' | 'tags'> {
  return {
    name: name ?? text?.name ?? ofFile,
    tags: [...new Set([...tags, ...(text?.tags ?? [])])],
  };
}

/** The inspected file of a row. */
export function inspected({ own }: SelectedRow): InspectedFile {
  return own as InspectedFile;
}

/** The refused file of a row; undefined if it can be uploaded. */
export function badFile({ own = {} }: SelectedRow): BadFile | undefined {
  return own['problem'] === undefined ? undefined : (own as BadFile);
}

/** The file that an earlier process stored for a row, if any. */
export function storedBefore({ steps }: SelectedRow): StoredFile | undefined {
  return steps?.['state'] === storedState ? (steps as StoredFile) : undefined;
}
