/** `doctor --shapes` against services that send their lists in unusual ways. */
import { describe, expect, test } from 'vitest';
import { inProcess } from '../support/in-process.js';
import { rosterctl, temporaryFolder } from '../support/run.js';
import { organization, type Recorded, type Reply, recordingService } from '../support/service.js';

interface Player {
  readonly [field: string]: unknown;
}

const size = 20;
const players: readonly Player[] = Array.from({ length: 45 }, (_, at) => ({
  id: `p${at}`,
  organizationId: organization,
  name: `Player ${String(at).padStart(2, '0')}`,
}));
const page = (from: number) => players.slice(from, from + size);
const parameter = (request: Recorded, name: string) =>
  new URL(request.url, 'http://x').searchParams.get(name);
const numberIn = (request: Recorded, name: string) => Number(parameter(request, name) ?? 0);
const after = (request: Recorded, name: string) => {
  const id = parameter(request, name);
  return id === null ? 0 : players.findIndex((each) => each['id'] === id) + 1;
};

const paginated = (at: number) => ({
  data: page((at - 1) * size),
  meta: { pagination: { page: at, pageSize: size, pageCount: 3, total: 45 } },
});

interface Personality {
  readonly name: string;
  /** The list as the service sends it. */
  readonly list: (request: Recorded) => unknown;
  /** One record, where it is not found by its id. */
  readonly idName?: string;
  /** The settings that read it whole. */
  readonly settings: Record<string, string>;
}

const personalities: readonly Personality[] = [
  {
    name: 'pages by number and says nothing',
    list: (request) => page((Math.max(1, numberIn(request, 'page')) - 1) * size),
    settings: { 'paging.mode': 'page' },
  },
  {
    name: 'pages from 0 under another name, with a total',
    list: (request) => ({ data: page(numberIn(request, 'page[number]') * size), total: 45 }),
    settings: { 'paging.mode': 'page', 'paging.params.page': 'page[number]' },
  },
  {
    name: 'pages by pagination[page], as Strapi does',
    list: (request) => paginated(Number(parameter(request, 'pagination[page]') ?? 1)),
    settings: { 'paging.mode': 'page', 'paging.params.page': 'pagination[page]' },
  },
  {
    name: 'counts its pages from 0, as pageIndex',
    list: (request) => ({ data: page(numberIn(request, 'pageIndex') * size), total: 45 }),
    settings: { 'paging.mode': 'page', 'paging.params.page': 'pageIndex' },
  },
  {
    name: 'skips, as OData does',
    list: (request) => ({ value: page(numberIn(request, '$skip')) }),
    settings: { 'paging.mode': 'offset', 'paging.params.offset': '$skip' },
  },
  {
    name: 'pages by the last id',
    list: (request) => page(after(request, 'starting_after')),
    settings: { 'paging.mode': 'last-id', 'paging.params.after': 'starting_after' },
  },
  {
    name: 'names a continuation that nobody knows',
    list: (request) => {
      const at = numberIn(request, 'continuation');
      const continuation = at + size < 45 ? String(at + size) : '';
      return { players: page(at), meta: { continuation } };
    },
    settings: { 'paging.next': 'meta.continuation', 'paging.params.cursor': 'continuation' },
  },
  {
    name: 'takes a continuation under another name',
    list: (request) => {
      const at = numberIn(request, 'startingAfter');
      const continuation = at + size < 45 ? String(at + size) : '';
      return { players: page(at), meta: { continuation } };
    },
    settings: { 'paging.next': 'meta.continuation', 'paging.params.cursor': 'startingAfter' },
  },
  {
    name: 'takes its nextCursor under another name',
    list: (request) => {
      const at = numberIn(request, 'startAfter');
      return { players: page(at), nextCursor: at + size < 45 ? String(at + size) : null };
    },
    settings: { 'paging.params.cursor': 'startAfter' },
  },
  {
    name: 'takes its endCursor under another name',
    list: (request) => {
      const at = numberIn(request, 'page[after]');
      const endCursor = at + size < 45 ? String(at + size) : null;
      return { players: page(at), pageInfo: { endCursor, hasNextPage: endCursor !== null } };
    },
    settings: { 'paging.params.after': 'page[after]' },
  },
  {
    name: 'sends exactly twenty, which is all',
    list: () => ({ players: page(0) }),
    settings: { 'paging.mode': 'none' },
  },
  {
    name: 'sends a token that leads nowhere',
    list: () => ({ players: players.slice(0, 7), matchToken: 'abc' }),
    settings: { 'paging.next': 'none' },
  },
  {
    name: 'hides the list deeply beside another one',
    list: () => ({ answer: { content: { player_rows: players, seasons: [{ name: '2026' }] } } }),
    settings: { 'lists.players.path': 'answer.content.player_rows' },
  },
  {
    name: 'sends a map by id',
    list: () => ({ answer: Object.fromEntries(players.map((each) => [String(each['id']), each])) }),
    settings: { 'lists.players.path': 'answer' },
  },
  {
    name: 'calls the id otherwise',
    list: () => ({ players: players.map(({ id, ...rest }) => ({ _id: id, ...rest })) }),
    idName: '_id',
    settings: { 'ids.players': '_id' },
  },
  {
    name: 'calls the id as nobody does, and skips',
    list: (request) =>
      page(numberIn(request, 'skip')).map(({ id, ...rest }) => ({ memberRowId: id, ...rest })),
    idName: 'memberRowId',
    settings: {
      'ids.players': 'memberRowId',
      'paging.mode': 'offset',
      'paging.params.offset': 'skip',
    },
  },
  {
    name: 'shows a number as id and takes another field, as Strapi does',
    list: () => players.map(({ id, ...rest }, at) => ({ id: at + 1, documentId: id, ...rest })),
    idName: 'documentId',
    settings: { 'ids.players': 'documentId' },
  },
];

