/** The bytes and the rows of an input file: a CSV as it arrives, or one sheet of a workbook. */
import { createHash } from 'node:crypto';
import type { Context } from '../context.js';
import { CsvReader, type CsvRow } from '../data/csv-reader.js';
import { keepHeapSmall } from '../data/workload.js';
import { InputError, stoppedReading } from '../errors.js';
import { bytesUpTo, inputBytes, spreadsheetProgram, unreadable } from '../files/input-file.js';
import { type NamedEncoding, textDecoder } from '../files/text-decoder.js';

/** The parts of a context that are needed to read the rows of a file. */
export interface FileRowsOptions {
  /** The file's name, for messages. */
  readonly name: string;
  readonly sheet?: string | undefined;
  readonly takeFormulas?: boolean | undefined;
  readonly encoding?: NamedEncoding | undefined;
  /** The command has `--encoding`, so an error may name it. */
  readonly offersEncoding?: boolean | undefined;
  /** Receives what a person should know about the file. */
  readonly note?: ((line: string) => void) | undefined;
}

/**
 * Yields the rows of a file, the first one its heads. A workbook is recognized by its bytes; it is
 * read whole. Each yielded part must be iterated to its end. Throws InputError as `CsvReader` and
 * `sheetRows` do, and for `--sheet` or `--take-formulas` beside a CSV.
 */
export async function* fileRows(
  chunks: AsyncIterable<Uint8Array>,
  options: FileRowsOptions,
): AsyncGenerator<Iterable<CsvRow>> {
  const { start, chunks: all, close } = await peekBytes(chunks, signatureBytes);
  try {
    if (isWorkbook(start)) yield* workbookRows(all, options);
    else yield* csvRows(all, options);
  } finally {
    await close();
  }
}

/**
 * Returns the first bytes of an input, at least `length` of them if there are as many, and all of its chunks.
 * Call `close` at the end: where the chunks are not read, a pipe would stay open as long as its writer.
 */
export async function peekBytes(chunks: AsyncIterable<Uint8Array>, length: number) {
  const source = chunks[Symbol.asyncIterator]();
  const first: Uint8Array[] = [];
  for (let read = 0; read < length; read += first.at(-1)?.length ?? 0) {
    const { done, value } = await source.next();
    if (done) break;
    first.push(value);
  }
  const all = async function* () {
    yield* first;
    yield* { [Symbol.asyncIterator]: () => source };
  };
  const close = async () => void (await source.return?.());
  return { start: Buffer.concat(first), chunks: all(), close };
}

const signatureBytes = 8;

/** True for the first bytes of an archive, and of an old or encrypted workbook. */
function isWorkbook(start: Buffer): boolean {
  if (start.length < signatureBytes) return false;
  const isArchive = start[0] === 0x50 && start[1] === 0x4b && (start[2] ?? 0) < 8;
  return isArchive || start.readUInt32BE(0) === 0xd0cf11e0;
}

async function* workbookRows(
  chunks: AsyncIterable<Uint8Array>,
  { name, sheet, takeFormulas = false, note = () => {} }: FileRowsOptions,
): AsyncGenerator<Iterable<CsvRow>> {
  const { mostBytes, sheetRows, tooLarge } = await import('../sheets/read-sheet.js');
  const bytes = await bytesUpTo(chunks, mostBytes, () => tooLarge(name));
  yield* sheetRows(bytes, { name, sheet, takeFormulas, note });
}

async function* csvRows(
  chunks: AsyncIterable<Uint8Array>,
  { name, sheet, takeFormulas, encoding, offersEncoding }: FileRowsOptions,
): AsyncGenerator<Iterable<CsvRow>> {
  if (/\.xls[xmb]?$/i.test(name))
    throw new InputError(`${name} is named like a workbook but is not one.`, {
      hint: 'If it is a CSV, name it .csv.',
    });
  if (sheet !== undefined || takeFormulas)
    throw new InputError(
      `${name} is not a workbook: ${sheet === undefined ? '--take-formulas' : '--sheet'} is for .xlsx files.`,
    );
  const reader = new CsvReader();
  const decode = textDecoder(name, encoding, offersEncoding);
  for await (const chunk of chunks) yield reader.push(decode(chunk));
  yield reader.push(decode(undefined));
  yield reader.end();
}

/** Notes that a file is open in a spreadsheet program, whose unsaved changes nobody else sees. */
export async function noteOpenWorkbook(context: Context, path: string): Promise<void> {
  const program = await spreadsheetProgram(path);
  if (program !== undefined)
    context.message(
      `${path} is open in ${program}. Changes that are not saved there are not read.`,
    );
}

/** Small pieces leave little garbage, because only the ids are kept. */
const pieceBytes = 16 * 1024;
const longInput = 256 * 1024;

/** Yields the bytes of an input file, or of stdin for `-`. Throws InputError, CancelledError. */
export async function* inputChunks(context: Context, path: string): AsyncGenerator<Uint8Array> {
  const { stdin } = context.streams;
  try {
    const stream =
      path === '-' ? stdin.stream : inputBytes(path, { pieceBytes, signal: context.signal });
    let read = 0;
    for await (const chunk of stream) {
      const before = read;
      read += chunk.length;
      // An input of, say, 100,000 rows: once its rows are known, the heap has already grown.
      if (read > longInput && before <= longInput) await keepHeapSmall(context.nodeVersion);
      yield Buffer.from(chunk);
    }
  } catch (error) {
    if (path === '-' && context.signal.aborted) throw stoppedReading('stdin');
    throw unreadable(path === '-' ? 'stdin' : path, error);
  }
}

/** Hashes the bytes of an input as they are read; another sheet of the same file is another input. */
export function hashing(chunks: AsyncIterable<Uint8Array>, sheet: string | undefined) {
  const hash = createHash('sha256');
  if (sheet !== undefined) hash.update(`${sheet}\0`);
  const hashed = async function* () {
    for await (const chunk of chunks) {
      hash.update(chunk);
      yield chunk;
    }
  };
  return { chunks: hashed(), digest: () => hash.digest('hex') };
}
