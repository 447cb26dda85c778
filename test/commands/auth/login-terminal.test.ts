import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import pty from '@lydell/node-pty';
import { expect, test } from 'vitest';
import { freshEnvironment, launcher, temporaryFolder } from '../../support/run.js';
import { recordingService } from '../../support/service.js';

const service = await recordingService(() => ({ status: 200, json: [] }));
const secret = 'typed-canary-5e6f7a8b';

/** Types each answer when its question has appeared; everything the terminal showed, and the code. */
function converse(
  home: string,
  line: readonly string[],
  answers: readonly (readonly [question: RegExp, typed: string])[],
): Promise<{ shown: string; code: number }> {
  const env = { ...freshEnvironment(home), TERM: 'xterm' };
  const terminal = pty.spawn(process.execPath, [launcher, ...line], { env, cwd: home, cols: 100 });
  const waiting = [...answers];
  let shown = '';
  let seen = 0;
  terminal.onData((text) => {
    shown += text;
    const next = waiting[0];
    const at = next ? shown.slice(seen).search(next[0]) : -1;
    if (!next || at < 0) return;
    seen = shown.length;
    waiting.shift();
    terminal.write(next[1]);
  });
  return new Promise((resolve) => {
    terminal.onExit(({ exitCode }) => resolve({ shown, code: exitCode }));
  });
}

test('at a terminal everything is asked for, and the key is never shown', async () => {
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

test('Ctrl-C at the key stores nothing and is exit 130', async () => {
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

test('a base URL that is not in full is asked for again, with what it should be', async () => {
  const { shown, code } = await converse(
    temporaryFolder(),
    ['auth', 'login'],
    [
      [/Base URL/, 'api.example.com\r'],
      [/Write it in full: https:\/\/api\.example\.com\/v1/, '\u0003'],
    ],
  );
  expect(code).toBe(130);
  expect(shown).toContain('The base URL is no URL.');
});
