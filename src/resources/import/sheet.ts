/** Reads the file of an import into its header and its rows, and names the place of a cell. */
import { createHash } from 'node:crypto';
import { mostRows } from '../../bulk/row-names.js';
import { inputChunks } from '../../bulk/select-rows.js';
import type { Context } from '../../context.js';
import { eventLoopTurns } from '../../data/concurrency.js';
import { type CsvRow, csvReader } from '../../data/csv-reader.js';
import { InputError, stoppedReading } from '../../errors.js';
import { type NamedEncoding, textDecoder } from '../../files/text-decoder.js';

/** A table as read from a file: cells are text, exactly as in the file. */
export interface Sheet {
  /** The file, or `stdin`. */
  readonly name: string;
  readonly header: CsvRow;
  /** The rows below the header that are not blank. */
  readonly rows: readonly CsvRow[];
  /** SHA-256 of the file. */
  readonly digest: string;
  /** Names a cell for a message: `Line 9: Team`. */
  place(line: number, column: string): string;
}

/** Reads a CSV as a sheet; `-` is stdin. Throws InputError, CancelledError after a signal. */
export async function readSheet(
  context: Context,
  path: string,
  { encoding }: { readonly encoding?: NamedEncoding | undefined },
): Promise<Sheet> {
  const name = path === '-' ? 'stdin' : path;
  const hash = createHash('sha256');
  const reader = csvReader();
  const decode = textDecoder(name, { encoding, offers: true });
  const turn = eventLoopTurns(context.signal, () => stoppedReading(name));
  const all: CsvRow[] = [];
  const take = async (rows: Iterable<CsvRow>) => {
    for (const row of rows) {
      if (!isBlank(row) && !isDelimiterLine(row, all)) all.push(row);
      if (all.length > mostRows + 1)
        throw new InputError(`${name} has more than ${mostRows} rows.`, {
          hint: 'Cut it into several files.',
        });
      const waiting = turn(row.cells.length);
      if (waiting) await waiting;
    }
  };
  for await (const chunk of inputChunks(context, path)) {
    hash.update(chunk);
    await take(reader.push(decode(chunk)));
  }
  await take(reader.push(decode(undefined)));
  await take(reader.end());
  const [header, ...rows] = all;
  if (!header) throw new InputError(`${name} is empty: it has no header.`);
  return {
    name,
    header,
    rows,
    digest: hash.digest('hex'),
    place: (line, column) => `Line ${line}: ${column}`,
  };
}

function isBlank({ cells }: CsvRow): boolean {
  return cells.every((cell) => cell.trim() === '');
}

/** True for a first line `sep=;`, which tells Excel the delimiter. */
function isDelimiterLine({ cells }: CsvRow, before: readonly CsvRow[]): boolean {
  return before.length === 0 && cells.length === 2 && cells[0] === 'sep=' && cells[1] === '';
}
