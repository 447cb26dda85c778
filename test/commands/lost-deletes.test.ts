import type { ServerResponse } from 'node:http';
import { describe, expect, test } from 'vitest';
import { inProcess } from '../support/in-process.js';
import { errorOf, rosterctl, temporaryFolder } from '../support/run.js';
import { organization, type Reply, recordingService } from '../support/service.js';

// A deletion with an unreadable response is verified by reading, and never reported as not attempted.

const player = (id: string) => ({ id, organizationId: organization, name: `Ann ${id}` });

/**
 * A service of players whose responses to a delete are lost by `lose`, after the deletion unless
 * `isDone` is false.
 */
async function players(lose: Reply, isDone = true) {
  const left = new Set(['p1', 'p2', 'p3']);
  const service = await recordingService(({ method, url }): Reply => {
    const id = /\/([^/?]+)(?:\?.*)?$/.exec(url)?.[1] ?? '';
    if (method === 'DELETE' && !left.has(id)) return { status: 404, json: { error: 'notFound' } };
    if (method === 'DELETE') {
      if (isDone) left.delete(id);
      return lose;
    }
    if (id === organization) return { status: 200, json: { players: [...left].map(player) } };
    if (!left.has(id)) return { status: 404, json: { error: 'notFound' } };
    return { status: 200, json: { player: player(id) } };
  });
  return { service, left };
}

const cut = (_: unknown, response: ServerResponse) => void response.socket?.destroy();
const noHttp: Reply = (_, response) => response.socket?.end('SSH-2.0-OpenSSH\r\n');
const busy: Reply = { status: 503, json: { error: 'busy' } };

test.each([
  ['a cut connection', cut, '0'],
  ['what is no HTTP', noHttp, '3'],
  ['a 503', busy, '0'],
])('after %s, each of several deletions is verified as done', async (_, lose, retries) => {
  const { service, left } = await players(lose);
  const env = { ...service.env, ROSTERCTL_RETRIES: retries };
  const ran = await inProcess('players delete p1 p2 --yes --expect 2 --json', { env });
  expect([...left]).toEqual(['p3']);
  expect([ran.code, JSON.parse(ran.stdout).summary]).toMatchObject([0, { changed: 2, unknown: 0 }]);
});

test.each([
  ['a cut connection', cut],
  ['what is no HTTP', noHttp],
  ['a 503', busy],
])('after %s, a single deletion is verified as done', async (_, lose) => {
  const { service } = await players(lose);
  const env = { ...service.env, ROSTERCTL_RETRIES: '0' };
  const ran = await inProcess('players delete p1 --yes --json', { env });
  expect([ran.code, JSON.parse(ran.stdout)]).toEqual([0, { id: 'p1', deleted: true }]);
});

test('a deletion without effect after lost responses is unknown and not repeated', async () => {
  const { service } = await players(busy, false);
  const env = { ...service.env, ROSTERCTL_RETRIES: '0' };
  const ran = await rosterctl('players delete p1 --yes --json', { env });
  expect([ran.code, errorOf(ran)]).toMatchObject([10, { kind: 'unknownOutcome' }]);
  expect(errorOf(ran)['hint']).toMatch(
    /^Not finished\. Run the same command again, or: rosterctl runs resume \S+ --yes$/,
  );
  expect(ran.stderr.match(/Not finished|Check whether/g)).toHaveLength(1);
});

test.each([true, false])(
  'a success that says no is no refusal while nothing can be read: %s',
  async (isDone) => {
    let isDown = false;
    let isThere = true;
    const service = await recordingService(({ method }): Reply => {
      if (method === 'DELETE') {
        isThere = !isDone;
        isDown = sent() === 1;
        return { status: 200, json: { error: 'nope' } };
      }
      if (isDown) return busy;
      return isThere
        ? { status: 200, json: player('p1') }
        : { status: 404, json: { error: 'notFound' } };
    });
    const sent = () => service.requests.filter(({ method }) => method === 'DELETE').length;
    const options = { env: { ...service.env, ROSTERCTL_RETRIES: '0' }, home: temporaryFolder() };
    const line = 'players delete p1 --yes --json';
    const first = await inProcess(line, options);
    expect([first.code, errorOf(first)]).toMatchObject([10, { kind: 'unknownOutcome' }]);
    isDown = false;
    const again = await inProcess(line, options);
    expect([again.code, sent()]).toEqual(isDone ? [0, 1] : [3, 2]);
  },
);

