import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { converse } from '../support/converse.js';
import { inProcess } from '../support/in-process.js';
import { type Ran, rosterctl, temporaryFolder } from '../support/run.js';
import { organization, type Recorded, type Reply, recordingService } from '../support/service.js';

// The service documents no route to update or delete a team, player or document (contract 4.4).

const ids = ['p1', 'p2', 'p3'] as const;

/** A service of three players, which answers each write by `answer`. */
async function players(answer: (request: Recorded) => Reply | undefined = () => undefined) {
  const kept = new Map<string, object>(
    ids.map((id) => [id, { id, name: `Player ${id}`, role: 'sub' }]),
  );
  const service = await recordingService((request): Reply => {
    const { pathname } = new URL(request.url, 'http://x');
    const [, , resource, , id = ''] = pathname.split('/').map(decodeURIComponent);
    if (request.method !== 'GET') return answer(request) ?? { status: 204 };
    if (resource === 'documents') return { status: 200, json: [{ id: 'd1', name: 'Rules' }] };
    if (resource === 'teams') return { status: 200, json: { id, name: 'Foxes' } };
    if (id === '') return { status: 200, json: { players: [...kept.values()] } };
    const record = kept.get(id);
    return record ? { status: 200, json: record } : { status: 404, json: { error: 'notFound' } };
  });
  return {
    ...service,
    kept,
    writes: () => service.requests.filter((each) => each.method !== 'GET'),
  };
}

const errorOf = ({ stderr }: Ran) =>
  (JSON.parse(stderr.trim().split('\n').at(-1) ?? '') as { error: Record<string, unknown> }).error;

const lines = {
  update: (count: number) => `players update ${ids.slice(0, count).join(' ')} -F role=igl --yes`,
  delete: (count: number) =>
    `players delete ${ids.slice(0, count).join(' ')} --yes${count > 1 ? ` --expect ${count}` : ''}`,
};
const guesses = { update: 'PATCH /players/{id}', delete: 'DELETE /players/{id}' };
const verbs = ['update', 'delete'] as const;

/** A service that allows other methods. */
const allows = (allow: string) => players(() => ({ status: 405, json: {}, headers: { allow } }));

const noteOf = (verb: string, noun = 'player') =>
  `The service does not document how to ${verb} a ${noun}; rosterctl uses ${verb === 'update' ? 'PATCH' : 'DELETE'} /${noun}s/ID. See: rosterctl help undocumented`;
const timesIn = ({ stderr }: Ran, note: string) => stderr.split(note).length - 1;

const setRoute = (line: string, home: string) =>
  inProcess(`config set endpoints.players.${line}`, { home });

/** The request line of a dry run. */
const requestOf = async (line: string, home = temporaryFolder()) => {
  const { env } = await players();
  const { stdout } = await inProcess(`${line} -n`, { env, home });
  return stdout.split('\n')[1];
};

describe.concurrent('an assumed route that is refused', () => {
  const unknown = [404, 405, 501].flatMap((status) =>
    verbs.flatMap((verb) => [1, 3].map((count) => [status, verb, count] as const)),
  );
  test.each(unknown)('with %i is wrong: %s of %i', async (status, verb, count) => {
    const service = await players(() => ({ status, json: { error: 'no' } }));
    const home = temporaryFolder();
    const ran = await inProcess(`${lines[verb](count)} --json`, { env: service.env, home });
    expect(ran.code).toBe(1);
    expect(service.writes()).toHaveLength(1);
    const error = errorOf(ran);
    expect(error).toMatchObject({ code: 'wrongRoute', status, exitCode: 1, retryable: false });
    expect(error['message']).toContain(
      `The service does not know ${guesses[verb]}: the player p1 exists`,
    );
    expect(error['hint']).toContain(`does not document how to ${verb} a player`);
    expect(error['hint']).toContain(`rosterctl config set endpoints.players.${verb} "`);
    const report = JSON.parse((await inProcess('runs show last --json', { home })).stdout);
    expect(report.results.map((row: { result: string }) => row.result)).toEqual(
      ids.slice(0, count).map(() => 'not_attempted'),
    );
    expect(report.results[0].error.code).toBe('wrongRoute');
  });

  const doubted = (
    [
      [400, 3],
      [403, 7],
    ] as const
  ).flatMap(([status, exit]) =>
    verbs.flatMap((verb) => [1, 3].map((count) => [status, exit, verb, count] as const)),
  );
  test.each(doubted)(
    'with %i keeps exit code %i and names the guess: %s of %i',
    async (...cell) => {
      const [status, exit, verb, count] = cell;
      const service = await players(() => ({ status, json: { error: 'nope' } }));
      const ran = await inProcess(`${lines[verb](count)} --json`, { env: service.env });
      const isRefusedRow = count > 1 && status === 400;
      expect(ran.code).toBe(isRefusedRow ? 8 : exit);
      // A 403 to the first write stops a run; a 400 may concern this record alone.
      expect(service.writes()).toHaveLength(isRefusedRow ? count : 1);
      const error = isRefusedRow ? JSON.parse(ran.stdout).results[0].error : errorOf(ran);
      expect(error).toMatchObject({ code: 'nope', status });
      expect(error['hint']).toContain(
        `Or the assumed route is wrong: the service does not document how to ${verb} a player; rosterctl assumes ${guesses[verb]}.`,
      );
      expect(error['hint']).toContain(`rosterctl config set endpoints.players.${verb} "`);
    },
  );

  test.each([404, 405, 501])('with %i for a record that is gone is not blamed', async (status) => {
    const service = await players(({ url }) => {
      service.kept.delete(url.split('/').at(-1) ?? '');
      return { status, json: { error: 'no' } };
    });
    const ran = await inProcess(`${lines.update(1)} --json`, { env: service.env });
    expect(ran.code).toBe(5);
    expect(errorOf(ran)['message']).toContain('Player p1 was not found');
    expect(service.writes()).toHaveLength(1);
  });
});

