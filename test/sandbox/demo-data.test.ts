import { execFileSync, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { TryoutApplication, TryoutStatus } from '../../src/api/schemas.js';
import { demoDocuments, readPaper } from '../../src/sandbox/demo/documents.js';
import { seedTables } from '../../src/sandbox/demo/tables.js';
import { scratch, start } from './client.js';

const seed = { size: 'small', at: start.toISOString() } as const;
const tables = seedTables(seed);
const records = (resource: keyof typeof tables.records) => [...tables.records[resource].values()];
const applications = records('tryouts');
const players = records('players');

function countBy<T>(values: readonly T[], key: (value: T) => unknown) {
  const counts: Record<string, number> = {};
  for (const value of values) counts[String(key(value))] = (counts[String(key(value))] ?? 0) + 1;
  return counts;
}

const shape = (json: string) => json.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'time');

const unlisted = (each: { readonly [key: string]: unknown }) =>
  !TryoutStatus.safeParse(each['status']).success;

/** The pairs of one form that agree in something. */
const pairs = (key: (each: (typeof applications)[number]) => unknown) =>
  applications.flatMap((one, at) =>
    applications
      .slice(at + 1)
      .filter((two) => one['formId'] === two['formId'] && key(one) === key(two))
      .map((two) => [one.id, two.id, one['status'], two['status']]),
  );

test('the seed is the same on every machine, but for its times', () => {
  expect(seedTables(seed)).toEqual(tables);
  const later = seedTables({ ...seed, at: '2027-01-01T00:00:00.000Z' });
  expect(shape(JSON.stringify([...later.records.tryouts]))).toBe(
    shape(JSON.stringify([...tables.records.tryouts])),
  );
  expect(later.records.tryouts.get('app_0001')).not.toEqual(tables.records.tryouts.get('app_0001'));
});

test('there are six teams: one without players, one without a game', () => {
  expect(records('teams')).toHaveLength(6);
  const manned = new Set(players.flatMap(({ teamIds }) => teamIds as string[]));
  expect(records('teams').filter(({ id }) => !manned.has(id))).toHaveLength(1);
  expect(records('teams').filter((team) => team['game'] === undefined)).toHaveLength(1);
});

test('there are 31 players: 4 converted, 2 without a team, 1 in two, 3 staff', () => {
  expect(players).toHaveLength(31);
  expect(countBy(players, ({ teamIds }) => (teamIds as string[]).length)).toEqual({
    0: 2,
    1: 28,
    2: 1,
  });
  expect(countBy(players, ({ kind }) => kind)).toEqual({ player: 28, staff: 3 });
  const converted = applications.map((each) => each['convertedPlayerId']).filter(Boolean);
  expect(converted).toEqual(['player_0028', 'player_0029', 'player_0030', 'player_0031']);
});

test('there are 64 applications in the counts that were planned', () => {
  expect(applications).toHaveLength(64);
  expect(countBy(applications, ({ status }) => status)).toEqual({
    pending: 22,
    reviewing: 14,
    shortlisted: 9,
    accepted: 6,
    rejected: 9,
    withdrawn: 4,
  });
  const accepted = applications.filter(({ status }) => status === 'accepted');
  expect(accepted.filter((each) => each['convertedPlayerId'] !== null)).toHaveLength(4);
  expect(applications.filter((each) => each['internalNotes'] !== null)).toHaveLength(9);
  expect(applications.filter((each) => typeof each['discordUserId'] !== 'string')).toHaveLength(11);
  expect(countBy(applications, ({ gamerTags }) => (gamerTags as unknown[]).length)).toEqual({
    0: 16,
    1: 16,
    2: 16,
    3: 16,
  });
  expect(Object.keys(countBy(applications, ({ formId }) => formId))).toHaveLength(3);
  for (const each of applications) expect(TryoutApplication.safeParse(each).error).toBeUndefined();
});

test('they were submitted over eight weeks, and no time of any record is in the future', () => {
  const ages = applications.map(
    (each) => (start.getTime() - Date.parse(String(each['submittedAt']))) / 86_400_000,
  );
  expect(Math.max(...ages)).toBeGreaterThan(54);
  expect(Math.max(...ages)).toBeLessThan(56);
  const all = JSON.stringify([
    ...records('teams'),
    ...players,
    ...records('documents'),
    ...applications,
  ]);
  const times = all.match(/\d{4}-\d\d-\d\dT[\d:.]+Z/g) ?? [];
  expect(times.length).toBeGreaterThan(300);
  expect(times.filter((time) => Date.parse(time) > start.getTime())).toEqual([]);
});

