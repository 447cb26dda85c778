import { describe, expect, test } from 'vitest';
import { findList } from '../../src/api/list-envelope.js';
import { findRecord, replacementBody } from '../../src/api/records.js';
import type { JsonObject } from '../../src/data/json.js';
import { BugError, ProtocolError } from '../../src/errors.js';
import { checkKey } from '../../src/resources/key-check.js';
import { surveyList } from '../../src/resources/survey.js';
import { rosterctl, temporaryFolder } from '../support/run.js';
import { type Recorded, type Reply, recordingService } from '../support/service.js';
import { apiTo, thrownBy } from './wiring.js';

const rows = [{ id: 'a' }, { id: 'b' }];

describe('where the list is', () => {
  test.each<[string, unknown]>([
    ['a bare array', rows],
    ['an empty array', []],
    ['the resource', { teams: rows, total: 2 }],
    ['the resource, empty', { teams: [], total: 0 }],
    ['another spelling', { Teams: rows }],
    ['data', { data: rows }],
    ['data beside errors', { errors: [{ code: 'x' }], data: rows }],
    ['items beside another array', { tags: [{ id: 't' }], items: rows }],
    ['the name beside data', { data: [{ id: 'x' }], teams: rows }],
    ['the only array of objects', { squads: rows, count: 2 }],
    ['the only one beside warnings', { squads: rows, warnings: [{ text: 'x' }] }],
    ['nested under data', { data: { teams: rows, total: 2 } }],
    ['nested under result', { result: { items: rows } }],
    ['HAL', { _embedded: { teams: rows }, _links: { self: { href: '/teams' } } }],
    ['HAL under a name of its own', { _embedded: { teamDtoList: rows }, page: { size: 20 } }],
    ['by number, with gaps', { 0: rows[0], 2: rows[1] }],
    ['by number under data', { data: { 1: rows[0], 2: rows[1] }, total: 2 }],
  ])('%s', (_, body) => {
    const expected = JSON.stringify(body).includes('"b"') ? rows : [];
    expect(findList(body, { resource: 'teams' })?.rows).toEqual(expected);
  });

  test.each<[string, unknown]>([
    ['one record', { id: 'x', gamerTags: [{ id: 'g', game: 'x' }] }],
    ['two unknown arrays', { a: rows, b: rows }],
    ['an array of text', ['a', 'b']],
    ['only errors', { errors: [{ code: 'x' }] }],
    ['two unknown arrays and a wrong total', { a: rows, b: rows, total: 0 }],
    ['a map beside a count of errors', { errorCount: 0, players: { a: rows[0] } }],
    ['a table of texts and a total of 0', { total: 0, data: { rows: [['id'], ['a']] } }],
    ['a message and a total of 0', { message: 'not found', total: 0 }],
    ['HAL with something else, and a total of 0', { _links: {}, total: 0, groups: { a: rows } }],
    ['text', 'teams'],
    ['nothing', {}],
    ['by a word', { a: rows[0], b: rows[1] }],
    ['texts by number', { 0: 'a', 1: 'b' }],
    ['objects without an id by number', { 2025: { teams: 3 }, 2026: { teams: 4 } }],
  ])('%s is no list', (_, body) => {
    expect(findList(body, { resource: 'teams' })).toBeUndefined();
  });

  test('the names of a tryout list', () => {
    for (const name of ['applications', 'tryoutApplications', 'tryout_applications', 'tryouts'])
      expect(findList({ [name]: rows, other: rows }, { resource: 'tryouts' })?.rows).toBe(rows);
  });

  test('a configured path beats everything', () => {
    const body = { teams: [{ id: 'x' }], deep: [{ rows }] };
    expect(findList(body, { resource: 'teams', path: 'deep.0.rows' })?.rows).toBe(rows);
    expect(findList(body, { resource: 'teams', path: 'nowhere' })).toBeUndefined();
  });
});

describe('the record in a response', () => {
  const team = { id: 't', name: 'A' };
  test.each<[unknown, unknown]>([
    [team, team],
    [{ team }, team],
    [{ data: team }, team],
    [{ data: { team } }, team],
    [{ result: { item: team } }, team],
    [{ player: { id: 'p' }, team }, team],
    [{ squad: team }, team],
    [{ squad: team, other: { id: 'o' } }, undefined],
    [{ success: true }, undefined],
    [undefined, undefined],
    ['done', undefined],
    [[team], undefined],
    [{ team: { id: 7 } }, { id: '7' }],
  ])('%j', (body, expected) => {
    expect(findRecord(body, { resource: 'teams' })).toEqual(expected);
  });

  test('`{application, player}` goes by the name asked for', () => {
    const body = { application: { id: 'a' }, player: { id: 'p' } };
    expect(findRecord(body, { resource: 'tryouts' })).toEqual({ id: 'a' });
    expect(findRecord(body, { resource: 'players' })).toEqual({ id: 'p' });
  });

  test('a replacing update sends the record with its changes and without the fields that the service sets', () => {
    const record = {
      id: 't',
      organizationId: 'o',
      name: 'A',
      game: 'x',
      updatedAt: 'now',
      slug: 's',
    };
    expect(replacementBody(record, { name: 'B' }, ['slug'])).toEqual({ name: 'B', game: 'x' });
  });
});

// --- paging ---

const all = Array.from({ length: 45 }, (_, index) => ({ id: `t${index}` }));
const slice = (from: number, size = 20) => all.slice(from, from + size);
const numberIn = (request: Recorded, name: string, usual: number) =>
  Number(new URL(request.url, 'http://x').searchParams.get(name) ?? usual);
const textIn = (request: Recorded, name: string) =>
  new URL(request.url, 'http://x').searchParams.get(name);

interface Behaviour {
  readonly name: string;
  readonly reply: (request: Recorded, origin: string) => Reply;
  readonly count: number;
  readonly state: 'complete' | 'doubtful';
  readonly requests: number;
  readonly overrides?: Record<string, string>;
}

const json = (value: unknown, headers?: Record<string, string>): Reply => ({
  status: 200,
  json: value,
  ...(headers && { headers }),
});
const cursorOf = (request: Recorded, name = 'cursor') => Number(textIn(request, name) ?? 0);
const following = (at: number) => (at + 20 < all.length ? String(at + 20) : null);

