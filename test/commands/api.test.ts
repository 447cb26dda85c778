import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { converse } from '../support/converse.js';
import { inProcess } from '../support/in-process.js';
import { errorOf, rosterctl, temporaryFolder } from '../support/run.js';
import { key, type Recorded, type Reply, recordingService } from '../support/service.js';

function service(
  answer: (request: Recorded) => Reply = () => ({ status: 200, json: { ok: true } }),
) {
  return recordingService(answer);
}

const wire = ({ method, url, body }: Recorded) => [
  `${method} ${url}`,
  body.length > 0 ? (JSON.parse(body.toString()) as unknown) : undefined,
];

test.each([
  ['teams/{org}', 'GET /v1/teams/org_7', undefined],
  ['/teams/{org}', 'GET /v1/teams/org_7', undefined],
  ['things?x=1 --param y=2 --param z=a=b', 'GET /v1/things?x=1&y=2&z=a%3Db', undefined],
  ['things -X get -f a=07 -F b=1', 'GET /v1/things?b=1&a=07', undefined],
  ['things -X get -F a.b={} -F c=[1]', 'GET /v1/things?a.b=%7B%7D&c=%5B1%5D', undefined],
  ['things -F a=1 -f b=2', 'POST /v1/things', { a: 1, b: '2' }],
  ['things -X PUT -F tags[]=x', 'PUT /v1/things', { tags: ['x'] }],
  ['things --param org={org} --param x={org}s', 'GET /v1/things?org=org_7&x=%7Borg%7Ds', undefined],
  ['things -F a={org} -f b={org}', 'POST /v1/things', { a: 'org_7', b: 'org_7' }],
  ['things -X PATCH', 'PATCH /v1/things', undefined],
  ['things -X DELETE --yes', 'DELETE /v1/things', undefined],
])('api %s sends %s', async (line, head, body) => {
  const api = await service();
  const ran = await inProcess(`api ${line} --json`, { env: api.env });
  expect([ran.code, ran.stdout]).toEqual([0, '{"ok":true}\n']);
  expect(api.requests.map(wire)).toEqual([[head, body]]);
  expect(api.requests[0]?.headers['content-type']).toBe(body ? 'application/json' : undefined);
});

test('a method that is not known is refused with those that are', async () => {
  const ran = await inProcess('-p sandbox api teams/{org} -X PATHC');
  expect([ran.code, ran.stderr]).toEqual([
    2,
    'Unknown value "PATHC" for --method. Did you mean PATCH?\nUse one of: GET, POST, PUT, PATCH, DELETE\n',
  ]);
});

test('an answer without a body empties the file of --out', async () => {
  const api = await service(() => ({ status: 204 }));
  const home = temporaryFolder();
  const file = join(home, 'gone.json');
  writeFileSync(file, 'an earlier answer');
  const ran = await rosterctl('api things/1 -X DELETE --yes --out gone.json', {
    env: api.env,
    home,
    cwd: home,
  });
  expect([ran.code, ran.stdout, readFileSync(file, 'utf8')]).toEqual([0, '', '']);
});

test('the answer is compact in a pipe and indented at a terminal', async () => {
  const api = await service();
  expect((await rosterctl('api teams/{org}', { env: api.env })).stdout).toBe('{"ok":true}\n');
  for (const format of [[], ['-o', 'json']]) {
    const line = ['api', 'teams/{org}', ...format];
    const { shown } = await converse(temporaryFolder(), line, [], { ...api.env, PAGER: 'cat' });
    expect(shown).toContain('{\r\n  "ok": true\r\n}');
  }
});

test('a long answer to a GET goes through the pager at a terminal', async () => {
  const records = Array.from({ length: 60 }, () => ({ id: 'x' }));
  const api = await recordingService(() => ({ status: 200, json: records }));
  const own = { ...api.env, ROSTERCTL_PAGER: 'sed s/x/paged/' };
  const { shown } = await converse(temporaryFolder(), ['api', 'teams/{org}'], [], own);
  expect(shown).toContain('"id": "paged"');
});

test('--input that sets a field twice is refused', async () => {
  const api = await service();
  const input = '{"a":{"b":1},"c":"\\"a\\":{","d":[{"b":1},{"b":2,"\\u0062":3}]}';
  const ran = await inProcess('api things --input -', { env: api.env, stdin: input });
  expect([ran.code, ran.stderr]).toEqual([2, 'stdin sets the field b twice. Keep one of them.\n']);
  expect(api.requests).toEqual([]);
});

