import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  completionCacheFile,
  pairsOf,
  recall,
  rememberRecords,
} from '../../src/config/completion-cache.js';
import { type Paths, resolvePaths } from '../../src/config/paths.js';
import type { JsonObject } from '../../src/data/json.js';
import type { ResourceName } from '../../src/data/resources.js';
import { temporaryFolder } from '../support/run.js';

const place = { profile: 'work', baseUrl: 'https://api.example.com/v1', organizationId: 'org_1' };
const owner = process.getuid?.();

function freshPaths(): Paths {
  return resolvePaths({
    env: { HOME: temporaryFolder() },
    platform: process.platform,
    uid: owner,
  });
}

function fileOf(paths: Paths, at = place): string {
  const file = completionCacheFile(paths, at);
  if (file === undefined) throw new Error('no cache folder');
  return file;
}

async function remember(
  paths: Paths,
  records: readonly JsonObject[],
  {
    whole = true,
    at = place,
    resource = 'tryouts',
  }: { whole?: boolean; at?: typeof place; resource?: ResourceName } = {},
): Promise<void> {
  const memory = rememberRecords(paths, at, resource);
  for (const record of records) memory.observe(record);
  await memory.write({ whole });
}

function remembered(paths: Paths, resource = 'tryouts', at = place) {
  const { ids, fields } = recall(fileOf(paths, at), resource, owner);
  return { ids: [...pairsOf(ids)], fields };
}

