/** Append-only files of sealed lines, the journal and the before-images: written in groups, each group synced once. */
import { hash } from 'node:crypto';
import { fdatasync, writeSync } from 'node:fs';
import { type FileHandle, open, readFile } from 'node:fs/promises';
import { systemReason } from '../data/system-errors.js';
import { GuardError, OutputError } from '../errors.js';

/** A file open for appending. */
export interface SyncedLines {
  /** Resolves when the line is on disk; lines that wait together share one sync. Throws OutputError, GuardError. */
  append(line: string): Promise<void>;
  /** May be called twice. */
  close(): Promise<void>;
}

interface SyncedLinesOptions {
  /** Begins a sentence: `The journal`. */
  readonly what: string;
  /** How many bytes of whole lines the file holds; a half-written end behind them is dropped. */
  readonly bytes: number;
  /** False when another process took the run over while this one slept; asked before each write. */
  readonly isOurs: () => boolean;
}

/** Opens such a file, made with mode 0600 when missing. Throws OutputError. */
export async function openSyncedLines(
  path: string,
  options: SyncedLinesOptions,
): Promise<SyncedLines> {
  const name = `${options.what} ${path}`;
  const handle = await attempt(name, () => open(path, 'a', 0o600));
  try {
    await attempt(name, () => handle.truncate(options.bytes));
  } catch (error) {
    await handle.close();
    throw error;
  }
  return new Writer(name, handle, options);
}

const sumLength = 16;
const sealed = /^(.*),"sum":"([0-9a-f]{16})"\}$/s;

/** A line of a JSON object (its text from `{` to `}`) with a checksum of itself at its end. */
export function sealLine(object: string): string {
  const text = object.slice(0, -1);
  return `${text},"sum":"${sumOf(object)}"}\n`;
}

/** The text of the object in a line without its line feed; undefined where its checksum is another. */
export function unsealLine(line: string): string | undefined {
  const found = sealed.exec(line);
  const object = `${found?.[1] ?? ''}}`;
  return found && sumOf(object) === found[2] ? object : undefined;
}

/** All bytes of a file; none where there is no file. Throws OutputError. */
export async function readBytes(path: string): Promise<Buffer> {
  return readFile(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return Buffer.alloc(0);
    throw new OutputError(`${path} cannot be read: ${systemReason(error)}.`, { cause: error });
  });
}

/**
 * The parsed lines of such a file and how many bytes they take; only the last line may be torn. Throws
 * GuardError with the number of a line that `parse` does not know.
 */
export function parseLines<T>(
  bytes: Buffer,
  name: string,
  parse: (line: string, number: number) => T | undefined,
): { readonly lines: T[]; readonly bytes: number } {
  const lines: T[] = [];
  let from = 0;
  while (from < bytes.length) {
    const end = bytes.indexOf(lineFeed, from);
    if (end < 0) break;
    const line = parse(bytes.toString('utf8', from, end), lines.length + 1);
    if (line === undefined) {
      if (bytes.indexOf(lineFeed, end + 1) < 0) break;
      throw new GuardError(`${name} is damaged in line ${lines.length + 1}.`, {
        code: 'damaged',
        hint: 'Look at the records by hand.',
      });
    }
    lines.push(line);
    from = end + 1;
  }
  return { lines, bytes: from };
}

const lineFeed = 0x0a;

function sumOf(text: string): string {
  return hash('sha256', text, 'hex').slice(0, sumLength);
}

/** Turns of the event loop that a batch waits at most while each brings more lines. */
const mostTurns = 8;

interface Waiting {
  readonly line: string;
  done(): void;
  fail(error: unknown): void;
}

class Writer implements SyncedLines {
  private waiting: Waiting[] = [];
  private writing: Promise<void> | undefined;
  private broken: Error | undefined;
  private closed: Promise<void> | undefined;

  constructor(
    private readonly name: string,
    private readonly handle: FileHandle,
    private readonly options: Pick<SyncedLinesOptions, 'isOurs'>,
  ) {}

  append(line: string): Promise<void> {
    if (this.broken !== undefined) return Promise.reject(this.broken);
    return new Promise((done, fail) => {
      this.waiting.push({ line, done, fail });
      this.writing ??= this.write();
    });
  }

  close(): Promise<void> {
    this.closed ??= this.closeOnce();
    return this.closed;
  }

  private async closeOnce(): Promise<void> {
    while (this.writing) await this.writing;
    await this.handle.close();
  }

  /** Everything that waited while the last sync ran goes out with one write and one sync. */
  private async write(): Promise<void> {
    while (this.waiting.length > 0) {
      await this.gather();
      const batch = this.waiting;
      this.waiting = [];
      try {
        if (this.broken !== undefined) throw this.broken;
        await attempt(this.name, () => this.writeDown(batch));
        for (const each of batch) each.done();
      } catch (error) {
        // What stands half-written in the file is dropped by the next reader; nothing may follow it.
        this.broken ??= error as Error;
        for (const each of batch) each.fail(error);
      }
    }
    this.writing = undefined;
  }

  /** The write itself only fills the system's memory; another thread would take longer to begin it. */
  private writeDown(batch: readonly Waiting[]): Promise<void> {
    const descriptor = this.handle.fd;
    // This takes a descriptor, and there may be none left.
    if (!this.options.isOurs())
      throw new GuardError('Another process took this run over while this one was stopped.', {
        code: 'locked',
        hint: 'See its state: rosterctl runs list',
      });
    const bytes = Buffer.from(batch.map(({ line }) => line).join(''));
    for (let at = 0; at < bytes.length; ) at += writeSync(descriptor, bytes, at);
    return new Promise((done, fail) => {
      fdatasync(descriptor, (error) => (error ? fail(error) : done()));
    });
  }

  /** A sync costs as much for one line as for fifty: those of the next few turns join the batch. */
  private async gather(): Promise<void> {
    for (let turn = 0, had = 0; turn < mostTurns && had < this.waiting.length; turn++) {
      had = this.waiting.length;
      // oxlint-disable-next-line no-await-in-loop
      await new Promise<void>((resolve) => setImmediate(resolve));
    }
  }
}

async function attempt<T>(name: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof GuardError) throw error;
    throw new OutputError(`${name} cannot be written: ${systemReason(error)}.`, {
      cause: error,
      hint: 'Nothing is sent without it. Make room, then run the same command again.',
    });
  }
}
