import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { parseConfigFile, parseCredentialsFile } from '../../src/config/config-file.js';
import { checkSandboxFlags, resolveConnection } from '../../src/config/connection.js';
import type { GlobalFlags } from '../../src/config/environment.js';
import { runKeyCommand } from '../../src/config/key-command.js';
import type { Settings } from '../../src/config/settings.js';
import type { Environment } from '../../src/data/environment.js';
import { CancelledError, Failure } from '../../src/errors.js';
import { rosterctl, temporaryFolder } from '../support/run.js';

const home = temporaryFolder();
const stored = 'stored-canary-1234';
const exported = 'exported-canary-5678';
const work = 'https://work.example/v1';

const file = parseConfigFile(
  JSON.stringify({
    profiles: {
      work: { baseUrl: work, organization: 'org_1' },
      keyless: { baseUrl: work, organization: 'org_1' },
      command: {
        baseUrl: work,
        organization: 'org_1',
        'key.command': 'printf %s key-of-a-command',
      },
      bare: {},
      urlless: { organization: 'org_1', 'key.command': 'printf %s canary-of-a-command' },
      nobodys: { baseUrl: work, 'key.command': 'printf %s canary-of-a-command' },
    },
  }),
  '/c/config.json',
);
const keys = parseCredentialsFile(
  JSON.stringify({ work: { key: stored, origin: 'https://work.example', organization: 'org_1' } }),
  '/c/credentials.json',
);

const inEnvironment = {
  ROSTERCTL_BASE_URL: 'https://env.example/v1',
  ROSTERCTL_ORG: 'org_env',
  ROSTERCTL_API_KEY: exported,
};

interface Case {
  readonly profile?: string;
  readonly via?: Settings['profile']['via'];
  readonly flags?: GlobalFlags;
  readonly env?: Environment;
}

function resolve({ profile = 'work', via = 'active', flags = {}, env = {} }: Case) {
  return resolveConnection({
    flags,
    env: { PATH: process.env['PATH'], ...env },
    profile: { name: profile, via },
    file,
    keys: () => keys,
    signal: new AbortController().signal,
  });
}

async function refused(of: Case): Promise<Failure> {
  const error: unknown = await resolve(of).then(
    () => new Error('it was accepted'),
    (reason: unknown) => reason,
  );
  if (!(error instanceof Failure)) throw error;
  const told = `${error.message} ${error.hint} ${error.stack} ${String(error.cause)}`;
  expect(told).not.toMatch(/canary/);
  return error;
}

describe('the connection used', () => {
  test.each<[string, Case, string, string, string]>([
    ['a stored profile', {}, work, 'org_1', stored],
    ['a stored profile named with -p', { via: 'flag' }, work, 'org_1', stored],
    [
      'the environment alone',
      { profile: 'default', via: 'none', env: inEnvironment },
      'https://env.example/v1',
      'org_env',
      exported,
    ],
    [
      'the environment before an active profile',
      { env: inEnvironment },
      'https://env.example/v1',
      'org_env',
      exported,
    ],
    [
      'the environment before a profile of the environment',
      { via: 'environment', env: inEnvironment },
      'https://env.example/v1',
      'org_env',
      exported,
    ],
    [
      'a profile named with -p before the environment',
      { via: 'flag', env: inEnvironment },
      work,
      'org_1',
      stored,
    ],
    [
      'the environment for what such a profile lacks',
      { profile: 'bare', via: 'flag', env: inEnvironment },
      'https://env.example/v1',
      'org_env',
      exported,
    ],
    [
      'its own service with the key of the environment',
      { profile: 'keyless', via: 'flag', env: inEnvironment },
      work,
      'org_1',
      exported,
    ],
    [
      'an environment key for the stored service',
      { env: { ROSTERCTL_API_KEY: exported } },
      work,
      'org_1',
      exported,
    ],
    [
      'flags before everything',
      {
        env: inEnvironment,
        flags: { baseUrl: 'https://flag.example/v1/', org: 'org_flag' },
      },
      'https://flag.example/v1',
      'org_flag',
      exported,
    ],
    [
      'the same origin and organization repeated',
      { flags: { baseUrl: 'https://WORK.example:443/v1', org: 'org_1' } },
      work,
      'org_1',
      stored,
    ],
    [
      'another path at the stored origin',
      { flags: { baseUrl: 'https://work.example/eu/v1' } },
      'https://work.example/eu/v1',
      'org_1',
      stored,
    ],
    [
      'a command that prints the key',
      { profile: 'command', via: 'flag' },
      work,
      'org_1',
      'key-of-a-command',
    ],
    [
      'empty variables count as unset',
      { env: { ROSTERCTL_API_KEY: '', ROSTERCTL_ORG: '', ROSTERCTL_BASE_URL: '' } },
      work,
      'org_1',
      stored,
    ],
    [
      'a key with blanks around it, trimmed',
      { env: { ROSTERCTL_API_KEY: `  ${exported}\r\n` } },
      work,
      'org_1',
      exported,
    ],
  ])('%s', async (_, of, baseUrl, organizationId, key) => {
    const { connection } = await resolve(of);
    expect(connection).toMatchObject({ baseUrl, organizationId, key });
  });
});

