/** Finds records in a snapshot, by id or reference. */
import { join } from 'node:path';
import type { JsonObject } from '../data/json.js';
import { answersTo, type Reference, referenceProblem } from '../data/references.js';
import type { Overrides, ResourceName } from '../data/resources.js';
import { recordsFile, type Snapshot, sharedFile } from './layout.js';
import { type Manifest, readSnapshotManifest } from './manifest.js';
import { readRecords } from './records.js';

/** A record of a snapshot. */
export interface FoundRecord {
  readonly resource: ResourceName;
  readonly record: JsonObject;
  /** The path of its file, if it is a document. */
  readonly file: string | undefined;
}

/** Returns all records of a snapshot that answer to a reference. Throws InputError for a damaged snapshot. */
export async function findRecords(
  snapshot: Snapshot,
  reference: Reference,
  overrides: Overrides,
  signal: AbortSignal,
): Promise<readonly FoundRecord[]> {
  const manifest: Manifest = await readSnapshotManifest(snapshot);
  const files = new Map(manifest.files?.documents.map(({ id, sha256 }) => [id, sha256]));
  const found: FoundRecord[] = [];
  for (const { resource } of manifest.resources) {
    if (referenceProblem(reference, resource) !== undefined) continue;
    const path = join(snapshot.path, recordsFile(resource));
    for await (const record of readRecords(path, signal)) {
      if (!answersTo(record, reference, resource, overrides)) continue;
      const sha256 = files.get(String(record['id']));
      const file = sha256 === undefined ? undefined : join(snapshot.folder, sharedFile(sha256));
      found.push({ resource, record, file });
    }
  }
  return found;
}
