/** Workbooks that are damaged or made to harm. */
import { fileRows } from '../../src/bulk/file-rows.js';
import { type Entry, textRows, workbook, workbookParts, zip } from '../support/workbook.js';

/** Reads a file to its end, and returns the number of its rows. */
export async function read(file: Uint8Array, name = 'x.xlsx', sheet?: string): Promise<number> {
  let rows = 0;
  const chunks = (async function* () {
    yield file;
  })();
  for await (const some of fileRows(chunks, { name, sheet })) for (const _ of some) rows += 1;
  return rows;
}

export const rows = textRows([['id'], ['p1']]);
export const plain = workbook({ rows });
export const parts = workbookParts({ rows });
const zeros = (megabytes: number) => Buffer.alloc(megabytes * 1024 * 1024, 0x20);
export const replaced = (path: string, change: (text: string) => Entry[1], lies = {}): Buffer =>
  zip(
    parts.map(
      ([name, text]): Entry => [
        name,
        name === path ? change(text as string) : text,
        name === path ? lies : {},
      ],
    ),
  );
export const sheet = 'xl/worksheets/sheet1.xml';
export const strings = 'xl/sharedStrings.xml';
export const bomb = zeros(65);
