import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { inProcess } from '../support/in-process.js';
import { errorOf, temporaryFolder } from '../support/run.js';
import { type Reply, recordingService, type Service, unknown } from '../support/service.js';
import { application } from './tryouts/service.js';

const user = '9000000000000100001';
const applications = [
  application('app_1', { name: 'Ann Vale', email: 'ann@example.org', discordUserId: user }),
  application('app_2', { name: 'A. Vale', email: 'ANN@example.org' }),
  application('app_3', { name: 'Ann Vale', email: 'other@example.org' }),
  application('app_4', { name: 'Vale', email: 'old@example.org', convertedPlayerId: 'player_1' }),
];
const players = [
  { id: 'player_1', name: 'Ann Vale', discordUserId: user },
  { id: 'player_2', name: 'Ben Kite', email: 'ben@example.org' },
];
const documents = [
  { id: 'doc_1', name: 'Contract Ann Vale.pdf' },
  { id: 'doc_2', name: 'Packing list.txt' },
];

/** A service with these people; a list or a document may be answered by something else. */
function club(instead: { readonly [word: string]: Reply } = {}): Promise<Service> {
  const lists: Record<string, unknown> = {
    'tryout-applications': applications,
    players,
    documents,
  };
  return recordingService(({ url }) => {
    const [, , resource = '', id = ''] = url.split(/[/?]/);
    return instead[id] ?? instead[resource] ?? { status: 200, json: lists[resource] ?? [] };
  });
}

const person = async (service: Service, line: string, home = temporaryFolder()) => {
  const ran = await inProcess(`person ${line}`, { env: service.env, home });
  const found = ran.stdout === '' ? {} : (JSON.parse(ran.stdout) as Record<string, unknown>);
  const ids = (field: string) => ((found[field] ?? []) as { id: string }[]).map(({ id }) => id);
  return { ...ran, found, ids };
};

test.each([
  'email:ann@example.org',
  `discord:${user}`,
  'app_2',
  'player_1',
  'email:old@example.org',
])('%s finds all records of one person, by e-mail, Discord user id and conversion', async (ref) => {
  const { code, ids, found } = await person(await club(), `${ref} --json`);
  expect([code, ids('applications'), ids('players')]).toEqual([
    0,
    ['app_1', 'app_2', 'app_4'],
    ['player_1'],
  ]);
  const links = found['links'] as { by: string }[];
  expect(links.map(({ by }) => by).toSorted()).toEqual([
    'convertedPlayerId',
    'discordUserId',
    'email',
  ]);
});

test('documents that mention the name are possible, and the end says what was not searched', async () => {
  const service = await club();
  const { found } = await person(service, 'app_1 --json');
  expect(found['possibleDocuments']).toEqual([documents[0]]);
  expect(String(found['notSearched'])).toMatch(/contents of files[^]*backups, runs and exports/);
  expect(service.requests.map(({ url }) => url).filter((url) => url.includes('doc_'))).toEqual([]);
});

test('a document whose tags mention the name is possible, and what is not looked through is named', async () => {
  const tagged = { id: 'doc_3', name: 'Scan 12.pdf', tags: ['medical', 'ANN VALE 2026'] };
  const labelled = { id: 'doc_4', name: 'Scan 13.pdf', tags: [{ label: 'Ann Vale' }] };
  const json = [...documents, tagged, labelled];
  const service = await club({ documents: { status: 200, json } });
  const { ids, found } = await person(service, 'app_1 --json');
  expect(ids('possibleDocuments')).toEqual(['doc_1', 'doc_3', 'doc_4']);
  expect(found['notSearched']).toContain(
    'teams, and the fields of documents other than name and tags',
  );
});

test('a short name is not looked for in documents, which hold it by chance', async () => {
  const json = [application('app_5', { name: 'Ann' }), application('app_6', { name: 'Anna' })];
  const service = await club({
    'tryout-applications': { status: 200, json },
    documents: { status: 200, json: [{ id: 'doc_5', name: 'Annals.pdf' }] },
  });
  expect((await person(service, 'app_5 --json')).found['possibleDocuments']).toEqual([]);
  expect((await person(service, 'app_6 --json')).ids('possibleDocuments')).toEqual(['doc_5']);
});

test('a Discord name is no link, because it may change hands', async () => {
  const json = ['5', '6'].map((id) => application(`app_${id}`, { discordUsername: 'kite' }));
  const service = await club({ 'tryout-applications': { status: 200, json } });
  expect((await person(service, 'app_5 --json')).ids('applications')).toEqual(['app_5']);
});

