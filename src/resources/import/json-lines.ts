/** Reads NDJSON, one record per line, as the rows of an import: the values keep their types. */
import { mostInputRows } from '../../bulk/row-names.js';
import type { CsvRow } from '../../data/csv-reader.js';
import { InputErrors } from '../../data/input-errors.js';
import { isObject, type JsonObject, parseJson } from '../../data/json.js';
import { plainText } from '../../data/path.js';
import { groupedNumber } from '../../data/text.js';
import { InputError } from '../../errors.js';
import { textDecoder } from '../../files/text-decoder.js';

/** A row whose values were typed in the file. */
export interface TypedRow extends CsvRow {
  /** By their column; undefined for a field that the line does not have. */
  readonly values: readonly unknown[];
}

/** True if a file holds NDJSON, by its name or its first character. */
export function isJsonLines(name: string, start: Uint8Array): boolean {
  if (/\.(?:ndjson|jsonl)$/i.test(name)) return true;
  return /^(?:\ufeff)?\s*\{/.test(new TextDecoder().decode(start.subarray(0, 64)));
}

/**
 * Reads the records, and returns all their fields as a header and a row for each. Throws one
 * InputError for all lines that are not records, InputError for too many.
 */
export async function readJsonLines(
  chunks: AsyncIterable<Uint8Array>,
  name: string,
): Promise<{ readonly header: CsvRow; readonly rows: readonly TypedRow[] }> {
  const decode = textDecoder(name, { encoding: undefined, offers: false });
  const errors = new InputErrors();
  const records: { readonly line: number; readonly record: JsonObject }[] = [];
  let number = 0;
  let rest = '';
  const read = (line: string) => {
    number += 1;
    if (line.trim() === '') return;
    if (records.length >= mostInputRows)
      throw new InputError(`${name} has more than ${groupedNumber(mostInputRows)} rows.`, {
        hint: 'Split it into several files.',
      });
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
  try {
    const value = parseJson(line);
    if (isObject(value)) return value;
  } catch {
    // Reported below.
  }
  throw new InputError(`Line ${number} is not a JSON object.`, {
    hint: 'Each line holds one record, as list -o ndjson writes it.',
  });
}
