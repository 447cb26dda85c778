import { isDeepStrictEqual } from 'node:util';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseJson, printJson } from '../../src/data/json.js';
import { elementsElsewhere, ListSplitter, TooLargeError } from '../../src/data/list-splitter.js';
import { codePoint } from '../support/code-point.js';

const anyPath = () => true;
const bare = (path: readonly string[]) => path.length === 0;
const under =
  (...keys: string[]) =>
  (path: readonly string[]) =>
    path.join('/') === keys.join('/');

function split(pieces: readonly Buffer[], chosen = anyPath as typeof bare, maxBytes = 1e6) {
  const splitter = new ListSplitter(chosen, maxBytes);
  const found = pieces.flatMap((piece) => splitter.push(piece));
  return { found, splitter, envelope: splitter.envelope().toString() };
}

const cutAt = (bytes: Buffer, at: number) => [bytes.subarray(0, at), bytes.subarray(at)];
const oneByOne = (bytes: Buffer) => [...bytes].map((byte) => Buffer.from([byte]));

describe('any array, however it is cut', () => {
  const anyArray = fc.array(fc.oneof(fc.jsonValue(), fc.string({ unit: codePoint })), {
    maxLength: 6,
  });

  test('equals the result of JSON.parse, cut at every byte and into single bytes', () => {
    fc.assert(
      fc.property(anyArray, fc.constantFrom(0, 1, 2), (value, indent) => {
        const bytes = Buffer.from(JSON.stringify(value, undefined, indent));
        const expected: unknown = JSON.parse(bytes.toString());
        expect(split(oneByOne(bytes), bare).found).toEqual(expected);
        const differing = Array.from(bytes.keys()).filter((at) => {
          const { found, splitter } = split(cutAt(bytes, at), bare);
          return !splitter.ended || !isDeepStrictEqual(found, expected);
        });
        expect(differing).toEqual([]);
      }),
      { numRuns: 150 },
    );
  });

  test('also works with long texts between escapes and quotes', () => {
    const part = fc.constantFrom('x'.repeat(30), '"', '\\', '\n', '\u0001', 'é', 'y');
    const long = fc.array(part, { maxLength: 40 }).map((parts) => parts.join(''));
    const anyLongs = fc.array(fc.record({ id: long, note: long }), { maxLength: 4 });
    fc.assert(
      fc.property(anyLongs, fc.array(fc.nat(), { maxLength: 5 }), (list, cuts) => {
        const bytes = Buffer.from(JSON.stringify(list));
        const places = [...cuts.map((cut) => cut % bytes.length), 0, bytes.length];
        places.sort((a, b) => a - b);
        const pieces = places.slice(1).map((end, index) => bytes.subarray(places[index], end));
        const { found, splitter } = split(pieces, bare);
        expect(found).toEqual(list);
        expect(splitter.ended).toBe(true);
      }),
      { numRuns: 300 },
    );
  });

  test('inside an envelope, and the rest of the envelope is kept', () => {
    fc.assert(
      fc.property(
        anyArray.filter((list) => list.length > 0),
        fc.dictionary(
          fc.string().filter((key) => key !== 'teams'),
          fc.jsonValue(),
          { maxKeys: 4 },
        ),
        fc.nat(),
        (teams, others, seed) => {
          const entries = Object.entries(others);
          entries.splice(seed % (entries.length + 1), 0, ['teams', teams]);
          const text = `{${entries
            .map(([key, value]) => `${JSON.stringify(key)} : ${JSON.stringify(value)}`)
            .join(' , ')}}`;
          const bytes = Buffer.from(text);
          const whole = JSON.parse(text) as Record<string, unknown>;
          const around = { ...whole, teams: [{ [elementsElsewhere]: true }] };
          for (const pieces of [[bytes], oneByOne(bytes), cutAt(bytes, seed % bytes.length)]) {
            const { found, envelope } = split(pieces, under('teams'));
            expect(found).toEqual(whole['teams']);
            expect(JSON.parse(envelope)).toEqual(around);
          }
        },
      ),
      { numRuns: 150 },
    );
  });
});