test('so is a value of -F', async () => {
  const api = await service();
  const ran = await inProcess(`api things -F 'a={"b":1,"b":2}'`, { env: api.env });
  expect([ran.code, ran.stderr, api.requests]).toEqual([
    2,
    'You set the field b twice. Keep one of them.\n',
    [],
  ]);
});

test('--input in YAML is sent as what JSON has for it', async () => {
  const api = await service();
  const stdin = 'a: !!set { x, y }\nb: !!binary aGVsbG8=\nc: !own d\ne: !!str 5\n';
  await inProcess('api things --input -', { env: api.env, stdin });
  expect(api.requests[0]?.body.toString()).toBe(
    '{"a":{"x":null,"y":null},"b":"aGVsbG8=","c":"d","e":"5"}',
  );
});

test('--input is the body, and flags override it', async () => {
  const api = await service();
  const input = '{"a":1,"b":[9000000000000000001]}';
  const ran = await rosterctl('api things --input - -F a=2', { env: api.env, stdin: input });
  expect(ran.code).toBe(0);
  expect(api.requests[0]?.body.toString()).toBe('{"a":2,"b":[9000000000000000001]}');
});

test('fields cannot be set in an --input that is a list', async () => {
  const api = await service();
  const ran = await inProcess('api things --input - -F a=2', { env: api.env, stdin: '[1]' });
  expect([ran.code, ran.stderr, api.requests]).toEqual([
    2,
    'Fields can only be set in an --input that holds an object.\n',
    [],
  ]);
});

test.each([
  'https://elsewhere.example.com/v1/teams',
  '//elsewhere.example.com/teams',
  'teams/../../admin',
  'teams/%2e%2E/admin',
  'teams/{org}#x',
  'a\\b',
  "'a b'",
  'v1/teams/{org}',
  'things -X BREW',
  'things -X GET --input -',
  'things -X POST --paginate',
  'things -F organizationId=org_8',
])('api %s exits 2 without a request', async (line) => {
  const api = await service();
  const ran = await inProcess(`api ${line}`, { env: api.env, stdin: '{}' });
  expect([ran.code, ran.stdout, api.requests]).toEqual([2, '', []]);
});

test('an --input that is neither JSON nor YAML is not sent as a text', async () => {
  const api = await service();
  const stdin = '<html>Bad gateway</html>';
  const ran = await inProcess('api things --input - --json', { env: api.env, stdin });
  expect([ran.code, errorOf(ran)['message']]).toEqual([2, 'stdin is neither JSON nor YAML.']);
  const several = await inProcess('api things --input -', {
    env: api.env,
    stdin: 'a: 1\n---\nb: 2',
  });
  expect(several.stderr).toBe('stdin holds several YAML documents. Keep one of them.\n');
  const broken = await inProcess('api things --input -', { env: api.env, stdin: 'a: [1' });
  expect([broken.code, broken.stderr]).toEqual([
    2,
    expect.stringMatching(/^stdin is neither JSON nor YAML: /),
  ]);
  // YAML would take it.
  const comma = await inProcess('api things --input -', { env: api.env, stdin: '{"a":1,}' });
  expect([comma.code, comma.stderr]).toEqual([
    2,
    expect.stringMatching(/^stdin is not valid JSON: /),
  ]);
  // Each line is ten of the one before.
  const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
  const bomb = names
    .map((name, at) => {
      const part = at === 0 ? 'x' : `*${names[at - 1]}`;
      return `${name}: &${name} [${Array(10).fill(part).join()}]`;
    })
    .join('\n');
  const expanded = await inProcess('api things --input -', { env: api.env, stdin: bomb });
  expect([expanded.code, expanded.stderr]).toEqual([
    2,
    expect.stringMatching(/^stdin cannot be used: .*alias/),
  ]);
  const text = await inProcess('api things --input -', { env: api.env, stdin: '"text"' });
  expect([text.code, api.requests.map(wire)]).toEqual([0, [['POST /v1/things', 'text']]]);
});

test('only DELETE asks', async () => {
  const api = await service();
  const asked = await inProcess('api things/1 -X DELETE', { env: api.env });
  expect([asked.code, api.requests]).toEqual([2, []]);
  expect(asked.stderr).toContain('Send DELETE /things/1?');
  const posted = await inProcess('api things -X POST', { env: api.env });
  expect(posted.code).toBe(0);
});

