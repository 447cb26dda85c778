import { writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { ids, report, runFolders, runsOf, several, until } from '../bulk/user.js';
import {
  type Application,
  application,
  cut,
  keep,
  steps,
  written,
} from '../commands/tryouts/service.js';
import { inProcess, movableClock } from '../support/in-process.js';
import { closed, rosterctl, startLine, startRosterctl, temporaryFolder } from '../support/run.js';
import {
  organization,
  type Recorded,
  type Reply,
  recordingService,
  type Service,
} from '../support/service.js';
import { outcomeService } from './outcome-service.js';

// No write relies on a read from before a wait: in each test, another admin writes during one.

const later = (seconds: number): Reply => ({
  status: 429,
  json: { error: 'rateLimited' },
  headers: { 'retry-after': String(seconds) },
});

type Kept = Awaited<ReturnType<typeof keep>>;

function change({ kept }: Kept, id: string, fields: Partial<Application>): void {
  const record = kept.get(id);
  if (record) kept.set(id, { ...record, ...fields });
}

const patches = (service: Service) => steps(service).filter((step) => step.startsWith('PATCH'));
const statusOf = (service: Kept, id: string) => service.kept.get(id)?.status;

/**
 * The result of a row if another admin accepted the applicant meanwhile, without and with a guard.
 */
const guards = [
  ['', 'conflict', 8, 6],
  ['--if-status pending', 'skipped', 0, 0],
] as const;

/**
 * Answers the second of four writes with a 429. The reads of the third and the fourth row end
 * during that pause, so that their writes wait for its end, and then another admin accepts all
 * three.
 */
async function pausing({ seconds, onAccept }: { seconds: number; onAccept: () => void }) {
  const gets: string[] = [];
  let isHeld = false;
  const service: Kept = await keep(several(4), (_, step) => {
    if (step === 'PATCH app_2') {
      isHeld = true;
      return later(seconds);
    }
    gets.push(step);
    const isTurn = ['GET app_3', 'GET app_4'].includes(step);
    // The first read is for the preview.
    if (!isTurn || gets.filter((each) => each === step).length !== 2) return undefined;
    const json = service.kept.get(step.slice('GET '.length));
    return (__, response) => void readInPause(response, json);
  });
  const readInPause = async (response: ServerResponse, json: unknown) => {
    await until(() => isHeld);
    await sleep(100);
    answer(response, json);
    await sleep(200);
    for (const id of ['app_2', 'app_3', 'app_4']) change(service, id, { status: 'accepted' });
    onAccept();
  };
  return service;
}

describe.concurrent('an applicant whom another admin accepted meanwhile is not rejected', () => {
  test.each(guards)('after a 429, in a run%s', async (guard, result, code) => {
    const clock = movableClock();
    const service = await pausing({ seconds: 1, onAccept: () => clock.forward(10_000) });
    const line = `tryouts set-status ${ids(4).join(' ')} --to rejected ${guard} --yes --json`;
    const ran = await inProcess(line, { env: service.env, home: temporaryFolder(), clock });
    expect(ran.code).toBe(code);
    expect(report(ran).results.map((row) => row.result)).toEqual([
      'changed',
      ...[result, result, result],
    ]);
    expect(patches(service)).toEqual(['PATCH app_1', 'PATCH app_2']);
  });

  test('behind a cache that keeps reads unless it is asked not to', async () => {
    const cached = new Map<string, unknown>();
    const service = await keep(several(1), ({ method, url, headers }) => {
      if (method !== 'GET' || headers['cache-control'] === 'no-cache') return undefined;
      const json = cached.get(url) ?? service.kept.get('app_1');
      cached.set(url, json);
      return { status: 200, json };
    });
    const home = temporaryFolder();
    await inProcess('tryouts get app_1', { env: service.env, home });
    change(service, 'app_1', { status: 'accepted' });
    const line = 'tryouts update app_1 --status rejected --if-status pending';
    await inProcess(line, { env: service.env, home });
    expect(patches(service)).toEqual([]);
  });

  test('behind a cache that answers although it is asked not to', async () => {
    const service = await keep(several(1), ({ method }) =>
      method === 'GET'
        ? { status: 200, json: application('app_1'), headers: { age: '57' } }
        : undefined,
    );
    change(service, 'app_1', { status: 'accepted' });
    const line = 'tryouts update app_1 --status rejected --if-status pending';
    const refused = await inProcess(line, { env: service.env, home: temporaryFolder() });
    expect([refused.code, patches(service)]).toEqual([9, []]);
    expect(refused.stderr).toContain('by an intermediate cache, with data that is 57 s old');
  });

  test('after a 429 that the built program waits for', async () => {
    const service = await pausing({ seconds: 3, onAccept: () => {} });
    const line = `tryouts set-status ${ids(4).join(' ')} --to rejected --yes --json`;
    const ran = await rosterctl(line, { env: service.env });
    expect(ran.code).toBe(8);
    expect(report(ran).summary).toMatchObject({ changed: 1, conflict: 3 });
    expect(patches(service)).toEqual(['PATCH app_1', 'PATCH app_2']);
  });

  test.each(guards)('after a 429, as a single command%s', async (guard, result, _, code) => {
    const clock = movableClock();
    const service = await keep(several(1), (__, step) => {
      if (!step.startsWith('PATCH') || statusOf(service, 'app_1') === 'accepted') return undefined;
      change(service, 'app_1', { status: 'accepted' });
      clock.forward(10_000);
      return later(0.2);
    });
    const line = `tryouts update app_1 --status rejected ${guard} --json`;
    const ran = await inProcess(line, { env: service.env, home: temporaryFolder(), clock });
    expect({ code: ran.code, says: ran.stderr }).toEqual({
      code,
      says: expect.stringMatching(
        result === 'skipped' ? /skipped: The status is accepted/ : /someone else changed/i,
      ),
    });
    expect([statusOf(service, 'app_1'), patches(service).length]).toEqual(['accepted', 1]);
  });

  test.each(guards)('after the slow response to the first write%s', async (guard, result, code) => {
    const service = await keep(several(4), (_, step) => {
      if (step !== 'PATCH app_1') return undefined;
      return (__, response) => {
        setTimeout(() => {
          for (const id of ['app_2', 'app_3', 'app_4']) change(service, id, { status: 'accepted' });
        }, 1_000);
        setTimeout(() => {
          change(service, 'app_1', { status: 'rejected' });
          answer(response, service.kept.get('app_1'));
        }, 3_000);
      };
    });
    const line = `tryouts set-status ${ids(4).join(' ')} --to rejected ${guard} --yes --json`;
    const ran = await rosterctl(line, { env: service.env });
    expect(ran.code).toBe(code);
    expect(report(ran).results.map((row) => row.result)).toEqual([
      'changed',
      ...[result, result, result],
    ]);
    expect(patches(service)).toEqual(['PATCH app_1']);
  });

  test.each([
    ['alone', 'tryouts update app_1 --status rejected', 6],
    ['alone and guarded', 'tryouts update app_1 --status rejected --if-status pending', 0],
    ['in a run', 'tryouts set-status --ids - --to rejected --yes', 8],
    ['in a run and guarded', 'tryouts set-status --ids - --to rejected --if-status pending -y', 0],
  ])('while the process was suspended between read and write, %s', async (_, line, code) => {
    let reads = 0;
    // With several rows, the first read is for the preview.
    const at = line.includes('--ids') ? 2 : 1;
    const service: Kept = await keep(several(2), (__, step) => {
      if (step !== 'GET app_1' || ++reads !== at) return undefined;
      const text = JSON.stringify(service.kept.get('app_1'));
      return (___, response) => void suspended(response, text);
    });
    /** The response headers arrive before the process is suspended, the rest during it. */
    const suspended = async (response: ServerResponse, text: string) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.write(text.slice(0, 20));
      await sleep(700);
      child.kill('SIGSTOP');
      response.end(text.slice(20));
      await sleep(2_500);
      change(service, 'app_1', { status: 'accepted' });
      child.kill('SIGCONT');
    };
    const child = startRosterctl(`${line} --json`, { env: service.env });
    child.stdin.end('app_1\napp_2\n');
    const ended = await closed(child);
    expect(ended).toBe(code);
    expect(statusOf(service, 'app_1')).toBe('accepted');
    expect(patches(service)).toEqual(at === 2 ? ['PATCH app_2'] : []);
  });

  test.each([
    ['an update', 'tryouts update app_1 --status rejected', { status: 'accepted' }, 6],
    ['a conversion', 'tryouts convert app_1 --yes', { convertedPlayerId: 'player_9' }, 0],
  ])(
    'while the process was suspended and its read was answered, %s',
    async (_, line, other, code) => {
      let reads = 0;
      const service: Kept = await keep(several(2), (__, step) => {
        if (step !== 'GET app_1' || ++reads !== 1) return undefined;
        const read = structuredClone(service.kept.get('app_1'));
        return (___, response) => void whileSuspended(response, read);
      });
      const whileSuspended = async (response: ServerResponse, read: unknown) => {
        await sleep(300);
        child.kill('SIGSTOP');
        answer(response, read);
        await sleep(2_500);
        change(service, 'app_1', other);
        child.kill('SIGCONT');
      };
      const child = startRosterctl(`${line} --json`, { env: service.env });
      const ended = await closed(child);
      expect(ended).toBe(code);
      expect(written(service)).toEqual([]);
    },
  );
});

