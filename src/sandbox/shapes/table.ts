/** The table of shapes: every KEY of `sandbox start --shape KEY=VALUE`, with the names of its values. */

/** The meaning of a name: a template, and its companions. */
interface Named {
  readonly template: string;
  /** A JSON object of headers. */
  readonly headers?: string;
}

type Names = Readonly<Record<string, Named>>;

/** A key: what its value may be. Without a value the first name is in force. */
export interface ShapeKey {
  /** The meaning of a value, for keys whose names do not say it. */
  readonly about?: string;
  /**
   * `answer`: a name or a template. `choice`: a name. `ids`: names and fields, with commas. The
   * others are not names: a template of a record, headers, a number, parameters, a route.
   */
  readonly value: 'answer' | 'choice' | 'ids' | 'record' | 'headers' | 'number' | 'words' | 'path';
  readonly names?: Names;
  /** The words allowed after the key and a dot: a resource, one whose routes are assumed, a status. */
  readonly of: 'resource' | 'assumed' | 'status';
  /** The placeholders that its template may hold. */
  readonly placeholders?: readonly string[];
}

const everywhere = ['resource', 'singular', 'organization'];
const inWrites = [...everywhere, 'record', 'id', 'old', 'player', 'playerId', 'application'];
const inLinks = [...everywhere, 'record', 'id', 'url', 'path', 'expiresAt', 'file'];
const inErrors = ['code', 'message', 'status'];
const inLists = [
  ...everywhere,
  ...['rows', 'rowsById', 'edges', 'total', 'count', 'page', 'pages', 'size', 'offset', 'prev'],
  ...['next', 'nextPage', 'nextOffset', 'nextUrl', 'nextPath', 'lastId', 'more', 'last'],
];

const list: Names = {
  resource: { template: '{"$resource":"$rows","total":"$total"}' },
  array: { template: '"$rows"' },
  data: { template: '{"data":"$rows","total":"$total"}' },
  items: { template: '{"items":"$rows","total":"$total"}' },
  results: { template: '{"results":"$rows","total":"$total"}' },
  nested: { template: '{"data":{"$resource":"$rows"},"meta":{"total":"$total"}}' },
  edges: { template: '{"edges":"$edges","total":"$total"}' },
  map: { template: '{"$resource":"$rowsById","total":"$total"}' },
};

/** How a list is paged; the template is merged into a list answer that has a name. */
const paging: Names = {
  none: { template: '{}' },
  page: { template: '{"page":"$page","totalPages":"$pages"}' },
  page0: { template: '{"page":"$page","totalPages":"$pages"}' },
  offset: { template: '{"offset":"$offset","limit":"$size"}' },
  cursor: { template: '{"nextCursor":"$next"}' },
  link: { template: '{}', headers: '{"Link":"<$nextUrl>; rel=\\"next\\""}' },
  'last-id': { template: '{"hasMore":"$more"}' },
};

const record = (status: number): Names => ({
  record: { template: `${status} "$record"` },
  wrapped: { template: `${status} {"$singular":"$record"}` },
  data: { template: `${status} {"data":"$record"}` },
});

const written = (status: number, empty: number): Names => ({
  ...record(status),
  id: { template: `${status} {"id":"$id"}` },
  empty: { template: String(empty) },
  success: { template: '200 {"success":true}' },
});

const deleted: Names = {
  empty: { template: '204' },
  '200-empty': { template: '200' },
  success: { template: '200 {"success":true}' },
  record: { template: '200 "$old"' },
  accepted: { template: '202' },
};

const converted: Names = {
  wrapped: { template: '201 {"player":"$player","application":"$application"}' },
  record: { template: '201 "$player"' },
  application: { template: '201 "$application"' },
  id: { template: '201 {"playerId":"$playerId"}' },
  empty: { template: '204' },
};

const link: Names = {
  url: { template: '{"url":"$url","expiresAt":"$expiresAt"}' },
  downloadUrl: { template: '{"downloadUrl":"$url","expiresAt":"$expiresAt"}' },
  nested: { template: '{"data":{"signedUrl":"$url"}}' },
  redirect: { template: '302 $url' },
  bytes: { template: '200 $file' },
  text: { template: '200 $url' },
};

const error: Names = {
  code: { template: '{"error":"$code","message":"$message"}' },
  message: { template: '{"message":"$message"}' },
  list: { template: '{"errors":[{"code":"$code","message":"$message"}]}' },
  problem: {
    template: '{"type":"about:blank","title":"$code","status":"$status","detail":"$message"}',
    headers: '{"content-type":"application/problem+json"}',
  },
  text: { template: '$message' },
  html: { template: '<!doctype html><title>$status</title><h1>$message</h1>' },
};

const words = (...names: string[]): Names =>
  Object.fromEntries(names.map((name) => [name, { template: '' }]));

const answer = (names: Names, placeholders: readonly string[]): ShapeKey => ({
  value: 'answer',
  names,
  of: 'resource',
  placeholders,
});

