/** Envelopes and records: where a service puts a list or a record, and how it spells them. */
import { resourceNames } from '../../src/data/resources.js';
import { numberOfId, type StoredRecord } from '../../src/sandbox/records.js';
import type { Shape } from './cell.js';

type More = Partial<Omit<Shape, 'table' | 'name' | 'shapes'>>;

const shape = (name: string, shapes: readonly string[], more: More = {}): Shape => ({
  table: 'envelopes',
  name,
  shapes,
  ...more,
});

/** A whole list that the tool must find by itself. */
const found = (name: string, list: string, ...also: string[]): Shape =>
  shape(name, [`list=${list}`, ...also], { promise: 'right' });

/** A list that may be refused, and must not be mistaken. */
const odd = (name: string, list: string, ...also: string[]): Shape =>
  shape(name, [`list=${list}`, ...also]);

const foundLists: readonly Shape[] = [
  found('a bare array', '"$rows"'),
  found('the name of the resource', '{"$resource":"$rows"}'),
  shape(
    'the name in capitals',
    [
      'list={"$resource":"$rows"}',
      'list.players={"Players":"$rows"}',
      'list.teams={"TEAMS":"$rows"}',
      'list.tryouts={"Applications":"$rows"}',
    ],
    { promise: 'right' },
  ),
  shape(
    'another spelling',
    [
      'list={"$resource":"$rows"}',
      'list.players={"player":"$rows"}',
      'list.tryouts={"tryout_applications":"$rows"}',
      'list.documents={"Document":"$rows"}',
    ],
    { promise: 'right' },
  ),
  shape('tryouts', ['list={"$resource":"$rows"}', 'list.tryouts={"tryouts":"$rows"}'], {
    promise: 'right',
  }),
  ...[
    'data',
    'items',
    'results',
    'result',
    'records',
    'values',
    'entries',
    'content',
    'rows',
    'list',
    'Items',
  ].map((key) => found(key, `{"${key}":"$rows"}`)),
  found('data with the resource in it', '{"data":{"$resource":"$rows"}}'),
  found('data.items', '{"data":{"items":"$rows"}}'),
  found('result.records', '{"result":{"records":"$rows"},"status":"ok"}'),
  found('response.data', '{"response":{"data":"$rows"}}'),
  found('payload with the resource in it', '{"payload":{"$resource":"$rows"}}'),
  found('body.items', '{"body":{"items":"$rows"}}'),
  found('beside meta', '{"meta":{"version":3},"data":"$rows","links":[],"errors":[]}'),
  found('the only array, unknown', '{"squads":"$rows"}'),
  found('beside included', '{"data":"$rows","included":[{"id":"x_1","type":"team"}]}'),
  found(
    'beside the array of another resource',
    '{"data":"$rows","games":[{"id":"g_1","name":"Chess"}]}',
  ),
  shape(
    'the resource beside another',
    [
      'list={"$resource":"$rows"}',
      'list.players={"teams":[{"id":"team_0001","name":"T"}],"players":"$rows"}',
      'list.teams={"players":[{"id":"player_0001","name":"P"}],"teams":"$rows"}',
    ],
    { promise: 'right' },
  ),
  shape('edges and nodes', ['list={"edges":"$edges"}'], {
    promise: 'right',
    settings: settings('edges[].node'),
  }),
  shape('edges below data', ['list={"data":{"page":{"edges":"$edges"}}}'], {
    promise: 'right',
    settings: settings('data.page.edges[].node'),
  }),
  shape('a map by id', ['list={"byId":"$rowsById"}'], {
    promise: 'right',
    settings: settings('byId'),
  }),
  shape('a map by id below data', ['list={"data":{"byId":"$rowsById"}}'], {
    promise: 'right',
    settings: settings('data.byId'),
  }),
  shape('a path that is set', ['list={"a":[{"id":"1"}],"b":{"c":"$rows"}}'], {
    promise: 'right',
    settings: settings('b.c'),
  }),
];

