/** An append-only file of JSON lines that several processes write: whole lines, or nothing. */
import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  readSync,
  statSync,
  truncateSync,
  writeSync,
} from 'node:fs';
import { type JsonObject, objectIn } from '../data/json.js';
import { systemCode } from '../data/system-errors.js';
import { GuardError, OutputError } from '../errors.js';

const lineFeed = 0x0a;
const seedStart = Buffer.from('{"seed":');

/** Reading needs no lock; `append` does. */
export interface LogFile {
  /** The complete lines since the last call; only from the newest seed line on, if there is one. */
  readNew(): JsonObject[];
  /** Cuts off a line that a killed process left incomplete, then appends one with a single write. */
  append(line: JsonObject): void;
  /** True when the file was removed, replaced or emptied since it was opened. */
  isGone(): boolean;
  close(): void;
}

/**
 * Opens the log; undefined when there is none and `access` is not `create`. `readNew` throws
 * GuardError for a line that is not a JSON object, which only a reset repairs.
 */
export function openLog(path: string, access: 'read' | 'write' | 'create'): LogFile | undefined {
  const descriptor = openIfThere(path, access);
  if (descriptor === undefined) return undefined;
  let offset = 0;
  const readNew = () => {
    const { size } = fstatSync(descriptor);
    if (size <= offset) return [];
    const bytes = readRange(descriptor, offset, size);
    const end = bytes.lastIndexOf(lineFeed) + 1;
    const start = lastSeedLine(bytes, end);
    const lines = parseLog(bytes.subarray(start, end), path);
    offset += end;
    return lines;
  };
  const append = (line: JsonObject) => {
    const { size } = fstatSync(descriptor);
    const end = endOfLastLine(descriptor, size);
    // By its path: Windows cuts no file through a descriptor that appends.
    if (end < size) truncateSync(path, end);
    const bytes = Buffer.from(printLine(line));
    const written = writeOrUndo(descriptor, bytes, end, path);
    if (end === offset) offset += written;
  };
  return {
    readNew,
    append,
    isGone: () => {
      const { ino, size } = fstatSync(descriptor);
      // By its name: a network file system keeps a removed file that is open under another one.
      return size < offset || statSync(path, { throwIfNoEntry: false })?.ino !== ino;
    },
    close: () => closeSync(descriptor),
  };
}

/** A line as the log holds it. */
export const printLine = (line: JsonObject): string => `${JSON.stringify(line)}\n`;

function openIfThere(path: string, access: 'read' | 'write' | 'create'): number | undefined {
  const flags = {
    read: constants.O_RDONLY,
    write: constants.O_RDWR | constants.O_APPEND,
    create: constants.O_RDWR | constants.O_APPEND | constants.O_CREAT,
  }[access];
  try {
    // A named pipe in its place would block.
    return openSync(path, flags | constants.O_NONBLOCK, 0o600);
  } catch (error) {
    if (systemCode(error) === 'ENOENT' && access !== 'create') return undefined;
    throw error;
  }
}

function writeOrUndo(descriptor: number, bytes: Buffer, end: number, path: string): number {
  let written = 0;
  try {
    written = writeSync(descriptor, bytes);
  } catch (error) {
    throw full(path, error);
  }
  if (written === bytes.length) return written;
  // On a full disk only a part of the line was written: remove it.
  truncateSync(path, end);
  throw full(path, undefined);
}

const full = (path: string, cause: unknown) =>
  new OutputError(`Cannot write the sandbox log ${path}.`, { hint: 'Is the disk full?', cause });

function readRange(descriptor: number, from: number, to: number): Buffer {
  const bytes = Buffer.allocUnsafe(to - from);
  let done = 0;
  while (done < bytes.length) {
    const count = readSync(descriptor, bytes, done, bytes.length - done, from + done);
    // Another process has just cut off an incomplete line.
    if (count === 0) break;
    done += count;
  }
  return bytes.subarray(0, done);
}

/** The length of the file without an incomplete last line; searches backwards in blocks. */
function endOfLastLine(descriptor: number, size: number): number {
  const block = 64 * 1024;
  for (let to = size; to > 0; to -= block) {
    const from = Math.max(0, to - block);
    const found = readRange(descriptor, from, to).lastIndexOf(lineFeed);
    if (found >= 0) return from + found + 1;
  }
  return 0;
}

/** Returns the start of the newest seed line, else 0. JSON escapes line feeds, so a match after one starts a line. */
function lastSeedLine(bytes: Buffer, end: number): number {
  for (let at = end; at > 0; ) {
    at = bytes.lastIndexOf(seedStart, at - 1);
    if (at <= 0 || bytes[at - 1] === lineFeed) return Math.max(0, at);
  }
  return 0;
}

function parseLog(bytes: Buffer, path: string): JsonObject[] {
  const text = bytes.toString('utf8');
  return text === ''
    ? []
    : text
        .slice(0, -1)
        .split('\n')
        .map((line) => parseLine(line, path));
}

function parseLine(line: string, path: string): JsonObject {
  const value = objectIn(line, JSON.parse);
  if (value) return value;
  throw new GuardError(`The sandbox log ${path} is damaged.`, {
    code: 'damaged',
    hint: 'Start over with the demo data: rosterctl sandbox reset',
  });
}