const answers = {
  list: answer(list, inLists),
  get: answer(record(200), inWrites),
  create: answer(written(201, 201), inWrites),
  update: answer(written(200, 204), inWrites),
  delete: answer(deleted, inWrites),
  convert: answer(converted, inWrites),
  download: answer(link, inLinks),
  preview: answer(link, inLinks),
  upload: answer(
    { grant: { template: '{"key":"$key","fileRef":"$fileRef","uploadUrl":"$uploadUrl"}' } },
    [...everywhere, 'key', 'fileRef', 'uploadUrl'],
  ),
  error: { ...answer(error, inErrors), of: 'status' },
} satisfies Record<string, ShapeKey>;

/** Something that the sandbox answers. */
export type AnswerName = keyof typeof answers;

const headers = Object.entries(answers).map(([name, { of, placeholders }]) => [
  `${name}.headers`,
  {
    about: 'a JSON object of headers beside that answer',
    value: 'headers',
    of,
    placeholders: placeholders ?? [],
  } satisfies ShapeKey,
]);

const effect = (...more: string[]): ShapeKey => ({
  about: 'when it is carried out',
  value: 'choice',
  names: words('done', 'none', 'late', ...more),
  of: 'resource',
});

const ofList = { value: 'answer', of: 'resource', placeholders: inLists } as const;

/** Every key. */
export const shapeKeys: Readonly<Record<string, ShapeKey>> = {
  ...answers,
  ...(Object.fromEntries(headers) as Record<string, ShapeKey>),
  'list.last': { ...ofList, about: 'the answer of the last page' },
  'list.empty': { ...ofList, about: 'the answer of a list without records' },
  paging: { value: 'choice', names: paging, of: 'resource' },
  'paging.param': {
    about: 'the query parameter that selects the page',
    value: 'words',
    of: 'resource',
  },
  'paging.limit': { about: 'the query parameter of its size', value: 'words', of: 'resource' },
  'paging.end': {
    about: 'whether an empty page follows the last',
    value: 'choice',
    names: words('exact', 'empty'),
    of: 'resource',
  },
  'page-size': { about: 'records of a page, 20', value: 'number', of: 'resource' },
  'page-size.max': { about: 'the most that a request gets, 100', value: 'number', of: 'resource' },
  'create.effect': effect(),
  'update.effect': effect(),
  'delete.effect': effect('soft'),
  'convert.effect': effect(),
  'update.method': {
    value: 'choice',
    names: words('PATCH', 'PUT-merge', 'PUT-replace', 'POST'),
    of: 'assumed',
  },
  'delete.method': {
    value: 'choice',
    names: words('DELETE', 'POST'),
    of: 'assumed',
  },
  'update.path': {
    about: 'a route such as /{resource}/{organizationId}/{id}',
    value: 'path',
    of: 'assumed',
  },
  'delete.path': {
    about: 'a route such as /{resource}/{organizationId}/{id}',
    value: 'path',
    of: 'assumed',
  },
  record: {
    about: 'a JSON template of every record',
    value: 'record',
    of: 'resource',
    placeholders: [...everywhere, 'record', 'id', 'fields'],
  },
  ids: {
    about: 'or their field, such as _id or number,_id',
    value: 'ids',
    names: words('text', 'number'),
    of: 'resource',
  },
  casing: {
    about: 'names of fields',
    value: 'choice',
    names: words('camel', 'snake', 'kebab', 'pascal'),
    of: 'resource',
  },
};

/** The keys and their values for completion: `list=resource|array paging=none|page page-size=`. */
export const shapeWords = Object.entries(shapeKeys)
  .map(([key, { names = {} }]) => `${key}=${Object.keys(names).join('|')}`)
  .join(' ');

/** Rows of keys and what their values may be; keys with the same values share a row. */
export function shapeRows(): readonly (readonly [keys: string, values: string])[] {
  const byValues = new Map<string, string[]>();
  for (const [key, row] of Object.entries(shapeKeys)) {
    const values = valuesOf(row);
    byValues.set(values, [...(byValues.get(values) ?? []), key]);
  }
  return [...byValues].map(([values, keys]) => [joined(keys), values]);
}

/** The placeholders of each kind of template. */
export function placeholderRows(): readonly (readonly [kind: string, names: string])[] {
  const inAll = placeholdersOf('list').filter((name) => placeholdersOf('create').includes(name));
  const own = (kind: string, key = kind) =>
    row(
      kind,
      placeholdersOf(key).filter((name) => !inAll.includes(name)),
    );
  return [
    own('list'),
    own('get, create …', 'create'),
    own('download'),
    own('error'),
    own('record'),
    row('all but error', inAll),
  ];
}

const placeholdersOf = (key: string) => shapeKeys[key]?.placeholders ?? [];
const row = (kind: string, names: readonly string[]) =>
  [kind, names.map((name) => `$${name}`).join(' ')] as const;

function valuesOf({ names, value, about }: ShapeKey): string {
  const known = Object.keys(names ?? {}).join(', ');
  if (known === '' || about === undefined) return about ?? known;
  return value === 'ids' ? `${known}, ${about}` : `${known}: ${about}`;
}

/** `a, b`; of many with the same ending `*.ending`. */
function joined(keys: readonly string[]): string {
  const endings = new Set(keys.map((key) => key.replace(/^[^.]*/, '*')));
  return keys.length > 2 && endings.size === 1 ? [...endings].join() : keys.join(', ');
}
