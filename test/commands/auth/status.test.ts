import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { exit } from '../../../src/exit-codes.js';
import { inProcess } from '../../support/in-process.js';
import { errorOf, type Ran, rosterctl, startLine, temporaryFolder } from '../../support/run.js';
import { key, organization, recordingService } from '../../support/service.js';

const service = await recordingService(({ headers }) => {
  const sent = headers['x-api-key'];
  if (sent === 'forbidden-canary') return { status: 403, json: { error: 'forbidden' } };
  if (sent === 'blocked-canary')
    return { status: 403, text: '<html>', headers: { 'content-type': 'text/html' } };
  if (sent === 'password-canary')
    return { status: 401, headers: { 'www-authenticate': 'Basic realm="staff"' } };
  if (sent === 'failing-canary') return { status: 503, json: { error: 'busy' } };
  return sent === key
    ? { status: 200, json: [] }
    : { status: 401, json: { error: 'unauthorized' } };
});

interface Profile {
  readonly key?: string;
  readonly baseUrl?: string;
  /** The origin for which the key was stored. */
  readonly origin?: string;
}

/** A home folder with these profiles stored; the first one is active. */
function homeWith(profiles: Readonly<Record<string, Profile>>): string {
  const home = temporaryFolder();
  const folder = join(home, '.config', 'rosterctl');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const entries = Object.entries(profiles);
  const config = {
    activeProfile: entries[0]?.[0],
    profiles: Object.fromEntries(
      entries.map(([name, { baseUrl = service.baseUrl }]) => [name, { baseUrl, organization }]),
    ),
  };
  const keys = entries.flatMap(([name, stored]) =>
    stored.key === undefined
      ? []
      : [
          [
            name,
            { key: stored.key, origin: stored.origin ?? service.origin, organization },
          ] as const,
        ],
  );
  writeFileSync(join(folder, 'config.json'), JSON.stringify(config), { mode: 0o600 });
  const credentials = JSON.stringify(Object.fromEntries(keys));
  writeFileSync(join(folder, 'credentials.json'), credentials, { mode: 0o600 });
  return home;
}

const statusOf = (ran: Ran): unknown => JSON.parse(ran.stdout);

const codeOfAll = async (profiles: Readonly<Record<string, Profile>>) =>
  (await inProcess('auth status --all --retries 0', { home: homeWith(profiles) })).code;

