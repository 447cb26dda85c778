/** One resource of a snapshot: its list, read to disk, and the files of its records. */

import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { safeParse } from 'zod/mini';
import { hasId } from '../api/records.js';
import { mediaType, typeByName, UploadContentType } from '../api/schemas.js';
import type { Completeness, Doubt } from '../api/types.js';
import { errorMessage } from '../cli/failure.js';
import type { Context } from '../context.js';
import { csvLine, exportText } from '../data/csv.js';
import type { JsonObject } from '../data/json.js';
import { isForbidden, isUnreadableList, lacksList } from '../data/outcome-errors.js';
import { incompleteList, type ResourceName, resourceWords } from '../data/resources.js';
import { groupedNumber, withArticle } from '../data/text.js';
import { ApiError, GuardError } from '../errors.js';
import { writeAtomically } from '../files/atomic-write.js';
import { tagNamesIn } from '../resources/document-tags.js';
import { backUpFiles, type ListedDocument, listedDocument } from './documents.js';
import type { OpenBackup } from './folder.js';
import { newestWith } from './keep.js';
import { hasFiles, recordsFile, sharedFile, uploadFile } from './layout.js';
import type { Manifest, MissingPart, StoredDocument } from './manifest.js';
import { openSpool, type RecordSpool } from './records.js';

/** The options of a backup for each of its resources. */
export interface ResourceOptions {
  readonly files: boolean;
  readonly recheck: boolean;
  readonly allowPartial: boolean;
  readonly concurrency: number;
}

/** The parts of a snapshot that belong to one resource. */
export interface ResourceBackup {
  /** Absent if it cannot be listed. */
  readonly records?: Manifest['resources'][number];
  readonly files?: Manifest['files'];
  readonly missing: readonly MissingPart[];
  /** The answer in place of its list. */
  readonly refusal?: ApiError;
}

/**
 * Writes the records of a resource and their files to the unfinished snapshot. Throws GuardError for a
 * list that may be incomplete, OutputError, and what the service refuses for all of it.
 */
export async function backUpResource(
  context: Context,
  backup: OpenBackup,
  resource: ResourceName,
  options: ResourceOptions,
): Promise<ResourceBackup> {
  const spool = await openSpool(join(backup.unfinished, recordsFile(resource)));
  const documents: ListedDocument[] = [];
  const needsFiles = hasFiles(resource) && options.files;
  try {
    const read = await readList(context, resource, spool, (record) => {
      if (needsFiles) documents.push(listedDocument(record));
    });
    if (read instanceof ApiError) {
      const reason = isForbidden(read)
        ? errorMessage(context, '', read)
        : lacksList(resource, read);
      return { missing: [{ resource, id: null, reason }], refusal: read };
    }
    const doubt = doubtOf(read, backup, resource);
    if (doubt && !options.allowPartial) throw mayBeIncomplete(resource, doubt);
    const kept = needsFiles
      ? await addFiles(context, backup, resource, documents, options)
      : undefined;
    const reason = `the list may be incomplete: ${doubt?.reason}`;
    return {
      records: { resource, ...(await spool.finish(kept?.gone)) },
      files: kept?.files ?? null,
      missing: [...(doubt ? [{ resource, id: null, reason }] : []), ...(kept?.missing ?? [])],
    };
  } finally {
    await spool.close();
  }
}

/** Reads a list into its spool; returns the error if it cannot be read. Throws GuardError for a record without an id. */
async function readList(
  { api, progress }: Context,
  resource: ResourceName,
  spool: RecordSpool,
  onRecord: (record: JsonObject) => void,
): Promise<Completeness | ApiError> {
  const { plural: many, noun } = resourceWords[resource];
  const list = api.list(resource, undefined, { checksCompleteness: true });
  const line = progress.start(() => `Reading ${many}, ${groupedNumber(spool.count)} so far`);
  try {
    for await (const batch of list.batches())
      for (const record of batch) {
        if (!hasId(record))
          throw new GuardError(`The list of ${many} holds ${withArticle(noun)} without an id.`, {
            code: 'incomplete',
            hint: `To name the field that holds it: rosterctl config set ids.${resource} FIELD`,
          });
        onRecord(record);
        await spool.add(record);
      }
  } catch (error) {
    if (isUnreadableList(error)) return error;
    throw error;
  } finally {
    line.stop();
  }
  return list.completeness();
}

