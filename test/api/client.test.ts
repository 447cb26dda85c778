import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { contract, type EndpointName } from '../../src/api/contract.js';
import type { Call } from '../../src/api/types.js';
import { ageMs } from '../../src/data/time.js';
import { ApiError, ProtocolError, UnknownOutcomeError, UsageError } from '../../src/errors.js';
import { organization, type Reply, recordingService } from '../support/service.js';
import { apiTo, instant, noWait, thrownBy } from './wiring.js';

const application = {
  id: 'app_1',
  organizationId: organization,
  status: 'pending',
  name: 'Ann',
  email: 'ann@example.com',
  formResponses: {},
  gamerTags: [],
  submittedAt: '2026-03-01T10:00:00Z',
  createdAt: '2026-03-01T10:00:00Z',
  updatedAt: '2026-03-01T10:00:00Z',
};
const getTryout: Call = { endpoint: 'getTryout', params: { applicationId: 'app_1' } };
const updateTryout: Call = {
  endpoint: 'updateTryout',
  params: { applicationId: 'app_1' },
  body: { status: 'reviewing' },
};
const updateTeam: Call = {
  endpoint: 'updateTeam',
  params: { teamId: 'team_1' },
  body: { name: 'B' },
};

/** Sends the headers at once and the rest a while later. */
const slowly = (body: string) =>
  recordingService(() => (_, response) => {
    response.writeHead(200, { 'content-length': body.length });
    response.flushHeaders();
    setTimeout(() => response.end(body), 1_000);
  });

const answering = (reply: Reply) => recordingService(() => reply);

describe('where the organization id is sent', () => {
  test.each([
    ['getTeam', { teamId: 't' }, undefined, 'GET', '/teams/org_7/t', undefined],
    ['createTeam', {}, { name: 'A' }, 'POST', '/teams', { organizationId: 'org_7', name: 'A' }],
    ['updateTeam', { teamId: 't' }, { name: 'A' }, 'PATCH', '/teams/t', { name: 'A' }],
    ['deletePlayer', { playerId: 'p' }, undefined, 'DELETE', '/players/p', undefined],
    ['downloadDocument', { documentId: 'd' }, undefined, 'GET', '/documents/d/download', undefined],
    [
      'getTryout',
      { applicationId: 'a' },
      undefined,
      'GET',
      '/tryout-applications/a?organizationId=org_7',
      undefined,
    ],
    [
      'updateTryout',
      { applicationId: 'a' },
      { status: 'pending' },
      'PATCH',
      '/tryout-applications/a',
      { organizationId: 'org_7', status: 'pending' },
    ],
    [
      'convertTryout',
      { applicationId: 'a' },
      undefined,
      'POST',
      '/tryout-applications/a/convert-to-player',
      { organizationId: 'org_7' },
    ],
  ] as const)('%s', async (name, params, body, method, url, sent) => {
    const service = await answering({ status: 200, json: { id: Object.values(params)[0] ?? 'x' } });
    const { api } = apiTo(service.baseUrl);
    const call: Call = { endpoint: name, params, ...(body && { body }) };
    const described = api.describe(call);
    expect(described).toMatchObject({ method, path: url });
    if (name === 'downloadDocument') await api.link(call).catch(() => undefined);
    else await api.send(call);
    const [request] = service.requests;
    expect(request?.method).toBe(method);
    expect(request?.url).toBe(`/v1${url}`);
    expect(request?.body.length ? JSON.parse(request.body.toString()) : undefined).toEqual(sent);
    expect(described.body).toEqual(sent);
  });

  test('a body that names another organization is refused', async () => {
    const service = await answering({ status: 200, json: {} });
    const { api } = apiTo(service.baseUrl);
    const call: Call = { endpoint: 'createTeam', body: { organizationId: 'other' } };
    expect(await thrownBy(api.send(call))).toBeInstanceOf(UsageError);
    expect(service.requests).toHaveLength(0);
  });
});

