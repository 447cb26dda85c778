import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { inProcess } from '../../support/in-process.js';
import { errorOf, temporaryFolder } from '../../support/run.js';
import {
  organization,
  type Recorded,
  type Reply,
  recordingService,
} from '../../support/service.js';
import type { Row } from './desk.js';

// What others create or change while an import or its undo is under way.

type Player = Record<string, unknown> & { readonly id: string };

const madeAt = '2026-03-01T10:00:00Z';
const changedAt = '2026-03-01T10:05:00Z';

function player(id: string, fields: Record<string, unknown> = {}): Player {
  return {
    id,
    name: 'Mine',
    organizationId: organization,
    createdAt: madeAt,
    updatedAt: madeAt,
    ...fields,
  };
}

/** A service of players; `instead` may answer a request itself. */
async function club(
  instead: (request: Recorded, players: Map<string, Player>) => Reply | undefined = () => undefined,
) {
  const players = new Map([['p1', player('p1', { email: 'first@example.org', name: 'First' })]]);
  const service = await recordingService((request) => {
    const reply = instead(request, players);
    if (reply) return reply;
    const [path = ''] = request.url.split('?');
    const id = path.split('/').filter((part) => part !== organization)[3];
    if (request.method === 'POST') return { status: 201, json: create(players, request) };
    const found = id === undefined ? undefined : players.get(id);
    if (id === undefined) return { status: 200, json: [...players.values()] };
    if (!found) return { status: 404, json: { error: 'notFound' } };
    if (request.method === 'DELETE') players.delete(id);
    return request.method === 'DELETE' ? { status: 204 } : { status: 200, json: found };
  });
  const home = temporaryFolder();
  const at = { env: { ...service.env, ROSTERCTL_SETTLE: '0.3s' }, home };
  return {
    players,
    at,
    async importing(people: readonly string[], flags = '') {
      writeFileSync(join(home, 'roster.csv'), ['email,name', ...people].join('\n'));
      const line = `players import ${join(home, 'roster.csv')} --key email --yes --json ${flags}`;
      const ran = await inProcess(line, at);
      const { results = [] } = JSON.parse(ran.stdout || '{}') as { results?: Row[] };
      return { ...ran, results };
    },
    undo: () => inProcess('runs undo last --yes --json', at),
    writes: () =>
      service.requests.filter(({ method }) => method !== 'GET').map(({ method }) => method),
  };
}

function create(players: Map<string, Player>, { body }: Recorded): Player {
  const made = player(`n${players.size}`, JSON.parse(body.toString()) as Record<string, unknown>);
  players.set(made.id, made);
  return made;
}

/** Closes the connection without an answer. */
const lost: Reply = (_, response) => response.socket?.destroy();

test('a create that is answered with 200 and an error fails, and its list is not searched', async () => {
  const desk = await club(({ method }) =>
    method === 'POST'
      ? { status: 200, json: { success: false, error: 'limitExceeded' } }
      : undefined,
  );
  const ran = await desk.importing(['nn@example.org,Mine']);
  expect([ran.code, ran.results]).toMatchObject([
    8,
    [{ result: 'failed', error: { code: 'limitExceeded' } }],
  ]);
  expect(desk.writes()).toEqual(['POST']);
});