function serviceOf({ list, idName = 'id' }: Personality) {
  return recordingService((request): Reply => {
    const [, , resource, org, id] = new URL(request.url, 'http://x').pathname.split('/');
    if (request.method !== 'GET') return { status: 500, json: { error: 'unexpectedWrite' } };
    if (resource !== 'players') return { status: 200, json: [] };
    if (id === undefined) return { status: 200, json: list(request) };
    const found = players.find((each) => each['id'] === id && org === organization);
    if (!found) return { status: 404, json: { error: 'notFound' } };
    const { id: own, ...rest } = found;
    return { status: 200, json: { [idName]: own, ...rest } };
  });
}

describe('doctor --shapes --apply', () => {
  test.each(personalities)('a service that $name', async (personality) => {
    const service = await serviceOf(personality);
    const home = temporaryFolder();
    const options = { env: service.env, home };
    const survey = await inProcess('doctor --shapes --apply --yes --json', options);
    expect(survey.stderr).toContain('stored (defaults)');
    expect(survey.stdout.includes('as an object, one property per id')).toBe(
      personality.name === 'sends a map by id',
    );
    const stored = JSON.parse((await inProcess('config list --json', options)).stdout) as {
      key: string;
      value: string;
      origin: string;
    }[];
    const set = stored.filter(({ origin }) => origin.startsWith('defaults'));
    expect(Object.fromEntries(set.map(({ key, value }) => [key, value]))).toEqual(
      personality.settings,
    );

    const expected = survey.stdout.includes('7 records, all read') ? 7 : undefined;
    const list = await inProcess('players list -o ids', options);
    expect([list.code, list.stderr]).toEqual([0, '']);
    const ids = list.stdout.trim().split('\n');
    const all = /exactly twenty/.test(personality.name) ? 20 : 45;
    expect(ids).toHaveLength(/nowhere/.test(personality.name) ? 7 : (expected ?? all));
    const bulk = await inProcess('players update --search Player -F role=sub -n', options);
    expect(bulk.code).toBe(0);
    expect(service.requests.every(({ method }) => method === 'GET')).toBe(true);
  });
});

const applications = (from: number) =>
  players.slice(from, from + size).map((each) => ({ ...each, status: 'pending' }));
/** Sends twenty teams, which are all, and pages its applications. */
const serviceWith = (list: (request: Recorded) => unknown) =>
  recordingService((request): Reply => {
    const [, , resource] = new URL(request.url, 'http://x').pathname.split('/');
    if (resource === 'teams') return { status: 200, json: { teams: page(0) } };
    if (resource === 'tryout-applications') return { status: 200, json: list(request) };
    return { status: 200, json: [] };
  });