describe('what is refused before any request', () => {
  test.each<[string, Case, string, RegExp]>([
    ['no key', { profile: 'keyless' }, 'unauthenticated', /no API key/],
    [
      'no base URL',
      { profile: 'bare', env: { ROSTERCTL_API_KEY: exported } },
      'usage',
      /No base URL/,
    ],
    [
      'no organization',
      { profile: 'bare', flags: { baseUrl: work }, env: { ROSTERCTL_API_KEY: exported } },
      'usage',
      /No organization/,
    ],
    ['nothing at all', { profile: 'default', via: 'none' }, 'unauthenticated', /no API key/],
    [
      'a bad base URL before a missing key',
      { profile: 'default', via: 'none', flags: { baseUrl: 'ftp://x/v1' } },
      'usage',
      /https.*--base-url/,
    ],
    [
      'a profile that is not stored',
      { profile: 'wrok', via: 'flag' },
      'usage',
      /Did you mean work\?/,
    ],
    [
      'a misspelt profile beside a complete environment',
      { profile: 'wrok', via: 'flag', env: inEnvironment },
      'usage',
      /Unknown profile wrok/,
    ],
    [
      'a misspelt ROSTERCTL_PROFILE beside a complete environment',
      { profile: 'wrok', via: 'environment', env: inEnvironment },
      'usage',
      /Unknown profile wrok/,
    ],
    ['an active profile that the file lost', { profile: 'gone' }, 'usage', /active profile gone/],
    [
      'another origin with the stored key',
      { flags: { baseUrl: 'https://evil.example/v1' } },
      'usage',
      /work\.example/,
    ],
    [
      'another port',
      { flags: { baseUrl: 'https://work.example:8443/v1' } },
      'usage',
      /is not sent to/,
    ],
    ['another scheme', { flags: { baseUrl: 'http://localhost/v1' } }, 'usage', /is not sent to/],
    [
      'another origin of the environment with the stored key',
      { env: { ROSTERCTL_BASE_URL: 'https://evil.example/v1' } },
      'usage',
      /is not sent to/,
    ],
    [
      'another origin with -p and the stored key',
      { via: 'flag', flags: { baseUrl: 'https://evil.example/v1' } },
      'usage',
      /is not sent to/,
    ],
    ['another organization', { flags: { org: 'org_2' } }, 'usage', /belongs to organization org_1/],
    [
      'another organization of the environment',
      { env: { ROSTERCTL_ORG: 'org_2' } },
      'usage',
      /belongs to/,
    ],
    [
      'another origin with the key of a command',
      { profile: 'command', flags: { baseUrl: 'https://evil.example/v1' } },
      'usage',
      /is not sent to/,
    ],
    [
      'the key of a command at an origin that its profile does not name',
      { profile: 'urlless', via: 'flag', flags: { baseUrl: work } },
      'usage',
      /needs the profile's own base URL and organization/,
    ],
    [
      'the key of a command for an organization that its profile does not name',
      { profile: 'nobodys', env: { ROSTERCTL_ORG: 'org_1' } },
      'usage',
      /needs the profile's own base URL and organization/,
    ],
    [
      'a base URL without /v1',
      { flags: { baseUrl: 'https://work.example' } },
      'usage',
      /end in \/v1/,
    ],
    ['an empty organization', { flags: { org: '' } }, 'usage', /empty/],
    ['an organization of dots', { flags: { org: '..' } }, 'usage', /empty/],
    ['an organization with a line feed', { flags: { org: 'org_1\n' } }, 'usage', /no id can have/],
    [
      'an organization that is no text',
      { flags: { org: 'org_\ud800' } },
      'usage',
      /no id can have/,
    ],
    [
      'a key with a line feed',
      { env: { ROSTERCTL_API_KEY: 'canary\ncanary' } },
      'usage',
      /ROSTERCTL_API_KEY/,
    ],
    ['a key with NUL', { env: { ROSTERCTL_API_KEY: 'canary\0' } }, 'usage', /ROSTERCTL_API_KEY/],
    [
      'a key of other letters',
      { env: { ROSTERCTL_API_KEY: 'canary–λ' } },
      'usage',
      /ROSTERCTL_API_KEY/,
    ],
    ['a key of blanks', { env: { ROSTERCTL_API_KEY: '  ' } }, 'usage', /holds no key/],
  ])('%s', async (_, of, exitName, words) => {
    const error = await refused(of);
    expect(error.exitName).toBe(exitName);
    expect(error.message).toMatch(words);
  });

  test('no key: the next step is the login of that profile', async () => {
    expect((await refused({ profile: 'keyless', via: 'flag' })).hint).toContain(
      'rosterctl auth login --profile keyless',
    );
  });
});

