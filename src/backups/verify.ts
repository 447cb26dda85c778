/** Proves snapshots: recomputes every hash and count, without the service. */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { systemCode, systemReason } from '../data/system-errors.js';
import { groupedNumber, plural } from '../data/text.js';
import { CancelledError, Failure, InputError } from '../errors.js';
import { sha256OfFile } from '../files/input-file.js';
import {
  DamagedFileError,
  manifestFile,
  recordsFile,
  type Snapshot,
  sharedFile,
  uploadFile,
} from './layout.js';
import { type Manifest, readSnapshotManifest } from './manifest.js';
import { readRecords } from './records.js';

interface Problem {
  readonly snapshot: string;
  /** The file, relative to the folder of the backup. */
  readonly path: string;
  readonly problem: string;
}

/** The result of a verification. */
export interface VerifiedBackup {
  readonly snapshots: readonly VerifiedSnapshot[];
  /** Distinct files of documents that were read, and their bytes. */
  readonly files: number;
  readonly bytes: number;
  readonly problems: readonly Problem[];
}

interface VerifiedSnapshot {
  readonly name: string;
  readonly ok: boolean;
  readonly complete: boolean;
  readonly records: number;
  readonly documents: number;
  /** Files kept because a record without a time was the same; they were not compared with the service. */
  readonly assumed: number;
}

/**
 * Verifies snapshots of one folder; `onFile`: called with how many files were read. Leaves out those that
 * `backup create --keep` removes meanwhile. Throws CancelledError, InputError if none is left.
 */
export async function verifySnapshots(
  snapshots: readonly Snapshot[],
  signal: AbortSignal,
  onFile: (files: number) => void,
): Promise<VerifiedBackup> {
  const verifier = new Verifier(signal, onFile);
  const verified: VerifiedSnapshot[] = [];
  for (const snapshot of snapshots) {
    const found = await verifier.verify(snapshot);
    if (found.ok || existsSync(snapshot.path)) verified.push(found);
    else verifier.forget(snapshot);
  }
  if (verified.length === 0 && snapshots.length > 0)
    throw new InputError('The backup was removed while it was verified.', {
      hint: 'Run the same command again.',
    });
  const { files, bytes, problems } = verifier;
  return { snapshots: verified, files, bytes, problems };
}

class Verifier {
  problems: Problem[] = [];
  files = 0;
  bytes = 0;
  /** The problem of each shared file that was read; undefined if it is as it was. */
  private readonly known = new Map<string, string | undefined>();

  constructor(
    private readonly signal: AbortSignal,
    private readonly onFile: (files: number) => void,
  ) {}

  async verify(snapshot: Snapshot): Promise<VerifiedSnapshot> {
    const before = this.problems.length;
    const { name } = snapshot;
    const manifest = await readSnapshotManifest(snapshot).catch((error: unknown) => {
      if (!(error instanceof Failure)) throw error;
      this.add(snapshot, join(name, manifestFile), problemIn(error));
      return undefined;
    });
    if (manifest) await this.verifyFiles(snapshot, manifest);
    const documents = manifest?.files?.documents ?? [];
    return {
      name,
      ok: this.problems.length === before,
      complete: manifest?.complete ?? false,
      records: manifest?.resources.reduce((sum, { records }) => sum + records, 0) ?? 0,
      documents: documents.length,
      assumed: documents.filter(({ how }) => how === 'assumed').length,
    };
  }

  private async verifyFiles(snapshot: Snapshot, { resources, files }: Manifest): Promise<void> {
    const { folder, name, path } = snapshot;
    for (const expected of resources) {
      const file = recordsFile(expected.resource);
      const problem = await this.recordsProblem(join(path, file), expected);
      if (problem !== undefined) this.add(snapshot, join(name, file), problem);
    }
    if (!files) return;
    const csv = await this.problemOf(join(path, uploadFile), files);
    if (csv !== undefined) this.add(snapshot, join(name, uploadFile), csv);
    for (const { id, ...expected } of files.documents) {
      const shared = sharedFile(expected.sha256);
      if (!this.known.has(shared)) {
        this.known.set(shared, await this.problemOf(join(folder, shared), expected));
        this.files += 1;
        this.bytes += expected.bytes;
        this.onFile(this.files);
      }
      const problem = this.known.get(shared);
      if (problem !== undefined) this.add(snapshot, shared, `${problem} (${id})`);
    }
  }

  /** Returns what is wrong with a file; undefined if nothing is. */
  private async problemOf(
    path: string,
    expected: { readonly bytes: number; readonly sha256: string },
  ): Promise<string | undefined> {
    try {
      const found = await stat(path);
      if (!found.isFile()) return 'is not a regular file';
      const { size } = found;
      if (size !== expected.bytes)
        return `has ${plural(size, 'byte')} instead of ${groupedNumber(expected.bytes)}`;
      if ((await sha256OfFile(path, this.signal)) === expected.sha256) return undefined;
      return 'does not match its hash';
    } catch (error) {
      if (error instanceof CancelledError) throw error;
      return unreadableProblem(error);
    }
  }

  /** Reads the records, too: how many they are, and that each is one, in order of the ids. */
  private async recordsProblem(path: string, expected: Manifest['resources'][number]) {
    const hash = createHash('sha256');
    let count = 0;
    let last: string | undefined;
    let isInOrder = true;
    try {
      for await (const record of readRecords(path, this.signal, (chunk) => hash.update(chunk))) {
        const id = String(record['id']);
        isInOrder &&= last === undefined || last < id;
        last = id;
        count += 1;
      }
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      return (await this.problemOf(path, expected)) ?? problemIn(error);
    }
    if (count !== expected.records)
      return `has ${plural(count, 'record')} instead of ${groupedNumber(expected.records)}`;
    if (hash.digest('hex') !== expected.sha256) return 'does not match its hash';
    return isInOrder ? undefined : 'is not ordered by id';
  }

  private add({ name }: Snapshot, path: string, problem: string): void {
    this.problems.push({ snapshot: name, path, problem });
  }

  /** Takes back what was found in a snapshot. */
  forget({ name }: Snapshot): void {
    this.problems = this.problems.filter(({ snapshot }) => snapshot !== name);
  }
}

/** What is wrong with a file that could not be read, as it follows its path. */
function problemIn(error: Failure): string {
  return error instanceof DamagedFileError ? error.problem : unreadableProblem(error.cause);
}

function unreadableProblem(error: unknown): string {
  return systemCode(error) === 'ENOENT' ? 'is missing' : `cannot be read: ${systemReason(error)}`;
}
