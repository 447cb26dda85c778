import { type ChildProcess, spawn } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { cron, shell } from './support/readme.js';
import { closed, freshEnvironment, launcher, rosterctl, temporaryFolder } from './support/run.js';

// Runs the commands of the README and of docs/scripts.md unchanged, in a real shell and in their order.

const samples = fileURLToPath(new URL('./support/files/', import.meta.url));

const home = temporaryFolder();
const desk = join(home, 'desk');
const env: Record<string, string> = freshEnvironment(home);
let sandbox: ChildProcess;

beforeAll(async () => {
  const bin = join(home, 'bin');
  mkdirSync(bin);
  mkdirSync(desk);
  symlinkSync(launcher, join(bin, 'rosterctl'));
  // The programs that deliver; each keeps what it was given, and fails without an address.
  for (const [name, kept] of Object.entries({
    mail: '[ -n "$3" ] && cat',
    curl: '[ -n "$4" ] && printf "%s\\n" "$3"',
  }))
    writeFileSync(join(bin, name), `#!/bin/sh\n${kept} >> "$HOME/${name}.txt"\n`, { mode: 0o755 });
  env['DISCORD_WEBHOOK'] = 'https://discord.example/webhook';
  env['USER'] = 'admin';
  for (const name of ['contract.pdf', 'roster.csv'])
    copyFileSync(join(samples, name), join(desk, name));
  env['PATH'] = [bin, dirname(process.execPath), env['PATH']].join(delimiter);
  // The service that the README's organization logs in to.
  sandbox = spawn(process.execPath, [launcher, 'sandbox', 'start', '--json'], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ready = await firstLine(sandbox);
  const { baseUrl, organizationId, apiKey } = JSON.parse(ready) as Record<string, string>;
  env['SERVICE'] = baseUrl ?? '';
  env['ORGANIZATION'] = organizationId ?? '';
  writeFileSync(join(desk, 'key.txt'), `${apiKey}\n`, { mode: 0o600 });
});

afterAll(async () => {
  const ended = closed(sandbox);
  sandbox.kill('SIGTERM');
  await ended;
});

describe('the commands of the README run unchanged', () => {
  test.each(shell)('%s', async (_, block) => {
    expect(await run(['-euo', 'pipefail', '-c', block])).toEqual({ code: 0, stderr: '' });
  });

  test.each(cron)('by cron: %s', async (line) => {
    expect(await run(['--posix', '-c', line])).toEqual({ code: 0, stderr: '' });
  });
});

test('the lines for Discord and mail deliver what is new, and what was not delivered again', async () => {
  const lines = [...shell.map(([, block]) => block), ...cron].filter((text) =>
    text.includes('cursors commit'),
  );
  expect(lines).toHaveLength(2);
  const delivered = () =>
    ['curl', 'mail'].map((name) => {
      const file = join(home, `${name}.txt`);
      return existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n').length : 0;
    });
  // The first use told nothing.
  expect(delivered()).toEqual([0, 0]);
  for (const name of ['discord', 'mail']) {
    const at = await run(['-c', `rosterctl -p club cursors reset tryouts/${name} --at 2000-01-01`]);
    expect(at.code).toBe(0);
  }
  const broken = { DISCORD_WEBHOOK: '', USER: '' };
  for (const line of lines) expect((await run(['-c', line], broken)).code).not.toBe(0);
  expect(delivered()).toEqual([0, 0]);
  for (const line of lines) expect(await run(['-c', line])).toEqual({ code: 0, stderr: '' });
  for (const line of lines) expect(await run(['-c', line])).toEqual({ code: 0, stderr: '' });
  expect(delivered()).toEqual([64, 64]);
  expect(readFileSync(join(home, 'curl.txt'), 'utf8')).toMatch(/^(content=New: .+\n){64}$/);
  expect(readFileSync(join(home, 'mail.txt'), 'utf8')).toMatch(/^(.+ <.+@.+> 20\d\d-\S+\n){64}$/);
});

test('and they have the documented effects', async () => {
  const get = async (line: string): Promise<unknown> =>
    JSON.parse((await rosterctl(`-p sandbox ${line} --json`, { home, cwd: desk })).stdout);
  expect(await get('tryouts get app_0038 app_0032 app_0034')).toMatchObject([
    { status: 'shortlisted', internalNotes: expect.stringContaining('Call on Friday') },
    // Rejected and undone.
    { status: 'pending' },
    { status: 'pending' },
  ]);
  expect(await get('tryouts get app_0016')).toMatchObject({
    convertedPlayerId: expect.stringContaining('player_'),
  });
  expect(await get("players list --where 'name=Mira Kite'")).toMatchObject([{ role: 'coach' }]);
  expect(await get("players list --where 'name=Mira Lund'")).toMatchObject([
    { teamIds: ['team_0002'] },
  ]);
  expect(await get('tryouts list --status pending --older-than 30d')).toEqual([]);
  expect(readdirSync(join(desk, 'papers'))).toHaveLength(1);
  expect(readFileSync(join(desk, 'accepted.xlsx'), 'utf8')).toMatch(/^PK/);
  expect(readFileSync(join(desk, 'tryouts.csv'), 'utf8')).toMatch(/^id,/);
  expect(JSON.parse(readFileSync(join(desk, 'application.json'), 'utf8'))).toMatchObject({
    id: 'app_0038',
  });
  expect(statSync(join(home, 'pending.csv')).mode & 0o777).toBe(0o600);
  for (const [backup, cwd] of [
    ['backups', home],
    ['backups', desk],
  ] as const)
    expect((await rosterctl(`backup verify ${backup}`, { home, cwd })).code).toBe(0);
});

/** Runs a command that may print notes on stderr; a failure shows all of them. */
function run(
  words: readonly string[],
  more: Record<string, string> = {},
): Promise<{ code: number | null; stderr: string }> {
  const child = spawn('bash', words, {
    cwd: desk,
    env: { ...env, ...more },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stderr = '';
  child.stdout.resume();
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, stderr: code === 0 ? '' : stderr }));
  });
}

function firstLine(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    child.stdout?.setEncoding('utf8').on('data', (piece: string) => {
      text += piece;
      if (text.includes('\n')) resolve(text.slice(0, text.indexOf('\n')));
    });
    child.on('error', reject);
    child.on('close', (code) => reject(new Error(`sandbox start ended with ${code}`)));
  });
}