test('a dry run prints any request except a GET, which it sends', async () => {
  const api = await service();
  const write = await inProcess('api players/player_1 -X PATCH -F a=1 -n --json', { env: api.env });
  expect(JSON.parse(write.stdout)).toEqual({
    schema: 1,
    dryRun: true,
    requests: [{ method: 'PATCH', path: '/players/player_1', basis: 'assumed', body: { a: 1 } }],
    changes: [],
  });
  expect(api.requests).toEqual([]);
  const stated = await inProcess('api teams -F name=X -n --json', { env: api.env });
  expect(JSON.parse(stated.stdout)).toMatchObject({ requests: [{ basis: 'stated' }] });
  const read = await inProcess('api teams/{org} -n --json', { env: api.env });
  expect([read.stdout, api.requests.length]).toEqual(['{"ok":true}\n', 1]);
});

const refusing = (reply: Reply) => service(() => reply);

describe('a refusal', () => {
  const body = { error: 'taken', message: 'no' };

  test('prints its body to stdout and the error to stderr', async () => {
    const { env } = await refusing({ status: 409, json: body });
    const ran = await rosterctl('api things -X POST --json', { env });
    expect([ran.code, ran.stdout]).toEqual([6, `${JSON.stringify(body)}\n`]);
    const site = { status: 409, method: 'POST', path: '/things' };
    expect(errorOf(ran)).toMatchObject({ code: 'taken', ...site, service: body });
  });

  test('prints the status line and the headers first with -i', async () => {
    const { env } = await refusing({ status: 404, json: body, headers: { 'x-tail': 'yes' } });
    const ran = await inProcess('api things -i', { env });
    expect(ran.code).toBe(5);
    expect(ran.stdout).toMatch(
      /^HTTP\/1\.1 404 Not Found\n[^]*\nx-tail: yes\n[^]*\n\n\{"[^\n]*\}\n$/,
    );
    expect(JSON.parse(ran.stdout.split('\n\n')[1] ?? '')).toEqual(body);
    expect(ran.stderr).toMatch(/^GET \/things was not found \(taken\)\.\nThe service says: no\n/);
  });

  test.each([
    ['a success that says no', { status: 200, json: { ok: false, ...body } }, '', 3],
    ['an outcome that is unknown', { status: 500, json: body }, '-X POST', 10],
    ['a refused key', { status: 401, json: body }, '', 4],
  ] as const)('prints the body of %s with its exit code', async (_, reply, flags, code) => {
    const { env } = await refusing(reply);
    const ran = await inProcess(`api things ${flags} --retries 0 --json`, { env });
    expect([ran.code, JSON.parse(ran.stdout)]).toEqual([code, reply.json]);
    expect(errorOf(ran)).toMatchObject({ service: reply.json, exitCode: code });
  });

  test.each(['', '-o csv', '-o ids', '--fields name', '--json'])(
    'prints a web page as it came, with %s',
    async (flags) => {
      const text = '<!doctype html>\n<p>\u001b[1mno';
      const { env } = await refusing({
        status: 403,
        text,
        headers: { 'content-type': 'text/html' },
      });
      const ran = await inProcess(`api things ${flags}`, { env });
      expect([ran.code, ran.stdout]).toEqual([7, text]);
      expect(ran.stderr).toContain('web page');
    },
  );

  test('prints the body of a refusal whatever the fields of a table', async () => {
    const { env } = await refusing({ status: 400, json: body });
    for (const flags of ['-o csv', '-o ids', '--fields id']) {
      const ran = await inProcess(`api things ${flags}`, { env });
      expect([ran.code, ran.stdout]).toEqual([3, JSON.stringify(body)]);
    }
  });

  test('prints no body where there is none', async () => {
    const { env } = await refusing({ status: 404 });
    const ran = await inProcess('api things --json', { env });
    expect([ran.code, ran.stdout, errorOf(ran)['service']]).toEqual([5, '', undefined]);
  });

  test('leaves the file of --out alone', async () => {
    const { env } = await refusing({ status: 400, json: body });
    const home = temporaryFolder();
    writeFileSync(join(home, 'teams.json'), 'kept');
    const ran = await inProcess('api things --out teams.json', { env, home, cwd: home });
    expect([ran.code, readFileSync(join(home, 'teams.json'), 'utf8')]).toEqual([3, 'kept']);
    expect(ran.stderr).toContain('The service says: no');
  });

  test('does not repeat the key, in body, head or error', async () => {
    for (const reply of [
      { status: 400, json: { error: key, message: `the key ${key}` } },
      { status: 400, text: `the key ${key}` },
    ]) {
      const { env } = await refusing({ ...reply, headers: { 'x-echo': key } });
      for (const flags of ['', '-i', '-i --json', '-v']) {
        const ran = await inProcess(`api things ${flags}`, { env });
        expect(ran.stdout + ran.stderr).not.toContain('key-canary');
        expect(ran.stdout).toContain('the key [redacted]');
      }
    }
  });

  test('on a terminal drives nothing', async () => {
    const text = 'no \u001b]0;title\u0007\u009b2J';
    const { env } = await refusing({
      status: 400,
      text,
      headers: { 'content-type': 'text/plain' },
    });
    const { shown } = await converse(temporaryFolder(), ['api', 'things'], [], env);
    expect(shown).toContain('no \\u001b]0;title');
    // oxlint-disable-next-line no-control-regex
    expect(shown).not.toMatch(/\u001b\]|\u0007|[\u0080-\u009f]/);
  });
});

