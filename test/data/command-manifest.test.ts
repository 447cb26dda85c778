import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import {
  type CommandManifest,
  manifestText,
  readManifest,
} from '../../src/data/command-manifest.js';

const text = readFileSync(new URL('../../dist/table.json', import.meta.url), 'latin1');
const { version, groups, topics, commands } = JSON.parse(text) as CommandManifest;
const whole: CommandManifest = { version, groups, topics, commands };

test('the table round-trips', () => {
  const table = readManifest(text);
  expect(table.commands).toHaveLength(whole.commands.length);
  for (const [index, written] of whole.commands.entries())
    for (const [name, value] of Object.entries(written))
      expect(table.commands[index]?.[name as keyof typeof written]).toEqual(value);
  expect([table.version, table.groups, table.topics]).toEqual([version, groups, topics]);
});

test('the names of all commands are read without the commands', () => {
  const names = text.slice(0, text.indexOf('\n'));
  const table = readManifest(names);
  expect(table.commands.map(({ words, summary }) => [words, summary])).toEqual(
    whole.commands.map(({ words, summary }) => [words, summary]),
  );
});

test('the file is ASCII JSON, whatever a text contains', () => {
  const [first] = whole.commands;
  if (!first) throw new Error('the table is empty');
  const odd = { ...whole, commands: [{ ...first, summary: 'a\nb\u2028 “é” 🎮', about: '\n' }] };
  const written = manifestText(odd);
  expect(/^[\0-\x7f]*$/.test(written)).toBe(true);
  expect(JSON.parse(written)).toMatchObject(odd);
  const [command] = readManifest(written).commands;
  expect([command?.summary, command?.about]).toEqual([odd.commands[0]?.summary, '\n']);
});