describe('the envelope around the list', () => {
  test('a list one level down is found by its keys', () => {
    const text = '{"data":{"page":[9],"teams":[{"id":"a"},{"id":"b"}],"total":2},"more":false}';
    const { found, envelope } = split([Buffer.from(text)], under('data', 'teams'));
    expect(found).toEqual([{ id: 'a' }, { id: 'b' }]);
    expect(JSON.parse(envelope)).toEqual({
      data: { page: [9], teams: [{ [elementsElsewhere]: true }], total: 2 },
      more: false,
    });
  });

  test('a key at another level is not the list', () => {
    const text = '{"x":[{"teams":[1]}],"y":{"z":{"teams":[2]}},"teams":"[3]","teams":[4]}';
    expect(split([Buffer.from(text)], (path) => path.at(-1) === 'teams').found).toEqual([4]);
  });

  test('a key with escapes is read', () => {
    const { found } = split([Buffer.from('{"te\\u0061ms":[1]}')], under('teams'));
    expect(found).toEqual([1]);
  });

  test('an empty list leaves the envelope unchanged', () => {
    const { found, envelope, splitter } = split(
      [Buffer.from('{"teams":[],"a":1}')],
      under('teams'),
    );
    expect(found).toEqual([]);
    expect(envelope).toBe('{"teams":[],"a":1}');
    expect(splitter.ended).toBe(true);
  });

  test.each(['"text [1]"', '7', '<html>[1]</html>', '{"a":{"b":{"c":[1]}}}', '[', '{"teams":'])(
    'in %s no element is found and nothing is lost',
    (text) => {
      const { found, envelope } = split(oneByOne(Buffer.from(text)), anyPath);
      expect(found).toEqual([]);
      expect(envelope).toBe(text);
    },
  );

  test('a byte order mark is ignored', () => {
    const bytes = Buffer.from('\ufeff[1]');
    for (const pieces of [[bytes], oneByOne(bytes)]) {
      const { found, envelope } = split(pieces, bare);
      expect(found).toEqual([1]);
      expect(parseJson(envelope)).toEqual([{ [elementsElsewhere]: true }]);
    }
  });
});

describe('a text without a list', () => {
  test.each(['[1,,2]', '[1,]', '[,1]', '[1 2]', '[{"a":1]}]', '[1}', '[{"a":}]', '["a\nb"]'])(
    '%j is a syntax error',
    (text) => {
      expect(() => split([Buffer.from(text)], bare)).toThrow(SyntaxError);
      expect(() => split(oneByOne(Buffer.from(text)), bare)).toThrow(SyntaxError);
    },
  );

  test('a cut list has not ended', () => {
    const text = '[{"id":"a"},{"id":"b"}]';
    for (let at = 0; at < text.length; at++)
      expect(split([Buffer.from(text.slice(0, at))], bare).splitter.ended).toBe(false);
  });

  test('an element nested beyond the cap is a syntax error', () => {
    const deep = `[${'['.repeat(300)}${']'.repeat(300)}]`;
    expect(() => split([Buffer.from(deep)], bare)).toThrow(SyntaxError);
  });

  test('an element and an envelope have a maximum size', () => {
    const long = Buffer.from(`["${'x'.repeat(5000)}"]`);
    const halves = cutAt(long, 4000);
    expect(() => split(halves, bare, 1000)).toThrow(TooLargeError);
    expect(() => split([Buffer.from(`{"a":"${'x'.repeat(2000)}"}`)], bare, 1000)).toThrow(
      TooLargeError,
    );
    // Many small elements do not count as a large one.
    const many = Buffer.from(JSON.stringify(Array.from({ length: 1000 }, (_, index) => index)));
    expect(split(cutAt(many, 2000), bare, 3000).found).toHaveLength(1000);
  });
});

