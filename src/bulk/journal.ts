import { hash } from 'node:crypto';
import { fdatasync, writeSync } from 'node:fs';
import { type FileHandle, open, readFile } from 'node:fs/promises';
import { isObject, type JsonObject, parseJson, printJson, printPlain } from '../data/json.js';
import { systemReason } from '../data/system-reason.js';
import { GuardError, OutputError } from '../errors.js';

/** One line of a journal: what happened, in order, with the time it was written. */
export interface JournalRecord {
  readonly seq: number;
  readonly kind: 'job' | 'step' | 'intent' | 'result' | 'end';
  /** Milliseconds since 1970. */
  readonly t: number;
  readonly [key: string]: unknown;
}

/** What a record says besides its number and time. */
export type Entry = { readonly kind: JournalRecord['kind'] } & JsonObject;

/** A journal open for writing. */
export interface Journal {
  readonly records: readonly JournalRecord[];
  /** The number of its last record. */
  readonly last: number;
  /** Resolves when the record is on disk; records that wait together share one sync. Throws OutputError, GuardError. */
  append(entry: Entry): Promise<void>;
  close(): Promise<void>;
}

export interface JournalOptions {
  readonly now: () => Date;
  /** False when another process took the run over while this one slept; asked before each write. */
  readonly isOurs: () => boolean;
}

/**
 * Opens a journal (made when missing, mode 0600): drops a half-written end. Throws GuardError with
 * the line for damage in the middle, OutputError where it cannot be written.
 */
export async function openJournal(path: string, options: JournalOptions): Promise<Journal> {
  const { records, bytes } = await readJournal(path);
  const handle = await attempt(path, () => open(path, 'a', 0o600));
  await attempt(path, () => handle.truncate(bytes));
  return new Writer(path, handle, [...records], options);
}

/** The whole records of a journal and how many bytes they take; none where there is no file. */
export async function readJournal(
  path: string,
): Promise<{ readonly records: readonly JournalRecord[]; readonly bytes: number }> {
  const bytes = await readFile(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return Buffer.alloc(0);
    throw new OutputError(`${path} cannot be read: ${systemReason(error)}.`, {
      cause: error,
    });
  });
  return parseJournal(bytes, path);
}

/** Takes the bytes of a journal apart; only its end may be torn. Throws GuardError with the line. */
export function parseJournal(bytes: Buffer, path: string) {
  const records: JournalRecord[] = [];
  let from = 0;
  while (from < bytes.length) {
    const end = bytes.indexOf(lineFeed, from);
    if (end < 0) break;
    const record = parseRecord(bytes.toString('utf8', from, end), records.length + 1);
    if (!record) {
      if (bytes.indexOf(lineFeed, end + 1) < 0) break;
      throw new GuardError(`The journal ${path} is damaged in line ${records.length + 1}.`, {
        code: 'damaged',
        hint: 'Look at the records by hand.',
      });
    }
    records.push(record);
    from = end + 1;
  }
  return { records, bytes: from };
}

/** One line of the file: the record with a checksum of itself at its end. */
export function recordLine(seq: number, t: number, entry: Entry): string {
  const text = `{"seq":${seq},"t":${t},${(printPlain(entry) ?? printJson(entry)).slice(1)}`;
  return `${text.slice(0, -1)},"sum":"${sumOf(text)}"}\n`;
}

const lineFeed = 0x0a;
const sumLength = 16;

/**
 * What a damaged journal still tells: its first record, undefined where that cannot be read, and
 * whether it holds the record of its end (a report may be told after that).
 */
export async function readDamaged(
  path: string,
): Promise<{ readonly first: JournalRecord | undefined; readonly hasEnded: boolean }> {
  const text = await readFile(path, 'utf8').catch(() => '');
  return {
    first: parseRecord(text.slice(0, Math.max(0, text.indexOf('\n'))), 1),
    hasEnded: text.includes('"kind":"end"'),
  };
}

/** A journal's last record; undefined where the end is torn or there is none. */
export async function lastRecord(path: string): Promise<JournalRecord | undefined> {
  const handle = await open(path, 'r').catch(() => undefined);
  if (!handle) return undefined;
  try {
    const { size } = await handle.stat();
    const bytes = Buffer.alloc(Math.min(size, longestEnd));
    await handle.read(bytes, 0, bytes.length, size - bytes.length);
    const lines = bytes.toString().split('\n');
    return lines.at(-1) === '' ? parseRecord(lines.at(-2) ?? '') : undefined;
  } finally {
    await handle.close();
  }
}

/** The last record of a run that has ended is much shorter. */
const longestEnd = 4096;

function parseRecord(line: string, seq?: number): JournalRecord | undefined {
  const found = /^(.*),"sum":"([0-9a-f]{16})"\}$/s.exec(line);
  const text = `${found?.[1] ?? ''}}`;
  if (!found || sumOf(text) !== found[2]) return undefined;
  const value = parseJson(text);
  const isIt = isObject(value) && (seq === undefined || value['seq'] === seq);
  return isIt ? (value as unknown as JournalRecord) : undefined;
}

function sumOf(text: string): string {
  return hash('sha256', text, 'hex').slice(0, sumLength);
}

/** Turns of the event loop that a batch waits at most while each brings more records. */
const mostTurns = 8;

interface Waiting {
  readonly line: string;
  done(): void;
  fail(error: unknown): void;
}

class Writer implements Journal {
  private waiting: Waiting[] = [];
  private writing: Promise<void> | undefined;
  private broken: Error | undefined;
  private seq: number;

  constructor(
    private readonly path: string,
    private readonly handle: FileHandle,
    readonly records: readonly JournalRecord[],
    private readonly options: JournalOptions,
  ) {
    this.seq = records.length;
  }

  get last(): number {
    return this.seq;
  }

  append(entry: Entry): Promise<void> {
    if (this.broken !== undefined) return Promise.reject(this.broken);
    this.seq += 1;
    const line = recordLine(this.seq, this.options.now().getTime(), entry);
    return new Promise((done, fail) => {
      this.waiting.push({ line, done, fail });
      this.writing ??= this.write();
    });
  }

  async close(): Promise<void> {
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
        await attempt(this.path, () => this.writeDown(batch));
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
        hint: 'See how it goes on: rosterctl runs list',
      });
    const bytes = Buffer.from(batch.map(({ line }) => line).join(''));
    for (let at = 0; at < bytes.length; ) at += writeSync(descriptor, bytes, at);
    return new Promise((done, fail) => {
      fdatasync(descriptor, (error) => (error ? fail(error) : done()));
    });
  }

  /** A sync costs as much for one record as for fifty: those of the next few turns join the batch. */
  private async gather(): Promise<void> {
    for (let turn = 0, had = 0; turn < mostTurns && had < this.waiting.length; turn++) {
      had = this.waiting.length;
      // oxlint-disable-next-line no-await-in-loop
      await new Promise<void>((resolve) => setImmediate(resolve));
    }
  }
}

async function attempt<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof GuardError) throw error;
    throw new OutputError(`The journal ${path} cannot be written: ${systemReason(error)}.`, {
      cause: error,
      hint: 'Nothing is sent without it. Make room, then run the same line again.',
    });
  }
}