describe('settings hold for every list', () => {
  test.each([
    [
      'cursors, which are followed without a setting',
      'paging.mode none would cut the list of applications short',
      (request: Recorded) => {
        const from = numberIn(request, 'cursor');
        const next = from + size < 45 ? { nextCursor: String(from + size) } : {};
        return { applications: applications(from), ...next };
      },
    ],
    [
      'page numbers, which need a setting',
      'paging.mode none would cut the list of applications short',
      (request: Recorded) => ({
        applications: applications((Math.max(1, numberIn(request, 'page')) - 1) * size),
      }),
    ],
  ])('one that fits one list never cuts another: %s', async (_, words, list) => {
    const service = await serviceWith(list);
    const options = { env: service.env, home: temporaryFolder() };
    const survey = await inProcess('doctor --shapes --apply --yes', options);
    expect(survey.stdout).toContain(words);
    expect(survey.stdout).not.toContain('config set paging.mode none');
    const listed = await inProcess('tryouts list -o ids', options);
    expect(listed.stderr).not.toContain('incomplete');
    expect(listed.stdout.trim().split('\n')).toHaveLength(45);
    const teams = await inProcess('teams list -o ids', options);
    expect(teams.stderr).toContain('may be incomplete');
  });

  test('one set by hand does not hide that another list goes on', async () => {
    const service = await serviceWith(() => ({ applications: applications(0), nextCursor: 'x' }));
    const options = { env: service.env, home: temporaryFolder() };
    await inProcess('config set paging.mode none', options);
    const listed = await inProcess('tryouts list -o ids', options);
    expect(listed.stderr).toContain(
      'the service points to a next page, which paging.mode none does not follow',
    );
    const write = 'tryouts set-status --status pending --to rejected --yes';
    expect((await inProcess(write, options)).code).toBe(11);
  });

  test.each([
    ['paging.mode none', 'paging.mode'],
    ['paging.next meta.continuation', 'paging.next'],
  ])('one in force that cuts a list is replaced: %s', async (set, key) => {
    const service = await serviceWith((request) => {
      const from = numberIn(request, 'cursor');
      const next = from + size < 45 ? { nextCursor: String(from + size) } : {};
      return { applications: applications(from), ...next };
    });
    const options = { env: service.env, home: temporaryFolder() };
    await inProcess(`config set ${set}`, options);
    const before = await inProcess('tryouts list -o ids', options);
    expect(before.stderr).toContain(
      `the service points to a next page, which ${set} does not follow`,
    );
    expect(before.stderr).toContain(`rosterctl config set ${key} auto`);
    await inProcess('doctor --shapes --apply --yes', options);
    expect((await inProcess(`config get ${key}`, options)).stdout.trim()).toBe('auto');
    const listed = await inProcess('tryouts list -o ids', options);
    expect(listed.stderr).not.toContain('incomplete');
    expect(listed.stdout.trim().split('\n')).toHaveLength(45);
  });
});

test('without --apply it only says what to set', async () => {
  const [first] = personalities;
  if (!first) throw new Error('no personality');
  const service = await serviceOf(first);
  const home = temporaryFolder();
  const { stdout, code } = await rosterctl('doctor --shapes', { env: service.env, home });
  expect(code).toBe(0);
  expect(stdout).toContain('only 20 of 45 records were read');
  expect(stdout).toContain('rosterctl config set paging.mode page');
  const { stdout: mode } = await rosterctl('config get paging.mode', { env: service.env, home });
  expect(mode.trim()).toBe('auto');
});

test('pages that cannot be told apart without ids are never called the whole list', async () => {
  const rows = players.map(({ name }) => ({ name }));
  const service = await recordingService((request) => {
    const at = numberIn(request, 'skip');
    const isList = /^\/v1\/players\/[^/]*$/.test(request.url.split('?')[0] ?? '');
    return { status: isList ? 200 : 404, json: isList ? rows.slice(at, at + size) : {} };
  });
  const ran = await inProcess('doctor --shapes --apply --yes', { env: service.env });
  expect(ran.stdout).toContain('without ids, rosterctl cannot look for more pages');
  expect(ran.stdout).not.toContain('paging.mode none');
  expect(ran.stderr).toContain('Nothing to set.');
});

