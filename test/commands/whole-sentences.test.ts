import { expect, test } from 'vitest';
import { wholeConversation } from '../support/converse.js';
import { rosterctl, temporaryFolder } from '../support/run.js';

// Sentences on stdout, at a terminal: no line is broken inside a word.

const plain = { NO_COLOR: '1', PAGER: 'cat' };

test('a review without an application wraps what it says as the list does', async () => {
  const home = temporaryFolder();
  const line = '-p sandbox tryouts review --game Nope'.split(' ');
  const { printed, code } = await wholeConversation(home, line, [], plain, 80);
  const lines = printed.trimEnd().split(/\r*\n/);
  const { stderr } = await rosterctl('-p sandbox tryouts list --status pending --game Nope', {
    home,
    env: { ROSTERCTL_FORCE_TTY: '80' },
  });
  expect(code).toBe(0);
  expect(lines.join(' ')).toBe(`${stderr.trimEnd()} Nothing to review.`);
  for (const each of lines) expect(each.length).toBeLessThanOrEqual(80);
});

test('a logout wraps its sentence', async () => {
  const home = temporaryFolder();
  const login = 'auth login --base-url http://127.0.0.1:9/v1 --org o --key-stdin --no-check';
  await rosterctl(login, { home, stdin: 'key-of-ours' });
  const { shown } = await wholeConversation(home, ['auth', 'logout'], [], plain, 90);
  expect(shown.trimEnd().split(/\r*\n/)).toEqual([
    'The key of profile default was removed from this machine. It stays valid until you revoke',
    'it in the dashboard.',
  ]);
});
