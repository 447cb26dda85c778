import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { converse } from '../../support/converse.js';
import { converseInside } from '../../support/converse-inside.js';
import { temporaryFolder } from '../../support/run.js';
import { listService, recordingService, refused } from '../../support/service.js';

const service = await recordingService(() => ({ status: 200, json: [] }));
const secret = 'typed-canary-5e6f7a8b';

/** What is typed before the key. */
const untilKey = [
  [/Service/, `${service.baseUrl}\r`],
  [/Organization/, 'org_1\r'],
] as const;

test('prompts for everything in a terminal, and never shows the key', async () => {
  const home = temporaryFolder();
  const { shown, code } = await converse(
    home,
    ['auth', 'login'],
    [...untilKey, [/API key/, `${secret}\r`]],
  );
  expect(code).toBe(0);
  expect(shown).toContain('0 teams, 0 players, 0 documents, 0 applications');
  expect(shown).toContain('key in ~/.config/rosterctl/credentials.json.');
  expect(shown).not.toContain(secret);
  const credentials = join(home, '.config', 'rosterctl', 'credentials.json');
  expect(JSON.parse(readFileSync(credentials, 'utf8'))).toEqual({
    default: { key: secret, origin: service.origin, organization: 'org_1' },
  });
});

test('names a list that the key can read as the next command', async () => {
  const { env } = await listService({ tryouts: refused });
  const line = ['auth', 'login', '--base-url', env['ROSTERCTL_BASE_URL'] ?? '', '--org', 'org_7'];
  const keys = [[/API key/, `${secret}\r`]] as const;
  const { shown, code } = await converseInside(temporaryFolder(), line, keys);
  expect(code).toBe(0);
  expect(shown).toMatch(/0 documents.*; applications: no permission/);
  expect(shown).toContain('Next: rosterctl players list');
});

test('Backspace erases typed characters, and no key is shown, also with TERM=dumb', async () => {
  const home = temporaryFolder();
  const { shown, code } = await converse(
    home,
    ['auth', 'login'],
    [
      [/Service/, `${service.baseUrl}x\u007f\r`],
      [/Organization/, 'org_12\u0008\r'],
      [/API key/, `${secret}xy\u007f\u007f\r`],
    ],
    { TERM: 'dumb' },
  );
  expect({ shown, code }).toMatchObject({ code: 0 });
  expect(shown).not.toContain(secret);
  const credentials = join(home, '.config', 'rosterctl', 'credentials.json');
  expect(JSON.parse(readFileSync(credentials, 'utf8'))).toEqual({
    default: { key: secret, origin: service.origin, organization: 'org_1' },
  });
});

test('Ctrl-C at the key prompt stores nothing and exits 130', async () => {
  const home = temporaryFolder();
  const before = service.requests.length;
  const { code } = await converse(
    home,
    ['auth', 'login', '--base-url', service.baseUrl, '--org', 'org_1'],
    [[/API key/, '\u0003']],
  );
  expect(code).toBe(130);
  expect(service.requests.length).toBe(before);
});

test('an address without https and /v1 is offered with them', async () => {
  const host = new URL(service.baseUrl).host;
  const offered = new RegExp(`http://${host}/v1`);
  const { shown, code } = await converseInside(
    temporaryFolder(),
    ['auth', 'login'],
    [
      [/Service/, 'service\r'],
      [/Example: https:\/\/api\.example\.com\/v1/, '\u007f'.repeat(7)],
      [/Service/, `http://${host}\r`],
      [offered, '\r'],
      [/Organization/, 'org_1\r'],
      [/API key/, `${secret}\r`],
    ],
  );
  expect(shown).toContain('✘ The base URL must end in /v1.');
  expect(code).toBe(0);
  const named = await converseInside(
    temporaryFolder(),
    ['auth', 'login', '--base-url', 'api.example.com'],
    [[/https:\/\/api\.example\.com\/v1/, '\u001b']],
  );
  expect(named.code).toBe(130);
});

