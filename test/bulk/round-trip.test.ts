import { isDeepStrictEqual } from 'node:util';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { selectCsv } from '../../src/bulk/selection.js';
import { writeCsv } from '../../src/cli/writers.js';
import { cellFields } from '../../src/data/cell-values.js';
import { csvLine, unguard } from '../../src/data/csv.js';
import type { ColumnRules } from '../../src/data/csv-columns.js';
import { idKey } from '../../src/data/csv-columns.js';
import { readCsv } from '../../src/data/csv-reader.js';
import { isObject, type JsonObject, parseJson, RawNumber } from '../../src/data/json.js';
import { plainText } from '../../src/data/path.js';
import type { SelectedRow } from '../../src/runs/report.js';

const rules: ColumnRules = {
  columns: [{ name: 'updatedAt', read: (cell) => cell.trim() }],
  exported: ['organizationId', 'createdAt'],
  open: true,
};

/** The bytes that `-o csv` writes. */
async function exported(records: readonly JsonObject[], raw = false): Promise<Buffer> {
  const parts: Buffer[] = [];
  const sink = {
    ...{ isTerminal: false, columns: 80, rows: 24, color: false },
    async write(text: string | Uint8Array) {
      parts.push(Buffer.from(text as string));
    },
  };
  await writeCsv(sink, records, { delimiter: ',', raw, bom: false, noHeader: false }, ['id']);
  return Buffer.concat(parts);
}

async function imported(bytes: Uint8Array, raw = false): Promise<readonly SelectedRow[]> {
  const chunks = (async function* () {
    yield bytes;
  })();
  const { rows } = await selectCsv(chunks, {
    name: 'x.csv',
    rules,
    map: [],
    ignoreUnknownColumns: false,
    raw,
    keepsCells: false,
    resource: 'tryouts',
    key: idKey,
    organizationId: 'org_7',
    signal: new AbortController().signal,
  });
  return rows;
}

const marks = {
  resource: 'tryouts',
  key: idKey,
  organizationId: 'org_7',
  createdAt: '2026-03-01T10:00:00Z',
  updatedAt: '2026-03-01T10:00:00Z',
};

/** The changes that each row of a file makes to its record. */
async function changesBy(bytes: Uint8Array, records: readonly JsonObject[], raw = false) {
  const rows = await imported(bytes, raw);
  return rows.map(({ id, row, own = {} }) => {
    const record = records.find((each) => each['id'] === id) ?? {};
    const wanted = cellFields(own, record, row);
    return { record, changed: leavesThatDiffer(record, { ...record, ...wanted }), wanted };
  });
}

interface Difference {
  readonly path: string;
  readonly from: unknown;
  readonly to: unknown;
}

/** The paths at which two values differ, leaf by leaf; a list of plain values has one leaf per element. */
function leavesThatDiffer(from: unknown, to: unknown, path = ''): readonly Difference[] {
  const bothLists = Array.isArray(from) && Array.isArray(to);
  if ((isObject(from) && isObject(to)) || bothLists)
    return [...new Set([...Object.keys(from), ...Object.keys(to)])].flatMap((key) =>
      leavesThatDiffer(
        (from as JsonObject)[key],
        (to as JsonObject)[key],
        `${path}/${JSON.stringify(key)}`,
      ),
    );
  return isDeepStrictEqual(from, to) ? [] : [{ path, from, to }];
}

function pathsOf(list: readonly { readonly path: string }[]): readonly string[] {
  return list.map(({ path }) => path).toSorted();
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'list';
  return value instanceof RawNumber ? 'number' : typeof value;
}

const oddText = fc.constantFrom(
  ...['=1+1', '-5', '@x', "'=1", '\u0000', 'a\u0000b', '\ud800', '\udc00x', '\u2400', '\ufffd'],
  ...['007', '1.50', '7', '-0', '1e3', '1E+12', '12345678901234567890', 'true', 'NULL', '#N/A'],
  ...[
    '<clear>',
    '',
    ' ',
    ' pad ',
    'a;b',
    ';',
    '[1]',
    '["x"]',
    '{"a":1}',
    '\u0007\u001b[0m',
    '\r\n',
  ],
  ...['a,b', '"', 'é', 'e\u0301', 'Ann\n=1+1', '💡', 'Err:502'],
);
const text = fc.oneof(oddText, fc.string({ unit: 'binary', maxLength: 5 }));
const number = fc.oneof(
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.constantFrom('12345678901234567890', '1E+400', '-0.10000000000000000001').map(parseJson),
);
const plain = fc.oneof(text, number, fc.boolean(), fc.constant(null));
const key = fc.oneof(
  fc.constantFrom('game', 'gamerTag', 'a', 'b', 'a.b', 'b.a', 'a.b.a', '0', 'ID', 'updated_at'),
  fc.constantFrom(
    'age:int',
    'Pick one:number',
    'x:text',
    'Rank (v1.2)?',
    'Why. Really. ',
    'é\u0000',
  ),
  fc.constantFrom('__proto__', 'constructor', '=key', 'ключ', 'R [EU]'),
);
const tree = fc.letrec<{ any: unknown; object: JsonObject }>((tie) => ({
  any: fc.oneof(
    { maxDepth: 3 },
    { weight: 4, arbitrary: plain },
    { weight: 2, arbitrary: fc.array(plain, { maxLength: 4 }) },
    { weight: 1, arbitrary: fc.array(tie('any'), { maxLength: 3 }) },
    { weight: 1, arbitrary: fc.array(tie('object'), { maxLength: 3 }) },
    { weight: 2, arbitrary: tie('object') },
  ),
  object: fc.dictionary(key, tie('any'), { maxKeys: 4, noNullPrototype: true }),
}));
/** Fields that the contract names and others; each may be missing. */
const fields = fc.record(
  {
    name: text,
    email: text,
    internalNotes: fc.oneof(text, fc.constant(null)),
    tags: fc.array(text, { maxLength: 4 }),
    gamerTags: fc.array(fc.record({ game: text, gamerTag: text }), { maxLength: 3 }),
    formResponses: tree.object,
  },
  { requiredKeys: [] },
);
const records = fc
  .array(fc.tuple(fields, tree.object), { minLength: 1, maxLength: 4 })
  .map((all) =>
    all.map(([known, unknown], index) => ({ ...unknown, ...known, id: `r_${index}`, ...marks })),
  );