function settings(path: string): Record<string, string> {
  return Object.fromEntries(resourceNames.map((name) => [`lists.${name}.path`, path]));
}

const oddLists: readonly Shape[] = [
  shape('edges, path unset', ['list={"edges":"$edges"}'], { looksOtherwise: true }),
  odd('a map by id, path unset', '{"$resource":"$rowsById"}'),
  shape('a path that leads nowhere', ['list={"data":"$rows"}'], {
    settings: settings('data.items'),
  }),
  odd('errors beside rows', '{"data":"$rows","errors":[{"message":"One shard did not answer."}]}'),
  odd('error beside rows', '{"$resource":"$rows","error":"partialResult"}'),
  odd('success: false beside rows', '{"$resource":"$rows","success":false}'),
  odd('errors beside an empty list', '{"data":[],"errors":[{"message":"The index is down."}]}'),
  odd(
    'error beside an empty list',
    '{"$resource":[],"error":"indexDown","message":"The index is down."}',
  ),
  odd('errors beside null', '{"data":null,"errors":[{"message":"The index is down."}]}'),
  odd('ok: false beside an empty list', '{"ok":false,"$resource":[]}'),
  odd('status: error beside an empty list', '{"status":"error","data":[]}'),
  odd('code 503 beside an empty list', '{"code":503,"data":[],"message":"Later."}'),
  odd('code 40301 alone', '{"code":40301,"message":"No access."}'),
  odd('success: false alone', '{"success":false,"message":"No access."}'),
  odd('error alone', '{"error":"forbidden","message":"No access."}'),
  odd('errors alone', '{"errors":["No access."]}'),
  odd('two unknown arrays', '{"squads":"$rows","rosters":[{"id":"r_1"}]}'),
  odd('an array of arrays', '{"data":["$rows"]}'),
  odd('an array with null', '{"data":[null]}'),
  odd('an array of ids', '{"data":["player_0001","player_0002"]}'),
  odd('no object', '{}'),
  odd('a text', '"none"'),
  odd('ok: true alone', '{"ok":true}'),
  odd('a web page', '200 <html><title>Sign in</title></html>'),
  odd('plain text', '200 Service is starting'),
  odd('HTML as JSON', '200 <html></html>', 'list.headers={"content-type":"application/json"}'),
  odd(
    'half a body',
    '200 {"data":[{"id":"player_0001"}',
    'list.headers={"content-type":"application/json"}',
  ),
  odd('null, though there are records', '200 null'),
  odd('204, though there are records', '204'),
  odd('an empty unknown array, though there are records', '{"squads":[]}'),
  odd('an empty array, and a count', '{"$resource":[],"total":"$total"}'),
  odd('202', '202 {"status":"building"}'),
];

/** Nothing stored: an empty list is no error. */
const empty = (name: string, list: string): Shape =>
  shape(`empty: ${name}`, [`list=${list}`], { isEmpty: true });

const emptyLists: readonly Shape[] = [
  { ...empty('a bare array', '"$rows"'), promise: 'right' },
  { ...empty('the resource', '{"$resource":"$rows","total":0}'), promise: 'right' },
  { ...empty('data', '{"data":"$rows","hasMore":false}'), promise: 'right' },
  empty('null', '200 null'),
  empty('204', '204'),
  empty('data: null', '{"data":null}'),
  empty('an unknown array', '{"squads":[]}'),
  empty('no object', '{}'),
];

const idNumber = (record: StoredRecord): string => String(numberOfId(record.id));

