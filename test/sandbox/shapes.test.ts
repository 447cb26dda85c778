import { expect, test } from 'vitest';
import { parseShapes } from '../../src/sandbox/shapes/shapes.js';
import { shapeKeys } from '../../src/sandbox/shapes/table.js';
import { call, shaped, short, wire } from './client.js';

const lists: readonly (readonly [shapes: string[], answer: string])[] = [
  [[], '200 {"teams":[{"id":"team_0001"}],"total":6}'],
  [['list=array'], '200 [{"id":"team_0001"}]'],
  [['list=data'], '200 {"data":[{"id":"team_0001"}],"total":6}'],
  [['list=items'], '200 {"items":[{"id":"team_0001"}],"total":6}'],
  [['list=results'], '200 {"results":[{"id":"team_0001"}],"total":6}'],
  [['list=nested'], '200 {"data":{"teams":[{"id":"team_0001"}]},"meta":{"total":6}}'],
  [['list=edges'], '200 {"edges":[{"node":{"id":"team_0001"},"cursor":"YXQ6MQ"}],"total":6}'],
  [['list=map'], '200 {"teams":{"team_0001":{"id":"team_0001"}},"total":6}'],
  [['list.teams=array', 'list=data'], '200 [{"id":"team_0001"}]'],
  [['list.players=array'], '200 {"teams":[{"id":"team_0001"}],"total":6}'],
  [
    ['list={"$singular":"$rows","of":"$organization"}'],
    '200 {"team":[{"id":"team_0001"}],"of":"org_demo"}',
  ],
  [['list=206 {"n":"$count of $total","r":"$$5"}'], '206 {"n":"1 of 6","r":"$5"}'],
  [['list=200 none today'], '200 text/plain: none today'],
  [['list=<p>$total</p>'], '200 text/html: <p>6</p>'],
  [['list=200 null'], '200 null'],
  [['list=204'], '204'],
  [['paging=page'], '200 {"teams":[{"id":"team_0001"}],"total":6,"page":1,"totalPages":6}'],
  [['paging=page0'], '200 {"teams":[{"id":"team_0001"}],"total":6,"page":0,"totalPages":6}'],
  [['paging=offset'], '200 {"teams":[{"id":"team_0001"}],"total":6,"offset":0,"limit":1}'],
  [['paging=cursor'], '200 {"teams":[{"id":"team_0001"}],"total":6,"nextCursor":"YXQ6MQ"}'],
  [['paging=last-id'], '200 {"teams":[{"id":"team_0001"}],"total":6,"hasMore":true}'],
  [
    ['paging=page', 'list={"next":"$next","prev":"$prev?","n":"$nextPage"}'],
    '200 {"next":2,"n":2}',
  ],
  [
    ['paging=page', 'list={"next":"$nextUrl","path":"$nextPath"}'],
    '200 {"next":"URL","path":"/v1/teams/org_demo?page=2"}',
  ],
  [
    ['paging=offset', 'list={"next":"$nextOffset","last":"$last","id":"$lastId"}'],
    '200 {"next":1,"last":false,"id":"team_0001"}',
  ],
];

test.each(lists)('a list with %j', async (shapes, answer) => {
  const sandbox = await shaped(short, 'page-size=1', ...shapes);
  expect(wire(await call(sandbox, 'GET /teams/org_demo'))).toBe(answer);
});

/** Follows a list to its end by the word that the mode reads. */
const pagings: readonly (readonly [shapes: string[], queries: string[], counts: string])[] = [
  [['paging=page'], ['', '?page=2', '?page=3'], '4 2 0'],
  [['paging=page0'], ['', '?page=1', '?page=2'], '4 2 0'],
  [['paging=link'], ['', '?page=2'], '4 2'],
  [['paging=offset'], ['', '?offset=4', '?offset=5&limit=3'], '4 2 1'],
  [['paging=cursor'], ['', '?cursor=YXQ6NA', '?cursor=YXQ6NA&limit=1'], '4 2 1'],
  [['paging=last-id'], ['', '?after=team_0004'], '4 2'],
  [['paging=last-id', 'ids=number'], ['', '?after=4'], '4 2'],
  [['paging=page', 'paging.param=p,seite', 'paging.limit=n'], ['?seite=2', '?p=2&n=5'], '2 1'],
  [['paging=page', 'page-size.max=3'], ['?limit=50', '?limit=2'], '3 2'],
  [['paging=none'], ['', '?page=2'], '4 4'],
  [['paging.players=page'], ['', '?page=2'], '4 4'],
];

