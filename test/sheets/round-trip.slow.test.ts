import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { writeRecords } from '../../src/cli/lists/workbook.js';
import type { JsonObject } from '../../src/data/json.js';
import {
  changesBy,
  type Edit,
  editOf,
  leaves,
  pathsOf,
  records,
  typeOf,
  untouchable,
} from '../bulk/random-records.js';
import { collected } from '../support/collected.js';
import { outputContext } from '../support/output-context.js';
import { unzip, xmlText, zip } from '../support/workbook.js';

// What `-o xlsx` writes comes back with `--csv` as unchanged, and k edited cells as k changes.

/** The bytes that `-o xlsx` writes. */
function exported(all: readonly JsonObject[]): Promise<Buffer> {
  return collected((sink) =>
    writeRecords(sink, all, { view: { resource: 'players' } }, outputContext({ out: 'x.xlsx' })),
  );
}

/** Texts that only a sheet could damage, and times, which it shows as dates. */
const sheetTexts = fc.constantFrom(
  ...["'<clear>", "''<clear>", ' <clear> ', '_x0041_', '_x000D_', '_x005F_', 'a\rb', 'a\r\nb'],
  ...[
    '\u0001',
    '\u000b\u001f',
    '\ufffe',
    '\uffff',
    ' lead',
    'trail ',
    'two  spaces',
    '&lt;',
    ']]>',
  ],
  ...['0042', '123456789012345678', '1/2', '2026-03-01', '10:30', '=Sum(A1)', '@x', 'TRUE', '1E5'],
);
const sheetNumbers = fc.constantFrom(
  ...[0, -0, 0.1, 0.1 + 0.2, 1e15, 999_999_999_999_999, 1e-7, 123.456, -7, 2 ** 53, 1e300, 5e-324],
);
const times = fc.oneof(
  fc
    .date({ min: new Date(0), max: new Date('2100-01-01'), noInvalidDate: true })
    .map((date) => date.toISOString()),
  fc.constantFrom('2026-03-01T10:00:00+02:00', '2026-03-01T10:00:00.123456Z', '2026-03-01', ''),
);
const more = fc.record(
  {
    tricky: sheetTexts,
    amount: sheetNumbers,
    joinedAt: times,
    seen: fc.record({ firstAt: times }),
    flag: fc.boolean(),
  },
  { requiredKeys: [] },
);
const sheetRecords = fc
  .tuple(records, fc.array(more, { minLength: 4, maxLength: 4 }))
  .map(([all, extra]) => all.map((record, index): JsonObject => ({ ...extra[index], ...record })));

test('an unedited workbook changes nothing, whatever it holds', async () => {
  await fc.assert(
    fc.asyncProperty(sheetRecords, async (all) => {
      for (const { changed, wanted } of await changesBy(await exported(all), all))
        expect([changed, wanted]).toEqual([[], {}]);
    }),
    { numRuns: 120 },
  );
});

/** The cells of a sheet by their place, with the sheet that replacing one would make. */
function sheetOf(file: Buffer) {
  const parts = unzip(file);
  const path = 'xl/worksheets/sheet1.xml';
  let sheet = parts.get(path) ?? '';
  const texts = [...(parts.get('xl/sharedStrings.xml') ?? '').matchAll(/<t[^>]*>([^<]*)<\/t>/g)];
  const head = [...sheet.matchAll(/<c r="([A-Z]+)1"[^>]*><v>(\d+)<\/v>/g)].map(
    ([, column = '', number]) => [texts[Number(number)]?.[1] ?? '', column] as const,
  );
  return {
    columns: new Map(head),
    /** Replaces a cell that holds something; false if there is none. */
    replace(place: string, attributes: string, inside: string): boolean {
      const cell = new RegExp(`<c r="${place}"([^>]*)>.*?</c>`);
      if (!cell.test(sheet)) return false;
      sheet = sheet.replace(cell, () => `<c r="${place}"${attributes}>${inside}</c>`);
      return true;
    },
    file: () => zip([...parts].map(([name, text]) => [name, name === path ? sheet : text])),
  };
}

/** A cell as a spreadsheet program writes what was typed into it. */
function typedCell(text: string, to: unknown, wasList: boolean): [string, string] {
  if (typeof to === 'boolean' && !wasList) return [' t="b"', `<v>${to ? 1 : 0}</v>`];
  if (typeof to === 'number' && !wasList) return ['', `<v>${text}</v>`];
  return [' t="inlineStr"', `<is><t xml:space="preserve">${xmlText(text)}</t></is>`];
}

test('a workbook with k edited cells changes exactly these, each with its type and in place', async () => {
  let edited = 0;
  await fc.assert(
    fc.asyncProperty(records, fc.array(fc.nat(), { maxLength: 6 }), async (all, seeds) => {
      const sheet = sheetOf(await exported(all));
      const edits = new Map<string, Edit>();
      for (const seed of seeds) {
        const at = seed % all.length;
        const open = [...leaves(all[at] as JsonObject)].filter(
          ([name, { value }]) =>
            value !== null &&
            /^\w+(\.\w+)*$/.test(name) &&
            sheet.columns.has(name) &&
            !untouchable.has(name) &&
            !edits.has(`${at} ${name}`),
        );
        const [name, leaf] = open[seed % Math.max(1, open.length)] ?? [];
        if (name === undefined || !leaf || (Array.isArray(leaf.value) && leaf.value.length === 0))
          continue;
        const { cell, edit } = editOf(leaf.value, leaf.path, seed % 1000);
        const place = `${sheet.columns.get(name)}${at + 2}`;
        const written = typedCell(cell, edit.to, Array.isArray(leaf.value));
        if (sheet.replace(place, ...written)) edits.set(`${at} ${name}`, edit);
      }
      const done = await changesBy(sheet.file(), all);
      for (const [at, { changed }] of done.entries()) {
        const real = [...edits]
          .filter(([place]) => place.startsWith(`${at} `))
          .map(([, edit]) => edit);
        expect(pathsOf(changed)).toEqual(pathsOf(real));
        for (const { path, from, to } of changed) {
          expect(to).toEqual(real.find((edit) => edit.path === path)?.to);
          expect(typeOf(to)).toBe(from === null ? 'string' : typeOf(from));
        }
        edited += changed.length;
      }
    }),
    { numRuns: 120 },
  );
  expect(edited).toBeGreaterThan(80);
});
