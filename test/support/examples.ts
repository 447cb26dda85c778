import { copyFileSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { resolvePaths } from '../../src/config/paths.js';
import { cursorPlace, ensureCursorFolder, writeCursor } from '../../src/cursors/cursor-file.js';
import type { ManifestCommand } from '../../src/data/command-manifest.js';
import { inProcess } from './in-process.js';
import { splitWords, temporaryFolder } from './run.js';

const samples = fileURLToPath(new URL('./files/', import.meta.url));

/** Examples that need a terminal, another program or a long-lived process; each has its own test. */
export const testedElsewhere = new Map([
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

/** The words of an example; a command that connects gets `-p sandbox`. */
export function lineOf(command: ManifestCommand, words: string): string[] {
  const connection = command.local && command.calls.length === 0 ? [] : ['-p', 'sandbox'];
  return [...connection, ...command.words, ...splitWords(words)];
}

/** A home with two stored profiles and a cursor, and a working folder with the files that examples name; for commands on a backup there is one. */
export async function aDesk(name: string): Promise<{ home: string; cwd: string }> {
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
    await inProcess('-p sandbox backup create backups', { home, cwd });
  return { home, cwd };
}
