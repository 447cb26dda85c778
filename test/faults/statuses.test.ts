import { describe, expect } from 'vitest';
import { type Attack, expectFailure, fault } from './support/case.js';
import type { Action } from './support/wire.js';
import { answered, hostileWorld } from './support/world.js';

const read = 'teams get team_1';
const post = 'teams create --name Blue';
const patch = 'tryouts update app_1 --status reviewing';
const convert = 'tryouts convert app_1 --yes';
const page = '<html><body><h1>Blocked</h1></body></html>';

async function onWrite(attack: Attack, line: string, method: string, action: Action, env = {}) {
  const world = await hostileWorld({
    api: (request) => (request.method === method ? action : undefined),
  });
  const ran = await attack(line, { env: { ...world.env, ...env } });
  return { ran, world };
}

describe('3xx', () => {
  for (const status of [301, 302, 303, 307, 308]) {
    fault(
      'F068',
      `${status} on the same origin is not followed`,
      async (attack) => {
        const { ran, world } = await answered(attack, read, {
          status,
          headers: { location: '/v1/teams/org_7/team_2' },
        });
        expectFailure(ran, 1, new RegExp(`Unexpected redirect.*${status}.*not followed`));
        expect(world.count()).toBe(1);
      },
      { inside: status !== 301 },
    );

    fault(
      'F069',
      `${status} to elsewhere is not followed`,
      async (attack) => {
        const elsewhere = await hostileWorld();
        for (const [line, method] of [
          [read, 'GET'],
          [post, 'POST'],
        ] as const) {
          const { ran } = await onWrite(attack, line, method, {
            status,
            headers: { location: `${elsewhere.baseUrl}/teams` },
          });
          // A 301 to 303 may follow a write that was processed.
          expect(ran.code).toBe(status < 304 && method === 'POST' ? 10 : 1);
          expect(ran.stderr).toContain(elsewhere.origin);
        }
        expect(elsewhere.connections()).toBe(0);
      },
      { inside: status !== 301 },
    );
  }

  for (const status of [300, 304])
    fault(
      'F070',
      `${status} without a body`,
      async (attack) => {
        const { ran } = await answered(attack, read, { status });
        expectFailure(ran, 1, new RegExp(String(status)));
      },
      { inside: true },
    );
});

