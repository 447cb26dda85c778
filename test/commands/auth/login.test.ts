import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { resourceNames } from '../../../src/data/resources.js';
import { exit } from '../../../src/exit-codes.js';
import { inProcess } from '../../support/in-process.js';
import { errorOf, type Ran, rosterctl, temporaryFolder } from '../../support/run.js';
import { type Reply, recordingService } from '../../support/service.js';

const secret = 'login-canary-9f8e7d6c';
const answers: Readonly<Record<string, Reply>> = {
  good: { status: 200, json: { teams: [] } },
  empty: { status: 204 },
  unauthorized: { status: 401, json: { error: 'invalidApiKey' } },
  forbidden: { status: 403, json: { error: 'forbidden' } },
  blocked: { status: 403, text: '<html>Denied</html>', headers: { 'content-type': 'text/html' } },
  // As nginx answers without a client certificate, and plain http on its TLS port.
  certificate: {
    status: 400,
    text: '<html><center>No required SSL certificate was sent</center></html>',
    headers: { 'content-type': 'text/html' },
  },
  // As nginx and Caddy answer with a password set.
  page: {
    status: 401,
    text: '<html><h1>401 Authorization Required</h1></html>',
    headers: { 'content-type': 'text/html', 'www-authenticate': 'Basic realm="staff"' },
  },
  password: { status: 401, text: '', headers: { 'www-authenticate': 'Basic realm="restricted"' } },
  plan: { status: 403, json: { error: 'featureNotAvailable' } },
  invalid: { status: 400, json: { error: 'invalidRequest' } },
  missing: { status: 404, json: { error: 'notFound' } },
  down: { status: 503, json: { error: 'busy' } },
  html: { status: 200, text: '<html>login</html>', headers: { 'content-type': 'text/html' } },
  moved: { status: 302, headers: { location: 'https://elsewhere.example/v1' } },
};
/** The answers to the lists of two organizations. */
const mixed: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  players: {
    teams: 'forbidden',
    players: 'good',
    documents: 'forbidden',
    'tryout-applications': 'forbidden',
  },
  patchy: { teams: 'plan', players: 'down', documents: 'good', 'tryout-applications': 'missing' },
};
/** The organization id selects the response; two of them answer only some of the lists. */
const service = await recordingService(({ url }) => {
  const { pathname, searchParams } = new URL(url, 'http://localhost');
  const organization = searchParams.get('organizationId') ?? pathname.split('/').at(-1) ?? '';
  const area = pathname.split('/')[2] ?? '';
  const name = mixed[organization]?.[area] ?? organization;
  return answers[name] ?? { status: 500 };
});

function login(
  home: string,
  flags: string,
  stdin = `${secret}\n`,
  run: typeof rosterctl = inProcess,
): Promise<Ran> {
  return run(`auth login --base-url ${service.baseUrl} ${flags}`, { home, stdin });
}

function folderOf(home: string): string {
  return join(home, '.config', 'rosterctl');
}

function storedKey(home: string, profile = 'default'): unknown {
  const file = join(folderOf(home), 'credentials.json');
  if (!existsSync(file)) return undefined;
  return (JSON.parse(readFileSync(file, 'utf8')) as Record<string, { key: unknown }>)[profile]?.key;
}

/** Expects that neither output nor requests contain the key. */
function expectSilence(ran: Ran): void {
  expect(`${ran.stdout}${ran.stderr}`).not.toContain(secret);
}

test('a good key is checked with one documented read, stored privately and used from then on', async () => {
  const home = temporaryFolder();
  const before = service.requests.length;
  const ran = await login(home, '--org good --key-stdin --json', undefined, rosterctl);
  expectSilence(ran);
  expect(ran).toMatchObject({ code: exit.done });
  expect(JSON.parse(ran.stdout)).toEqual({
    profile: 'default',
    organization: 'good',
    baseUrl: service.baseUrl,
    keyStored: true,
    check: 'ok',
    credentialsFile: join(folderOf(home), 'credentials.json'),
    active: true,
  });
  const sent = service.requests.slice(before);
  expect(sent.map(({ method, url }) => `${method} ${url}`)).toEqual(['GET /v1/teams/good']);
  expect(sent[0]?.headers['x-api-key']).toBe(secret);
  expect(statSync(folderOf(home)).mode & 0o777).toBe(0o700);
  for (const name of readdirSync(folderOf(home)))
    expect([name, statSync(join(folderOf(home), name)).mode & 0o777]).toEqual([name, 0o600]);
  const list = await inProcess('teams list --json', { home });
  expect([list.code, list.stdout]).toEqual([0, '[]\n']);
});

