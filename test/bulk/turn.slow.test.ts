import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { application, cut, keep, steps, written } from '../commands/tryouts/service.js';
import { inProcess } from '../support/in-process.js';
import { closed, rosterctl, temporaryFolder } from '../support/run.js';
import { organization, type Recorded, type Reply, recordingService } from '../support/service.js';
import { report, until, userInside } from './user.js';

// A row is decided by the state of its record at its turn, and "changed" is reported only if it holds.

interface Document {
  readonly id: string;
  readonly name: string;
  readonly tags: readonly string[];
}

/** A service of documents, which have no GET for one record; `instead` answers first, `list` answers lists. */
async function documents(
  ids: readonly string[],
  instead: (request: Recorded, apply: () => Document) => Reply | undefined = () => undefined,
) {
  const kept = new Map<string, Document>(ids.map((id) => [id, { id, name: id, tags: ['a'] }]));
  const told: { list?: object } = {};
  const service = await recordingService((request) => {
    const id = request.url.split('/').at(-1) ?? '';
    const apply = () => {
      const changed = { ...kept.get(id), ...JSON.parse(request.body.toString()) } as Document;
      kept.set(id, changed);
      return changed;
    };
    if (request.method === 'GET')
      return {
        status: 200,
        json: told.list ?? { documents: [...kept.values()], total: kept.size },
      };
    return instead(request, apply) ?? { status: 200, json: apply() };
  });
  const patched = () =>
    service.requests
      .filter(({ method }) => method === 'PATCH')
      .map(({ url }) => url.split('/').at(-1));
  return Object.assign(told, { ...service, kept, patched });
}

describe('several documents', () => {
  test('with lost answers are verified by a list read after the write, and sent once', async () => {
    let lost = 0;
    const service = await documents(['d1', 'd2', 'd3'], (_, apply) => {
      if (++lost > 2) return undefined;
      apply();
      return cut;
    });
    const ran = await inProcess('docs update d1 d2 d3 --name same --yes --json', service);
    expect(ran.code).toBe(0);
    expect(report(ran).summary).toMatchObject({ total: 3, changed: 3 });
    expect(new Set(service.patched())).toEqual(new Set(['d1', 'd2', 'd3']));
    expect(service.patched()).toHaveLength(3);
  });

  test('are not overwritten if someone changed them before their turn', async () => {
    const service = await documents(['d1', 'd2'], (request, apply) => {
      if (!request.url.endsWith('d1')) return undefined;
      service.kept.set('d2', { id: 'd2', name: 'd2', tags: ['a', 'theirs'] });
      const changed = apply();
      // Longer than a list may serve other rows.
      return (_, response) => {
        setTimeout(() => response.end(JSON.stringify(changed)), 2_100);
      };
    });
    const line = 'docs update d1 d2 --add-tag ours --yes --json --concurrency 1';
    const ran = await rosterctl(line, service);
    expect(ran.code).toBe(8);
    expect(report(ran).summary).toMatchObject({ changed: 1, conflict: 1 });
    expect(service.kept.get('d2')?.tags).toEqual(['a', 'theirs']);
  });

  test('read concurrently share a list that is requested after each read', async () => {
    const ids = Array.from({ length: 40 }, (_, index) => `d${index}`);
    const service = await documents(ids);
    const ran = await rosterctl(`docs update ${ids.join(' ')} --name same --yes --json`, service);
    expect(report(ran).summary).toMatchObject({ changed: 40 });
    const lists = service.requests.filter(({ method }) => method === 'GET').length;
    expect(lists).toBeLessThan(30);
  });
});

test('a delete with a lost answer is not reported as done because an incomplete list lacks the record', async () => {
  const service = await documents(['d1', 'd2'], ({ url }) =>
    url.endsWith('d1') ? () => {} : { status: 204 },
  );
  const user = userInside(service);
  const line = 'docs delete d1 d2 --yes --expect 2 --json --concurrency 1';
  const child = user.start(line);
  await until(() => service.requests.some(({ method }) => method === 'DELETE'));
  child.kill('SIGKILL');
  await closed(child);
  const d2 = service.kept.get('d2');
  service.list = { documents: [d2], total: 2 };
  const doubtful = await user.run('runs resume last --yes --expect 2 --json');
  expect(doubtful.code).toBe(10);
  expect(report(doubtful).results).toMatchObject([{ id: 'd1', result: 'unknown' }, { id: 'd2' }]);
  service.list = { documents: [], total: 0 };
  const whole = await user.run('runs resume last --yes --json');
  expect(report(whole).results).toMatchObject([{ id: 'd1', result: 'changed' }, { id: 'd2' }]);
  expect(service.requests.filter(({ method }) => method === 'DELETE')).toHaveLength(2);
});

const csv = (...ids: readonly string[]) =>
  `id,status,updatedAt\n${ids.map((id) => `${id},rejected,2026-03-01T10:00:00Z\n`).join('')}`;