describe('the refusal of a wrong route', () => {
  test('of one record takes at most four lines, though there are two ways to go on', async () => {
    const service = await players(() => ({ status: 403, json: { error: 'forbidden' } }));
    const ran = await inProcess(`${lines.update(1)} -q`, { env: service.env });
    expect([ran.code, ran.stderr.trim().split('\n')]).toEqual([
      7,
      [
        'The service refused to change player p1 (forbidden).',
        'The key may lack a permission, or belong to another organization.',
        'See: rosterctl doctor',
        'Or the assumed route is wrong: the service does not document how to update a player; rosterctl assumes PATCH /players/{id}. Set another: rosterctl config set endpoints.players.update "PUT /players/{id}"',
      ],
    ]);
  });

  test('is not suspected if the refusal allows its method', async () => {
    const headers = { allow: 'GET, PUT, PATCH, HEAD, OPTIONS' };
    const service = await players(() => ({ status: 400, json: { role: ['No.'] }, headers }));
    const ran = await inProcess(`${lines.update(1)} -q`, { env: service.env });
    expect([ran.code, ran.stderr]).toEqual([3, expect.not.stringContaining('route')]);
  });

  test('names the methods that the service allows, and suggests one of them', async () => {
    const { env } = await allows('POST, delete, rm -rf');
    const ran = await inProcess(lines.update(1), { env });
    expect(ran.stderr.trim().split('\n').slice(-3)).toEqual([
      'The service does not know PATCH /players/{id}: the player p1 exists, so the assumed route is wrong.',
      'The service does not document how to update a player; rosterctl assumes PATCH /players/{id}. The service allows: POST, DELETE.',
      'Set another: rosterctl config set endpoints.players.update "POST /players/{id}"',
    ]);
    const removal = await inProcess(`${lines.delete(1)} --json`, { env });
    expect(errorOf(removal)['hint']).toContain('delete "DELETE /players/{organizationId}/{id}"');
  });

  test('never suggests a request that would create a record', async () => {
    const { env } = await allows('GET, POST');
    for (const [verb, method] of [
      ['update', 'PATCH'],
      ['delete', 'DELETE'],
    ] as const) {
      const route = `--route '${method} /players?id={id}'`;
      const ran = await inProcess(`${lines[verb](1)} --json ${route}`, { env });
      expect(errorOf(ran)['hint']).toContain('The service allows: GET, POST.');
      expect(errorOf(ran)['hint']).not.toContain('"POST');
    }
  });

  test('suggests a likely route where the service names none', async () => {
    const { env } = await players(() => ({ status: 404, json: { error: 'notFound' } }));
    const update = await inProcess(`${lines.update(1)} --json`, { env });
    expect(errorOf(update)['hint']).toContain(
      'config set endpoints.players.update "PUT /players/{id}"',
    );
    const removal = await inProcess(`${lines.delete(1)} --json`, { env });
    expect(errorOf(removal)['hint']).toContain('"DELETE /players/{organizationId}/{id}"');
  });

  test('is told of a document, which only the list shows', async () => {
    const { env } = await players(() => ({ status: 404, json: { error: 'notFound' } }));
    const ran = await inProcess('docs delete d1 --yes --json', { env });
    expect(ran.code).toBe(1);
    expect(errorOf(ran)).toMatchObject({
      code: 'wrongRoute',
      message: expect.stringContaining('the document d1 exists'),
      hint: expect.stringContaining(
        'endpoints.documents.delete "DELETE /documents/{organizationId}/{id}"',
      ),
    });
  });

  test('says where a named route comes from', async () => {
    const { env } = await players(() => ({ status: 404, json: { error: 'notFound' } }));
    const home = temporaryFolder();
    const once = await inProcess(`${lines.update(1)} --json --route 'PUT /players/{id}'`, { env });
    expect(errorOf(once)).toMatchObject({ code: 'wrongRoute' });
    expect(errorOf(once)['message']).toContain('so the named route is wrong');
    expect(errorOf(once)['hint']).toMatch(/^PUT \/players\/\{id\} comes from --route\./);
    await inProcess(`config set endpoints.players.update 'PUT /players/{id}'`, { home });
    const stored = await inProcess(`${lines.update(1)} --json`, { env, home });
    expect(errorOf(stored)['hint']).toContain('comes from the setting endpoints.players.update.');
  });

  test('says in a run what to set, and the same command line then changes every record', async () => {
    const service = await players(({ method, url, body }) => {
      if (method !== 'PUT') return { status: 404, json: { error: 'notFound' } };
      const id = url.split('/').at(-1) ?? '';
      service.kept.set(id, { ...service.kept.get(id), ...JSON.parse(body.toString()) });
      return { status: 200, json: service.kept.get(id) };
    });
    const user = { env: service.env, home: temporaryFolder() };
    const refused = await inProcess(lines.update(3), user);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain('Stopped: The service does not know PATCH /players/{id}');
    expect(refused.stderr).toContain('config set endpoints.players.update "PUT /players/{id}"');
    expect(
      await inProcess(`config set endpoints.players.update 'PUT /players/{id}'`, user),
    ).toMatchObject({ code: 0 });
    const ran = await inProcess(`${lines.update(3)} --json`, user);
    expect(ran.code).toBe(0);
    expect(JSON.parse(ran.stdout).summary).toMatchObject({ total: 3, changed: 3 });
    expect(service.writes().map(({ method }) => method)).toEqual(['PATCH', 'PUT', 'PUT', 'PUT']);
  });

  test('ends a run of many records at high concurrency after one write', async () => {
    const service = await players(() => ({ status: 405, json: {} }));
    const many = Array.from({ length: 60 }, (_, at) => `many_${at}`);
    for (const id of many) service.kept.set(id, { id, name: id });
    const ran = await rosterctl(
      `players delete --ids - --yes --expect 60 --concurrency 16 --json`,
      { env: service.env, stdin: many.join('\n') },
    );
    expect(ran.code).toBe(1);
    expect(service.writes()).toHaveLength(1);
    expect(JSON.parse(ran.stdout).summary).toMatchObject({ total: 60, notAttempted: 60 });
  });

  test('is not told of a route that has worked before', async () => {
    const service = await players(({ url }) =>
      url.endsWith('p2') ? { status: 404, json: { error: 'notYours' } } : undefined,
    );
    const ran = await inProcess(
      `players update p1 p2 p3 -F role=igl --yes --json --concurrency 1`,
      { env: { ...service.env, ROSTERCTL_SETTLE: '0s' } },
    );
    expect(service.writes()).toHaveLength(3);
    expect(ran.stderr).not.toContain('wrongRoute');
  });

  test('is not told of a record that is marked as deleted', async () => {
    const service = await players(() => ({ status: 404, json: { error: 'notFound' } }));
    service.kept.set('p1', { id: 'p1', name: 'Ann', deletedAt: '2026-01-01T00:00:00Z' });
    expect((await inProcess(lines.delete(1), { env: service.env })).code).toBe(5);
  });

  test('says nothing of routes if the plan has no API access', async () => {
    const service = await players(() => ({ status: 403, json: { error: 'featureNotAvailable' } }));
    const ran = await inProcess(lines.update(1), { env: service.env });
    expect(ran.code).toBe(7);
    expect(ran.stderr).not.toContain('route');
  });
});