describe('ids', () => {
  test('every valid id arrives as typed', async () => {
    const service = await recordingService(() => ({ status: 204 }));
    const { api } = apiTo(service.baseUrl);
    const ids = fc
      .string({ unit: 'grapheme', minLength: 1, maxLength: 40 })
      // oxlint-disable-next-line no-control-regex
      .filter((id) => !/[\u0000-\u001f\u007f-\u009f]/.test(id) && id.isWellFormed())
      .filter((id) => !['', '.', '..', organization].includes(id.trim()));
    await fc.assert(
      fc.asyncProperty(ids, async (id) => {
        service.requests.length = 0;
        await api.send({ endpoint: 'deleteTeam', params: { teamId: id } });
        const [, , , encoded = ''] = service.requests[0]?.url.split('/') ?? [];
        expect(service.requests[0]?.url).toBe(`/v1/teams/${encoded}`);
        expect(decodeURIComponent(encoded)).toBe(id);
      }),
      { numRuns: 150 },
    );
  });

  test.each(['', ' ', '.', '..', ' .. ', 'a\nb', 'a\u0000', '\ud800', 'a\u009b'])(
    '%j is refused before a request',
    async (id) => {
      const service = await answering({ status: 200, json: application });
      const { api } = apiTo(service.baseUrl);
      const call: Call = { endpoint: 'getTryout', params: { applicationId: id } };
      expect(() => api.describe(call)).toThrow(UsageError);
      expect(await thrownBy(api.send(call))).toBeInstanceOf(UsageError);
      expect(service.requests).toHaveLength(0);
    },
  );

  const changing = (Object.keys(contract) as EndpointName[]).filter((name) =>
    /^(update|delete)/.test(name),
  );
  test.each(changing)('%s of the organization itself is refused', async (name) => {
    const service = await answering({ status: 200, json: {} });
    const { api } = apiTo(service.baseUrl);
    const param = /\{(\w+)\}$/.exec(contract[name].route)?.[1] ?? '';
    const call: Call = { endpoint: name, params: { [param]: organization } };
    expect(await thrownBy(api.send(call))).toBeInstanceOf(UsageError);
    expect(service.requests).toHaveLength(0);
  });
});