/** Signs that the first 7 teams are not all. */
const signsOfMore: readonly (readonly [name: string, reply: Behaviour['reply']])[] = [
  ['complete: false', () => json({ teams: slice(0, 7), complete: false })],
  ['done: false', () => json({ teams: slice(0, 7), done: false })],
  ['endOfList: false', () => json({ teams: slice(0, 7), endOfList: false })],
  ['partial: true', () => json({ teams: slice(0, 7), partial: true })],
  ['remaining: 38', () => json({ teams: slice(0, 7), remaining: 38 })],
  ['numberOfPages: 7', () => json({ teams: slice(0, 7), numberOfPages: 7 })],
  ['status 202', () => ({ status: 202, json: { teams: slice(0, 7) } })],
  ['status 207', () => ({ status: 207, json: { teams: slice(0, 7) } })],
  ['X-Total-Pages', () => ({ status: 200, json: slice(0, 7), headers: { 'X-Total-Pages': '7' } })],
  ['X-WP-Total', () => ({ status: 200, json: slice(0, 7), headers: { 'X-WP-Total': '45' } })],
  ['X-Has-More', () => ({ status: 200, json: slice(0, 7), headers: { 'X-Has-More': 'true' } })],
  [
    'X-Pagination',
    () => ({
      status: 200,
      json: slice(0, 7),
      headers: { 'X-Pagination': '{"TotalCount":45}' },
    }),
  ],
  ['X-Has-Next-Page', () => json(slice(0, 7), { 'X-Has-Next-Page': 'true' })],
  ['x-ms-continuation', () => json(slice(0, 7), { 'x-ms-continuation': 'c2' })],
  ['Pagination-Count', () => json(slice(0, 7), { 'Pagination-Count': '45' })],
  ['nbPages: 7', () => json({ teams: slice(0, 7), nbPages: 7 })],
  ['pages.total_pages', () => json({ teams: slice(0, 7), pages: { total_pages: 7 } })],
  ['total.count: 45', () => json({ teams: slice(0, 7), total: { count: 45 } })],
  [
    'metadata.remainingItemCount',
    () => json({ items: slice(0, 7), metadata: { remainingItemCount: 38 } }),
  ],
  ['result_info', () => json({ result: slice(0, 7), result_info: { total_count: 45 } })],
  ['pagingMetadata', () => json({ teams: slice(0, 7), pagingMetadata: { hasNext: true } })],
  ['pager.total', () => json({ teams: slice(0, 7), pager: { total: 45 } })],
  [
    'additional_data',
    () =>
      json({
        data: slice(0, 7),
        additional_data: { pagination: { more_items_in_collection: true } },
      }),
  ],
  ['total_page: 7', () => json({ teams: slice(0, 7), total_page: 7 })],
  ['length: 45', () => json({ teams: slice(0, 7), length: 45 })],
  ['matched: 45', () => json({ teams: slice(0, 7), matched: 45 })],
  ['numberMatched: 45', () => json({ teams: slice(0, 7), numberMatched: 45, numberReturned: 7 })],
  ['hits.total', () => json({ teams: slice(0, 7), hits: { total: 45 } })],
  ['hits.total.value', () => json({ teams: slice(0, 7), hits: { total: hits(45) } })],
  ['a total that is a lower bound', () => json({ teams: slice(0, 7), total: hits(7, 'gte') })],
  ['timed_out', () => json({ teams: slice(0, 7), timed_out: true })],
  ['_shards.failed', () => json({ teams: slice(0, 7), _shards: { total: 5, failed: 1 } })],
];

/** A total as Elasticsearch writes it. */
const hits = (value: number, relation = 'eq') => ({ value, relation });

/** The same fields where they say that 7 teams are all. */
const signsOfAll: readonly (readonly [name: string, body: object])[] = [
  ['length: 7', { length: 7 }],
  ['the length of a page beside a total', { total: 7, length: 100 }],
  ['matched: 7', { matched: 7 }],
  ['the count of players', { playerCount: 45 }],
  ['a total of something else', { playerInfo: { total: 45 }, quotaSummary: { total: 45 } }],
  ['a total of a record', { summary: { id: 's1', total: 45 } }],
  ['its own offset as a text', { offset: '0' }],
  ['the count of tryouts', { tryoutCount: 45 }],
  ['hits.total that fits', { hits: { total: hits(7), max_score: 45 } }],
  ['timed_out: false', { timed_out: false }],
  ['_shards that all answered', { _shards: { total: 45, successful: 45, failed: 0 } }],
];