test('a deletion whose responses are lost is sent once more, and no further', async () => {
  const { service } = await players(cut, false);
  const ran = await rosterctl('players delete p1 --yes --json', { env: service.env });
  expect(ran.code).toBe(10);
  expect(service.requests.filter(({ method }) => method === 'DELETE')).toHaveLength(2);
});

test('rows are unknown if nothing can be read after a lost deletion, and a later run verifies them', async () => {
  let isDown = false;
  let ends = true;
  const { service, left } = await players((request, response) => {
    isDown = ends;
    if (ends) cut(request, response);
    else response.writeHead(204).end();
  });
  const gone = await recordingService((request): Reply => {
    if (isDown) return cut;
    return (_, response) => {
      void fetch(`${service.origin}${request.url}`, { method: request.method }).then(
        async (answer) => {
          response.writeHead(answer.status, { 'content-type': 'application/json' });
          response.end(answer.status === 204 ? undefined : await answer.text());
        },
        () => response.socket?.destroy(),
      );
    };
  });
  const env = { ...gone.env, ROSTERCTL_RETRIES: '0' };
  const home = temporaryFolder();
  const line = 'players delete p1 p2 p3 --concurrency 1 --yes --expect 3 --json';
  const ran = await rosterctl(line, { env, home });
  const { results, summary } = JSON.parse(ran.stdout);
  expect([ran.code, left.size]).toEqual([10, 2]);
  expect(results[0]).toMatchObject({ id: 'p1', result: 'unknown' });
  expect(summary).toMatchObject({ changed: 0, failed: 0 });
  isDown = false;
  ends = false;
  const again = await rosterctl(line, { env, home });
  expect([again.code, JSON.parse(again.stdout).summary]).toMatchObject([0, { changed: 3 }]);
});

test('a deletion that a read shows late is done once the service says 410', async () => {
  const isDeleted = { p1: false };
  let reads = 0;
  const service = await recordingService(({ method }): Reply => {
    if (method === 'DELETE') isDeleted.p1 = true;
    if (method === 'DELETE') return { status: 204 };
    // The first read after the deletion still shows the player.
    if (isDeleted.p1 && (reads += 1) > 1) return { status: 410, json: { error: 'gone' } };
    return { status: 200, json: player('p1') };
  });
  const env = { ...service.env, ROSTERCTL_SETTLE: '0.2s' };
  const ran = await inProcess('players delete p1 --yes --json', { env });
  expect([ran.code, ran.stdout]).toEqual([0, '{"id":"p1","deleted":true}\n']);
});

test('a deletion is done if the record is marked as deleted in another spelling', async () => {
  let mark: object = { deleted_at: null };
  const service = await recordingService(({ method }): Reply => {
    if (method !== 'DELETE') return { status: 200, json: { ...player('p1'), ...mark } };
    mark = { deleted_at: '2026-11-01T10:00:00Z' };
    return { status: 204 };
  });
  const ran = await inProcess('players delete p1 --yes --json', { env: service.env });
  expect([ran.code, ran.stdout]).toEqual([0, '{"id":"p1","deleted":true}\n']);
  expect(ran.stderr).toContain('p1: marked as deleted.');
});

test.each([
  [{ deleted: false }, { deleted: true }, true],
  [{ deleted: null }, { deleted: '2026-11-01T10:00:00Z' }, true],
  [{ discarded_at: null }, { discarded_at: '2026-11-01T10:00:00Z' }, true],
  [{ is_removed: false }, { is_removed: true }, true],
  [{ is_removed: false }, { is_removed: false }, false],
  [{ status: 'active' }, { status: 'Archived' }, true],
  [{ status: 'inactive' }, { status: 'inactive' }, false],
  [{ deleted: true }, { deleted: true }, false],
])(
  'a record with %j that reads %j after its deletion: marked as deleted %j',
  async (was, is, isMarked) => {
    for (const lost of [false, true]) {
      let mark: object = was;
      const service = await recordingService(({ method }): Reply => {
        if (method !== 'DELETE') return { status: 200, json: { ...player('p1'), ...mark } };
        mark = is;
        return lost ? cut : { status: 204 };
      });
      const env = { ...service.env, ROSTERCTL_SETTLE: '0.1s', ROSTERCTL_RETRIES: '0' };
      const ran = await inProcess('players delete p1 --yes --json', { env });
      expect(ran.code).toBe(isMarked ? 0 : lost ? 10 : 1);
      expect(ran.stderr.includes('p1: marked as deleted.')).toBe(isMarked);
    }
  },
);