describe('routes that the contract does not show', () => {
  const team = { id: 'team_1', name: 'B' };

  test('the default is assumed and says so once', async () => {
    const service = await answering({ status: 200, json: team });
    const { api, heard } = apiTo(service.baseUrl);
    await api.send(updateTeam);
    await api.send(updateTeam);
    expect(service.requests[0]).toMatchObject({ method: 'PATCH', url: '/v1/teams/team_1' });
    expect(heard.notes).toHaveLength(1);
    expect(heard.notes[0]).toBe(
      'The service does not document how to update a team; rosterctl uses PATCH /teams/ID. See: rosterctl help undocumented',
    );
    expect(api.describe(updateTeam).basis).toBe('assumed');
    expect(api.describe(getTryout).basis).toBe('stated');
  });

  test('a configured route is used unchanged and needs no note', async () => {
    const service = await answering({ status: 200, json: team });
    const { api, heard } = apiTo(service.baseUrl, {
      overrides: {
        'endpoints.teams.update': 'PUT /teams/{organizationId}/{id}',
        'endpoints.teams.update.org': 'body',
        'endpoints.teams.update.semantics': 'replace',
      },
    });
    await api.send(updateTeam);
    const [request] = service.requests;
    expect(request).toMatchObject({ method: 'PUT', url: '/v1/teams/org_7/team_1' });
    expect(JSON.parse(String(request?.body))).toEqual({ organizationId: 'org_7', name: 'B' });
    expect(heard.notes).toEqual([]);
    expect(api.route(updateTeam).semantics).toBe('replace');
  });

  test('the organization can travel in the query', async () => {
    const service = await answering({ status: 204 });
    const { api } = apiTo(service.baseUrl, {
      overrides: { 'endpoints.teams.delete.org': 'query' },
    });
    await api.send({ endpoint: 'deleteTeam', params: { teamId: 't' } });
    expect(service.requests[0]?.url).toBe('/v1/teams/t?organizationId=org_7');
  });

  test('a route for one call beats the configuration', async () => {
    const service = await answering({ status: 200, json: team });
    const { api } = apiTo(service.baseUrl, {
      overrides: { 'endpoints.teams.update': 'PUT /teams/{id}' },
    });
    await api.send({ ...updateTeam, route: 'POST /teams/{teamId}/update' });
    expect(service.requests[0]).toMatchObject({ method: 'POST', url: '/v1/teams/team_1/update' });
  });

  test.each([
    'teams/{id}',
    'PUT teams/{id}',
    'BREW /teams/{id}',
    'PUT //evil.example/{id}',
    'PUT https://evil.example/{id}',
    'PUT /teams/{id}?x',
    'PUT /v1/teams/{id}',
    'PUT /teams/../{id}',
    'PUT /teams//{id}',
    'PUT /teams/{other}/{id}',
    'PUT /teams',
    'PUT /teams/{organizationId}',
    'PUT /teams/{playerId}',
    'PUT /teams/%2e%2e/{id}',
  ])('%j is not a route', async (route) => {
    const service = await answering({ status: 200, json: team });
    const { api } = apiTo(service.baseUrl);
    expect(await thrownBy(api.send({ ...updateTeam, route }))).toBeInstanceOf(UsageError);
    const configured = apiTo(service.baseUrl, { overrides: { 'endpoints.teams.update': route } });
    expect(await thrownBy(configured.api.send(updateTeam))).toBeInstanceOf(UsageError);
    expect(service.requests).toHaveLength(0);
  });

  test('a stated route cannot be replaced', async () => {
    const { api } = apiTo('http://127.0.0.1:9/v1');
    const call: Call = { ...updateTryout, route: 'PUT /tryout-applications/{id}' };
    expect(await thrownBy(api.send(call))).toBeInstanceOf(UsageError);
  });
});

