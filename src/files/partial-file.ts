import { constants, createReadStream } from 'node:fs';
import { type FileHandle, open, rename, unlink, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type FileVersion, rangeValidator } from '../data/file-version.js';
import { GuardError } from '../errors.js';
import { removeSingleWriterTemp, placeNew, syncFolder, writeAtomically } from './atomic-write.js';
import { describeSelf, type ThisProcess } from './holder.js';
import { withLock } from './lock.js';
import {
  inTheWay,
  isHeld,
  isOfEarlierBoot,
  inspect,
  type Marker,
  markerText,
  readMarker,
} from './partial-marker.js';
import { attempt, writeAll } from './writing.js';

interface PartialOptions {
  readonly self: ThisProcess;
  /** A folder for the lock that decides who goes on with what a dead process left; none without. */
  readonly lockDir: string | undefined;
  /** Replace what stands at the target; beside it nothing is replaced that no download made. */
  readonly overwrite: boolean;
  /** What the file is, as plain JSON: only what was left of the very same thing is gone on with. */
  readonly belongsTo: string;
  /** Since when: where the store tells no version, only what was left of the same time is gone on with. */
  readonly asOf?: string | undefined;
}

/**
 * A file that comes in pieces and maybe over several runs: the bytes are in `NAME.partial`, what
 * they belong to in `NAME.partial.json`, both beside the target and readable by the owner only.
 */
export interface PartialFile {
  /** Bytes that are there from an earlier run, and of which version of the file. */
  readonly at: number;
  readonly version: FileVersion;
  /** The next bytes belong at `at`; what is there beyond is dropped. Throws GuardError, OutputError. */
  begin(version: FileVersion, at: number): Promise<void>;
  write(chunk: Uint8Array): Promise<void>;
  /** The first `end` bytes as they are on disk. */
  readExisting(end: number): AsyncIterable<Uint8Array>;
  /** Brings it to disk and under its name. Throws GuardError when that was taken meanwhile, OutputError. */
  commit(): Promise<void>;
  /**
   * Lets go of it for a later run; how many bytes stay: none where nothing could tell that run whether
   * the file is still the same. Harmless after `commit`.
   */
  release(): Promise<number>;
  /** Removes it. Harmless after `commit`. */
  discard(): Promise<void>;
}

/** The names beside a target that a download uses. */
export function partialNames(target: string): { readonly bytes: string; readonly marker: string } {
  return { bytes: `${target}.partial`, marker: `${target}.partial.json` };
}

/**
 * Looks at what an earlier run left beside the target and claims it; writes nothing else yet. Throws
 * GuardError for a link or a file that is none of ours in its place, or when another process is at it,
 * OutputError.
 */
export async function openPartial(target: string, options: PartialOptions): Promise<PartialFile> {
  const file = new Partial(target, options);
  await file.claimLeft();
  return file;
}