describe('the completion cache', () => {
  test('keeps ids, names and the fields that were sent', async () => {
    const paths = freshPaths();
    await remember(paths, [
      { id: 'a', name: 'Ada', size: 'M', player: { id: 'p', 'has space': 1 }, tags: [{ x: 1 }] },
      { id: 'b', 'two words': 1, 'dot.ted': 1, '-dash': 1, n: null },
    ]);
    expect(remembered(paths)).toEqual({
      ids: [
        ['a', 'Ada'],
        ['b', ''],
      ],
      fields: ['id', 'name', 'size', 'player', 'player.id', 'tags', 'n'],
    });
  });

  test('keeps the values that a resource names, and no others', async () => {
    const paths = freshPaths();
    const gamerTags = [{ game: 'Valorant', gamerTag: 'ada#1' }, { game: 'Football' }, null, 'x'];
    const formResponses = { 'Why you?': 'secret answer' };
    await remember(paths, [
      { id: 'a', email: 'ada@example.org', gamerTags, formResponses },
      { id: 'b', gamerTags: 'none', formResponses: { ['long'.repeat(40)]: 1, '': 2 } },
    ]);
    const { values } = recall(fileOf(paths), 'tryouts', owner);
    expect(values).toEqual({
      'gamerTags.game': ['Valorant', 'Football'],
      formResponses: ['Why you?'],
    });
    const text = readFileSync(fileOf(paths), 'utf8');
    expect(text).not.toMatch(/ada@example|ada#1|secret answer/);
  });

  test('a whole list forgets values that are gone, a part of it adds', async () => {
    const paths = freshPaths();
    const tags = () => recall(fileOf(paths), 'documents', owner).values['tags'];
    await remember(paths, [{ id: 'a', tags: ['x', 'y'] }], { resource: 'documents' });
    await remember(paths, [{ id: 'b', tags: ['z'] }], { resource: 'documents', whole: false });
    expect(tags()).toEqual(['z', 'x', 'y']);
    await remember(paths, [{ id: 'b', tags: ['z'] }], { resource: 'documents' });
    expect(tags()).toEqual(['z']);
  });

  test('keeps at most 200 values of a field', async () => {
    const paths = freshPaths();
    const records = Array.from({ length: 300 }, (_, index) => ({
      id: `d${index}`,
      tags: [`t${index}`],
    }));
    await remember(paths, records, { resource: 'documents' });
    expect(recall(fileOf(paths), 'documents', owner).values['tags']).toHaveLength(200);
  });

  test('only its owner can read it, whatever the umask', async () => {
    const paths = freshPaths();
    await remember(paths, [{ id: 'a' }]);
    const file = fileOf(paths);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(dirname(file)).mode & 0o777).toBe(0o700);
  });

  test('a whole list forgets ids that are gone, a part of it adds', async () => {
    const paths = freshPaths();
    await remember(paths, [{ id: 'a' }, { id: 'b' }]);
    await remember(paths, [{ id: 'c' }, { id: 'a', name: 'Ada' }], { whole: false });
    expect(remembered(paths).ids.map(([id]) => id)).toEqual(['c', 'a', 'b']);
    await remember(paths, [{ id: 'c' }]);
    expect(remembered(paths).ids.map(([id]) => id)).toEqual(['c']);
  });

  test('resources, organizations, services and the sandbox are kept apart', async () => {
    const paths = freshPaths();
    const places = [
      place,
      { ...place, organizationId: 'org_2' },
      { ...place, baseUrl: 'https://other.example.com/v1' },
      { ...place, profile: 'sandbox', baseUrl: 'http://127.0.0.1:4/v1' },
    ];
    for (const [index, at] of places.entries()) await remember(paths, [{ id: `${index}` }], { at });
    await remember(paths, [{ id: 'team' }], { resource: 'teams' });
    expect(places.map((at) => remembered(paths, 'tryouts', at).ids[0]?.[0])).toEqual([
      '0',
      '1',
      '2',
      '3',
    ]);
    expect(remembered(paths, 'teams').ids).toEqual([['team', '']]);
    const moved = { ...place, profile: 'sandbox', baseUrl: 'http://127.0.0.1:5/v1' };
    expect(remembered(paths, 'tryouts', moved).ids).toEqual([['3', '']]);
  });

  test('another profile of the same organization at the same service shares it', async () => {
    const paths = freshPaths();
    await remember(paths, [{ id: 'a' }]);
    expect(remembered(paths, 'tryouts', { ...place, profile: 'second' }).ids).toHaveLength(1);
  });

  test('holds at most 5,000 ids and 500 fields of a resource', async () => {
    const paths = freshPaths();
    const many = Array.from({ length: 6000 }, (_, index) => ({
      id: `i${index}`,
      [`f${index}`]: 1,
    }));
    await remember(paths, many);
    expect(remembered(paths).ids).toHaveLength(5000);
    expect(remembered(paths).fields).toHaveLength(500);
    await remember(paths, [{ id: 'new' }], { whole: false });
    expect(remembered(paths).ids).toHaveLength(5000);
    expect(remembered(paths).ids[0]).toEqual(['new', '']);
  });

  test('is not written when nothing is new', async () => {
    const paths = freshPaths();
    await remember(paths, [{ id: 'a' }]);
    const before = statSync(fileOf(paths)).ino;
    await remember(paths, [{ id: 'a' }]);
    expect(statSync(fileOf(paths)).ino).toBe(before);
  });

  test('records without an id are passed over', async () => {
    const paths = freshPaths();
    await remember(paths, [
      { id: 7 },
      { name: 'x' },
      { id: 'y'.repeat(300) },
      { id: 'a\tb' },
      { id: 'a\nb' },
    ]);
    expect(existsSync(fileOf(paths)) ? remembered(paths).ids : []).toEqual([]);
  });

  test.each([
    ['no JSON', '{'],
    ['a list', '[]'],
    ['other types', '{"tryouts":{"ids":[1,["a"]],"fields":[3]}}'],
    ['lines without a tab', '{"tryouts":{"ids":"a\\n\\tb\\n","fields":{}}}'],
    ['nothing of the resource', '{"teams":{}}'],
  ])('a file that holds %s counts as empty, and is replaced', async (_, text) => {
    const paths = freshPaths();
    await remember(paths, [{ id: 'a' }]);
    writeFileSync(fileOf(paths), text);
    expect(remembered(paths)).toEqual({ ids: [], fields: [] });
    await remember(paths, [{ id: 'b' }]);
    expect(remembered(paths).ids).toEqual([['b', '']]);
  });

  test('is never a reason to fail', async () => {
    const nowhere: Paths = { config: undefined, state: undefined, cache: undefined, owner };
    await remember(nowhere, [{ id: 'a' }]);
    const blocked = freshPaths();
    const folder = blocked.cache?.path ?? '';
    mkdirSync(dirname(folder), { recursive: true });
    writeFileSync(folder, 'a file in its place');
    await remember(blocked, [{ id: 'a' }]);
    expect(readFileSync(folder, 'utf8')).toBe('a file in its place');
    const homeless = resolvePaths({
      env: { HOME: '/nonexistent' },
      platform: process.platform,
      uid: owner,
    });
    await remember(homeless, [{ id: 'a' }]);
    expect(existsSync('/nonexistent')).toBe(false);
  });

  test('is not written through a link', async () => {
    const paths = freshPaths();
    await remember(paths, [{ id: 'a' }]);
    const target = join(temporaryFolder(), 'precious');
    writeFileSync(target, 'precious');
    const other = { ...place, organizationId: 'org_2' };
    const file = fileOf(paths, other);
    mkdirSync(dirname(file), { mode: 0o700 });
    symlinkSync(target, file);
    await remember(paths, [{ id: 'b' }], { at: other });
    expect(readFileSync(target, 'utf8')).toBe('precious');
  });

  test('a file that others could read is tightened', async () => {
    const paths = freshPaths();
    await remember(paths, [{ id: 'a' }]);
    chmodSync(fileOf(paths), 0o644);
    await remember(paths, [{ id: 'b' }]);
    expect(statSync(fileOf(paths)).mode & 0o777).toBe(0o600);
  });
});