describe('refusals', () => {
  test.each([
    [400, { error: 'invalidRequest' }, 'invalid', 'invalidRequest'],
    [401, { error: 'invalidApiKey' }, 'unauthenticated', 'invalidApiKey'],
    [403, { error: 'featureNotAvailable' }, 'forbidden', 'featureNotAvailable'],
    [404, { error: 'notFound', message: 'gone' }, 'notFound', 'notFound'],
    [409, { error: { code: 'duplicate', message: 'twice' } }, 'conflict', 'duplicate'],
    [400, { error: '' }, 'invalid', 'invalid'],
    [422, [], 'invalid', 'invalid'],
    [429, { error: 'slow' }, 'temporary', 'slow'],
  ] as const)('%i %j', async (status, json, exitName, code) => {
    const service = await answering({ status, json });
    const { api } = apiTo(service.baseUrl);
    const error = await thrownBy(api.send(updateTryout));
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({ status, exitName, code });
    expect((error as ApiError).call).toEqual({
      method: 'PATCH',
      path: '/tryout-applications/{applicationId}',
      sentPath: '/tryout-applications/app_1',
    });
  });

  test("the service's own sentence is kept", async () => {
    const service = await answering({ status: 404, json: { error: 'x', message: 'No such team' } });
    const error = await thrownBy(apiTo(service.baseUrl).api.send(getTryout));
    expect((error as ApiError).details.message).toBe('No such team');
  });

  test('405 keeps what is allowed', async () => {
    const service = await answering({ status: 405, headers: { allow: 'PUT' }, json: {} });
    const error = await thrownBy(apiTo(service.baseUrl).api.send(updateTeam));
    expect((error as ApiError).details.allow).toBe('PUT');
  });

  test('a server error on a write is an unknown outcome that keeps the code', async () => {
    const service = await answering({ status: 503, json: { error: 'overloaded' } });
    const error = await thrownBy(apiTo(service.baseUrl).api.send(updateTryout));
    expect(error).toBeInstanceOf(UnknownOutcomeError);
    expect((error as Error).message).toContain('overloaded');
    expect((error as Error).cause).toBeInstanceOf(ApiError);
  });

  test('a server error on a read is temporary', async () => {
    const service = await answering({ status: 503, json: { error: 'overloaded' } });
    const error = await thrownBy(apiTo(service.baseUrl).api.send(getTryout));
    expect(error).toMatchObject({ exitName: 'temporary', code: 'overloaded' });
  });

  test.each([{ error: 'limitExceeded' }, { success: false, message: 'no' }])(
    'a success status around %j is a failure',
    async (json) => {
      const service = await answering({ status: 200, json });
      const error = await thrownBy(apiTo(service.baseUrl).api.send(updateTeam));
      expect(error).toBeInstanceOf(ApiError);
    },
  );

  test('a record with a field called error is a record', async () => {
    const json = { ...application, error: 'none' };
    const service = await answering({ status: 200, json });
    expect((await apiTo(service.baseUrl).api.record(getTryout)).record).toEqual(json);
  });

  test.each([500, 502, 403])(
    'HTML with %i is reported by its status and never shown',
    async (status) => {
      const service = await answering({
        status,
        text: '<html>\u001b[31mcanary</html>',
        headers: { 'content-type': 'text/html' },
      });
      const error = await thrownBy(apiTo(service.baseUrl).api.send(getTryout));
      expect(error).toMatchObject({ status });
      expect(JSON.stringify(error)).not.toContain('canary');
    },
  );

  test('a delete with a lost response has an unknown outcome; one that finds nothing is an error', async () => {
    let count = 0;
    const service = await recordingService(() => {
      if (++count === 1) return (_, response) => void response.destroy();
      return { status: 404, json: { error: 'notFound' } };
    });
    const { api } = apiTo(service.baseUrl, { retries: 1, sleep: noWait().sleep });
    const call: Call = { endpoint: 'deleteTeam', params: { teamId: 't' } };
    expect(await thrownBy(api.send(call))).toBeInstanceOf(UnknownOutcomeError);
    expect(service.requests).toHaveLength(1);
    expect(await thrownBy(api.send(call))).toMatchObject({ exitName: 'notFound' });
  });
});