const kite = (id: string, more: object = {}) =>
  application(id, { discordUsername: 'kite', ...more });

async function callingKite(...json: readonly object[]) {
  return person(
    await club({ 'tryout-applications': { status: 200, json } }),
    'discord:Kite --json',
  );
}

test('a Discord name finds all who show it, but not users of different ids as one person', async () => {
  const other = { discordUserId: '900000000000000009' };
  const one = await callingKite(kite('app_5'), kite('app_6', other));
  expect([one.code, one.ids('applications')]).toEqual([0, ['app_5', 'app_6']]);
  const two = await callingKite(kite('app_5', { discordUserId: user }), kite('app_6', other));
  expect([two.code, two.stdout]).toEqual([11, '']);
  expect(errorOf(two)).toMatchObject({ message: expect.stringContaining('matches 2 people') });
});

test('a name is no link: two people of one name are refused, with the candidates', async () => {
  const { code, stderr } = await person(await club(), "'name:Ann Vale' --json");
  expect(code).toBe(11);
  const { error } = JSON.parse(stderr.trimEnd().split('\n').at(-1) ?? '') as {
    error: { candidates: { id: string }[] };
  };
  expect(error.candidates.map(({ id }) => id).toSorted()).toEqual([
    'app_1',
    'app_2',
    'app_3',
    'app_4',
    'player_1',
  ]);
});

test('nobody is exit 5, and a list that may be incomplete is exit 11', async () => {
  expect((await person(await club(), 'email:none@example.org --json')).code).toBe(5);
  const doubtful = { status: 200, json: { players, total: 90 } };
  expect((await person(await club({ players: doubtful }), 'app_1 --json')).code).toBe(11);
});

test('a forbidden list is named, and the answer is no success', async () => {
  const forbidden = { status: 403, json: { error: 'forbidden' } };
  const { code, found, ids } = await person(await club({ players: forbidden }), 'app_1 --json');
  expect([code, ids('applications')]).toEqual([7, ['app_1', 'app_2']]);
  expect(String(found['notSearched'])).toContain('players (this key cannot list them)');
});

test('a list that the service does not have is named too', async () => {
  const ran = await person(await club({ documents: unknown }), 'app_1 --json');
  const { code, found, ids } = ran;
  const known = 'Other lists were read, so the service does not have this one.';
  expect(errorOf(ran)['hint']).toBe(known);
  expect([code, ids('applications')]).toEqual([5, ['app_1', 'app_2', 'app_4']]);
  expect(String(found['notSearched'])).toContain('documents (this service has no list of them)');
  const elsewhere = await person(await club({ players: unknown }), 'player_9 --json');
  expect([elsewhere.found, errorOf(elsewhere)['hint']]).toEqual([{}, known]);
  const none = { players: unknown, documents: unknown, 'tryout-applications': unknown };
  const nowhere = await person(await club(none), 'player_9 --json');
  expect(errorOf(nowhere)['hint']).toContain('Are the base URL and the organization id right?');
});

test('who may be in a forbidden list is not said to be unknown', async () => {
  const forbidden = { status: 403, json: { error: 'forbidden' } };
  const refused = await person(await club({ players: forbidden }), 'player_9 --json');
  expect([refused.code, refused.stdout]).toEqual([7, '']);
  expect(refused.stderr).toContain('The service refused to list the players');
});

test('a folder gets person.json, private, and is not written twice', async () => {
  const service = await club();
  const home = temporaryFolder();
  const folder = join(home, 'ann');
  await person(service, `app_1 --out ${folder} -n --json`, home);
  expect(existsSync(folder)).toBe(false);
  expect((await person(service, `app_1 --out ${folder} --json`, home)).code).toBe(0);
  const file = join(folder, 'person.json');
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ schema: 1, reference: 'app_1' });
  expect((await person(service, `app_1 --out ${folder} --json`, home)).code).toBe(11);
  expect((await person(service, 'app_1 --with-document doc_1 --json', home)).code).toBe(2);
});

test('a folder that cannot be created is an error with the flag to change', async () => {
  const service = await club();
  const home = temporaryFolder();
  const file = join(home, 'ann');
  writeFileSync(file, '');
  for (const folder of [file, join(file, 'below')]) {
    const { code, stderr } = await person(service, `app_1 --out ${folder}`, home);
    expect([code, stderr]).toEqual([1, expect.stringContaining('cannot be created: ')]);
    expect(stderr).toContain('Name another one with --out.');
  }
});

