import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { contract } from '../src/api/contract.js';
import { inProcess } from './support/in-process.js';
import { rosterctl, temporaryFolder } from './support/run.js';
import {
  key,
  organization,
  type Recorded,
  type Reply,
  recordingService,
  type Service,
} from './support/service.js';

// The requests that each command sends, written by hand from the contract's text (sections 2.3-2.5,
// 4.1-4.6, 5.1). No request here is computed from the tool's own tables; they only say which must be there.

const application = {
  id: 'app_1',
  organizationId: 'org_7',
  status: 'pending',
  name: 'Ann',
  email: 'ann@example.com',
  formResponses: {},
  gamerTags: [],
  submittedAt: '2026-03-01T10:00:00Z',
  createdAt: '2026-03-01T10:00:00Z',
  updatedAt: '2026-03-01T10:00:00Z',
};
const converted = {
  ...application,
  convertedPlayerId: 'player_9',
  convertedPlayer: { id: 'player_9', name: 'Ann' },
};
const team = { id: 'team_1', organizationId: 'org_7', name: 'Foxes' };
const player = { id: 'player_1', organizationId: 'org_7', name: 'Ann' };
const document = {
  id: 'doc_1',
  organizationId: 'org_7',
  name: 'Rules',
  contentType: 'text/plain',
  sizeBytes: 5,
  tags: [],
};

/** A service with one record of each resource; its file store is a second server. */
async function service(): Promise<Service & { store: Service }> {
  const store = await recordingService(({ method }) =>
    method === 'PUT'
      ? { status: 200 }
      : { status: 200, text: 'hello', headers: { 'content-type': 'text/plain' } },
  );
  let isConverted = false;
  const kept = new Map<string, object>(Object.entries({ team, player, document }));
  const gone: Reply = { status: 404, json: { error: 'notFound' } };
  const show = (name: string) => (): Reply =>
    kept.has(name) ? { status: 200, json: kept.get(name) } : gone;
  const patch =
    (name: string) =>
    (body: unknown): Reply => {
      kept.set(name, { ...kept.get(name), ...(JSON.parse(String(body)) as object) });
      return { status: 200, json: kept.get(name) };
    };
  const remove = (name: string) => (): Reply => {
    kept.delete(name);
    return { status: 204 };
  };
  const replies: Record<string, (body: unknown) => Reply> = {
    'GET /v1/teams/org_7': () => ({ status: 200, json: { teams: [team], total: 1 } }),
    'GET /v1/teams/org_7/team_1': show('team'),
    'POST /v1/teams': () => ({ status: 201, json: team }),
    'PATCH /v1/teams/team_1': patch('team'),
    'DELETE /v1/teams/team_1': remove('team'),
    'GET /v1/players/org_7': () => ({ status: 200, json: { players: [player], total: 1 } }),
    'GET /v1/players/org_7/player_1': show('player'),
    'POST /v1/players': () => ({ status: 201, json: player }),
    'PATCH /v1/players/player_1': patch('player'),
    'DELETE /v1/players/player_1': remove('player'),
    'GET /v1/documents/org_7': () => {
      const documents = [kept.get('document')].filter((found) => found !== undefined);
      return { status: 200, json: { documents, total: documents.length } };
    },
    'GET /v1/documents/doc_1/download': () => ({
      status: 200,
      json: { url: `${store.origin}/signed/doc_1?sig=canary` },
    }),
    'GET /v1/documents/doc_1/preview': () => ({
      status: 200,
      json: { url: `${store.origin}/signed/doc_1?sig=canary` },
    }),
    'POST /v1/documents': () => ({ status: 201, json: document }),
    'PATCH /v1/documents/doc_1': patch('document'),
    'DELETE /v1/documents/doc_1': remove('document'),
    'POST /v1/uploads/document-file': () => ({
      status: 200,
      json: {
        key: 'documents/org_7/1.txt',
        fileRef: 'ref:1',
        uploadUrl: `${store.origin}/put/1?sig=canary`,
      },
    }),
    'GET /v1/tryout-applications?organizationId=org_7': () => ({
      status: 200,
      json: { applications: [application], total: 1 },
    }),
    'GET /v1/tryout-applications/app_1?organizationId=org_7': () => ({
      status: 200,
      json: isConverted ? converted : application,
    }),
    'PATCH /v1/tryout-applications/app_1': () => ({
      status: 200,
      json: { ...application, status: 'reviewing' },
    }),
    'POST /v1/tryout-applications/app_1/convert-to-player': () => {
      isConverted = true;
      return { status: 201, json: { player } };
    },
  };
  const api = await recordingService(
    ({ method, url, body }) =>
      replies[`${method} ${url}`]?.(body) ?? { status: 404, json: { error: 'notFound' } },
  );
  return { ...api, store };
}

