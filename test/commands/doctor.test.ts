import { once } from 'node:events';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { resourceNames } from '../../src/data/resources.js';
import { ids, several } from '../bulk/user.js';
import { converse } from '../support/converse.js';
import { inProcess } from '../support/in-process.js';
import { rosterctl, temporaryFolder } from '../support/run.js';
import { listService, organization, recordingService, unknown } from '../support/service.js';
import { application, keep } from './tryouts/service.js';

interface Check {
  readonly check: string;
  readonly result: string;
  readonly detail: string;
  readonly hint: string | null;
}

async function doctor(options: Parameters<typeof rosterctl>[1], run: typeof rosterctl = inProcess) {
  const ran = await run('doctor --json', options);
  const checks = JSON.parse(ran.stdout) as Check[];
  return {
    ...ran,
    checks,
    result: (name: string) => checks.find(({ check }) => check === name)?.result,
  };
}

test('a valid key passes every check', async () => {
  const { code, checks } = await doctor({ env: { ROSTERCTL_PROFILE: 'sandbox' } }, rosterctl);
  expect(code).toBe(0);
  expect(checks.map(({ check, result }) => `${result} ${check}`)).toEqual([
    'pass node',
    'pass config',
    'pass profile',
    'pass runs',
    'pass uploads',
    'pass key',
    'pass connection',
    'pass contract',
    'pass routes',
    'pass network',
    'pass clock',
    ...resourceNames.map((name) => `pass read ${name}`),
  ]);
});

test('without any configuration, says how to start', async () => {
  const { code, checks, result } = await doctor({});
  expect(code).toBe(1);
  expect(result('node')).toBe('pass');
  expect(checks.at(-1)).toMatchObject({
    check: 'connection',
    result: 'fail',
    hint: 'Log in: rosterctl auth login\nOr try it on demo data: rosterctl -p sandbox tryouts list',
  });
});

test('with -q and the checks in a file, stderr names what failed', async () => {
  const home = temporaryFolder();
  const ran = await inProcess(`doctor -q --out ${join(home, 'checks.csv')}`, { home });
  expect(ran).toMatchObject({ code: 1, stdout: '', stderr: '1 check failed: connection.\n' });
});

test('a corrupt configuration fails one check, and the others run', async () => {
  const home = temporaryFolder();
  const folder = join(home, '.config', 'rosterctl');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(join(folder, 'config.json'), '{"profiles": ', { mode: 0o600 });
  const { code, checks } = await doctor({ home });
  expect(code).toBe(1);
  expect(checks.find(({ check }) => check === 'config')).toMatchObject({ result: 'fail' });
  const [failed, ...again] = checks.filter(({ detail }) => detail.includes(folder));
  expect([failed?.check, again]).toEqual(['config', []]);
});

test('a network failure is one failed check', async () => {
  const env = {
    ROSTERCTL_BASE_URL: 'http://127.0.0.1:9/v1',
    ROSTERCTL_ORG: 'org_7',
    ROSTERCTL_API_KEY: 'k-0123456789',
    ROSTERCTL_RETRIES: '0',
  };
  const { code, checks, result } = await doctor({ env });
  expect(code).toBe(1);
  expect(result('network')).toBe('fail');
  expect(checks.find(({ check }) => check === 'connection')).toMatchObject({
    result: 'warn',
    detail: 'not reached: http://127.0.0.1:9/v1, organization org_7',
  });
  expect(checks.filter(({ check }) => check.startsWith('read'))).toEqual([]);
});

test('a wrong key stops at the first area; a missing permission is a separate warning', async () => {
  const wrong = await recordingService(() => ({ status: 401, json: { error: 'invalidApiKey' } }));
  const refused = await doctor({ env: wrong.env });
  expect(refused.code).toBe(1);
  expect(refused.result('read teams')).toBe('fail');
  expect(wrong.requests.length).toBe(1);

  const narrow = await recordingService(({ url }) =>
    url.includes('/documents/')
      ? { status: 403, json: { error: 'forbidden' } }
      : { status: 200, json: [] },
  );
  const partial = await doctor({ env: narrow.env });
  expect(partial.code).toBe(0);
  expect(partial.result('read documents')).toBe('warn');
  expect(partial.result('read tryouts')).toBe('pass');
  expect(new Set(narrow.requests.map(({ method }) => method))).toEqual(new Set(['GET']));
});

test('a list that the service does not have is a warning, unless it has none', async () => {
  const { env } = await listService({ documents: unknown });
  const one = await doctor({ env });
  expect(one.checks.find(({ check }) => check === 'read documents')).toEqual({
    check: 'read documents',
    result: 'warn',
    detail: 'this service has no list of documents (404)',
    hint: null,
  });
  expect(one.code).toBe(0);
  const none = await recordingService(() => unknown);
  const all = await doctor({ env: none.env });
  expect([all.code, all.result('read documents')]).toEqual([1, 'fail']);
});

