import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isObject, parseJson, printJson, RawNumber } from '../../src/data/json.js';
import { isSameValue } from '../../src/data/sorting.js';

describe('numbers', () => {
  test.each([
    '12345678901234567890',
    '900000000000000001',
    '-900000000000000001',
    '1e400',
    '-1E+400',
    '1e-400',
    '0.1000000000000000055511151231257827',
    '1.50',
    '[0.0000001,-0.00000012]',
    '-0.0',
    '-0',
    '{"z":-0,"at":"2026-01-01"}',
    '[7.0,1e2,1E2,1.50e-3,0.10]',
    '{"n":1.50}',
    '{"at":"2026-10-01T07:00:10.000Z","n":1.0,"a1e5":"1.50,"}',
    '[1234567890123456789]',
    '{"id":1234567890123456789,"n":1,"s":"1234567890123456789"}',
    '{"a":[{"b":[98765432109876543210.5]}],"c":"\\"98765432109876543210 \\\\"}',
  ])('%s is printed unchanged', (text) => {
    expect(printJson(parseJson(text))).toBe(text);
  });

  test.each(['0', '-1', '1.5', '10', '-10', '9007199254740991', '0.30000000000000004', '1e+300'])(
    '%s is a plain number',
    (text) => {
      expect(parseJson(text)).toBe(Number(text));
    },
  );

  test('a number that no double represents is a RawNumber and not an object', () => {
    const value = parseJson('12345678901234567890');
    expect(value).toEqual(new RawNumber('12345678901234567890'));
    expect(isObject(value)).toBe(false);
  });

  test.each([
    ['1.50', '1.5', true],
    ['{"a":[7.0,1e2]}', '{"a":[7,100]}', true],
    ['{"a":[0.0,-0.0,0e5]}', '{"a":[0,0,-0]}', true],
    ['-0', '0', true],
    ['0.0', 'false', false],
    ['900000000000000001', '900000000000000002', false],
    ['1.50', '"1.50"', false],
    ['[1.50]', '[1.51]', false],
  ])('%s and %s mean the same: %s', (one, other, expected) => {
    expect(isSameValue(parseJson(one), parseJson(other))).toBe(expected);
  });

  test('a text that looks like our internal marks stays a text', () => {
    const escaped = parseJson('{"a":"\\u006eumber:,\\"b\\":1","c":1.50}');
    expect(printJson(escaped)).toBe('{"a":"number:,\\"b\\":1","c":1.50}');
    const text = '{"a":"number:1","b":"number7:2","c":12345678901234567890}';
    expect(printJson(parseJson(text))).toBe(text);
  });

  test('raw numbers are printed indented as JSON.stringify would', () => {
    const text = '{"a":[12345678901234567890,{}],"b":[],"c":{"d":null}}';
    const expected = JSON.stringify(JSON.parse(text.replace('12345678901234567890', '7')), null, 2);
    expect(printJson(parseJson(text), { indent: 2 })).toBe(
      expected.replace('7', '12345678901234567890'),
    );
  });

  test('every integer round-trips, however long', () => {
    fc.assert(
      fc.property(fc.bigInt(), fc.jsonValue(), (id, other) => {
        const text = `{"id":${id},"other":${JSON.stringify(other)}}`;
        const value = parseJson(text) as { id: unknown; other: unknown };
        expect(String(value.id)).toBe(String(id));
        expect(printJson(value)).toContain(`"id":${id},`);
        expect(JSON.parse(printJson(value.other))).toEqual(JSON.parse(JSON.stringify(other)));
      }),
    );
  });
});

describe('structure', () => {
  test('a __proto__ key is an ordinary key', () => {
    const text =
      '{"__proto__":{"polluted":1},"big":12345678901234567890,"constructor":{"prototype":1}}';
    const value = parseJson(text) as { big: unknown; polluted?: unknown };
    expect(value.polluted).toBeUndefined();
    expect(Object.keys(value)).toEqual(['__proto__', 'big', 'constructor']);
    expect(printJson(value)).toBe(text);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });

  test('a byte order mark is dropped', () => {
    expect(parseJson('\ufeff{"a":1}')).toEqual({ a: 1 });
  });

  test('200 levels are read, 201 are too deep', () => {
    expect(() => parseJson(nested(200))).not.toThrow();
    expect(() => parseJson(nested(201))).toThrow(/nested too deep/);
    expect(() => parseJson(nested(201, '12345678901234567890'))).toThrow(/nested too deep/);
    expect(() => parseJson(nested(100_000))).toThrow(/nested too deep/);
  });

  test.each([
    '{',
    '{"a":01234567890123456789}',
    '[1234567890123456789,]',
    '"open',
    '1234567890123456789x',
    '',
    '{"a":1.50,1.50:"x"}',
  ])('%s is a SyntaxError', (text) => {
    expect(() => parseJson(text)).toThrow(SyntaxError);
  });

  test('parsing agrees with JSON.parse', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        expect(JSON.stringify(parseJson(text))).toBe(JSON.stringify(JSON.parse(text)));
      }),
    );
  });
});

describe('printing', () => {
  test('characters that control a terminal are escaped and parse back to the same value', () => {
    const value = { 'k\u009b': 'a\u007f\u0085\u202e\u2066\u2028\u2029\u200f\ud800\u001b' };
    const text = printJson(value);
    expect(text).toBe(
      '{"k\\u009b":"a\\u007f\\u0085\\u202e\\u2066\\u2028\\u2029\\u200f\\ud800\\u001b"}',
    );
    expect(JSON.parse(text)).toEqual(value);
  });

  test('any value round-trips, without unsafe characters in its text', () => {
    fc.assert(
      fc.property(
        fc.jsonValue({ stringUnit: 'binary' }),
        fc.constantFrom(0, 2),
        (value, indent) => {
          const text = printJson(value, { indent });
          expect(text).not.toMatch(/[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/);
          expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
        },
      ),
    );
  });

  test('dates and omitted values are printed as by JSON.stringify, with or without raw numbers', () => {
    const value = { at: new Date(0), no: undefined, list: [undefined, () => 1] };
    expect(printJson({ ...value, n: new RawNumber('1e400') })).toBe(
      JSON.stringify({ ...value, n: 5 }).replace('5}', '1e400}'),
    );
    expect(printJson(undefined)).toBe('null');
  });
});

function nested(depth: number, inner = '1'): string {
  return '['.repeat(depth) + inner + ']'.repeat(depth);
}
