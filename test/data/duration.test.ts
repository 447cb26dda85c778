import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatDuration, parseDuration } from '../../src/data/time.js';
import { UsageError } from '../../src/errors.js';

test.each([
  ['500ms', 500],
  ['30s', 30_000],
  ['0s', 0],
  ['1.5s', 1_500],
  ['10m', 600_000],
  ['90m', 5_400_000],
  ['24h', 86_400_000],
  ['7d', 604_800_000],
  ['2w', 1_209_600_000],
  [' 30s ', 30_000],
])('%s is %i ms', (text, ms) => {
  expect(parseDuration(text)).toBe(ms);
});

test('a bare number is refused, with the units it may have meant', () => {
  const refused = catchError(() => parseDuration('30'));
  expect(refused.message).toContain('"30" has no unit');
  expect(refused.hint).toContain('30s');
  expect(refused.hint).toContain('30m');
});

test.each(['', 's', '-5m', '5x', '5 m', '1h30m', '1e3s', 'Infinitys', '0x10s', '5M', '٣s'])(
  '"%s" is refused with examples',
  (text) => {
    expect(catchError(() => parseDuration(text)).hint).toContain('10m');
  },
);

test('a formatted duration parses back to the same value', () => {
  fc.assert(
    fc.property(fc.nat({ max: 100 * 86_400_000 }), (ms) => {
      expect(parseDuration(formatDuration(ms))).toBe(ms);
    }),
  );
});

test('the largest fitting unit is used', () => {
  expect([30_000, 90_000, 5_400_000, 86_400_000, 1_500].map(formatDuration)).toEqual([
    '30s',
    '90s',
    '90m',
    '1d',
    '1500ms',
  ]);
});

function catchError(work: () => unknown): UsageError {
  try {
    work();
  } catch (error) {
    if (error instanceof UsageError) return error;
    throw error;
  }
  throw new Error('it was accepted');
}
