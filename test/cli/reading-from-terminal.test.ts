import { expect, test } from 'vitest';
import { application, keep, steps } from '../commands/tryouts/service.js';
import { converse } from '../support/converse.js';
import { rosterctl, temporaryFolder } from '../support/run.js';

const notice = 'Reading from the terminal; end with Ctrl-D.';

test.each([
  ['--ids', ['tryouts', 'set-status', '--ids', '-', '--to', 'reviewing'], 'app_1\r\u0004'],
  ['--csv', ['tryouts', 'set-status', '--csv', '-', '--to', 'reviewing'], 'id\rapp_1\r\u0004'],
  ['--note-file', ['tryouts', 'update', 'app_1', '--note-file', '-'], 'Strong aim\r\u0004'],
  ['--input', ['players', 'create', '--input', '-'], '{"name":"Ann"}\r\u0004'],
  ['--key-stdin', ['auth', 'login', '--key-stdin', '--no-check'], 'a-key-of-mine\r\u0004'],
])('%s - at a terminal says once that it reads and how to end', async (_, line, typed) => {
  const { env } = await keep([application('app_1')]);
  const own = { ...env, ROSTERCTL_DRY_RUN: line[0] === 'auth' ? '' : '1' };
  const keys = [[/end with Ctrl-D/, typed]] as const;
  const { shown, code } = await converse(temporaryFolder(), line, keys, own);
  expect({ shown, code }).toMatchObject({ code: 0 });
  expect(shown.split(notice)).toHaveLength(2);
});

test('a pipe is read without a word about it', async () => {
  const service = await keep([application('app_1')]);
  const line = 'tryouts set-status --ids - --to reviewing --yes';
  const ran = await rosterctl(line, { env: service.env, stdin: 'app_1\n' });
  expect(ran.code).toBe(0);
  expect(ran.stderr).not.toContain(notice);
  expect(steps(service)).toContain('PATCH app_1');
});
