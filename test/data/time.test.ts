import { expect, test } from 'vitest';
import { localTime, longTime, momentOf, relativeTime } from '../../src/data/time.js';

const now = new Date('2026-11-21T12:00:00Z');

test.each([
  ['2026-11-21T11:59:30Z', 'just now'],
  ['2026-11-21T11:55:00Z', '5 min ago'],
  ['2026-11-21T09:00:00Z', '3 h ago'],
  ['2026-11-19T12:00:00Z', '2 d ago'],
  ['2026-08-21T12:00:00Z', '3 mo ago'],
  ['2020-11-21T12:00:00Z', '6 y ago'],
  ['2026-11-23T12:00:00+00:00', 'in 2 d'],
  ['2026-11-21 11:00:10.123456+02', '2 h ago'],
  ['2026-11-21 09:00:00Z', '3 h ago'],
  ['2026-11-21T11:00:00+02', '3 h ago'],
  ['2026-11-21T07:00:00.5-02', '2 h ago'],
])('%s was %s', (text, told) => {
  expect(relativeTime(momentOf(text) as Date, now)).toBe(told);
});

test.each([
  '2026-11-21',
  'yesterday',
  '2026-13-45T00:00:00Z',
  '',
  'x'.repeat(30),
  '2026-11-21T10:00:00',
])('%j is not a time', (text) => {
  expect(momentOf(text)).toBeUndefined();
});

test('local time and its zone name the same moment', () => {
  const moment = new Date('2026-03-01T04:05:06Z');
  expect(new Date(`${localTime(moment).replace(' ', 'T')}:06`).getTime()).toBe(moment.getTime());
  const [, dayAndTime = '', zone] = /^(.+) (\S+)$/.exec(longTime(moment)) ?? [];
  expect(new Date(`${dayAndTime}:06`).getTime()).toBe(moment.getTime());
  expect(moment.toLocaleTimeString('en-GB', { timeZoneName: 'short' })).toContain(` ${zone}`);
});