test.each([
  ['an update', 'docs update doc_1 --name Mine'],
  ['a delete', 'docs delete doc_1 --yes'],
])(
  'a list of documents that arrived while the process was suspended is read again, %s',
  async (_, line) => {
    let name = 'First';
    let reads = 0;
    const listed = () => [{ id: 'doc_1', organizationId: organization, name }];
    const service = await recordingService(({ method }) => {
      if (method !== 'GET' || ++reads !== 1) return { status: 200, json: listed() };
      return (___, response) => void whileSuspended(response, listed());
    });
    /** At once, so that the process may be stopped before it has noted that the request is written. */
    const whileSuspended = async (response: ServerResponse, read: unknown) => {
      child.kill('SIGSTOP');
      answer(response, read);
      await sleep(2_500);
      name = 'Theirs';
      child.kill('SIGCONT');
    };
    const child = startRosterctl(`${line} --json`, { env: service.env });
    const ended = await closed(child);
    expect(ended).toBe(6);
    expect(service.requests.map(({ method }) => method)).toEqual(['GET', 'GET']);
  },
);

test('an answer that came while the process was suspended beyond --timeout is read', async () => {
  const service = await recordingService(({ method }) =>
    method === 'POST' ? (_, response) => void whileSuspended(response) : { status: 200, json: [] },
  );
  const whileSuspended = async (response: ServerResponse) => {
    child.kill('SIGSTOP');
    answer(response, { id: 'team_1', organizationId: organization, name: 'Alpha' });
    await sleep(2_500);
    child.kill('SIGCONT');
  };
  const line = 'teams create --name Alpha --timeout 1s --json';
  const child = startRosterctl(line, { env: service.env });
  const ended = await closed(child);
  expect(ended).toBe(0);
  expect(service.requests.filter(({ method }) => method === 'POST')).toHaveLength(1);
});

