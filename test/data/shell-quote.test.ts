import { describe, expect, test } from 'vitest';
import { fileCommands, quotedOnWindows, shellQuote, splitWords } from '../../src/data/text.js';

describe('a word in a line to type', () => {
  test.each([
    ['plain.csv', 'plain.csv'],
    ['a,b', 'a,b'],
    ['Player contract.pdf', "'Player contract.pdf'"],
    ["Rafi's", "'Rafi'\\''s'"],
  ])('is quoted for a shell of Unix: %s', (word, typed) => {
    expect(shellQuote(word)).toBe(typed);
  });

  test.each([
    [String.raw`C:\teams\new.csv`, String.raw`C:\teams\new.csv`],
    [String.raw`C:\my teams\new.csv`, String.raw`"C:\my teams\new.csv"`],
    [String.raw`C:\my teams` + '\\', String.raw`"C:\my teams\\"`],
    ["Rafi's", `"Rafi's"`],
    ['Rock & Roll', '"Rock & Roll"'],
    // PowerShell makes two words of the first, and looks for a variable for the second.
    ['a,b', '"a,b"'],
    ['@file', '"@file"'],
  ])(
    'is quoted for cmd.exe and PowerShell, where single quotes do not quote: %s',
    (word, typed) => {
      expect(quotedOnWindows(word)).toBe(typed);
    },
  );
});

test.each(['Q" & calc & "', '$(calc)', '`calc`', '%OS%', '\u201d; calc', 'a\r\ncalc'])(
  'a name that a shell of Windows would run or expand is not in a line to type: %j',
  (word) => {
    expect(quotedOnWindows(word)).toBe('VALUE');
  },
);

test('cmd.exe has other commands for files, which PowerShell knows, too', () => {
  expect(fileCommands(true)).toEqual({ create: 'mkdir', remove: 'del', permissions: 'icacls' });
  expect(fileCommands(false).create).toBe('mkdir -p');
});

describe('a stored command is split into words', () => {
  test('as in a shell of Unix', () => {
    expect(splitWords(String.raw`pass show "my \"key\"" a\ b 'c\d'`, false)).toEqual([
      'pass',
      'show',
      'my "key"',
      'a b',
      'c\\d',
    ]);
  });

  test('with the backslashes of its paths on Windows', () => {
    const command = String.raw`"C:\Program Files\op\op.exe" read C:\keys\club \\server\share\ 'club\key'`;
    expect(splitWords(command, true)).toEqual([
      String.raw`C:\Program Files\op\op.exe`,
      'read',
      String.raw`C:\keys\club`,
      '\\\\server\\share\\',
      String.raw`club\key`,
    ]);
  });
});