describe('answers that cannot be read', () => {
  const html = {
    status: 200,
    text: '<!doctype html>canary',
    headers: { 'content-type': 'text/html' },
  };

  test('HTML on a read names the origin and shows nothing', async () => {
    const service = await answering(html);
    const error = await thrownBy(apiTo(service.baseUrl).api.send(getTryout));
    expect(error).toBeInstanceOf(ProtocolError);
    expect((error as Error).message).toBe(
      `${service.origin} answered with a web page, not with JSON.`,
    );
  });

  const create: Call = { endpoint: 'createTeam', body: { name: 'A' } };
  const remove: Call = { endpoint: 'deleteTeam', params: { teamId: 't' } };
  const ok = { status: 200, text: 'ok' };
  const json = { 'content-type': 'application/json' };
  const cutOff = { status: 200, text: '{"id":' };
  const convert: Call = { endpoint: 'convertTryout', params: { applicationId: 'a' }, body: {} };
  test.each<readonly [string, Reply, Call]>([
    ['an update', html, updateTryout],
    ['an update', cutOff, updateTryout],
    ['an update', { status: 200, text: 'ok', headers: json }, updateTryout],
    ['a conversion', cutOff, convert],
    ['an update that the contract does not show', html, updateTeam],
    ['a create', html, create],
    ['a create', ok, create],
    ['a delete', html, remove],
  ])('%s answered with %j has an unknown outcome', async (_, reply, call) => {
    const service = await answering(reply);
    const { api } = apiTo(service.baseUrl);
    for (const sent of [api.send(call), api.sendOnce(call, () => true)]) {
      const error = await thrownBy(sent);
      expect(error).toMatchObject({ name: 'UnknownOutcomeError', delivery: 'applied' });
      expect((error as Error).message).not.toContain('canary');
    }
  });

  test.each([updateTryout, updateTeam, convert])(
    '%j answered with "ok" was done, without a record',
    async (call) => {
      const { api } = apiTo((await answering(ok)).baseUrl);
      expect(await api.sendOnce(call, () => true)).toMatchObject({
        status: 200,
        record: undefined,
      });
    },
  );

  test.each([
    { status: 200, text: '' },
    { status: 200, text: 'ok' },
    { status: 200, text: '{"id":' },
  ])('a read answered with %j is a protocol error', async (reply) => {
    const service = await answering(reply);
    const error = await thrownBy(apiTo(service.baseUrl).api.send(getTryout));
    expect(error).toBeInstanceOf(ProtocolError);
  });

  test.each([
    { status: 204 },
    { status: 200, text: '' },
    { status: 200, text: 'deleted' },
    { status: 200, json: { success: true } },
    { status: 202, json: { id: 't' } },
  ])('a delete answered with %j is done', async (reply) => {
    const service = await answering(reply);
    const { api } = apiTo(service.baseUrl);
    await api.send({ endpoint: 'deleteTeam', params: { teamId: 't' } });
    expect(service.requests).toHaveLength(1);
  });

  test('a byte order mark and a wrong content type are ignored', async () => {
    const text = `\ufeff${JSON.stringify(application)}`;
    const service = await answering({
      status: 200,
      text,
      headers: { 'content-type': 'text/plain' },
    });
    expect((await apiTo(service.baseUrl).api.record(getTryout)).record).toEqual(application);
  });
});

describe('the time of a response', () => {
  test('is that of its headers, however long its body takes', async () => {
    const service = await slowly(JSON.stringify(application));
    const { api } = apiTo(service.baseUrl, { instant });
    const { record, at } = await api.record(getTryout);
    expect(record).toEqual(application);
    expect(ageMs(at, instant())).toBeGreaterThan(200);
    expect(ageMs((await api.send(getTryout)).at, instant())).toBeGreaterThan(200);
  });

  test('is that of the last response after a retry', async () => {
    let count = 0;
    const service = await recordingService(() =>
      ++count === 1 ? { status: 503 } : { status: 200, json: application },
    );
    const begun = instant();
    const { api } = apiTo(service.baseUrl, { instant, retries: 1, random: () => 1 });
    expect(ageMs(begun, (await api.record(getTryout)).at)).toBeGreaterThan(490);
  });
});

