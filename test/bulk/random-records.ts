import { isDeepStrictEqual } from 'node:util';
import * as fc from 'fast-check';
import { selectCsv } from '../../src/bulk/selection.js';
import { cellFields } from '../../src/data/cell-values.js';
import { type ColumnRules } from '../../src/data/csv-columns.js';
import { isObject, type JsonObject, parseJson, RawNumber } from '../../src/data/json.js';
import { plainText } from '../../src/data/path.js';
import { idKey } from '../../src/data/references.js';
import type { SelectedRow } from '../../src/runs/report.js';
import { codePoint } from '../support/code-point.js';

// Random records of every kind of field, the changes that a file makes to them, and edits of cells.

export const rules: ColumnRules = {
  columns: [{ name: 'updatedAt', read: (cell) => cell.trim() }],
  exported: ['organizationId', 'createdAt'],
  open: true,
};

export async function imported(
  bytes: Uint8Array,
  raw = false,
  more: { readonly takeFormulas?: boolean } = {},
): Promise<readonly SelectedRow[]> {
  const chunks = (async function* () {
    yield bytes;
  })();
  const { rows } = await selectCsv(chunks, {
    name: 'x.csv',
    ...more,
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

export const marks = {
  organizationId: 'org_7',
  createdAt: '2026-03-01T10:00:00Z',
  updatedAt: '2026-03-01T10:00:00Z',
};

/** The changes that each row of a file makes to its record. */
export async function changesBy(bytes: Uint8Array, records: readonly JsonObject[], raw = false) {
  const rows = await imported(bytes, raw);
  return rows.map(({ id, row, own = {} }) => {
    const record = records.find((each) => each['id'] === id) ?? {};
    const wanted = cellFields(own, record, row);
    return { record, changed: leavesThatDiffer(record, { ...record, ...wanted }), wanted };
  });
}

export interface Difference {
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

export function pathsOf(list: readonly { readonly path: string }[]): readonly string[] {
  return list.map(({ path }) => path).toSorted();
}

export function typeOf(value: unknown): string {
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
const text = fc.oneof(oddText, fc.string({ unit: codePoint, maxLength: 5 }));
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
export const records = fc
  .array(fc.tuple(fields, tree.object), { minLength: 1, maxLength: 4 })
  .map((all) =>
    all.map(([known, unknown], index) => ({ ...unknown, ...known, id: `r_${index}`, ...marks })),
  );

/** A leaf shown in a cell, and how to write another value of its type there. */
export interface Edit {
  readonly path: string;
  readonly to: unknown;
}

export const untouchable: ReadonlySet<string> = new Set([
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
export function editOf(present: unknown, path: string, seed: number): { cell: string; edit: Edit } {
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
export function leaves(record: JsonObject): Map<string, { path: string; value: unknown }> {
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