describe('auth status --json', () => {
  test.each<[string, Profile, number, object]>([
    ['a good key', { key }, 0, { keyStored: true, check: 'ok' }],
    ['a refused key', { key: 'wrong-canary' }, 4, { keyStored: true, check: '401' }],
    ['a 403', { key: 'forbidden-canary' }, 0, { keyStored: true, check: '403' }],
    ['a proxy in its way', { key: 'blocked-canary' }, 7, { keyStored: true, check: 'unreachable' }],
    [
      'a proxy with a password',
      { key: 'password-canary' },
      4,
      { keyStored: true, check: 'unreachable' },
    ],
    ['a failing service', { key: 'failing-canary' }, 9, { keyStored: true, check: 'unreachable' }],
    ['no key', {}, 4, { keyStored: false, check: 'skipped', keySource: null }],
  ])('%s', async (_, profile, code, part) => {
    const home = homeWith({ work: profile });
    const ran = await inProcess('auth status --json --retries 0', { home });
    expect(ran.code).toBe(code);
    expect(statusOf(ran)).toEqual({
      profile: 'work',
      organization,
      baseUrl: service.baseUrl,
      keySource: 'stored for profile work',
      ...part,
    });
    expect(`${ran.stdout}${ran.stderr}`).not.toMatch(/canary/);
  });

  test('--offline sends nothing', async () => {
    const before = service.requests.length;
    const ran = await rosterctl('auth status --offline --json', {
      home: homeWith({ work: { key: 'wrong-canary' } }),
    });
    expect([ran.code, statusOf(ran)]).toMatchObject([0, { check: 'skipped', keyStored: true }]);
    expect(service.requests.length).toBe(before);
  });

  test('a refused key of the environment is named, and not answered with a login alone', async () => {
    const home = homeWith({ work: { key } });
    const env = { ROSTERCTL_API_KEY: 'wrong-canary' };
    const ran = await inProcess('auth status --json', { home, env });
    expect([ran.code, statusOf(ran)]).toMatchObject([4, { check: '401' }]);
    expect(errorOf(ran)).toMatchObject({
      message: 'The service does not accept the API key in ROSTERCTL_API_KEY (unauthorized).',
      hint: expect.stringContaining('Set ROSTERCTL_API_KEY to a valid key'),
    });
  });

  test('an environment key is named as the source', async () => {
    const home = homeWith({ work: {} });
    const ran = await inProcess('auth status --json', { home, env: { ROSTERCTL_API_KEY: key } });
    expect([ran.code, statusOf(ran)]).toMatchObject([
      0,
      { keySource: 'environment ROSTERCTL_API_KEY', keyStored: false, check: 'ok' },
    ]);
  });

  test('--all shows every profile, each with its own key, and exits 4 if one is rejected', async () => {
    const home = homeWith({ work: { key }, old: { key: 'wrong-canary' } });
    const ran = await inProcess('auth status --all --json', {
      home,
      env: { ROSTERCTL_API_KEY: 'environment-canary' },
    });
    expect(ran.code).toBe(exit.unauthenticated);
    expect(statusOf(ran)).toMatchObject([
      { profile: 'work', check: 'ok' },
      { profile: 'old', check: '401' },
    ]);
  });

  test('--all sends the key of the environment for no profile but the one in use', async () => {
    const home = homeWith({ work: { key }, bare: {} });
    const before = service.requests.length;
    const env = { ROSTERCTL_API_KEY: 'environment-canary' };
    const ran = await inProcess('auth status --all --json', { home, env });
    expect([ran.code, statusOf(ran)]).toMatchObject([
      exit.unauthenticated,
      [{ check: 'ok' }, { profile: 'bare', keySource: null, check: 'skipped' }],
    ]);
    const sent = service.requests.slice(before).map(({ headers }) => headers['x-api-key']);
    expect(sent).toEqual([key]);
  });

  test('--all ends as the worst of the profiles: a refused key, then a wrong setting', async () => {
    const lost = { key, baseUrl: 'http://127.0.0.1:1/v1', origin: 'http://127.0.0.1:1' };
    const elsewhere = { key, origin: 'http://127.0.0.1:2' };
    expect(await codeOfAll({ lost, elsewhere })).toBe(exit.usage);
    expect(await codeOfAll({ lost, elsewhere, wrong: { key: 'wrong-canary' } })).toBe(
      exit.unauthenticated,
    );
  });

  test('--all says of each rejected key what to do about it', async () => {
    const home = homeWith({ work: { key: 'wrong-canary' }, old: { key: 'wrong-canary' } });
    const ran = await inProcess('auth status --all', { home });
    const refusals = ['work', 'old'].map(
      (name) =>
        `The service does not accept the API key of profile ${name} (unauthorized).\n` +
        `Store a valid key: rosterctl auth login --profile ${name}\n`,
    );
    expect([ran.code, ran.stderr]).toEqual([4, refusals.join('')]);
  });

  test('--all names the profile of a service that cannot be reached, also in its hint', async () => {
    const home = homeWith({
      work: { key },
      lost: { key, baseUrl: 'http://127.0.0.1:1/v1', origin: 'http://127.0.0.1:1' },
    });
    const ran = await inProcess('auth status --all --retries 0', { home });
    expect([ran.code, ran.stderr]).toEqual([
      9,
      'Profile lost: http://127.0.0.1:1 refused the connection.\n' +
        'Check the base URL: rosterctl -p lost auth status\n',
    ]);
    const json = await inProcess('auth status --all --retries 0 --json', { home });
    expect(errorOf(json)['hint']).toBe('Check the base URL: rosterctl -p lost auth status');
  });

  test.each([
    [{}, ' of profile work', 'Store a valid key: rosterctl auth login --profile work'],
    [
      { ROSTERCTL_API_KEY: 'environment-canary' },
      ' in ROSTERCTL_API_KEY',
      'Set ROSTERCTL_API_KEY to a valid key, or unset it and store one: rosterctl auth login',
    ],
  ])('a refused key is named by where it came from: %o', async (env, source, hint) => {
    const home = homeWith({ work: { key: 'wrong-canary' } });
    const message = `The service does not accept the API key${source} (unauthorized).`;
    const text = await inProcess('auth status', { home, env });
    expect([text.code, text.stderr]).toEqual([4, `${message}\n${hint}\n`]);
    const json = await inProcess('auth status --json', { home, env });
    expect(errorOf(json)).toMatchObject({ message, hint });
  });

  test('a failing service is reported in words, and as the last line with --json', async () => {
    const home = homeWith({ work: { key: 'failing-canary' } });
    const words = 'The service failed with 503 (busy).';
    const text = await inProcess('auth status --retries 0', { home });
    expect([text.code, text.stderr.split('\n')[0]]).toEqual([9, words]);
    const json = await inProcess('auth status --json --retries 0', { home });
    expect(errorOf(json)).toMatchObject({ code: 'busy', message: words, status: 503 });
    const all = await inProcess('auth status --all --retries 0', { home });
    expect([all.code, all.stderr.split('\n')[0]]).toEqual([9, `Profile work: ${words}`]);
  });

  test('--all asks every service at once, and reports in the order of the profiles', async () => {
    const waiting: (() => void)[] = [];
    const patient = await recordingService(() => (_, response) => {
      waiting.push(() => response.end('[]'));
      if (waiting.length === 2) for (const answer of waiting) answer();
    });
    const stored = { key, baseUrl: patient.baseUrl, origin: patient.origin };
    const home = homeWith({ work: stored, lost: {}, old: stored });
    const ran = await inProcess('auth status --all --json --timeout 10s --retries 0', { home });
    expect(statusOf(ran)).toMatchObject([
      { profile: 'work', check: 'ok' },
      { profile: 'lost', check: 'skipped' },
      { profile: 'old', check: 'ok' },
    ]);
  });

  test('a signal during the command of a key ends --all: the next command does not start', async () => {
    const home = homeWith({ slow: {}, next: {} });
    const file = join(home, '.config', 'rosterctl', 'config.json');
    const config = JSON.parse(readFileSync(file, 'utf8')) as { profiles: Record<string, object> };
    Object.assign(config.profiles['slow'] ?? {}, { 'key.command': `sh -c 'touch slow; sleep 30'` });
    Object.assign(config.profiles['next'] ?? {}, { 'key.command': 'touch next' });
    writeFileSync(file, JSON.stringify(config));
    const line = startLine('auth status --all', { home });
    while (!existsSync(join(home, 'slow'))) await pause(20);
    line.kill('SIGINT');
    const { code, stdout, stderr } = await line.ended;
    expect([code, stdout]).toEqual([130, '']);
    expect(stderr).toBe('Stopped while reading key.command of profile slow; nothing was sent.\n');
    expect(existsSync(join(home, 'next'))).toBe(false);
  });

  test('a key for another origin is not sent, and the status shows the configuration', async () => {
    const home = homeWith({ work: { key } });
    const before = service.requests.length;
    const env = { ROSTERCTL_BASE_URL: 'http://localhost:9/v1' };
    const ran = await inProcess('auth status --json', { home, env });
    expect([ran.code, statusOf(ran)]).toMatchObject([2, { check: 'skipped', keyStored: true }]);
    expect(ran.stderr).toContain('is not sent to');
    expect(service.requests.length).toBe(before);
  });
});

