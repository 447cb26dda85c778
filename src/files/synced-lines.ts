/** Append-only files of checksummed lines (journal, before-images), synced in batches. */
import {
  closeSync,
  existsSync,
  fdatasync,
  fstatSync,
  openSync,
  truncateSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { textDigest } from '../data/digest.js';
import { type JsonObject, objectIn, printJson } from '../data/json.js';
import { systemCode, systemReason } from '../data/system-errors.js';
import { Failure, GuardError, OutputError } from '../errors.js';
import { syncFolder } from './atomic-write.js';
import { readOwnFile } from './private.js';

interface SyncedLinesOptions {
  /** The start of a sentence: `The journal`. */
  readonly what: string;
  /** The number of bytes of complete lines in the file; a torn end after them is dropped. */
  readonly bytes: number;
  /** Returns false if another process took the file over while this one slept; called before each write. */
  readonly isOurs: () => boolean;
  /** Adds to a value what depends on the order of the lines. */
  readonly stamp?: (value: object) => object;
}

/** Opens such a file; creates it with mode 0600 if missing. Throws OutputError. */
export async function openSyncedLines(
  path: string,
  options: SyncedLinesOptions,
): Promise<SyncedLines> {
  const name = `${options.what} ${path}`;
  const descriptor = await orOutputError(name, () => openSync(path, 'a', 0o600));
  try {
    // By its path: Windows cuts no file through a descriptor that appends.
    await orOutputError(name, () => truncateSync(path, options.bytes));
    // A sync of the file does not cover its name in the folder.
    if (options.bytes === 0) await syncFolder(dirname(path));
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
  return new SyncedLines(path, name, descriptor, options);
}

const checksumLength = 16;
const sealedLine = /^(.*),"sum":"([0-9a-f]{16})"\}$/s;

/** Returns a line with an object, which must not be empty, and its checksum as the last field. */
export function sealLine(value: object): string {
  const object = printJson(value);
  return `${object.slice(0, -1)},"sum":"${checksumOf(object)}"}\n`;
}

/** Returns the object in a line (without line feed); undefined if its checksum does not match. */
export function unsealLine(line: string): JsonObject | undefined {
  const found = sealedLine.exec(line);
  const object = `${found?.[1] ?? ''}}`;
  if (!found || checksumOf(object) !== found[2]) return undefined;
  return objectIn(object);
}

/** Returns all bytes of a file; none if it does not exist. Throws OutputError. */
export async function readBytes(path: string): Promise<Buffer> {
  try {
    return readOwnFile(path);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return Buffer.alloc(0);
    throw new OutputError(`${path} cannot be read: ${systemReason(error)}.`, { cause: error });
  }
}

/**
 * Returns the parsed lines of such a file and their size in bytes. Only the last line may be torn.
 * Throws GuardError with the number of a line that `parse` rejects.
 */
export function parseLines<T>(
  bytes: Buffer,
  name: string,
  parse: (value: JsonObject, number: number) => T | undefined,
  hint = 'Check the records yourself.',
): { readonly lines: T[]; readonly bytes: number } {
  const lines: T[] = [];
  let from = 0;
  while (from < bytes.length) {
    const end = bytes.indexOf(lineFeed, from);
    if (end < 0) break;
    const value = unsealLine(bytes.toString('utf8', from, end));
    const line = value && parse(value, lines.length + 1);
    if (line === undefined) {
      if (bytes.indexOf(lineFeed, end + 1) < 0) break;
      throw new GuardError(`${name} is damaged in line ${lines.length + 1}.`, {
        code: 'damaged',
        hint,
      });
    }
    lines.push(line);
    from = end + 1;
  }
  return { lines, bytes: from };
}

const lineFeed = 0x0a;

function checksumOf(text: string): string {
  return textDigest(text).slice(0, checksumLength);
}

/** The most event-loop turns that a batch waits while each turn adds lines. */
const maxTurns = 8;

interface Waiting {
  readonly value: object;
  readonly isRetractable: boolean;
  done(): void;
  fail(error: unknown): void;
}

/** A file open for appending. */
export class SyncedLines {
  /** How many of the lines appended here are certainly on disk. */
  synced = 0;
  private waiting: Waiting[] = [];
  private writing: Promise<void> | undefined;
  private broken: Error | undefined;
  private closed: Promise<void> | undefined;

  constructor(
    private readonly path: string,
    private readonly name: string,
    private descriptor: number,
    private readonly options: Pick<SyncedLinesOptions, 'isOurs' | 'stamp'>,
  ) {}

  /**
   * Resolves when the value, which must not be empty, is on disk as a line. Lines of a batch share one
   * sync. Retractable ones come last in it and are cut off if it fails; the others stay, because they may
   * be on disk. Throws OutputError, GuardError.
   */
  append(value: object, { isRetractable = false } = {}): Promise<void> {
    if (this.broken !== undefined) return Promise.reject(this.broken);
    return new Promise((done, fail) => {
      this.waiting.push({ value, isRetractable, done, fail });
      this.writing ??= this.write();
    });
  }

  /** May be called twice. */
  close(): Promise<void> {
    this.closed ??= this.closeOnce();
    return this.closed;
  }

  private async closeOnce(): Promise<void> {
    while (this.writing) await this.writing;
    const { descriptor } = this;
    // A later append must fail, instead of reaching another file that gets the number.
    this.descriptor = -1;
    closeSync(descriptor);
  }

  /** Writes everything that queued up during the last sync with one write and one sync. */
  private async write(): Promise<void> {
    while (this.waiting.length > 0) {
      await this.gather();
      const batch = this.waiting.toSorted(
        (a, b) => Number(a.isRetractable) - Number(b.isRetractable),
      );
      this.waiting = [];
      try {
        if (this.broken !== undefined) throw this.broken;
        await orOutputError(this.name, () => this.writeBatch(batch));
        this.synced += batch.length;
        for (const each of batch) each.done();
      } catch (error) {
        // The next reader drops a torn end of the file; nothing may be written after it.
        this.broken ??= error as Error;
        for (const each of batch) each.fail(error);
      }
    }
    this.writing = undefined;
  }

  /**
   * Writes synchronously: it only fills the page cache, and starting a thread would take longer.
   */
  private async writeBatch(batch: readonly Waiting[]): Promise<void> {
    const { descriptor } = this;
    const { nlink, size } = fstatSync(descriptor);
    const isGone = () => !existsSync(this.path);
    // Not every file system counts links.
    if (nlink === 0 && isGone()) throw this.removed();
    // This needs a descriptor, and there may be none left.
    if (!this.options.isOurs())
      // Moved, or its file system was unmounted.
      throw isGone()
        ? this.removed()
        : new GuardError(
            `${this.name} was taken over by another process while this one was stopped.`,
            { code: 'locked', hint: 'Wait for the other to end, then run the same command again.' },
          );
    const { stamp = (value: object) => value } = this.options;
    const lines = batch.map(({ value }) => sealLine(stamp(value)));
    const bytes = Buffer.from(lines.join(''));
    try {
      for (let at = 0; at < bytes.length; ) at += writeSync(descriptor, bytes, at);
      await new Promise<void>((done, fail) => {
        fdatasync(descriptor, (error) => (error ? fail(error) : done()));
      });
    } catch (error) {
      const kept = lines.filter((_, index) => batch[index]?.isRetractable === false).join('');
      this.cutTo(size + Buffer.byteLength(kept));
      throw error;
    }
  }

  private removed(): OutputError {
    return new OutputError(`${this.name} was removed while this command was running.`, {
      hint: 'Run the same command again.',
    });
  }

  /** Cuts the file if it is longer; where not even that is possible, it stays as it is. */
  private cutTo(bytes: number): void {
    try {
      if (fstatSync(this.descriptor).size > bytes) truncateSync(this.path, bytes);
    } catch {}
  }

  /** Waits for lines of the next few turns: a sync costs as much for one line as for fifty. */
  private async gather(): Promise<void> {
    for (let turn = 0, previous = 0; turn < maxTurns && previous < this.waiting.length; turn++) {
      previous = this.waiting.length;
      await new Promise<void>((resolve) => setImmediate(resolve));
    }
  }
}

async function orOutputError<T>(name: string, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Failure) throw error;
    throw new OutputError(`${name} cannot be written: ${systemReason(error)}.`, {
      cause: error,
      hint: 'Make room, then run the same command again.',
    });
  }
}
