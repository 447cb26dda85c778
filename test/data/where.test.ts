import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type JsonObject, RawNumber } from '../../src/data/json.js';
import {
  compareDecimals,
  isSameMeaning,
  OrderedRecords,
  orderByField,
  type RecordOrder,
  usualOrder,
} from '../../src/data/sorting.js';
import { matchesCondition, parseCondition } from '../../src/data/where.js';
import { UsageError } from '../../src/errors.js';
import { codePoint } from '../support/code-point.js';

const record = {
  id: 'app_1',
  status: 'pending',
  name: '=SUM(A1)',
  age: 17,
  rating: 1.5,
  active: true,
  internalNotes: null,
  snowflake: new RawNumber('9000000000000000001'),
  balance: new RawNumber('0.0'),
  submittedAt: '2026-03-01T18:00:00Z',
  birthday: '2008-05-01',
  tags: ['legal', 'Travel'],
  none: [],
  gamerTags: [
    { game: 'Valorant', gamerTag: 'Nimbus#DEMO' },
    { game: 'Rocket League', gamerTag: 'Kite' },
  ],
  formResponses: {
    'What is your peak rank?': 'Gold 3',
    'a.b': 'dotted',
    hours: '12',
    essay: 'long',
    skipped: '',
  },
};
const holds = (text: string) => matchesCondition(parseCondition(text), record);

describe('a condition', () => {
  test.each([
    ['status=pending', true],
    ['status=Pending', false],
    ['status!=pending', false],
    ['name===SUM(A1)', true],
    ['status==pending', true],
    ['status == pending', true],
    ['status==accepted', false],
    ['status = pending', true],
    ['age=17', true],
    ['age=17.0', true],
    ['age=1.7e1', true],
    ['age=', false],
    ['rating=1.50', true],
    ['balance=0', true],
    ['balance<0', false],
    ['formResponses.hours=12.0', false],
    ['active=true', true],
    ['snowflake=9000000000000000001', true],
    ['snowflake=9000000000000000002', false],
    ['internalNotes=null', true],
    ['internalNotes!=null', false],
    ['discordUserId=null', true],
    ['none=null', true],
    ['status=null', false],
    ['gamerTags.game=Valorant', true],
    ['gamerTags.game=Rocket League', true],
    ['gamerTags.game!=Valorant', false],
    ['gamerTags.game!=Chess', true],
    ['gamerTags.1.game=Valorant', false],
    ['tags=legal', true],
    ['formResponses.a.b=dotted', true],
    ['formResponses.What is your peak rank?=Gold 3', true],
    ['status~END', true],
    ['gamerTags~nimbus', true],
    ['formResponses~gold', true],
    ['internalNotes~null', false],
    ['age>16', true],
    ['age>17', false],
    ['age>=17', true],
    ['age>=18', false],
    ['age<=17', true],
    ['age<17', false],
    ['formResponses.hours>9', true],
    ['snowflake>9000000000000000000', true],
    ['internalNotes<5', false],
    ['missing<5', false],
    ['formResponses.skipped<5', false],
    ['formResponses.skipped>=2026-03-01', false],
    ['submittedAt<2026-03-03', true],
    ['submittedAt>2026-03-02', false],
    ['submittedAt>2026-03-01', false],
    ['submittedAt<=2026-03-01', true],
    ['submittedAt>=2026-03-01', true],
    ['submittedAt<2026-03-01', false],
    ['submittedAt<=2026-02-28', false],
    ['submittedAt>=2026-03-01T18:00:00Z', true],
    ['submittedAt>2026-03-01T19:30:00+02:00', true],
    ['birthday<=2008-05-01', true],
    ['birthday>2008-05-01', false],
    ['birthday<2008-05-01', false],
  ])('%s is %s', (text, expected) => {
    expect(holds(text)).toBe(expected);
  });

  test('with < or a similar operator refuses what is neither a number nor a time, naming the record', () => {
    expect(() => holds('formResponses.essay>3')).toThrow(
      'formResponses.essay of app_1 is "long", which cannot be compared with "3".',
    );
    expect(() => holds('age>tall')).toThrow('cannot be compared');
    expect(() => holds('submittedAt>17')).toThrow('cannot be compared');
  });

  test('with < or a similar operator says how a time is written, where the record holds one', () => {
    for (const text of ['now', '30d', '31.12.2026'])
      expect(() => holds(`submittedAt<${text}`)).toThrow(
        expect.objectContaining({ hint: 'Write a time as 2026-11-28 or 2026-11-28T18:00:00Z.' }),
      );
  });

  test.each([
    [
      'gamerTags!=valorant',
      'gamerTags of app_1 holds objects, which cannot be',
      'gamerTags.game!=',
    ],
    ['gamerTags=valorant', 'gamerTags of app_1 holds objects, which cannot be', 'gamerTags.game='],
    ['gamerTags.0!=valorant', 'gamerTags.0 of app_1 holds an object, which', 'gamerTags.0.game!='],
    ['formResponses!=long', 'formResponses of app_1 holds an object', 'formResponses~long'],
  ])('%s is refused, as an object is no text', (text, message, hint) => {
    expect(() => holds(text)).toThrow(
      expect.objectContaining({
        message: expect.stringContaining(message),
        hint: expect.stringContaining(hint),
      }),
    );
  });

  test('which the hint quotes for a shell', () => {
    expect(() => holds("gamerTags=Rock'n'Roll")).toThrow(
      expect.objectContaining({
        hint: String.raw`Name a field of it, e.g. 'gamerTags.game=Rock'\''n'\''Roll', or search all of it: 'gamerTags~Rock'\''n'\''Roll'`,
      }),
    );
  });

  test.each([
    ['gamerTags!=null', true],
    ['gamerTags!=', true],
    ['gamerTags.1={"game":"Rocket League","gamerTag":"Kite"}', true],
    ['formResponses!={}', true],
  ])('%s compares an object with null, nothing or JSON: %s', (text, expected) => {
    expect(holds(text)).toBe(expected);
  });

  test.each([
    ['age=>16', '"=>" is not an operator. Did you mean >=?'],
    ['age =<16', '"=<" is not an operator. Did you mean <=?'],
  ])('%s is refused, with the correct operator', (text, message) => {
    expect(() => parseCondition(text)).toThrow(message);
  });

  test.each([
    ['name==>16', '>16'],
    ['name= >16', ' >16'],
    ['name= <16', ' <16'],
  ])('%s compares with a text', (text, value) => {
    expect(parseCondition(text)).toEqual({ field: 'name', operator: '=', value });
  });

  test.each([
    ['name=Zo\u00eb', true],
    ['name=Zoe\u0308', true],
    ['name=Zoe', false],
    ['name!=Zoe\u0308', false],
    ['name~ZO\u00cb', true],
  ])('%j has the same result in any Unicode normalization', (text, expected) => {
    for (const name of ['Zo\u00eb', 'Zoe\u0308'])
      expect(matchesCondition(parseCondition(text), { name })).toBe(expected);
  });

  test.each(['', 'status', '=x', ' != x'])('"%s" is refused', (text) => {
    expect(() => parseCondition(text)).toThrow(/operator|field/);
  });
});