test('numbers that a double cannot represent and unusual keys stay unchanged', () => {
  const text = '[{"n":12345678901234567890,"__proto__":{"x":1}}]';
  const [record] = split(oneByOne(Buffer.from(text)), bare).found as [Record<string, unknown>];
  expect(String(record?.['n'])).toBe('12345678901234567890');
  expect(Object.keys(record ?? {})).toEqual(['n', '__proto__']);
});

const printed = (text: string) =>
  split([Buffer.from(text)], bare).found.map((item) => printJson(item));

describe('a printed element', () => {
  test('is its text, without the blanks around it', () => {
    const same = [
      '{"id":"a","n":12,"l":[true,false,null,"x"],"o":{}}',
      '{"name":"Ann \\"A\\" \\\\ \\n\\t\\r\\b\\f"}',
      '{"name":"Jürgen 山田 🦊"}',
      `{"why":"${'x'.repeat(500)}\\n${'y'.repeat(500)}"}`,
      '{"digits":999999999999999,"e":"1e5 and -0.50 in a text"}',
      '{"a":1.50,"b":1e2,"c":1E2,"d":-0,"e":1000000000000000000000}',
    ];
    expect(printed(`[${same.join(',')}]`)).toEqual(same);
    expect(printed(`[\n${same.join('\n,\n')}\n]`)).toEqual(same);
  });

  test.each([
    ['spaces', '{"a": 1}', '{"a":1}'],
    ['an escape that is printed as a letter', '{"a":"\\u0041"}', '{"a":"A"}'],
    [
      'an escape at the end of a long text',
      `{"a":"${'x'.repeat(200)}\\u0041"}`,
      `{"a":"${'x'.repeat(200)}A"}`,
    ],
    ['an escaped slash', '{"a":"\\/"}', '{"a":"/"}'],
    ['DEL', '{"a":"\u007f"}', '{"a":"\\u007f"}'],
    ['a C1 control', '{"a":"\u009b31m"}', '{"a":"\\u009b31m"}'],
    ['a bidirectional control', '{"a":"\u202e"}', '{"a":"\\u202e"}'],
    ['a line separator', '{"a":"\u2028"}', '{"a":"\\u2028"}'],
    ['a key that stands twice', '{"a":1,"a":2}', '{"a":2}'],
    ['an inner key that stands twice', '{"o":[{"a":{},"a":{}}]}', '{"o":[{"a":{}}]}'],
  ])('has %s changed', (_, text, expected) => {
    expect(printed(`[${text},{"b":1}]`)).toEqual([expected, '{"b":1}']);
  });

  test('is the same as that of the whole text, wherever the list is cut', () => {
    const number = fc.constantFrom('1.50', '1e2', '-0', '12345678901234567890', '0.1', '7', '1E5');
    const member = fc.tuple(fc.string({ unit: codePoint }), fc.oneof(number, fc.json()));
    const object = fc
      .array(member, { maxLength: 4 })
      .map((all) => `{${all.map(([key, value]) => `${JSON.stringify(key)}:${value}`).join(',')}}`);
    fc.assert(
      fc.property(fc.array(object, { maxLength: 4 }), fc.nat(), (list, seed) => {
        const bytes = Buffer.from(`[${list.join(',')}]`);
        const whole = printJson(parseJson(bytes.toString()));
        for (const pieces of [[bytes], oneByOne(bytes), cutAt(bytes, seed % bytes.length)])
          expect(printJson(split(pieces, bare).found)).toBe(whole);
      }),
      { numRuns: 400 },
    );
  });

  test('has the replacement that invalid UTF-8 is read as', () => {
    const bytes = Buffer.from([...Buffer.from('[{"a":"'), 0xff, 0xc2, ...Buffer.from('"}]')]);
    expect(split([bytes], bare).found).toEqual([{ a: '\ufffd\ufffd' }]);
  });
});
