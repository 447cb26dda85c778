/** Makes a snapshot: all records, all files, and a manifest that proves them; it gets its name when it is whole. */
import { createHash } from 'node:crypto';
import { readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { contractVersion } from '../api/contract.js';
import { hasId } from '../api/records.js';
import { errorMessage } from '../cli/failure.js';
import type { Context } from '../context.js';
import type { JsonObject } from '../data/json.js';
import { type ResourceName, resourceWords } from '../data/resources.js';
import { nameFirstFew, plural } from '../data/text.js';
import { ApiError, GuardError, OutputError } from '../errors.js';
import { syncFolder, writeAtomically } from '../files/atomic-write.js';
import { attempt } from '../files/writing.js';
import { placeOf } from '../runs/plan.js';
import { keepFiles, type ListedDocument, listedDocument } from './documents.js';
import { type GoodSnapshot, type OpenBackup, openBackup } from './folder.js';
import { newestWith, removeOld } from './keep.js';
import {
  backedUp,
  filesFolder,
  hasFiles,
  manifestFile,
  recordsFile,
  uploadFile,
} from './layout.js';
import { type Manifest, type MissingPart, sealManifest } from './manifest.js';
import { openSpool, type RecordSpool } from './records.js';
import { uploadCsv } from './upload-csv.js';

/** The options of a backup. */
export interface BackupOptions {
  readonly only: readonly ResourceName[];
  readonly files: boolean;
  readonly keep: number | undefined;
  readonly recheck: boolean;
  readonly allowPartial: boolean;
  readonly concurrency: number;
}

/** The result of a backup. */
export interface MadeBackup {
  /** Null if none was kept, because something is missing. */
  readonly snapshot: string | null;
  readonly complete: boolean;
  readonly manifest: Manifest;
  /** The snapshots that --keep removed. */
  readonly removed: readonly string[];
}

/** Returns the resources to back up in their order, all of them by default. */
export function resourcesOf(only: readonly ResourceName[] | undefined): readonly ResourceName[] {
  return backedUp.filter((resource) => only === undefined || only.includes(resource));
}

/**
 * Makes a snapshot in the folder. What is there stays as it is, whatever happens. Throws UsageError,
 * GuardError (another backup runs, a list may be incomplete), OutputError, and what the service
 * refuses for all of it.
 */
export async function createBackup(
  context: Context,
  folder: string,
  options: BackupOptions,
): Promise<MadeBackup> {
  const backup = await openBackup(context, folder);
  try {
    return await new Making(context, backup, options).run();
  } catch (error) {
    if (!(error instanceof OutputError)) throw error;
    throw new OutputError(error.message, {
      hint: 'Earlier snapshots are unchanged. Make room, then run the same command again.',
      cause: error,
    });
  } finally {
    await backup.close();
  }
}

class Making {
  private readonly missing: MissingPart[] = [];
  private readonly refused: ApiError[] = [];
  private readonly resources: Manifest['resources'][number][] = [];
  private files: Manifest['files'] = null;

  constructor(
    private readonly context: Context,
    private readonly backup: OpenBackup,
    private readonly options: BackupOptions,
  ) {}

  async run(): Promise<MadeBackup> {
    const { context, backup, options } = this;
    const startedAt = context.now().toISOString();
    for (const resource of options.only) {
      // oxlint-disable-next-line no-await-in-loop
      await this.addResource(resource);
    }
    const [refusal] = this.refused;
    if (refusal && this.resources.length === 0) throw refusal;
    const { organization, service: origin } = placeOf(context);
    const complete = this.missing.length === 0;
    const manifest: Manifest = {
      schema: 1,
      name: backup.name,
      version: context.table.version,
      contract: contractVersion,
      ...{ origin, organization, startedAt, finishedAt: context.now().toISOString(), complete },
      ...{ resources: this.resources, files: this.files, missing: this.missing },
    };
    this.tellMissing();
    if (!complete && !options.allowPartial)
      return { snapshot: null, complete, manifest, removed: [] };
    const snapshot = await this.finish(manifest);
    const kept = [...backup.earlier, { snapshot, manifest }];
    const removed =
      complete && options.keep !== undefined
        ? await removeOld(context, backup, kept, options.keep)
        : [];
    return { snapshot: snapshot.path, complete, manifest, removed };
  }

  private async addResource(resource: ResourceName): Promise<void> {
    const { unfinished } = this.backup;
    const spool = await openSpool(join(unfinished, recordsFile(resource)));
    const documents: ListedDocument[] = [];
    const needsFiles = hasFiles(resource) && this.options.files;
    try {
      const isRead = await this.readList(resource, spool, (record) => {
        if (needsFiles) documents.push(listedDocument(record));
      });
      if (!isRead) return;
      const gone = needsFiles ? await this.addFiles(resource, documents) : new Set<string>();
      this.resources.push({ resource, ...(await spool.finish(gone)) });
    } finally {
      await spool.close();
    }
  }

  /** Reads a list into its spool; returns false if the key may not read it. Throws GuardError if it may be incomplete. */
  private async readList(
    resource: ResourceName,
    spool: RecordSpool,
    see: (record: JsonObject) => void,
  ): Promise<boolean> {
    const { api, progress } = this.context;
    const { plural: many, noun } = resourceWords[resource];
    const list = api.list(resource, undefined, { checksCompleteness: true });
    const line = progress.start(() => `Reading ${many}, ${spool.count} so far`);
    try {
      for await (const batch of list.batches())
        for (const { value } of batch) {
          if (!hasId(value))
            throw new GuardError(`The list of ${many} holds a ${noun} without an id.`, {
              code: 'incomplete',
              hint: `To name the field that holds it: rosterctl config set ids.${resource} FIELD`,
            });
          see(value);
          // oxlint-disable-next-line no-await-in-loop
          await spool.add(value);
        }
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 403) throw error;
      this.refused.push(error);
      const reason = errorMessage(this.context, '', error);
      this.missing.push({ resource, id: null, reason });
      return false;
    } finally {
      line.stop();
    }
    const completeness = list.completeness();
    // An answer without a list is an empty one where there never was a record.
    const isDoubtful =
      completeness.state === 'doubtful' ||
      (completeness.state === 'assumedEmpty' && this.hadRecords(resource));
    if (completeness.state === 'complete' || !isDoubtful) return true;
    const reason = `may be incomplete: ${completeness.reason}`;
    if (!this.options.allowPartial)
      throw new GuardError(`The list of ${many} ${reason}. No backup was kept.`, {
        code: 'incomplete',
        hint: [
          ...('fixes' in completeness ? (completeness.fixes ?? []) : []),
          'To keep what there is, marked as incomplete, add --allow-partial.',
        ].join('\n'),
      });
    this.missing.push({ resource, id: null, reason: `the list ${reason}` });
    return true;
  }

  private hadRecords(resource: ResourceName): boolean {
    const newest = newestWith(this.backup.earlier, resource);
    const before = newest?.manifest.resources.find((each) => each.resource === resource);
    return (before?.records ?? 0) > 0;
  }

  /** Adds the files of documents, and returns the ids of documents that were deleted meanwhile. */
  private async addFiles(
    resource: ResourceName,
    documents: readonly ListedDocument[],
  ): Promise<ReadonlySet<string>> {
    const { context, backup, options } = this;
    const kept = await keepFiles(context, backup, documents, options);
    this.missing.push(...kept.missing);
    const gone = await this.goneOf(resource, kept.vanished);
    const csv = Buffer.from(uploadCsv(documents, kept.stored));
    await writeAtomically(join(backup.unfinished, uploadFile), csv, { singleWriter: true });
    const sha256 = createHash('sha256').update(csv).digest('hex');
    this.files = { bytes: csv.length, sha256, documents: [...kept.stored] };
    return gone;
  }

  /** Of documents without a file, those that are no longer in the list; the others are missing. */
  private async goneOf(
    resource: ResourceName,
    vanished: readonly string[],
  ): Promise<ReadonlySet<string>> {
    if (vanished.length === 0) return new Set();
    const { context } = this;
    const list = context.api.list(resource, undefined, { checksCompleteness: true });
    const present = new Set<string>();
    for await (const { id } of list) present.add(String(id));
    const isWhole = list.completeness().state === 'complete';
    const gone = vanished.filter((id) => isWhole && !present.has(id));
    for (const id of gone)
      context.message(`${id} was deleted during the backup, so it is left out.`);
    for (const id of vanished.filter((each) => !gone.includes(each)))
      this.missing.push({ resource, id, reason: 'the service lists it and has no file for it' });
    return new Set(gone);
  }

  private tellMissing(): void {
    const { context, missing } = this;
    const whole = missing.filter(({ id }) => id === null);
    for (const { resource, reason } of whole)
      context.message(`Missing: ${resourceWords[resource].plural} (${reason})`);
    const files = missing.flatMap(({ id }) => id ?? []);
    if (files.length === 0) return;
    const more = files.length - nameFirstFew;
    const rest = more > 0 ? ` and ${more} more` : '';
    context.message(
      `Missing: ${plural(files.length, 'file')} of documents: ${files.slice(0, nameFirstFew).join(', ')}${rest}`,
    );
  }

  /** Writes the manifest and gives the snapshot its name. Throws OutputError. */
  private async finish(manifest: Manifest): Promise<GoodSnapshot['snapshot']> {
    const { folder, name, unfinished, journal } = this.backup;
    await syncFolder(join(folder, filesFolder));
    await writeAtomically(join(unfinished, manifestFile), sealManifest(manifest), {
      singleWriter: true,
    });
    await journal.close();
    await this.clean();
    const isWhole = manifest.complete;
    const finished = isWhole ? name : `${name}.incomplete`;
    const path = join(folder, finished);
    await attempt(path, rename(unfinished, path));
    await syncFolder(folder);
    return { folder, name: finished, path, isWhole };
  }

  /** Removes what an interrupted backup left, perhaps of another --only, and what only an unfinished one needs. */
  private async clean(): Promise<void> {
    const { unfinished } = this.backup;
    const names = [
      manifestFile,
      ...this.resources.map(({ resource }) => recordsFile(resource)),
      ...(this.files ? [uploadFile] : []),
    ];
    for (const name of await attempt(unfinished, readdir(unfinished)))
      if (!names.includes(name)) await rm(join(unfinished, name), { recursive: true, force: true });
  }
}
