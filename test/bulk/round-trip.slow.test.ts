import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { selectCsv } from '../../src/bulk/selection.js';
import { writeCsv } from '../../src/cli/lists/csv.js';
import { cellFields } from '../../src/data/cell-values.js';
import { csvLine, unguard } from '../../src/data/csv.js';
import { readCsv } from '../../src/data/csv-reader.js';
import { type JsonObject, parseJson } from '../../src/data/json.js';
import { idKey } from '../../src/data/references.js';
import { collected } from '../support/collected.js';
import { outputContext } from '../support/output-context.js';
import {
  changesBy,
  type Edit,
  editOf,
  imported,
  leaves,
  marks,
  pathsOf,
  records as randomRecords,
  rules,
  typeOf,
  untouchable,
} from './random-records.js';

/** The bytes that `-o csv` writes. */
function exported(records: readonly JsonObject[], raw = false): Promise<Buffer> {
  const context = outputContext({ csvRaw: raw });
  return collected((sink) => writeCsv(sink, records, context, { view: { columns: ['id'] } }));
}

test('an unedited export changes nothing, whatever it holds', async () => {
  await fc.assert(
    fc.asyncProperty(randomRecords, async (all) => {
      for (const { changed, wanted } of await changesBy(await exported(all), all))
        expect([changed, wanted]).toEqual([[], {}]);
    }),
    { numRuns: 500 },
  );
});

test('an unedited --csv-raw export changes nothing, or is refused for a NUL', async () => {
  await fc.assert(
    fc.asyncProperty(randomRecords, async (all) => {
      const bytes = await exported(all, true);
      if (bytes.includes(0)) {
        await expect(imported(bytes, true)).rejects.toThrow('NUL');
        return;
      }
      for (const { wanted } of await changesBy(bytes, all, true)) expect(wanted).toEqual({});
    }),
    { numRuns: 500 },
  );
});

test('an export with k edited cells changes exactly these, each with its type and in place', async () => {
  let edited = 0;
  await fc.assert(
    fc.asyncProperty(randomRecords, fc.array(fc.nat(), { maxLength: 6 }), async (all, seeds) => {
      const [first, ...rows] = readCsv((await exported(all)).toString()).map(({ cells }) => [
        ...cells,
      ]);
      const header = (first ?? []).map(unguard);
      const edits = new Map<string, Edit>();
      for (const seed of seeds) {
        const at = seed % all.length;
        const record = all[at] as JsonObject;
        const cells = rows[at] as string[];
        const open = [...leaves(record)].filter(([name, leaf]) => {
          const column = header.indexOf(name.replaceAll('\0', '\u2400'));
          // Null accepts text, and an empty or blank cell cannot express what the text was.
          const isEmpty = leaf.value === null || cells[column]?.trim() === '';
          return column >= 0 && !isEmpty && !untouchable.has(name) && !edits.has(`${at} ${name}`);
        });
        if (open.length === 0) continue;
        const [name, leaf] = open[seed % open.length] as (typeof open)[number];
        const { cell, edit } = editOf(leaf.value, leaf.path, seed % 1000);
        // A guard as the export writes it, so that text which looks like a formula survives.
        const [written = ''] =
          readCsv(`sep=,\n${csvLine([cell], { delimiter: ',', raw: false })}`)[0]?.cells ?? [];
        cells[header.indexOf(name.replaceAll('\0', '\u2400'))] = written;
        edits.set(`${at} ${name}`, edit);
      }
      const lines = [first ?? [], ...rows].map((row) =>
        csvLine(row, { delimiter: ',', raw: true }),
      );
      const done = await changesBy(Buffer.from(lines.join('')), all);
      for (const [at, { changed, record }] of done.entries()) {
        const meant = [...edits].filter(([place]) => place.startsWith(`${at} `));
        const real = meant.map(([, edit]) => edit);
        expect(pathsOf(changed)).toEqual(pathsOf(real));
        for (const { path, from, to } of changed) {
          expect(to).toEqual(real.find((edit) => edit.path === path)?.to);
          expect(typeOf(to)).toBe(from === null ? 'string' : typeOf(from));
        }
        edited += changed.length;
        expect(record['id']).toBe(`r_${at}`);
      }
    }),
    { numRuns: 1000 },
  );
  expect(edited).toBeGreaterThan(500);
});