test('a web page in place of the lists is no missing permission', async () => {
  const headers = { 'content-type': 'text/html' };
  const service = await recordingService(() => ({ status: 403, text: '<html>No</html>', headers }));
  const { code, result } = await doctor({ env: service.env });
  expect([code, result('read teams')]).toEqual([1, 'fail']);
});

test('warns about a clock that is an hour off', async () => {
  const service = await recordingService(() => ({
    status: 200,
    json: [],
    headers: { date: new Date(Date.now() - 3_600_000).toUTCString() },
  }));
  const { result } = await doctor({ env: service.env });
  expect(result('clock')).toBe('warn');
});

test('warns about an intermediate cache, whose age is none of the clock', async () => {
  const anHourAgo = new Date(Date.now() - 3_600_000).toUTCString();
  const service = await recordingService(({ url }) => ({
    status: 200,
    json: [],
    headers: url.includes('/documents/') ? {} : { date: anHourAgo, age: '3600' },
  }));
  const { code, checks, result } = await doctor({ env: service.env });
  expect([code, result('clock')]).toEqual([0, 'pass']);
  expect(checks.filter(({ check }) => check === 'cache')).toEqual([
    {
      check: 'cache',
      result: 'warn',
      detail: 'an intermediate cache answered, with data that is 3600 s old; changes are refused',
      hint: 'Exempt the service from that cache.',
    },
  ]);
});

test('warns about a state folder that cannot be created, because bulk writes will fail', async () => {
  const home = temporaryFolder();
  writeFileSync(join(home, 'file'), '');
  const env = { ROSTERCTL_PROFILE: 'sandbox', ROSTERCTL_STATE_DIR: join(home, 'file', 'state') };
  const { checks } = await doctor({ home, env });
  const found = checks.find(({ check }) => check === 'state');
  expect(found?.result).toBe('warn');
  expect(found?.detail).toContain('bulk changes and uploads are refused');
});

test('warns of each folder that is missing without HOME, with the variable that names it', async () => {
  const env = { ROSTERCTL_PROFILE: 'sandbox', HOME: '' };
  const { code, checks } = await doctor({ env });
  expect([code, checks.filter(({ result }) => result !== 'pass')]).toMatchObject([
    0,
    [
      { check: 'config', result: 'warn', hint: 'Set ROSTERCTL_CONFIG_DIR.' },
      {
        check: 'state',
        detail:
          'bulk changes and uploads are refused. There is no folder to store the state in: HOME is not set.',
      },
    ],
  ]);
});

test('runs that cannot be read are a warning, and the other checks run', async () => {
  const home = temporaryFolder();
  const runs = join(home, '.local/state/rosterctl/runs');
  mkdirSync(runs, { recursive: true });
  // A link to itself cannot be read, not even by root.
  symlinkSync('open', join(runs, 'open'));
  const { code, checks } = await doctor({ home, env: { ROSTERCTL_PROFILE: 'sandbox' } });
  expect(code).toBe(0);
  expect(checks.find(({ check }) => check === 'runs')).toMatchObject({
    result: 'warn',
    detail: expect.stringContaining('cannot be read'),
  });
});

test('does not suggest running doctor', async () => {
  for (const status of [400, 403, 404]) {
    const service = await recordingService(() => ({ status, json: { error: 'refused' } }));
    const { checks } = await doctor({ env: service.env });
    const hints = checks.filter(({ check }) => check.startsWith('read')).map(({ hint }) => hint);
    expect(hints.length).toBe(resourceNames.length);
    expect(hints.join('\n')).not.toContain('rosterctl doctor');
  }
});

test('wraps its lines to 80 and to 40 columns, aligned with their start', async () => {
  const service = await recordingService(() => ({ status: 403, json: { error: 'forbidden' } }));
  const own = { ...service.env, NO_COLOR: '1' };
  const at = async (columns: number) => {
    const words = ['doctor', '--no-pager'];
    const { printed } = await converse(temporaryFolder(), words, [], own, columns);
    // A path is to be copied, so it is not broken.
    return printed.split('\r\n').filter((line) => !line.includes('config.json'));
  };
  const wide = await at(80);
  expect(Math.max(...wide.map((line) => line.length))).toBeLessThanOrEqual(80);
  expect(wide[0]).toMatch(/^pass {2}node {12}Node\.js/);
  const found = wide.findIndex((line) => line.startsWith('warn  read tryouts'));
  expect(wide.slice(found, found + 3)).toEqual([
    'warn  read tryouts    The service refused to list the applications (forbidden).',
    '                      The key may lack a permission, or belong to another',
    '                      organization.',
  ]);
  const narrow = await at(40);
  expect(Math.max(...narrow.map((line) => line.length))).toBeLessThanOrEqual(40);
  expect(narrow[0]).toBe(`pass  node            Node.js ${process.versions.node}`);
  // Only lines to copy are continued with a backslash.
  expect(narrow.filter((line) => /[^ ].* \\$/.test(line))).toEqual([]);
  const below = narrow.findIndex((line) => line.startsWith('warn  read tryouts'));
  expect(narrow.slice(below, below + 5)).toEqual([
    'warn  read tryouts',
    '      The service refused to list the',
    '      applications (forbidden).',
    '      The key may lack a permission, or',
    '      belong to another organization.',
  ]);
});