test('an organization whose empty list is a 204 is read once, and the key is stored', async () => {
  const home = temporaryFolder();
  const before = service.requests.length;
  const ran = await login(home, '--org empty --key-stdin');
  expect([ran.code, storedKey(home)]).toEqual([0, secret]);
  expect(service.requests.length - before).toBe(1);
  const list = await rosterctl('teams list --json', { home });
  expect([list.code, list.stdout]).toEqual([0, '[]\n']);
  const all = await rosterctl('api teams/{org} --paginate', { home });
  expect([all.code, all.stdout]).toEqual([0, '[]\n']);
  expect(service.requests.length - before).toBe(3);
});

test('prints where the key is stored and how cron selects the profile', async () => {
  const ran = await login(temporaryFolder(), '--org good --key-stdin --profile "my team"');
  expect(ran.code).toBe(0);
  expect(ran.stdout).toContain('credentials.json');
  expect(ran.stdout).toContain("rosterctl -p 'my team' tryouts list");
});

describe('the response of the service decides', () => {
  test.each([
    ['unauthorized', exit.unauthenticated],
    ['invalid', exit.forbidden],
    ['forbidden', exit.forbidden],
    ['plan', exit.forbidden],
    ['missing', exit.notFound],
    ['html', exit.failed],
    ['moved', exit.failed],
  ])('%s: exit %i and nothing stored', async (organization, code) => {
    const home = temporaryFolder();
    const ran = await login(home, `--org ${organization} --key-stdin --json`);
    expectSilence(ran);
    expect([ran.code, ran.stdout]).toEqual([code, '']);
    expect(errorOf(ran)).toMatchObject({
      exitCode: code,
      hint: expect.stringMatching(/^Nothing was stored\. (?!.*auth status)/),
    });
    expect(existsSync(folderOf(home))).toBe(false);
  });

  test('a failing service: exit 9 and nothing stored', async () => {
    const home = temporaryFolder();
    const ran = await login(home, '--org down --key-stdin --retries 0');
    expect(ran.code).toBe(exit.temporary);
    expect(ran.stderr).toContain('Nothing was stored');
    expect(existsSync(folderOf(home))).toBe(false);
  });

  test('an unreachable service: exit 9 and nothing stored', async () => {
    const home = temporaryFolder();
    const baseUrl = `http://127.0.0.1:${await closedPort()}/v1`;
    const line = `auth login --base-url ${baseUrl} --org good --key-stdin --retries 0`;
    const ran = await inProcess(line, { home, stdin: secret });
    expect(ran.code).toBe(exit.temporary);
    expect(ran.stderr).toContain('Nothing was stored. Check the base URL.\n');
    expect(existsSync(folderOf(home))).toBe(false);
  });

  test('a key that may read one list of the organization is stored, with what it may not read', async () => {
    const home = temporaryFolder();
    const ran = await login(home, '--org players --key-stdin');
    expect(ran.code).toBe(0);
    expect(ran.stdout).toContain('it cannot read teams, documents or applications.');
    // The lines to type next work with this key.
    expect(ran.stdout).toContain(
      'rosterctl -p default players list\nNext: rosterctl players list\n',
    );
    expect(storedKey(home)).toBe(secret);
  });

  test('one list that answers proves the organization, whatever the others do, and each is asked once', async () => {
    const home = temporaryFolder();
    const before = service.requests.length;
    const ran = await login(home, '--org patchy --key-stdin --retries 0');
    expect([ran.code, ran.stderr]).toEqual([0, '']);
    expect(ran.stdout).toContain('it cannot read teams.');
    expect(storedKey(home)).toBe(secret);
    const asked = service.requests.slice(before).map(({ url }) => url);
    expect(asked).toHaveLength(resourceNames.length);
    expect(asked).toEqual(
      expect.arrayContaining([
        '/v1/teams/patchy',
        '/v1/players/patchy',
        '/v1/documents/patchy',
        '/v1/tryout-applications?organizationId=patchy',
      ]),
    );
  });

  test.each([
    ['forbidden', 'This key cannot read anything of organization forbidden. Is the id right?'],
    ['plan', 'featureNotAvailable'],
    [
      'plan',
      "Nothing was stored. Ask the organization's owner for a plan that includes API access.",
    ],
  ])('a key that may read nothing of %s says why', async (organization, words) => {
    const ran = await login(temporaryFolder(), `--org ${organization} --key-stdin`);
    expect(ran.stderr).toContain(words);
  });

  test.each([
    [
      'blocked',
      exit.forbidden,
      'The service refused to list the teams.\nNothing was stored. The answer is a web page: something in front of the service blocked the request.\n',
    ],
    [
      'certificate',
      exit.invalid,
      'The service rejected the request: 400.\nNothing was stored. The answer is a web page: check the base URL.\n',
    ],
    [
      'page',
      exit.unauthenticated,
      'GET /teams/{organizationId} was refused with 401.\nNothing was stored. Something in front of the service asks for a user name and a password; rosterctl sends only the API key.\n',
    ],
    [
      'password',
      exit.unauthenticated,
      'GET /teams/{organizationId} was refused with 401.\nNothing was stored. Something in front of the service asks for a user name and a password; rosterctl sends only the API key.\n',
    ],
  ])(
    'a proxy that refuses each list (%s) says nothing about the organization or the key',
    async (organization, code, stderr) => {
      const ran = await login(temporaryFolder(), `--org ${organization} --key-stdin`);
      expect([ran.code, ran.stderr]).toEqual([code, stderr]);
    },
  );

  test('--no-check stores without a request and reports it', async () => {
    const home = temporaryFolder();
    const before = service.requests.length;
    const ran = await login(home, '--org unauthorized --key-stdin --no-check');
    expect(ran.code).toBe(0);
    expect(ran.stdout).toContain('not checked');
    expect(service.requests.length).toBe(before);
    expect(storedKey(home)).toBe(secret);
  });

  test('a failed second login leaves the first unchanged', async () => {
    const home = temporaryFolder();
    await login(home, '--org good --key-stdin');
    const files = () =>
      ['config.json', 'credentials.json'].map((name) =>
        readFileSync(join(folderOf(home), name), 'utf8'),
      );
    const before = files();
    expect((await login(home, '--org unauthorized --key-stdin', 'another-key')).code).toBe(4);
    expect(files()).toEqual(before);
  });
});