const records: readonly Shape[] = [
  shape('ids are numbers', ['ids=number'], {
    promise: 'right',
    looksOtherwise: true,
    idOf: idNumber,
  }),
  shape('_id', ['ids=_id'], { looksOtherwise: true, settings: ids('_id'), promise: 'right' }),
  shape('_id, unset', ['ids=_id'], { looksOtherwise: true }),
  shape('uuid', ['ids=uuid'], { looksOtherwise: true, settings: ids('uuid'), promise: 'right' }),
  shape('numbers in _id', ['ids=number,_id'], {
    looksOtherwise: true,
    settings: ids('_id'),
    idOf: idNumber,
    promise: 'right',
  }),
  shape('snake_case', ['casing=snake'], { looksOtherwise: true }),
  shape('kebab-case', ['casing=kebab'], { looksOtherwise: true }),
  shape('PascalCase', ['casing=pascal'], { looksOtherwise: true }),
  shape(
    'JSON:API',
    [
      'list={"data":"$rows"}',
      'get=data',
      'record={"type":"$resource","id":"$id","attributes":"$fields"}',
    ],
    { looksOtherwise: true },
  ),
  shape('a wrapper around each', ['list={"data":"$rows"}', 'record={"$singular":"$record"}'], {
    looksOtherwise: true,
  }),
  shape('attributes without an id', ['list={"data":"$rows"}', 'record={"attributes":"$fields"}'], {
    looksOtherwise: true,
  }),
  shape('more fields', ['record={"...":"$record","extra":{"id":"x","next":"y"}}'], {
    looksOtherwise: true,
    promise: 'right',
  }),
];

function ids(field: string): Record<string, string> {
  return Object.fromEntries(resourceNames.map((name) => [`ids.${name}`, field]));
}

/** Answers to the read of one record. */
const gets: readonly Shape[] = [
  ...[
    ['wrapped', '{"$singular":"$record"}'],
    ['data', '{"data":"$record"}'],
    ['item', '{"item":"$record"}'],
    ['result', '{"result":{"$singular":"$record"}}'],
    ['beside the organization', '{"organization":{"id":"org_demo"},"$singular":"$record"}'],
    ['beside no error', '{"error":null,"data":"$record","success":true,"code":0}'],
    ['an unknown wrapper', '{"thing":"$record"}'],
    ['an array of one', '["$record"]'],
    ['data as an array of one', '{"data":["$record"]}'],
  ].map(([name, get]) => shape(`get: ${name}`, [`get=${get}`])),
  ...[
    ['error beside the record', '{"error":"stale","data":"$record"}'],
    ['success: false', '{"success":false,"message":"No."}'],
    ['another record', '{"id":"other_1","name":"Other"}'],
    ['the organization alone', '{"organization":{"id":"org_demo","name":"Org"}}'],
    ['a job', '{"job":{"id":"job_1"}}'],
    ['null', '200 null'],
    ['data: null', '{"data":null}'],
    ['no object', '{}'],
    ['a web page', '200 <html></html>'],
    ['204', '204'],
    ['text', '200 fine'],
  ].map(([name, get]) => shape(`get: ${name}`, [`get=${get}`])),
  ...[
    ['200 with an error', '200 {"error":"notFound","message":"There is none."}'],
    ['200 with null', '200 null'],
    ['200 with data: null', '200 {"data":null}'],
    ['200 with an empty array', '200 []'],
    ['200 with no object', '200 {}'],
    ['200 with success: false', '200 {"success":false}'],
    ['204', '204'],
    ['410', '410 {"error":"gone"}'],
    ['400', '400 {"error":"invalidId"}'],
    ['a web page with 404', '404 <html></html>'],
    ['text with 404', '404 nothing here'],
    ['a page that says 200', '200 <html>Not found</html>'],
  ].map(([name, error]) => shape(`not found: ${name}`, [`error.404=${error}`])),
];

const singles = ['teams', 'players', 'tryouts'].flatMap((noun) => [
  `${noun} get LAST`,
  `${noun} get MISSING`,
]);

/** Every envelope and every look of a record. */
export const envelopes: readonly Shape[] = [
  ...foundLists,
  ...oddLists,
  ...emptyLists,
  ...records,
  ...gets.map((each): Shape => ({ ...each, only: singles })),
];