test('a wrong part is asked again, the right ones are kept, and a mistyped organization is not stored', async () => {
  const strict = await recordingService(({ url, headers }) => {
    if (headers['x-api-key'] !== secret) return { status: 401, json: { error: 'invalidApiKey' } };
    return url.includes('org_1')
      ? { status: 200, json: [{ id: 'x_1' }] }
      : { status: 403, json: { error: 'forbidden' } };
  });
  const home = temporaryFolder();
  const { shown, code } = await converseInside(
    home,
    ['auth', 'login'],
    [
      [/Service/, 'http://127.0.0.1:9/v1\r'],
      [/Organization/, 'org_typo\r'],
      [/API key/, 'mistyped-canary-key\r'],
      [/127\.0\.0\.1:9[^]*Service/, `${strict.baseUrl}\r`],
      [/refused this key[^]*API key/, `${secret}\r`],
      [/cannot read anything of organization org_typo[^]*Organization/, 'org_1\r'],
    ],
    { ROSTERCTL_RETRIES: '0' },
  );
  expect({ shown, code }).toMatchObject({ code: 0 });
  expect(shown).toContain('1 team, 1 player, 1 document, 1 application');
  const config = readFileSync(join(home, '.config', 'rosterctl', 'config.json'), 'utf8');
  expect(config).toContain('org_1');
  expect(config).not.toContain('org_typo');
});

test('an address where something else answers with a page is asked for again', async () => {
  // As nginx answers plain http on its TLS port.
  const other = await recordingService(() => ({
    status: 400,
    text: '<html><title>400 The plain HTTP request was sent to HTTPS port</title></html>',
    headers: { 'content-type': 'text/html' },
  }));
  const { shown, code } = await converse(
    temporaryFolder(),
    ['auth', 'login', '--base-url', other.baseUrl, '--org', 'org_1'],
    [
      [/API key/, `${secret}\r`],
      [/There is no such service at [^]*\(400\)[^]*Service/, `${service.baseUrl}\r`],
    ],
  );
  expect({ shown, code }).toMatchObject({ code: 0 });
  expect(shown).toContain('0 teams, 0 players, 0 documents, 0 applications');
});

test('a key that cannot be one is asked for again, and what was typed before is kept', async () => {
  const home = temporaryFolder();
  const { shown, code } = await converseInside(
    home,
    ['auth', 'login'],
    [
      ...untilKey,
      [/API key/, '\r'],
      [/typed holds no key[^]*API key[^s]/, 'kéy-canary-5e6f7a8b\r'],
      [/no key can contain[^]*API key[^s]/, `${secret}\r`],
    ],
  );
  expect({ shown, code }).toMatchObject({ code: 0 });
  expect(shown).not.toContain('canary');
});

test('the error for an empty organization names no flags that were not given', async () => {
  const { shown } = await converseInside(
    temporaryFolder(),
    ['auth', 'login', '--base-url', service.baseUrl],
    [
      [/Organization/, '\r'],
      [/is empty/, '\u0003'],
    ],
  );
  expect(shown).not.toContain('ROSTERCTL_ORG');
});

test('a second login names the profile and organization whose key is replaced', async () => {
  const home = temporaryFolder();
  const line = ['auth', 'login', '--profile', 'work', '--base-url', service.baseUrl];
  await converse(home, [...line, '--org', 'org_1'], [[/API key/, `${secret}\r`]]);
  const { shown, code } = await converse(
    home,
    [...line, '--org', 'org_1'],
    [[/API key for profile work \(organization org_1\)/, '\u0003']],
  );
  expect(code).toBe(130);
  expect(shown).toContain('API key for profile work');
  const other = [...line, '--org', 'org_2'];
  const moved = await converse(home, other, [[/organization org_2, so far org_1\)/, '\u0003']]);
  expect(moved.code).toBe(130);
});