test('a document to fetch that is not there is named, not the person', async () => {
  const service = await club({ doc_9: { status: 404, json: { error: 'notFound' } } });
  const home = temporaryFolder();
  const folder = join(home, 'ann');
  const ran = await person(service, `app_1 --out ${folder} --with-document doc_9`, home);
  expect([ran.code, ran.stdout]).toEqual([5, '']);
  expect(ran.stderr).toContain(
    `Document doc_9 was not found, so ${join(folder, 'person.json')} was not written.`,
  );
});

const textFile = (text: string): Reply => ({
  status: 200,
  text,
  headers: { 'content-type': 'text/plain' },
});

test('documents of one name each get a file, and one named twice is fetched once', async () => {
  const same = { name: 'Contract.txt', contentType: 'text/plain' };
  const service = await club({
    documents: {
      status: 200,
      json: [
        { id: 'doc_1', ...same },
        { id: 'doc_2', ...same },
      ],
    },
    doc_1: textFile('one'),
    doc_2: textFile('two'),
  });
  const home = temporaryFolder();
  const folder = join(home, 'ann');
  const both = `app_1 --out ${folder} --with-document doc_1 --with-document doc_2 --with-document doc_1`;
  const { code, found } = await person(service, `${both} --json`, home);
  const [one, two] = ['doc_1', 'doc_2'].map((id) => join(folder, `Contract-${id}.txt`));
  expect([code, found['files']]).toEqual([0, [one, two, join(folder, 'person.json')]]);
  expect([one, two].map((path = '') => readFileSync(path, 'utf8'))).toEqual(['one', 'two']);
});

test('a file that is in the way is found before a document is fetched', async () => {
  const named = [
    { id: 'doc_1', name: 'a.pdf' },
    { id: 'doc_2', name: 'b.pdf' },
  ];
  const service = await club({ documents: { status: 200, json: named } });
  const home = temporaryFolder();
  writeFileSync(join(home, 'b.pdf'), '');
  const line = `app_1 --out ${home} --with-document doc_1 --with-document doc_2`;
  const { code, stderr } = await person(service, line, home);
  expect(code).toBe(11);
  expect(stderr).toContain(`${join(home, 'b.pdf')} already exists; nothing was written.`);
  expect(stderr).toContain('Choose another folder with --out.');
  expect(service.requests.filter(({ url }) => url.includes('doc_'))).toEqual([]);
});

test('a file in the way of a document that the store names is refused with a way that there is', async () => {
  const service = await club({
    documents: { status: 200, json: [{ id: 'doc_1' }] },
    doc_1: textFile('one'),
  });
  const home = temporaryFolder();
  const file = join(home, 'document-doc_1.txt');
  writeFileSync(file, '');
  const { code, stderr } = await person(service, `app_1 --out ${home} --with-document doc_1`, home);
  expect(code).toBe(11);
  expect(stderr).toContain('Choose another folder with --out.');
  expect(stderr).not.toContain('--overwrite');
});

test('-o ids prints the applications and the players of one person', async () => {
  const service = await club();
  const home = temporaryFolder();
  const ran = await inProcess('person app_1 -o ids', { env: service.env, home });
  expect(ran).toMatchObject({ code: 0, stdout: 'app_1\napp_2\napp_4\nplayer_1\n' });
});

test('an unknown field is refused, unless files were written', async () => {
  const service = await club();
  const home = temporaryFolder();
  const read = await person(service, 'app_1 --fields nope --json', home);
  expect([read.code, read.stdout]).toEqual([2, '']);
  expect(read.stderr).toContain('Unknown field');
  const folder = join(home, 'ann');
  const written = await person(service, `app_1 --fields nope --out ${folder} --json`, home);
  expect(written.code).toBe(0);
  expect(existsSync(join(folder, 'person.json'))).toBe(true);
});

test('a person reads every field by its label, also within a game; questions stay as they were asked', async () => {
  const game = { id: 'tag_1', game: 'Go', gamerTag: 'ann', createdAt: '2026-03-01T10:00:00Z' };
  const formResponses = { main_role: 'Mid', availability: { weekDays: 'mon' } };
  const ann = application('app_1', { gamerTags: [game] as never, formResponses });
  const service = await recordingService(({ url }) => ({
    status: 200,
    json: url.includes('tryout') ? [ann] : [],
  }));
  const env = { ...service.env, ROSTERCTL_FORCE_TTY: '80' };
  const { stdout } = await inProcess('person app_1', { env, home: temporaryFolder() });
  expect(stdout).toMatch(/\n {2}- Id +tag_1\n {4}Game +Go\n {4}Gamer tag +ann\n {4}Created +1 Mar/);
  expect(stdout).toMatch(/\n {2}main_role +Mid\n {2}availability\n {4}weekDays +mon\n/);
});