test('-i prints the status line and the headers before the body', async () => {
  const { env } = await service(() => ({ status: 201, json: [1], headers: { 'x-tail': 'yes' } }));
  const ran = await inProcess('api things -i --json', { env });
  expect(ran.stdout).toMatch(/^HTTP\/1\.1 201 Created\n/);
  expect(ran.stdout).toContain('\nx-tail: yes\n');
  expect(ran.stdout.endsWith('\n\n[1]\n')).toBe(true);
});

test('-i with a workbook is refused before anything is sent', async () => {
  const { env, requests } = await service();
  const ran = await inProcess('api teams -X POST -F a=1 -i --out a.xlsx', { env });
  expect([ran.code, ran.stdout, requests]).toEqual([2, '', []]);
  expect(ran.stderr).toBe(
    '--include cannot be used with a workbook.\nUse another extension, or -o json.\n',
  );
});

test('a response that is not JSON passes through unchanged, and an empty one prints nothing', async () => {
  const text = await service(() => ({
    status: 200,
    text: 'a,b\n\u001b[1m',
    headers: { 'content-type': 'text/csv' },
  }));
  expect((await inProcess('api things', { env: text.env })).stdout).toBe('a,b\n\u001b[1m');
  const empty = await service(() => ({ status: 204 }));
  expect(await inProcess('api things -X POST --json', { env: empty.env })).toMatchObject({
    code: 0,
    stdout: '',
  });
});

test('--paginate follows the pages into one array', async () => {
  const api = await service(({ url }) => {
    const page = Number(new URL(url, 'http://x').searchParams.get('page') ?? '1');
    return {
      status: 200,
      json: { things: [{ id: `t${page}` }], page, totalPages: 3 },
    };
  });
  const ran = await inProcess('api things --param kind=a --paginate --json', { env: api.env });
  expect(JSON.parse(ran.stdout)).toEqual([{ id: 't1' }, { id: 't2' }, { id: 't3' }]);
  const asked = api.requests.map(({ url }) => new URL(url, 'http://x').searchParams.get('kind'));
  expect(asked).toEqual(['a', 'a', 'a']);
  const none = await service(() => ({ status: 200, json: { id: 't1' } }));
  const refused = await inProcess('api things/t1 --paginate', { env: none.env });
  expect([refused.code, refused.stdout]).toEqual([2, '']);
});

/** A page of two: a record that both have, two without an id, and one of its own. */
const pageOfThings = (page: number) =>
  `{"things":[{"id":9000000000000000001},{"id":null},{"id":null},{"id":90000000000000000${page}0}],"page":${page},"totalPages":2}`;

test('--paginate knows records again by ids that are long numbers, and keeps those without an id', async () => {
  const api = await service(({ url }) => ({
    status: 200,
    text: pageOfThings(url.includes('page=2') ? 2 : 1),
  }));
  const ran = await inProcess('api things --paginate --json', { env: api.env });
  expect(ran.stdout.match(/9000000000000000001/g)).toHaveLength(1);
  expect(JSON.parse(ran.stdout)).toHaveLength(7);
});

