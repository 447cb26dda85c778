import { spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { application, type Instead, keep } from '../commands/tryouts/service.js';
import { inProcess } from '../support/in-process.js';
import { heard, launcher, temporaryFolder } from '../support/run.js';
import { key, organization } from '../support/service.js';

// The cron lines of the README and of docs/scripts.md, run as cron runs them: `sh -c`, no terminal, a
// bare environment. cron mails whatever they print, so a night on which all went well must be silent.

const pages = ['README.md', 'docs/scripts.md'].map((name) =>
  readFileSync(fileURLToPath(new URL(`../../${name}`, import.meta.url)), 'utf8'),
);
const lines = [...pages.join('\n').matchAll(/^(?:\S+ +){5}(rosterctl -p club .*)$/gm)].map(
  ([, line = '']) => line,
);
const lineWith = (words: string) => lines.find((line) => line.includes(words)) ?? '';
const [weekly, nightly] = [lineWith('tryouts list'), lineWith('set-status')];
const [backup, check] = [lineWith('backup create'), lineWith('check --since-last')];

/** The other lists: one player, and nothing else. */
const otherLists: Instead = ({ url }) => {
  if (url.startsWith('/v1/players'))
    return { status: 200, json: [{ id: 'player_1', name: 'Mira' }] };
  return /^\/v1\/(?:teams|documents)/.test(url) ? { status: 200, json: [] } : undefined;
};

/** A machine whose profile `club` leads to a service with these applications. */
async function machine(statuses: readonly string[], instead: Instead = () => undefined) {
  const all = statuses.map((status, index) => application(`app_${index + 1}`, { status }));
  const service = await keep(
    all,
    (request, step) => otherLists(request, step) ?? instead(request, step),
  );
  const home = temporaryFolder();
  mkdirSync(join(home, 'bin'));
  symlinkSync(launcher, join(home, 'bin', 'rosterctl'));
  writeFileSync(join(home, 'key.txt'), key, { mode: 0o600 });
  await inProcess(
    `auth login --profile club --base-url ${service.baseUrl} --org ${organization} --key-file key.txt --no-check`,
    { home, cwd: home },
  );
  return { service, home, cron: (line: string) => cron(line, home) };
}

function cron(line: string, home: string) {
  const path = [join(home, 'bin'), dirname(process.execPath), '/usr/bin', '/bin'].join(delimiter);
  const env = {
    HOME: home,
    PATH: path,
    SHELL: '/bin/sh',
    LOGNAME: 'admin',
    ROSTERCTL_RETRIES: '0',
  };
  const child = spawn('sh', ['-c', line], { cwd: home, env, stdio: ['ignore', 'pipe', 'pipe'] });
  return heard(child).ended;
}

/** The service counts an application more than it sends. */
const short: Instead = (_, step) =>
  step === 'LIST'
    ? { status: 200, json: { applications: [application('app_1')], total: 2 } }
    : undefined;

const silent = { code: 0, stdout: '', stderr: '' };

test('there are cron lines for the week and for the night, all of them quiet', () => {
  expect([weekly, nightly, backup, check]).not.toContain('');
  expect(lines.filter((line) => !/ (-q|--quiet)\b/.test(line))).toEqual([]);
});

/** Runs a line until it is no longer the first use of a cursor, which says so. */
async function settled(line: string, runs: (line: string) => ReturnType<typeof cron>) {
  const first = await runs(line);
  if (!line.includes('--since-last')) return first;
  expect(first).toMatchObject({ code: 0, stdout: '' });
  expect(first.stderr).toMatch(
    /^First use of the cursor \S+: \d+ findings? recorded, none printed\./,
  );
  return runs(line);
}

describe('the cron lines of the README', () => {
  test.each(lines)('print nothing when there is nothing to do: %s', async (line) => {
    const { cron: runs } = await machine(['rejected']);
    expect(await settled(line, runs)).toEqual(silent);
  });

  test.each(lines)('print nothing when all went well: %s', async (line) => {
    const { cron: runs } = await machine(['pending', 'pending']);
    // What `check` prints is what it is for: applications that have waited since March.
    if (line.endsWith('check -q')) expect(await runs(line)).toMatchObject({ code: 0, stderr: '' });
    else expect(await settled(line, runs)).toEqual(silent);
  });

  test('the one of the backup keeps every record and says what is missing', async () => {
    let isForbidden = false;
    const { cron: runs, home } = await machine(['pending', 'rejected'], (_, step) =>
      isForbidden && step === 'LIST' ? { status: 403, json: { error: 'forbidden' } } : undefined,
    );
    expect(await runs(backup)).toEqual(silent);
    const folder = join(home, 'backups');
    const [snapshot = ''] = readdirSync(folder).filter((name) => name.endsWith('Z'));
    const kept = readFileSync(join(folder, snapshot, 'tryouts.ndjson'), 'utf8');
    expect(kept.match(/"id":"app_\d"/g)).toHaveLength(2);
    isForbidden = true;
    const night = await runs(backup);
    expect([night.code, night.stdout]).toEqual([8, '']);
    expect(night.stderr).toContain('Missing: applications');
    expect(readdirSync(folder).filter((name) => name.endsWith('Z'))).toEqual([snapshot]);
  });

  test('the one of the findings prints a new one once', async () => {
    const { cron: runs, service } = await machine(['rejected']);
    expect(await settled(check, runs)).toEqual(silent);
    service.kept.set('app_9', application('app_9', { status: 'pending' }));
    const monday = await runs(check);
    expect([monday.code, monday.stderr]).toEqual([0, '']);
    expect(monday.stdout).toContain('app_9');
    expect(await runs(check)).toEqual(silent);
  });

  test('the nightly one prints a failed row once, and exits with 8', async () => {
    const { cron: runs, service } = await machine(['pending', 'pending'], (_, step) =>
      step === 'PATCH app_2' ? { status: 400, json: { error: 'invalid' } } : undefined,
    );
    const { code, stdout, stderr } = await runs(nightly);
    expect([code, stderr]).toEqual([8, '']);
    const [head, row = '', ...rest] = stdout.split('\n');
    expect(head).toBe('row\tid\tresult\tbefore\tafter\terror\tstep\tretryable\tref');
    expect(row).toMatch(/^2\tapp_2\tfailed\t.*400 \(invalid\)/);
    expect(rest).toEqual(['']);
    expect(service.kept.get('app_1')?.status).toBe('rejected');
  });

  test.each([weekly, nightly, backup])('say once that the service is dead: %s', async (line) => {
    const { cron: runs, service, home } = await machine(['pending']);
    await service.close();
    expect(await runs(line)).toEqual({
      code: 9,
      stdout: '',
      stderr: `${service.origin} refused the connection.\nCheck the base URL: rosterctl -p club auth status\n`,
    });
    expect(existsSync(join(home, 'pending.csv'))).toBe(false);
  });

  test('warn of a list that may be incomplete, quiet or not', async () => {
    const { cron: runs } = await machine([], short);
    const { code, stdout, stderr } = await runs(weekly);
    expect([code, stdout]).toEqual([0, '']);
    expect(stderr).toMatch(/^The list of applications may be incomplete: .*\n$/);
  });

  test('and change nothing by it, saying so once', async () => {
    const { cron: runs, service } = await machine([], short);
    const { code, stdout, stderr } = await runs(nightly);
    expect([code, stdout]).toEqual([11, '']);
    expect(stderr.match(/may be incomplete/g)).toHaveLength(1);
    expect(service.requests.every(({ method }) => method === 'GET')).toBe(true);
    const partial = await runs(`${nightly} --allow-partial`);
    expect(partial.stderr).toMatch(/^The list of applications may be incomplete: .*\n$/);
  });

  test('the nightly one rejects at most 200, those that wait longest, where --max-changes alone would stop', async () => {
    const many = Array.from({ length: 203 }, (_, index) =>
      application(`app_${index + 1}`, {
        submittedAt: new Date(Date.UTC(2026, 0, 1) - index * 60_000).toISOString(),
      }),
    );
    const { cron: runs, service } = await machine([], (_, step) =>
      step === 'LIST' ? { status: 200, json: { applications: many, total: 203 } } : undefined,
    );
    for (const each of many) service.kept.set(each.id, each);
    expect(await runs(nightly)).toEqual(silent);
    const left = [...service.kept.values()].filter(({ status }) => status === 'pending');
    expect(left.map(({ id }) => id)).toEqual(['app_1', 'app_2', 'app_3']);
    const capped = await runs(nightly.replace(/--sort \S+ --limit \d+ /, ''));
    expect(capped.code).toBe(11);
    expect(capped.stderr).toContain('203 applications would change, more than --max-changes 200');
  });
});

test('a single write that succeeded prints nothing with -q, and its record as json', async () => {
  const { cron: runs } = await machine(['pending']);
  const line = 'rosterctl -p club tryouts update app_1 -q --status';
  expect(await runs(`${line} reviewing`)).toEqual(silent);
  const json = await runs(`${line} accepted --json`);
  expect(JSON.parse(json.stdout)).toMatchObject({ id: 'app_1', status: 'accepted' });
  expect(json.stderr).toBe('');
});