describe('a create whose answer shows only its id', () => {
  test('is verified again if the answer shows nothing and the list comes before the record', async () => {
    let gets = 0;
    const desk = await club((request, players) => {
      if (request.method === 'POST') {
        create(players, request);
        return { status: 201 };
      }
      if (!request.url.includes('/n') || (gets += 1) > 1) return undefined;
      return { status: 404, json: { error: 'notFound' } };
    });
    const ran = await desk.importing(['nn@example.org,Mine']);
    expect([ran.code, ran.results[0]?.result]).toEqual([0, 'changed']);
    expect(desk.writes()).toEqual(['POST']);
  });

  test('is verified by its id if the list does not show it', async () => {
    let gets = 0;
    const desk = await club((request, players) => {
      if (request.method === 'POST')
        return { status: 201, json: { id: create(players, request).id } };
      // The list never shows what is new.
      if (!request.url.includes('/n')) return { status: 200, json: [players.get('p1')] };
      return (gets += 1) > 1 ? undefined : { status: 404, json: { error: 'notFound' } };
    });
    const ran = await desk.importing(['nn@example.org,Mine']);
    expect([ran.code, ran.results[0]?.result, ran.results[0]?.id]).toEqual([0, 'changed', 'n1']);
    expect(desk.writes()).toEqual(['POST']);
  });

  test('is not sent again if the service is busy when its record is looked for', async () => {
    let busy = 0;
    const desk = await club((request, players) => {
      if (request.method === 'POST') {
        create(players, request);
        busy = 4;
        return { status: 201 };
      }
      if (busy === 0) return undefined;
      busy -= 1;
      return { status: 429, json: { error: 'rateLimited' }, headers: { 'retry-after': '0' } };
    });
    const ran = await desk.importing(['nn@example.org,Mine']);
    expect([ran.code, ran.results[0]?.result]).toEqual([0, 'changed']);
    expect(desk.writes()).toEqual(['POST']);
  });

  test('is done, and the import goes on, if its record cannot be read again', async () => {
    let gets = 0;
    const page: Reply = {
      status: 200,
      text: '<html></html>',
      headers: { 'content-type': 'text/html' },
    };
    const desk = await club((request, players) => {
      if (request.method === 'POST')
        return { status: 201, json: { id: create(players, request).id } };
      if (!request.url.includes('/n') || (gets += 1) > 1) return undefined;
      return page;
    });
    const ran = await desk.importing(['nn@example.org,Mine', 'oo@example.org,Mine']);
    expect([ran.code, ran.results.map(({ result }) => result)]).toEqual([
      0,
      ['changed', 'changed'],
    ]);
    expect(ran.stderr).toContain('n1 was created, but could not be read again: ');
    expect(desk.writes()).toEqual(['POST', 'POST']);
  });
});

test.each(['runs undo last --yes', 'players delete n1 --yes'])(
  'a record that "%s" has just deleted is created again, also where its id still shows it',
  async (deletion) => {
    const desk = await club(({ method, url }, players) => {
      if (method === 'GET' && !url.includes('/n'))
        return { status: 200, json: [...players.values()].filter((each) => !each['deletedAt']) };
      if (method !== 'DELETE') return undefined;
      players.set('n1', { ...(players.get('n1') as Player), deletedAt: changedAt });
      return { status: 204 };
    });
    await desk.importing(['nn@example.org,Mine']);
    expect((await inProcess(deletion, desk.at)).code).toBe(0);
    const again = await desk.importing(['nn@example.org,Mine']);
    expect([again.code, again.results[0]]).toMatchObject([0, { id: 'n2', result: 'changed' }]);
  },
);