describe('where the key comes from', () => {
  test('--key-file copies the key now', async () => {
    const home = temporaryFolder();
    const file = join(home, 'key.txt');
    writeFileSync(file, `\uFEFF ${secret} \r\n`);
    expect((await login(home, `--org good --key-file ${file}`, '')).code).toBe(0);
    writeFileSync(file, 'changed');
    expect(storedKey(home)).toBe(secret);
  });

  test.each([
    ['a missing file', '--key-file /none/key', ''],
    ['an empty stdin', '--key-stdin', ''],
    ['two lines', '--key-stdin', 'login-canary-9f8e7d6c\nlogin-canary-9f8e7d6c\n'],
    ['both', '--key-stdin --key-file /none/key', secret],
    ['neither, and nobody to ask', '', ''],
    ['the key as a flag value', `--key ${secret}`, ''],
  ])('%s: exit 2, no request, nothing stored', async (_, flags, stdin) => {
    const home = temporaryFolder();
    const before = service.requests.length;
    const ran = await login(home, `--org good ${flags}`, stdin);
    expectSilence(ran);
    expect([ran.code, ran.stdout]).toEqual([exit.usage, '']);
    expect(service.requests.length).toBe(before);
    expect(existsSync(folderOf(home))).toBe(false);
  });

  test('without a terminal, one error names everything that is missing', async () => {
    const ran = await rosterctl('auth login', { stdin: '' });
    expect(ran.code).toBe(exit.usage);
    for (const flag of ['--base-url', '--org', '--key-stdin']) expect(ran.stderr).toContain(flag);
  });
});