test('documents are known by the field that the other lists use', async () => {
  const rows = players
    .slice(0, 3)
    .map(({ id, ...rest }, at) => ({ id: at, objectKey: id, ...rest }));
  const service = await recordingService(({ url }) => {
    const [, , , org, id] = url.split('?')[0]?.split('/') ?? [];
    const found = rows.find(({ objectKey }) => objectKey === id);
    if (url.startsWith('/v1/documents')) return { status: 200, json: rows };
    if (org === undefined) return { status: 200, json: [] };
    if (id === undefined) return { status: 200, json: rows };
    return { status: found ? 200 : 404, json: found ?? {} };
  });
  const home = temporaryFolder();
  const at = { env: service.env, home };
  await inProcess('config set ids.teams objectKey', at);
  await inProcess('doctor --shapes --apply --yes', at);
  const { stdout } = await inProcess('config get ids.documents', at);
  expect(stdout.trim()).toBe('objectKey');
});

test('a total that no way leads to is named, and nothing is set', async () => {
  const service = await recordingService((request) => ({
    status: 200,
    json: request.url.includes('/players/') ? { players: page(0), total: 45 } : [],
  }));
  const home = temporaryFolder();
  const ran = await inProcess('doctor --shapes --apply --yes', { env: service.env, home });
  expect(ran.stderr).toContain('Nothing to set.');
  expect(ran.stdout).toContain('the service reports 45 records but sent 20');
  expect(ran.stdout).toContain('rosterctl config set paging.total none');
});

test('pages that no known parameter turns are named, and never called a list without pages', async () => {
  const service = await recordingService((request) => ({
    status: 200,
    json: request.url.includes('/players/') ? paginated(numberIn(request, 'seite') || 1) : [],
  }));
  const { stdout } = await inProcess('doctor --shapes --apply --yes', { env: service.env });
  expect(stdout).toContain('rosterctl config set paging.params.page NAME');
  expect(stdout).not.toContain('paging.mode none');
});

test('a number of pages in a header is never settled by calling the list one without pages', async () => {
  const service = await recordingService((request) => {
    const rows = page((Math.max(1, numberIn(request, 'seite')) - 1) * size);
    return request.url.includes('/players/')
      ? { status: 200, json: rows, headers: { 'X-Total-Pages': '3' } }
      : { status: 200, json: [] };
  });
  const at = { env: service.env, home: temporaryFolder() };
  const { stdout } = await inProcess('doctor --shapes --apply --yes', at);
  expect(stdout).toContain('the service reports 3 pages but sent 1');
  expect(stdout).toContain('rosterctl config set paging.params.page NAME');
  const list = await inProcess('players list -o ids', at);
  expect(list.stderr).toContain('may be incomplete');
  const settled = 'config set paging.mode none';
  expect(stdout).toContain(`rosterctl ${settled}`);
  await inProcess(settled, at);
  expect((await inProcess('players list -o ids', at)).stderr).toBe('');
});

test('an answer without a list is named, with the setting that says where it is', async () => {
  const service = await recordingService(() => ({ status: 200, json: { ok: true } }));
  const at = { env: service.env, home: temporaryFolder() };
  const ran = await inProcess('doctor --shapes --json', at);
  expect(ran.code).toBe(1);
  const checks = JSON.parse(ran.stdout) as { check: string }[];
  expect(checks.find(({ check }) => check === 'teams envelope')).toEqual({
    check: 'teams envelope',
    result: 'fail',
    detail: 'no list of teams was found in the answer; name its place',
    hint: 'rosterctl config set lists.teams.path PATH',
  });
});

test('a cursor that no known parameter takes is named, and nothing is set', async () => {
  const service = await recordingService(({ url }) => ({
    status: 200,
    json: url.startsWith('/v1/players') ? { players: page(0), nextCursor: 'more' } : [],
  }));
  const home = temporaryFolder();
  const at = { env: service.env, home };
  const ran = await inProcess('doctor --shapes --apply --yes --json', at);
  expect(ran.stderr).toContain('Nothing to set.');
  expect(ran.stdout).toContain('config set paging.params.cursor NAME');
  const list = await inProcess('players list -o ids', at);
  expect(list.stderr).toContain('The list of players may be incomplete');
});

test('a token that no known parameter takes, of a page as long as a usual limit, is named', async () => {
  const service = await recordingService((request) => {
    const at = numberIn(request, 'weiter');
    const more = at + size < 45 ? { continuation: String(at + size) } : {};
    const json = request.url.includes('/players/') ? { players: page(at), ...more } : [];
    return { status: 200, json };
  });
  const { stdout } = await inProcess('doctor --shapes --apply --yes', { env: service.env });
  expect(stdout).toContain('rosterctl config set paging.next continuation');
  expect(stdout).not.toContain('paging.params.page NAME');
});

