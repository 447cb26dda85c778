import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { converse } from '../support/converse.js';
import { inProcess } from '../support/in-process.js';
import { rosterctl, temporaryFolder } from '../support/run.js';

// With -q, a line that went well prints nothing: what cron does not have to mail.

const silent = { code: 0, stdout: '', stderr: '' };

test('-q says nothing of what went well', async () => {
  const home = temporaryFolder();
  const run = (line: string) => inProcess(`-p sandbox ${line}`, { home });
  await run('tryouts list --since-last mail -q');
  for (const line of [
    'config set timeout 20s -q',
    'config unset timeout -q',
    'cursors reset mail -q',
    'runs prune --yes -q',
    'runs prune --dry-run -q',
    'completion fish --install -q',
    'completion fish --uninstall -q',
    'completion fish --uninstall --dry-run -q',
    'tryouts update app_0001 --status accepted --dry-run -q',
    `docs download doc_0001 doc_0002 -D ${join(home, 'mirror')} -q`,
    `docs download doc_0001 doc_0002 -D ${join(home, 'mirror')} --skip-existing -q`,
    'sandbox reset --yes -q',
  ])
    expect([line, await inProcess(line, { home, env: { ROSTERCTL_PROFILE: 'sandbox' } })]).toEqual([
      line,
      expect.objectContaining(silent),
    ]);
  expect(readdirSync(join(home, 'mirror'))).toHaveLength(2);
});

test('-q says nothing of a run that is taken up and finished', async () => {
  const home = temporaryFolder();
  const env = { ROSTERCTL_PROFILE: 'sandbox' };
  const ids = Array.from({ length: 20 }, (_, at) => `app_${String(at + 20).padStart(4, '0')}`);
  const line = `tryouts set-status ${ids.join(' ')} --to accepted --yes --rate 5/s`;
  expect((await rosterctl(`${line} --max-time 2s -q`, { home, env })).code).toBe(143);
  expect(await rosterctl(`${line.replace('5/s', '1000/s')} -q`, { home, env })).toMatchObject(
    silent,
  );
  // Nor of one that is finished already, where nothing is left to resume.
  expect(await rosterctl('runs resume --yes -q', { home, env })).toMatchObject(silent);
});

test('-q prints the lines of --template, which were asked for, of one record and of several', async () => {
  const home = temporaryFolder();
  const run = (line: string) => inProcess(`-p sandbox tryouts ${line} --yes -q`, { home });
  expect(await run('update app_0030 --status accepted --template {id}')).toMatchObject({
    ...silent,
    stdout: 'app_0030\n',
  });
  const several = 'set-status app_0030 app_0031 --to rejected --template {id}:{result}';
  expect(await run(several)).toMatchObject({
    ...silent,
    stdout: 'app_0030:changed\napp_0031:unchanged\n',
  });
});

test('-q shows a person only the rows that went wrong, or would change', async () => {
  const home = temporaryFolder();
  const env = { ROSTERCTL_FORCE_TTY: '100' };
  const line = '-p sandbox tryouts set-status app_0020 app_0021 app_9999 --to reviewing -q';
  const went = await rosterctl(`${line} --yes`, { home, env });
  expect([went.code, went.stderr]).toEqual([8, '']);
  expect(went.stdout).toMatch(/^app_9999 {2}failed {2}Application app_9999 was not found[^]*\n$/);
  expect(went.stdout).not.toMatch(/app_002|changed/);
  const words = '-p sandbox tryouts set-status app_0020 app_0022 --to reviewing -q -n';
  const would = await rosterctl(words, { home, env });
  expect([would.code, would.stderr]).toEqual([0, '']);
  expect(would.stdout).toMatch(/^app_0022 {2}.*would change {2}accepted → reviewing\n$/);
});

test('the first use of a cursor does not say at a terminal that nothing is new', async () => {
  const line = ['-p', 'sandbox', 'tryouts', 'list', '--since-last', 'mail'];
  const { shown } = await converse(temporaryFolder(), line);
  expect(shown).toContain('Nothing to list yet.');
  expect(shown).not.toContain('Nothing is new');
});
