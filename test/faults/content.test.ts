import { describe, expect } from 'vitest';
import { organization } from '../support/service.js';
import { expectFailure, fault } from './support/case.js';
import type { Action } from './support/wire.js';
import { answered, application, hostileWorld, team, type WorldOptions } from './support/world.js';

const read = 'teams get team_1';
const post = 'teams create --name Blue';
const patch = 'tryouts update app_1 --status reviewing';
const page = '<!doctype html><html><head><script>x</script></head><body>Sign in</body></html>';

const json = (text: string, type = 'application/json'): Action => ({
  text,
  headers: { 'content-type': type },
});

/** A world whose writes take effect and get an unreadable response. */
const unreadable = (method: string, action: Action): WorldOptions => ({
  api: (request, world) => {
    if (request.method !== method) return undefined;
    world.carryOut(request);
    return action;
  },
});

describe('bodies that are not JSON', () => {
  for (const [id, title, action, says] of [
    ['F042', 'half of JSON', json('{"id":"team_1",'), /not JSON/],
    ['F043', 'a page', json(page, 'text/html'), /http:\/\/127.*answered with a web page/],
    ['F043', 'a page that says it is JSON', json(page), /answered with a web page/],
    ['F045', 'nothing', json(''), /answer from .* is empty/],
    ['F056', 'a million brackets', json('['.repeat(1e6)), /not JSON|nested|deep/],
    ['F061', 'UTF-16', { text: Buffer.from(JSON.stringify(team), 'utf16le') }, /not JSON/],
  ] as const) {
    fault(
      id,
      `${title}: a read`,
      async (attack) => {
        const { ran } = await answered(attack, read, action);
        expectFailure(ran, 1, says);
      },
      { inside: id !== 'F042' },
    );

    fault(
      id,
      `${title}: a list is not "no results"`,
      async (attack) => {
        const { ran } = await answered(attack, 'teams list --json', action);
        expect({ code: ran.code, stdout: ran.stdout }).toEqual({ code: 1, stdout: '' });
      },
      { inside: id !== 'F042' },
    );

    fault(
      id,
      `${title}: a creation is of unknown outcome, or done`,
      async (attack) => {
        const world = await hostileWorld(unreadable('POST', action));
        const ran = await attack(post, { env: world.env });
        // The status says that it was done; the contract does not show the shape of this response.
        expect([0, 10]).toContain(ran.code);
        expect(ran.stderr).toMatch(/created; the service sent no record|cannot be read/);
        expect(world.count('POST')).toBe(1);
        expect(world.done.posts).toBe(1);
      },
      { inside: id !== 'F042' },
    );

    // A process, because megabytes read beside it in one process can make its own read too old to write on.
    fault(id, `${title}: a status that was done is found by reading`, async (attack) => {
      const world = await hostileWorld(unreadable('PATCH', action));
      const ran = await attack(patch, { env: world.env });
      expect({ code: ran.code, stderr: ran.stderr }).toMatchObject({ code: 0 });
      expect(world.count('PATCH')).toBe(1);
    });
  }

  for (const status of [502, 504, 413])
    fault(
      'F044',
      `a page with ${status}`,
      async (attack) => {
        const action: Action = { status, text: page, headers: { 'content-type': 'text/html' } };
        const { ran } = await answered(attack, read, action);
        expectFailure(ran, status === 413 ? 3 : 9, /./);
        expect(ran.stderr).toMatch(status === 413 ? /too large|413/ : new RegExp(`${status}`));
        // A proxy in front of the service answered, so the base URL is right.
        expect(ran.stderr).not.toMatch(/Sign in|base URL/);
      },
      { inside: status !== 502 },
    );

  fault('F046', '204 for a status change: the record is fetched', async (attack) => {
    const world = await hostileWorld(unreadable('PATCH', { status: 204 }));
    const ran = await attack(`${patch} --json`, { env: world.env });
    expect({ code: ran.code, stderr: ran.stderr }).toMatchObject({ code: 0 });
    expect(JSON.parse(ran.stdout)).toMatchObject({ id: 'app_1', status: 'reviewing' });
  });

  fault('F046', '204 for a deletion', async (attack) => {
    const world = await hostileWorld();
    const ran = await attack('players delete player_1 --yes', { env: world.env });
    expect(ran.code).toBe(0);
    expect(world.count('DELETE')).toBe(1);
  });

  fault('F047', '204 with a body', async (attack) => {
    const world = await hostileWorld(
      unreadable(
        'PATCH',
        (socket) => void socket.write('HTTP/1.1 204 No\r\ncontent-length: 5\r\n\r\nhello'),
      ),
    );
    const ran = await attack(patch, { env: world.env });
    expect({ code: ran.code, stderr: ran.stderr }).toMatchObject({ code: 0 });
    expect(world.count('PATCH')).toBe(1);
  });
});

