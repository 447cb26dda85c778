import { expect, test } from 'vitest';
import { digestOf } from '../../src/data/digest.js';
import { parseJson } from '../../src/data/json.js';

const of = (text: string) => digestOf(parseJson(text));

test('equal values have equal digests, and numbers that a double cannot distinguish do not', () => {
  expect(of('{"a":[1,"x"]}')).toBe(of('{ "a": [1, "x"] }'));
  expect(of('[9007199254740993]')).not.toBe(of('[9007199254740992]'));
});