describe('the note on an assumed route', () => {
  test.each([
    ['p1', '(y/N)', 'y\r'],
    ['p1 p2', 'Type the number to confirm:', '2\r'],
  ] as const)('precedes the question whether to delete %s', async (which, question, answer) => {
    const service = await players();
    const line = ['players', 'delete', ...which.split(' ')];
    const answers = [[/\(y\/N\)|Type the number/, answer]] as const;
    const { shown } = await converse(temporaryFolder(), line, answers, service.env, 300);
    expect(shown.split(noteOf('delete'))).toHaveLength(2);
    expect(shown).toContain(question);
    expect(shown.indexOf(noteOf('delete'))).toBeLessThan(shown.indexOf(question));
  });

  test('comes once per service and route, however many commands use it', async () => {
    const [{ env }, other] = await Promise.all([players(), players()]);
    const home = temporaryFolder();
    const run = (line: string, at = env) => inProcess(line, { env: at, home });
    expect(timesIn(await run('players update p1 p2 -F role=igl -n'), noteOf('update'))).toBe(1);
    expect(timesIn(await run('players update p1 -F role=igl -n'), noteOf('update'))).toBe(0);
    expect(timesIn(await run('players delete p1 -n'), noteOf('delete'))).toBe(1);
    expect(
      timesIn(await run('players update p1 -F role=igl -n', other.env), noteOf('update')),
    ).toBe(1);
    const elsewhere = { ...env, ROSTERCTL_ORG: 'org_8' };
    expect(
      timesIn(await run('players update p1 -F role=igl -n', elsewhere), noteOf('update')),
    ).toBe(1);
    expect(timesIn(await run('players delete p2 -n'), noteOf('delete'))).toBe(0);
  });

  test('is kept back by --quiet and comes with the next command', async () => {
    const { env } = await players();
    const home = temporaryFolder();
    const quiet = await inProcess('players delete p1 -n --quiet', { env, home });
    expect(quiet.stderr).not.toContain('undocumented');
    expect(timesIn(await inProcess('players delete p1 -n', { env, home }), noteOf('delete'))).toBe(
      1,
    );
  });

  test('does not come for a route that the admin named', async () => {
    const { env } = await players();
    const own = await inProcess(`players delete p1 -n --route 'DELETE /players/{id}'`, { env });
    expect(own.stderr).not.toContain('undocumented');
  });

  test('does not come in the sandbox, which is not the service', async () => {
    const ran = await inProcess('-p sandbox players delete player_0001 -n');
    expect([ran.code, ran.stderr]).toEqual([0, '']);
  });

  test('is remembered in a private file, which reads never touch', async () => {
    const { env, origin } = await players();
    const home = temporaryFolder();
    const cache = join(home, '.cache/rosterctl');
    await inProcess('players get p1', { env, home });
    const hex = Buffer.from(`${origin}\n${organization}`).toString('hex');
    const file = join(cache, hex, 'noted-routes.txt');
    expect(existsSync(file)).toBe(false);
    await inProcess('players delete p1 -n', { env, home });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(join(cache, hex)).mode & 0o777).toBe(0o700);
    expect(readFileSync(file, 'utf8')).toBe('DELETE /players/{playerId}\n');
  });

  test('comes each time where it cannot be remembered, and fails nothing', async () => {
    const { env } = await players();
    const home = temporaryFolder();
    writeFileSync(join(home, '.cache'), 'a file in the way');
    for (const _ of [1, 2]) {
      const ran = await inProcess('players delete p1 -n', { env, home });
      expect(ran.code).toBe(0);
      expect(timesIn(ran, noteOf('delete'))).toBe(1);
    }
  });

  test('comes again after auth logout', async () => {
    const { env, baseUrl } = await players();
    const home = temporaryFolder();
    const { ROSTERCTL_API_KEY: stdin = '', ...rest } = env;
    const login = `auth login --base-url ${baseUrl} --org ${organization} --key-stdin`;
    expect(await inProcess(login, { home, stdin })).toMatchObject({ code: 0 });
    const first = await inProcess('teams update t1 --name Hens -n', { env: rest, home });
    expect(timesIn(first, noteOf('update', 'team'))).toBe(1);
    expect(await inProcess('auth logout', { home })).toMatchObject({ code: 0 });
    expect(await inProcess(login, { home, stdin })).toMatchObject({ code: 0 });
    const again = await inProcess('teams update t1 --name Hens -n', { env: rest, home });
    expect(timesIn(again, noteOf('update', 'team'))).toBe(1);
  });
});