/** [id, status, body, exit, what stderr says, requests for a read]. */
const refusals: readonly (readonly [string, number, unknown, number, RegExp])[] = [
  ['F071', 400, { error: 'invalidRequest' }, 3, /rejected the request: 400 \(invalidRequest\)/],
  ['F072', 400, { error: 'rosterLocked', message: 'closed' }, 3, /rosterLocked.*\n.*closed/],
  ['F072', 400, undefined, 3, /rejected the request: 400/],
  ['F073', 401, { error: 'unauthorized' }, 4, /does not accept the API key.*unauthorized/],
  ['F073', 401, { error: 'invalidApiKey' }, 4, /invalidApiKey[^]*auth login/],
  ['F074', 403, { error: 'forbidden' }, 7, /refused to read team team_1 \(forbidden\)/],
  ['F075', 403, { error: 'featureNotAvailable' }, 7, /plan does not include API access/],
  ['F077', 404, { error: 'anyCode' }, 5, /Team team_1 was not found \(anyCode\)/],
  ['F077', 404, undefined, 5, /not found/],
  ...[402, 405, 406, 410, 415, 422, 451].map(
    (status) => ['F081', status, { error: 'oddCode' }, 3, /oddCode/] as const,
  ),
  ['F093', 400, { error: { deep: 1 } }, 3, /rejected the request: 400/],
  ['F093', 400, { error: 17 }, 3, /rejected the request: 400/],
  ['F093', 404, ['error'], 5, /not found/],
  ['F093', 401, 'no', 4, /does not accept/],
];
describe('4xx', () => {
  for (const [id, status, body, exit, says] of refusals)
    fault(
      id,
      `${status} ${JSON.stringify(body)}`,
      async (attack) => {
        const { ran, world } = await answered(attack, read, { status, json: body });
        expectFailure(ran, exit, says);
        expect(world.count()).toBe(1);
        const written = await onWrite(attack, patch, 'PATCH', { status, json: body });
        expect({ code: written.ran.code, stdout: written.ran.stdout }).toEqual({
          code: exit,
          stdout: '',
        });
        expect(written.world.count('PATCH')).toBe(1);
      },
      { inside: id !== 'F071' },
    );

  fault(
    'F074',
    '403 of an upload names the permission',
    async (attack) => {
      const { ran } = await onWrite(
        attack,
        'uploads create --content-type text/plain --size-bytes 3',
        'POST',
        { status: 403, json: { error: 'forbidden' } },
      );
      expectFailure(ran, 7, /document:create/);
    },
    { inside: true },
  );

  fault(
    'F076',
    '403 as a page of something in between',
    async (attack) => {
      const { ran } = await answered(attack, read, {
        status: 403,
        text: page,
        headers: { 'content-type': 'text/html' },
      });
      expectFailure(ran, 7, /in front of the service/);
      expect(ran.stderr).not.toContain('Blocked');
    },
    { inside: true },
  );

  fault(
    'F078',
    '404 of a deletion that was sent again',
    async (attack) => {
      const world = await hostileWorld({
        api: (request, here) => {
          if (request.method !== 'DELETE') return undefined;
          if (here.count('DELETE') === 1) return { status: 503 };
          here.carryOut(request);
          return { status: 404, json: { error: 'notFound' } };
        },
      });
      const ran = await attack('players delete player_1 --yes', { env: world.env });
      expect({ code: ran.code, stderr: ran.stderr }).toMatchObject({ code: 0 });
      expect(world.count('DELETE')).toBe(2);
    },
    { inside: true },
  );

  fault(
    'F078',
    '404 of a deletion that was sent once',
    async (attack) => {
      const { ran, world } = await onWrite(attack, 'documents delete doc_1 --yes', 'DELETE', {
        status: 404,
        json: { error: 'notFound' },
      });
      expect([1, 5]).toContain(ran.code);
      expect(world.count('DELETE')).toBe(1);
    },
    { inside: true },
  );

  fault(
    'F079',
    '409 of an update',
    async (attack) => {
      const { ran, world } = await onWrite(attack, patch, 'PATCH', {
        status: 409,
        json: { error: 'taken' },
      });
      expectFailure(ran, 6, /conflict.*\n.*e-mail or Discord user.*another application/);
      expect(world.count('PATCH')).toBe(1);
    },
    { inside: true },
  );

  fault(
    'F080',
    '409 of a conversion that somebody else has done',
    async (attack) => {
      const world = await hostileWorld({
        api: (request, here) => {
          if (request.method !== 'POST') return undefined;
          here.carryOut(request);
          return { status: 409, json: { error: 'taken' } };
        },
      });
      const ran = await attack(convert, { env: world.env });
      expect({ code: ran.code, stderr: ran.stderr }).toMatchObject({ code: 0 });
      expect(ran.stdout + ran.stderr).toMatch(/player_1/);
    },
    { inside: true },
  );

  fault(
    'F080',
    '409 of a conversion that is none',
    async (attack) => {
      const { ran, world } = await onWrite(attack, convert, 'POST', {
        status: 409,
        json: { error: 'taken' },
      });
      expectFailure(ran, 6, /conflict/);
      expect(world.count('POST')).toBe(1);
    },
    { inside: true },
  );

  fault('F082', '408: a read again, a creation not', async (attack) => {
    const { ran, world } = await answered(attack, read, { status: 408 });
    expectFailure(ran, 9, /./);
    expect(world.count()).toBe(2);
    const written = await onWrite(attack, post, 'POST', { status: 408 });
    expectFailure(written.ran, 10, /may have taken effect/);
    expect(written.world.count('POST')).toBe(1);
  });

  fault(
    'F083',
    '413 of an upload',
    async (attack) => {
      const { ran } = await onWrite(
        attack,
        'uploads create --content-type text/plain --size-bytes 999999999',
        'POST',
        { status: 413, json: { error: 'fileTooLarge' } },
      );
      expectFailure(ran, 3, /too large for the organization's plan/);
    },
    { inside: true },
  );
});

const throttled = (after?: string, date?: string): Action => ({
  status: 429,
  json: { error: 'tooManyRequests' },
  headers: { ...(after !== undefined && { 'retry-after': after }), ...(date && { date }) },
});
const once = (action: Action) =>
  hostileWorld({ api: ({ nth }) => (nth === 1 ? action : undefined) });
const gap = (world: { requests: readonly { at: number }[] }) =>
  (world.requests[1]?.at ?? 0) - (world.requests[0]?.at ?? 0);

describe('429', () => {
  fault('F084', 'seconds are waited for', async (attack) => {
    const world = await once(throttled('1'));
    const ran = await attack(read, { env: world.env });
    expect(ran.code).toBe(0);
    expect(gap(world)).toBeGreaterThanOrEqual(1000);
  });

  for (const [title, offset] of [
    ['our clock', 0],
    ['a clock an hour ahead', 3_600_000],
    ['a clock an hour behind', -3_600_000],
  ] as const)
    fault(
      'F085',
      `a date by ${title}`,
      async (attack) => {
        // HTTP dates have whole seconds.
        const now = Math.floor((Date.now() + offset) / 1000) * 1000;
        const world = await once(
          throttled(new Date(now + 2000).toUTCString(), new Date(now).toUTCString()),
        );
        const ran = await attack(read, { env: world.env });
        expect(ran.code).toBe(0);
        expect(gap(world)).toBeGreaterThanOrEqual(2000);
      },
      { inside: offset !== 0 },
    );

  for (const after of [undefined, '-5', 'soon', '', 'Mon, 99 Xyz'])
    fault(
      after === undefined ? 'F086' : 'F087',
      `Retry-After ${after}`,
      async (attack) => {
        const world = await once(throttled(after));
        const ran = await attack(read, { env: world.env });
        expect(ran.code).toBe(0);
        expect(world.count()).toBe(2);
      },
      { inside: after !== undefined },
    );

  for (const after of ['86400', '999999999999', new Date(Date.now() + 864e5).toUTCString()])
    fault(
      'F087',
      `Retry-After ${after}: stops at once`,
      async (attack) => {
        const { ran, world } = await answered(attack, read, throttled(after));
        expectFailure(ran, 9, /slow down[^]*longer than --max-wait/);
        expect(world.count()).toBe(1);
      },
      { inside: after !== '86400' },
    );

  fault(
    'F087',
    '--max-wait decides what is too long',
    async (attack) => {
      const { ran, world } = await answered(attack, `${read} --max-wait 1s`, throttled('2'));
      expectFailure(ran, 9, /2 s/);
      expect(world.count()).toBe(1);
    },
    { inside: true },
  );

  for (const [line, method] of [
    [post, 'POST'],
    [patch, 'PATCH'],
  ] as const)
    fault(
      'F088',
      `${method} was not processed: again`,
      async (attack) => {
        const world = await hostileWorld({
          api: ({ method: asked, nth }) =>
            asked === method && nth === 1 ? throttled('0') : undefined,
        });
        const ran = await attack(line, { env: world.env });
        expect({ code: ran.code, stderr: ran.stderr }).toMatchObject({ code: 0 });
        expect(world.count(method)).toBe(2);
        expect(world.done.posts + world.done.patches).toBe(1);
      },
      { inside: method !== 'POST' },
    );
});

describe('5xx', () => {
  fault(
    'F089',
    'twice 500, then there: a read',
    async (attack) => {
      const world = await hostileWorld({
        api: ({ nth }) => (nth < 3 ? { status: 500 } : undefined),
      });
      const ran = await attack(read, { env: { ...world.env, ROSTERCTL_RETRIES: '3' } });
      expect(ran.code).toBe(0);
      expect(world.count()).toBe(3);
    },
    { inside: true },
  );

  fault(
    'F089',
    '500 of a status that was done',
    async (attack) => {
      const world = await hostileWorld({
        api: (request, here) => {
          if (request.method !== 'PATCH') return undefined;
          here.carryOut(request);
          return { status: 500, json: { error: 'internalError' } };
        },
      });
      const ran = await attack(patch, { env: world.env });
      expect({ code: ran.code, stderr: ran.stderr }).toMatchObject({ code: 0 });
      expect(world.count('PATCH')).toBe(1);
    },
    { inside: true },
  );

  fault('F089', '500 of a conversion that was done', async (attack) => {
    const world = await hostileWorld({
      api: (request, here) => {
        if (request.method !== 'POST') return undefined;
        here.carryOut(request);
        return { status: 500, json: { error: 'internalError' } };
      },
    });
    const ran = await attack(convert, { env: world.env });
    expect({ code: ran.code, stderr: ran.stderr }).toMatchObject({ code: 0 });
    expect(world.done.converts).toBe(1);
  });

  for (const status of [500, 502, 503, 504]) {
    fault(
      'F090',
      `${status} for ever: a read`,
      async (attack) => {
        const { ran, world } = await answered(
          attack,
          read,
          { status, json: { error: 'down' } },
          {
            ROSTERCTL_RETRIES: '3',
          },
        );
        expectFailure(ran, 9, new RegExp(`failed with ${status} \\(down\\)`));
        expect(world.count()).toBe(4);
      },
      { inside: status !== 503 },
    );

    fault(
      'F090',
      `${status} for ever: a creation`,
      async (attack) => {
        const { ran, world } = await onWrite(attack, post, 'POST', { status });
        expectFailure(ran, 10, new RegExp(`failed with ${status}.*may have taken effect`));
        expect(world.count('POST')).toBe(1);
      },
      { inside: status !== 503 },
    );
  }

  fault('F091', '503 with Retry-After: a read waits', async (attack) => {
    const world = await hostileWorld({
      api: ({ nth }) => (nth === 1 ? { status: 503, headers: { 'retry-after': '1' } } : undefined),
    });
    const ran = await attack(read, { env: world.env });
    expect(ran.code).toBe(0);
    expect((world.requests[1]?.at ?? 0) - (world.requests[0]?.at ?? 0)).toBeGreaterThanOrEqual(
      1000,
    );
  });

  fault(
    'F091',
    '503 with Retry-After: a creation is not repeated',
    async (attack) => {
      const { ran, world } = await onWrite(attack, post, 'POST', {
        status: 503,
        headers: { 'retry-after': '0' },
      });
      expectFailure(ran, 10, /may have taken effect/);
      expect(world.count('POST')).toBe(1);
    },
    { inside: true },
  );

  fault(
    'F092',
    'a code of the contract in a 5xx',
    async (attack) => {
      const { ran } = await answered(attack, `${read} --json`, {
        status: 502,
        json: { error: 'featureNotAvailable' },
      });
      expect(ran.code).toBe(9);
      const { error } = JSON.parse(ran.stderr.trim().split('\n').at(-1) ?? '') as {
        error: Record<string, unknown>;
      };
      expect(error).toMatchObject({
        code: 'featureNotAvailable',
        status: 502,
        exitCode: 9,
        retryable: true,
      });
    },
    { inside: true },
  );
});