describe('the time of an export', () => {
  test('guards its rows at their turn, too', async () => {
    const service = await keep([application('app_1'), application('app_2')], (_, step) => {
      if (step === 'PATCH app_1')
        service.kept.set('app_2', application('app_2', { updatedAt: '2026-03-02T10:00:00Z' }));
      return undefined;
    });
    const user = userInside(service);
    writeFileSync(join(user.home, 'x.csv'), csv('app_1', 'app_2'));
    const ran = await user.run('tryouts set-status --csv x.csv --yes --json --concurrency 1');
    expect(ran.code).toBe(8);
    expect(report(ran).summary).toMatchObject({ changed: 1, conflict: 1 });
    expect(written(service)).toHaveLength(1);
  });

  test('guards them when a run is resumed', async () => {
    let refuses = true;
    const service = await keep([application('app_1'), application('app_2')], (_, step) =>
      refuses && step.startsWith('PATCH')
        ? { status: 401, json: { error: 'invalidApiKey' } }
        : undefined,
    );
    const user = userInside(service);
    writeFileSync(join(user.home, 'x.csv'), csv('app_1', 'app_2'));
    const line = 'tryouts set-status --csv x.csv --yes --json --concurrency 1';
    expect((await user.run(line)).code).toBe(4);
    refuses = false;
    service.kept.set('app_2', application('app_2', { updatedAt: '2026-03-02T10:00:00Z' }));
    const ran = await user.run(line);
    expect(ran.code).toBe(8);
    expect(report(ran).summary).toMatchObject({ changed: 1, conflict: 1 });
  });
});

test('spaces around an id belong to it, and no other record is changed', async () => {
  const service = await keep([application('s1'), application(' s1 ')]);
  const user = userInside(service);
  const told = await user.run('tryouts set-status --ids - --to rejected --yes --json', ' s1 \r\n');
  expect(report(told).results).toMatchObject([{ id: ' s1 ' }]);
  const again = await user.run(
    'tryouts set-status --csv - --yes --json',
    'id,status\n" s1 ",accepted\n',
  );
  expect(report(again).results).toMatchObject([{ id: ' s1 ' }]);
  const urls = service.requests.map(({ url }) => url).filter((url) => /\/s1\b/.test(url));
  expect(urls).toEqual([]);
});

test('an update whose answer is another record is verified by reading, not reported as failed', async () => {
  const service = await keep([application('app_1'), application('app_2')], (request, step) => {
    if (!step.startsWith('PATCH')) return undefined;
    const id = step.slice('PATCH '.length);
    service.kept.set(id, application(id, { status: 'rejected' }));
    return { status: 200, json: application('app_9', { status: 'rejected' }) };
  });
  const ran = await userInside(service).run(
    'tryouts set-status app_1 app_2 --to rejected -y --json',
  );
  expect(ran.code).toBe(0);
  expect(report(ran).summary).toMatchObject({ changed: 2 });
  expect(written(service)).toHaveLength(2);
});

const idle = () =>
  recordingService(({ method }): Reply => {
    const player = { id: 'player_1', organizationId: organization, name: 'Ann', role: 'sub' };
    return method === 'GET' ? { status: 200, json: player } : { status: 200, json: { ok: true } };
  });

describe('a player update that the service accepts but does not apply', () => {
  test('fails its row in a run', async () => {
    const user = userInside(await idle());
    const ran = await user.run('players update --ids - -F role=igl --yes --json', 'player_1\n');
    expect(ran.code).toBe(8);
    expect(report(ran).results).toMatchObject([{ error: { code: 'notApplied' } }]);
  });

  test('is a specific error for one record', async () => {
    const ran = await inProcess('players update player_1 -F role=igl --json', await idle());
    expect([ran.code, ran.stdout]).toEqual([1, '']);
    expect(ran.stderr).toContain(
      'The service accepted the change of player_1, but still shows the old role.',
    );
  });
});

test('--fail-fast sends nothing if a row fails in the preview', async () => {
  const service = await keep([application('app_1'), application('app_2')]);
  const user = userInside(service);
  const line = 'tryouts set-status nobody app_1 app_2 --to rejected --yes --json';
  const ran = await user.run(`${line} --fail-fast`);
  expect(ran.code).toBe(8);
  expect(report(ran).summary).toMatchObject({ failed: 1, notAttempted: 2 });
  expect(written(service)).toEqual([]);
  const most = await user.run(`${line} --max-errors 2`);
  expect(report(most).summary).toMatchObject({ failed: 1, changed: 2 });
});

test('the preview names the records and the rows that will fail', async () => {
  const service = await keep([application('app_1')]);
  const ran = await userInside(service).run('tryouts update app_1 --note Call on Friday -n');
  expect(ran.stderr).toContain('note added: Call');
  expect(ran.stderr).toMatch(
    /2 rows will not be changed:\n {2}on: .*was not found.*\n {2}Friday: /,
  );
});

test('a single update that was provably not applied is sent again', async () => {
  let times = 0;
  const service = await keep([application('app_1')], (_, step) =>
    step.startsWith('PATCH') && ++times === 1 ? { status: 503 } : undefined,
  );
  const ran = await inProcess('tryouts update app_1 --status rejected --json', {
    env: service.env,
    home: temporaryFolder(),
  });
  expect(ran.code).toBe(0);
  expect(JSON.parse(ran.stdout)).toMatchObject({ status: 'rejected' });
  expect(steps(service).filter((step) => step.startsWith('PATCH'))).toHaveLength(2);
});

test('an entire record that is sent again includes what someone else changed meanwhile', async () => {
  let player = {
    id: 'player_1',
    organizationId: organization,
    name: 'Ann',
    role: 'sub',
    number: 1,
  };
  const service = await recordingService(({ method }): Reply => {
    if (method === 'GET') return { status: 200, json: player };
    player = { ...player, number: 99 };
    return cut;
  });
  const home = temporaryFolder();
  const set = (line: string) => inProcess(`config set endpoints.players.update${line}`, { home });
  await set(" 'PUT /players/{id}'");
  await set('.semantics replace');
  const ran = await inProcess('players update player_1 -F role=igl --json', { ...service, home });
  expect(ran.code).toBe(10);
  const bodies = service.requests
    .filter(({ method }) => method === 'PUT')
    .map(({ body }) => JSON.parse(body.toString()) as { number: number });
  expect(bodies.map(({ number }) => number)).toEqual([1, 99, 99, 99]);
});