describe('a route that names the record in its query', () => {
  test('is sent with the id encoded', async () => {
    const service = await players();
    const home = temporaryFolder();
    service.kept.set('a&b=c/d', { id: 'a&b=c/d', name: 'Ann' });
    expect(await setRoute(`delete 'DELETE /players?id={id}'`, home)).toMatchObject({ code: 0 });
    const line = ['players', 'delete', 'a&b=c/d', '--yes'];
    await inProcess(line, { env: service.env, home });
    expect(service.writes().map(({ url }) => url)).toEqual(['/v1/players?id=a%26b%3Dc%2Fd']);
  });

  test('is combined with the organization', async () => {
    const service = await players();
    const home = temporaryFolder();
    const send = () => inProcess('players update p1 -F role=igl', { env: service.env, home });
    await setRoute(`update 'PATCH /players?id={id}&notify=no'`, home);
    await setRoute('update.org query', home);
    await send();
    await setRoute(`update 'PATCH /players?id={id}&organizationId={organizationId}'`, home);
    await send();
    expect(service.writes().map(({ method, url }) => `${method} ${url}`)).toEqual([
      'PATCH /v1/players?id=p1&notify=no&organizationId=org_7',
      'PATCH /v1/players?id=p1&organizationId=org_7',
    ]);
  });

  test('is shown by a dry run, the trace and an error', async () => {
    const service = await players(() => ({ status: 404, json: { error: 'notFound' } }));
    const options = { env: service.env };
    const line = `players delete p1 --yes --route 'DELETE /players?id={id}'`;
    const dry = await inProcess(`${line} -n --json`, options);
    expect(JSON.parse(dry.stdout).requests).toEqual([
      { method: 'DELETE', path: '/players?id=p1', basis: 'assumed' },
    ]);
    const ran = await inProcess(`${line} --json --debug`, options);
    expect(ran.stderr).toContain('DELETE /v1/players?id=p1 (');
    expect(errorOf(ran)).toMatchObject({
      code: 'wrongRoute',
      path: '/players?id={playerId}',
      message: expect.stringContaining('DELETE /players?id={id}'),
    });
  });

  test('is named by its record when that is missing', async () => {
    const service = await players(({ url }) => {
      service.kept.delete(new URL(url, 'http://x').searchParams.get('id') ?? '');
      return { status: 404, json: { error: 'notFound' } };
    });
    const line = `players delete p1 --yes --route 'DELETE /players?id={id}'`;
    const ran = await inProcess(line, { env: service.env });
    expect([ran.code, ran.stderr]).toEqual([5, expect.stringContaining('Player p1 was not found')]);
  });
});