describe('a create whose answer is lost', () => {
  test('is unknown if the record with its key has other values: someone else may have created it', async () => {
    const desk = await club(({ method }, players) => {
      if (method !== 'POST') return undefined;
      players.set('oth', player('oth', { email: 'nn@example.org', name: 'Theirs' }));
      return lost;
    });
    const ran = await desk.importing(['nn@example.org,Mine']);
    expect([ran.code, ran.results[0]?.result]).toEqual([10, 'unknown']);
    expect(ran.results[0]?.error?.message).toContain(
      'oth has this email, but not the name that was sent: someone else may have created it.',
    );
    await desk.undo();
    expect(desk.players.has('oth')).toBe(true);
    expect(desk.writes()).toEqual(['POST']);
  });

  test('is unknown if two records have its key, of which one is by someone else', async () => {
    const desk = await club((request, players) => {
      if (request.method !== 'POST') return undefined;
      players.set('oth', player('oth', { email: 'nn@example.org' }));
      create(players, request);
      return lost;
    });
    const ran = await desk.importing(['nn@example.org,Mine']);
    expect([ran.code, ran.results[0]?.result]).toEqual([10, 'unknown']);
    expect(ran.results[0]?.error?.message).toContain('No single player has the email');
    expect(desk.writes()).toEqual(['POST']);
  });

  test.each([
    ['text', { createdAt: madeAt, updatedAt: madeAt }],
    ['a number', { createdAt: 1_772_359_200, updatedAt: 1_772_359_200 }],
    ['in another spelling', { created_at: madeAt, updated_at: madeAt }],
  ])(
    'is done if it is found as it was sent, and is undone while nobody has changed it (times are %s)',
    async (_, times) => {
      const desk = await club((request, players) => {
        if (request.method !== 'POST') return undefined;
        const { createdAt: _made, updatedAt: _changed, id, ...own } = create(players, request);
        players.set(id, { ...own, id, ...times });
        return lost;
      });
      const ran = await desk.importing(['nn@example.org,Mine']);
      expect([ran.code, ran.results[0]?.result]).toEqual([0, 'changed']);
      expect((await desk.undo()).code).toBe(0);
      expect([...desk.players.keys()]).toEqual(['p1']);
    },
  );

  test('is done if the service stored what was sent in a form of its own', async () => {
    const desk = await club((request, players) => {
      if (request.method !== 'POST') return undefined;
      const { id } = create(players, request);
      const stored = { email: 'nn@example.org', name: 'mine', rank: '5', size: '1.90' };
      const more = { active: 1, born: '2004-02-03T00:00:00.000Z', teams: ['t1', 't2'], bio: null };
      players.set(id, player(id, { ...stored, ...more }));
      return lost;
    });
    const sent = { email: 'nn@example.org', name: ' Mine', rank: 5, size: '1.9', active: true };
    const more = { born: '2004-02-03T00:00:00Z', teams: ['t2', 't1'], bio: '' };
    writeFileSync(join(desk.at.home, 'roster.ndjson'), JSON.stringify({ ...sent, ...more }));
    const line = `players import ${join(desk.at.home, 'roster.ndjson')} --key email --yes --json`;
    const ran = await inProcess(line, desk.at);
    expect([ran.code, JSON.parse(ran.stdout).summary]).toMatchObject([0, { changed: 1 }]);
    expect(desk.writes()).toEqual(['POST']);
  });

  test('is found in a list of ten players that the import itself brought to that number', async () => {
    let creates = 0;
    const desk = await club((request, players) => {
      if (request.method !== 'POST' || (creates += 1) === 1) return undefined;
      create(players, request);
      return lost;
    });
    for (const id of ['p2', 'p3', 'p4', 'p5', 'p6', 'p7', 'p8']) desk.players.set(id, player(id));
    const ran = await desk.importing(['nn@example.org,Mine', 'oo@example.org,Mine']);
    expect([ran.code, ran.results.map(({ result }) => result)]).toEqual([
      0,
      ['changed', 'changed'],
    ]);
    expect(desk.players.size).toBe(10);
  });

  test('is done but not undone if it was changed before it was found', async () => {
    const desk = await club((request, players) => {
      if (request.method !== 'POST') return undefined;
      const made = create(players, request);
      players.set(made.id, { ...made, phone: '123', updatedAt: changedAt });
      return lost;
    });
    expect((await desk.importing(['nn@example.org,Mine'])).code).toBe(0);
    const undone = await desk.undo();
    expect(undone.code).toBe(11);
    expect(errorOf(undone).code).toBe('notUndoable');
    expect(desk.writes()).toEqual(['POST']);
  });
});

test('a field that the service stores otherwise is named, whichever record shows it first', async () => {
  const desk = await club((request, players) => {
    if (request.method !== 'POST') return undefined;
    const made = create(players, request);
    players.set(made.id, { ...made, name: String(made['name']).toUpperCase() });
    return { status: 201, json: players.get(made.id) };
  });
  const people = ['a@example.org,ANN', 'b@example.org,Bo', 'c@example.org,Cy'];
  const ran = await desk.importing(people, '--concurrency 1');
  expect(ran.code).toBe(0);
  expect(ran.stderr.match(/.* was created, but .*/g)).toEqual([
    'n2 was created, but the service stored a different name.',
  ]);
});

test('a cell that the service stores without spaces, or an address in lower case, is not sent by each import', async () => {
  const desk = await club((request, players) => {
    if (request.method !== 'POST') return undefined;
    const { id, name, email } = create(players, request);
    const stored = { name: String(name).trim(), email: String(email).toLowerCase() };
    players.set(id, player(id, stored));
    return { status: 201, json: players.get(id) };
  });
  const people = ['NN@example.org,Mine '];
  expect((await desk.importing(people)).code).toBe(0);
  const byId = ['id,email,name', 'n1,NN@example.org, Mine '];
  writeFileSync(join(desk.at.home, 'ids.csv'), byId.join('\n'));
  const line = `players import ${join(desk.at.home, 'ids.csv')} --key id --yes --json`;
  for (const again of [await desk.importing(people), await inProcess(line, desk.at)])
    expect([again.code, JSON.parse(again.stdout).summary.unchanged]).toEqual([0, 1]);
  const other = await desk.importing(['nn@example.org,mine'], '-n');
  expect(other.results).toMatchObject([{ before: { name: 'Mine' }, after: { name: 'mine' } }]);
  expect(desk.writes()).toEqual(['POST']);
});