/** The exact requests of each command: request line, then the JSON body. */
const literal: readonly (readonly [
  line: string,
  requests: readonly (readonly [string, unknown?])[],
])[] = [
  ['teams list', [['GET /v1/teams/org_7']]],
  ['teams get team_1', [['GET /v1/teams/org_7/team_1']]],
  [
    'teams create --name Foxes',
    [
      ['POST /v1/teams', { name: 'Foxes', organizationId: 'org_7' }],
      ['GET /v1/teams/org_7/team_1'],
    ],
  ],
  [
    'teams update team_1 --name Hens',
    [
      ['GET /v1/teams/org_7/team_1'],
      ['PATCH /v1/teams/team_1', { name: 'Hens' }],
      ['GET /v1/teams/org_7/team_1'],
    ],
  ],
  [
    'teams delete team_1 --confirm Foxes',
    [
      ['GET /v1/teams/org_7/team_1'],
      ['DELETE /v1/teams/team_1'],
      // A delete is verified by a read: a record that still exists was not deleted.
      ['GET /v1/teams/org_7/team_1'],
    ],
  ],
  ['players list', [['GET /v1/players/org_7']]],
  ['players get player_1', [['GET /v1/players/org_7/player_1']]],
  [
    'players create --name Ann',
    [
      ['POST /v1/players', { name: 'Ann', organizationId: 'org_7' }],
      ['GET /v1/players/org_7/player_1'],
    ],
  ],
  [
    'players update player_1 --name Bea',
    [
      ['GET /v1/players/org_7/player_1'],
      ['PATCH /v1/players/player_1', { name: 'Bea' }],
      ['GET /v1/players/org_7/player_1'],
    ],
  ],
  [
    'players delete player_1 --yes',
    [
      ['GET /v1/players/org_7/player_1'],
      ['DELETE /v1/players/player_1'],
      ['GET /v1/players/org_7/player_1'],
    ],
  ],
  ['docs list', [['GET /v1/documents/org_7']]],
  ['docs get doc_1', [['GET /v1/documents/org_7']]],
  ['docs download doc_1 --url', [['GET /v1/documents/doc_1/download']]],
  ['docs preview doc_1 --url', [['GET /v1/documents/doc_1/preview']]],
  [
    'docs create --file-key documents/org_7/1.txt --file-ref ref:1 --content-type text/plain --size-bytes 5 --name Rules --tag a',
    [
      [
        'POST /v1/documents',
        {
          organizationId: 'org_7',
          name: 'Rules',
          fileUrl: 'ref:1',
          fileKey: 'documents/org_7/1.txt',
          contentType: 'text/plain',
          sizeBytes: 5,
          tags: ['a'],
        },
      ],
    ],
  ],
  [
    'docs update doc_1 --name House',
    [['GET /v1/documents/org_7'], ['PATCH /v1/documents/doc_1', { name: 'House' }]],
  ],
  [
    'docs delete doc_1 --yes',
    [
      ['GET /v1/documents/org_7'],
      ['DELETE /v1/documents/doc_1'],
      ['GET /v1/documents/org_7'],
      ['GET /v1/documents/org_7'],
    ],
  ],
  [
    'docs upload rules.txt --name House-rules',
    [
      ['GET /v1/documents/org_7'],
      [
        'POST /v1/uploads/document-file',
        { organizationId: 'org_7', contentType: 'text/plain', sizeBytes: 5 },
      ],
      [
        'POST /v1/documents',
        {
          organizationId: 'org_7',
          name: 'House-rules',
          fileUrl: 'ref:1',
          fileKey: 'documents/org_7/1.txt',
          contentType: 'text/plain',
          sizeBytes: 5,
          tags: [],
        },
      ],
    ],
  ],
  [
    'uploads create --content-type image/png --size-bytes 12',
    [
      [
        'POST /v1/uploads/document-file',
        { organizationId: 'org_7', contentType: 'image/png', sizeBytes: 12 },
      ],
    ],
  ],
  ['tryouts list', [['GET /v1/tryout-applications?organizationId=org_7']]],
  ['tryouts get app_1', [['GET /v1/tryout-applications/app_1?organizationId=org_7']]],
  [
    'tryouts update app_1 --status reviewing',
    [
      ['GET /v1/tryout-applications/app_1?organizationId=org_7'],
      ['PATCH /v1/tryout-applications/app_1', { organizationId: 'org_7', status: 'reviewing' }],
    ],
  ],
  [
    "tryouts update app_1 --note 'Strong aim'",
    [
      ['GET /v1/tryout-applications/app_1?organizationId=org_7'],
      [
        'PATCH /v1/tryout-applications/app_1',
        { organizationId: 'org_7', internalNotes: 'Strong aim' },
      ],
    ],
  ],
  [
    'tryouts convert app_1 --yes',
    [
      ['GET /v1/tryout-applications/app_1?organizationId=org_7'],
      // Who else holds the same e-mail address or Discord user.
      ['GET /v1/players/org_7'],
      ['GET /v1/tryout-applications?organizationId=org_7'],
      ['POST /v1/tryout-applications/app_1/convert-to-player', { organizationId: 'org_7' }],
      ['GET /v1/tryout-applications/app_1?organizationId=org_7'],
    ],
  ],
];

