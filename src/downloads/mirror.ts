/** Mirrors: what `docs download -D DIR --skip-existing` remembers of a folder, in a file within it. */
import { lstat, readFile, unlink } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Context } from '../context.js';
import { digestOf } from '../data/digest.js';
import { nameKey, withSuffix } from '../data/file-names.js';
import { isObject, type JsonObject, parseJson, printJson } from '../data/json.js';
import { systemReason } from '../data/system-errors.js';
import { firstOf, plural } from '../data/text.js';
import { Failure, GuardError } from '../errors.js';
import { removeSingleWriterTemp, writeAtomically } from '../files/atomic-write.js';
import { sha256OfFile } from '../files/file-hash.js';
import { type Place, placeOf } from '../runs/plan.js';
import { nameFor } from './target-file.js';
import type { Target } from './target-names.js';

/** The state of a record when its file was fetched: its time, or without one a hash of the record. */
export interface RecordVersion {
  readonly updatedAt?: string | undefined;
  readonly record?: string | undefined;
}

/** A document's file in the folder. */
interface MirroredFile extends RecordVersion {
  readonly id: string;
  readonly name: string;
  readonly size: number;
  readonly sha256: string;
}

/** A downloaded file. */
interface SavedFile {
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
}

const mirrorFile = '.rosterctl-downloads.json';

/** A larger file is not read; one of 200,000 documents is smaller. */
const maxMirrorBytes = 64 * 1024 * 1024;

/** So often a long download writes what it has so far. */
const writeEveryMs = 2_000;

/**
 * Reads what is known of a folder. The file may come from strangers: it can save a download, and never
 * names a place to write. Throws GuardError for the file of another organization or service.
 */
export async function openMirror(context: Context, folder: string): Promise<Mirror> {
  const path = join(folder, mirrorFile);
  const ignored = (why: string) => {
    context.note(`${path} ${why}; it is ignored, and files are compared by name and size.`);
  };
  const found = await lstat(path).catch(() => undefined);
  if (!found) return new Mirror(context, folder, []);
  if (!found.isFile() || found.size > maxMirrorBytes) {
    ignored(found.isFile() ? 'is too large' : 'is not a regular file');
    return new Mirror(context, folder, [], found.isFile());
  }
  const content = parse(await readFile(path, 'utf8').catch(() => ''));
  if (!content) {
    ignored('is damaged');
    return new Mirror(context, folder, []);
  }
  const { organization, service } = placeOf(context);
  if (content.organization !== organization || content.service !== service)
    throw new GuardError(
      `${folder} holds documents of organization ${content.organization} at ${content.service}.`,
      { code: 'otherOrganization', hint: 'Name another folder with -D.' },
    );
  return new Mirror(context, folder, content.entries);
}

class Mirror {
  private readonly entries: Map<string, MirroredFile>;
  private readonly owners: Map<string, string>;
  private writtenAt: number;
  private isDirty = false;
  private writing: Promise<void> = Promise.resolve();

  constructor(
    private readonly context: Context,
    private readonly folder: string,
    entries: readonly MirroredFile[],
    private readonly isWritable = true,
  ) {
    this.entries = new Map(entries.map((entry) => [entry.id, entry]));
    this.owners = new Map(entries.map(({ id, name }) => [nameKey(name), id]));
    this.writtenAt = context.clock();
  }

  /**
   * Places the documents: one that is unchanged keeps the file that it has, whatever it is called now;
   * a changed one replaces its own file; any other gets its id appended where another document's file
   * or a changed file is in the way.
   */
  async place(targets: readonly Target[]): Promise<readonly Target[]> {
    const placed: Target[] = [];
    const used = new Set(
      targets.flatMap(({ path }) => (path === undefined ? [] : [baseNameKey(path)])),
    );
    for (const target of targets) {
      // oxlint-disable-next-line no-await-in-loop
      const own = await this.placeOne(target, used);
      if (own.path !== undefined) used.add(baseNameKey(own.path));
      placed.push(own);
    }
    return placed;
  }

  private async placeOne(target: Target, used: ReadonlySet<string>): Promise<Target> {
    const { id, record, path } = target;
    const entry = this.entries.get(id);
    if (entry && (await sizeOnDisk(join(this.folder, entry.name))) === entry.size) {
      const own = join(this.folder, entry.name);
      if (isSameVersion(entry, asOf(record))) return { ...target, path: own, isUnchanged: true };
      // The record names the place, and the bytes there are those that came from the service.
      if (isNamedAfter(entry, record) && (await this.hash(own)) === entry.sha256)
        return { ...target, path: own, replaces: true };
    }
    if (path === undefined) return target;
    for (let again = 0; ; again += 1) {
      const name = again === 0 ? basename(path) : suffixed(basename(path), id, again);
      const candidate = join(this.folder, name);
      const isOther = again > 0 && used.has(nameKey(name));
      const isOwned = this.owners.has(nameKey(name));
      // oxlint-disable-next-line no-await-in-loop
      const isTaken = isOwned && (await sizeOnDisk(candidate)) !== undefined;
      if (isOther || isTaken) continue;
      return again === 0 ? target : { ...target, path: candidate, beside: path };
    }
  }

