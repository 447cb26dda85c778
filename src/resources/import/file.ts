/** The file of an import, a CSV, one sheet of a workbook or NDJSON: its rows, and the columns as far as they are known without the service. */

import {
  type FileRowsOptions,
  fileRows,
  hashing,
  inputChunks,
  noteOpenWorkbook,
  peekBytes,
} from '../../bulk/file-rows.js';
import { mostInputRows, tooManyRows } from '../../bulk/row-names.js';
import { isGiven } from '../../cli/check.js';
import { keyComparison } from '../../cli/column-aliases.js';
import type { Context } from '../../context.js';
import { type CsvRow, rowPlace, wrongWidth } from '../../data/csv-reader.js';
import { InputErrors } from '../../data/input-errors.js';
import { type JsonObject, objectIn } from '../../data/json.js';
import { plainText } from '../../data/path.js';
import type { ResourceName } from '../../data/resources.js';
import { eventLoopTurns } from '../../data/workload.js';
import { InputError, stoppedReading } from '../../errors.js';
import { textDecoder } from '../../files/text-decoder.js';
import { givenFields } from '../update.js';
import {
  type FileColumn,
  fileColumns,
  type ImportOptions,
  type ImportValues,
  keyColumn,
} from './columns.js';

/** The file of an import, read and checked as far as that goes without the service. */
export interface ImportFile {
  readonly sheet: Sheet;
  readonly columns: readonly FileColumn[];
  readonly key: FileColumn;
  readonly options: ImportOptions;
}

/**
 * Reads the file, its header and the form of its rows, without a request. Throws InputError, for all
 * rows of another form at once unless they are skipped; UsageError.
 */
export async function openFile(
  context: Context,
  resource: ResourceName,
  values: ImportValues,
): Promise<ImportFile> {
  const sheet = await openSheet(context, values.file, values);
  const options: ImportOptions = {
    ...values,
    resource,
    comparison: keyComparison(values.key, resource),
    raw: sheet.isTyped || (context.settings.csvRaw && sheet.header.marks === undefined),
    isTyped: sheet.isTyped,
    given: givenFields(values),
  };
  const columns = fileColumns(sheet.header.cells, options);
  const key = keyColumn(columns, sheet.header, options);
  if (!values.skipInvalid) {
    const problems = new InputErrors('problem');
    for (const row of sheet.rows) problems.collect(() => checkForm(row, sheet.header));
    throwRowProblems(problems);
  }
  return { sheet, columns, key, options };
}

/** Throws InputError for a row that repeats the header, or has not its number of cells. */
export function checkForm(row: CsvRow, header: CsvRow): void {
  const { cells } = row;
  const count = header.cells.length;
  if (cells.length === count && cells.every((cell, at) => cell === header.cells[at]))
    throw new InputError(`${rowPlace(row)} repeats the header.`, { hint: 'Remove it.' });
  if (!row.marks && cells.length !== count) throw wrongWidth(row, count);
}

/** Throws one InputError for problems that are only in rows, with the flag that skips them. */
export function throwRowProblems(problems: InputErrors): void {
  try {
    problems.throwIfAny();
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    const skip = 'Nothing was sent. To import the other rows: --skip-invalid';
    throw new InputError(error.message, {
      hint: error.hint === undefined ? skip : `${error.hint}\n${skip}`,
      cause: error,
    });
  }
}

/** A table as read from a file: cells are text, exactly as in the file. */
interface Sheet {
  /** The file, or `stdin`. */
  readonly name: string;
  readonly header: CsvRow;
  /** The rows below the header that are not blank. */
  readonly rows: readonly (CsvRow | TypedRow)[];
  /** True for NDJSON: its values have types, and each column is the field of its very name. */
  readonly isTyped: boolean;
  /** SHA-256 of the file. */
  readonly digest: string;
}

type SheetOptions = Pick<FileRowsOptions, 'sheet' | 'takeFormulas' | 'encoding'>;

