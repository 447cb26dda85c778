import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { temporaryFolder } from '../support/run.js';
import { withUsage } from '../support/usage.js';
import { type EntryLies, textRows, workbook, workbookParts, zip } from '../support/workbook.js';

// Workbooks that would take hundreds of MiB: the program refuses each before it holds 64 MiB more
// than for a small one.

const folder = temporaryFolder();

/** Reads a workbook with the program; returns what it said, and its peak memory in MiB. */
function read(file: Buffer) {
  const path = join(folder, 'x.xlsx');
  writeFileSync(path, file);
  return withUsage(`-p sandbox players update --csv ${path} -n`, {});
}

const mebibyte = 1024 * 1024;
const filled = (piece: string, mebibytes: number) =>
  piece.repeat(Math.floor((mebibytes * mebibyte) / piece.length));
const head = textRows([['id']]);
const longTag = `<x a="${' '.repeat(80)}"/>`;
const lying = (rows: string, lies: EntryLies) =>
  zip(
    workbookParts({ rows }).map(([path, text]) => [
      path,
      text,
      path.includes('sheet1') ? lies : {},
    ]),
  );

let small = 0;
beforeAll(async () => {
  const ran = await read(workbook({ rows: head }));
  expect(ran.code).toBe(0);
  small = ran.peak;
});

test.each<readonly [string, () => Buffer, string]>([
  ['a zip bomb', () => workbook({ rows: head + filled(longTag, 400) }), 'more than 64 MiB'],
  [
    'a zip bomb that says it is small',
    () => lying(head + filled(longTag, 400), { bytes: 60 * mebibyte }),
    'longer than it says',
  ],
  [
    'a million columns',
    () => workbook({ rows: `<row>${filled('<c t="b"><v>1</v></c>', 30)}</row>` }),
    'beyond the last column',
  ],
  [
    'millions of short texts',
    () => workbook({ rows: head, strings: filled('<si><t>ab</t></si>', 62) }),
    'more than 64 MiB',
  ],
  [
    'millions of longer texts',
    () => workbook({ rows: head, strings: filled('<si><t>a text of some length</t></si>', 62) }),
    'more than 64 MiB',
  ],
  [
    'an entity after 60 MiB',
    () => workbook({ rows: `${head}${filled(longTag, 60)}&evil;` }),
    'holds the entity &evil;',
  ],
])('%s', async (_, make, reason) => {
  const { code, stdout, stderr, peak } = await read(make());
  expect([code, stdout, stderr]).toEqual([2, '', expect.stringContaining(reason)]);
  expect(peak - small).toBeLessThan(64);
});

test('rows that hold their last possible cell alone are refused as so many cells', async () => {
  const lines = Array.from({ length: 20_000 }, (_, at) => at + 2);
  const rows = lines.map((line) => `<row r="${line}"><c r="XFD${line}"><v>1</v></c></row>`);
  const { code, stderr, peak } = await read(workbook({ rows: head + rows.join('') }));
  expect([code, stderr]).toEqual([2, expect.stringContaining('more than 5,000,000 cells')]);
  // 5,000,000 empty cells, twice.
  expect(peak - small).toBeLessThan(128);
});

test('a file of 100 MiB is refused while it is read', async () => {
  const file = Buffer.concat([workbook({ rows: head }), Buffer.alloc(100 * mebibyte)]);
  const { code, stderr } = await read(file);
  expect([code, stderr]).toEqual([2, expect.stringContaining('more than 64 MiB')]);
});