test('a fresh machine: exit 4 and the next step', async () => {
  const ran = await rosterctl('auth status');
  expect(ran.code).toBe(exit.unauthenticated);
  expect(ran.stderr).toContain('rosterctl auth login');
});

test('the lines to copy for an unknown profile stand on their own', async () => {
  const { code, stderr } = await inProcess('auth status -p zz');
  expect([code, stderr.split('\n')]).toEqual([
    2,
    [
      'Unknown profile zz.',
      'See: rosterctl profile list',
      'Store one: rosterctl auth login --profile NAME',
      '',
    ],
  ]);
});

test('--offline names the organization of the sandbox, which starts no server', async () => {
  const ran = await inProcess('auth status -p sandbox --offline');
  expect([ran.code, ran.stdout]).toEqual([
    0,
    `Profile       sandbox
Organization  org_demo
Base URL      on this machine
Key           built in; not checked
`,
  ]);
});

test('at most four characters of the key are shown, and none of a short one', async () => {
  const long = await inProcess('auth status -v', { home: homeWith({ work: { key } }) });
  const shown = `${long.stdout}${long.stderr}`;
  expect(shown).toContain(`…${key.slice(-4)}`);
  expect(shown).not.toContain(key.slice(-5));
  const short = await inProcess('auth status -v --offline', {
    home: homeWith({ work: { key: 'short-9x7q' } }),
  });
  expect(`${short.stdout}${short.stderr}`).not.toContain('9x7q');
});

test('a key file that others can read is made private, with one note', async () => {
  const home = homeWith({ work: { key } });
  const file = join(home, '.config', 'rosterctl', 'credentials.json');
  chmodSync(file, 0o644);
  const ran = await rosterctl('auth status --offline', { home });
  expect(ran.stderr).toContain(`${file} could be read by other users; its mode is now 0600.`);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const again = await rosterctl('auth status --offline', { home });
  expect(again.stderr).not.toContain('other users');
});