test('names fit their addresses', () => {
  const other = [...applications, ...players].filter(({ name, email }) => {
    const plain = String(name).normalize('NFD').toLowerCase();
    const [local = ''] = String(email).toLowerCase().split('@');
    const [first = '', last = ''] = local.replace(/\d+$/, '').split('.');
    return !plain.includes(first) || !plain.replaceAll(/[^a-z-]/g, '').includes(last);
  });
  // Neither Japanese nor Arabic names are written in Latin letters.
  expect(other.map(({ email }) => email)).toEqual([
    expect.stringMatching(/^sora\.hoshimi@/),
    expect.stringMatching(/^nour\.alsahili@/),
  ]);
});

test('one pair of a form shares an e-mail, one a Discord user, and one side of each is closed', () => {
  expect(pairs(({ email }) => String(email).toLowerCase())).toEqual([
    ['app_0002', 'app_0041', 'rejected', 'reviewing'],
  ]);
  expect(pairs(({ discordUserId }) => discordUserId ?? Math.random())).toEqual([
    ['app_0011', 'app_0050', 'withdrawn', 'reviewing'],
  ]);
});

test('nobody can be reached or met: addresses, chat ids and Steam ids', () => {
  for (const each of [...applications, ...players]) {
    expect(each['email']).toMatch(/@example\.(com|org|net)$/i);
    if (typeof each['discordUserId'] === 'string')
      expect(each['discordUserId']).toMatch(/^9000000000000\d{6}$/);
    for (const { gamerTag } of each['gamerTags'] as { gamerTag: string }[])
      expect(gamerTag).toMatch(/#DEMO$/);
  }
  const steam = JSON.stringify(applications).match(/7656\d+/g) ?? [];
  expect(steam.length).toBeGreaterThan(10);
  for (const id of steam) expect(BigInt(id)).toBeLessThan(76561197960265728n);
  const hosts = JSON.stringify([...tables.records.teams, ...tables.records.tryouts]).match(
    /https?:\/\/[^/"]+/g,
  );
  expect(new Set(hosts)).toEqual(new Set(['https://example.com', 'https://example.org']));
});

test('the awkward values are there', () => {
  const names = applications.map((each) => String(each['name']));
  const some = (pattern: RegExp) => names.some((name) => pattern.test(name));
  expect(some(/[\u3040-\u30ff]/)).toBe(true);
  expect(some(/\u0308/)).toBe(true);
  expect(some(/[\u0600-\u06ff]/)).toBe(true);
  expect(some(/^=/)).toBe(true);
  expect(some(/'.*,/)).toBe(true);
  expect(some(/\u202e/)).toBe(true);
  expect(names.map((name) => Array.from(name).length)).toContain(60);
  const answers = applications.flatMap((each) => Object.values(each['formResponses'] as object));
  expect(answers).toContain('');
  expect(answers).toContain(null);
  expect(answers.some((answer) => String(answer).includes('\u001b[31m red\u001b[0m\n'))).toBe(true);
  expect(answers.some((answer) => String(answer).length === 1500)).toBe(true);
  expect(JSON.stringify(applications)).toMatch(/🦊#DEMO/);
  expect(applications.some((each) => each['updatedAt'] === each['createdAt'])).toBe(true);
  for (const resource of ['teams', 'players', 'documents', 'tryouts'] as const)
    for (const record of records(resource)) expect(record['legacyRef']).toBeTypeOf('string');
});

test('there are 14 documents, one of them without a tag', () => {
  expect(records('documents')).toHaveLength(14);
  expect(
    records('documents').filter((each) => (each['tags'] as string[]).length === 0),
  ).toHaveLength(1);
  const types = new Set(records('documents').map((each) => each['contentType']));
  expect(types.size).toBe(10);
});

test('every status is one that the contract names', () => {
  expect(applications.filter(unlisted)).toEqual([]);
});

test('the large seed has 1,200 applications, begins like the small one and repeats no identity', () => {
  const large = [...seedTables({ ...seed, size: 'large' }).records.tryouts.values()];
  expect(large).toHaveLength(1200);
  expect(large.slice(0, 64)).toEqual(applications);
  expect(new Set(large.map((each) => String(each['email']).toLowerCase())).size).toBe(1199);
  expect(large.at(-1)?.id).toBe('app_1200');
});

test('the file command knows every demo file', ({ skip }) => {
  skip(
    spawnSync('file', ['--version']).error !== undefined,
    'file is not installed (apt-get install file)',
  );
  const dir = scratch();
  const kinds = demoDocuments.map((document, at) => {
    const path = join(dir, String(at));
    writeFileSync(path, readPaper(document));
    return execFileSync('file', ['--brief', '--mime-type', path], { encoding: 'utf8' }).trim();
  });
  for (const [at, { contentType, name }] of demoDocuments.entries()) {
    // Compound files are told apart by their streams, which not every version looks into.
    const allowed = /\.(doc|xls)$/.test(name)
      ? [contentType, 'application/CDFV2', 'application/x-ole-storage']
      : [contentType, 'application/zip'];
    expect(allowed).toContain(kinds[at]);
  }
});