test('--paginate warns of a next page that the service does not know', async () => {
  const api = await service(({ url }) =>
    url.includes('page=2')
      ? { status: 404, json: { error: 'notFound' } }
      : { status: 200, json: { things: [{ id: 't1' }], page: 1, totalPages: 2 } },
  );
  expect(await inProcess('api things --paginate --json', { env: api.env })).toMatchObject({
    code: 0,
    stdout: '[{"id":"t1"}]\n',
    stderr:
      'The list may be incomplete: the service does not know the next page that it points to.\n',
  });
  const none = await service(() => ({ status: 404, json: { error: 'notFound' } }));
  expect((await inProcess('api things --paginate', { env: none.env })).code).toBe(5);
});

test('--paginate keeps the rows of a page that share an id, and drops those of an earlier page', async () => {
  const moves = [1, 2].map((step) => ({ id: 'app_1', step }));
  const api = await service(({ url }) => {
    const isSecond = url.includes('page=2');
    const things = isSecond ? [moves[1], { id: 'app_2', step: 3 }] : moves;
    return { status: 200, json: { things, page: isSecond ? 2 : 1, totalPages: 2, total: 3 } };
  });
  const ran = await inProcess('api things --paginate --json', { env: api.env });
  expect(JSON.parse(ran.stdout)).toEqual([...moves, { id: 'app_2', step: 3 }]);
  expect([ran.code, ran.stderr]).toEqual([0, '']);
});

test('--paginate ends with a warning where each page holds the same records without ids', async () => {
  const api = await service(({ url }) => {
    const page = Number(new URL(url, 'http://x').searchParams.get('page') ?? '1');
    return { status: 200, json: { things: [{ name: 'a' }], page, hasMore: page < 9 } };
  });
  const ran = await inProcess('api things --paginate --json', { env: api.env });
  expect([ran.code, api.requests.length]).toEqual([0, 2]);
  expect(ran.stderr).toContain('the service keeps sending the same records');
});

test.each([
  ['numbers', 'id', 7, ''],
  ['a field of another name', 'key', 3, 'the last record has no id'],
])(
  '--paginate by the last id goes on by ids that are %s, or warns',
  async (_, name, count, says) => {
    const api = await service(({ url }) => {
      const after = Number(new URL(url, 'http://x').searchParams.get('after') ?? '0');
      const all = [1, 2, 3, 4, 5, 6, 7].filter((each) => each > after);
      return { status: 200, json: all.slice(0, 3).map((each) => ({ [name]: each })) };
    });
    const home = temporaryFolder();
    await inProcess('config set paging.mode last-id', { env: api.env, home });
    const ran = await inProcess('api players/{org} --paginate --json', { env: api.env, home });
    expect([ran.code, JSON.parse(ran.stdout).length]).toEqual([0, count]);
    expect(ran.stderr).toContain(says);
  },
);

test('--paginate finds the list and the ids of a documented list where the settings say', async () => {
  const api = await service(({ url }) => {
    const after = new URL(url, 'http://x').searchParams.get('after');
    const found = after === null ? ['a', 'b'] : after === 'b' ? ['c'] : [];
    const squads = found.map((each) => ({ key: each, team: 't1' }));
    return { status: 200, json: { of: { squads }, items: [{ id: 'coach' }] } };
  });
  const home = temporaryFolder();
  const settings = ['paging.mode last-id', 'ids.teams key', 'lists.teams.path of.squads'];
  for (const setting of settings) await inProcess(`config set ${setting}`, { env: api.env, home });
  const ran = await inProcess('api teams/{org} --paginate --json', { env: api.env, home });
  expect(ran).toMatchObject({ code: 0, stderr: '' });
  expect(JSON.parse(ran.stdout)).toEqual(
    ['a', 'b', 'c'].map((each) => ({ key: each, team: 't1' })),
  );
  const other = await inProcess('api teams/{org}/t1/coaches --paginate --json', {
    env: api.env,
    home,
  });
  expect(JSON.parse(other.stdout)).toEqual([{ id: 'coach' }]);
});

test('--paginate reads a page of 200,000 records', async () => {
  const json = Array.from({ length: 200_000 }, (_, index) => ({ id: index }));
  const api = await service(() => ({ status: 200, json }));
  const ran = await rosterctl('api things --paginate --json', { env: api.env });
  expect([ran.code, ran.stderr]).toEqual([0, '']);
  expect(JSON.parse(ran.stdout)).toHaveLength(200_000);
});

