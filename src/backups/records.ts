/** The records of a snapshot: written in order of their ids without holding them, read line by line, and found by reference. */
import { createHash } from 'node:crypto';
import { createReadStream, readSync } from 'node:fs';
import { type FileHandle, open, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { type JsonObject, objectIn, printJson } from '../data/json.js';
import { answersTo, type Reference, referenceProblem } from '../data/references.js';
import type { Overrides, ResourceName } from '../data/resources.js';
import { InputError, stoppedReading } from '../errors.js';
import { openAtomic } from '../files/atomic-write.js';
import { unreadable } from '../files/input-file.js';
import { attemptWrite } from '../files/writing.js';
import {
  DamagedFileError,
  hasFiles,
  recordsFile,
  requireFile,
  type Snapshot,
  sharedFile,
} from './layout.js';
import { type Manifest, readSnapshotManifest } from './manifest.js';

const pieceBytes = 256 * 1024;

/** The place of a record in the order in which they arrived. */
interface SpooledLine {
  readonly id: string;
  readonly offset: number;
  readonly length: number;
}

/** Opens a spool beside the file that its records will go to. Throws OutputError. */
export async function openSpool(file: string): Promise<RecordSpool> {
  const path = `${file}.unsorted`;
  return new RecordSpool(file, path, await attemptWrite(path, open(path, 'w+', 0o600)));
}

/** Records as they arrive, kept on disk; only their ids and places are in memory. */
export class RecordSpool {
  private readonly lines: SpooledLine[] = [];
  private waiting: string[] = [];
  private waitingBytes = 0;
  private size = 0;

  constructor(
    private readonly file: string,
    private readonly path: string,
    private readonly handle: FileHandle,
  ) {}

  get count(): number {
    return this.lines.length;
  }

  /** Throws OutputError. */
  async add(record: JsonObject): Promise<void> {
    const line = `${printJson(record)}\n`;
    const length = Buffer.byteLength(line);
    this.lines.push({ id: String(record['id']), offset: this.size, length });
    this.size += length;
    this.waiting.push(line);
    this.waitingBytes += length;
    if (this.waitingBytes >= pieceBytes) await this.flush();
  }

  /** Writes the file: one record per line, in order of the ids, without those in `leftOut`. Throws OutputError. */
  async finish(leftOut: ReadonlySet<string> = new Set()) {
    await this.flush();
    const kept = this.lines.filter(({ id }) => !leftOut.has(id));
    kept.sort((a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0));
    const hash = createHash('sha256');
    const output = await openAtomic(this.file, { mode: 0o600, singleWriter: true });
    let bytes = 0;
    try {
      for (const piece of this.pieces(kept)) {
        hash.update(piece);
        bytes += piece.length;
        await output.write(piece);
      }
      await output.commit();
    } finally {
      await output.discard();
    }
    return { records: kept.length, bytes, sha256: hash.digest('hex') };
  }

  async close(): Promise<void> {
    await this.handle.close();
    await unlink(this.path).catch(() => {});
  }

  /** Reads the lines at these places, some at a time: the page cache holds them, and a thread for each would take longer. */
  private *pieces(places: readonly SpooledLine[]): Generator<Buffer> {
    for (let next = 0; next < places.length; ) {
      const parts: Buffer[] = [];
      for (let bytes = 0; bytes < pieceBytes && next < places.length; next++) {
        const { offset, length } = places[next]!;
        const part = Buffer.allocUnsafe(length);
        readSync(this.handle.fd, part, 0, length, offset);
        parts.push(part);
        bytes += length;
      }
      yield Buffer.concat(parts);
    }
  }

  private async flush(): Promise<void> {
    const text = this.waiting.join('');
    this.waiting = [];
    this.waitingBytes = 0;
    await attemptWrite(this.path, this.handle.writeFile(text));
  }
}

/** Yields the records of a resource in a snapshot. Throws InputError as `readRecords` does, and in the end if they are not as they were written. */
export async function* snapshotRecords(
  { path }: Snapshot,
  resource: ResourceName,
  { resources }: Manifest,
  signal: AbortSignal,
): AsyncGenerator<JsonObject> {
  const file = join(path, recordsFile(resource));
  const hash = createHash('sha256');
  yield* readRecords(file, signal, (chunk) => hash.update(chunk));
  const written = resources.find((each) => each.resource === resource);
  if (hash.digest('hex') !== written?.sha256) throw new DamagedFileError(file);
}

/** Yields the records of a file. Throws InputError if it cannot be read or a line is no record. */
export async function* readRecords(
  path: string,
  signal: AbortSignal,
  onChunk: (chunk: Buffer) => void = () => {},
): AsyncGenerator<JsonObject> {
  let number = 0;
  let rest = Buffer.alloc(0);
  await requireFile(path);
  const stream = createReadStream(path, { highWaterMark: pieceBytes, signal });
  try {
    for await (const chunk of stream) {
      onChunk(chunk as Buffer);
      rest = Buffer.concat([rest, chunk as Buffer]);
      for (let end = rest.indexOf(0x0a); end >= 0; end = rest.indexOf(0x0a)) {
        yield recordIn(rest.toString('utf8', 0, end), path, (number += 1));
        rest = rest.subarray(end + 1);
      }
    }
  } catch (error) {
    if (error instanceof InputError) throw error;
    throw signal.aborted ? stoppedReading(path) : unreadable(path, error);
  } finally {
    stream.destroy();
  }
  if (rest.length > 0) throw new DamagedFileError(path, 'ends in the middle of a line');
}

function recordIn(line: string, path: string, number: number): JsonObject {
  const record = objectIn(line);
  if (typeof record?.['id'] === 'string') return record;
  throw new DamagedFileError(path, `is damaged in line ${number}`);
}

/** A record of a snapshot. */
export interface FoundRecord {
  readonly resource: ResourceName;
  readonly record: JsonObject;
  /** The path of its file, if it is a document. */
  readonly file: string | undefined;
}

/**
 * Returns all records of a snapshot that answer to a reference; `onOther` receives the others until one
 * is found. Throws InputError for a damaged snapshot.
 */
export async function findRecords(
  snapshot: Snapshot,
  reference: Reference,
  { overrides, signal }: { readonly overrides: Overrides; readonly signal: AbortSignal },
  onOther: (resource: ResourceName, record: JsonObject) => void,
): Promise<readonly FoundRecord[]> {
  const manifest: Manifest = await readSnapshotManifest(snapshot);
  const files = new Map(manifest.files?.documents.map(({ id, sha256 }) => [id, sha256]));
  const found: FoundRecord[] = [];
  for (const { resource } of manifest.resources) {
    if (referenceProblem(reference, resource) !== undefined) continue;
    for await (const record of snapshotRecords(snapshot, resource, manifest, signal)) {
      if (!answersTo(record, reference, resource, overrides)) {
        if (found.length === 0) onOther(resource, record);
        continue;
      }
      const sha256 = hasFiles(resource) ? files.get(String(record['id'])) : undefined;
      const file = sha256 === undefined ? undefined : join(snapshot.folder, sharedFile(sha256));
      found.push({ resource, record, file });
    }
  }
  return found;
}