const list = (row: object): Action => ({ json: { applications: [{ ...application, ...row }] } });

describe('wrong answers', () => {
  for (const [line, code] of [
    [read, 3],
    [post, 3],
    ['teams list', 3],
  ] as const)
    for (const body of [{ error: 'quotaExceeded' }, { success: false, message: 'no' }])
      fault(
        'F048',
        `${line}: 200 around ${JSON.stringify(body)}`,
        async (attack) => {
          const { ran } = await answered(attack, line, { json: body });
          expect({ code: ran.code, stdout: ran.stdout }).toEqual({ code, stdout: '' });
          if ('error' in body) expect(ran.stderr).toContain('quotaExceeded');
        },
        { inside: line !== 'teams list' },
      );

  fault(
    'F049',
    'a field of another type',
    async (attack) => {
      const { ran } = await answered(attack, 'tryouts list --json', list({ email: 7 }));
      expect(ran.code).toBe(0);
      expect(ran.stderr).toMatch(/email/);
      expect(JSON.parse(ran.stdout)[0].email).toBe(7);
      const strict = await answered(attack, 'tryouts list --json --strict', list({ email: 7 }));
      expectFailure(strict.ran, 1, /email/);
    },
    { inside: true },
  );

  fault(
    'F050',
    'a documented field is missing',
    async (attack) => {
      const { ran } = await answered(attack, 'tryouts list --json', list({ gamerTags: undefined }));
      expect(ran.code).toBe(0);
      expect(ran.stderr).toMatch(/gamerTags/);
      const strict = await answered(
        attack,
        'tryouts list --json --strict',
        list({ gamerTags: undefined }),
      );
      expectFailure(strict.ran, 1, /gamerTags/);
      const noStatus = await answered(attack, 'tryouts list --json', list({ status: undefined }));
      expect(noStatus.ran.stderr).toContain('status: missing');
    },
    { inside: true },
  );

  fault(
    'F051',
    'a status that the contract does not know',
    async (attack) => {
      for (const line of ['tryouts list', 'tryouts list --json', 'tryouts stats --json']) {
        const { ran } = await answered(attack, line, list({ status: 'parked' }));
        expect(ran.code).toBe(0);
        expect(ran.stdout).toContain('parked');
        expect(ran.stderr).toMatch(/status/);
      }
      const { ran, world } = await answered(
        attack,
        'tryouts update app_1 --status parked',
        list({ status: 'parked' }),
      );
      expectFailure(ran, 2, /parked|status/);
      expect(world.count('PATCH')).toBe(0);
    },
    { inside: true },
  );

  fault(
    'F052',
    'fields that the contract does not name',
    async (attack) => {
      const { ran } = await answered(attack, 'tryouts list --json', list({ mood: { deep: [1] } }));
      expect(ran.code).toBe(0);
      expect(JSON.parse(ran.stdout)[0].mood).toEqual({ deep: [1] });
      const table = await answered(attack, 'tryouts list', list({ mood: 'x' }));
      expect(table.ran.code).toBe(0);
    },
    { inside: true },
  );

  fault(
    'F053',
    'null where it may and where it may not be',
    async (attack) => {
      const may = await answered(attack, 'tryouts list', list({ internalNotes: null }));
      expect({ code: may.ran.code, stderr: may.ran.stderr }).toEqual({ code: 0, stderr: '' });
      const mayNot = await answered(attack, 'tryouts list', list({ name: null }));
      expect(mayNot.ran.code).toBe(0);
      expect(mayNot.ran.stderr).toMatch(/name/);
    },
    { inside: true },
  );

  fault(
    'F054',
    'optional fields that are absent',
    async (attack) => {
      const bare = {
        discordUserId: undefined,
        internalNotes: undefined,
        convertedPlayer: undefined,
      };
      const { ran } = await answered(attack, 'tryouts list', list(bare));
      expect({ code: ran.code, stderr: ran.stderr }).toEqual({ code: 0, stderr: '' });
    },
    { inside: true },
  );

  fault('F066', 'another record', async (attack) => {
    for (const other of [{ id: 'app_2' }, { organizationId: 'org_8' }]) {
      const wrong: Action = { json: { ...application, ...other } };
      const { ran } = await answered(attack, 'tryouts get app_1', wrong);
      expectFailure(ran, 1, /another record|another organization/);
      const world = await hostileWorld(unreadable('PATCH', wrong));
      const written = await attack(patch, { env: world.env });
      // The write was done, but the response is about another record.
      expect(written.code === 0 ? written.stdout : '').not.toMatch(/app_2|org_8/);
      expect(world.count('PATCH')).toBe(1);
    }
  });
});