describe('a dry run says what its route rests on', () => {
  test('assumed, named by a flag, named by a setting, stated', async () => {
    const home = temporaryFolder();
    expect(await requestOf('players delete p1', home)).toBe(
      '  DELETE /players/p1  (assumed route)',
    );
    const named = '  DELETE /players/org_7/p1  (named route)';
    const route = `'DELETE /players/{organizationId}/{id}'`;
    expect(await requestOf(`players delete p1 --route ${route}`, home)).toBe(named);
    await inProcess(`config set endpoints.players.delete ${route}`, { home });
    expect(await requestOf('players delete p1', home)).toBe(named);
    expect(await requestOf('players create --name Bo', home)).toBe('  POST /players');
  });
});

describe('config set', () => {
  test('says that a PUT may replace, until the semantics are set', async () => {
    const home = temporaryFolder();
    const set = (line: string) => inProcess(`config set endpoints.players.${line}`, { home });
    const note =
      'A PUT may replace the whole record. Say what this one does, replace or merge: rosterctl config set endpoints.players.update.semantics VALUE\n';
    expect(await set(`update 'PUT /players/{id}'`)).toMatchObject({ code: 0, stderr: note });
    expect(await set(`update 'POST /players/{id}'`)).toMatchObject({ code: 0, stderr: '' });
    expect(await set(`delete 'PUT /players/{id}/gone'`)).toMatchObject({ code: 0, stderr: '' });
    await set('update.semantics merge');
    expect(await set(`update 'PUT /players/{id}'`)).toMatchObject({ code: 0, stderr: '' });
  });

  test('refuses a route that repeats /v1, as --route does', async () => {
    const hint = 'Leave out /v1: the base URL already ends with it.';
    const stored = await inProcess(`config set endpoints.players.update 'PUT /v1/players/{id}'`);
    expect([stored.code, stored.stderr]).toEqual([2, expect.stringContaining(hint)]);
    const service = await players();
    const typed = await inProcess(`${lines.update(1)} --route 'PUT /v1/players?id={id}'`, {
      env: service.env,
    });
    expect([typed.code, typed.stderr]).toEqual([2, expect.stringContaining(hint)]);
    expect(service.requests).toEqual([]);
  });
});
