/** Mirrors: what `docs download -D DIR --skip-existing` remembers of a folder, in a file within it. */
import { lstat, unlink } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Context } from '../context.js';
import { digestOf } from '../data/digest.js';
import { nameKey, withId } from '../data/file-names.js';
import { printJson } from '../data/json.js';
import { systemReason } from '../data/system-errors.js';
import { firstOf, plural } from '../data/text.js';
import { CancelledError, Failure, GuardError } from '../errors.js';
import { writeAtomically } from '../files/atomic-write.js';
import { sha256OfFile } from '../files/input-file.js';
import { acquireLock, type HeldLock, LockedError } from '../files/lock.js';
import { ensurePrivateFolders } from '../files/private.js';
import { realPathOf } from '../files/same-file.js';
import { removeSingleWriterTemp } from '../files/temporary.js';
import { placeOf } from '../runs/plan.js';
import {
  asOf,
  isSameVersion,
  type MirroredFile,
  mirrorFile,
  type Remembered,
  readMirror,
} from './mirror-file.js';
import { nameFor } from './target-file.js';
import type { Target } from './target-names.js';

interface SavedFile {
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
}

/** So often a long download writes what it has so far. */
const writeEveryMs = 2_000;

/**
 * Reads what is known of a folder, and keeps other downloads out of it. Throws GuardError for a folder
 * of another organization or service, or if another process downloads into it.
 */
export async function openMirror(context: Context, folder: string): Promise<Mirror> {
  const lock = context.settings.dryRun ? undefined : await lockMirror(context, folder);
  try {
    return new Mirror(context, folder, await readMirror(context, folder), () => lock?.release());
  } catch (error) {
    lock?.release();
    throw error;
  }
}

/** Two downloads into one folder would lose what the other remembers. */
async function lockMirror(context: Context, folder: string): Promise<HeldLock | undefined> {
  const { paths, self, signal } = context;
  const { owner, state } = paths;
  if (!state) return undefined;
  const locks = join(state.path, 'mirrors');
  const name = digestOf(await realPathOf(folder)).slice(0, 16);
  try {
    ensurePrivateFolders(state, [locks], owner);
    return await acquireLock(locks, name, { self, signal, waitMs: 0 });
  } catch (error) {
    if (error instanceof CancelledError) throw error;
    if (error instanceof LockedError)
      throw error.inWords(`Another download to ${folder} is running.`);
    // A state folder that cannot be written must not prevent a download.
    return undefined;
  }
}

/** The files that a download folder is known to hold: read before a download, updated by it. */
export class Mirror {
  private readonly entries: Map<string, MirroredFile>;
  private readonly isWritable: boolean;
  private readonly owners: Map<string, string>;
  private writtenAt: number;
  private isDirty = false;
  /** The keys of the names that this download uses. */
  private readonly used = new Set<string>();
  private placing: Promise<unknown> = Promise.resolve();
  private writing: Promise<void> = Promise.resolve();

  constructor(
    private readonly context: Context,
    private readonly folder: string,
    { entries, isWritable }: Remembered,
    /** Lets other downloads into the folder. */
    readonly release: () => void,
  ) {
    this.isWritable = isWritable;
    this.entries = new Map(entries.map((entry) => [entry.id, entry]));
    this.owners = new Map(entries.map(({ id, name }) => [nameKey(name), id]));
    this.writtenAt = context.clock();
  }

  /**
   * Places the documents: one that is unchanged keeps the file that it has, whatever it is called now;
   * a changed one replaces its own file; any other gets its id appended where another document's file
   * or a changed file is in the way, or if it was downloaded before, any file.
   */
  async place(targets: readonly Target[]): Promise<readonly Target[]> {
    const placed: Target[] = [];
    for (const { path } of targets) this.use(path);
    for (const target of targets) {
      const own = await this.placeOne(target);
      this.use(own.path);
      placed.push(own);
    }
    return placed;
  }

  /** Places a document that only the answer of the store names, one after another. */
  placeNamed(target: Target, name: string): Promise<Target> {
    const path = join(this.folder, name);
    const placed = this.placing.then(async () => {
      const own = await this.placeOne({ ...target, path }, { isLate: true });
      this.use(own.path);
      return own;
    });
    this.placing = placed.catch(() => {});
    return placed;
  }

  private use(path: string | undefined): void {
    if (path !== undefined) this.used.add(baseNameKey(path));
  }

  /** `isLate`: its name is not among the used ones yet. */
  private async placeOne(target: Target, { isLate = false } = {}): Promise<Target> {
    const { id, record, path } = target;
    const entry = this.entries.get(id);
    if (entry && (await sizeOnDisk(join(this.folder, entry.name))) === entry.size) {
      const own = join(this.folder, entry.name);
      if (isSameVersion(entry, asOf(record))) return { ...target, path: own, isUnchanged: true };
      // Nothing tells whether the document has changed.
      if (isLate && !record) return { ...target, path: own };
      // The service names the place, and the bytes there are those that came from it.
      if (
        isNamedAfter(entry, nameFor(record) ?? (path && basename(path))) &&
        (await this.hash(own)) === entry.sha256
      )
        return { ...target, path: own, replaces: true };
    }
    if (path === undefined) return target;
    for (let again = 0; ; again += 1) {
      const name = again === 0 ? basename(path) : withId(basename(path), id, again);
      const candidate = join(this.folder, name);
      const isOther = (isLate || again > 0) && this.used.has(nameKey(name));
      // The copy of a document that was downloaded before is never a file that the mirror does not know.
      const isKnown = entry !== undefined || this.owners.has(nameKey(name));
      const isTaken = isKnown && (await sizeOnDisk(candidate)) !== undefined;
      if (isOther || isTaken) continue;
      return again === 0 ? target : { ...target, path: candidate, beside: path };
    }
  }

  /** Throws GuardError if the file that a download is about to replace was changed since it was placed. */
  async requireUnchanged({ id }: Target, path: string): Promise<void> {
    if ((await sizeOnDisk(path)) === undefined) return;
    if ((await this.hash(path)) === this.entries.get(id)?.sha256) return;
    throw new GuardError(`${path} was changed here during the download; it was left as it is.`, {
      code: 'exists',
      hint: 'To save the new version next to it, run the same command again.',
    });
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
    const owner = beside && this.owners.get(baseNameKey(beside));
    const others = [
      ...(before ? [join(this.folder, before.name)] : []),
      ...(beside && (owner ?? id) === id ? [beside] : []),
    ];
    let { path } = file;
    for (const other of others) {
      if (path !== file.path || baseNameKey(other) === baseNameKey(path)) continue;
      if ((await sizeOnDisk(other)) !== bytes || (await this.hash(other)) !== sha256) continue;
      await unlink(path);
      path = other;
    }
    if (owner === id && path === file.path)
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

/** The size of a regular file, not through a link; undefined if nothing is there, -1 for anything else. */
async function sizeOnDisk(path: string): Promise<number | undefined> {
  const found = await lstat(path).catch(() => undefined);
  return found && (found.isFile() ? found.size : -1);
}

function baseNameKey(path: string): string {
  return nameKey(basename(path));
}

/** True if the file has the name of its document, or that name with the document's id appended. */
function isNamedAfter({ id, name }: MirroredFile, plain: string | undefined): boolean {
  if (plain === undefined) return false;
  const names = [plain, ...[1, 2, 3, 4].map((again) => withId(plain, id, again))];
  return names.some((each) => nameKey(each) === nameKey(name));
}