const withName = (name: unknown): Action => ({ json: { ...team, name } });

describe('problematic values', () => {
  fault('F055', 'a text of ten million characters', async (attack) => {
    const { ran } = await answered(attack, 'teams list', {
      json: { teams: [{ ...team, name: 'x'.repeat(1e7) }] },
    });
    expect(ran.code).toBe(0);
    const { ran: machine } = await answered(attack, `${read} --json`, withName('x'.repeat(1e7)));
    expect(machine.code).toBe(0);
    expect(JSON.parse(machine.stdout).name).toHaveLength(1e7);
  });

  for (const depth of [1e4, 1e6])
    fault(
      'F056',
      `nested ${depth} deep`,
      async (attack) => {
        for (const flag of ['', ' --json', ' -o csv']) {
          const deep = json(`{"id":"team_1","x":${'['.repeat(depth)}${']'.repeat(depth)}}`);
          const { ran } = await answered(attack, read + flag, deep);
          expectFailure(
            ran,
            1,
            /is JSON nested more than 200 levels deep, which rosterctl does not read/,
          );
        }
      },
      { inside: depth === 1e4 },
    );

  fault(
    'F057',
    'names that are prototypes',
    async (attack) => {
      const hostile = json(
        `{"id":"team_1","organizationId":"${organization}","name":"Red","__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"toString":"x","hasOwnProperty":1}`,
      );
      const { ran } = await answered(attack, `${read} --json`, hostile);
      expect(ran.code).toBe(0);
      expect(ran.stdout).toContain('"__proto__":{"polluted":1}');
      for (const flag of ['', ' -o csv', ' --fields __proto__.polluted,toString'])
        expect((await answered(attack, read + flag, hostile)).ran.code).toBe(0);
    },
    { inside: true },
  );

  fault(
    'F058',
    'a name twice: the last one holds',
    async (attack) => {
      const { ran } = await answered(
        attack,
        `${read} --json`,
        json('{"id":"team_1","name":"a","name":"b"}'),
      );
      expect(ran.code).toBe(0);
      expect(JSON.parse(ran.stdout).name).toBe('b');
    },
    { inside: true },
  );

  fault(
    'F059',
    'half characters and NUL',
    async (attack) => {
      const hostile = json('{"id":"team_1","name":"a\\u0000b\\ud800c"}');
      const table = await answered(attack, read, hostile);
      expect(table.ran.code).toBe(0);
      expect(table.ran.stdout).not.toContain('\u0000');
      expect((await answered(attack, `${read} -o csv`, hostile)).ran.code).toBe(0);
      const { ran } = await answered(attack, `${read} --json`, hostile);
      expect(JSON.parse(ran.stdout).name).toBe('a\u0000b\ud800c');
    },
    { inside: true },
  );

  fault(
    'F060',
    'a byte order mark',
    async (attack) => {
      const { ran } = await answered(attack, read, json(`\ufeff${JSON.stringify(team)}`));
      expect({ code: ran.code, stderr: ran.stderr }).toMatchObject({ code: 0 });
    },
    { inside: true },
  );

  fault(
    'F061',
    'bytes that are no UTF-8',
    async (attack) => {
      const text = Buffer.from(JSON.stringify(team).replace('Red', 'R\u00ffd'), 'latin1');
      const { ran } = await answered(attack, read, { text });
      expect(ran.code).toBe(0);
      expect(ran.stdout).toContain('R\ufffdd');
    },
    { inside: true },
  );

  for (const number of ['9007199254740993', '123456789012345678901234567890', '1e400', '-0.5'])
    fault(
      'F062',
      `the number ${number}`,
      async (attack) => {
        const { ran } = await answered(
          attack,
          `${read} --json`,
          json(`{"id":"team_1","name":"Red","rank":${number}}`),
        );
        expect(ran.code).toBe(0);
        expect(ran.stdout).toContain(number);
      },
      { inside: number !== '1e400' },
    );

  fault(
    'F063',
    'times that are none',
    async (attack) => {
      for (const submittedAt of ['yesterday', '0001-01-01T00:00:00Z', '2026-06-30T23:59:60Z', '']) {
        const row = { ...application, submittedAt };
        for (const flag of ['', ' --json', ' --sort submittedAt', ' --time local', ' -o csv']) {
          const { ran } = await answered(attack, `tryouts list${flag}`, {
            json: { applications: [row, { ...application, id: 'app_2' }] },
          });
          expect(ran.code).toBe(0);
          expect(`${ran.stdout}${ran.stderr}`).not.toMatch(/Invalid Date|NaN/);
        }
      }
    },
    { inside: true },
  );

  fault(
    'F067',
    'a content type that is wrong',
    async (attack) => {
      for (const type of ['text/plain', 'text/html', 'application/xml', '']) {
        const { ran } = await answered(attack, read, json(JSON.stringify(team), type));
        expect({ code: ran.code, stderr: ran.stderr }).toMatchObject({ code: 0 });
      }
    },
    { inside: true },
  );
});

