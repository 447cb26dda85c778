import { expect, test } from 'vitest';
import { application, keep, steps } from './commands/tryouts/service.js';
import { inProcess } from './support/in-process.js';
import { rosterctl, temporaryFolder } from './support/run.js';
import { recordingService } from './support/service.js';

test('--max-time ends a command that waits for a response, as SIGTERM does', async () => {
  const { env } = await recordingService(() => () => {});
  const ran = await rosterctl('teams list --max-time 1s --json', { env });
  expect([ran.code, ran.stdout]).toEqual([143, '']);
  expect(ran.stderr).toContain('Stopped: the limit of --max-time 1s was reached.\n');
});

test('the same command resumes a bulk change that --max-time ended, and no row is sent twice', async () => {
  const ids = Array.from({ length: 12 }, (_, index) => `app_${index}`);
  const slow = new Set(ids);
  const service = await keep(
    ids.map((id) => application(id)),
    (_, step) => {
      const [method, id = ''] = step.split(' ');
      if (method !== 'PATCH' || !slow.delete(id)) return undefined;
      const changed = { ...service.kept.get(id), status: 'reviewing' };
      service.kept.set(id, changed as ReturnType<typeof application>);
      return (_request, response) => {
        setTimeout(() => {
          response.writeHead(200, { 'content-type': 'application/json' });
          response.end(JSON.stringify(changed));
        }, 300);
      };
    },
  );
  const home = temporaryFolder();
  const line = `tryouts set-status ${ids.join(' ')} --to reviewing --yes --concurrency 1 --json`;
  const at = { env: service.env, home };
  const ended = await rosterctl(`${line} --max-time 2s`, at);
  expect(ended.code).toBe(143);
  const again = await rosterctl(line, at);
  expect([again.code, JSON.parse(again.stdout).summary.total]).toEqual([0, 12]);
  const sent = steps(service).filter((step) => step.startsWith('PATCH'));
  expect(sent.toSorted()).toEqual(ids.map((id) => `PATCH ${id}`).toSorted());
});

test.each(['0s', 'soon', ''])(
  '--max-time "%s" is rejected before anything is sent',
  async (time) => {
    const { env, requests } = await recordingService(() => ({ status: 200, json: [] }));
    const ran = await inProcess(['teams', 'list', '--max-time', time], { env });
    expect([ran.code, requests]).toEqual([2, []]);
    expect(ran.stderr).toContain('--max-time');
  },
);
