import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { atEnd } from '../support/cleaning.js';
import { freshEnvironment, launcher, rosterctl, temporaryFolder } from '../support/run.js';
import { type Attack, type Attacked, fault } from './support/case.js';

interface Sandbox {
  readonly env: Record<string, string>;
  /** Sends a request to one of the routes beside /v1. */
  admin(
    path: string,
    options?: { method?: string; body?: unknown; token?: string },
  ): Promise<Response>;
  events(): Promise<{ kind: string }[]>;
  requests(): Promise<
    { method: string; path: string; fault: string | null; applied: boolean | null }[]
  >;
}

/** `sandbox start` with flags, in its own process. */
async function sandbox(...flags: readonly string[]): Promise<Sandbox> {
  const home = temporaryFolder('sandbox');
  const data = join(home, 'data');
  const child: ChildProcess = spawn(
    process.execPath,
    [
      process.env['FAULTS_PROGRAM'] ?? launcher,
      'sandbox',
      'start',
      '--json',
      '--port',
      '0',
      '--data',
      data,
      ...flags,
    ],
    { env: freshEnvironment(home), cwd: home, stdio: ['ignore', 'pipe', 'inherit'] },
  );
  atEnd(() => child.kill('SIGKILL'));
  const line = await new Promise<string>((resolve, reject) => {
    child.stdout?.once('data', (text: Buffer) => resolve(text.toString()));
    child.once('exit', (code) => reject(new Error(`sandbox start ended with ${code}`)));
  });
  const { baseUrl, organizationId, apiKey } = JSON.parse(line) as Record<string, string>;
  const note = JSON.parse(readFileSync(join(data, 'sandbox', 'server.json'), 'utf8')) as {
    token: string;
    origin: string;
  };
  const admin: Sandbox['admin'] = (path, { method = 'GET', body, token = note.token } = {}) =>
    fetch(`${note.origin}/_sandbox/${path}`, {
      method,
      headers: { 'x-sandbox-token': token, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  return {
    env: {
      ROSTERCTL_BASE_URL: baseUrl ?? '',
      ROSTERCTL_ORG: organizationId ?? '',
      ROSTERCTL_API_KEY: apiKey ?? '',
      ROSTERCTL_RETRIES: '1',
      // Longer than another process may take for what is late.
      ROSTERCTL_SETTLE: '1s',
    },
    admin,
    events: async () => (await admin('events')).json() as Promise<{ kind: string }[]>,
    requests: async () => (await admin('requests')).json() as ReturnType<Sandbox['requests']>,
  };
}

const read = 'teams get team_0001';
const patch = 'tryouts update app_0013 --status shortlisted --json';
const post = 'teams create --name Blue';

/** [catalogue id, rule, command, correct exit codes, matching requests]. */
const cases: readonly (readonly [string, string, string, readonly number[], number])[] = [
  ['F009', 'GET /teams/** close-before', read, [9], 2],
  ['F009', 'GET /teams/** #1 close-before', read, [0], 2],
  ['F008', 'GET /teams/** close-before=reset', read, [9], 2],
  ['F024', 'GET /teams/** stall-headers', `${read} --timeout 300ms`, [9], 2],
  ['F027', 'GET /teams/** truncate', read, [9], 2],
  ['F028', 'GET /teams/** truncate=reset', read, [9], 2],
  ['F027', 'GET /teams/** wrong-length=5', read, [1, 9], 2],
  ['F031', 'GET /teams/** wrong-length=-5', read, [0, 1, 9], 2],
  ['F090', 'GET /teams/** status=503', read, [9], 2],
  ['F079', 'PATCH /tryout-applications/* status=409:taken', patch, [6], 1],
  ['F068', 'GET /teams/** redirect=/v1/teams', read, [1], 1],
  ['F069', 'GET /teams/** redirect=302:https://example.invalid/', read, [1], 1],
  ['F043', 'GET /teams/** html', read, [1], 2],
  ['F044', 'GET /teams/** html=502', read, [9], 2],
  ['F040', 'GET /teams/** huge=70000000', read, [1], 2],
  ['F056', 'GET /teams/** deep=100000', read, [1], 2],
  ['F066', 'GET /teams/** other-record', read, [1], 2],
  ['F084', 'GET /teams/** #1 throttle=1', read, [0], 2],
  ['F085', 'GET /teams/** #1 throttle=date+1s skew=1h', read, [0], 2],
  ['F086', 'GET /teams/** #1 throttle', read, [0], 2],
  ['F087', 'GET /teams/** throttle=86400', read, [9], 1],
  ['F087', 'GET /teams/** #1 throttle=-5', read, [0], 2],
  ['F087', 'GET /teams/** #1 throttle=soon', read, [0], 2],
  ['F088', 'POST /teams #1 throttle=0', post, [0], 2],
  ['F009', 'POST /teams close-after', post, [10], 1],
  ['F089', 'POST /teams status-after=500', post, [10], 1],
  ['F026', 'GET /teams/** drip=1ms', read, [0], 1],
  ['F067', 'GET /teams/** header=content-type:text/plain', read, [0], 1],
  ['F095', 'store PUT #1 close-before', 'docs upload rules.txt', [0], 2],
  ['F099', 'store PUT #1 status=503:SlowDown', 'docs upload rules.txt', [0], 2],
  ['F095', 'store PUT #1 close-after', 'docs upload rules.txt', [0], 2],
  ['F103', 'store PUT redirect=https://example.invalid/', 'docs upload rules.txt', [1], 1],
];

async function attackSandbox(attack: Attack, rule: string, line: string) {
  const server = await sandbox('--strict-events', '--fault', rule);
  const { env } = server;
  if (!line.startsWith('docs'))
    return { server, ran: await attack(line, { env, inside: rule !== cases[0]?.[1] }) };
  const cwd = temporaryFolder('cwd');
  writeFileSync(join(cwd, 'rules.txt'), 'hello');
  const ran: Attacked = await attack(line, { env, cwd });
  return { server, ran };
}

for (const [id, rule, line, codes, requests] of cases)
  fault(id, `sandbox start --fault '${rule}'`, async (attack) => {
    const { server, ran } = await attackSandbox(attack, rule, line);
    expect(codes, ran.stderr).toContain(ran.code);
    if (ran.code !== 0) expect(ran.stdout).toBe('');
    const rules = (await (await server.admin('faults')).json()) as {
      rule: string;
      requests: number;
    }[];
    expect(rules.map((each) => each.rule)).toEqual([rule]);
    expect(rules[0]?.requests).toBeGreaterThan(0);
    expect(rules[0]?.requests).toBeLessThanOrEqual(requests);
    const struck = (await server.requests()).filter((each) => each.fault !== null);
    expect(struck.length).toBeGreaterThan(0);
  });

for (const [rule, code] of [
  ['PATCH /tryout-applications/* #1 close-after', 0],
  ['PATCH /tryout-applications/* #1 status-after=500', 0],
  ['PATCH /tryout-applications/* #1 late=50ms', 0],
  ['PATCH /tryout-applications/* #1 truncate', 0],
  ['PATCH /tryout-applications/* #1 other-record', undefined],
] as const)
  fault('F089', `'${rule}' in strict-event mode: one event, however it ends`, async (attack) => {
    const { server, ran } = await attackSandbox(attack, rule, patch);
    if (code !== undefined) expect({ code: ran.code, stderr: ran.stderr }).toMatchObject({ code });
    const changed = (await server.events()).filter(({ kind }) => kind === 'tryout.status_changed');
    expect(changed).toHaveLength(1);
    const patches = (await server.requests()).filter(({ method }) => method === 'PATCH');
    expect(patches.filter(({ applied }) => applied)).toHaveLength(1);
  });

test('strict events: an update to the same status emits again', async () => {
  for (const [flags, events] of [
    [[], 1],
    [['--strict-events'], 2],
  ] as const) {
    const server = await sandbox(...flags);
    const url = `${server.env['ROSTERCTL_BASE_URL']}/tryout-applications/app_0013`;
    for (const _ of [1, 2])
      await fetch(url, {
        method: 'PATCH',
        headers: {
          'x-api-key': server.env['ROSTERCTL_API_KEY'] ?? '',
          'content-type': 'application/json',
        },
        body: JSON.stringify({ organizationId: 'org_demo', status: 'shortlisted' }),
      });
    expect(await server.events()).toHaveLength(events);
  }
});

test('the admin routes need the token and a name of this machine, and set and clear rules', async () => {
  const server = await sandbox();
  expect((await server.admin('faults', { token: 'wrong' })).status).toBe(401);
  expect((await server.admin('requests', { token: '' })).status).toBe(401);
  const bad = await server.admin('faults', { method: 'POST', body: { faults: ['nonsense'] } });
  expect(bad.status).toBe(400);
  expect((await server.admin('faults', { method: 'POST', body: {} })).status).toBe(400);
  expect((await server.admin('faults', { method: 'PUT', body: {} })).status).toBe(405);
  const faults = ['GET /teams/** status=500', 'store PUT close-before'];
  expect((await server.admin('faults', { method: 'POST', body: { faults } })).status).toBe(200);
  const env = { ...server.env, ROSTERCTL_RETRIES: '0' };
  expect((await rosterctl(read, { env })).code).toBe(9);
  const [first] = await server.requests();
  expect(first).toMatchObject({
    number: 1,
    port: 'api',
    method: 'GET',
    path: '/v1/teams/org_demo/team_0001',
    fault: 'GET /teams/** status=500',
    applied: false,
  });
  expect(JSON.stringify(await server.requests())).not.toContain(server.env['ROSTERCTL_API_KEY']);
  expect((await server.admin('faults', { method: 'DELETE' })).status).toBe(200);
  expect((await rosterctl(read, { env })).code).toBe(0);
  const { hostname, port } = new URL(server.env['ROSTERCTL_BASE_URL'] ?? '');
  const { get } = await import('node:http');
  const status = await new Promise((resolve) =>
    get(
      { host: hostname, port, path: '/_sandbox/requests', headers: { host: 'evil.example' } },
      (answer) => {
        answer.resume();
        resolve(answer.statusCode);
      },
    ),
  );
  expect(status).toBe(403);
});

test.each([
  'nonsense',
  '#x close-before',
  'late',
  'status=9',
  'store late=5s',
  'GET /x',
  'huge=a',
  '',
])('the rule "%s" is refused with the grammar', async (rule) => {
  const ran = await rosterctl(['sandbox', 'start', '--fault', rule]);
  expect(ran.code).toBe(2);
  expect(ran.stderr).toMatch(/Not a fault rule|not a duration/);
});

test('a kind that the file store does not take is refused with those that it takes', async () => {
  const ran = await rosterctl(['sandbox', 'start', '--fault', 'GET store #1 truncate']);
  expect(ran.code).toBe(2);
  expect(ran.stderr).toMatch(/ Kinds for the file store: close-before, .*\bhtml\.\n$/);
  expect(ran.stderr).not.toContain('drip');
});