const rows = (from: number) => [from, from + 1].map((n) => ({ ...team, id: `team_${n}` }));

describe('lists', () => {
  for (const [title, body, code] of [
    ['an array', [team], 0],
    ['under items', { items: [team] }, 0],
    ['under data', { data: [team] }, 0],
    ['with a cursor that ends', { data: [team], nextCursor: null }, 0],
    ['one record', team, 1],
    ['an object of nothing', {}, 1],
    ['a text', 'teams', 1],
    ['a number', 7, 1],
    ['an array of numbers', [1, 2], 1],
    ['two arrays that nobody knows', { a: [team], b: [team] }, 1],
  ] as const)
    fault(
      'F064',
      `a list as ${title}`,
      async (attack) => {
        const { ran } = await answered(attack, 'teams list --json', { json: body });
        expect({ code: ran.code, stderr: ran.stderr }).toMatchObject({ code });
        if (code === 0) expect(JSON.parse(ran.stdout)).toHaveLength(1);
        else expect(ran.stdout).toBe('');
      },
      { inside: title !== 'an array' },
    );

  fault(
    'F064',
    'a list as null is empty, and said to be assumed so',
    async (attack) => {
      const { ran } = await answered(attack, 'teams list --json', { json: null });
      expect([ran.code, ran.stdout]).toEqual([0, '[]\n']);
      expect(ran.stderr).toContain('The list of teams is treated as empty');
      const strict = await answered(attack, 'teams list --json --strict', { json: null });
      expectFailure(strict.ran, 1, /may be incomplete/);
    },
    { inside: true },
  );

  fault(
    'F065',
    'a cursor that comes again and again',
    async (attack) => {
      const { ran, world } = await answered(attack, 'teams list --json', {
        json: { data: [team], nextCursor: 'same' },
      });
      expect(world.count()).toBeLessThanOrEqual(3);
      expect(ran.code).toBe(0);
      expect(ran.stderr).toMatch(/may be incomplete/);
      expect(JSON.parse(ran.stdout)).toHaveLength(1);
      const strict = await answered(attack, 'teams list --json --strict', {
        json: { data: [team], nextCursor: 'same' },
      });
      expectFailure(strict.ran, 1, /may be incomplete/);
    },
    { inside: true },
  );

  fault(
    'F065',
    'pages that overlap, and a total that lies',
    async (attack) => {
      const world = await hostileWorld({
        api: ({ nth }) => ({
          json: { teams: rows(nth), total: 99, ...(nth < 4 && { nextCursor: `c${nth}` }) },
        }),
      });
      const ran = await attack('teams list -o ids', { env: world.env });
      expect(ran.stdout.trim().split('\n')).toEqual([
        'team_1',
        'team_2',
        'team_3',
        'team_4',
        'team_5',
      ]);
      expect(ran.stderr).toMatch(/may be incomplete/);
    },
    { inside: true },
  );

  fault(
    'F065',
    'a next page on another host is not fetched',
    async (attack) => {
      const elsewhere = await hostileWorld();
      const { ran } = await answered(attack, 'teams list --json', {
        json: { data: [team], next: `${elsewhere.baseUrl}/teams/org_7?page=2` },
      });
      expect(elsewhere.requests).toHaveLength(0);
      expect(elsewhere.connections()).toBe(0);
      expect(ran.stderr).toMatch(/elsewhere/);
    },
    { inside: true },
  );
});
