/** Resumable downloads: NAME.partial plus NAME.partial.json beside the target. */
import { constants, createReadStream, writeFileSync } from 'node:fs';
import { type FileHandle, open, rename, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import { GuardError } from '../errors.js';
import { placeNew, removeSingleWriterTemp, syncFolder, writeAtomically } from './atomic-write.js';
import { type FileVersion, rangeValidator } from './file-version.js';
import { describeSelf, type ThisProcess } from './holder.js';
import { withLock } from './lock.js';
import {
  inTheWay,
  isHeld,
  isOfEarlierBoot,
  type Marker,
  markerText,
  readMarker,
  statPart,
} from './partial-marker.js';
import { attempt, writeAll } from './writing.js';

interface PartialOptions {
  readonly self: ThisProcess;
  /**
   * The folder for the lock that decides which process resumes a partial file; undefined = no lock.
   */
  readonly lockDir: string | undefined;
  /** Replace an existing target. Files beside it are replaced only if a download made them. */
  readonly overwrite: boolean;
  /** Identifies the file, as plain JSON: only a partial file of the same one is resumed. */
  readonly belongsTo: string;
  /**
   * The record's time: if the store reports no version, only a partial file of the same time is
   * resumed.
   */
  readonly asOf?: string | undefined;
}

/**
 * A download that may take several runs: the bytes are in `NAME.partial`, what they belong to in
 * `NAME.partial.json`, both beside the target and readable only by the owner.
 */
export interface PartialFile {
  /** The number of bytes from an earlier run. */
  readonly at: number;
  /** The version of the file that they belong to. */
  readonly version: FileVersion;
  /** Starts writing at `at` and drops the bytes beyond. Throws GuardError, OutputError. */
  begin(version: FileVersion, at: number): Promise<void>;
  write(chunk: Uint8Array): Promise<void>;
  /** Yields the first `end` bytes on disk. */
  readExisting(end: number): AsyncIterable<Uint8Array>;
  /**
   * Syncs the file and gives it its name. Throws GuardError if that exists meanwhile, OutputError.
   */
  commit(): Promise<void>;
  /**
   * Leaves the file to a later run and returns how many bytes are kept: none if that run could not
   * tell whether the file is still the same. Does nothing after `commit`.
   */
  release(): Promise<number>;
  /** Removes the file. Does nothing after `commit`. */
  discard(): Promise<void>;
}

/** Returns the names beside a target that a download uses. */
export function partialNames(target: string): { readonly bytes: string; readonly marker: string } {
  return { bytes: `${target}.partial`, marker: `${target}.partial.json` };
}

/**
 * Claims what an earlier run left beside the target, and writes nothing else yet. Throws GuardError
 * if a link or a foreign file is in its place or if another process is using it, OutputError.
 */
export async function openPartial(target: string, options: PartialOptions): Promise<PartialFile> {
  const file = new Partial(target, options);
  await file.claimExisting();
  return file;
}

/** Removes what a process left beside a complete target. Never throws. */
export async function sweepPartial(target: string, self: ThisProcess): Promise<void> {
  const names = partialNames(target);
  const marker = await readMarker(names.marker).catch(() => undefined);
  if (!marker || isHeld(marker, self)) return;
  await unlink(names.bytes).catch(() => {});
  await removeSingleWriterTemp(names.marker);
  await unlink(names.marker).catch(() => {});
}

class Partial implements PartialFile {
  at = 0;
  version: FileVersion = {};
  private handle: FileHandle | undefined;
  private position = 0;
  private claimed = false;
  private readonly names;

  constructor(
    private readonly target: string,
    private readonly options: PartialOptions,
  ) {
    this.names = partialNames(target);
  }

  async claimExisting(): Promise<void> {
    const marker = await readMarker(this.names.marker);
    const stats = await statPart(this.names.bytes);
    if (!marker) {
      if (stats) throw inTheWay(this.names.bytes);
      return;
    }
    const { lockDir, self } = this.options;
    const claim = () => this.takeOver();
    if (lockDir === undefined) await claim();
    else
      await withLock(lockDir, 'downloads', { self, waitMs: 10_000 }, claim).catch(
        async (error: unknown) => {
          if (error instanceof GuardError) throw error;
          // A state folder that cannot be written must not prevent a download.
          await claim();
        },
      );
  }

  async begin(version: FileVersion, at: number): Promise<void> {
    if (at === 0) await this.beginNew(version);
    else await this.resume(version, at);
    this.position = at;
  }

  async write(chunk: Uint8Array): Promise<void> {
    if (!this.handle) throw new Error('written before it was begun');
    await attempt(this.names.bytes, writeAll(this.handle, chunk, this.position));
    this.position += chunk.length;
  }

  async *readExisting(end: number): AsyncGenerator<Uint8Array> {
    const { bytes } = this.names;
    try {
      if (end > 0) yield* createReadStream(bytes, { end: end - 1, highWaterMark: 1 << 20 });
    } catch (error) {
      await attempt(bytes, Promise.reject(error as Error));
    }
  }

  async commit(): Promise<void> {
    const { bytes, marker } = this.names;
    if (!this.handle) throw new Error('committed before it was begun');
    const { overwrite } = this.options;
    const existing = overwrite ? await statPart(this.target) : undefined;
    if (existing) await attempt(this.target, this.handle.chmod(existing.mode & 0o777));
    await attempt(this.target, this.handle.sync());
    await this.close();
    if (overwrite) await attempt(this.target, rename(bytes, this.target));
    else await placeNew(this.target, bytes, this.target);
    await unlink(marker).catch(() => {});
    this.claimed = false;
    await syncFolder(dirname(this.target));
  }

  async release(): Promise<number> {
    if (!this.claimed) return 0;
    const { handle, version } = this;
    const size = handle ? (await handle.stat()).size : this.at;
    const isIdentifiable = rangeValidator(version) !== undefined || this.options.asOf !== undefined;
    if (size === 0 || !isIdentifiable) {
      await this.discard();
      return 0;
    }
    await handle?.sync().catch(() => {});
    await this.close();
    const { holder: _, ...marker } = this.marker(version);
    await this.writeMarker(marker).catch(() => {});
    this.claimed = false;
    return size;
  }

  async discard(): Promise<void> {
    if (!this.claimed) return;
    this.claimed = false;
    await this.removeBytes();
    await unlink(this.names.marker).catch(() => {});
  }

  /** Takes over what a dead process left. Its bytes count only if they belong to the same file. */
  private async takeOver(): Promise<void> {
    const marker = await readMarker(this.names.marker);
    if (!marker) return;
    const { self, belongsTo, asOf } = this.options;
    if (isHeld(marker, self)) throw busyError(this.target, this.names.marker);
    const stats = await statPart(this.names.bytes);
    // A file with a second name is left by a kill between the last two steps of `commit`.
    const isOurs =
      stats?.nlink === 1 &&
      marker.belongsTo === belongsTo &&
      (rangeValidator(marker.version) !== undefined || isSameTime(marker, asOf)) &&
      !isOfEarlierBoot(marker, self);
    this.version = isOurs ? marker.version : {};
    await this.writeMarker(this.marker(this.version));
    this.claimed = true;
    this.at = isOurs && stats.uid === (await this.ownUser()) ? stats.size : 0;
    if (this.at === 0) this.version = {};
  }

  private async beginNew(version: FileVersion): Promise<void> {
    if (this.claimed) await this.removeBytes();
    await this.writeMarkerFirst(version);
    const { bytes, marker } = this.names;
    try {
      this.handle = await open(bytes, 'wx', 0o600);
    } catch (error) {
      // The existing file is not ours: remove only the marker.
      this.claimed = false;
      await unlink(marker).catch(() => {});
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw inTheWay(bytes);
      await attempt(this.target, Promise.reject(error as Error));
    }
  }

  private async resume(version: FileVersion, at: number): Promise<void> {
    await this.close();
    await this.writeMarkerFirst(version);
    const { bytes } = this.names;
    const handle = await open(bytes, constants.O_RDWR | noFollow).catch((error: Error) =>
      attempt<FileHandle>(bytes, Promise.reject(error)),
    );
    this.handle = handle;
    const stats = await handle.stat();
    if (!stats.isFile() || stats.nlink !== 1 || stats.uid !== (await this.ownUser()))
      throw inTheWay(bytes);
    await attempt(bytes, handle.truncate(at));
  }

  /**
   * Returns the owner of the marker, which this process wrote. Only bytes of the same owner are resumed:
   * another one could still write to them.
   */
  private async ownUser(): Promise<number | undefined> {
    return (await statPart(this.names.marker))?.uid;
  }

  /** Writes what the bytes belong to before the first of them is written. */
  private async writeMarkerFirst(version: FileVersion): Promise<void> {
    const text = markerText(this.marker(version));
    const isNew = !this.claimed;
    const isKnown = JSON.stringify(this.version) === JSON.stringify(version);
    this.version = version;
    if (!isNew) return isKnown ? undefined : this.writeMarker(this.marker(version));
    const { marker } = this.names;
    try {
      // Three calls of microseconds each, which would take far longer in three trips to a thread.
      writeFileSync(marker, text, { flag: 'wx', mode: 0o600 });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw busyError(this.target, marker);
      await attempt(this.target, Promise.reject(error as Error));
    }
    this.claimed = true;
  }

  private marker(version: FileVersion): Marker {
    const { belongsTo, asOf, self } = this.options;
    return { belongsTo, version, asOf, holder: describeSelf(self, undefined) };
  }

  private async writeMarker(marker: Marker): Promise<void> {
    await writeAtomically(this.names.marker, markerText(marker), {
      mode: 0o600,
      singleWriter: true,
    });
  }

  private async removeBytes(): Promise<void> {
    await this.close();
    await unlink(this.names.bytes).catch(() => {});
  }

  private async close(): Promise<void> {
    const { handle } = this;
    this.handle = undefined;
    if (handle) await attempt(this.names.bytes, handle.close());
  }
}

/** True if the record's time shows that the partial file belongs to the same file. */
function isSameTime(marker: Marker, asOf: string | undefined): boolean {
  return asOf !== undefined && marker.asOf === asOf;
}

/**
 * Windows has no such flag; there, creating a link needs rights that an attacker would not have.
 */
const noFollow = constants.O_NOFOLLOW ?? 0;

function busyError(target: string, marker: string): GuardError {
  return new GuardError(`${target} is being downloaded by another process.`, {
    code: 'locked',
    hint: `Wait for it, or end it. If that machine is gone for good, remove ${marker}`,
  });
}
