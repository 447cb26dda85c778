import { describe, expect, test } from 'vitest';
import { inProcess } from '../support/in-process.js';
import { errorOf, temporaryFolder } from '../support/run.js';
import { organization, recordingService } from '../support/service.js';

const home = temporaryFolder();

/** A service whose lists hold these records, and which knows two teams. */
async function service(lists: Record<string, readonly object[]>) {
  const teams: Record<string, object> = {
    3: { id: 3, name: 'Foxes' },
    team_1: { id: 'team_1', name: 'Foxes' },
    7: { id: 7, name: 'Owls' },
    8: { id: 8, name: '\u00c9toile' },
  };
  return recordingService(({ url }) => {
    const [, , resource = '', id = '', team = ''] = (url.split('?')[0] ?? '').split('/');
    if (team === 'secret') return { status: 403, json: { error: 'forbidden' } };
    if (resource === 'teams' && teams[team]) return { status: 200, json: teams[team] };
    const list = lists[resource];
    return list && (id === organization || id === '')
      ? { status: 200, json: { [resource]: list } }
      : { status: 404, json: { error: 'notFound' } };
  });
}

async function run(line: string, lists: Record<string, readonly object[]>) {
  const { env, requests } = await service(lists);
  const ran = await inProcess(line, { env, home });
  return { ...ran, lines: requests.map(({ method, url }) => `${method} ${url}`) };
}

const named = (records: readonly object[]) =>
  records.map((record, index) => ({ id: `id_${index + 1}`, name: `N ${index + 1}`, ...record }));

const ofTeam = async (team: string, players: readonly object[]) => {
  const ran = await run(`players list --team ${team} -o ids`, { players: named(players) });
  return ran.code === 0 ? ran.stdout.trim().split('\n').join(' ') : errorOf(ran);
};

const listDocuments = (flags: string, documents: readonly object[]) =>
  run(`docs list ${flags} --json --fields id`, { documents: named(documents) });

const application = (fields: object) => ({
  organizationId: organization,
  status: 'pending',
  email: 'a@example.org',
  formResponses: {},
  gamerTags: [],
  submittedAt: '2026-11-01T10:00:00Z',
  ...fields,
});
const listTryouts = (flags: string, records: readonly object[]) =>
  run(`tryouts list ${flags} --json --fields id`, {
    'tryout-applications': named(records.map(application)),
  });