test('an unedited export changes nothing, whatever it holds', async () => {
  await fc.assert(
    fc.asyncProperty(records, async (all) => {
      for (const { changed, wanted } of await changesBy(await exported(all), all))
        expect([changed, wanted]).toEqual([[], {}]);
    }),
    { numRuns: 500 },
  );
});

test('an unedited --csv-raw export changes nothing, or is refused for a NUL', async () => {
  await fc.assert(
    fc.asyncProperty(records, async (all) => {
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

/** A leaf shown in a cell, and how to write another value of its type there. */
interface Edit {
  readonly path: string;
  readonly to: unknown;
}

const untouchable: ReadonlySet<string> = new Set([
  'id',
  'updatedAt',
  'organizationId',
  'createdAt',
]);

/** Another value of the same type that a cell can express: not empty, and no `<clear>` but guarded. */
function otherThan(present: unknown, seed: number): unknown {
  if (typeof present === 'boolean') return !present;
  if (typeof present === 'number' || present instanceof RawNumber)
    return present === seed + 0.5 ? seed + 1.5 : seed + 0.5;
  return `new ${['=1', ';x', '07', 'é', '<clear>'][seed % 5]} ${seed}`;
}

const isPlain = (item: unknown) => !isObject(item) && !Array.isArray(item);

/** Changes one cell of a record; returns the new text of the cell, and the expected change. */
function editOf(present: unknown, path: string, seed: number): { cell: string; edit: Edit } {
  if (!Array.isArray(present)) {
    const to = otherThan(present, seed);
    return { cell: String(to), edit: { path, to } };
  }
  const list = present as readonly unknown[];
  const index = seed % list.length;
  const to = otherThan(list[index], seed);
  const changed = list.map((item, at) => (at === index ? to : item));
  const needsJson = [...list, to].some((item) => /;|^\s*\[/.test(String(item)));
  const shown = changed.map((item) => plainText(item).replaceAll('\0', '\u2400').toWellFormed());
  const json = `[${changed
    .map((item) => (item instanceof RawNumber ? item.text : JSON.stringify(item)))
    .join(',')}]`;
  return {
    cell: needsJson ? json : shown.join(';'),
    edit: { path: `${path}/"${index}"`, to },
  };
}

/** Every leaf of a record with its own cell, by column name; no two share one. */
function leaves(record: JsonObject): Map<string, { path: string; value: unknown }> {
  const found = new Map<string, { path: string; value: unknown }>();
  const twice = new Set<string>();
  const walk = (value: unknown, words: readonly string[]) => {
    const inner = isObject(value)
      ? Object.entries(value)
      : Array.isArray(value) && !value.every(isPlain)
        ? Object.entries(value)
        : undefined;
    if (inner) return inner.forEach(([word, item]) => walk(item, [...words, word]));
    const name = words.join('.');
    if (found.has(name)) twice.add(name);
    found.set(name, { path: words.map((word) => `/${JSON.stringify(word)}`).join(''), value });
  };
  walk(record, []);
  for (const name of twice) found.delete(name);
  return found;
}

test('an export with k edited cells changes exactly these, each with its type and in place', async () => {
  let edited = 0;
  await fc.assert(
    fc.asyncProperty(records, fc.array(fc.nat(), { maxLength: 6 }), async (all, seeds) => {
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
          readCsv(csvLine([cell], { delimiter: ',', raw: false }), ',')[0]?.cells ?? [];
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
    ['social', 'x', 'Line 3: social is an object, and the cell is text.'],
    ['gamerTags', 'x', 'Line 3: gamerTags is a list of objects, and the cell is text.'],
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
  expect(performance.now() - began).toBeLessThan(20_000);
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
        ...{ name: 'x.csv', rules, map: [], ignoreUnknownColumns: false, raw: false },
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
  const look = {
    delimiter: ',',
    raw: false,
    bom: false,
    noHeader: false,
    signal: stop.signal,
  } as const;
  const sink = { ...{ isTerminal: false, columns: 80, rows: 24, color: false }, async write() {} };
  await expect(writeCsv(sink, many, look, ['id'])).rejects.toThrow('Stopped while writing');
});