test.each(['node', 'player'])('records within %s are looked into', async (wrapper) => {
  const rows = players.map((each, at) => ({
    [wrapper]: { ...each, email: `${at}@example.org` },
    cursor: String(at),
  }));
  const service = await recordingService(({ url }) => ({
    status: 200,
    json: url.includes('/players/') ? { edges: rows, pageInfo: { hasNextPage: false } } : [],
  }));
  const { stdout } = await inProcess('doctor --shapes --json', { env: service.env });
  const checks = JSON.parse(stdout) as { check: string; detail: string }[];
  const told = (name: string) =>
    checks.find(({ check }) => check === `players ${name}`)?.detail ?? '';
  expect(told('id')).toBe('id is text');
  expect(told('fields')).toBe('id: text, organizationId: text, name: text, email: text');
  expect(told('references')).toMatch(/^id:, email:, name: can name a record;/);
});

test('next pages that lead elsewhere are never called the whole list', async () => {
  const service = await recordingService(({ url }) => {
    const next = 'http://backend/v1/players/org_7?cursor=cD0y';
    const isPlayers = url.includes('/players/');
    return { status: 200, json: isPlayers ? { next, previous: null, results: page(0) } : [] };
  });
  const at = { env: service.env, home: temporaryFolder() };
  const { code, stdout } = await inProcess('doctor --shapes', at);
  expect(code).toBe(0);
  expect(stdout).toMatch(
    /^warn {2}players pages +the service points to a next page elsewhere \(http:\/\/backend\); the usual ways of paging find no more, so the operator of the service has to correct that$/m,
  );
  expect(stdout).not.toContain('config set paging');
  const list = await inProcess('players list -o ids', at);
  expect(list.stderr).toBe(
    'The list of players may be incomplete: the service points to a next page elsewhere (http://backend).\nTo find out how it pages: rosterctl doctor --shapes\n',
  );
});

test('says which references work, and the setting that makes another one work', async () => {
  const people = players.slice(0, 7).map((each, at) => ({ ...each, handle: `kite${at}#DEMO` }));
  const service = await recordingService(({ url }) => ({
    status: 200,
    json: url.endsWith('/p3') ? people[3] : url.includes('/players/') ? people : [],
  }));
  const options = { env: service.env, home: temporaryFolder() };
  const references = async () =>
    (await inProcess('doctor --shapes', options)).stdout.match(/players references +(.*)/)?.[1];
  expect(await references()).toBe(
    'id:, name: can name a record; no field for email:, discord:, tag: (rosterctl config set refs.players.email FIELD)',
  );
  await inProcess('config set refs.players.tag handle', options);
  expect(await references()).toBe(
    'id:, name:, tag: can name a record; no field for email:, discord: (rosterctl config set refs.players.email FIELD)',
  );
  const { stdout } = await inProcess('players get tag:kite3#DEMO --json', options);
  expect(JSON.parse(stdout)).toMatchObject({ handle: 'kite3#DEMO' });
});

test('--apply asks, and without a terminal needs --yes', async () => {
  const [first] = personalities;
  if (!first) throw new Error('no personality');
  const service = await serviceOf(first);
  const home = temporaryFolder();
  const ran = await inProcess('doctor --shapes --apply', { env: service.env, home });
  expect(ran.code).toBe(2);
  expect(ran.stderr).toContain('Set paging.mode = page (defaults)?');
  expect(ran.stderr).toContain('--yes');
});

test('--apply alone is a usage error', async () => {
  const { code, stderr } = await inProcess('doctor --apply', {});
  expect(code).toBe(2);
  expect(stderr).toContain('rosterctl doctor --shapes --apply');
});

test('plain doctor names a list that may be incomplete', async () => {
  const service = await recordingService((request) => ({
    status: 200,
    json: request.url.includes('/players/') ? page(0) : [],
  }));
  const { stdout } = await inProcess('doctor', { env: service.env });
  expect(stdout).toMatch(/warn {2}read players.*may be incomplete: exactly 20 records arrived/);
  expect(stdout).toContain('rosterctl doctor --shapes');
});