describe('a key that someone else takes while the import runs', () => {
  test('is a conflict after a wait that the service asked for', async () => {
    let asked = false;
    const desk = await club(({ method }, players) => {
      if (method !== 'POST' || asked) return undefined;
      asked = true;
      players.set('oth', player('oth', { email: 'nn@example.org', name: 'Theirs' }));
      return { status: 429, headers: { 'retry-after': '1' }, json: { error: 'slow' } };
    });
    const ran = await desk.importing(['nn@example.org,Mine']);
    expect([ran.code, ran.results[0]?.result]).toEqual([8, 'conflict']);
    expect(ran.results[0]?.error?.message).toContain(
      'oth has this email: it was created in the meantime.',
    );
    expect(desk.writes()).toEqual(['POST']);
  });

  test.each([
    ['after an interruption', 429, '', 9],
    ['in a retry', 422, 'runs retry last --yes --json', 8],
  ])('is a conflict in the dry run %s, too', async (_, status, retry, code) => {
    let refuses = true;
    const desk = await club(({ method }) =>
      method === 'POST' && refuses ? { status, json: { error: 'no' } } : undefined,
    );
    const run = (flags: string) =>
      retry === ''
        ? desk.importing(['nn@example.org,Mine'], `--retries 0 ${flags}`)
        : inProcess(`${retry} ${flags}`, desk.at);
    expect((await desk.importing(['nn@example.org,Mine'], '--retries 0')).code).toBe(code);
    refuses = false;
    desk.players.set('oth', player('oth', { email: 'nn@example.org', name: 'Theirs' }));
    for (const flags of ['-n', '']) {
      const ran = await run(flags);
      const [row] = (JSON.parse(ran.stdout) as { results: Row[] }).results;
      expect([ran.code, row?.result]).toEqual([8, 'conflict']);
    }
  });

  test('is no conflict in the dry run of a create whose answer was lost', async () => {
    let gets = 0;
    const desk = await club((request, players) => {
      // The list shows the record only later.
      if (request.method !== 'POST')
        return players.size > 1 && (gets += 1) < 9
          ? { status: 200, json: [players.get('p1')] }
          : undefined;
      create(players, request);
      return lost;
    });
    const person = ['nn@example.org,Mine'];
    expect((await desk.importing(person)).code).toBe(10);
    gets = 9;
    expect((await desk.importing(person, '-n')).results[0]?.result).toBe('would_change');
    expect((await desk.importing(person)).results[0]?.result).toBe('changed');
    expect(desk.writes()).toEqual(['POST']);
  });

  test('is a conflict if the list is older than two seconds when its row comes', async () => {
    const desk = await club((request, players) => {
      if (request.method !== 'POST') return undefined;
      const made = create(players, request);
      players.set('oth', player('oth', { email: 'second@example.org', name: 'Theirs' }));
      return (_, response) => {
        setTimeout(() => {
          response.writeHead(201, { 'content-type': 'application/json' });
          response.end(JSON.stringify(made));
        }, 2_100);
      };
    });
    const rows = ['one@example.org,Mine', 'second@example.org,Mine'];
    const ran = await desk.importing(rows, '--concurrency 1');
    expect(ran.results.map(({ result }) => result)).toEqual(['changed', 'conflict']);
    expect(desk.writes()).toEqual(['POST']);
  });
});

test('a record that has lost its key since the list was read is left alone', async () => {
  const desk = await club(({ method, url }) =>
    method === 'GET' && url.includes('/p1')
      ? { status: 200, json: player('p1', { email: 'new@example.org', name: 'First' }) }
      : undefined,
  );
  const ran = await desk.importing(['first@example.org,Changed']);
  expect([ran.code, ran.results]).toMatchObject([8, [{ id: 'p1', result: 'conflict' }]]);
  expect(desk.writes()).toEqual([]);
});

test('a create whose record is not there afterwards is unknown, and nothing more is sent', async () => {
  const desk = await club(({ method }) =>
    method === 'POST' ? { status: 201, json: player('n3', { email: 'a@example.org' }) } : undefined,
  );
  const ran = await desk.importing([
    'a@example.org,Mine',
    'b@example.org,Mine',
    'c@example.org,Mine',
  ]);
  expect(ran.code).toBe(10);
  expect(ran.results.map(({ result }) => result)).not.toContain('changed');
  expect(ran.results[0]?.error?.message).toContain(
    'returned the id n3, but there is no player with that id.',
  );
});