test('a record that only has another status after its deletion is not deleted', async () => {
  let status = 'active';
  const service = await recordingService(({ method }): Reply => {
    if (method !== 'DELETE') return { status: 200, json: { ...player('p1'), status } };
    status = 'suspended';
    return { status: 204 };
  });
  const env = { ...service.env, ROSTERCTL_SETTLE: '0.1s' };
  expect((await inProcess('players delete p1 --yes --json', { env })).code).toBe(1);
});

test('a record that someone changed before a deletion is sent again is left alone', async () => {
  let number = 1;
  const service = await recordingService(({ method }): Reply => {
    if (method !== 'DELETE') return { status: 200, json: { ...player('p1'), number } };
    number += 1;
    return { status: 429 };
  });
  const env = { ...service.env, ROSTERCTL_RETRIES: '2' };
  expect((await inProcess('players delete p1 --yes --json', { env })).code).toBe(6);
  expect(service.requests.filter(({ method }) => method === 'DELETE')).toHaveLength(1);
});

test('the same line confirms a team by its name again, and finishes the deletion', async () => {
  let answers = 1;
  const service = await recordingService(({ method }): Reply => {
    if (method === 'DELETE') answers = 0;
    if (method === 'DELETE') return cut;
    if (answers > 0) return { status: 200, json: { id: 't1', name: 'Foxes' } };
    return answers === 0 ? busy : { status: 404, json: { error: 'notFound' } };
  });
  const at = {
    env: { ...service.env, ROSTERCTL_SETTLE: '0s', ROSTERCTL_RETRIES: '0' },
    home: temporaryFolder(),
  };
  expect((await rosterctl('teams delete t1 --confirm Foxes', at)).code).toBe(10);
  answers = -1;
  const other = await rosterctl('teams delete t1 --confirm Wolves', at);
  expect([other.code, other.stderr.includes('"Wolves" is not the name of t1.')]).toEqual([
    11,
    true,
  ]);
  const ran = await rosterctl('teams delete t1 --confirm Foxes --json', at);
  expect([ran.code, ran.stdout]).toEqual([0, '{"id":"t1","deleted":true}\n']);
  expect(service.requests.filter(({ method }) => method === 'DELETE')).toHaveLength(1);
});

// Go and .NET send the first day of the calendar for a time that is not set, MySQL a day 0, PHP "0".
describe.each([
  ['deletedAt', '0001-01-01T00:00:00Z', '2026-11-28T12:00:00Z'],
  ['deleted_at', '0000-00-00 00:00:00', '2026-11-28 12:00:00'],
  ['isDeleted', '0', '1'],
])('a service whose %s is %s until a record is deleted', (field, unset, set) => {
  const serviceWith = (deletes: number) => {
    let mark = unset;
    return recordingService(({ method }): Reply => {
      if (method === 'GET') return { status: 200, json: { ...player('p1'), [field]: mark } };
      if (deletes === 204) mark = set;
      return { status: deletes, json: { error: 'notFound' } };
    });
  };

  test('deletes by marking', async () => {
    const { env } = await serviceWith(204);
    const ran = await inProcess('players delete p1 --yes --json', { env });
    expect([ran.code, JSON.parse(ran.stdout)]).toEqual([0, { id: 'p1', deleted: true }]);
  });

  test('answers 404 to a wrong route, not to a missing record', async () => {
    const { env } = await serviceWith(404);
    const ran = await inProcess('players delete p1 --yes --json', { env });
    expect([ran.code, errorOf(ran)]).toMatchObject([1, { code: 'wrongRoute' }]);
  });
});