const behaviours: readonly Behaviour[] = [
  { name: 'bare array', reply: () => json(all), count: 45, state: 'complete', requests: 1 },
  { name: 'wrapped', reply: () => json({ teams: all }), count: 45, state: 'complete', requests: 1 },
  {
    name: 'wrapped with a total that fits',
    reply: () => json({ teams: slice(0), total: 20 }),
    count: 20,
    state: 'complete',
    requests: 1,
  },
  {
    name: 'a total that does not fit and no way on',
    reply: () => json({ teams: slice(0), total: 45 }),
    count: 20,
    state: 'doubtful',
    requests: 1,
  },
  {
    name: 'a total in a header',
    reply: () => json(slice(0), { 'x-total-count': '45' }),
    count: 20,
    state: 'doubtful',
    requests: 1,
  },
  {
    name: 'a suspicious count and no word',
    reply: () => json(slice(0)),
    count: 20,
    state: 'doubtful',
    requests: 1,
  },
  {
    name: 'an odd count and no word',
    reply: () => json(slice(0, 37)),
    count: 37,
    state: 'complete',
    requests: 1,
  },
  {
    name: 'HAL, as Spring writes it',
    reply(request, origin) {
      const page = numberIn(request, 'page', 0);
      const next = new URL(request.url, origin);
      next.searchParams.set('page', String(page + 1));
      return json({
        _embedded: { teamList: slice(page * 20) },
        _links: {
          self: { href: `${origin}${request.url}` },
          ...(page < 2 && { next: { href: next.href } }),
        },
        page: { size: 20, totalElements: 45, totalPages: 3, number: page },
      });
    },
    count: 45,
    state: 'complete',
    requests: 3,
  },
  {
    name: 'an empty list under a name of its own, with a total',
    reply: () => json({ squads: [], meta: { totalItems: 0 } }),
    count: 0,
    state: 'complete',
    requests: 1,
  },
  {
    name: 'HAL without a record, which leaves the list out',
    reply: (request, origin) =>
      json({
        _links: { self: { href: `${origin}${request.url}` } },
        page: { size: 20, totalElements: 0, totalPages: 0, number: 0 },
      }),
    count: 0,
    state: 'complete',
    requests: 1,
  },
  {
    name: 'Link header',
    reply: (request, origin) => {
      const page = numberIn(request, 'page', 1);
      const next = `<${origin}/v1/teams/org_7?page=${page + 1}>; rel="next", <x>; rel="last"`;
      return json(slice((page - 1) * 20), page < 3 ? { link: next } : {});
    },
    count: 45,
    state: 'complete',
    requests: 3,
  },
  {
    name: 'Link header with a relative target',
    reply: (request) => {
      const page = numberIn(request, 'page', 1);
      const headers = page < 3 ? { link: `</v1/teams/org_7?page=${page + 1}>; rel=next` } : {};
      return json(slice((page - 1) * 20), headers);
    },
    count: 45,
    state: 'complete',
    requests: 3,
  },
  {
    name: 'Link header in single quotes',
    reply: (request) => {
      const page = numberIn(request, 'page', 1);
      const headers =
        page < 3 ? { link: `<?page=1>; rel='first', <?page=${page + 1}>; rel='next'` } : {};
      return json(slice((page - 1) * 20), headers);
    },
    count: 45,
    state: 'complete',
    requests: 3,
  },
  {
    name: 'Link header to another origin',
    reply: () => json(slice(0), { link: '<https://elsewhere.example/v1/teams>; rel="next"' }),
    count: 20,
    state: 'doubtful',
    requests: 1,
  },
  {
    name: 'Link header out of the versioned path',
    reply: (_, origin) => json(slice(0), { link: `<${origin}/teams?page=2>; rel="next"` }),
    count: 20,
    state: 'doubtful',
    requests: 1,
  },
  {
    name: 'Link header into the path of another organization',
    reply: (_, origin) => json(slice(0), { link: `<${origin}/v1/teams/org_8?page=2>; rel="next"` }),
    count: 20,
    state: 'doubtful',
    requests: 1,
  },
  {
    name: 'next URL whose query names another organization',
    reply: (_, origin) =>
      json({
        items: slice(0),
        next: `${origin}/v1/teams/org_7?page=2&organizationId=org_7&organizationId=org_8`,
      }),
    count: 20,
    state: 'doubtful',
    requests: 1,
  },
  {
    name: 'Link header below another organization',
    reply: () => json(slice(0), { link: '</v1/organizations/org%5F8/teams?page=2>; rel="next"' }),
    count: 20,
    state: 'doubtful',
    requests: 1,
  },
  {
    name: 'Link header that names the own organization elsewhere',
    reply: (request) => {
      const page = numberIn(request, 'page', 1);
      const next = `</v1/organizations/org%5F7/teams?page=${page + 1}&organization_id=org_7>; rel="next"`;
      return json(slice((page - 1) * 20), page < 3 ? { link: next } : {});
    },
    count: 45,
    state: 'complete',
    requests: 3,
  },
  {
    name: 'next URL in the body',
    reply: (request, origin) => {
      const at = numberIn(request, 'from', 0);
      const next = at + 20 < 45 ? `${origin}/v1/teams/org_7?from=${at + 20}` : null;
      return json({ items: slice(at), paging: { next } });
    },
    count: 45,
    state: 'complete',
    requests: 3,
  },
  {
    name: '_links.next.href',
    reply: (request) => {
      const at = numberIn(request, 'from', 0);
      const next = at + 20 < 45 ? { next: { href: `/v1/teams/org_7?from=${at + 20}` } } : {};
      return json({ items: slice(at), _links: next });
    },
    count: 45,
    state: 'complete',
    requests: 3,
  },
  {
    name: 'cursor',
    reply: (request) => {
      const at = cursorOf(request);
      return json({ data: slice(at), nextCursor: following(at) });
    },
    count: 45,
    state: 'complete',
    requests: 3,
  },
  {
    name: 'cursor and hasMore in meta',
    reply: (request) => {
      const at = cursorOf(request);
      const nextCursor = following(at);
      return json({ data: slice(at), meta: { hasMore: nextCursor !== null, nextCursor } });
    },
    count: 45,
    state: 'complete',
    requests: 3,
  },
  {
    name: 'page token',
    reply: (request) => {
      const at = cursorOf(request, 'pageToken');
      return json({ teams: slice(at), nextPageToken: following(at) ?? '' });
    },
    count: 45,
    state: 'complete',
    requests: 3,
  },
  {
    name: 'a token under the name of an offset',
    reply: (request) => {
      const token = textIn(request, 'offset');
      const at = Number(token?.slice('itr'.length) ?? 0);
      return json({ records: slice(at), ...(at < 40 && { offset: `itr${at + 20}` }) });
    },
    count: 45,
    state: 'complete',
    requests: 3,
  },
  {
    name: 'next in paging metadata',
    reply: (request) => {
      const at = cursorOf(request);
      return json({ teams: slice(at), pagingMetadata: { cursors: { next: following(at) } } });
    },
    count: 45,
    state: 'complete',
    requests: 3,
  },
  {
    name: 'end cursor in pageInfo',
    reply: (request) => {
      const at = cursorOf(request, 'after');
      const pageInfo = { hasNextPage: at + 20 < 45, endCursor: String(at + 20) };
      return json({ teams: slice(at), pageInfo });
    },
    count: 45,
    state: 'complete',
    requests: 3,
  },
  {
    name: 'opaque next',
    reply: (request) => {
      const at = cursorOf(request);
      return json({ teams: slice(at), next: following(at) });
    },
    count: 45,
    state: 'complete',
    requests: 3,
  },
  {
    name: 'a URL in an object for the next page',
    reply: (request) => {
      const at = cursorOf(request);
      const url = `/v1/teams/org_7?cursor=${at + 20}`;
      return json({ teams: slice(at), nextPage: following(at) === null ? null : { url } });
    },
    count: 45,
    state: 'complete',
    requests: 3,
  },
  ...[
    { nextPage: { size: 20, exists: false } },
    { nextPage: { limit: 20 } },
    { nextCursor: { value: null, limit: 20 } },
    { nextCursor: { key: 'k', exhausted: true } },
    { nextPage: { number: 0, pageSize: 20 } },
  ].map((next) => ({
    name: `an object that names no next page: ${JSON.stringify(next)}`,
    reply: () => json({ teams: slice(0, 7), ...next }),
    count: 7,
    state: 'complete' as const,
    requests: 1,
  })),
  ...[{ nextCursor: { pk: 't6', sk: 1 } }, { meta: { nextPage: { number: 2 } } }].map((next) => ({
    name: `an object for the next page that is not understood: ${JSON.stringify(next)}`,
    reply: () => json({ teams: slice(0, 7), ...next }),
    count: 7,
    state: 'doubtful' as const,
    requests: 1,
  })),
  {
    name: 'a cursor that the service reads under another name',
    reply: (request) => {
      const at = cursorOf(request, 'startingAfter');
      return json({ teams: slice(at), nextCursor: following(at) });
    },
    count: 20,
    state: 'doubtful',
    requests: 2,
  },
  {
    name: 'the same with its name configured',
    overrides: { 'paging.params.cursor': 'startingAfter' },
    reply: (request) => {
      const at = cursorOf(request, 'startingAfter');
      return json({ teams: slice(at), nextCursor: following(at) });
    },
    count: 45,
    state: 'complete',
    requests: 3,
  },
  {
    name: 'a token whose parameter has the configured name of a cursor',
    overrides: { 'paging.params.cursor': 'startingAfter' },
    reply: (request) => {
      const at = cursorOf(request, 'startingAfter');
      return json({ teams: slice(at), nextToken: following(at) });
    },
    count: 45,
    state: 'complete',
    requests: 3,
  },
  {
    name: 'a number whose parameter does not have the configured name of a cursor',
    overrides: { 'paging.params.cursor': 'startingAfter' },
    reply: (request) => {
      const page = numberIn(request, 'page', 1);
      return json({ teams: slice((page - 1) * 20), nextPage: page < 3 ? page + 1 : null });
    },
    count: 45,
    state: 'complete',
    requests: 3,
  },
  {
    name: 'a cursor that never ends',
    reply: (request) => {
      const at = cursorOf(request);
      return json({ teams: slice(at % 40), nextCursor: String(at + 20) });
    },
    count: 40,
    state: 'doubtful',
    requests: 3,
  },
  {
    name: 'offset and total',
    reply: (request) => {
      const offset = numberIn(request, 'offset', 0);
      return json({ teams: slice(offset), offset, limit: 20, total: 45 });
    },
    count: 45,
    state: 'complete',
    requests: 3,
  },
  {
    name: 'page and totalPages',
    reply: (request) => {
      const page = numberIn(request, 'page', 1);
      return json({ teams: slice((page - 1) * 20), pagination: { page, totalPages: 3 } });
    },
    count: 45,
    state: 'complete',
    requests: 3,
  },
  {
    name: 'page, size and total',
    reply: (request) => {
      const page = numberIn(request, 'page', 1);
      return json({ teams: slice((page - 1) * 20), page, perPage: 20, total: 45 });
    },
    count: 45,
    state: 'complete',
    requests: 3,
  },
  {
    name: 'page and hasMore',
    reply: (request) => {
      const page = numberIn(request, 'page', 1);
      return json({ teams: slice((page - 1) * 20), page, hasMore: page < 3 });
    },
    count: 45,
    state: 'complete',
    requests: 3,
  },
  {
    name: 'page, hasMore and the count of the page',
    reply: (request) => {
      const page = numberIn(request, 'page', 1);
      const teams = slice((page - 1) * 20);
      return json({ teams, page, limit: 20, count: teams.length, hasMore: page < 3 });
    },
    count: 45,
    state: 'complete',
    requests: 3,
  },
  {
    name: 'offset, hasMore and the count of the page',
    reply: (request) => {
      const offset = numberIn(request, 'offset', 0);
      const teams = slice(offset);
      return json({ teams, offset, limit: 20, count: teams.length, hasMore: offset < 40 });
    },
    count: 45,
    state: 'complete',
    requests: 3,
  },
  {
    name: 'a page parameter that is ignored',
    reply: () => json({ teams: slice(0), page: 1, totalPages: 3 }),
    count: 20,
    state: 'doubtful',
    requests: 2,
  },
  {
    name: 'hasMore without a way on',
    reply: () => json({ teams: slice(0, 7), hasMore: true }),
    count: 7,
    state: 'doubtful',
    requests: 1,
  },
  {
    name: 'its paging beside the list, under the name of the resource',
    reply: (request) => {
      const at = cursorOf(request);
      return json({ teams: { items: slice(at), paging: { nextCursor: following(at) } } });
    },
    count: 45,
    state: 'complete',
    requests: 3,
  },
  {
    name: 'its paging beside the list, under a configured path',
    overrides: { 'lists.teams.path': 'found.here' },
    reply: (request) => {
      const at = cursorOf(request);
      return json({ found: { here: slice(at), nextCursor: following(at) } });
    },
    count: 45,
    state: 'complete',
    requests: 3,
  },
  {
    name: 'a total beside the list, under the name of the resource',
    reply: () => json({ teams: { data: slice(0, 7), total: 45 } }),
    count: 7,
    state: 'doubtful',
    requests: 1,
  },
  ...signsOfMore.map(([name, reply]) => ({
    name,
    reply,
    count: 7,
    state: 'doubtful' as const,
    requests: 1,
  })),
  ...signsOfAll.map(([name, body]) => ({
    name,
    reply: () => json({ teams: slice(0, 7), ...body }),
    count: 7,
    state: 'complete' as const,
    requests: 1,
  })),
  {
    name: 'a cursor of its own beside the one of the next page',
    reply: (request) => {
      const at = cursorOf(request);
      return json({ teams: slice(at), after: null, bookmark: '', nextCursor: following(at) });
    },
    count: 45,
    state: 'complete',
    requests: 3,
  },
  {
    name: 'the cursor of its request beside its last cursor',
    reply: (request) => {
      const after = textIn(request, 'after');
      const at = Number(after ?? 0);
      return json({ teams: slice(at), after, endCursor: following(at) });
    },
    count: 45,
    state: 'complete',
    requests: 3,
  },
  {
    name: 'the number of the next page beside an empty cursor',
    reply: (request) => {
      const page = numberIn(request, 'page', 1);
      const nextPage = page < 3 ? page + 1 : null;
      return json({ teams: slice((page - 1) * 20), nextCursor: null, nextPage });
    },
    count: 45,
    state: 'complete',
    requests: 3,
  },
  {
    name: 'a last cursor beside an empty one of the next page',
    reply: () => json({ teams: slice(0, 7), endCursor: 't6', nextCursor: null }),
    count: 7,
    state: 'complete',
    requests: 1,
  },
  ...[{ hasMore: false }, { next: null }, { last: true }].map((end) => ({
    name: `more pages than it sent, in contradiction to ${JSON.stringify(end)}`,
    reply: () => json({ teams: slice(0, 7), page: 1, totalPages: 3, ...end }),
    count: 7,
    state: 'doubtful' as const,
    requests: 1,
  })),
  {
    name: 'more pages than it sent beside a total that fits',
    reply: () => json({ teams: slice(0, 7), page: 1, totalPages: 3, total: 7 }),
    count: 7,
    state: 'complete',
    requests: 1,
  },
  {
    name: 'a count that is the page size',
    reply: () => json({ teams: slice(0, 7), count: 7 }),
    count: 7,
    state: 'complete',
    requests: 1,
  },
  {
    name: 'a count that is the total',
    reply: () => json({ teams: slice(0, 7), count: 45 }),
    count: 7,
    state: 'doubtful',
    requests: 1,
  },
  {
    name: 'overlapping pages',
    reply: (request) => {
      const at = cursorOf(request);
      const next = at + 15 < all.length ? String(at + 15) : null;
      return json({ teams: slice(at, 20), nextCursor: next });
    },
    count: 45,
    state: 'complete',
    requests: 3,
  },
  {
    name: 'nested under data with its paging',
    reply: (request) => {
      const at = cursorOf(request);
      return json({ data: { teams: slice(at), nextCursor: following(at) } });
    },
    count: 45,
    state: 'complete',
    requests: 3,
  },
  {
    name: 'forced pages, whose first number is tried out',
    overrides: { 'paging.mode': 'page', 'paging.size': '20' },
    reply: (request) => json(slice((numberIn(request, 'page', 1) - 1) * 20)),
    count: 45,
    state: 'complete',
    requests: 5,
  },
  {
    name: 'forced pages beside their count, whose first number is tried out',
    overrides: { 'paging.mode': 'page' },
    reply: (request) =>
      json({ teams: slice((numberIn(request, 'page', 1) - 1) * 20), totalPages: 3 }),
    count: 45,
    state: 'complete',
    requests: 4,
  },
  {
    name: 'forced pages from 0 beside the number of the last, whose first number is tried out',
    overrides: { 'paging.mode': 'page' },
    reply: (request) => json({ teams: slice(numberIn(request, 'page', 0) * 20), lastPage: 2 }),
    count: 45,
    state: 'complete',
    requests: 3,
  },
  {
    name: 'forced pages, two of them, of a service that ignores their number',
    overrides: { 'paging.mode': 'page' },
    reply: () => json({ teams: slice(0), totalPages: 2 }),
    count: 20,
    state: 'doubtful',
    requests: 3,
  },
  {
    name: 'a cursor that is ignored, beside a count of two pages',
    reply: () => json({ teams: slice(0), totalPages: 2, nextCursor: '20' }),
    count: 20,
    state: 'doubtful',
    requests: 2,
  },
  {
    name: 'forced pages from 0, whose first number is tried out',
    overrides: { 'paging.mode': 'page' },
    reply: (request) => json(slice(numberIn(request, 'page', 0) * 20)),
    count: 45,
    state: 'complete',
    requests: 4,
  },
  {
    name: 'forced pages with a configured first number',
    overrides: { 'paging.mode': 'page', 'paging.first': '1' },
    reply: (request) => json(slice((numberIn(request, 'page', 1) - 1) * 20)),
    count: 45,
    state: 'complete',
    requests: 4,
  },
  {
    name: 'forced pages whose answers name their number',
    overrides: { 'paging.mode': 'page' },
    reply: (request) => {
      const page = numberIn(request, 'page', 0);
      return json({ teams: slice(page * 20), page });
    },
    count: 45,
    state: 'complete',
    requests: 4,
  },
  {
    name: 'forced pages that end before the total',
    overrides: { 'paging.mode': 'page', 'paging.first': '1' },
    reply: (request) => json({ teams: slice((numberIn(request, 'page', 1) - 1) * 20), total: 60 }),
    count: 45,
    state: 'doubtful',
    requests: 4,
  },
  {
    name: 'pages by the last id',
    overrides: { 'paging.mode': 'last-id', 'paging.params.after': 'since_id' },
    reply: (request) => {
      const since = textIn(request, 'since_id');
      return json(slice(since === null ? 0 : all.findIndex(({ id }) => id === since) + 1));
    },
    count: 45,
    state: 'complete',
    requests: 4,
  },
  {
    name: 'pages that begin with the last id',
    overrides: { 'paging.mode': 'last-id' },
    reply: (request) => {
      const after = textIn(request, 'after');
      return json(slice(after === null ? 0 : all.findIndex(({ id }) => id === after)));
    },
    count: 45,
    state: 'complete',
    requests: 4,
  },
  {
    name: 'a configured next field that nobody would guess',
    overrides: { 'paging.next': 'meta.more_at', 'paging.params.cursor': 'from' },
    reply: (request) => {
      const at = cursorOf(request, 'from');
      return json({ teams: slice(at), meta: { more_at: following(at) } });
    },
    count: 45,
    state: 'complete',
    requests: 3,
  },
  {
    name: 'a total that is none, as configured',
    overrides: { 'paging.total': 'none' },
    reply: () => json({ teams: slice(0, 7), total: 45 }),
    count: 7,
    state: 'complete',
    requests: 1,
  },
  {
    name: 'a token that leads nowhere, as configured',
    overrides: { 'paging.next': 'none' },
    reply: () => json({ teams: slice(0, 7), matchToken: 'abc' }),
    count: 7,
    state: 'complete',
    requests: 1,
  },
  {
    name: 'done: false about something else, as configured',
    overrides: { 'paging.mode': 'none' },
    reply: () => json({ teams: slice(0, 7), done: false }),
    count: 7,
    state: 'complete',
    requests: 1,
  },
  {
    name: 'a token that nobody knows',
    reply: () => json({ teams: slice(0, 7), matchToken: 'abc' }),
    count: 7,
    state: 'doubtful',
    requests: 1,
  },
  {
    name: 'tokens of something else',
    reply: () =>
      json({
        teams: slice(0, 7),
        csrfToken: 'abc',
        founded: 1999,
        totalPlayers: 300,
        requestId: 4,
      }),
    count: 7,
    state: 'complete',
    requests: 1,
  },
  {
    name: 'an end cursor beside hasNextPage: false',
    reply: () => json({ teams: slice(0), pageInfo: { hasNextPage: false, endCursor: 'x' } }),
    count: 20,
    state: 'complete',
    requests: 1,
  },
  {
    name: 'a cursor beside truncated: false, which may be about something else',
    reply: (request) => {
      const at = cursorOf(request);
      return json({ teams: slice(at), truncated: false, nextCursor: following(at) ?? undefined });
    },
    count: 45,
    state: 'complete',
    requests: 3,
  },
  {
    name: 'no more, and a larger total',
    reply: () => json({ teams: slice(0, 7), hasMore: false, total: 45 }),
    count: 7,
    state: 'doubtful',
    requests: 1,
  },
  {
    name: 'a count of each page, which is smaller on the last',
    reply: (request) => {
      const at = cursorOf(request);
      const teams = slice(at);
      return json({ teams, count: teams.length, nextCursor: following(at) });
    },
    count: 45,
    state: 'complete',
    requests: 3,
  },
  {
    name: 'pages from 0 as Spring counts them',
    reply: (request) => {
      const number = numberIn(request, 'page', 0);
      const content = slice(number * 20);
      return json({
        content,
        number,
        size: 20,
        totalPages: 3,
        totalElements: 45,
        last: number > 1,
      });
    },
    count: 45,
    state: 'complete',
    requests: 3,
  },
  {
    name: 'pages from 0 and the number of the last',
    reply: (request) => {
      const page = numberIn(request, 'page', 0);
      return json({ teams: slice(page * 20), page, lastPage: 2 });
    },
    count: 45,
    state: 'complete',
    requests: 3,
  },
  {
    name: 'pages from 1 and the number of the last',
    reply: (request) => {
      const page = numberIn(request, 'page', 1);
      return json({ teams: slice((page - 1) * 20), page, lastPage: 3 });
    },
    count: 45,
    state: 'complete',
    requests: 3,
  },
  {
    name: 'the number of the last page beside a page size that is larger than the pages',
    reply: (request) => {
      const page = numberIn(request, 'page', 1);
      const size = { per_page: 45, total: 45, last_page: 3 };
      return json({ teams: slice((page - 1) * 20), page, ...size });
    },
    count: 45,
    state: 'complete',
    requests: 3,
  },
  {
    name: 'pages from 0 whose answers number them from 1',
    reply: (request) => {
      const page = numberIn(request, 'page', 0);
      return json({ teams: slice(page * 10), page: page + 1, hasMore: page < 2 });
    },
    count: 40,
    state: 'doubtful',
    requests: 2,
  },
  {
    name: 'as many records as the page size that the answer names',
    reply: () => json({ teams: slice(0, 7), meta: { per_page: 7 } }),
    count: 7,
    state: 'doubtful',
    requests: 1,
  },
  {
    name: 'as many records as the configured page size, and no word about more',
    overrides: { 'paging.size': '7', 'paging.params.limit': '$amount' },
    reply: (request) => json(slice(0, numberIn(request, '$amount', 45))),
    count: 7,
    state: 'doubtful',
    requests: 1,
  },
  {
    name: 'as many records as the configured query asks for, and no word about more',
    overrides: { 'lists.teams.query': 'page[size]=7' },
    reply: (request) => json(slice(0, numberIn(request, 'page[size]', 45))),
    count: 7,
    state: 'doubtful',
    requests: 1,
  },
  {
    name: 'fewer records than were asked for',
    overrides: { 'paging.size': '60', 'lists.teams.query': 'season=45' },
    reply: (request) => json(slice(0, numberIn(request, 'limit', 20))),
    count: 45,
    state: 'complete',
    requests: 1,
  },
  {
    name: 'a part of the list (206)',
    reply: () => ({ status: 206, json: slice(0, 7), headers: { 'content-range': 'teams 0-6/45' } }),
    count: 7,
    state: 'doubtful',
    requests: 1,
  },
  {
    name: 'all of the list as a part (206)',
    reply: () => ({ status: 206, json: slice(0, 7), headers: { 'content-range': 'teams 0-6/7' } }),
    count: 7,
    state: 'complete',
    requests: 1,
  },
  {
    name: 'nine pages that stop after the first',
    reply: (request) =>
      json(
        textIn(request, 'cursor') === null
          ? { teams: slice(0), totalPages: 9, nextCursor: '20' }
          : { teams: slice(20) },
      ),
    count: 40,
    state: 'doubtful',
    requests: 2,
  },
  {
    name: 'the links of a list as a list',
    reply: (request) => {
      const at = numberIn(request, 'from', 0);
      const links = at + 20 < 45 ? [{ rel: 'next', href: `/v1/teams/org_7?from=${at + 20}` }] : [];
      return json({ teams: slice(at), links });
    },
    count: 45,
    state: 'complete',
    requests: 3,
  },
  {
    name: 'an empty last page under the name of the first',
    reply: (request) => {
      const at = cursorOf(request);
      return json({ squads: slice(at), crests: [], nextCursor: at < 45 ? String(at + 20) : null });
    },
    count: 45,
    state: 'complete',
    requests: 4,
  },
  {
    name: 'empty pages between the others, as a service sends that filters what it has read',
    reply: (request) => {
      const at = cursorOf(request);
      const teams = at % 20 === 0 ? slice(at) : [];
      return json({ teams, nextCursor: at < 40 ? String(at + 5) : null });
    },
    count: 45,
    state: 'complete',
    requests: 9,
  },
  {
    name: 'an empty page between the others, by their numbers',
    reply: (request) => {
      const page = numberIn(request, 'page', 1);
      const teams = page === 2 ? [] : slice(page === 1 ? 0 : page * 10 - 10, page === 1 ? 20 : 10);
      return json({ teams, page, totalPages: 5 });
    },
    count: 45,
    state: 'complete',
    requests: 5,
  },
  {
    name: 'an empty page between the others, and more after it',
    reply: (request) => {
      const page = numberIn(request, 'page', 1);
      const teams = page === 2 ? [] : slice(page === 1 ? 0 : 20, page === 1 ? 20 : 25);
      return json({ teams, page, hasMore: page < 3 });
    },
    count: 45,
    state: 'complete',
    requests: 3,
  },
  ...[
    { page: 1, totalPages: 0 },
    { page: 0, totalPages: 1 },
    { currentPage: 0, lastPage: 1 },
  ].map((pages) => ({
    name: `an empty list beside ${JSON.stringify(pages)}`,
    reply: () => json({ teams: [], ...pages }),
    count: 0,
    state: 'complete' as const,
    requests: 1,
  })),
  {
    name: 'nine pages, of which the first is empty',
    reply: () => json({ teams: [], page: 1, totalPages: 9 }),
    count: 0,
    state: 'doubtful',
    requests: 1,
  },
  {
    name: 'nine pages, of which the second has no content',
    reply: (request) =>
      textIn(request, 'page') === null
        ? json({ teams: slice(0, 7), page: 1, totalPages: 9 })
        : { status: 204 },
    count: 7,
    state: 'doubtful',
    requests: 2,
  },
  {
    name: 'empty pages without end',
    reply: (request) => {
      const at = cursorOf(request);
      return json({ teams: at === 0 ? slice(0, 7) : [], nextCursor: String(at + 1) });
    },
    count: 7,
    state: 'doubtful',
    requests: 102,
  },
  {
    name: 'forced offsets',
    overrides: { 'paging.mode': 'offset', 'paging.params.offset': 'skip' },
    reply: (request) => json(slice(numberIn(request, 'skip', 0))),
    count: 45,
    state: 'complete',
    requests: 4,
  },
  {
    name: 'paging switched off, and a cursor all the same',
    overrides: { 'paging.mode': 'none' },
    reply: () => json({ teams: slice(0), nextCursor: '20' }),
    count: 20,
    state: 'doubtful',
    requests: 1,
  },
  {
    name: 'paging switched off, and the cursor declared to be none',
    overrides: { 'paging.mode': 'none', 'paging.next': 'none' },
    reply: () => json({ teams: slice(0), nextCursor: '20' }),
    count: 20,
    state: 'complete',
    requests: 1,
  },
  {
    name: 'paging switched off, and a round number of records',
    overrides: { 'paging.mode': 'none' },
    reply: () => json({ teams: slice(0) }),
    count: 20,
    state: 'complete',
    requests: 1,
  },
  {
    name: 'a field named for the next page that this list does not have, and a cursor of its own',
    overrides: { 'paging.next': 'meta.continuation' },
    reply: () => json({ teams: slice(0), nextCursor: '20' }),
    count: 20,
    state: 'doubtful',
    requests: 1,
  },
  {
    name: 'paging switched off, and fewer than the service speaks of',
    overrides: { 'paging.mode': 'none' },
    reply: () => json({ teams: slice(0), total: 45 }),
    count: 20,
    state: 'doubtful',
    requests: 1,
  },
  {
    name: 'cursors wanted, and a link given',
    overrides: { 'paging.mode': 'cursor' },
    reply: (_, origin) => ({
      status: 200,
      json: { teams: slice(0) },
      headers: { link: `<${origin}/v1/teams/org_7?page=2>; rel="next"` },
    }),
    count: 20,
    state: 'doubtful',
    requests: 1,
  },
];

