import { mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as fc from 'fast-check';
import { rolldown } from 'rolldown';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createPaint } from '../../src/terminal/paint.js';
import { singleLine } from '../../src/terminal/safe-text.js';
import { renderTable, type TableColumn } from '../../src/terminal/table.js';
import { displayWidth } from '../../src/terminal/width.js';
import { codePoint } from '../support/code-point.js';
import { forbidden, hostileTexts, withoutColor } from '../support/hostile.js';

const paint = createPaint(false);
const column = (name: string, ...cells: string[]): TableColumn => ({
  name,
  cells,
  neverTruncated: name === 'id',
});

describe('the layout', () => {
  test('has no frame, two spaces between columns and no trailing spaces', async () => {
    const columns = [
      column('id', 'app_1', 'app_22'),
      column('name', 'Ann', '日本語'),
      column('x', '-', 'y'),
    ];
    expect(await renderTable(columns, { columns: 80, paint })).toEqual([
      'id      name    x',
      'app_1   Ann     -',
      'app_22  日本語  y',
    ]);
  });

  test('makes the header bold and colours a status, around the words only', async () => {
    const columns = [
      { name: 'status', cells: ['accepted', 'odd'], isColored: true },
      column('n', '1', '2'),
    ];
    expect(await renderTable(columns, { columns: 80, paint: createPaint(true) })).toEqual([
      '\u001b[1mstatus\u001b[22m    \u001b[1mn\u001b[22m',
      '\u001b[32maccepted\u001b[39m  1',
      'odd       2',
    ]);
  });

  test('truncates a cell at 40 columns, an id never', async () => {
    const long = 'x'.repeat(60);
    const lines = await renderTable([column('id', long), column('name', long)], {
      columns: 120,
      paint,
    });
    expect(lines[1]).toBe(`${long}  ${'x'.repeat(39)}…`);
  });
});

describe('the width', () => {
  const columns = [
    column('id', 'app_1'),
    column('name', 'Ann'),
    column('email', 'ann@example.test'),
    column('discordUsername', 'ann#1'),
  ];

  test('drops columns from the right and counts them in the footer', async () => {
    const options = { paint, omitted: 1, footer: ['22 pending, of 64 applications'] };
    expect(await renderTable(columns, { ...options, columns: 62 })).toEqual([
      'id     name  email             discordUsername',
      'app_1  Ann   ann@example.test  ann#1',
      '22 pending, of 64 applications · +1 field: --fields',
    ]);
    expect(await renderTable(columns, { ...options, columns: 45 })).toEqual([
      'id     name  email',
      'app_1  Ann   ann@example.test',
      '22 pending, of 64 applications',
      '+2 fields: --fields',
    ]);
  });

  test('keeps the name next to the id at 20 columns', async () => {
    const narrow = [
      column('id', 'app_1'),
      column('name', 'Annabella Featherstone'),
      column('status', 'pending'),
    ];
    expect(await renderTable(narrow, { columns: 20, paint, footer: [] })).toEqual([
      'id     name',
      'app_1  Annabella Fe…',
      '+1 field: --fields',
    ]);
  });
});

const cell = fc
  .oneof(fc.string({ unit: codePoint, maxLength: 50 }), fc.constantFrom(...hostileTexts))
  .map((text) => singleLine(text.slice(0, 4000)));
const columnsOf = (rows: number) =>
  fc.array(
    fc.record({
      name: cell.map((name) => name || '""'),
      cells: fc.array(cell, { minLength: rows, maxLength: rows }),
      neverTruncated: fc.boolean(),
      isColored: fc.boolean(),
    }),
    { minLength: 1, maxLength: 6 },
  );
const tables = fc.integer({ min: 1, max: 8 }).chain(columnsOf);

describe('as it is bundled', () => {
  let folder = '';
  let table: typeof import('../../src/terminal/table.js');

  // Only in the build does cli-table3 use our own widths, so only there must both ways to draw agree.
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'rosterctl-table-'));
    const bundle = await rolldown({
      input: { table: source('table.ts') },
      platform: 'node',
      plugins: [
        {
          name: 'one-width',
          resolveId: (id) => (id === 'string-width' ? source('string-width.ts') : null),
        },
      ],
    });
    await bundle.write({
      dir: folder,
      format: 'cjs',
      entryFileNames: '[name].cjs',
      chunkFileNames: '[name].cjs',
    });
    await bundle.close();
    table = createRequire(import.meta.url)(join(folder, 'table.cjs')) as typeof table;
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  test('cli-table3 and our own code draw the same bytes', async () => {
    await fc.assert(
      fc.asyncProperty(
        tables,
        fc.constantFrom(20, 80, 200),
        fc.boolean(),
        async (columns, room, color) => {
          const fitted = table.fitColumns(columns, room);
          const brush = createPaint(color);
          expect(await table.linesByLibrary(fitted, brush)).toEqual(
            table.linesByColumns(fitted, brush),
          );
        },
      ),
      { numRuns: 100 },
    );
  });

  test('no line is wider than the terminal, and every row is one line', async () => {
    await fc.assert(
      fc.asyncProperty(tables, fc.constantFrom(20, 40, 80), async (columns, room) => {
        const brush = createPaint(true);
        const lines = await table.renderTable(columns, { columns: room, paint: brush, footer: [] });
        const rows = columns[0]?.cells.length ?? 0;
        expect(lines.length - rows).toBeLessThanOrEqual(2);
        expect(lines.length - rows).toBeGreaterThanOrEqual(1);
        for (const line of lines) {
          const plain = withoutColor(line);
          expect(plain).not.toMatch(forbidden);
          expect(displayWidth(plain)).toBeLessThanOrEqual(room);
        }
      }),
      { numRuns: 60 },
    );
  });

  test('a table of 101 rows looks like one of 100', async () => {
    const cells = Array.from({ length: 101 }, (_, index) => `日本 ${index}`);
    const small = await table.renderTable([{ name: 'id', cells: cells.slice(0, 100) }], {
      columns: 80,
      paint,
    });
    const large = await table.renderTable([{ name: 'id', cells }], { columns: 80, paint });
    expect(large.slice(0, 101)).toEqual(small);
  });
});

function source(path: string): string {
  return fileURLToPath(new URL(`../../src/terminal/${path}`, import.meta.url));
}
