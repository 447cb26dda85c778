import { expect, test } from 'vitest';
import { renderFailure } from '../../../src/cli/failure.js';
import { converse } from '../../support/converse.js';
import { rosterctl, temporaryFolder } from '../../support/run.js';

const terminal = { isTerminal: true, columns: 40, color: true };
const lines = [
  'No form has a question "Can you travel".',
  'Did you mean: --form "Can you travel=y"',
];

test('at a terminal an error has a red mark and is wrapped at whole words', () => {
  expect(renderFailure(lines, terminal, { LANG: 'C.UTF-8' })).toEqual([
    '\u001b[31m✘\u001b[39m No form has a question "Can you',
    '  travel".',
    '  Did you mean: --form "Can you travel=y"',
  ]);
});

test('where the locale is not UTF-8, and on a dumb terminal, the mark is a word', () => {
  const plain = { ...terminal, color: false };
  const dumb = { LANG: 'C.UTF-8', TERM: 'dumb' };
  for (const env of [{ LANG: 'C' }, dumb])
    expect(renderFailure(['It is so.'], plain, env)).toEqual(['error: It is so.']);
});

test('in a pipe the lines are as they are', () => {
  const pipe = { ...terminal, isTerminal: false };
  expect(renderFailure(lines, pipe, { LANG: 'C.UTF-8' })).toEqual(lines);
});

test('a mistake at a terminal is marked red, and without colour only marked', async () => {
  const home = temporaryFolder();
  const shown = async (words: readonly string[], env = {}) =>
    (await converse(home, words, [], env)).shown.replaceAll('\r', '');
  const text = ' Unknown command "whoami".\n  Did you mean: rosterctl auth status\n';
  expect(await shown(['whoami'])).toBe(`\u001b[31m✘\u001b[39m${text}`);
  expect(await shown(['whoami', '--no-color'])).toBe(`✘${text.trimEnd()} --no-color\n`);
  expect(await shown(['whoami'], { LANG: 'C', NO_COLOR: '1' })).toBe(`error:${text}`);
  expect((await rosterctl('whoami')).stderr).toBe(text.trimStart().replaceAll('\n  ', '\n'));
});
