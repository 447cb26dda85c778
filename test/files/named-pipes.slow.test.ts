import { execFileSync } from 'node:child_process';
import { readdirSync, renameSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { several, userOf } from '../bulk/user.js';
import { cut, keep } from '../commands/tryouts/service.js';
import { converse } from '../support/converse.js';
import { temporaryFolder } from '../support/run.js';

const unfinished = 'tryouts set-status app_1 app_2 --to rejected --yes';

/** A user with a configuration, a cursor, a finished run and an unfinished one. */
async function experienced() {
  let phase: 'works' | 'loses' | 'silent' = 'works';
  const service = await keep(several(2), (_, step) => {
    if (phase === 'silent') return { status: 500, json: { error: 'busy' } };
    if (phase === 'works' || step !== 'PATCH app_2') return undefined;
    phase = 'silent';
    return cut;
  });
  const user = userOf(service);
  await user.run('config set time iso');
  await user.run('tryouts list --since-last seen');
  await user.run('tryouts set-status app_1 app_2 --to reviewing --yes');
  phase = 'loses';
  expect((await user.run(unfinished)).code).toBe(10);
  phase = 'works';
  return user;
}

test('a named pipe in place of a file of ours is named or passed over, and never waited for', async () => {
  const user = await experienced();
  const files = readdirSync(user.home, { recursive: true, encoding: 'utf8' });
  const withPipe = async (pattern: RegExp, line: string) => {
    const file = join(user.home, files.find((each) => pattern.test(each)) ?? '');
    renameSync(file, `${file}.kept`);
    execFileSync('mkfifo', [file]);
    const { code, stdout, stderr } = await user.run(line);
    rmSync(file);
    renameSync(`${file}.kept`, file);
    const sentence = `${file} cannot be read: it is not a regular file.`;
    return [code, `${stdout}${stderr}`.includes(sentence)];
  };
  expect({
    config: await withPipe(/config\.json$/, 'tryouts list'),
    cursor: await withPipe(/tryouts\.seen\.json$/, 'tryouts list --since-last seen'),
    endedJournal: await withPipe(/ended\/.*journal\.jsonl$/, 'runs list'),
    plan: await withPipe(/open\/.*plan\.jsonl$/, unfinished),
    journal: await withPipe(/open\/.*journal\.jsonl$/, unfinished),
    newest: await withPipe(/newest$/, unfinished),
  }).toEqual({
    config: [2, true],
    cursor: [1, true],
    endedJournal: [0, true],
    plan: [11, true],
    journal: [11, true],
    newest: [0, false],
  });
});

test('a socket in place of a file of ours is named as such', async () => {
  const user = await experienced();
  const file = join(user.home, '.config/rosterctl/config.json');
  rmSync(file);
  const server = createServer().listen(file);
  const { code, stderr } = await user.run('tryouts list');
  server.close();
  expect([code, stderr]).toEqual([
    2,
    `The file ${file} cannot be read: it is a socket (ENXIO).\nFix its permissions, or move it away.\n`,
  ]);
});

test('a terminal that is named as an input file is read to its end, and Ctrl-C ends the wait for it', async () => {
  const { env } = await keep(several(2));
  const line = ['tryouts', 'set-status', '--ids', '/dev/tty', '--to', 'rejected', '--dry-run'];
  const stopped = await converse(temporaryFolder(), line, [[/^/, () => typed('\u0003')]], env);
  expect(stopped.code).toBe(130);
  const read = await converse(temporaryFolder(), line, [[/^/, () => typed('app_1\n\u0004')]], env);
  expect([read.code, read.shown]).toEqual([0, expect.stringContaining('rejected')]);
});

test.each(['/dev/tty', '/dev/stderr'])(
  'a terminal that is named as an output (%s) is not controlled by the text of a record',
  async (file) => {
    const name = '\u001b[31mMira\u001b]0;title\u0007';
    const { env } = await keep(several(1).map((record) => ({ ...record, name })));
    for (const format of ['csv', 'ndjson']) {
      const line = ['tryouts', 'list', '-o', format, '--out', file];
      const { code, shown } = await converse(temporaryFolder(), line, [], env);
      expect([code, shown]).toEqual([0, expect.stringContaining('\\u001b[31mMira')]);
    }
    const line = ['api', 'tryout-applications', '--out', file];
    const { code, shown } = await converse(temporaryFolder(), line, [], env);
    expect([code, shown]).toEqual([0, expect.stringContaining('\\u001b[31mMira')]);
  },
);

/** Types when the program reads, which it does not say. */
async function typed(keys: string): Promise<string> {
  await wait(1_500);
  return keys;
}
