import type { ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { type Application, application, keep, steps } from '../commands/tryouts/service.js';
import { inProcess } from '../support/in-process.js';
import { organization, type Reply, recordingService } from '../support/service.js';
import { ids, report, userOf } from './user.js';

// A field that a list omits proves nothing: such rows are read one by one.

/** More applications than would be read one by one, with a list that omits fields. */
async function listWithout(fields: readonly (keyof Application)[], own: Partial<Application>) {
  const all = ids(30).map((id) => application(id, own));
  const service = await keep(all, (_, step) => {
    if (step !== 'LIST') return undefined;
    const shown = [...service.kept.values()].map((record) =>
      Object.fromEntries(Object.entries(record).filter(([key]) => !fields.includes(key as never))),
    );
    return { status: 200, json: shown };
  });
  return { service, user: userOf(service, inProcess) };
}

const many = ids(30).join(' ');

test('notes that a list does not show are still cleared', async () => {
  const { service, user } = await listWithout(['internalNotes'], {
    internalNotes: 'private',
  });
  const ran = await user.run(`tryouts update ${many} --clear-note --yes --max-changes 30 --json`);
  expect([ran.code, report(ran).summary]).toMatchObject([0, { changed: 30 }]);
  expect([...service.kept.values()].every(({ internalNotes }) => internalNotes === null)).toBe(
    true,
  );
});

test('a status that a list does not show is no conflict, and no reason to skip', async () => {
  const { user } = await listWithout(['status'], {});
  const line = `tryouts set-status ${many} --to rejected --if-status pending --yes --json`;
  const ran = await user.run(line);
  expect([ran.code, report(ran).summary]).toMatchObject([0, { changed: 30, skipped: 0 }]);
});

test('a field of a condition that a list does not show is read for each row', async () => {
  const { user } = await listWithout(['email'], {});
  const ran = await user.run(
    `tryouts set-status ${many} --to rejected --if email~example.com --yes --json`,
  );
  expect([ran.code, report(ran).summary]).toMatchObject([0, { changed: 30, skipped: 0 }]);
});

test('a list that shows all fields serves all rows at once', async () => {
  const { service, user } = await listWithout(['email'], { status: 'rejected' });
  const ran = await user.run(`tryouts set-status ${many} --to rejected --yes --json`);
  expect([ran.code, steps(service)]).toEqual([0, ['LIST']]);
});

test('a note that applies to hundreds of rows names the first few', async () => {
  const service = await keep(ids(30).map((id) => application(id, { status: 'withdrawn' })));
  const user = userOf(service);
  const ran = await user.run('tryouts set-status --all --to reviewing --yes --json');
  expect([ran.code, report(ran).summary]).toMatchObject([0, { changed: 30 }]);
  expect(ran.stderr.match(/^Applicant app_\d+ \(app_\d+\) was withdrawn/gm)).toHaveLength(5);
  expect(ran.stderr.match(/^Others were withdrawn/gm)).toHaveLength(1);
});

test('a lost update is sent again although each answer has the members of a value in another order', async () => {
  const bodies: string[] = [];
  let reads = 0;
  const service = await recordingService(({ method, body }): Reply => {
    if (method === 'PATCH') bodies.push(String(body));
    if (method === 'PATCH' && bodies.length === 1)
      return (_: unknown, response: ServerResponse) => void response.socket?.destroy();
    reads += 1;
    const kit = reads % 2 === 0 ? { size: 'M', number: 7 } : { number: 7, size: 'M' };
    const sent = JSON.parse(bodies[1] ?? '{}') as object;
    const shown = { id: 'p1', organizationId: organization, kit, ...sent };
    return { status: 200, json: { player: shown } };
  });
  const env = { ...service.env, ROSTERCTL_SETTLE: '0.1s' };
  const ran = await inProcess(`players update p1 -F 'kit={"size":"L"}' --json`, { env });
  expect([ran.code, bodies]).toEqual([0, ['{"kit":{"size":"L"}}', '{"kit":{"size":"L"}}']]);
});

test('a success without a record, after which the record has another value than both, is a conflict', async () => {
  const service: Awaited<ReturnType<typeof keep>> = await keep(
    [application('app_1')],
    (_, step) => {
      if (!step.startsWith('PATCH')) return undefined;
      service.kept.set('app_1', application('app_1', { status: 'accepted' }));
      return { status: 204 };
    },
  );
  const { run } = userOf(service, inProcess);
  const ran = await run('tryouts set-status app_1 --to rejected --json');
  expect([ran.code, report(ran).results]).toMatchObject([
    6,
    [{ id: 'app_1', result: 'conflict', before: { status: 'pending' } }],
  ]);
  expect(steps(service).filter((step) => step.startsWith('PATCH'))).toHaveLength(1);
});