const anything = fc.jsonValue({ maxDepth: 3 });
const word = fc.stringMatching(/^[a-z]{1,6}$/);

/** True if an object would be compared with a plain text. */
function isRefused(compare: () => boolean): boolean {
  try {
    compare();
    return false;
  } catch {
    return true;
  }
}

test('!= is the opposite of =, or both are refused, whatever the record contains', () => {
  fc.assert(
    fc.property(word, anything, fc.string(), (field, value, text) => {
      const held = { [field]: value };
      const compare = (operator: '=' | '!=') => () =>
        matchesCondition({ field, operator, value: text }, held);
      if (isRefused(compare('='))) expect(compare('!=')).toThrow(UsageError);
      else expect(compare('!=')()).toBe(!compare('=')());
    }),
  );
});

test('field, operator and value are parsed as typed', () => {
  const operator = fc.constantFrom('=', '!=', '~', '<', '>', '<=', '>=');
  // A value that starts with = would extend < and >, and one that starts with these is refused
  // after =.
  const value = fc.string().filter((text) => !/^[=<>\s]/.test(text));
  fc.assert(
    fc.property(word, operator, value, (field, sign, text) => {
      expect(parseCondition(`${field}${sign}${text}`)).toEqual({
        field,
        operator: sign,
        value: text,
      });
    }),
  );
});

describe('numbers by value', () => {
  test('compare as numbers do', () => {
    const number = fc.double({ noNaN: true, noDefaultInfinity: true });
    fc.assert(
      fc.property(number, number, (a, b) => {
        expect(Math.sign(compareDecimals(String(a), String(b)) ?? Number.NaN)).toBe(
          Math.sign(a - b) + 0,
        );
      }),
    );
  });

  test('compare beyond the precision of a double', () => {
    fc.assert(
      fc.property(fc.bigInt(), fc.bigInt(), (a, b) => {
        const order = a < b ? -1 : a > b ? 1 : 0;
        expect(Math.sign(compareDecimals(String(a), String(b)) ?? Number.NaN)).toBe(order);
      }),
    );
  });

  test('each spelling of zero is the same number', () => {
    const zeros = ['0', '-0', '0.0', '.0', '0e5', '-0.00e-7'];
    for (const a of zeros) {
      expect(zeros.map((b) => compareDecimals(a, b))).toEqual(zeros.map(() => 0));
      expect(['-1', '-0.01', '0.5'].map((b) => Math.sign(compareDecimals(a, b) ?? 0))).toEqual([
        1, 1, -1,
      ]);
    }
  });

  test.each(['', '.', '-', 'x', '1x', '0x10', '1e', 'NaN', 'Infinity'])('"%s" is none', (text) => {
    expect(compareDecimals(text, '1')).toBeUndefined();
  });
});