test.each(pagings)('pages with %j', async (shapes, queries, counts) => {
  const sandbox = await shaped('page-size=4', 'list=array', ...shapes);
  const found = [];
  for (const query of queries) {
    const { text } = await call(sandbox, `GET /teams/org_demo${query}`);
    found.push((JSON.parse(text) as unknown[]).length);
  }
  expect(found.join(' ')).toBe(counts);
});

test('the last page has a shape of its own, a Link header has no next, and an empty list is empty', async () => {
  const sandbox = await shaped(
    ...[
      'paging=link',
      'page-size=4',
      short,
      'list.last={"r":"$rows","next":"$next"}',
      'list.empty=204',
    ],
  );
  const first = await call(sandbox, 'GET /teams/org_demo?limit=5');
  expect(first.headers['link']).toBe(
    `<${sandbox.baseUrl}/teams/org_demo?limit=5&page=2>; rel="next"`,
  );
  const last = await call(sandbox, 'GET /teams/org_demo?page=2&limit=5');
  expect(last.headers['link']).toBeUndefined();
  expect(wire(last)).toBe('200 {"r":[{"id":"team_0006"}],"next":null}');
  const key = sandbox.keys.other_org;
  expect(wire(await call(sandbox, 'GET /teams/org_other', undefined, { key }))).toBe('204');
});

test('a list that says more until an empty page', async () => {
  const sandbox = await shaped(
    'paging=page',
    'page-size=6',
    'paging.end=empty',
    'list={"n":"$count","next":"$next"}',
  );
  expect(wire(await call(sandbox, 'GET /teams/org_demo'))).toBe('200 {"n":6,"next":2}');
  expect(wire(await call(sandbox, 'GET /teams/org_demo?page=2'))).toBe('200 {"n":0,"next":null}');
});

test.each(
  Object.entries(shapeKeys).flatMap(([key, { names = {} }]) =>
    Object.entries(names).map(([name, { template }]) => [`${key}=${name}`, key, template] as const),
  ),
)('%s stands for what one may write oneself', (shape, key, template) => {
  const asWritten = key === 'paging' || template === '' ? [] : [`${key}=200 ${template}`];
  expect(() => parseShapes([shape, ...asWritten])).not.toThrow();
});

test.each([
  ['list', 'Not a shape: "list". Write KEY=VALUE.', 'Keys: list, get, '],
  ['lits=data', 'Unknown shape "lits". Did you mean list?', 'Keys: list, '],
  ['list.team=data', 'Unknown shape "list.team". Did you mean list.teams?', 'Keys: list, '],
  ['update.path.tryouts=/x/{id}', 'Unknown shape "update.path.tryouts".', 'Keys: '],
  [
    'list=dtaa',
    'Unknown value "dtaa" for list. Did you mean data?',
    'Use one of: resource, array, ',
  ],
  [
    'paging=curser',
    'Unknown value "curser" for paging. Did you mean cursor?',
    'Use one of: none, page, ',
  ],
  ['create.effect=soft', 'Unknown value "soft" for create.effect.', 'Use one of: done, none, late'],
  ['list={"a":"$rwos"}', 'list has no $rwos. Did you mean $rows?', 'It has: $resource, '],
  ['page-size=0', 'page-size must be a number of records, not "0".', ''],
  ['update.path=/teams', 'update.path must be a path with {id}, not "/teams".', ''],
  ['list.headers=x', 'list.headers must be a JSON object, not "x".', ''],
])('%s is refused', async (shape, message, hint) => {
  const refused = await shaped(shape).catch((error: unknown) => error);
  expect(refused).toMatchObject({ message: expect.stringContaining(message) });
  expect((refused as { hint?: string }).hint ?? '').toContain(hint);
});