describe('checking the response', () => {
  test.each([
    ['another id', { ...application, id: 'app_2' }],
    ['another organization', { ...application, organizationId: 'org_8' }],
    ['another organization as an object', { ...application, organizationId: { id: 'org_8' } }],
    ['another one as MongoDB names it', { ...application, organizationId: { _id: 'org_8' } }],
  ])('%s is an error on get, and an unknown outcome on update', async (_, json) => {
    const service = await answering({ status: 200, json });
    const { api } = apiTo(service.baseUrl);
    expect(await thrownBy(api.send(getTryout))).toBeInstanceOf(ProtocolError);
    const error = await thrownBy(api.send(updateTryout));
    expect(error).toBeInstanceOf(UnknownOutcomeError);
    expect((error as UnknownOutcomeError).delivery).toBe('applied');
  });

  test.each([[null], [''], [{ id: organization, name: 'Foxes' }], [{ name: 'Foxes' }]])(
    'a team whose organizationId is %j is the one that was asked for',
    async (organizationId) => {
      const team = { id: 'team_1', organizationId };
      const service = await answering({ status: 200, json: team });
      const { api } = apiTo(service.baseUrl);
      const params = { teamId: 'team_1' };
      const get: Call = { endpoint: 'getTeam', params };
      const update: Call = { endpoint: 'updateTeam', params, body: { name: 'Red' } };
      expect((await api.send(get)).record).toEqual(team);
      expect((await api.send(update)).record).toEqual(team);
    },
  );

  test('the conversion may answer with the player', async () => {
    const service = await answering({ status: 201, json: { id: 'player_9' } });
    const { api } = apiTo(service.baseUrl);
    const call: Call = { endpoint: 'convertTryout', params: { applicationId: 'app_1' } };
    expect((await api.send(call)).body).toEqual({ id: 'player_9' });
  });

  test('drift is reported once and the value stays unchanged', async () => {
    const json = { ...application, status: 'archived', extra: { deep: [1] } };
    const service = await answering({ status: 200, json });
    const { api, heard } = apiTo(service.baseUrl);
    expect((await api.record(getTryout)).record).toEqual(json);
    await api.record(getTryout);
    expect(heard.notes).toHaveLength(1);
    expect(heard.notes[0]).toMatch(/^GET \/tryout-applications\/\{applicationId\}: status: /);
  });

  test('drift is reported in words: missing fields on one line, another type, an unknown value', async () => {
    const { email: _e, createdAt: _c, ...rest } = application;
    const gamerTags = [{ id: 'a' }, { id: 'b' }];
    const json = { ...rest, gamerTags, name: 7, formResponses: null, status: 'x'.repeat(90) };
    const service = await answering({ status: 200, json });
    const { api, heard } = apiTo(service.baseUrl);
    await api.record(getTryout);
    json.status = 'another';
    await api.record(getTryout);
    const where = 'GET /tryout-applications/{applicationId}';
    expect(heard.notes.toSorted()).toEqual([
      `${where}: email, gamerTags[].game, gamerTags[].gamerTag, gamerTags[].createdAt, gamerTags[].updatedAt, createdAt: missing`,
      `${where}: formResponses: null where the contract has an object`,
      `${where}: name: a number where the contract has text`,
      `${where}: status: "${'x'.repeat(59)}… is not among the contract's values`,
    ]);
  });

  test('drift is an error when strict', async () => {
    const { email: _, ...json } = application;
    const service = await answering({ status: 200, json });
    const { api } = apiTo(service.baseUrl, { strict: true });
    // The second answer is no better than the first.
    for (let count = 0; count < 2; count += 1) {
      const error = await thrownBy(api.record(getTryout));
      expect(error).toBeInstanceOf(ProtocolError);
      expect((error as Error).message).toContain('email: missing');
    }
    // A change was made, whatever its answer looks like.
    expect(api.driftOfChange).toBeUndefined();
    expect((await api.record(updateTryout)).record).toEqual(json);
    expect(api.driftOfChange?.message).toContain('PATCH');
  });

  test('a numeric id is turned to text', async () => {
    const service = await answering({ status: 200, json: { id: 42, name: 'B' } });
    const { api } = apiTo(service.baseUrl);
    const call: Call = { endpoint: 'getTeam', params: { teamId: '42' } };
    expect((await api.record(call)).record).toEqual({ id: '42', name: 'B' });
  });

  test.each([{ key: 'k', fileRef: 'f' }, { key: 'k', fileRef: 'f', uploadUrl: 7 }, {}])(
    'an upload grant without its three parts (%j) stops the upload',
    async (json) => {
      const service = await answering({ status: 200, json });
      const call: Call = {
        endpoint: 'requestUpload',
        body: { contentType: 'text/plain', sizeBytes: 1 },
      };
      expect(await thrownBy(apiTo(service.baseUrl).api.send(call))).toBeInstanceOf(ProtocolError);
    },
  );
});

test('a raw request goes to the same origin with the key and returns every status', async () => {
  const service = await answering({ status: 418, json: { error: 'teapot' } });
  const { api } = apiTo(service.baseUrl);
  const response = await api.raw({ method: 'GET', path: '/extras?x=1', template: '/extras' });
  expect(response.status).toBe(418);
  expect(service.requests[0]?.url).toBe('/v1/extras?x=1');
});