/** Reads a CSV, a workbook or NDJSON as a sheet; `-` is stdin. Throws InputError, CancelledError after a signal. */
async function openSheet(context: Context, path: string, options: SheetOptions): Promise<Sheet> {
  const name = path === '-' ? 'stdin' : path;
  if (path !== '-') await noteOpenWorkbook(context, path);
  const hashed = hashing(inputChunks(context, path), options.sheet);
  const peeked = await peekBytes(hashed.chunks, 64);
  try {
    const read = await readSheet(context, name, peeked, options);
    return { name, ...read, digest: hashed.digest() };
  } finally {
    await peeked.close();
  }
}

async function readSheet(
  context: Context,
  name: string,
  { start, chunks }: Pick<Awaited<ReturnType<typeof peekBytes>>, 'start' | 'chunks'>,
  { sheet, takeFormulas, encoding }: SheetOptions,
): Promise<Omit<Sheet, 'name' | 'digest'>> {
  const text = new TextDecoder().decode(start);
  if (/\.(?:ndjson|jsonl)$/i.test(name) || /^\s*\{/.test(text)) {
    const unused = Object.entries({ sheet, 'take-formulas': takeFormulas, encoding }).find(
      ([, value]) => isGiven(value),
    );
    if (unused) throw new InputError(`${name} holds NDJSON: --${unused[0]} is for spreadsheets.`);
    const { header, rows } = await readJsonLines(chunks, name);
    if (rows.length === 0) throw new InputError(`${name} holds no record.`);
    return { header, rows, isTyped: true };
  }
  if (/^\s*\[\s*\{/.test(text))
    throw new InputError(`${name} holds a JSON array, but an import reads one record per line.`, {
      hint: 'Write the records with -o ndjson (jq -c ".[]" converts a file), or as CSV.',
    });
  const note = (line: string) => context.message(line);
  const options = { name, sheet, takeFormulas, encoding, offersEncoding: true, note };
  const turn = eventLoopTurns(context.signal, () => stoppedReading(name));
  const all: CsvRow[] = [];
  for await (const some of fileRows(chunks, options))
    for (const row of some) {
      if (!isBlank(row)) all.push(row);
      if (all.length > mostInputRows + 1) throw tooManyRows(name);
      const waiting = turn(row.cells.length);
      if (waiting) await waiting;
    }
  const [header, ...rows] = all;
  if (!header) throw new InputError(`${name} is empty: it has no header.`);
  return { header, rows, isTyped: false };
}

/** True for a row without a value; one with a cell that cannot be used is not blank. */
function isBlank({ cells, marks }: CsvRow): boolean {
  return cells.every((cell) => cell.trim() === '') && (marks?.size ?? 0) === 0;
}

/** A row whose values were typed in the file. */
export interface TypedRow extends CsvRow {
  /** By their column; undefined for a field that the line does not have. */
  readonly values: readonly unknown[];
}

/**
 * Reads the records, and returns all their fields as a header and a row for each. Throws one
 * InputError for all lines that are not records, InputError for too many.
 */
async function readJsonLines(chunks: AsyncIterable<Uint8Array>, name: string) {
  const decode = textDecoder(name);
  const errors = new InputErrors();
  const records: { readonly line: number; readonly record: JsonObject }[] = [];
  let number = 0;
  let rest = '';
  const read = (line: string) => {
    number += 1;
    if (line.trim() === '') return;
    if (records.length >= mostInputRows) throw tooManyRows(name);
    errors.collect(() => records.push({ line: number, record: recordOf(line, number) }));
  };
  for await (const chunk of chunks) {
    const lines = (rest + decode(chunk)).split('\n');
    rest = lines.pop() ?? '';
    lines.forEach(read);
  }
  for (const line of (rest + decode(undefined)).split('\n')) read(line);
  errors.throwIfAny();
  const fields = [...new Set(records.flatMap(({ record }) => Object.keys(record)))];
  const rows = records.map(({ line, record }) => {
    const values = fields.map((field) =>
      Object.hasOwn(record, field) ? record[field] : undefined,
    );
    return { line, values, cells: values.map((value) => plainText(value ?? '')) };
  });
  return { header: { line: 1, cells: fields }, rows };
}

function recordOf(line: string, number: number): JsonObject {
  const record = objectIn(line);
  if (record) return record;
  throw new InputError(`Line ${number} is not a JSON object.`, {
    hint: 'Each line holds one record, as list -o ndjson writes it.',
  });
}