describe('profiles', () => {
  test('the first becomes the active one, the second does not', async () => {
    const home = temporaryFolder();
    await login(home, '--org good --key-stdin --profile work');
    await login(home, '--org good --key-stdin --profile other');
    const list = await inProcess('profile list --json', { home });
    expect(JSON.parse(list.stdout)).toEqual([
      { name: 'work', organization: 'good', baseUrl: service.baseUrl, active: true },
      { name: 'other', organization: 'good', baseUrl: service.baseUrl, active: false },
    ]);
  });

  test('a new key for a stored profile requires only the key', async () => {
    const home = temporaryFolder();
    await login(home, '--org good --key-stdin --profile work', 'old-key');
    const ran = await inProcess('auth login -p work --key-stdin', { home, stdin: secret });
    expect(ran.code).toBe(0);
    expect(storedKey(home, 'work')).toBe(secret);
  });

  test.each(['sandbox', '', ' work', '-work'])('the name "%s" is rejected', async (name) => {
    const home = temporaryFolder();
    const words = ['auth', 'login', `--profile=${name}`, '--org', 'good', '--key-stdin'];
    const ran = await inProcess([...words, '--base-url', service.baseUrl], { home, stdin: secret });
    expect(ran.code).toBe(exit.usage);
    expect(existsSync(folderOf(home))).toBe(false);
  });
});

test.each([['-n'], ['--dry-run']])('%s is a usage error', async (flag) => {
  const home = temporaryFolder();
  const before = service.requests.length;
  const ran = await login(home, `--org good --key-stdin ${flag}`);
  expect(ran.code).toBe(exit.usage);
  expect(service.requests.length).toBe(before);
  expect(existsSync(folderOf(home))).toBe(false);
});

test('the first profile becomes the active one, also where the file names one that is gone', async () => {
  const home = temporaryFolder();
  mkdirSync(folderOf(home), { recursive: true, mode: 0o700 });
  const file = join(folderOf(home), 'config.json');
  writeFileSync(file, '{"activeProfile":"gone"}', { mode: 0o600 });
  const ran = await login(home, '--org good --key-stdin');
  expect([ran.code, ran.stdout]).toEqual([
    0,
    expect.stringContaining('profile "default" (active)'),
  ]);
  expect((await inProcess('auth status', { home })).code).toBe(0);
});

test('notes that an environment key overrides the stored one', async () => {
  const ran = await inProcess(
    `auth login --base-url ${service.baseUrl} --org good --key-stdin --profile work`,
    { stdin: secret, env: { ROSTERCTL_API_KEY: 'another-canary' } },
  );
  expect(ran.code).toBe(0);
  expect(ran.stderr).toContain('ROSTERCTL_API_KEY');
  expect(ran.stderr).not.toContain('another-canary');
});

test.each([
  ['HOME is not set', { HOME: '' }],
  ['HOME is not there', { HOME: '/none/at/all' }],
])('%s: reported before any request, and nothing appears in the current folder', async (_, env) => {
  const cwd = temporaryFolder();
  mkdirSync(join(cwd, 'empty'));
  const before = service.requests.length;
  const ran = await inProcess(`auth login --base-url ${service.baseUrl} --org good --key-stdin`, {
    cwd: join(cwd, 'empty'),
    env,
    stdin: secret,
  });
  expect(ran.code).toBe(exit.usage);
  expect(ran.stderr).toContain('ROSTERCTL_CONFIG_DIR');
  expect(readdirSync(join(cwd, 'empty'))).toEqual([]);
  if (env.HOME === '') expect(service.requests.length).toBe(before);
});

function closedPort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 1));
    });
  });
}

test('without a terminal, the example keeps the named profile', async () => {
  const ran = await inProcess("auth login --profile 'my team'");
  expect(ran.code).toBe(2);
  expect(ran.stderr).toContain(
    "rosterctl auth login --profile 'my team' --base-url https://HOST/v1 --org ID --key-file FILE",
  );
});