/** Removes what a process left beside a target that is whole; never throws. */
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
  private owner: number | undefined;
  private readonly names;

  constructor(
    private readonly target: string,
    private readonly options: PartialOptions,
  ) {
    this.names = partialNames(target);
  }

  async claimLeft(): Promise<void> {
    const marker = await readMarker(this.names.marker);
    const found = await inspect(this.names.bytes);
    if (!marker) {
      if (found) throw inTheWay(this.names.bytes);
      return;
    }
    const { lockDir, self } = this.options;
    const claim = () => this.takeOver();
    if (lockDir === undefined) await claim();
    else
      await withLock(lockDir, 'downloads', { self, waitMs: 10_000 }, claim).catch(
        async (error: unknown) => {
          if (error instanceof GuardError) throw error;
          // A state folder that cannot be written stops no reading.
          await claim();
        },
      );
  }

  async begin(version: FileVersion, at: number): Promise<void> {
    if (at === 0) await this.beginAnew(version);
    else await this.goOn(version, at);
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
    const there = await inspect(this.target);
    await attempt(this.target, this.handle.chmod(there ? there.mode & 0o777 : 0o600));
    await attempt(this.target, this.handle.sync());
    await this.close();
    if (this.options.overwrite) await attempt(this.target, rename(bytes, this.target));
    else await placeNew(this.target, bytes, this.target);
    await unlink(marker).catch(() => {});
    this.claimed = false;
    await syncFolder(dirname(this.target));
  }

  async release(): Promise<number> {
    if (!this.claimed) return 0;
    const { handle, version } = this;
    const size = handle ? (await handle.stat()).size : this.at;
    const isKnownAgain = rangeValidator(version) !== undefined || this.options.asOf !== undefined;
    if (size === 0 || !isKnownAgain) {
      await this.discard();
      return 0;
    }
    await handle?.sync().catch(() => {});
    await this.close();
    const { holder: _, ...left } = this.marker(version);
    await this.writeMarker(left).catch(() => {});
    this.claimed = false;
    return size;
  }

  async discard(): Promise<void> {
    if (!this.claimed) return;
    this.claimed = false;
    await this.drop();
    await unlink(this.names.marker).catch(() => {});
  }

  /** What a dead process left becomes ours; its bytes count only if they are of the same file. */
  private async takeOver(): Promise<void> {
    const marker = await readMarker(this.names.marker);
    if (!marker) return;
    const { self, belongsTo, asOf } = this.options;
    if (isHeld(marker, self)) throw busy(this.target, this.names.marker);
    const found = await inspect(this.names.bytes);
    // A second name of the same file is what a kill between the last two steps leaves.
    const isOurs =
      found?.nlink === 1 &&
      marker.belongsTo === belongsTo &&
      (rangeValidator(marker.version) !== undefined || isSince(marker, asOf)) &&
      !isOfEarlierBoot(marker, self);
    this.version = isOurs ? marker.version : {};
    await this.writeMarker(this.marker(this.version));
    this.claimed = true;
    // The marker is of our own making by now; whoever owns the bytes could still write to them.
    this.owner = (await inspect(this.names.marker))?.uid;
    this.at = isOurs && found.uid === this.owner ? found.size : 0;
    if (this.at === 0) this.version = {};
  }

  private async beginAnew(version: FileVersion): Promise<void> {
    if (this.claimed) await this.drop();
    await this.mark(version);
    const { bytes, marker } = this.names;
    try {
      this.handle = await open(bytes, 'wx', 0o600);
      this.owner = (await this.handle.stat()).uid;
    } catch (error) {
      // What stands there now is not ours: only the marker is taken back.
      this.claimed = false;
      await unlink(marker).catch(() => {});
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw inTheWay(bytes);
      await attempt(this.target, Promise.reject(error as Error));
    }
  }

  private async goOn(version: FileVersion, at: number): Promise<void> {
    await this.close();
    await this.mark(version);
    const { bytes } = this.names;
    const handle = await open(bytes, constants.O_RDWR | noFollow).catch((error: Error) =>
      attempt<FileHandle>(bytes, Promise.reject(error)),
    );
    this.handle = handle;
    const found = await handle.stat();
    if (!found.isFile() || found.nlink !== 1 || found.uid !== this.owner) throw inTheWay(bytes);
    await attempt(bytes, handle.truncate(at));
  }

  /** Writes down what the bytes belong to before the first of them is written. */
  private async mark(version: FileVersion): Promise<void> {
    const text = markerText(this.marker(version));
    const isNew = !this.claimed;
    const isKnown = JSON.stringify(this.version) === JSON.stringify(version);
    this.version = version;
    if (!isNew) return isKnown ? undefined : this.writeMarker(this.marker(version));
    const { marker } = this.names;
    try {
      await writeFile(marker, text, { flag: 'wx', mode: 0o600 });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw busy(this.target, marker);
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

  private async drop(): Promise<void> {
    await this.close();
    await unlink(this.names.bytes).catch(() => {});
  }

  private async close(): Promise<void> {
    const { handle } = this;
    this.handle = undefined;
    if (handle) await attempt(this.names.bytes, handle.close());
  }
}

/** Whether the record tells that the file is the one of which a half was left. */
function isSince(marker: Marker, asOf: string | undefined): boolean {
  return asOf !== undefined && marker.asOf === asOf;
}

/** Windows knows no such flag; there a link needs rights that a planted one would not have. */
const noFollow = constants.O_NOFOLLOW ?? 0;

function busy(target: string, marker: string): GuardError {
  return new GuardError(`${target} is being downloaded by another process.`, {
    code: 'locked',
    hint: `Wait for it, or end it. If that machine is gone for good, remove ${marker}`,
  });
}
