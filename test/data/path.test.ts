import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { flatten, hasPath, plainText, valueAt, valuesAt } from '../../src/data/path.js';
import { RawNumber } from '../../src/data/json.js';

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
  ['gamerTags.7.game', undefined],
  ['gamerTags.rank', undefined],
  ['nothing', undefined],
  ['id.length', undefined],
  ['toString', undefined],
  ['__proto__.constructor', undefined],
])('at %s stands %j', (path, value) => {
  expect(valueAt(record, path)).toEqual(value);
  expect(hasPath(record, path)).toBe(value !== undefined);
});

test('valuesAt gives the elements of a list, and nothing for an unknown field', () => {
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

test('every flattened plain value stands at its own path', () => {
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