describe('notes', () => {
  test('one if a profile named with -p overrides the environment', async () => {
    const { notes } = await resolve({ via: 'flag', env: inEnvironment });
    expect(notes).toHaveLength(1);
    for (const name of Object.keys(inEnvironment)) expect(notes[0]).toContain(name);
    expect(notes[0]).not.toContain('canary');
    expect(notes[0]).toMatch(/^-p work overrides \w+, \w+ and \w+ in the environment\.$/);
    const [name = '', value] = Object.entries(inEnvironment)[0] ?? [];
    const one = await resolve({ via: 'flag', env: { [name]: value } });
    expect(one.notes).toEqual([`-p work overrides ${name} in the environment.`]);
  });

  test('none if the environment has the same values or none', async () => {
    const same = { ROSTERCTL_BASE_URL: work, ROSTERCTL_ORG: 'org_1' };
    expect((await resolve({ via: 'flag', env: same })).notes).toEqual([]);
    expect((await resolve({ env: {} })).notes).toEqual([]);
  });

  test('ROSTERCTL_API_KEY overrides ROSTERCTL_API_KEY_FILE and says so', async () => {
    const env = { ROSTERCTL_API_KEY: exported, ROSTERCTL_API_KEY_FILE: '/none' };
    const { connection, notes } = await resolve({ env });
    expect(connection.key).toBe(exported);
    expect(notes.join()).toContain('ROSTERCTL_API_KEY_FILE');
  });
});

describe('ROSTERCTL_API_KEY_FILE', () => {
  const path = join(home, 'key');
  const env = { ROSTERCTL_API_KEY_FILE: path };

  test('is read each time', async () => {
    writeFileSync(path, 'first-key\n');
    expect((await resolve({ env })).connection.key).toBe('first-key');
    writeFileSync(path, '\uFEFFsecond-key\r\n');
    const { connection } = await resolve({ env });
    expect(connection).toMatchObject({
      key: 'second-key',
      keySource: 'environment ROSTERCTL_API_KEY_FILE',
    });
  });

  test.each<[string, () => string]>([
    ['is not there', () => join(home, 'none')],
    ['is a folder', () => home],
    ['is empty', () => write('empty', '\n')],
    ['holds two lines', () => write('two', 'canary\ncanary\n')],
    ['is no key at all', () => write('large', 'canary'.repeat(100_000))],
  ])('that %s exits 2, and its content is not shown', async (_, make) => {
    const error = await refused({ env: { ROSTERCTL_API_KEY_FILE: make() } });
    expect([error.kind, error.exitName]).toEqual(['input', 'usage']);
  });

  function write(name: string, text: string): string {
    const made = join(home, name);
    writeFileSync(made, text);
    return made;
  }
});

