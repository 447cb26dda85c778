import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  type Field,
  readFieldWord,
  refuseDoubleFields,
  setFields,
  typedValue,
} from '../../src/data/assign.js';
import { UsageError } from '../../src/errors.js';

test.each([
  ['true', true],
  ['false', false],
  ['null', null],
  ['5', 5],
  ['-3', -3],
  ['0', 0],
  ['1.5', 1.5],
  ['9007199254740991', 9007199254740991],
  ['{"a":1}', { a: 1 }],
  ['["x"]', ['x']],
  ['[]', []],
])('%s is typed', (text, value) => {
  expect(typedValue(text)).toEqual(value);
});

test.each([
  '07',
  '1.50',
  '1e3',
  '0x10',
  '+1',
  '-0',
  '.5',
  '5.',
  '1_000',
  ' 5',
  '9007199254740992',
  '900000000000000001',
  '9000000000000000001',
  'Infinity',
  'NaN',
  'True',
  'undefined',
  '',
  '[FOX]',
  '{broken',
])('%j stays text', (text) => {
  expect(typedValue(text)).toBe(text);
});

test('a number, a boolean or null is printed as it was typed', () => {
  const numberLike = fc.oneof(
    fc.string(),
    fc.double().map(String),
    fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n }).map(String),
    fc.tuple(fc.integer(), fc.nat(9)).map(([whole, part]) => `${whole}.${part}0`),
    fc.stringMatching(/^-?[0-9]{1,20}(\.[0-9]{1,4})?(e[0-9])?$/),
  );
  fc.assert(
    fc.property(numberLike, (text) => {
      const value = typedValue(text);
      if (typeof value === 'object' && value !== null) return;
      expect(String(value)).toBe(text);
    }),
    { numRuns: 2000 },
  );
});

test.each([
  ['name=Foxes', ['name'], false, 'Foxes'],
  ['name=', ['name'], false, ''],
  ['note=a=b', ['note'], false, 'a=b'],
  ['a.b.c=1', ['a', 'b', 'c'], false, '1'],
  ['a[b][c]=1', ['a', 'b', 'c'], false, '1'],
  ['tags[]=x', ['tags'], true, 'x'],
  ['a.tags[]=', ['a', 'tags'], true, ''],
  ['tags[]', ['tags'], true, undefined],
])('%s is parsed', (word, path, list, text) => {
  expect(readFieldWord(word)).toMatchObject({ path, list, text });
});

test.each(['name', '=x', 'a..b=1', '.a=1', 'a[]b=1', 'a[][]=1', 'a]=1', '[]=x', '[]', ''])(
  '%j is refused as a field',
  (word) => {
    expect(() => readFieldWord(word)).toThrow(UsageError);
  },
);

test('fields are set in the base: nested ones beside existing ones, lists replaced', () => {
  const base = { name: 'old', social: { web: 'a', mail: 'b' }, tags: ['x'], other: 1 };
  const body = setFields(base, fields(['name=new', 'social.web=c', 'tags[]=y', 'tags[]=z']));
  expect(body).toEqual({
    name: 'new',
    social: { web: 'c', mail: 'b' },
    tags: ['y', 'z'],
    other: 1,
  });
  expect(base.tags).toEqual(['x']);
});

test('a bare list is the empty list', () => {
  expect(setFields({ tags: ['x'] }, fields(['tags[]']))).toEqual({ tags: [] });
});

const tagged = {
  tags: ['x', 'y'],
  gamerTags: [{ game: 'cs2', gamerTag: 'fx' }, { game: 'chess' }],
  none: [],
  nothing: null,
  text: 'x',
};

test('an index changes only that element of the existing list', () => {
  const words = ['tags.1=z', 'gamerTags.0.gamerTag=new', 'gamerTags[1][peak]=9', 'nothing.a=1'];
  expect(setFields(tagged, fields(words))).toEqual({
    ...tagged,
    tags: ['x', 'z'],
    gamerTags: [
      { game: 'cs2', gamerTag: 'new' },
      { game: 'chess', peak: '9' },
    ],
    nothing: { a: '1' },
  });
  expect(tagged.gamerTags[0]).toEqual({ game: 'cs2', gamerTag: 'fx' });
});

test.each([
  ['tags.2=z', 'There is no tags.2: tags has 2 elements.'],
  ['none.0=z', 'There is no none.0: none is empty.'],
  ['nothing.0=z', 'There is no nothing.0: nothing is empty.'],
  ['absent.0.game=z', 'There is no absent.0.game: absent is empty.'],
  ['gamerTags.7.game=z', 'There is no gamerTags.7: gamerTags has 2 elements.'],
  ['tags.x=z', 'There is no tags.x: tags is a list. Name an element, such as tags.0.'],
  ['tags.-1=z', 'There is no tags.-1: tags is a list. Name an element, such as tags.0.'],
  ['text.a=z', 'There is no text.a: text is neither an object nor a list.'],
])('%s is refused', (word, message) => {
  const setting = () => setFields(tagged, fields([word]));
  expect(setting).toThrow(UsageError);
  expect(setting).toThrow(message);
});

test('100,000 fields are set quickly, at the top level and in one object', () => {
  const words = Array.from({ length: 100_000 }, (_, index) => `a${index}=1`);
  const began = performance.now();
  expect(Object.keys(setFields({}, fields(words)))).toHaveLength(100_000);
  const nested = setFields({ a: {} }, fields(words.map((word) => `a.${word}`)));
  expect(Object.keys(nested['a'] as object)).toHaveLength(100_000);
  // Copying the object for every field would take minutes.
  expect(performance.now() - began).toBeLessThan(60_000);
});

test.each([
  [['a=1', 'a=2']],
  [['a=1', 'a.b=2']],
  [['a.b=2', 'a=1']],
  [['tags=x', 'tags[]=y']],
  [['tags[]', 'tags[]=y']],
  [['tags[]', 'tags[]']],
  [['a[]=1', 'a.b=2']],
])('%j contradict each other', (words) => {
  expect(() => refuseDoubleFields(fields(words))).toThrow(UsageError);
});

test('different nested fields and items of one list can be given together', () => {
  expect(() =>
    refuseDoubleFields(fields(['a.b=1', 'a.c=2', 'ab=3', 'tags[]=x', 'tags[]=x'])),
  ).not.toThrow();
});

test('keys that are special in JavaScript are ordinary keys', () => {
  for (const key of ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty']) {
    const body = setFields({}, fields([`${key}.polluted=yes`, 'x=1']));
    expect(JSON.stringify(body)).toBe(`{"${key}":{"polluted":"yes"},"x":"1"}`);
    const list = setFields({}, fields([`${key}[]=yes`]));
    expect(JSON.stringify(list)).toBe(`{"${key}":["yes"]}`);
  }
  expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
});

test('any key without dots and brackets is set under its own name', () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[^.[\]=]{1,20}$/), fc.string(), (key, text) => {
      const body = setFields({}, fields([`${key}=${text}`]));
      expect(JSON.parse(JSON.stringify(body))).toStrictEqual(
        JSON.parse(`{${JSON.stringify(key)}:${JSON.stringify(text)}}`),
      );
    }),
  );
});

function fields(words: readonly string[]): Field[] {
  return words.map((word) => {
    const { key, path, list, text } = readFieldWord(word);
    return { key, path, list, value: text };
  });
}
