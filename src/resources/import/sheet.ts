/** Reads the file of an import into its header and its rows. */
import { createHash } from 'node:crypto';
import { type FileRowsOptions, fileRows } from '../../bulk/file-rows.js';
import { mostRows } from '../../bulk/row-names.js';
import { inputChunks, noteOpenWorkbook } from '../../bulk/select-rows.js';
import type { Context } from '../../context.js';
import { eventLoopTurns } from '../../data/concurrency.js';
import { type CsvRow, rowPlace } from '../../data/csv-reader.js';
import { InputError, stoppedReading } from '../../errors.js';

/** A table as read from a file: cells are text, exactly as in the file. */
export interface Sheet {
  /** The file, or `stdin`. */
  readonly name: string;
  readonly header: CsvRow;
  /** The rows below the header that are not blank. */
  readonly rows: readonly CsvRow[];
  /** SHA-256 of the file. */
  readonly digest: string;
}

/**
 * Reads a CSV or a workbook as a sheet; `-` is stdin. Throws InputError, CancelledError after a
 * signal.
 */
export async function readSheet(
  context: Context,
  path: string,
  values: Pick<FileRowsOptions, 'encoding' | 'sheet' | 'takeFormulas'>,
): Promise<Sheet> {
  const name = path === '-' ? 'stdin' : path;
  if (path !== '-') await noteOpenWorkbook(context, path);
  const hash = createHash('sha256');
  // Another sheet of the same file is another input.
  if (values.sheet !== undefined) hash.update(`${values.sheet}\0`);
  const chunks = async function* () {
    for await (const chunk of inputChunks(context, path)) {
      hash.update(chunk);
      yield chunk;
    }
  };
  const turn = eventLoopTurns(context.signal, () => stoppedReading(name));
  const all: CsvRow[] = [];
  const note = (line: string) => context.message(line);
  for await (const some of fileRows(chunks(), { ...values, name, offers: true, note }))
    for (const row of some) {
      if (!isBlank(row) && !isDelimiterLine(row, all)) all.push(row);
      if (all.length > mostRows + 1)
        throw new InputError(`${name} has more than ${mostRows} rows.`, {
          hint: 'Cut it into several files.',
        });
      const waiting = turn(row.cells.length);
      if (waiting) await waiting;
    }
  const [header, ...rows] = all[0]?.marks ? evened(all) : all;
  if (!header) throw new InputError(`${name} is empty: it has no header.`);
  for (const [index, mark] of header.marks ?? [])
    if (mark.kind === 'refused')
      throw new InputError(`${rowPlace(header, index)}: the head of a column ${mark.reason}`, {
        hint: mark.hint,
      });
  return { name, header, rows, digest: hash.digest('hex') };
}

/** Fills the rows of a sheet up to the same number of cells, because empty ones are not in the file. */
function evened(rows: readonly CsvRow[]): readonly CsvRow[] {
  const widths = rows.map(({ cells }) => cells.findLastIndex((cell) => cell.trim() !== '') + 1);
  const width = widths.reduce((most, each) => Math.max(most, each), 0);
  return rows.map((row) => ({
    ...row,
    cells: Array.from({ length: width }, (_, index) => row.cells[index] ?? ''),
  }));
}

function isBlank({ cells }: CsvRow): boolean {
  return cells.every((cell) => cell.trim() === '');
}

/** True for a first line `sep=;`, which tells Excel the delimiter. */
function isDelimiterLine({ cells }: CsvRow, before: readonly CsvRow[]): boolean {
  return before.length === 0 && cells.length === 2 && cells[0] === 'sep=' && cells[1] === '';
}
