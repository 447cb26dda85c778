import { copyFileSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { describeCommands } from '../src/cli/plain.js';
import { commands } from '../src/commands/index.js';
import { dryRunView, reportView } from '../src/cli/write.js';
import { rosterctl, splitWords, temporaryFolder } from './support/run.js';

// The table: whatever a command promises in its own file is held to it here.

const { commands: described } = await describeCommands(commands);
const folder = fileURLToPath(new URL('../src/commands/', import.meta.url));
const samples = fileURLToPath(new URL('./support/files/', import.meta.url));

/** Loads a command by its words. */
async function load(words: readonly string[]) {
  const entry = commands[words[0] ?? ''];
  const loader = typeof entry === 'function' ? entry : entry?.commands[words[1] ?? ''];
  if (!loader) throw new Error(`no command ${words.join(' ')}`);
  return (await loader()).default;
}

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

/** Examples that need a terminal, another program or a long-lived process; each has a test of its own. */
const elsewhere = new Map([
  ['auth login', 'asks for a key and needs a service; test/commands/auth'],
  ['sandbox start', 'runs until it is stopped; test/sandbox'],
]);

describe.each(described.map((command) => [command.words.join(' '), command] as const))(
  '%s',
  (name, command) => {
    test('says what it is in one line', () => {
      expect(command.summary).toMatch(/^[A-Z].*[^.]$/);
      expect(command.summary.length).toBeLessThanOrEqual(72);
      for (const flag of [...command.args, ...command.flags]) expect(flag.text).not.toBe('');
    });

    test('its short help fits a screen of 45 lines and 80 columns', async () => {
      const ran = await rosterctl(`${name} -h`);
      expect(ran.code).toBe(0);
      expect(ran.stderr).toBe('');
      const lines = ran.stdout.trimEnd().split('\n');
      expect(lines.length).toBeLessThanOrEqual(45);
      expect(lines.filter((line) => line.length > 80 && !line.startsWith('  rosterctl '))).toEqual(
        [],
      );
    });

    if (elsewhere.has(name)) return;

    test.each(command.examples.map(([what, words]) => [what, words]))('%s', async (_, words) => {
      const home = temporaryFolder();
      const cwd = join(home, 'work');
      mkdirSync(cwd);
      for (const file of readdirSync(samples)) copyFileSync(join(samples, file), join(cwd, file));
      writeFileSync(join(home, 'key'), 'example-key\n');
      const local = command.basis === 'local' && command.words[0] !== 'sandbox';
      const line = [...command.words, ...splitWords(words)];
      const connection = local ? [] : ['-p', 'sandbox'];
      const destructive = /delete|convert|remove/.test(name) || line.length > 0 ? ['--yes'] : [];
      const table = await rosterctl([...connection, ...line, ...destructive], { home, cwd });
      expect(table.stderr).not.toMatch(/^\s+at /m);
      expect({ code: table.code, stderr: table.code === 0 ? '' : table.stderr }).toEqual({
        code: 0,
        stderr: '',
      });
    });

    test('prints JSON of its declared shape', async () => {
      const home = temporaryFolder();
      const cwd = join(home, 'work');
      mkdirSync(cwd);
      for (const file of readdirSync(samples)) copyFileSync(join(samples, file), join(cwd, file));
      const [, words] = command.examples[0] ?? ['', ''];
      const local = command.basis === 'local' && command.words[0] !== 'sandbox';
      const line = [...(local ? [] : ['-p', 'sandbox']), ...command.words, ...splitWords(words)];
      if (line.includes('-O') || line.includes('-o')) return;
      const { view } = await load(command.words);
      if (view.kind === 'bytes') return;
      const ran = await rosterctl([...line, '--yes', '--json'], { home, cwd });
      expect({ code: ran.code, stderr: ran.code === 0 ? '' : ran.stderr }).toEqual({
        code: 0,
        stderr: '',
      });
      const value: unknown = JSON.parse(ran.stdout);
      const isReport =
        typeof value === 'object' && value !== null && 'summary' in value && 'results' in value;
      const schema = isReport
        ? reportView.schema
        : line.includes('-n')
          ? dryRunView.schema
          : view.schema;
      expect(schema.safeParse(value)).toMatchObject({ success: true });
    });
  },
);
