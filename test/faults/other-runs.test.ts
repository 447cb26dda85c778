import { rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { assert, describe, expect, test } from 'vitest';
import { unreportedRun } from '../../src/bulk/earlier-runs.js';
import type { Context } from '../../src/context.js';
import { runFolder, runNames, runStore } from '../../src/runs/store.js';
import { readRun } from '../../src/runs/stored-run.js';
import { report, several, until, userInside, userOf } from '../bulk/user.js';
import { type Application, application, keep, steps } from '../commands/tryouts/service.js';
import { grantsOf } from '../commands/uploads/grants.js';
import { isAlive } from '../support/alive.js';
import { heard, temporaryFolder } from '../support/run.js';
import { organization, type Reply, recordingService, type Service } from '../support/service.js';

// A process was killed after it sent a write, which takes effect late. Another run on the same machine
// comes to that record, and waits for it before it reads.

/** Enough for the service to apply the write once the other run says that it waits. */
const settle = { ROSTERCTL_SETTLE: '2s' };

type Kept = Awaited<ReturnType<typeof keep>>;

function changes({ kept }: Kept, id: string, fields: Partial<Application>) {
  kept.set(id, { ...(kept.get(id) ?? application(id)), ...fields });
}

const count = (service: Service, step: string) =>
  steps(service).filter((each) => each === step).length;

/** Starts a command; `said`: what it has printed so far. */
function begin(user: ReturnType<typeof userOf>, line: string) {
  const child = user.start(line, settle);
  const { printed, ended } = heard(child);
  return {
    async kill() {
      child.kill('SIGKILL');
      await ended;
    },
    /** Applies a write late: once this command waits for it. */
    whenItWaits(apply: () => void) {
      child.stderr.on('data', () => {
        if (printed.stderr.includes('Waiting for 1 write of an earlier run')) apply();
      });
    },
    said: () => printed.stderr,
    ended,
  };
}

test.each([
  ['first', 'app_1 app_2'],
  // By then the journal of the other process was read, before its intent.
  ['later', 'app_2 app_1'],
])(
  'several conversions wait for that of a killed process that held the lock of one, %s',
  async (_, rows) => {
    const held: (() => void)[] = [];
    const service: Kept = await keep(several(2), (__, step) => {
      if (step === 'CONVERT app_1' && count(service, step) === 1) return () => undefined;
      if (step !== 'GET app_1' || count(service, step) > 1) return undefined;
      return (___, response) => {
        held.push(() => {
          response.writeHead(200, { 'content-type': 'application/json' });
          response.end(JSON.stringify(service.kept.get('app_1')));
        });
      };
    });
    const user = userOf(service);
    const single = begin(user, 'tryouts convert app_1 --yes --json');
    await until(() => held.length === 1);
    const line = `tryouts convert ${rows} --yes --json --wait-lock 1m --concurrency 1`;
    const bulk = begin(user, line);
    await until(() => bulk.said().includes('Waiting for it.'));
    for (const answer of held) answer();
    await until(() => count(service, 'CONVERT app_1') === 1);
    bulk.whenItWaits(() => changes(service, 'app_1', { convertedPlayerId: 'player_1' }));
    await single.kill();
    const ran = await bulk.ended;
    expect(ran.code).toBe(0);
    expect(report(ran).results.toSorted((a, b) => a.id.localeCompare(b.id))).toMatchObject([
      { id: 'app_1', result: 'unchanged' },
      { id: 'app_2', result: 'changed' },
    ]);
    expect(count(service, 'CONVERT app_1')).toBe(1);
  },
);

test('a resumed run does not send again what another command is just sending', async () => {
  const held: (() => void)[] = [];
  const service: Kept = await keep(several(2), (_, step) => {
    if (step !== 'CONVERT app_1' || count(service, step) > 2) return undefined;
    if (count(service, step) === 1) return () => undefined;
    return (__, response) => {
      held.push(() => {
        changes(service, 'app_1', { convertedPlayerId: 'player_1' });
        response.writeHead(201, { 'content-type': 'application/json' });
        response.end(JSON.stringify({ player: { id: 'player_1' } }));
      });
    };
  });
  const user = userOf(service);
  const line = 'tryouts convert app_1 app_2 --yes --json --concurrency 1';
  const killed = begin(user, line);
  await until(() => count(service, 'CONVERT app_1') === 1);
  await killed.kill();
  const single = begin(user, 'tryouts convert app_1 --yes --json');
  await until(() => held.length === 1);
  const resumed = begin(user, line);
  await until(
    () => resumed.said().includes('Waiting for it.') || count(service, 'CONVERT app_1') === 3,
  );
  for (const answer of held) answer();
  expect((await single.ended).code).toBe(0);
  const ran = await resumed.ended;
  expect([ran.code, report(ran).summary]).toMatchObject([0, { changed: 2 }]);
  expect(count(service, 'CONVERT app_1')).toBe(2);
});

test('a dry run of a killed deletion counts what it has deleted as done', async () => {
  const kept = new Set(['doc_1', 'doc_2', 'doc_3']);
  const service = await recordingService(({ method, url }) => {
    if (method === 'DELETE') kept.delete(url.split('/').at(-1) ?? '');
    if (method === 'DELETE') return () => undefined;
    return { status: 200, json: { documents: [...kept].map((id) => ({ id, name: id })) } };
  });
  const user = userOf(service);
  const killed = begin(user, 'docs delete doc_1 doc_2 doc_3 --yes --expect 3 --concurrency 1');
  await until(() => kept.size < 3);
  await killed.kill();
  const resumed = await user.run('runs resume last --json --dry-run');
  expect([resumed.code, report(resumed).summary]).toMatchObject([
    0,
    { unchanged: 1, failed: 0, wouldChange: 2 },
  ]);
});

test('plan apply waits once for the writes of a killed process to its rows', async () => {
  const service: Kept = await keep(several(1), (_, step) =>
    step === 'PATCH app_1' && count(service, step) === 1 ? () => undefined : undefined,
  );
  const user = userInside(service);
  const plan = join(user.home, 'plan.json');
  await user.run(`tryouts set-status app_1 --to rejected --plan ${plan}`);
  const killed = begin(user, 'tryouts update app_1 --status accepted');
  await until(() => count(service, 'PATCH app_1') === 1);
  await killed.kill();
  const applied = await begin(user, `plan apply ${plan} --yes`).ended;
  expect(applied.code).toBe(0);
  expect(applied.stderr.match(/^Waiting for 1 write of an earlier run/gm)).toHaveLength(1);
});

describe('an unfinished run waits for the write of a killed process to one of its rows', () => {
  const ways = [
    ['convert', 'CONVERT app_2', { convertedPlayerId: 'player_2' }],
    ['set-status', 'PATCH app_2', { status: 'rejected' }],
  ] as const;
  const cases = ways.flatMap(([verb, ...way]) =>
    ['the same line', 'runs resume'].map((how) => [verb, how, ...way] as const),
  );
  test.each(cases)('tryouts %s: %s', async (verb, how, step, fields) => {
    const service: Kept = await keep(several(2), (_, asked) => {
      if (asked !== step) return undefined;
      if (count(service, step) === 1) return { status: 429, json: { error: 'slow' } };
      return count(service, step) === 2 ? () => undefined : undefined;
    });
    const user = userInside(service);
    const to = verb === 'set-status' ? '--to rejected' : '';
    const line = `tryouts ${verb} app_1 app_2 ${to} --yes --json`;
    const first = await user.run(line);
    expect([first.code, report(first).summary]).toMatchObject([9, { changed: 1, notAttempted: 1 }]);
    const single = begin(user, `tryouts ${verb} app_2 ${to} --yes --json`);
    await until(() => count(service, step) === 2);
    await single.kill();
    const resumed = `runs resume ${report(first).run} --yes --json`;
    const second = begin(user, how === 'runs resume' ? resumed : line);
    second.whenItWaits(() => changes(service, 'app_2', fields));
    const ran = await second.ended;
    expect([ran.code, report(ran).summary]).toMatchObject([0, { changed: 1, unchanged: 1 }]);
    expect(count(service, step)).toBe(2);
  });
});

test('several uploads wait for that of a killed process that held the lock of one file', async () => {
  const documents: object[] = [];
  const grant = grantsOf(await recordingService(() => ({ status: 200 })));
  const held: (() => void)[] = [];
  let posts = 0;
  const service = await recordingService(({ method, url, body }): Reply => {
    if (method === 'GET') return { status: 200, json: { documents } };
    if (url === '/v1/uploads/document-file') {
      if (held.length > 0) return grant();
      const { json } = grant() as { json: unknown };
      return (_, response) => {
        held.push(() => {
          response.writeHead(200, { 'content-type': 'application/json' });
          response.end(JSON.stringify(json));
        });
      };
    }
    posts += 1;
    const record = { id: `doc_${posts}`, ...(JSON.parse(body.toString()) as object) };
    if (posts > 1) documents.push(record);
    else lost = record;
    return posts > 1 ? { status: 201, json: record } : () => undefined;
  });
  let lost: object | undefined;
  const user = userOf(service);
  const folder = temporaryFolder();
  const [one = '', two = ''] = ['one.txt', 'two.txt'].map((name) => join(folder, name));
  for (const path of [one, two]) writeFileSync(path, `this is ${path}`);
  const single = begin(user, `docs upload '${one}' --json`);
  await until(() => held.length === 1);
  const bulk = begin(user, `docs upload '${one}' '${two}' --json --wait-lock 1m`);
  await until(() => bulk.said().includes('Waiting for it.'));
  for (const answer of held) answer();
  await until(() => lost !== undefined);
  bulk.whenItWaits(() => (documents[0] ??= lost ?? {}));
  await single.kill();
  const ran = await bulk.ended;
  expect([ran.code, report(ran).results]).toMatchObject([
    0,
    [{ result: 'skipped', error: { code: 'exists' } }, { result: 'changed' }],
  ]);
  expect(documents).toHaveLength(2);
});

test('each of several files is compared with what another process uploaded meanwhile', async () => {
  const documents: object[] = [];
  const grant = grantsOf(await recordingService(() => ({ status: 200 })));
  const held: (() => void)[] = [];
  const service = await recordingService(({ method, url, body }): Reply => {
    if (method === 'GET' && held.length > 0) return { status: 200, json: { documents } };
    if (method === 'GET')
      return (_, response) => {
        held.push(() => {
          response.writeHead(200, { 'content-type': 'application/json' });
          response.end('{"documents":[]}');
        });
      };
    if (url === '/v1/uploads/document-file') return grant();
    const fields = JSON.parse(body.toString()) as object;
    const record = { id: `doc_${documents.length + 1}`, ...fields };
    documents.push(record);
    return { status: 201, json: record };
  });
  const user = userOf(service);
  const folder = temporaryFolder();
  const files = ['one.txt', 'two.txt', 'three.txt'].map((name) => join(folder, name));
  for (const path of files) writeFileSync(path, `this is ${path}`);
  const [one = '', two = '', three = ''] = files;
  const bulk = begin(user, `docs upload '${one}' '${two}' '${three}' --json`);
  await until(() => held.length === 1);
  expect(await user.run(`docs upload '${two}' --json`)).toMatchObject({ code: 0 });
  for (const answer of held) answer();
  const ran = await bulk.ended;
  const results = report(ran).results.toSorted((a, b) => a.row - b.row);
  expect(results.map(({ result }) => result)).toEqual(['changed', 'skipped', 'changed']);
  expect(documents).toHaveLength(3);
});

test('a create whose process printed it and ended after its run was read is not printed again', async () => {
  const record = { id: 'player_1', organizationId: organization, name: 'Ann' };
  const service = await recordingService(() => ({ status: 201, json: record }));
  const user = userInside(service);
  expect(await user.run('players create --name Ann --json')).toMatchObject({ code: 0 });
  const path = dirname(user.runs);
  const [name = ''] = runNames(runStore(path));
  const run = await readRun(runStore(path), name);
  assert(run?.reported);
  const context = {
    self: { pid: process.pid, isAlive },
    paths: { state: { path, within: user.home }, config: undefined, cache: undefined },
    config: { config: () => ({ profiles: new Map() }) },
  } as unknown as Pick<Context, 'self' | 'paths' | 'config'>;
  const asRead = [{ ...run, reported: false }];
  expect(unreportedRun(context, asRead, run.head)).toBeUndefined();
  rmSync(join(runFolder(runStore(path), name), 'told'));
  expect(unreportedRun(context, asRead, run.head)).toEqual(asRead[0]);
});