/** Lists of 45 records, of which one of the first page is deleted before the second is asked for. */
const shrinking: readonly { name: string; reply: (request: Recorded) => Reply }[] = [
  {
    name: 'pages with a total',
    reply: (request) => {
      const page = numberIn(request, 'page', 1);
      const teams = page === 1 ? slice(0) : slice(page * 20 - 19);
      return json({ teams, page, totalPages: 3, total: page === 1 ? 45 : 44 });
    },
  },
  {
    name: 'offsets with a total',
    reply: (request) => {
      const offset = numberIn(request, 'offset', 0);
      const teams = slice(offset === 0 ? 0 : offset + 1);
      return json({ teams, offset, limit: 20, total: offset === 0 ? 45 : 44 });
    },
  },
  {
    name: 'pages without a total, the last of which goes away',
    reply: (request) => {
      const page = numberIn(request, 'page', 1);
      const teams = page === 1 ? slice(0, 22) : slice(23, 22);
      return json({ teams, page, totalPages: page === 1 ? 3 : 2 });
    },
  },
];

/** A page of a list of 45, in which the 30th moved to the front after the first page was read. */
function moved(page: number): readonly JsonObject[] {
  const order = page === 1 ? all : [all[29], ...all.slice(0, 29), ...all.slice(30)];
  return order.slice(page * 20 - 20, page * 20).filter((each) => each !== undefined);
}

