import { expect, test } from 'vitest';
import { ageMs } from '../../src/data/time.js';

const at = { wall: 1_000_000, mono: 500 };

test('an age is the larger value of both clocks', () => {
  expect(ageMs(at, { wall: 1_000_300, mono: 800 })).toBe(300);
  expect(ageMs(at, { wall: 1_000_300, mono: 900 })).toBe(400);
});

test('a read ages during a suspension although the monotonic clock stops', () => {
  expect(ageMs(at, { wall: 4_600_000, mono: 501 })).toBe(3_600_000);
});

test('a clock that went backwards makes the age infinite', () => {
  expect(ageMs(at, { wall: 999_999, mono: 501 })).toBe(Number.POSITIVE_INFINITY);
  expect(ageMs(at, { wall: 1_000_001, mono: 499 })).toBe(Number.POSITIVE_INFINITY);
});
