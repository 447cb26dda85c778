import { describe, expect } from 'vitest';
import { until } from '../bulk/user.js';
import { type Attack, expectFailure, fault } from './support/case.js';
import { type Action, bytes, bytesThenEnd, bytesThenReset, silence } from './support/wire.js';
import { hostileWorld, team, type World } from './support/world.js';

const read = 'teams get team_1';
const post = 'teams create --name Blue';
const patch = 'tryouts update app_1 --status reviewing';

const ok = (headers: string, body = '') =>
  `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n${headers}\r\n\r\n${body}`;
const text = JSON.stringify(team);

/** A read that meets the fault every time; `retries` as given. */
async function spoiltRead(attack: Attack, action: Action, env: Record<string, string> = {}) {
  const world = await hostileWorld({ api: () => action });
  const ran = await attack(read, { env: { ...world.env, ...env } });
  return { ran, world };
}

const onPatch = (action: Action, carriedOut: boolean) =>
  hostileWorld({
    api: (request, world: World) => {
      if (request.method !== 'PATCH') return undefined;
      if (carriedOut) world.carryOut(request);
      return action;
    },
  });

const onPost = (action: Action) =>
  hostileWorld({ api: ({ method }) => (method === 'POST' ? action : undefined) });

describe('no headers', () => {
  fault('F024', 'a read waits as long as --timeout and tries again', async (attack) => {
    const { ran, world } = await spoiltRead(attack, silence, { ROSTERCTL_TIMEOUT: '300ms' });
    expectFailure(ran, 9, /did not answer within 0\.3 s.*2 attempts/);
    // It may have given up before we have read its request.
    await until(() => world.count() === 2);
  });

  fault('F024', 'a creation is of unknown outcome', async (attack) => {
    const world = await onPost(silence);
    const ran = await attack(post, { env: { ...world.env, ROSTERCTL_TIMEOUT: '300ms' } });
    expectFailure(ran, 10, /may have taken effect.*did not answer within 0\.3 s/);
    await until(() => world.count('POST') === 1);
  });
});

/** A body that breaks after a success status: a read is retried, a write is not. */
const broken: readonly (readonly [id: string, title: string, action: Action])[] = [
  [
    'F027',
    'cut below its length',
    bytesThenEnd(ok(`content-length: ${text.length}`, text.slice(0, 9))),
  ],
  [
    'F028',
    'reset in its middle',
    bytesThenReset(ok(`content-length: ${text.length}`, text.slice(0, 9))),
  ],
  [
    'F029',
    'chunks without the last one',
    bytesThenEnd(ok('transfer-encoding: chunked', `9\r\n${text.slice(0, 9)}\r\n`)),
  ],
  ['F030', 'an invalid chunk size', bytes(ok('transfer-encoding: chunked', `zz\r\n${text}\r\n`))],
];
for (const [id, title, action] of broken)
  describe(`a body ${title}`, () => {
    fault(
      id,
      `${title}: a read tries again and prints nothing`,
      async (attack) => {
        const { ran, world } = await spoiltRead(attack, action, { ROSTERCTL_RETRIES: '2' });
        expectFailure(ran, 9, /was lost before the whole answer.*3 attempts/);
        expect(world.count()).toBe(3);
      },
      { inside: id !== 'F027' },
    );

    fault(
      id,
      `${title}: a list is never printed as a whole one`,
      async (attack) => {
        const world = await hostileWorld({ api: () => action });
        const ran = await attack('teams list --json', { env: world.env });
        expect({ code: ran.code, stdout: ran.stdout }).toEqual({ code: 9, stdout: '' });
      },
      { inside: id !== 'F027' },
    );

    fault(
      id,
      `${title}: a status that was done is found by reading`,
      async (attack) => {
        const world = await onPatch(action, true);
        const ran = await attack(patch, { env: world.env });
        expect({ code: ran.code, stderr: ran.stderr }).toMatchObject({ code: 0 });
        expect(world.count('PATCH')).toBe(1);
      },
      { inside: id !== 'F027' },
    );

    fault(
      id,
      `${title}: a creation is not sent again`,
      async (attack) => {
        const world = await onPost(action);
        const ran = await attack(post, { env: world.env });
        expectFailure(ran, 10, /POST \/teams was accepted, but no readable answer arrived/);
        expect(world.count('POST')).toBe(1);
      },
      { inside: id !== 'F027' },
    );
  });

const drip: Action = (socket) => {
  socket.write(ok('content-length: 100000', '{'));
  const timer = setInterval(() => socket.write(' '), 150);
  socket.on('close', () => clearInterval(timer));
};

describe('the complete attempt has a deadline', () => {
  fault('F025', 'a body that stands still, a read', async (attack) => {
    const action = bytes(ok(`content-length: ${text.length}`, text.slice(0, 9)));
    const { ran } = await spoiltRead(attack, action, { ROSTERCTL_RETRIES: '0' });
    expectFailure(ran, 9, /in time|stalled/);
  });

  fault('F025', 'a body that stands still, a status that was done', async (attack) => {
    const world = await onPatch(bytes(ok('content-length: 900', '{"id":')), true);
    const ran = await attack(patch, { env: world.env });
    expect({ code: ran.code, stderr: ran.stderr }).toMatchObject({ code: 0 });
    expect(world.count('PATCH')).toBe(1);
  });

  fault('F026', 'a body that drips', async (attack) => {
    const { ran } = await spoiltRead(attack, drip, { ROSTERCTL_RETRIES: '0' });
    expectFailure(ran, 9, /in time/);
  });
});

