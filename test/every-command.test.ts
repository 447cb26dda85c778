import { copyFileSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { safeParse } from 'zod/mini';
import { describeCommands } from '../src/cli/manifest.js';
import { commands } from '../src/commands/index.js';
import { runActions } from '../src/commands/runs/shared.js';
import { resolvePaths } from '../src/config/paths.js';
import { cursorPlace, ensureCursorFolder, writeCursor } from '../src/cursors/cursor-file.js';
import type { ManifestCommand } from '../src/data/command-manifest.js';
import { rosterctl, splitWords, temporaryFolder } from './support/run.js';
import { dryRun, report, shapeOf } from './support/shapes.js';

// Checks every command against the declarations in its own file.

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

test('the runs of every command that starts runs can be resumed', async () => {
  const made: string[] = [];
  for (const { words } of described)
    if ((await load(words)).kind === 'operation') made.push(words.join('.'));
  expect(runActions.toSorted()).toEqual(made.toSorted());
});

/** Examples that need a terminal, another program or a long-lived process; each has its own test. */
const elsewhere = new Map([
  ['auth login', 'asks for a key and needs a service; test/commands/auth'],
  ['tryouts review', 'needs a terminal; test/review'],
  ['runs show', 'needs a run; test/bulk/runs.test.ts'],
  ['runs resume', 'needs an unfinished run; test/bulk/runs.test.ts'],
  ['runs retry', 'needs a run that failed; test/bulk/runs.test.ts'],
  ['runs undo', 'needs a run; test/faults/undo.test.ts'],
  ['plan show', 'needs a plan file; test/plans'],
  ['plan apply', 'needs a plan file; test/plans'],
  ['uploads forget', 'needs an interrupted upload; test/commands/uploads/finish.slow.test.ts'],
  ['sandbox start', 'runs until it is stopped; test/sandbox'],
]);

describe.each(described.map((command) => [command.words.join(' '), command] as const))(
  '%s',
  (name, command) => {
    test('has a summary of one line', () => {
      expect(command.summary).toMatch(/^[A-Z].*[^.]$/);
      expect(command.summary.length).toBeLessThanOrEqual(72);
      for (const flag of [...command.args, ...command.flags]) expect(flag.text).not.toBe('');
    });

    test('has a short help page of at most 45 lines and 80 columns', async () => {
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
      const ran = await rosterctl([...lineOf(command, words), '--yes'], await aDesk(name));
      expect(ran.stderr).not.toMatch(/^\s+at /m);
      expect({ code: ran.code, stderr: ran.code === 0 ? '' : ran.stderr }).toEqual({
        code: 0,
        stderr: '',
      });
    });

    test('prints JSON of its declared shape', async () => {
      const { view } = await load(command.words);
      const line = lineOf(command, command.examples[0]?.[1] ?? '');
      const ran = await rosterctl([...line, '--yes', '--json'], await aDesk(name));
      expect({ code: ran.code, stderr: ran.code === 0 ? '' : ran.stderr }).toEqual({
        code: 0,
        stderr: '',
      });
      const value: unknown = JSON.parse(ran.stdout);
      const isReport =
        typeof value === 'object' && value !== null && 'summary' in value && 'results' in value;
      const isDryRun =
        typeof value === 'object' && value !== null && 'dryRun' in value && !isReport;
      const shape = isReport ? report : isDryRun ? dryRun : shapeOf(name, view);
      expect(safeParse(shape, value).error).toBeUndefined();
    });
  },
);

/** The words of an example; a command that connects gets `-p sandbox`. */
function lineOf(command: ManifestCommand, words: string): string[] {
  const connection = command.local && command.calls.length === 0 ? [] : ['-p', 'sandbox'];
  return [...connection, ...command.words, ...splitWords(words)];
}

/** A home with two stored profiles and a cursor, and a working folder with the files that examples name; for commands on a backup there is one. */
async function aDesk(name: string): Promise<{ home: string; cwd: string }> {
  const home = temporaryFolder();
  const cwd = join(home, 'desk');
  const config = join(home, '.config', 'rosterctl');
  mkdirSync(cwd);
  mkdirSync(config, { recursive: true, mode: 0o700 });
  for (const file of readdirSync(samples)) copyFileSync(join(samples, file), join(cwd, file));
  mkdirSync(join(cwd, 'consents'));
  copyFileSync(join(samples, 'contract.pdf'), join(cwd, 'consents', 'one.pdf'));
  const profile = { baseUrl: 'https://roster.example.com/v1', organization: 'org_7' };
  const stored = { activeProfile: 'default', profiles: { default: profile, work: profile } };
  const key = {
    key: 'example-key-0123456789',
    origin: 'https://roster.example.com',
    organization: 'org_7',
  };
  writeFileSync(join(config, 'config.json'), JSON.stringify(stored), { mode: 0o600 });
  writeFileSync(join(config, 'credentials.json'), JSON.stringify({ default: key, work: key }), {
    mode: 0o600,
  });
  const paths = resolvePaths({ env: { HOME: home }, platform: 'linux', uid: process.getuid?.() });
  const cursors = ensureCursorFolder(paths, cursorPlace(profile.baseUrl, profile.organization));
  const cursor = { name: 'discord', resource: 'tryouts', filter: '', changed: undefined };
  const entries = { seen: new Map([['app_1', '']]), pending: new Map([['app_2', '']]) };
  const state = { ...cursor, ...entries, lastAt: undefined, since: undefined };
  await writeCursor(cursors, state, paths.owner);
  if (name.startsWith('backup '))
    await rosterctl('-p sandbox backup create backups', { home, cwd });
  return { home, cwd };
}
