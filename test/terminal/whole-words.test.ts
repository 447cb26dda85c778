import { expect, test } from 'vitest';
import { shellQuote } from '../../src/data/text.js';
import { wrapPageLine, wrapWholeWords } from '../../src/terminal/whole-words.js';
import { converse } from '../support/converse.js';
import { rosterctl, temporaryFolder } from '../support/run.js';

test('a line of prose is broken between words and keeps its indent', () => {
  expect(wrapWholeWords('one two three', 7)).toEqual(['one two', 'three']);
  expect(wrapWholeWords('  one two three', 9)).toEqual(['  one two', '  three']);
  expect(wrapWholeWords('a  b', 4)).toEqual(['a  b']);
});

test('text to be copied is not broken', () => {
  const url = `https://example.com/${'x'.repeat(30)}`;
  expect(wrapWholeWords(`see ${url} now`, 20)).toEqual(['see', url, 'now']);
  const hint = 'Go on with: rosterctl runs resume 20261121T213146782-c1c4ff';
  expect(wrapWholeWords(hint, 20)).toEqual([
    'Go on with:',
    'rosterctl runs resume 20261121T213146782-c1c4ff',
  ]);
});

test('a command at the end of a long note begins on its own line, and the words before it are not broken', () => {
  const note = '  This call is a guess. Name it: rosterctl config set endpoints.players.delete X';
  expect(wrapWholeWords(note, 24)).toEqual([
    '  This call is a guess.',
    '  Name it:',
    '  rosterctl config set endpoints.players.delete X',
  ]);
  expect(wrapWholeWords(note, 80)).toEqual([note]);
});

test('a row of hints that begin with flags is broken between words', () => {
  const hints =
    '  Keep what is there: --skip-existing. Replace it: --overwrite. Elsewhere: -D DIR.';
  expect(wrapWholeWords(hints, 80)).toEqual([
    '  Keep what is there: --skip-existing. Replace it: --overwrite. Elsewhere: -D',
    '  DIR.',
  ]);
  expect(wrapWholeWords('  Allow it: --allow-partial', 20)).toEqual([
    '  Allow it: --allow-partial',
  ]);
});

test('a command on a page is broken so that it can be pasted', () => {
  expect(wrapPageLine('    Go on with: rosterctl -p club runs resume 5d9c51 --yes', 40)).toEqual([
    '    Go on with:',
    '    rosterctl -p club runs resume \\',
    '        5d9c51 --yes',
  ]);
  expect(wrapPageLine('rosterctl reads lists only. It sends nothing.', 40)).toEqual([
    'rosterctl reads lists only. It sends nothing.',
  ]);
});

test('a quoted word is no sentence, and no letter of it is lost where its command is broken', () => {
  expect(wrapPageLine("  Fix: rosterctl tryouts convert 'a. b; c: d' app_12", 40)).toEqual([
    '  Fix:',
    '  rosterctl tryouts convert \\',
    "      'a. b; c: d' app_12",
  ]);
  const name = shellQuote("Ann's team. And more");
  expect(wrapPageLine(`  See: rosterctl teams list --search ${name}`, 40)).toEqual([
    '  See:',
    '  rosterctl teams list --search \\',
    `      ${name}`,
  ]);
});

test('a note is wrapped in a terminal and unchanged in a pipe', async () => {
  const line = ['config', 'set', 'columns.tryouts', 'nmae'];
  const note = 'No documented field is called nmae; did you mean name?';
  const { shown } = await converse(temporaryFolder(), line, [], { NO_COLOR: '1' }, 30);
  expect(shown).toContain('No documented field is called\r\nnmae; did you mean name?');
  expect((await rosterctl(line)).stderr).toBe(`${note}\n`);
});

test('a question and a complaint about its answer are wrapped at whole words', async () => {
  const home = temporaryFolder();
  const asked = await converse(
    home,
    ['-p', 'sandbox', 'tryouts', 'convert', 'app_0022'],
    [[/\(y\/N\)/, 'n\r']],
    { NO_COLOR: '1' },
    40,
  );
  expect(asked.shown).toContain('Unterquellenhausen-Berg"\r\n  (app_0022) to a player? (y/N)');
  const complained = await converse(
    home,
    ['auth', 'login', '-p', 'x'],
    [
      [/Service/, 'htp://foo\r'],
      [/only\./, '\u0003'],
    ],
    { NO_COLOR: '1' },
    40,
  );
  expect(complained.shown).toContain('http:// is\r\n  accepted for this machine\r\n  only.');
});