test('reports an unfinished run with its profile, which the hint names as well', async () => {
  const home = temporaryFolder();
  const line = ['tryouts', 'set-status', ...ids(2), '--to', 'rejected', '--yes'];
  const service = await keep(several(2), (_, step) =>
    step.startsWith('PATCH') ? { status: 503 } : undefined,
  );
  const env = { ...service.env, ROSTERCTL_PROFILE: 'work', ROSTERCTL_RETRIES: '0' };
  const folder = join(home, '.config', 'rosterctl');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const profiles = { work: {}, other: {} };
  writeFileSync(join(folder, 'config.json'), JSON.stringify({ profiles }), { mode: 0o600 });
  await inProcess(line, { home, env: { ...env, ROSTERCTL_SETTLE: '0s' } });
  const { checks } = await doctor({ home, env: { ...env, ROSTERCTL_PROFILE: 'other' } });
  const runs = checks.find(({ check }) => check === 'runs');
  expect(runs?.detail).toMatch(/^1 run is unfinished: \S+ \(profile work\)$/);
  expect(runs?.hint).toMatch(/rosterctl -p work runs resume \S+$/);
});

test('names the first unfinished uploads and counts the others', async () => {
  const home = temporaryFolder();
  const service = await recordingService(({ method }) =>
    method === 'GET' ? { status: 200, json: { documents: [] } } : { status: 503 },
  );
  const env = { ...service.env, ROSTERCTL_RETRIES: '0', ROSTERCTL_SETTLE: '0s' };
  const names = ids(8).map((id) => `${id}.txt`);
  for (const name of names) writeFileSync(join(home, name), name);
  await inProcess(['docs', 'upload', ...names, '--yes'], { home, env, cwd: home });
  const { checks } = await doctor({ home, env });
  const detail = checks.find(({ check }) => check === 'uploads')?.detail;
  expect(detail).toMatch(
    /^8 uploads are unfinished: \S+\.1 \(profile default\), .*\.5 \(profile default\) and 3 more$/,
  );
});

test('names the profile of an unfinished run under its new name', async () => {
  const home = temporaryFolder();
  const service = await keep(several(2), (_, step) =>
    step.startsWith('PATCH') ? { status: 503 } : undefined,
  );
  const env = { ...service.env, ROSTERCTL_RETRIES: '0', ROSTERCTL_SETTLE: '0s' };
  const folder = join(home, '.config', 'rosterctl');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const work = { baseUrl: service.baseUrl, organization };
  const config = JSON.stringify({ profiles: { work, other: {} } });
  writeFileSync(join(folder, 'config.json'), config, { mode: 0o600 });
  const line = ['tryouts', 'set-status', ...ids(2), '--to', 'rejected', '--yes'];
  await inProcess(line, { home, env: { ...env, ROSTERCTL_PROFILE: 'work' } });
  expect((await inProcess('profile rename work club', { home })).code).toBe(0);
  const elsewhere = { ...env, ROSTERCTL_PROFILE: 'other', ROSTERCTL_ORG: 'org_8' };
  const { checks } = await doctor({ home, env: elsewhere });
  const { hint } = checks.find(({ check }) => check === 'runs') ?? {};
  expect(hint).toMatch(/rosterctl -p club runs resume \S+$/);
  const run = hint?.split(' ').at(-1);
  const resumed = await rosterctl(`runs resume ${run} --yes`, { home, env: elsewhere });
  expect([resumed.code, resumed.stderr]).toEqual([2, expect.stringContaining('-p club')]);
});

const longRow = (number: number) =>
  JSON.stringify(application(`app_${number}`, { internalNotes: 'x'.repeat(1000) }));

test('reads a long list only up to its first records, whatever happens to the rest', async () => {
  const written: number[] = [];
  const service = await recordingService(() => (_, response) => {
    const at = written.push(0) - 1;
    response.setHeader('content-type', 'application/json');
    const pump = async () => {
      response.write(`[${longRow(0)}`);
      // More than one response may hold; the connection breaks before the list is complete.
      for (let id = 1; id < 80_000 && !response.destroyed; id++) {
        written[at] = id;
        if (!response.write(`,${longRow(id)}`)) await once(response, 'drain');
      }
      response.destroy();
    };
    pump().catch(() => undefined);
  });
  const { code, stderr, checks, result } = await doctor({ env: service.env }, rosterctl);
  expect([code, stderr, result('clock')]).toEqual([0, '', 'pass']);
  expect(checks.filter(({ check }) => check.startsWith('read'))).toMatchObject(
    resourceNames.map((area) => ({
      check: `read ${area}`,
      result: 'pass',
    })),
  );
  expect(Math.max(...written)).toBeLessThan(40_000);
});