describe('--team', () => {
  test.each<[string, string, readonly object[]]>([
    ['a numeric id', '3', [{ teamId: 3 }, { teamId: 33 }, { teamId: null }]],
    ['a list of numeric ids', '3', [{ teamIds: [1, 3] }, { teamIds: [33] }, { teamIds: [] }]],
    ['a team with a numeric id', '3', [{ team: { id: 3, name: 'Foxes' } }, { team: { id: 4 } }]],
    ['teams with numeric ids', '3', [{ teams: [{ id: 3 }] }, { teams: [{ id: 33 }] }]],
    ['a text', 'team_1', [{ teamId: 'team_1' }, { teamId: 'team_10' }]],
    ['another spelling', 'team_1', [{ team_id: 'team_1' }, { team_id: null }]],
    ['an id of another name', 'team_1', [{ team: { teamId: 'team_1' } }, { team: null }]],
    ['an id with an underscore', 'team_1', [{ teams: [{ _id: 'team_1' }] }, { teams: [] }]],
    ['ids with commas', '3', [{ teamIds: '1, 3' }, { teamIds: '33' }, { teamIds: '' }]],
    ['a name, where there is no id', 'Foxes', [{ team: 'Foxes' }, { team: 'Foxes B' }]],
    ['names, where there is no id', 'Foxes', [{ teams: [{ name: 'Foxes' }] }, { teams: [] }]],
    [
      'the id and not the name',
      '3',
      [{ team: { id: 3, name: '4' } }, { team: { id: 4, name: '3' } }],
    ],
  ])('finds the players by %s', async (_, team, players) => {
    expect(await ofTeam(team, players)).toBe('id_1');
  });

  test('asks for no team while it finds players', async () => {
    const ran = await run('players list --team 3 -o ids', { players: named([{ teamId: 3 }]) });
    expect(ran.lines).toEqual([`GET /v1/players/${organization}`]);
  });

  test.each<[string, readonly object[]]>([
    ['nobody is in', [{ teamId: 3 }]],
    ['nobody can be in, for there are no players', []],
    ['nobody is in, while nobody has any team', [{ teams: [] }, { teams: null }]],
  ])('a team that %s is an empty list', async (_, players) => {
    const ran = await run('players list --team 7 --json', { players: named(players) });
    expect([ran.code, ran.stdout]).toEqual([0, '[]\n']);
  });

  test.each<[string, readonly object[]]>([
    ['some players', [{ teamId: 3 }]],
    ['no players', []],
  ])('a team that does not exist is not found, with %s', async (_, players) => {
    const ran = await run('players list --team 9 --json', { players: named(players) });
    expect([ran.code, ran.stdout]).toEqual([5, '']);
    expect(errorOf(ran)).toMatchObject({ code: 'notFound', message: 'No team has the id 9.' });
  });

  test('a team that may not be read is no empty list', async () => {
    const ran = await run('players list --team secret --json', { players: named([{ teamId: 3 }]) });
    expect([ran.code, ran.stdout]).toEqual([7, '']);
  });

  test('the name of a team that has an id is not found, and the id is named', async () => {
    const players = named([{ teams: [{ id: 3, name: 'Foxes' }] }]);
    const ran = await run('players list --team Foxes --json', { players });
    expect(ran.code).toBe(5);
    expect(errorOf(ran)).toMatchObject({ hint: expect.stringContaining('--team 3') });
  });

  test.each<[object, string]>([
    [{ team: 'Foxes' }, '--where team=Foxes'],
    [{ teams: [{ name: 'Foxes' }] }, '--where teams.name=Foxes'],
  ])('the id of a team is refused where players hold %j', async (player, hint) => {
    const players = named([player]);
    const ran = await run('players list --team team_1 --json', { players });
    expect([ran.code, ran.stdout]).toEqual([2, '']);
    expect(errorOf(ran)).toMatchObject({ hint: expect.stringContaining(hint) });
    const instead = await run(`players list ${hint} -o ids`, { players });
    expect(instead.stdout).toBe('id_1\n');
  });

  test('the id of a team is refused where players hold its name in another Unicode form', async () => {
    const players = named([{ team: 'E\u0301toile' }]);
    const ran = await run('players list --team 8 --json', { players });
    expect([ran.code, ran.stdout]).toEqual([2, '']);
    expect(errorOf(ran)).toMatchObject({ hint: expect.stringContaining("'team=E\u0301toile'") });
  });

  test.each<[object, string, string]>([
    [{ team: { code: 3 } }, '"team": it holds objects with code', "--where 'team.code=VALUE'"],
    [{ teams: [{ ref: { id: 3 } }] }, '"teams": it holds lists of objects with ref', 'teams.ref='],
    [{ team: true }, '"team": it holds true or false', "--where 'team=VALUE'"],
  ])('a field that holds %j is refused', async (player, message, hint) => {
    const ran = await run('players list --team 3 --json', {
      players: named([player, { team: null }]),
    });
    expect([ran.code, ran.stdout]).toEqual([2, '']);
    expect(errorOf(ran)).toMatchObject({
      message: expect.stringContaining(`--team cannot read ${message}`),
      hint: expect.stringContaining(hint),
    });
  });

  test('a selection of no team sends nothing', async () => {
    const players = named([{ teamId: 3 }]);
    const ran = await run('players update --team 9 -F role=Sub --yes --json', { players });
    expect(ran.code).toBe(5);
    expect(ran.lines.every((line) => line.startsWith('GET '))).toBe(true);
  });
});

describe('the filters of documents', () => {
  test.each<[string, readonly object[]]>([
    ['texts', [{ tags: ['contract', '2026'] }, { tags: ['contracts'] }, { tags: [] }]],
    ['objects with a name', [{ tags: [{ name: 'contract' }] }, { tags: [{ name: 'x' }] }]],
    ['objects with id and name', [{ tags: [{ id: 4, name: 'contract' }] }, { tags: [{ id: 5 }] }]],
    ['objects with a label', [{ tags: [{ label: 'contract' }] }, { tags: [] }]],
    ['objects with an id', [{ tags: [{ id: 'contract' }] }, { tags: null }]],
    ['a text with commas', [{ tags: 'contract, 2026' }, { tags: 'contracts' }, { tags: '' }]],
    ['a text with semicolons', [{ tags: '2026;contract' }, { tags: 'x' }]],
  ])('--tag finds %s', async (_, documents) => {
    const ran = await listDocuments('--tag contract', documents);
    expect(JSON.parse(ran.stdout)).toEqual([{ id: 'id_1' }]);
  });

  test('--tag finds numbers by their text', async () => {
    const ran = await listDocuments('--tag 2026', [{ tags: [2026, 1] }, { tags: [20_260] }]);
    expect(JSON.parse(ran.stdout)).toEqual([{ id: 'id_1' }]);
  });

  test.each<[string, readonly object[]]>([
    ['--tag contract', [{ tags: [] }, { tags: null }]],
    ['--tag contract', []],
    ['--type pdf', [{ contentType: null }]],
    ['--type pdf', [{ contentType: 'text/plain' }]],
    ['--since 2026-01-01', [{ createdAt: null }]],
  ])('%s among %j is an empty list', async (flags, documents) => {
    const ran = await listDocuments(flags, documents);
    expect([ran.code, ran.stdout]).toEqual([0, '[]\n']);
  });

  test.each<[string, object, string]>([
    ['--tag contract', { tags: { contract: true } }, '"tags": it holds objects with contract'],
    ['--tag contract', { tags: [{ de: 'Vertrag' }] }, "--where 'tags.de=VALUE'"],
    ['--tag contract', { tags: [['contract']] }, 'lists of lists of text'],
    [
      '--type pdf',
      { contentType: { mime: 'application/pdf' } },
      "--where 'contentType.mime=VALUE'",
    ],
    ['--type pdf', { mimeType: 'application/pdf' }, 'mimeType'],
    [
      '--since 7d',
      { createdAt: 1_795_262_700 },
      '--since cannot read "createdAt": it holds numbers',
    ],
    ['--since 7d', { createdAt: '21.11.2026' }, '--since cannot read "createdAt": it holds text'],
  ])('%s beside %j is refused', async (flags, document, text) => {
    const ran = await listDocuments(flags, [document]);
    expect([ran.code, ran.stdout]).toEqual([2, '']);
    expect(JSON.stringify(errorOf(ran)).replaceAll('\\"', '"')).toContain(text);
  });

  test('--type ignores case and parameters of what the service says', async () => {
    const ran = await listDocuments('--type pdf', [
      { contentType: 'Application/PDF; charset=binary' },
      { contentType: 'application/pdfx' },
    ]);
    expect(JSON.parse(ran.stdout)).toEqual([{ id: 'id_1' }]);
  });
});

