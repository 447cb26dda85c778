/** The zip archive around a workbook: its directory is checked before any part of it is inflated. */

import { crc32, createInflateRaw } from 'node:zlib';
import { groupedNumber } from '../data/text.js';
import { InputError } from '../errors.js';

/** The most bytes that a workbook may take in memory: its file, and all parts that are inflated. */
export const mostBytes = 64 * 1024 * 1024;
const mostEntries = 2_000;

/** A file in the archive, as the directory at its end describes it. */
export interface ArchiveEntry {
  readonly name: string;
  readonly method: number;
  readonly crc: number;
  readonly packedBytes: number;
  readonly bytes: number;
  readonly offset: number;
}

/** The parts of an archive, by path without a leading slash. */
export interface Archive {
  readonly names: readonly string[];
  has(path: string): boolean;
  /**
   * Yields the bytes of a part. Throws InputError if it is damaged, or if the parts read so far
   * take more than 64 MiB together with the file.
   */
  read(path: string): AsyncGenerator<Uint8Array>;
}

/**
 * Reads the directory of an archive. Throws InputError, before anything is inflated, for a file that
 * is cut off, encrypted, in zip64, or that holds a name twice or more than 2,000 entries.
 */
export function openArchive(file: Buffer, name: string): Archive {
  const entries = readDirectory(file, name);
  let held = file.length;
  const part = (path: string) => entries.get(partKey(path));
  return {
    names: [...entries.values()].map((entry) => entry.name),
    has: (path) => part(path) !== undefined,
    async *read(path) {
      const entry = part(path);
      if (!entry) throw damagedArchive(name, `it has no ${path}`);
      if (held + entry.bytes > mostBytes) throw tooLarge(name);
      let bytes = 0;
      let sum = 0;
      for await (const chunk of inflated(packedOf(file, entry, name), entry, name)) {
        bytes += chunk.length;
        // The directory may lie about the size.
        if (bytes > entry.bytes) throw damagedArchive(name, `${path} is longer than it says`);
        sum = crc32(chunk, sum);
        yield chunk;
      }
      held += bytes;
      if (bytes !== entry.bytes || sum !== entry.crc)
        throw damagedArchive(name, `${path} is not what was written`);
    },
  };
}

/** The error for a workbook that would take too much memory. */
export function tooLarge(name: string): InputError {
  return new InputError(
    `${name} takes more than ${mostBytes / 1024 / 1024} MiB when it is unpacked.`,
    { hint: 'Split it into several files, or save it as CSV.' },
  );
}

/** The error for a workbook that is not built as one. */
export function damagedArchive(name: string, what: string): InputError {
  return new InputError(`${name} is cut off or damaged: ${what}.`, {
    hint: 'Open it in your spreadsheet program and save it again.',
  });
}

const endSignature = 0x06054b50;
const entrySignature = 0x02014b50;
const localSignature = 0x04034b50;
const endBytes = 22;
const longestComment = 65_535;

function readDirectory(file: Buffer, name: string): ReadonlyMap<string, ArchiveEntry> {
  const end = endOfArchive(file);
  if (end === undefined) throw damagedArchive(name, 'the end is missing');
  const count = file.readUInt16LE(end + 10);
  const start = file.readUInt32LE(end + 16);
  if (count === 0xffff || start === 0xffffffff || file.readUInt32LE(end + 12) === 0xffffffff)
    throw zip64(name);
  if (file.readUInt16LE(end + 4) !== 0 || file.readUInt16LE(end + 8) !== count)
    throw damagedArchive(name, 'it is one of several parts');
  if (count > mostEntries)
    throw new InputError(
      `${name} holds ${groupedNumber(count)} files; a workbook has at most ${groupedNumber(mostEntries)}.`,
    );
  const entries = new Map<string, ArchiveEntry>();
  let at = start;
  for (let index = 0; index < count; index += 1) {
    if (at + 46 > end || file.readUInt32LE(at) !== entrySignature)
      throw damagedArchive(name, 'its directory is incomplete');
    const nameEnd = at + 46 + file.readUInt16LE(at + 28);
    const next = nameEnd + file.readUInt16LE(at + 30) + file.readUInt16LE(at + 32);
    if (next > end) throw damagedArchive(name, 'its directory is incomplete');
    const entry: ArchiveEntry = {
      name: file.toString('utf8', at + 46, nameEnd),
      method: file.readUInt16LE(at + 10),
      crc: file.readUInt32LE(at + 16),
      packedBytes: file.readUInt32LE(at + 20),
      bytes: file.readUInt32LE(at + 24),
      offset: file.readUInt32LE(at + 42),
    };
    if ([entry.packedBytes, entry.bytes, entry.offset].includes(0xffffffff)) throw zip64(name);
    if ((file.readUInt16LE(at + 8) & 1) === 1)
      throw new InputError(`${name} is protected with a password.`, {
        hint: 'Save it without a password.',
      });
    if (entries.has(partKey(entry.name)))
      throw damagedArchive(name, `it holds ${entry.name} twice`);
    entries.set(partKey(entry.name), entry);
    at = next;
  }
  return entries;
}

/** Names in a workbook differ by more than their case. */
function partKey(path: string): string {
  return path.replaceAll('\\', '/').replace(/^\/+/, '').toLowerCase();
}

/** Finds the record at the end of an archive, which only its comment follows. */
function endOfArchive(file: Buffer): number | undefined {
  const least = Math.max(0, file.length - endBytes - longestComment);
  for (let at = file.length - endBytes; at >= least; at -= 1)
    if (
      file.readUInt32LE(at) === endSignature &&
      file.readUInt16LE(at + 20) === file.length - endBytes - at
    )
      return at;
  return undefined;
}

function zip64(name: string): InputError {
  return new InputError(`${name} is a zip64 archive, which no workbook of this size needs.`, {
    hint: 'Open it in your spreadsheet program and save it again.',
  });
}

function packedOf(file: Buffer, entry: ArchiveEntry, name: string): Buffer {
  const { offset, packedBytes } = entry;
  if (offset + 30 > file.length || file.readUInt32LE(offset) !== localSignature)
    throw damagedArchive(name, `${entry.name} is missing`);
  const nameEnd = offset + 30 + file.readUInt16LE(offset + 26);
  const start = nameEnd + file.readUInt16LE(offset + 28);
  if (file.toString('utf8', offset + 30, nameEnd) !== entry.name)
    throw damagedArchive(name, `${entry.name} is missing`);
  if (start + packedBytes > file.length) throw damagedArchive(name, `${entry.name} is incomplete`);
  return file.subarray(start, start + packedBytes);
}

const pieceBytes = 64 * 1024;

async function* inflated(
  packed: Buffer,
  { method, name: path }: ArchiveEntry,
  name: string,
): AsyncGenerator<Uint8Array> {
  if (method === 0) {
    for (let at = 0; at < packed.length; at += pieceBytes)
      yield packed.subarray(at, at + pieceBytes);
    return;
  }
  if (method !== 8)
    throw damagedArchive(name, `${path} is packed in a way that workbooks do not use`);
  const inflate = createInflateRaw({ chunkSize: 16 * 1024 });
  inflate.end(packed);
  try {
    for await (const chunk of inflate) yield chunk as Buffer;
  } catch (error) {
    if (error instanceof InputError) throw error;
    throw damagedArchive(name, `${path} cannot be unpacked`);
  } finally {
    inflate.destroy();
  }
}