// The first attempt is lost, and takes effect while the second one waits because of a 429.
describe.concurrent('a lost write that takes effect after all is done by us', () => {
  const env = { ROSTERCTL_SETTLE: '0.1s' };

  test('an update, which can be undone', async () => {
    let sent = 0;
    const service: Kept = await keep(several(1), (_, step) => {
      if (step !== 'PATCH app_1' || ++sent > 2) return undefined;
      if (sent === 1) return cut;
      change(service, 'app_1', { status: 'rejected' });
      return later(0);
    });
    const home = temporaryFolder();
    const run = (line: string) => inProcess(line, { home, env: { ...service.env, ...env } });
    const ran = await run('tryouts set-status app_1 --to rejected --json');
    expect([ran.code, report(ran).summary]).toEqual([0, expect.objectContaining({ changed: 1 })]);
    expect(patches(service)).toHaveLength(2);
    expect(await run('runs undo last --yes')).toMatchObject({ code: 0 });
    expect(statusOf(service, 'app_1')).toBe('pending');
  });

  test('a delete', async () => {
    let sent = 0;
    const service = await recordingService(({ method }): Reply => {
      if (method === 'DELETE') return ++sent === 1 ? cut : later(0);
      if (sent > 1) return { status: 404, json: { error: 'notFound' } };
      return { status: 200, json: { id: 'player_1', organizationId: organization } };
    });
    const ran = await inProcess('players delete player_1 --yes --json', {
      env: { ...service.env, ...env },
    });
    expect([ran.code, JSON.parse(ran.stdout)]).toEqual([0, { id: 'player_1', deleted: true }]);
    expect(sent).toBe(2);
  });
});