  /**
   * Remembers a downloaded file and returns it. If the folder holds the same bytes as a file of this
   * document already (it was renamed, or downloaded without the mirror), that file stays and the new
   * one is removed.
   */
  async saved(
    { id, record, beside }: Target,
    file: SavedFile,
  ): Promise<{ readonly path: string; readonly bytes: number }> {
    const { bytes, sha256 } = file;
    const before = this.entries.get(id);
    const isOwn = beside !== undefined && this.owners.get(baseNameKey(beside)) === id;
    const others = [
      ...(before ? [join(this.folder, before.name)] : []),
      ...(isOwn ? [beside] : []),
    ];
    let { path } = file;
    for (const other of others) {
      if (path !== file.path || baseNameKey(other) === baseNameKey(path)) continue;
      // oxlint-disable-next-line no-await-in-loop
      if ((await sizeOnDisk(other)) !== bytes || (await this.hash(other)) !== sha256) continue;
      // oxlint-disable-next-line no-await-in-loop
      await unlink(path);
      path = other;
    }
    if (isOwn && path === file.path)
      this.context.note(`${beside} was changed here and stays; ${id} is in ${path}.`);
    this.entries.set(id, { id, name: basename(path), size: bytes, sha256, ...asOf(record) });
    this.isDirty = true;
    if (this.context.clock() - this.writtenAt > writeEveryMs) await this.write();
    return { path, bytes };
  }

  /** Notes which files are of documents that the service no longer has; they stay. */
  async noteVanished(ids: ReadonlySet<string>): Promise<void> {
    const gone: string[] = [];
    for (const { id, name } of this.entries.values()) {
      if (ids.has(id)) continue;
      // oxlint-disable-next-line no-await-in-loop
      if ((await sizeOnDisk(join(this.folder, name))) !== undefined) gone.push(`${name} (${id})`);
    }
    if (gone.length === 0) return;
    this.context.note(
      `${plural(gone.length, 'document is', 'documents are')} no longer in the list; ${gone.length === 1 ? 'its file stays' : 'their files stay'}: ${firstOf(gone.toSorted())}`,
    );
  }

  /** Writes what is known; a failure is a note, because the files are there. */
  write(): Promise<void> {
    this.writing = this.writing.then(() => this.writeNow());
    return this.writing;
  }

  private async writeNow(): Promise<void> {
    if (!this.isWritable) return;
    const path = join(this.folder, mirrorFile);
    if (!this.isDirty) return removeSingleWriterTemp(path);
    this.isDirty = false;
    this.writtenAt = this.context.clock();
    const { organization, service } = placeOf(this.context);
    const entries = [...this.entries.values()].toSorted((a, b) => (a.id < b.id ? -1 : 1));
    const files = entries.map((entry) => printJson(entry)).join(',\n');
    const head = printJson({ schema: 1, origin: service, organization }).slice(0, -1);
    try {
      await writeAtomically(path, `${head},"files":[\n${files}\n]}\n`, { singleWriter: true });
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      this.context.note(`The next download compares names and sizes only: ${error.message}`);
    }
  }

  private async hash(path: string): Promise<string> {
    try {
      return await sha256OfFile(path, this.context.signal);
    } catch (error) {
      if (error instanceof Failure) throw error;
      // A file that cannot be read is never taken for the same.
      this.context.detail(`${path} cannot be read: ${systemReason(error)}.`);
      return '';
    }
  }
}

export type { Mirror };

/** The size of a regular file, not through a link; undefined if nothing is there, -1 for anything else. */
async function sizeOnDisk(path: string): Promise<number | undefined> {
  const found = await lstat(path).catch(() => undefined);
  return found && (found.isFile() ? found.size : -1);
}

function baseNameKey(path: string): string {
  return nameKey(basename(path));
}

/** The name with the document's id appended; `again`: and a number, from the second time on. */
function suffixed(name: string, id: string, again: number): string {
  return withSuffix(name, again === 1 ? id : `${id}-${again}`);
}

/** True if the file has the name of the record, or that name with the document's id appended. */
function isNamedAfter({ id, name }: MirroredFile, record: JsonObject | undefined): boolean {
  const plain = nameFor(record);
  if (plain === undefined) return false;
  const names = [plain, ...[1, 2, 3, 4].map((again) => suffixed(plain, id, again))];
  return names.some((each) => nameKey(each) === nameKey(name));
}

/** Returns the state of a record; nothing if there is none. */
export function asOf(record: JsonObject | undefined): RecordVersion {
  const updatedAt = record?.['updatedAt'];
  if (typeof updatedAt === 'string') return { updatedAt };
  return record ? { record: digestOf(record) } : {};
}

/** True if both are the same state of a record; false where one is not known. */
export function isSameVersion(entry: RecordVersion, now: RecordVersion): boolean {
  const hasTime = now.updatedAt !== undefined && now.updatedAt === entry.updatedAt;
  return hasTime || (now.record !== undefined && now.record === entry.record);
}

/** The content of the file; undefined if it is damaged. Entries whose name is not a plain one are left out. */
function parse(text: string): (Place & { readonly entries: readonly MirroredFile[] }) | undefined {
  try {
    const value = parseJson(text);
    if (!isObject(value) || value['schema'] !== 1) return undefined;
    const { origin, organization, files } = value;
    if (typeof origin !== 'string' || typeof organization !== 'string' || !Array.isArray(files))
      return undefined;
    return { service: origin, organization, entries: files.filter(isEntry) };
  } catch {
    return undefined;
  }
}

function isEntry(value: unknown): value is MirroredFile {
  if (!isObject(value)) return false;
  const { id, name, size, sha256 } = value;
  const areTexts = [id, name, sha256].every((text) => typeof text === 'string');
  return areTexts && Number.isSafeInteger(size) && isPlainName(String(name));
}

/** True for a name that stays in its folder on every system. */
function isPlainName(name: string): boolean {
  return /^[^./\\][^/\\\0]*$/.test(name) && name.length <= 255;
}
