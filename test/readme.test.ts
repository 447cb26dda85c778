import { expect, test } from 'vitest';
import { cron, read, readme, shell } from './support/readme.js';

// Its commands are run by the slow tests.

test('the README shows ten tasks and at least two cron lines', () => {
  expect(readme.match(/^ ?\d+\. /gm)).toHaveLength(10);
  expect(cron.length).toBeGreaterThanOrEqual(2);
  expect(shell.length).toBeGreaterThanOrEqual(15);
});

test('the README has at most 150 lines', () => {
  expect(read('README.md').trimEnd().split('\n').length).toBeLessThanOrEqual(150);
});

test('every script in the README names its profile', () => {
  const scripts = readme.slice(readme.indexOf('## Scripts'), readme.indexOf('## Where the key'));
  const lines = [...scripts.matchAll(/^.*\brosterctl (?!-p )/gm)].map(([line]) => line);
  expect(lines.filter((line) => /^\S*\s*(rosterctl|ids=)/.test(line))).toEqual([]);
});
