/** Makes a snapshot: all records, all files, and a manifest that proves them; it gets its name when it is whole. */
import { rename } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { contractVersion } from '../api/contract.js';
import type { Context } from '../context.js';
import { type ResourceName, resourceWords } from '../data/resources.js';
import { firstOf, nameFirstFew, plural, upperFirst } from '../data/text.js';
import { type ApiError, OutputError } from '../errors.js';
import { syncFolder, writeAtomically } from '../files/atomic-write.js';
import { attemptWrite } from '../files/writing.js';
import { placeOf } from '../runs/plan.js';
import { checkFolder, type OpenBackup, openBackup, readEarlier, removeAllBut } from './folder.js';
import { oldOf, type Removal, removeOld } from './keep.js';
import { rememberBackup } from './last.js';
import { backedUp, filesFolder, manifestFile, newName, recordsFile, uploadFile } from './layout.js';
import { type Manifest, type MissingPart, sealManifest } from './manifest.js';
import { backUpResource, type ResourceBackup, type ResourceOptions } from './resource-backup.js';

/** The options of a backup. */
export interface BackupOptions extends ResourceOptions {
  readonly only: readonly ResourceName[];
  readonly keep: number | undefined;
}

/** The result of a backup. */
export interface MadeBackup extends Removal {
  /** Null if none was kept, because something is missing. */
  readonly snapshot: string | null;
  readonly complete: boolean;
  readonly manifest: Manifest;
  /** The answers in place of lists: the key may not read them, or the service does not have them. */
  readonly refusals: ReadonlyMap<ResourceName, ApiError>;
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
  const backup = await openBackup(context, folder, options);
  try {
    return await makeSnapshot(context, backup, options);
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

/** Returns the names of the snapshots that a complete backup would remove. Throws UsageError for a folder that is not ours. */
export async function removedAfter(
  context: Context,
  folder: string,
  { only, files, keep }: BackupOptions,
): Promise<readonly string[]> {
  const found = await checkFolder(context, folder);
  if (keep === undefined) return [];
  const { earlier } = await readEarlier(context, folder, found);
  const next = {
    snapshot: { name: newName(context.now(), earlier.at(-1)?.manifest.name), isWhole: true },
    manifest: {
      resources: only.map((resource) => ({ resource })),
      files: files && only.includes('documents') ? true : null,
    },
  };
  return oldOf([...earlier, next], keep).map(({ snapshot }) => snapshot.name);
}

async function makeSnapshot(context: Context, backup: OpenBackup, options: BackupOptions) {
  const startedAt = context.now().toISOString();
  const parts: ResourceBackup[] = [];
  const refusals = new Map<ResourceName, ApiError>();
  for (const resource of options.only) {
    const part = await backUpResource(context, backup, resource, options);
    parts.push(part);
    if (part.refusal) refusals.set(resource, part.refusal);
  }
  const resources = parts.flatMap(({ records }) => records ?? []);
  const [refusal] = refusals.values();
  if (refusal && resources.length === 0) throw refusal;
  const { organization, service: origin } = placeOf(context);
  const missing = parts.flatMap((part) => part.missing);
  const files = parts.find((part) => part.files)?.files ?? null;
  const complete = missing.length === 0;
  const manifest: Manifest = {
    schema: 1,
    name: backup.name,
    version: context.table.version,
    contract: contractVersion,
    origin,
    organization,
    startedAt,
    finishedAt: context.now().toISOString(),
    complete,
    resources,
    files,
    missing,
  };
  noteMissing(context, missing);
  if (!complete && !options.allowPartial)
    return { snapshot: null, complete, manifest, refusals, removed: [] };
  const snapshot = await finish(backup, manifest);
  const { finishedAt } = manifest;
  const made = { snapshot: resolve(snapshot.path), finishedAt, complete };
  await rememberBackup(context, { ...made, leftOut: leftOutBy(options) });
  const kept = [...backup.earlier, { snapshot, manifest }];
  const removal =
    complete && options.keep !== undefined
      ? await removeOld(context, backup, kept, options.keep)
      : { removed: [] };
  return { snapshot: snapshot.path, complete, manifest, refusals, ...removal };
}

function leftOutBy({ only, files }: BackupOptions): readonly string[] {
  return [...backedUp.filter((name) => !only.includes(name)), ...(files ? [] : ['files'])];
}

function noteMissing(context: Context, missing: readonly MissingPart[]): void {
  const whole = missing.filter(({ id }) => id === null);
  for (const { resource, reason } of whole)
    context.message(`Missing: ${resourceWords[resource].plural}. ${upperFirst(reason)}`);
  const files = missing.flatMap(({ id }) => id ?? []);
  if (files.length === 0) return;
  context.message(
    `Missing: ${plural(files.length, 'document file')} (${firstOf(files, nameFirstFew)})`,
  );
}

/** Writes the manifest and gives the snapshot its name. Throws OutputError. */
async function finish({ folder, name, unfinished, journal }: OpenBackup, manifest: Manifest) {
  await syncFolder(join(folder, filesFolder));
  await writeAtomically(join(unfinished, manifestFile), sealManifest(manifest), {
    singleWriter: true,
  });
  await journal.close();
  const kept = [
    manifestFile,
    ...manifest.resources.map(({ resource }) => recordsFile(resource)),
    ...(manifest.files ? [uploadFile] : []),
  ];
  // The rest is what only an unfinished snapshot needs.
  await removeAllBut(kept, unfinished);
  const isWhole = manifest.complete;
  const finished = isWhole ? name : `${name}.incomplete`;
  const path = join(folder, finished);
  await attemptWrite(path, rename(unfinished, path));
  await syncFolder(folder);
  return { folder, name: finished, path, isWhole };
}