describe('the filters of applications', () => {
  test.each<[string, readonly object[]]>([
    ['a list', [{ gamerTags: [{ game: 'Valorant', gamerTag: 'N' }] }, {}]],
    ['a map of texts', [{ gamerTags: { valorant: 'N#1' } }, { gamerTags: { lol: 'valorant' } }]],
    ['a map of objects', [{ gamerTags: { valorant: { gamerTag: 'N' } } }, { gamerTags: {} }]],
    ['a map by number', [{ gamerTags: { 0: { game: 'Valorant' } } }, { gamerTags: null }]],
    ['a single tag', [{ gamerTags: { id: 'g', game: 'Valorant' } }, {}]],
  ])('--game finds the games of %s', async (_, records) => {
    const ran = await listTryouts('--game valorant', records);
    expect(JSON.parse(ran.stdout)).toEqual([{ id: 'id_1' }]);
  });

  test('--game is an empty list where nobody has a gamer tag', async () => {
    expect((await listTryouts('--game valorant', [{}, {}])).stdout).toBe('[]\n');
  });

  test.each<[string, object, string]>([
    ['--game valorant', { gamerTags: ['N#1'] }, "--where 'gamerTags~VALUE'"],
    ['--game valorant', { gamerTags: [{ title: 'Valorant' }] }, "--where 'gamerTags.title=VALUE'"],
    ['--game valorant', { gamerTags: undefined }, '--game needs the field gamerTags'],
    ['--status pending', { status: { name: 'pending' } }, "--where 'status.name=VALUE'"],
    ['--not-status accepted', { status: 3 }, '--not-status cannot read "status": it holds numbers'],
    ['--since 7d', { submittedAt: 1_795_262_700 }, '--since cannot read "submittedAt"'],
    ['--until 2027-01-01', { submittedAt: 1_795_262_700 }, '--until cannot read "submittedAt"'],
    ['--older-than 1d', { submittedAt: true }, '--older-than cannot read "submittedAt"'],
    ['--updated-since 7d', { updatedAt: ['x'] }, '--updated-since cannot read "updatedAt"'],
  ])('%s beside %j is refused', async (flags, record, text) => {
    const ran = await listTryouts(flags, [record]);
    expect([ran.code, ran.stdout]).toEqual([2, '']);
    expect(JSON.stringify(errorOf(ran)).replaceAll('\\"', '"')).toContain(text);
  });

  test('an application with a numeric player is converted, one with listed notes has notes', async () => {
    const records = [{ convertedPlayerId: 12, internalNotes: [{ text: 'good' }] }, {}];
    const ids = async (flags: string) => JSON.parse((await listTryouts(flags, records)).stdout);
    expect(await ids('--converted')).toEqual([{ id: 'id_1' }]);
    expect(await ids('--unconverted')).toEqual([{ id: 'id_2' }]);
    expect(await ids('--with-notes')).toEqual([{ id: 'id_1' }]);
    expect(await ids('--without-notes')).toEqual([{ id: 'id_2' }]);
  });

  test('a selection by a status that cannot be read changes nothing', async () => {
    const ran = await run('tryouts set-status --to rejected --not-status accepted --yes --json', {
      'tryout-applications': named([application({ status: { name: 'accepted' } })]),
    });
    expect(ran.code).toBe(2);
    expect(ran.lines.every((line) => line.startsWith('GET '))).toBe(true);
  });
});

test.each([
  ['jerseyNumber=7', 'id_1'],
  ['jerseyNumber=7.0', 'id_1'],
  ['jerseyNumber>=10', 'id_2'],
  ['stats.rank=3', 'id_2'],
])('--where %s compares numbers by value', async (condition, id) => {
  const players = named([{ jerseyNumber: 7 }, { jerseyNumber: 10, stats: { rank: 3 } }]);
  const ran = await run(`players list --where '${condition}' -o ids`, { players });
  expect(ran.stdout).toBe(`${id}\n`);
});