test('--paginate warns of as many records as its query asks for, if nothing is said of more', async () => {
  const api = await service(() => ({ status: 200, json: [{ id: 't1' }, { id: 't2' }] }));
  const ran = await inProcess('api things?per_page=2 --paginate --json', { env: api.env });
  expect([ran.code, JSON.parse(ran.stdout).length]).toEqual([0, 2]);
  expect(ran.stderr).toBe(
    'The list may be incomplete: exactly 2 records arrived, which is the page size.\n',
  );
});

test('--paginate with --strict fails where a list may be incomplete', async () => {
  const api = await service(() => ({ status: 200, json: { things: [{ id: 't1' }], total: 2 } }));
  const ran = await inProcess('api things --paginate --json --strict', { env: api.env });
  expect([ran.code, ran.stdout]).toEqual([1, '']);
  expect(errorOf(ran)).toMatchObject({
    code: 'incomplete',
    message: 'The list may be incomplete: the service reports 2 records but sent 1.',
  });
});

test('--paginate asks again for a page that breaks off', async () => {
  const api = await service(() =>
    api.requests.length === 1
      ? { status: 200, text: '[{"id":"t' }
      : { status: 200, json: [{ id: 't1' }] },
  );
  const ran = await inProcess('api things --paginate --json', { env: api.env });
  expect(ran).toMatchObject({ code: 0, stdout: '[{"id":"t1"}]\n' });
});

test('--paginate warns of an error beside the records', async () => {
  const api = await service(() => ({
    status: 200,
    json: { success: false, error: 'partialResult', things: [{ id: 't1' }] },
  }));
  const ran = await inProcess('api things --paginate --json', { env: api.env });
  expect([ran.code, JSON.parse(ran.stdout)]).toEqual([0, [{ id: 't1' }]]);
  expect(ran.stderr).toMatch(/^The list may be incomplete: .*partialResult/);
});

test('--paginate never follows to another origin', async () => {
  const elsewhere = await service(() => ({ status: 200, json: [{ id: 'stolen' }] }));
  const api = await service(() => ({
    status: 200,
    json: [{ id: 't1' }],
    headers: { link: `<${elsewhere.baseUrl}/things?page=2>; rel="next"` },
  }));
  const ran = await inProcess('api things --paginate --json', { env: api.env });
  expect(JSON.parse(ran.stdout)).toEqual([{ id: 't1' }]);
  expect(ran.stderr).toContain('incomplete');
  expect(elsewhere.requests).toEqual([]);
});

test('--paginate never follows a link to another organization', async () => {
  const api = await service(() => ({
    status: 200,
    json: [{ id: 't1' }],
    headers: { link: '</v1/documents?organizationId=org_8&page=2>; rel="next"' },
  }));
  const ran = await inProcess('api documents?organizationId={org} --paginate --json', {
    env: api.env,
  });
  expect([JSON.parse(ran.stdout), api.requests.length]).toEqual([[{ id: 't1' }], 1]);
  expect(ran.stderr).toContain('another organization');
});

test.each([
  ['teams/{orgg}', 'Did you mean {org}?'],
  ['teams/{id}', 'Unknown placeholder {id}.'],
])('api %s is rejected because of the unknown placeholder', async (path, message) => {
  const api = await service();
  const ran = await inProcess(['api', path], { env: api.env });
  expect([ran.code, api.requests]).toEqual([2, []]);
  expect(ran.stderr).toContain(message);
});

test('the hint of a 403 begins with a capital letter', async () => {
  const api = await service(() => ({ status: 403, json: { error: 'forbidden' } }));
  const ran = await inProcess('teams list', { env: api.env });
  expect(ran.stderr).toMatch(/^The key may lack a permission/m);
});

test.each([
  ['documents', true],
  ['uploads/document-file', true],
  ['documents/doc_1/share', false],
])('a 403 for POST %s names the permission of the contract: %s', async (path, isNamed) => {
  const api = await service(() => ({ status: 403, json: { error: 'forbidden' } }));
  const ran = await inProcess(`api ${path} -X POST`, { env: api.env });
  expect([ran.code, ran.stderr.includes('It needs the permission document:create.')]).toEqual([
    7,
    isNamed,
  ]);
});

test('api warns that there is no undo, in its dry run and before a delete', async () => {
  const api = await service();
  for (const line of ['api things -X PATCH -f a=b -n', 'api things/1 -X DELETE']) {
    const ran = await inProcess(line, { env: api.env });
    expect(ran.stderr).toContain('cannot be undone');
  }
  const read = await inProcess('api things -n', { env: api.env });
  expect(read.stderr).not.toContain('cannot be undone');
});