test.each(literal)('%s', async (line, expected) => {
  const api = await service();
  const home = temporaryFolder();
  mkdirSync(join(home, 'files'));
  writeFileSync(join(home, 'files', 'rules.txt'), 'hello');
  const ran = await inProcess(`${line} --json`, { env: api.env, home, cwd: join(home, 'files') });
  expect(ran.stderr).toBe(ran.stderr.replace(/\{"error".*/s, ''));
  expect(ran.code).toBe(0);
  expect(api.requests.map(onTheWire)).toEqual(expected.map(([head, body]) => [head, body]));
  for (const request of api.requests) {
    expect(request.headers['x-api-key']).toBe(key);
    expect(request.headers['accept']).toBe('application/json');
    expect(request.headers['content-type']).toBe(
      request.body.length > 0 ? 'application/json' : undefined,
    );
    expect(request.headers['accept-encoding']).toBeUndefined();
    if (
      /^(PATCH|DELETE) \/v1\/(teams|players|documents)\//.test(`${request.method} ${request.url}`)
    )
      expect(`${request.url}${request.body.toString()}`).not.toContain(organization);
  }
  for (const request of api.store.requests)
    expect(JSON.stringify(request.headers)).not.toContain(key);
});

test.each(Object.entries(contract))('%s has a literal request above', (_, { route }) => {
  const [method, path = ''] = route.split(' ');
  const segments = path.replaceAll(/\{\w+\}/g, '[^/?]+');
  const isOfRoute = new RegExp(`^${method} /v1${segments}(?:\\?|$)`);
  const sent = literal.flatMap(([, requests]) => requests.map(([line]) => line));
  const missing = `add a command that sends ${route} to \`literal\`, with its requests as the contract has them`;
  expect(
    sent.some((line) => isOfRoute.test(line)),
    missing,
  ).toBe(true);
});

test('the presigned PUT has its own Content-Type and Content-Length and no other header of ours', async () => {
  const api = await service();
  const home = temporaryFolder();
  writeFileSync(join(home, 'rules.txt'), 'hello');
  const ran = await rosterctl('docs upload rules.txt --json', { env: api.env, home });
  expect(ran.code).toBe(0);
  const [put] = api.store.requests;
  expect(put && `${put.method} ${put.url}`).toBe('PUT /put/1?sig=canary');
  expect(put?.body.toString()).toBe('hello');
  expect(put?.headers['content-type']).toBe('text/plain');
  expect(put?.headers['content-length']).toBe('5');
  expect(put?.headerNames.map((name) => name.toLowerCase()).toSorted()).toEqual([
    'connection',
    'content-length',
    'content-type',
    'host',
  ]);
});

function onTheWire(request: Recorded): [string, unknown] {
  const body: unknown = request.body.length > 0 ? JSON.parse(request.body.toString()) : undefined;
  return [`${request.method} ${request.url}`, body];
}
