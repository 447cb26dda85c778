import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { endpoint } from '../src/api/contract.js';
import { resources } from '../src/api/resources.js';
import { commandHelp } from '../src/cli/help.js';
import { describeCommands } from '../src/cli/manifest.js';
import { commands } from '../src/commands/index.js';
import { commandOf } from '../src/commands/runs/shared.js';
import { resourceNames } from '../src/data/resources.js';
import { early, expectDeclaredShape, isStarted, load } from './support/declared.js';
import { testedElsewhere } from './support/examples.js';

// Checks every command against the declarations in its own file; every-command.slow.test.ts runs all examples.

const { commands: described } = await describeCommands(commands);
const folder = fileURLToPath(new URL('../src/commands/', import.meta.url));

test('the folder listing is the list of commands', () => {
  const verbs = Object.entries(commands).flatMap(([word, entry]) =>
    typeof entry === 'function'
      ? [`${word}.ts`]
      : Object.keys(entry.commands).map((verb) => `${word}/${verb}.ts`),
  );
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.ts'),
  );
  const commandFiles = files.filter((file) => verbs.includes(file));
  expect(commandFiles.toSorted()).toEqual(verbs.toSorted());
});

test('a command that only reads calls nothing but GETs', () => {
  const reads = described.filter(({ writes }) => !writes);
  const others = reads.flatMap(({ words, calls }) =>
    calls.filter(({ route }) => !route.startsWith('GET ')).map(({ route }) => [words, route]),
  );
  expect(others).toEqual([]);
  expect(reads.map(({ words }) => words.join(' '))).toEqual(
    expect.arrayContaining(['check', 'overview', 'tryouts stats']),
  );
});

test.each(['auth login', 'backup create', 'backup diff', 'doctor'])(
  '%s, which may read every list, has each among its calls',
  (name) => {
    const { calls = [] } = described.find(({ words }) => words.join(' ') === name) ?? {};
    const lists = resourceNames.map((each) => endpoint(resources[each].calls.list).route);
    expect(calls.map(({ route }) => route)).toEqual(expect.arrayContaining(lists));
  },
);

test('a run is continued by the command that started it, and by no other kind of command', async () => {
  const context = {
    table: { version: '', groups: [], topics: [], commands: described },
    loadCommand: load,
  };
  for (const { words } of described) {
    const command = await load(words);
    const found = await commandOf(context, words.join('.'));
    expect([words, found]).toEqual([words, command.kind === 'operation' ? command : undefined]);
  }
  for (const action of ['', 'teams', 'teams.constructor', '__proto__', 'teams.update.x'])
    expect(await commandOf(context, action)).toBeUndefined();
});

describe.each(described.map((command) => [command.words.join(' '), command] as const))(
  '%s',
  (name, command) => {
    test('has a summary of one line', () => {
      expect(command.summary).toMatch(/^[A-Z].*[^.]$/);
      expect(command.summary.length).toBeLessThanOrEqual(72);
      for (const flag of [...command.args, ...command.flags]) expect(flag.text).not.toBe('');
    });

    test('has a short help page of at most 45 lines and 80 columns', () => {
      const page = commandHelp(command, { long: false, bold: (text) => text });
      const lines = page.trimEnd().split('\n');
      expect(lines.length).toBeLessThanOrEqual(45);
      expect(lines.filter((line) => line.length > 80 && !line.startsWith('  rosterctl '))).toEqual(
        [],
      );
    });

    if (testedElsewhere.has(name) || (isStarted(command) && !early.has(name))) return;

    test('prints JSON of its declared shape', () => expectDeclaredShape(command));
  },
);
