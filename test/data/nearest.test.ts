import { expect, test } from 'vitest';
import { nearest } from '../../src/data/nearest.js';

const statuses = ['pending', 'reviewing', 'shortlisted', 'accepted', 'rejected', 'withdrawn'];

test.each([
  ['acepted', 'accepted'],
  ['Rejectd', 'rejected'],
  ['pednign', 'pending'],
  ['shortlist', 'shortlisted'],
])('%s is near %s', (typed, meant) => {
  expect(nearest(typed, statuses)).toBe(meant);
});

test.each(['banana', '', 'x'.repeat(10_000)])('%.10s is near nothing', (typed) => {
  expect(nearest(typed, statuses)).toBeUndefined();
});

test.each([
  ['--to-player', '--no-pager'],
  ['--per-page', '--no-pager'],
  ['rejections', 'selection'],
])('%s is a word of its own, and not near %s', (typed, other) => {
  expect(nearest(typed, [other])).toBeUndefined();
});

test.each([
  ['shrtlised', 'shortlisted'],
  ['--append-ntoes', '--append-note'],
  ['--updatde-sicne', '--updated-since'],
])('%s is a typo of %s', (typed, meant) => {
  expect(nearest(typed, [meant])).toBe(meant);
});

test('the nearest of several wins, or the first of equally near ones', () => {
  expect(nearest('nam', ['fame', 'name', 'names'])).toBe('name');
  expect(nearest('bat', ['cat', 'hat'])).toBe('cat');
});