describe('paging', () => {
  test.each(shrinking)('a list that becomes shorter while it is read: $name', async ({ reply }) => {
    const service = await recordingService((request) => reply(request));
    const list = apiTo(service.baseUrl, {}).api.list('teams');
    let count = 0;
    for await (const _ of list) count += 1;
    expect(count).toBe(44);
    expect(list.completeness()).toMatchObject({
      state: 'doubtful',
      reason: 'the list shrank while it was being read',
    });
  });

  // Feathers takes a parameter that it does not know for a filter, which no record meets.
  test('a service that takes another parameter for the offset', async () => {
    const service = await recordingService((request) =>
      numberIn(request, 'offset', 0) === 0
        ? json({ total: 45, limit: 10, skip: 0, data: slice(0, 10) })
        : json({ total: 0, limit: 10, skip: 0, data: [] }),
    );
    const list = apiTo(service.baseUrl, {}).api.list('teams');
    let count = 0;
    for await (const _ of list) count += 1;
    expect(count).toBe(10);
    expect(list.completeness()).toEqual({
      state: 'doubtful',
      reason: 'the service ignored the requested offset',
      fixes: ['To find out how it pages: rosterctl doctor --shapes'],
    });
  });

  test('a list that becomes longer while it is read, at its front', async () => {
    const service = await recordingService((request) => {
      const offset = numberIn(request, 'offset', 0);
      const teams = offset === 0 ? slice(1, 20) : slice(offset, 20);
      return json({ teams, offset, limit: 20, total: offset === 0 ? 44 : 45 });
    });
    const list = apiTo(service.baseUrl, {}).api.list('teams');
    let count = 0;
    for await (const _ of list) count += 1;
    expect(count).toBe(44);
    expect(list.completeness()).toMatchObject({
      state: 'doubtful',
      reason: 'the list grew while it was being read',
      fixes: ['Run the same command again.'],
    });
  });

  // Newest change first: after the first page, team_30 changes and moves to the front.
  test.each([
    [
      'page numbers',
      (page: number) => json({ teams: moved(page), page, hasMore: page < 3 }),
      'doubtful',
    ],
    [
      'next URLs with page numbers',
      (page: number) =>
        json({ teams: moved(page), next: page < 3 ? `/v1/teams/org_7?page=${page + 1}` : null }),
      'doubtful',
    ],
    [
      'next URLs with a page number in brackets',
      (page: number) =>
        json({
          data: moved(page),
          links: page < 3 ? { next: `/v1/teams/org_7?page[number]=${page + 1}` } : {},
        }),
      'doubtful',
    ],
    [
      'next URLs with $skip',
      (page: number) =>
        json({
          items: moved(page),
          ...(page < 3 && { '@odata.nextLink': `/v1/teams/org_7?%24skip=${page * 20}` }),
        }),
      'doubtful',
    ],
    [
      'the number of the next page in a header',
      (page: number): Reply => ({
        status: 200,
        json: moved(page),
        headers: page < 3 ? { 'x-next-page': String(page + 1) } : {},
      }),
      'doubtful',
    ],
    [
      'a cursor that overlaps',
      (page: number) => json({ teams: moved(page), nextCursor: page < 3 ? String(page) : null }),
      'complete',
    ],
  ] as const)('a list whose records move while it is read, by %s', async (_, reply, state) => {
    const service = await recordingService((request) => {
      const page = textIn(request, 'page') ?? textIn(request, 'page[number]');
      const at = cursorOf(request) + cursorOf(request, '$skip') / 20;
      return reply(page === null ? at + 1 : Number(page));
    });
    const list = apiTo(service.baseUrl, {}).api.list('teams');
    let count = 0;
    for await (const _record of list) count += 1;
    expect([count, service.requests.length]).toEqual([44, 3]);
    expect(list.completeness()).toMatchObject(
      state === 'complete'
        ? { state }
        : { state, reason: 'records moved while the list was being read' },
    );
  });

  test.each(behaviours)('$name', async ({ reply, count, state, requests, overrides }) => {
    const service = await recordingService((request) => reply(request, service.origin));
    const { api, heard } = apiTo(service.baseUrl, { ...(overrides && { overrides }) });
    const list = api.list('teams');
    expect(() => list.completeness()).toThrow(BugError);
    const got: JsonObject[] = [];
    for await (const record of list) got.push(record);
    expect(got).toEqual(all.slice(0, count));
    expect(list.completeness().state).toBe(state);
    expect(service.requests).toHaveLength(requests);
    const doubts = heard.notes.filter((note) => note.startsWith('The list of teams may be'));
    expect(doubts).toHaveLength(state === 'complete' ? 0 : 1);
    if (state === 'complete') expect(heard.notes).toEqual([]);
  });

  test('a page of records without ids that repeats ends a list whose paging is configured', async () => {
    const service = await recordingService(() =>
      json([{ name: 'a' }, { name: 'a' }, { name: 'b' }]),
    );
    const overrides = { 'paging.mode': 'page', 'paging.first': '1' };
    const list = apiTo(service.baseUrl, { overrides }).api.list('teams');
    const got: JsonObject[] = [];
    for await (const record of list) got.push(record);
    expect(got).toHaveLength(6);
    expect(list.completeness()).toMatchObject({
      state: 'doubtful',
      reason: 'the service keeps sending the same records',
    });
    expect(service.requests).toHaveLength(2);
  });

  test('a service that ignores the parameter of the next page', async () => {
    const service = await recordingService(() =>
      json({ data: slice(0, 25), meta: { pagination: { page: 1, pageCount: 2, total: 45 } } }),
    );
    const { api, heard } = apiTo(service.baseUrl);
    for await (const _ of api.list('teams'));
    expect(heard.notes).toEqual([
      'The list of teams may be incomplete: the service keeps sending the same records.',
      'To find out how it pages: rosterctl doctor --shapes',
    ]);
  });

  test('a next page outside the base URL is named with its path', async () => {
    const service = await recordingService(() => json({ teams: slice(0), next: '/teams?page=2' }));
    const { api, heard } = apiTo(service.baseUrl);
    for await (const _ of api.list('teams'));
    expect(heard.notes).toEqual([
      `The list of teams may be incomplete: the service points to a next page elsewhere (${service.origin}/teams).`,
      'To find out how it pages: rosterctl doctor --shapes',
    ]);
  });

  test('the first request carries no paging parameter of ours', async () => {
    const service = await recordingService(() => json([]));
    for await (const _ of apiTo(service.baseUrl).api.list('tryouts'));
    expect(service.requests[0]?.url).toBe('/v1/tryout-applications?organizationId=org_7');
  });

  test('organizationId and the configured query stay on every page', async () => {
    const service = await recordingService((request) =>
      json({ applications: [{ id: request.url }], nextCursor: cursorOf(request) ? null : '1' }),
    );
    const overrides = { 'lists.tryouts.query': 'include=gamerTags' };
    for await (const _ of apiTo(service.baseUrl, { overrides }).api.list('tryouts'));
    expect(service.requests.map(({ url }) => url)).toEqual([
      '/v1/tryout-applications?organizationId=org_7&include=gamerTags',
      '/v1/tryout-applications?organizationId=org_7&include=gamerTags&cursor=1',
    ]);
  });

  test('a configured parameter that is there twice stays so on every page', async () => {
    const service = await recordingService((request) => {
      const ways = [{ nextCursor: '1' }, { next: '/v1/tryout-applications?cursor=2' }];
      return json({ data: [{ id: request.url }], ...ways[cursorOf(request)] });
    });
    const overrides = { 'lists.tryouts.query': 'include[]=a&include[]=b' };
    for await (const _ of apiTo(service.baseUrl, { overrides }).api.list('tryouts'));
    const sent = service.requests.map(({ url }) => new URL(url, 'http://x').searchParams);
    expect(sent.map((query) => query.get('cursor'))).toEqual([null, '1', '2']);
    for (const query of sent) expect(query.getAll('include[]')).toEqual(['a', 'b']);
  });

  test('the check of a key and a survey ask for a list as it is configured, too', async () => {
    const service = await recordingService(() => json([]));
    const overrides = { 'lists.teams.query': 'expand=ä' };
    const { api } = apiTo(service.baseUrl, { overrides });
    const path = '/teams/org_7?expand=%C3%A4';
    expect(api.describe({ endpoint: 'listTeams' }).path).toBe(path);
    await checkKey(api);
    await surveyList(api, 'teams', overrides, () => {});
    expect(new Set(service.requests.map(({ url }) => url))).toEqual(new Set([`/v1${path}`]));
  });

  test('a next link without the organization gets it added', async () => {
    const service = await recordingService((request) =>
      textIn(request, 'page') === '2'
        ? json({ data: [{ id: 'b' }] })
        : json({ data: [{ id: 'a' }], next: '/v1/tryout-applications?page=2' }),
    );
    for await (const _ of apiTo(service.baseUrl).api.list('tryouts'));
    expect(service.requests[1]?.url).toContain('organizationId=org_7');
  });

  test('records arrive while later pages are still outstanding', async () => {
    const service = await recordingService((request) => {
      const at = cursorOf(request);
      return json({ data: slice(at), nextCursor: following(at) });
    });
    for await (const record of apiTo(service.baseUrl).api.list('teams')) {
      expect(record['id']).toBe('t0');
      break;
    }
    expect(service.requests).toHaveLength(1);
  });

  test('a possibly incomplete list is an error when strict, after its records', async () => {
    const service = await recordingService(() => json({ teams: slice(0), total: 45 }));
    const { api } = apiTo(service.baseUrl, { strict: true });
    const got: unknown[] = [];
    const walk = async () => {
      for await (const record of api.list('teams')) got.push(record);
    };
    expect(await thrownBy(walk())).toBeInstanceOf(ProtocolError);
    expect(got).toHaveLength(20);
  });

  test('an answer without a list is an error that names its keys and the setting', async () => {
    const service = await recordingService(() => json({ squads: { a: 1 }, ok: true }));
    const { api } = apiTo(service.baseUrl);
    const error = await thrownBy(api.list('teams')[Symbol.asyncIterator]().next());
    expect(error).toBeInstanceOf(ProtocolError);
    expect((error as ProtocolError).message).toContain('squads, ok');
    expect((error as ProtocolError).hint).toContain('rosterctl doctor --shapes --apply');
  });

  test.each<[string, unknown, string]>([
    ['a bare array', [{ id: 'a' }], 'a bare array'],
    ['the usual name', { teams: [{ id: 'a' }] }, 'teams'],
  ])(
    'a lists.*.path that is not that of %s is named, and how to leave it out',
    async (_, body, top) => {
      const service = await recordingService(() => json(body));
      const overrides = { 'lists.teams.path': 'data.squads' };
      const { api } = apiTo(service.baseUrl, { overrides });
      expect(await thrownBy(api.list('teams')[Symbol.asyncIterator]().next())).toMatchObject({
        message: `No list of teams was found at "data.squads" (lists.teams.path) in the answer, which holds: ${top}.`,
        hint: 'To let rosterctl find it: rosterctl config set lists.teams.path auto',
      });
      const { settings, findings, pages } = await surveyList(api, 'teams', overrides, () => {});
      expect([settings, pages?.count]).toEqual([{ 'lists.teams.path': 'auto' }, 1]);
      expect(findings[0]).toMatchObject({
        result: 'warn',
        settings: [['lists.teams.path', 'auto']],
      });
    },
  );

  test('a service that fails in the middle breaks the list', async () => {
    const service = await recordingService((request) =>
      cursorOf(request) === 0
        ? json({ data: slice(0), nextCursor: '20' })
        : { status: 403, json: { error: 'forbidden' } },
    );
    const list = apiTo(service.baseUrl).api.list('teams');
    const walk = async () => {
      for await (const _ of list);
    };
    expect(await thrownBy(walk())).toMatchObject({ status: 403 });
    expect(() => list.completeness()).toThrow(BugError);
  });

  test('drift in a hundred rows is reported once, and numeric ids become text', async () => {
    const many = Array.from({ length: 99 }, (_, index) => ({ id: index, name: 'x' }));
    const service = await recordingService(() => json(many));
    const { api, heard } = apiTo(service.baseUrl);
    const ids: unknown[] = [];
    for await (const { id } of api.list('teams')) ids.push(id);
    expect(ids[7]).toBe('7');
    expect(heard.notes).toEqual([
      'GET /teams/{organizationId}: id: a number where the contract has text',
    ]);
  });
});

test("the service's own filter by status is used where the admin names it, for a single one", async () => {
  const service = await recordingService(() => ({ status: 200, json: { applications: [] } }));
  const home = temporaryFolder();
  await rosterctl('config set filters.tryouts.status state', { home });
  const run = (line: string) => rosterctl(line, { home, env: service.env });
  await run('tryouts list --status pending --json');
  await run('tryouts list --status pending,accepted --json');
  await run('tryouts set-status --status pending --to rejected --dry-run');
  const states = service.requests.map(({ url }) =>
    new URL(url, 'http://x').searchParams.get('state'),
  );
  expect(states).toEqual(['pending', null, 'pending']);
});