describe('a cell becomes', () => {
  const record = {
    id: 'p1',
    age: 17,
    active: true,
    chat: parseJson('12345678901234567890'),
    tags: ['legal', 'travel'],
    mixed: [1, 'one', true],
    scores: [1, 2],
    none: [],
    parted: ['a;b', 'c'],
    nothing: null,
    lines: 'a\r\nb',
    social: { web: 'a' },
    gamerTags: [{ game: 'cs2', gamerTag: 'fx' }],
    formResponses: { age: 17 },
  };
  const fieldsBy = (header: string, cell: string) =>
    cellFields({ [`set.${header}`]: cell }, record, 3);

  test.each([
    ['age', '18', { age: 18 }],
    ['age', ' 18.5 ', { age: 18.5 }],
    ['age', '17.0', { age: 17 }],
    ['age:text', '17', { age: '17' }],
    ['age:json', '"x"', { age: 'x' }],
    ['active', 'FALSE', { active: false }],
    ['active', 'True', { active: true }],
    ['chat', '12345678901234567891', { chat: parseJson('12345678901234567891') }],
    ['tags', 'legal;visa', { tags: ['legal', 'visa'] }],
    ['tags', 'visa;legal;travel', { tags: ['visa', 'legal', 'travel'] }],
    ['tags', 'travel', { tags: ['travel'] }],
    ['tags', '["x;y"]', { tags: ['x;y'] }],
    ['tags', '[FOX];x', { tags: ['[FOX]', 'x'] }],
    ['tags.1', 'visa', { tags: ['legal', 'visa'] }],
    ['mixed', '2;two;FALSE', { mixed: [2, 'two', false] }],
    ['mixed', '1;one;true;3', { mixed: [1, 'one', true, 3] }],
    ['scores', '1;2;3', { scores: [1, 2, 3] }],
    ['none', 'a;b', { none: ['a', 'b'] }],
    ['parted', '["a;b","d"]', { parted: ['a;b', 'd'] }],
    ['nothing', '5', { nothing: '5' }],
    ['absent', '5', { absent: '5' }],
    ['absent.inner', '5', { absent: { inner: '5' } }],
    ['nothing.inner', '5', { nothing: { inner: '5' } }],
    ['gamerTags.0.gamerTag', 'new', { gamerTags: [{ game: 'cs2', gamerTag: 'new' }] }],
    ['gamerTags.0.peak', 'x', { gamerTags: [{ game: 'cs2', gamerTag: 'fx', peak: 'x' }] }],
    ['social.mail', 'b', { social: { web: 'a', mail: 'b' } }],
    ['social', '{"web":"a"}', {}],
    ['formResponses.Rank (v1.2)?', 'x', { formResponses: { age: 17, 'Rank (v1.2)?': 'x' } }],
    ['tags', 'legal;travel', {}],
    ['lines', 'a\nb', {}],
    ['lines', 'a\nc', { lines: 'a\nc' }],
    ['none', '', {}],
  ])('in a column %s of %j: %j', (header, cell, wanted) => {
    expect(fieldsBy(header, cell)).toEqual(wanted);
  });

  test.each([
    ['age', 'seven', 'Line 3: age holds "seven", which is not a number.'],
    ['age', '07', 'Line 3: age holds "07", which is not a number.'],
    ['age', '7,5', 'Line 3: age holds "7,5", which is not a number.'],
    ['active', 'yes', 'Line 3: active holds "yes", which is not true or false.'],
    ['scores', '1;x', 'Line 3: scores holds "x", which is not a number.'],
    ['tags', '["x"', 'Line 3: tags holds "["x"", which is not a list in valid JSON.'],
    ['social', 'x', 'Line 3: social is an object, but the cell is text.'],
    ['gamerTags', 'x', 'Line 3: gamerTags is a list of objects, but the cell is text.'],
    ['gamerTags.1.game', 'x', 'Line 3: There is no gamerTags.1: gamerTags has 1 element.'],
    ['absent.0.game', 'x', 'Line 3: There is no absent.0.game: absent is empty.'],
    ['age.inner', 'x', 'Line 3: There is no age.inner: age is neither an object nor a list.'],
  ])('nothing in a column %s of %j', (header, cell, message) => {
    expect(() => fieldsBy(header, cell)).toThrow(message);
  });

  test('an invalid type names the four valid ones', () => {
    expect(() => fieldsBy('age', 'x')).toThrow(
      expect.objectContaining({
        hint: 'For another type, name the column age:text, age:int, age:bool or age:json.',
      }),
    );
  });
});

test('a header with 100,000 columns is written, read and compared quickly', async () => {
  const wide = Object.fromEntries(
    Array.from({ length: 100_000 }, (_, index) => [`c${index}`, index]),
  );
  const all = [0, 1].map((index) => ({ id: `r_${index}`, ...marks, ...wide }));
  const began = performance.now();
  const bytes = await exported(all);
  const edited = bytes.toString().replaceAll(',99999\r\n', ',5\r\n').replaceAll(',500,', ',501,');
  const done = await changesBy(Buffer.from(edited), all);
  expect(done.map(({ changed }) => changed.map(({ path }) => path))).toEqual([
    ['/"c500"', '/"c99999"'],
    ['/"c500"', '/"c99999"'],
  ]);
  // A quadratic step would take minutes.
  expect(performance.now() - began).toBeLessThan(60_000);
});

test('a signal stops reading rows that have already arrived, and writing', async () => {
  const stop = new AbortController();
  const many = Array.from({ length: 50_000 }, (_, index) => ({ id: `r_${index}`, name: 'x' }));
  setImmediate(() => stop.abort());
  await expect(
    selectCsv(
      (async function* () {
        yield await exported(many);
      })(),
      {
        name: 'x.csv',
        rules,
        map: [],
        ignoreUnknownColumns: false,
        raw: false,
        ...{
          keepsCells: false,
          resource: 'tryouts',
          key: idKey,
          organizationId: 'org_7',
          signal: stop.signal,
        },
      },
    ),
  ).rejects.toThrow('Stopped while reading x.csv');
  const context = { ...outputContext(), signal: stop.signal };
  const writing = collected((sink) => writeCsv(sink, many, context, { view: { columns: ['id'] } }));
  await expect(writing).rejects.toThrow('Stopped while writing');
});