/** Returns why a list may be incomplete. An answer without a list is an empty one where there never was a record. */
function doubtOf(completeness: Completeness, { earlier }: OpenBackup, resource: ResourceName) {
  if (completeness.state === 'complete') return undefined;
  const newest = newestWith(earlier, resource);
  const before = newest?.manifest.resources.find((each) => each.resource === resource);
  const hadRecords = (before?.records ?? 0) > 0;
  return completeness.state === 'doubtful' || hadRecords ? completeness : undefined;
}

function mayBeIncomplete(resource: ResourceName, { reason, fixes = [] }: Doubt): GuardError {
  return new GuardError(`${incompleteList(resource, reason)} No backup was kept.`, {
    code: 'incomplete',
    hint: [...fixes, 'To keep what there is, marked as incomplete, add --allow-partial.'].join(
      '\n',
    ),
  });
}

/** Adds the files of documents, and returns the ids of documents that were deleted meanwhile. */
async function addFiles(
  context: Context,
  backup: OpenBackup,
  resource: ResourceName,
  documents: readonly ListedDocument[],
  options: ResourceOptions,
): Promise<{
  readonly files: Manifest['files'];
  readonly missing: readonly MissingPart[];
  readonly gone: ReadonlySet<string>;
}> {
  const { stored, missing, vanished } = await backUpFiles(context, backup, documents, options);
  const gone = await deletedMeanwhile(context, resource, vanished);
  const csv = Buffer.from(uploadCsv(documents, stored));
  await writeAtomically(join(backup.unfinished, uploadFile), csv, { singleWriter: true });
  const sha256 = createHash('sha256').update(csv).digest('hex');
  const reason = 'the service lists it but has no file for it';
  const listed = vanished.filter((id) => !gone.has(id)).map((id) => ({ id, reason }));
  return {
    files: { bytes: csv.length, sha256, documents: [...stored] },
    missing: [...missing, ...listed].map((part) => ({ resource, ...part })),
    gone,
  };
}

/** Returns those of the documents without a file that are no longer in the list. */
async function deletedMeanwhile(
  context: Context,
  resource: ResourceName,
  vanished: readonly string[],
): Promise<ReadonlySet<string>> {
  if (vanished.length === 0) return new Set();
  const list = context.api.list(resource, undefined, { checksCompleteness: true });
  const present = new Set<string>();
  for await (const { id } of list) present.add(String(id));
  const isWhole = list.completeness().state === 'complete';
  const gone = vanished.filter((id) => isWhole && !present.has(id));
  for (const id of gone) context.message(`${id} was deleted during the backup, so it is left out.`);
  return new Set(gone);
}

/**
 * Returns the documents as a manifest of `docs upload`, which brings them back; of documents that share
 * name and content, it names the first one. It leaves out what an upload would refuse.
 */
function uploadCsv(documents: readonly ListedDocument[], stored: readonly StoredDocument[]) {
  const options = { delimiter: ',', raw: false } as const;
  const listed = new Map(documents.map((document) => [document.id, document]));
  const lines = new Map<string, string>();
  for (const { id, name, sha256 } of stored) {
    // Relative to the snapshot, so that the folder of the backup can be moved.
    const path = join('..', sharedFile(sha256));
    const { tags, contentType } = listed.get(id) ?? {};
    const type =
      typeof contentType === 'string'
        ? safeParse(UploadContentType, mediaType(contentType)).data
        : typeByName(name);
    const key = `${sha256} ${name}`;
    if (!lines.has(key))
      lines.set(
        key,
        csvLine([path, name, exportText(tagNamesIn(tags) ?? []), type ?? ''], options),
      );
  }
  return [csvLine(['path', 'name', 'tags', 'contentType'], options), ...lines.values()].join('');
}