function answer(response: ServerResponse, json: unknown): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(json));
}

describe.concurrent('a bulk conversion that waits and `tryouts convert ID` by hand', () => {
  test.each([
    ['of one machine', true],
    ['of two machines', false],
  ])('%s create one player each', async (_, isShared) => {
    const home = temporaryFolder();
    const players: string[] = [];
    const service = await keep(several(3), (__, step) => {
      if (!step.startsWith('CONVERT')) return undefined;
      if (step === 'CONVERT app_1' && !players.includes('later')) {
        players.push('later');
        // Long enough for the two commands by hand, also on a busy machine; of one machine, they wait for it.
        return later(isShared ? 8 : 25);
      }
      players.push(step);
      return undefined;
    });
    const bulk = startLine('tryouts convert app_1 app_2 app_3 --yes --json', {
      env: service.env,
      home,
    });
    await until(() => players.length > 0);
    const byHand = { env: service.env, home: isShared ? home : temporaryFolder() };
    const [first, last] = await Promise.all([
      rosterctl('tryouts convert app_1 --yes --json', byHand),
      rosterctl('tryouts convert app_3 --yes --json', byHand),
    ]);
    const ended = await bulk.ended;
    expect([first.code, last.code, ended.code]).toEqual([0, 0, 0]);
    expect(players.slice(1).toSorted()).toEqual(ids(3).map((id) => `CONVERT ${id}`));
  });
});

/** What another admin changes while the outcome of a note is unknown, and the guard against it. */
const doubts = [
  ['--if', '', "--if 'email~example.com'", { email: 'new@example.org' }, 'skipped', 0],
  ['--if-status', '', '--if-status pending', { status: 'accepted' }, 'skipped', 0],
  ['if_status', 'if_status,pending', '', { status: 'accepted' }, 'skipped', 0],
  [
    'updatedAt',
    'updatedAt,2026-03-01T10:00:00Z',
    '',
    { updatedAt: '2026-03-02T10:00:00Z' },
    'conflict',
    8,
  ],
] as const;

/** Sets the notes from a file with this additional column. */
function lineOf(home: string, column: string, guard: string): string {
  const [name = '', value = ''] = column.split(',');
  const more = (text: string) => (column === '' ? '' : `,${text}`);
  writeFileSync(
    join(home, 'x.csv'),
    `id,internalNotes${more(name)}\napp_1,Call on Friday${more(value)}\n`,
  );
  return `tryouts set-status --csv ${join(home, 'x.csv')} ${guard} --yes --json`;
}

describe.concurrent('a row with an unknown outcome is not sent again if its guard no longer matches', () => {
  test.each(doubts)('%s, in the same process', async (_, column, guard, other, result, code) => {
    const home = temporaryFolder();
    const service = await keep(several(1), (__, step) => {
      if (!step.startsWith('PATCH')) return undefined;
      change(service, 'app_1', other);
      return cut;
    });
    const ran = await inProcess(lineOf(home, column, guard), { env: service.env, home });
    expect({ code: ran.code, results: report(ran).results }).toMatchObject({
      code,
      results: [{ id: 'app_1', result }],
    });
    expect(patches(service)).toHaveLength(1);
  });

  test.each(doubts)('%s, on resume', async (_, column, guard, other, result, code) => {
    const home = temporaryFolder();
    const { service, again } = await killedWhileSending(home, lineOf(home, column, guard));
    change(service, 'app_1', other);
    const ran = await again();
    expect({ code: ran.code, results: report(ran).results }).toMatchObject({
      code,
      results: [{ id: 'app_1', result }],
    });
    expect(patches(service)).toHaveLength(1);
  });

  test('without a guard it is sent again, once', async () => {
    const home = temporaryFolder();
    const { service, again } = await killedWhileSending(home, lineOf(home, '', ''));
    change(service, 'app_1', { email: 'new@example.org' });
    const ran = await again();
    expect([ran.code, patches(service).length]).toEqual([0, 2]);
    expect(service.kept.get('app_1')?.internalNotes).toBe('Call on Friday');
  });
});