test.each([
  ['', false],
  [' at first not found', true],
])(
  'a record created without its key and%s is created again once it was deleted as the hint says',
  async (_, isLate) => {
    let creates = 0;
    let gets = 0;
    const desk = await club((request, players) => {
      if (isLate && request.url.includes('/n') && (gets += 1) === 1)
        return { status: 404, json: { error: 'notFound' } };
      if (request.method !== 'POST' || (creates += 1) > 1) return undefined;
      const { email: __, ...made } = create(players, request);
      players.set(made.id, made);
      return { status: 201, json: { id: made.id } };
    });
    const first = await desk.importing(['nn@example.org,Mine']);
    expect([first.code, first.results[0]?.error?.code]).toEqual([11, 'keyLost']);
    expect(first.stderr).toContain('rosterctl players delete n1');
    expect((await inProcess('players delete n1 --yes', desk.at)).code).toBe(0);
    const again = await desk.importing(['nn@example.org,Mine']);
    expect([again.code, again.results[0]?.result]).toEqual([0, 'changed']);
    expect(desk.writes()).toEqual(['POST', 'DELETE', 'POST']);
  },
);

test('a record created without its key is not created again while reads lag behind it', async () => {
  let lagging = 0;
  const desk = await club((request, players) => {
    if (request.url.includes('/n1') && lagging > 0) {
      lagging -= 1;
      return { status: 404, json: { error: 'notFound' } };
    }
    if (request.method !== 'POST') return undefined;
    const { email: _, ...made } = create(players, request);
    players.set(made.id, made);
    return { status: 201, json: { id: made.id } };
  });
  expect((await desk.importing(['nn@example.org,Mine'])).results[0]?.error?.code).toBe('keyLost');
  lagging = 3;
  const again = await desk.importing(['nn@example.org,Mine']);
  expect([again.code, again.results[0]?.error?.code]).toEqual([11, 'keyLost']);
  expect(desk.writes()).toEqual(['POST']);
});

/** A service of players whose list never shows a new one. */
function laggingClub() {
  return club((request, players) => {
    const isList = request.method === 'GET' && !/\/[np]\d/.test(request.url);
    return isList ? { status: 200, json: [players.get('p1')] } : undefined;
  });
}

describe('the same import again while the list lags behind what it created', () => {
  test('adds nothing', async () => {
    const desk = await laggingClub();
    expect((await desk.importing(['nn@example.org,Mine'])).results[0]?.result).toBe('changed');
    const again = await desk.importing(['nn@example.org,Mine']);
    expect([again.code, again.results[0]?.result]).toEqual([0, 'unchanged']);
    expect(desk.writes()).toEqual(['POST']);
  });

  test('adds nothing to what players create made', async () => {
    const desk = await laggingClub();
    const line = 'players create --name Mine -F email=nn@example.org';
    expect((await inProcess(line, desk.at)).code).toBe(0);
    const after = await desk.importing(['nn@example.org,Mine']);
    expect([after.code, after.results[0]?.result]).toEqual([0, 'unchanged']);
    expect(desk.writes()).toEqual(['POST']);
  });

  test('creates a record that was deleted since', async () => {
    const desk = await laggingClub();
    await desk.importing(['nn@example.org,Mine']);
    expect((await desk.undo()).code).toBe(0);
    expect((await desk.importing(['nn@example.org,Mine'])).results[0]?.result).toBe('changed');
    expect(desk.writes()).toEqual(['POST', 'DELETE', 'POST']);
  });
});

test('undo leaves a created record whose URL someone has replaced', async () => {
  const desk = await club();
  const line = 'players create --name Ann -F website=https://x.example/?a=b --json';
  const made = JSON.parse((await inProcess(line, desk.at)).stdout) as Player;
  desk.players.set(made.id, { ...made, website: 'https://y.example/' });
  expect((await desk.undo()).code).toBe(6);
  desk.players.set(made.id, made);
  expect((await desk.undo()).code).toBe(0);
  expect(desk.players.has(made.id)).toBe(false);
});

test('a refusal that stops the import does not take its file for a record', async () => {
  const desk = await club((request) =>
    request.method === 'PATCH' ? { status: 403, json: { error: 'forbidden' } } : undefined,
  );
  const ran = await desk.importing(['first@example.org,Last', 'nn@example.org,Mine']);
  expect(ran.code).toBe(7);
  expect(errorOf(ran)['message']).toBe('The service refused to change the player (forbidden).');
});