test.each([
  [9.5, '9.50', true],
  ['9.5', '9.50', true],
  [7, '07', true],
  ['7', '07', false],
  [false, 0, true],
  ['2026-03-01T10:00:00Z', '2026-03-01T12:00:00+02:00', true],
  ['2026-03-01T10:00:00Z', '2026-03-01T12:00:00Z', false],
])('%j and %j mean the same: %s', (one, other, expected) => {
  expect(isSameMeaning(one, other)).toBe(expected);
  expect(isSameMeaning(other, one)).toBe(expected);
});

const order = (values: readonly unknown[], descending = false) =>
  sorted(
    values.map((value) => (value === undefined ? {} : { value })),
    orderByField({ field: 'value', descending }),
  ).map((each) => each['value']);

function sorted(records: readonly JsonObject[], by: RecordOrder, limit?: number) {
  const ordered = new OrderedRecords(by, limit);
  for (const each of records) ordered.add(each);
  return ordered.first();
}

describe('sorting', () => {
  test('compares numbers, times and names by their own rules', () => {
    expect(order([10, 9, -1, 1.5])).toEqual([-1, 1.5, 9, 10]);
    expect(order(['app_10', 'app_9', 'App_1'])).toEqual(['App_1', 'app_9', 'app_10']);
    expect(order(['2026-03-01T10:00:00Z', '2026-03-01T11:30:00+02:00'])).toEqual([
      '2026-03-01T11:30:00+02:00',
      '2026-03-01T10:00:00Z',
    ]);
  });

  test('puts records without the field last, in both directions', () => {
    expect(order([null, 2, undefined, 1])).toEqual([1, 2, null, undefined]);
    expect(order([null, 2, undefined, 1], true)).toEqual([2, 1, null, undefined]);
  });

  test('puts unreadable times and numbers after the others, in both directions', () => {
    const [early, late] = ['2026-03-01T10:00:00Z', '2026-03-02T10:00:00Z'];
    expect(order([early, 'soon', late])).toEqual([early, late, 'soon']);
    expect(order([early, 'soon', late, ''], true)).toEqual([late, early, 'soon', '']);
    expect(order([9, 'none', 10], true)).toEqual([10, 9, 'none']);
  });

  test('keeps every record once, and orders equal ones by id', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.integer({ min: 0, max: 3 }), fc.nat())), (pairs) => {
        const records = pairs.map(([value, id]) => ({ value, id: String(id).padStart(10, '0') }));
        const expected = records.toSorted((a, b) => a.value - b.value || (a.id < b.id ? -1 : 1));
        const found = sorted(records, orderByField({ field: 'value', descending: false }));
        expect(found.map(({ id }) => id)).toEqual(expected.map(({ id }) => id));
      }),
    );
  });

  test('by name goes by code point, in lower case; what is no text comes last', () => {
    const names = ['Zoe', 'zoa', 'E\u0301mile', 'a', undefined, '\u{1f600}', '\uff21', 7, 'Ann'];
    const records = names.map((name, index) => ({ id: `p${index}`, name }));
    expect(sorted(records, usualOrder('players')).map(({ name }) => name)).toEqual([
      'a',
      'Ann',
      'zoa',
      'Zoe',
      'E\u0301mile',
      '\uff21',
      '\u{1f600}',
      undefined,
      7,
    ]);
  });

  test('of applications is newest first; an unreadable time comes last', () => {
    const times = ['2026-03-01T10:00:00Z', 'soon', '2026-03-02T01:00:00+02:00', null];
    const records = times.map((submittedAt, index) => ({ id: `app_${index}`, submittedAt }));
    expect(sorted(records, usualOrder('tryouts')).map(({ id }) => id)).toEqual([
      'app_2',
      'app_0',
      'app_1',
      'app_3',
    ]);
  });

  test('the first of many are the first of all', () => {
    const field = fc.oneof(fc.string({ unit: codePoint, maxLength: 3 }), fc.constant(null));
    const list = fc.array(fc.record({ id: fc.string({ maxLength: 3 }), name: field }), {
      minLength: 900,
      maxLength: 1_300,
    });
    fc.assert(
      fc.property(list, fc.integer({ min: 1, max: 40 }), (records, limit) => {
        const all = sorted(records, usualOrder('teams'));
        expect(sorted(records, usualOrder('teams'), limit)).toEqual(all.slice(0, limit));
        const points = all.map(({ name }) =>
          typeof name === 'string' ? Array.from(name.normalize('NFC').toLowerCase()) : [],
        );
        for (const [at, next] of points.slice(1).entries())
          if (all[at + 1]?.['name'] !== null)
            expect(Buffer.compare(utf32(points[at] ?? []), utf32(next))).toBeLessThanOrEqual(0);
      }),
      { numRuns: 10 },
    );
  });
});

function utf32(characters: readonly string[]): Buffer {
  const bytes = Buffer.alloc(characters.length * 4);
  for (const [at, each] of characters.entries())
    bytes.writeUInt32BE(each.codePointAt(0) ?? 0, at * 4);
  return bytes;
}