/** A command that is killed while its only PATCH is in flight, which never arrives. */
async function killedWhileSending(home: string, line: string) {
  let isCut = false;
  const service = await keep([application('app_1')], (_: Recorded, step: string) => {
    if (!step.startsWith('PATCH') || isCut) return undefined;
    isCut = true;
    return () => {};
  });
  const child = startLine(line, { env: service.env, home });
  await until(() => isCut);
  child.kill('SIGKILL');
  await child.ended;
  expect(runFolders(runsOf(home))).toHaveLength(1);
  const again = () => inProcess('runs resume last --yes --json', { env: service.env, home });
  return { service, again };
}

describe.concurrent('`players delete --if` leaves a player who was reactivated meanwhile', () => {
  const one = 'players delete player_1 --if state=inactive --yes --json';
  const two = 'players delete player_1 player_2 --if state=inactive --yes --expect 2 --json';

  test.each([
    ['alone', one, 1, 6],
    ['in a run', two, 2, 8],
  ])('while the outcome was unknown, %s', async (_, line, count, code) => {
    const service = await outcomeService((write) => {
      write.change({ state: 'active' });
      return cut;
    });
    service.put({ state: 'inactive' });
    const ran = await inProcess(line, { env: service.env, home: temporaryFolder() });
    expect([ran.code, service.sent.length]).toEqual([code, count]);
    expect(service.record('player_1')).toMatchObject({ state: 'active' });
  });

  test.each([
    ['alone', one, 1],
    ['in a run', two, 2],
  ])('after a 429, %s', async (_, line, count) => {
    const clock = movableClock();
    const service = await outcomeService((write) => {
      write.change({ state: 'active' });
      clock.forward(10_000);
      return later(0.1);
    });
    service.put({ state: 'inactive' });
    const ran = await inProcess(line, { env: service.env, home: temporaryFolder(), clock });
    expect([ran.code, service.sent.length]).toEqual([0, count]);
    expect(service.record('player_1')).toMatchObject({ state: 'active' });
  });

  test.each([
    ['its run is resumed', 'runs resume last --yes --json', 8],
    ['the same line is typed again', one, 6],
  ])('when %s', async (_, again, code) => {
    const home = temporaryFolder();
    const service = await outcomeService(() => () => {});
    service.put({ state: 'inactive' });
    const child = startLine(one, { env: service.env, home });
    await until(() => service.sent.length > 0);
    child.kill('SIGKILL');
    await child.ended;
    service.put({ state: 'active' });
    const ran = await inProcess(again, { env: service.env, home });
    expect([ran.code, service.sent.length]).toEqual([code, 1]);
    expect(service.record('player_1')).toMatchObject({ state: 'active' });
  });
});

test('a conversion whose answer was lost is not sent again because of what a cache kept', async () => {
  const before = application('app_1', { status: 'accepted' });
  let converted = 0;
  const service = await keep([before], ({ method }) => {
    if (method === 'POST') converted += 1;
    if (method === 'POST') return { status: 503, json: { error: 'busy' } };
    const headers = converted > 0 ? { age: '15' } : {};
    return { status: 200, json: before, headers };
  });
  const line = 'tryouts convert app_1 --yes';
  const env = { ...service.env, ROSTERCTL_SETTLE: '0.1s' };
  const ran = await inProcess(line, { env, home: temporaryFolder() });
  expect([ran.code, converted]).toEqual([10, 1]);
});

test.each([
  ['docs update doc_1 --name b', 9],
  ['docs delete doc_1 --yes', 9],
  ['players import new.csv --key email --yes', 11],
])('a list that a cache kept is printed, and no write depends on it: %s', async (line, code) => {
  const service = await recordingService(({ method }) =>
    method === 'GET'
      ? {
          status: 200,
          json: {
            documents: [{ id: 'doc_1', name: 'a' }],
            players: [{ id: 'p', email: 'p@x.org' }],
          },
          headers: { age: '3, 41' },
        }
      : { status: 200, json: { id: 'doc_1', name: 'b' } },
  );
  const home = temporaryFolder();
  writeFileSync(join(home, 'new.csv'), 'email\nnew@x.org\n');
  const options = { env: service.env, home, cwd: home };
  const listed = await inProcess('docs list -o ids', options);
  expect([listed.code, listed.stdout, listed.stderr]).toEqual([0, 'doc_1\n', '']);
  const refused = await inProcess(line, options);
  expect([refused.code, service.requests.filter(({ method }) => method !== 'GET')]).toEqual([
    code,
    [],
  ]);
  expect(refused.stderr).toContain('answered by an intermediate cache');
});