const tooLong: Action = (socket) =>
  void socket.write(ok(`content-length: ${text.length}`, `${text}{"more":true}`));

describe('lengths', () => {
  fault(
    'F031',
    'a body longer than its length',
    async (attack) => {
      const { ran } = await spoiltRead(attack, tooLong, {});
      expect([0, 1, 9]).toContain(ran.code);
      if (ran.code === 0) expect(ran.stdout).toContain('team_1');
      else expect(ran.stdout).toBe('');
    },
    { inside: true },
  );

  for (const [title, headers] of [
    ['two lengths', `content-length: ${text.length}\r\ncontent-length: 5`],
    ['a length and chunks', `content-length: ${text.length}\r\ntransfer-encoding: chunked`],
  ] as const) {
    fault(
      'F032',
      `${title}: a read`,
      async (attack) => {
        const { ran } = await spoiltRead(attack, bytesThenEnd(ok(headers, text)));
        expect([1, 9]).toContain(ran.code);
        expect(ran.stdout).toBe('');
      },
      { inside: true },
    );
    fault(
      'F032',
      `${title}: a creation is not sent again`,
      async (attack) => {
        const world = await onPost(bytesThenEnd(ok(headers, text)));
        const ran = await attack(post, { env: world.env });
        expectFailure(ran, 10, /POST \/teams/);
        expect(world.count('POST')).toBe(1);
      },
      { inside: true },
    );
  }

  fault('F033', 'no length, ended by the close: whole', async (attack) => {
    const { ran } = await spoiltRead(attack, bytesThenEnd(ok('connection: close', text)));
    expect({ code: ran.code, stderr: ran.stderr }).toMatchObject({ code: 0 });
  });

  fault(
    'F033',
    'no length, ended by the close: cut',
    async (attack) => {
      const action = bytesThenEnd(ok('connection: close', text.slice(0, 12)));
      const { ran } = await spoiltRead(attack, action);
      expectFailure(ran, 1, /is not JSON/);
    },
    { inside: true },
  );
});

describe('invalid HTTP', () => {
  for (const [id, title, action, code, says] of [
    [
      'F035',
      'not HTTP at all',
      bytesThenEnd('SSH-2.0-OpenSSH_9.2\r\n'),
      1,
      /did not answer with HTTP/,
    ],
    [
      'F036',
      'a head of 20 KiB',
      bytesThenEnd(ok(`x-long: ${'a'.repeat(20_000)}`, text)),
      1,
      /more than 16 KiB of headers/,
    ],
    [
      'F037',
      'line ends without CR',
      bytesThenEnd(`HTTP/1.1 200 OK\ncontent-length: ${text.length}\n\n${text}`),
      1,
      /with HTTP|lost/,
    ],
    ['F038', 'a status of 999', bytes(`HTTP/1.1 999 Odd\r\ncontent-length: 2\r\n\r\n{}`), 1, /999/],
    [
      'F039',
      '101 instead of a response',
      bytes('HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'),
      undefined,
      /./,
    ],
    [
      'F041',
      'gzip that was not requested',
      bytes(ok('content-encoding: gzip\r\ncontent-length: 3', 'abc')),
      1,
      /content encoding that rosterctl did not ask for/,
    ],
  ] as const)
    fault(
      id,
      title,
      async (attack) => {
        const { ran, world } = await spoiltRead(attack, action);
        expect(ran.stdout).toBe('');
        if (code === undefined) expect([1, 9]).toContain(ran.code);
        else expect({ code: ran.code, stderr: ran.stderr }).toMatchObject({ code });
        expect(ran.stderr).toMatch(says);
        expect(world.count()).toBeLessThanOrEqual(2);
      },
      { inside: id !== 'F035' },
    );

  fault(
    'F039',
    'three times 100 before the answer',
    async (attack) => {
      const informed = 'HTTP/1.1 100 Continue\r\n\r\n'.repeat(3);
      const action = bytes(`${informed}${ok(`content-length: ${text.length}`, text)}`);
      const { ran, world } = await spoiltRead(attack, action);
      expect({ code: ran.code, stdout: ran.stdout }).toEqual({ code: 1, stdout: '' });
      expect(ran.stderr).toContain('answered 100 Continue, which rosterctl did not ask for');
      expect(world.count()).toBe(1);
    },
    { inside: true },
  );

  fault('F040', 'one value of more than 64 MiB', async (attack) => {
    const size = 70 * 1024 * 1024;
    const flood: Action = (socket) => {
      socket.write(ok(`content-length: ${size}`, '{"id":"'));
      const chunk = Buffer.alloc(1024 * 1024, 'a');
      let left = size;
      const more = () => {
        while (left > 0 && !socket.destroyed) {
          left -= chunk.length;
          if (!socket.write(chunk)) {
            socket.once('drain', more);
            return;
          }
        }
      };
      more();
    };
    const { ran } = await spoiltRead(attack, flood);
    expectFailure(ran, 1, /larger than 64 MiB/);
  });
});