/** The connection of a profile whose key this command prints. */
const withCommand = (command: string) =>
  resolveConnection({
    flags: {},
    // A folder in the PATH that may not be read would make a missing program EACCES.
    env: { PATH: '/usr/bin:/bin', FOR_THE_COMMAND: 'handed-on' },
    profile: { name: 'work', via: 'flag' },
    file: parseConfigFile(
      JSON.stringify({
        profiles: { work: { baseUrl: work, organization: 'org_1', 'key.command': command } },
      }),
      '/c/config.json',
    ),
    keys: () => new Map(),
    signal: new AbortController().signal,
  });

describe('key.command', () => {
  const folder = join(home, 'commands');
  mkdirSync(folder);

  test('runs without a shell: nothing in it is expanded', async () => {
    const { connection } = await withCommand(`printf %s '$(id);"x"' `);
    expect(connection.key).toBe('$(id);"x"');
  });

  test('gets the environment', async () => {
    expect((await withCommand('printenv FOR_THE_COMMAND')).connection.key).toBe('handed-on');
  });

  test.each([
    ['fails', 'false', /failed \(exit code 1\)/],
    ['is not there', 'no-such-program-anywhere', /no such program/],
    ['is below a file', '/etc/passwd/key', /cannot be run \(ENOTDIR\)/],
    ['prints nothing', 'true', /holds no key/],
    ['prints two lines', String.raw`printf 'canary\ncanary'`, /line break/],
    ['prints without end', 'yes canary', /more than a key/],
  ])('that %s is a configuration error without its output', async (_, command, words) => {
    const error = (await withCommand(command).catch((reason: unknown) => reason)) as Failure;
    expect([error.kind, error.exitName]).toEqual(['config', 'usage']);
    expect(error.message).toMatch(words);
    expect(`${error.message} ${error.hint} ${error.stack}`).not.toContain('canary');
  });

  test('that never ends is killed, even if a child of it keeps the pipe open', async () => {
    const script = join(folder, 'slow');
    writeFileSync(script, '#!/bin/sh\nsleep 30 &\nsleep 30\n');
    chmodSync(script, 0o755);
    const env = { PATH: process.env['PATH'] };
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => {
      vi.useRealTimers();
    });
    const running = runKeyCommand(script, 'work', { env });
    vi.advanceTimersByTime(10_000);
    await expect(running).rejects.toThrow(/longer than 10 s/);
  }, 25_000);

  test('is ended by the signal that ends the command', async () => {
    const stop = new AbortController();
    const running = runKeyCommand('sleep 30', 'work', {
      env: { PATH: process.env['PATH'] },
      signal: stop.signal,
    });
    stop.abort();
    await expect(running).rejects.toThrow(CancelledError);
    const late = runKeyCommand('sleep 30', 'work', { env: {}, signal: stop.signal });
    await expect(late).rejects.toThrow(CancelledError);
  }, 25_000);
});

describe('the sandbox', () => {
  test.each<[GlobalFlags]>([[{ baseUrl: work }], [{ org: 'org_1' }]])(
    'refuses %j beside it',
    (flags) => {
      expect(() => checkSandboxFlags(flags)).toThrow(/cannot be combined with it/);
    },
  );

  test('takes other flags', () => {
    expect(() => checkSandboxFlags({ json: true })).not.toThrow();
  });
});

test('a profile edited by hand away from its key is to be corrected, not left out', async () => {
  const own = temporaryFolder();
  const login = `auth login --profile 'my club' --base-url ${work} --org org_1 --key-stdin --no-check`;
  await rosterctl(login, { home: own, stdin: stored });
  const config = join(own, '.config', 'rosterctl', 'config.json');
  writeFileSync(config, readFileSync(config, 'utf8').replace('org_1', 'org_2'));
  const ran = await rosterctl('teams list', { home: own });
  expect(ran.code).toBe(2);
  expect(ran.stderr).toContain('Correct profile my club in the file of: rosterctl config path\n');
});
