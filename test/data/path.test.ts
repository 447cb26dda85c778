import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { RawNumber } from '../../src/data/json.js';
import {
  flatten,
  hasPath,
  listText,
  locate,
  plainText,
  valueAt,
  valuesAt,
} from '../../src/data/path.js';

const record = {
  id: 'app_1',
  notes: null,
  'a.b': 'dotted key',
  a: { b: 'nested', c: 1 },
  formResponses: { 'Your rank (v1.2)': 'gold', rank: { peak: 'x' } },
  gamerTags: [
    { game: 'valorant', gamerTag: 'Foxy' },
    { game: 'cs2', gamerTag: 'fx' },
  ],
  tags: ['x', 'y'],
};

test.each([
  ['id', 'app_1'],
  ['notes', null],
  ['a.b', 'dotted key'],
  ['a.c', 1],
  ['formResponses.Your rank (v1.2)', 'gold'],
  ['formResponses.rank.peak', 'x'],
  ['gamerTags.1.gamerTag', 'fx'],
  ['gamerTags.gamerTag', ['Foxy', 'fx']],
  ['tags.0', 'x'],
  ['tags', ['x', 'y']],
  ['a[b]', 'nested'],
  ['a[c]', 1],
  ['gamerTags[1][gamerTag]', 'fx'],
  ['a[x]', undefined],
  ['gamerTags.7.game', undefined],
  ['gamerTags.rank', undefined],
  ['nothing', undefined],
  ['id.length', undefined],
  ['toString', undefined],
  ['__proto__.constructor', undefined],
])('the value at %s is %j', (path, value) => {
  expect(valueAt(record, path)).toEqual(value);
  expect(hasPath(record, path)).toBe(value !== undefined);
});

test('valuesAt returns the elements of a list, and undefined for an unknown field', () => {
  expect(valuesAt(record, 'gamerTags.game')).toEqual(['valorant', 'cs2']);
  expect(valuesAt(record, 'tags')).toEqual(['x', 'y']);
  expect(valuesAt(record, 'notes')).toEqual([null]);
  expect(valuesAt(record, 'nothing')).toBeUndefined();
});

test('a record is flattened to dotted columns, plain lists joined', () => {
  expect([...flatten({ ...record, 'a.b': 'own', empty: [], none: {} })]).toEqual([
    ['id', 'app_1'],
    ['notes', null],
    ['a.b', 'own'],
    ['a[b]', 'nested'],
    ['a.c', 1],
    ['formResponses.Your rank (v1.2)', 'gold'],
    ['formResponses.rank.peak', 'x'],
    ['gamerTags.0.game', 'valorant'],
    ['gamerTags.0.gamerTag', 'Foxy'],
    ['gamerTags.1.game', 'cs2'],
    ['gamerTags.1.gamerTag', 'fx'],
    ['tags', 'x;y'],
    ['empty', ''],
  ]);
});

test('dotted keys and nested fields of one name each get a column, in any order', () => {
  const dotted: [string, unknown][] = [['a.b.c', 'dotted']];
  const nested: [string, unknown][] = [
    ['a.b', { c: 'half' }],
    ['a', { 'b.c': 'other half', b: { c: 'nested' } }],
  ];
  for (const entries of [
    [...dotted, ...nested],
    [...nested, ...dotted],
  ])
    expect(Object.fromEntries(flatten(Object.fromEntries(entries)))).toEqual({
      'a.b.c': 'dotted',
      'a.b[c]': 'half',
      'a[b.c]': 'other half',
      'a[b][c]': 'nested',
    });
  expect([...flatten(Object.fromEntries(nested)).keys()]).toContain('a.b.c');
});

test('every column of a record is found again in it', () => {
  const key = fc.stringMatching(/^[ab.0[\]]{0,3}$/);
  const value = fc.letrec((tie) => ({
    tree: fc.oneof(
      { maxDepth: 3 },
      fc.nat(),
      fc.array(fc.nat(), { maxLength: 2 }),
      fc.array(tie('tree'), { maxLength: 2 }),
      fc.dictionary(key, tie('tree'), { maxKeys: 4 }),
    ),
  })).tree;
  fc.assert(
    fc.property(fc.dictionary(key, value, { maxKeys: 4 }), (tree) => {
      for (const [name, cell] of flatten(tree)) {
        const found = locate(tree, name);
        expect(Array.isArray(found?.value) ? listText(found.value) : found?.value).toBe(cell);
        const at = found?.path.reduce<unknown>(
          (place, part) => (place as Record<string, unknown>)[part],
          tree,
        );
        expect(at).toBe(found?.value);
      }
    }),
    { numRuns: 2000 },
  );
});

test('a list is one cell: joined, or JSON if that would not round-trip', () => {
  expect([['a', 1, null], ['a;b'], ['[a'], [], ['a\ud800;']].map(listText)).toEqual([
    'a;1;',
    '["a;b"]',
    '["[a"]',
    '',
    '["a\\ud800;"]',
  ]);
});

test('every flattened plain value is at its own path', () => {
  const plainKeys = fc.string({ minLength: 1 }).filter((key) => !/^\d|[.]/.test(key));
  const values = fc.letrec((tie) => ({
    tree: fc.oneof(
      { maxDepth: 3 },
      fc.integer(),
      fc.string(),
      fc.dictionary(plainKeys, tie('tree'), { minKeys: 1 }),
    ),
  })).tree;
  fc.assert(
    fc.property(fc.dictionary(plainKeys, values), (tree) => {
      for (const [path, value] of flatten(tree)) expect(valueAt(tree, path)).toEqual(value);
    }),
  );
});

test('plain text of every kind of value', () => {
  expect([null, undefined, 1.5, true, 'x', { a: 1 }, [1]].map(plainText)).toEqual([
    '',
    '',
    '1.5',
    'true',
    'x',
    '{"a":1}',
    '[1]',
  ]);
  expect(plainText({ a: new RawNumber('1e400') })).toBe('{"a":1e400}');
});
