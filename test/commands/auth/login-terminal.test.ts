import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { converse } from '../../support/converse.js';
import { temporaryFolder } from '../../support/run.js';
import { recordingService } from '../../support/service.js';

const service = await recordingService(() => ({ status: 200, json: [] }));
const secret = 'typed-canary-5e6f7a8b';

test('prompts for everything in a terminal, and never shows the key', async () => {
  const home = temporaryFolder();
  const { shown, code } = await converse(
    home,
    ['auth', 'login'],
    [
      [/Base URL/, `${service.baseUrl}\r`],
      [/Organization id/, 'org_1\r'],
      [/API key/, `${secret}\r`],
    ],
  );
  expect(code).toBe(0);
  expect(shown).toContain('The service accepted the key.');
  expect(shown).not.toContain(secret);
  const credentials = join(home, '.config', 'rosterctl', 'credentials.json');
  expect(JSON.parse(readFileSync(credentials, 'utf8'))).toEqual({
    default: { key: secret, origin: service.origin, organization: 'org_1' },
  });
});

test('Backspace erases typed characters, also with TERM=dumb', async () => {
  const home = temporaryFolder();
  const { shown, code } = await converse(
    home,
    ['auth', 'login'],
    [
      [/Base URL/, `${service.baseUrl}x\u007f\r`],
      [/Organization id/, 'org_12\u0008\r'],
      [/API key/, `${secret}xy\u007f\u007f\r`],
    ],
    { TERM: 'dumb' },
  );
  expect({ shown, code }).toMatchObject({ code: 0 });
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

test('asks again for an incomplete base URL, with a suggestion', async () => {
  const { shown, code } = await converse(
    temporaryFolder(),
    ['auth', 'login'],
    [
      [/Base URL/, 'api.example.com\r'],
      [/Write it in full: https:\/\/api\.example\.com\/v1/, '\u0003'],
    ],
  );
  expect(code).toBe(130);
  expect(shown).toContain('The base URL is not a URL.');
});

test('the error for an empty organization names no flags that were not given', async () => {
  const { shown } = await converse(
    temporaryFolder(),
    ['auth', 'login', '--base-url', service.baseUrl],
    [
      [/Organization id/, '\r'],
      [/is empty/, '\u0003'],
    ],
  );
  expect(shown).not.toContain('ROSTERCTL_ORG');
});

test('a second login names the profile and organization whose key is replaced', async () => {
  const home = temporaryFolder();
  const line = ['auth', 'login', '--profile', 'work', '--base-url', service.baseUrl];
  await converse(home, [...line, '--org', 'org_1'], [[/API key:/, `${secret}\r`]]);
  const { shown, code } = await converse(
    home,
    [...line, '--org', 'org_1'],
    [[/API key for profile work \(organization org_1\):/, '\u0003']],
  );
  expect(code).toBe(130);
  expect(shown).toContain('API key for profile work');
  const other = [...line, '--org', 'org_2'];
  const moved = await converse(home, other, [[/organization org_2, so far org_1\):/, '\u0003']]);
  expect(moved.code).toBe(130);
});
