import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { localDay, mondayOf, parseWhen, resolveWhen, timeOf } from '../../src/data/dates.js';

const local = (text: string) => new Date(text).toISOString();

const now = new Date('2026-03-10T12:00:00Z');
const at = (text: string, edge: 'start' | 'end' = 'start') =>
  new Date(resolveWhen(parseWhen(text), edge, now)).toISOString();

describe('a point in time as typed', () => {
  test('an instant with a zone is that instant, at either edge', () => {
    expect(at('2026-03-01T18:00:00Z')).toBe('2026-03-01T18:00:00.000Z');
    expect(at('2026-03-01T18:00:00+02:00', 'end')).toBe('2026-03-01T16:00:00.000Z');
    expect(at('2026-03-01T18:00:00.25-0130')).toBe('2026-03-01T19:30:00.250Z');
  });

  test('an age counts back from now', () => {
    expect(at('90m')).toBe('2026-03-10T10:30:00.000Z');
    expect(at('24h')).toBe('2026-03-09T12:00:00.000Z');
    expect(at('7d')).toBe('2026-03-03T12:00:00.000Z');
    expect(at('2w', 'end')).toBe('2026-02-24T12:00:00.000Z');
  });

  test('a month and a word are whole local days, up to their last millisecond', () => {
    expect([at('2026-02'), at('2026-02', 'end')]).toEqual([
      local('2026-02-01T00:00'),
      local('2026-02-28T23:59:59.999'),
    ]);
    expect(at('2025-12', 'end')).toBe(local('2025-12-31T23:59:59.999'));
    expect([at('yesterday'), at('yesterday', 'end')]).toEqual([
      local('2026-03-09T00:00'),
      local('2026-03-09T23:59:59.999'),
    ]);
    expect([at('Today'), at('tuesday')]).toEqual([local('2026-03-10T00:00'), at('today')]);
    // The tenth is a Tuesday: the Wednesday before it is six days ago.
    expect([at('monday'), at('wednesday')]).toEqual([
      local('2026-03-09T00:00'),
      local('2026-03-04T00:00'),
    ]);
  });

  test.each([
    '',
    'soon',
    '2026-00',
    '2026-13',
    'mon',
    '7',
    '2026',
    '2026-3-1',
    '2026-02-30',
    '2026-13-01',
    '2026-03-01T24:00',
    '2026-03-01T10:60',
    '2026-03-01T10:00:61Z',
    '2026-03-01T10:00+25:00',
    '2026-03-01T10:00+02:60',
    '7 d',
    '-7d',
    '99999999999d',
  ])('"%s" is refused', (text) => {
    expect(() => parseWhen(text)).toThrow('Not a date, time or age');
  });

  test('a bare date is the entire local day: the start of the next one follows its end', () => {
    const day = fc.date({
      min: new Date('1970-01-02T00:00:00Z'),
      max: new Date('2099-12-30T00:00:00Z'),
      noInvalidDate: true,
    });
    fc.assert(
      fc.property(day, (date) => {
        const next = new Date(date.getFullYear(), date.getMonth(), date.getDate() + 1);
        const start = timeOf(localDay(date), 'start') ?? Number.NaN;
        const end = timeOf(localDay(date), 'end') ?? Number.NaN;
        expect(start).toBeLessThanOrEqual(date.getTime());
        expect(date.getTime()).toBeLessThanOrEqual(end);
        expect(timeOf(localDay(next), 'start')).toBe(end + 1);
      }),
    );
  });
});

test('every instant reads back from its ISO text', () => {
  fc.assert(
    fc.property(
      fc.date({
        min: new Date('0001-01-01T00:00:00Z'),
        max: new Date('9999-12-31T23:59:59Z'),
        noInvalidDate: true,
      }),
      (date) => {
        expect(timeOf(date.toISOString())).toBe(date.getTime());
      },
    ),
  );
});

test('any text is parsed or rejected, and never becomes an invalid time', () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      const ms = timeOf(text);
      expect(ms === undefined || Number.isFinite(ms)).toBe(true);
    }),
  );
});

test('a week starts on Monday', () => {
  expect(mondayOf(new Date(2026, 2, 9, 0, 0))).toBe('2026-03-09');
  expect(mondayOf(new Date(2026, 2, 15, 23, 59))).toBe('2026-03-09');
  expect(mondayOf(new Date(2026, 0, 1, 12))).toBe('2025-12-29');
});
