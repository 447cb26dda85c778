import { describe, expect, test } from 'vitest';
import { parseRoute } from '../../src/data/http.js';
import { UsageError } from '../../src/errors.js';

const assumed = 'PATCH /players/{playerId}';

test.each([
  ['PUT /players/{id}', 'PUT', '/players/{playerId}'],
  ['put /players/{id}', 'PUT', '/players/{playerId}'],
  ['PATCH /players/{organizationId}/{id}', 'PATCH', '/players/{organizationId}/{playerId}'],
  ['POST /players/{id}/remove', 'POST', '/players/{playerId}/remove'],
  ['PUT /players/{id}?$upsert=a%20b', 'PUT', '/players/{playerId}?$upsert=a%20b'],
  [
    'PUT /players/{id}?organizationId={organizationId}',
    'PUT',
    '/players/{playerId}?organizationId={organizationId}',
  ],
  ['PUT /v10/players/{id}', 'PUT', '/v10/players/{playerId}'],
  [' PUT   /players/{id} ', 'PUT', '/players/{playerId}'],
])('%s is a route', (text, method, path) => {
  expect(parseRoute(text, assumed)).toEqual({ method, path });
});

test.each([
  ['DELETE /players/{playerId}', 'DELETE', '/players/{playerId}'],
  ['delete /players/{id}', 'DELETE', '/players/{playerId}'],
  ['DELETE /players?id={id}', 'DELETE', '/players?id={playerId}'],
  ['DELETE /players?force=1&id={playerId}', 'DELETE', '/players?force=1&id={playerId}'],
  ['POST /players/{id}/remove', 'POST', '/players/{playerId}/remove'],
])('%s is a route for a deletion', (text, method, path) => {
  expect(parseRoute(text, 'DELETE /players/{playerId}')).toEqual({ method, path });
});

test('the example for a deletion is a deletion', () => {
  expect(() => parseRoute('DELETE /players', 'DELETE /players/{playerId}')).toThrow(
    expect.objectContaining({ hint: 'For example: DELETE /players/{id}' }),
  );
});

describe('a route that only reads', () => {
  const list = 'GET /players/{organizationId}';
  const get = 'GET /players/{organizationId}/{playerId}';

  test('needs the id only where the assumed one has it', () => {
    const clubs = { method: 'GET', path: '/clubs/{organizationId}/players' };
    expect(parseRoute('get /clubs/{organizationId}/players', list)).toEqual(clubs);
    expect(parseRoute('GET /people/{id}', get)).toEqual({
      method: 'GET',
      path: '/people/{playerId}',
    });
    expect(() => parseRoute('GET /people', get)).toThrow('must contain {id} once');
    expect(() => parseRoute('GET /people/{id}', list)).toThrow(
      'can contain {organizationId}, not {id}',
    );
  });

  test.each([list, get])('writes by no method: %s', (assumedRead) => {
    expect(() => parseRoute('POST /players/{id}', assumedRead)).toThrow(
      expect.objectContaining({
        message: '"POST /players/{id}" is not a route: it must begin with GET.',
        hint: `For example: ${assumedRead.replace('{playerId}', '{id}')}`,
      }),
    );
  });
});

test.each([
  ['nothing', ''],
  ['a deletion', 'DELETE /players/{id}'],
  ['a deletion by query', 'delete /players?id={id}'],
  ['a path alone', '/players/{id}'],
  ['a method alone', 'PUT'],
  ['three words', 'PUT /players/{id} now'],
  ['a method that changes nothing', 'GET /players/{id}'],
  ['an unknown method', 'FETCH /players/{id}'],
  ['a path without its slash', 'PUT players/{id}'],
  ['another host', 'PUT //evil.example/{id}'],
  ['a whole URL', 'PUT https://evil.example/{id}'],
  ['a scheme inside', 'PUT /https://evil.example/{id}'],
  ['an empty query', 'PUT /players/{id}?'],
  ['two queries', 'PUT /players/{id}?a=1?b=2'],
  ['a query without a value', 'PUT /players/{id}?force'],
  ['a query with an unknown name', 'PUT /players?id={id}&key={secret}'],
  ['a query whose parameter is an id', 'PUT /players/{id}?{organizationId}=1'],
  ['another organization', 'PUT /players/{id}?organizationId=org_9'],
  ['a path in a query', 'PUT /players/{id}?next=//evil.example'],
  ['half a percent sign', 'PUT /players/{id}?a=%2'],
  ['a fragment in a query', 'PUT /players?id={id}#x'],
  ['the id in path and query', 'PUT /players/{id}?id={id}'],
  ['a fragment', 'PUT /players/{id}#x'],
  ['a step up', 'PUT /players/../{id}'],
  ['an encoded step up', 'PUT /players/%2e%2E/{id}'],
  ['a single dot', 'PUT /players/./{id}'],
  ['a double slash', 'PUT /players//{id}'],
  ['a backslash', 'PUT /players\\{id}'],
  ['no id', 'PUT /players'],
  ['the organization alone', 'PUT /players/{organizationId}'],
  ['the id twice', 'PUT /players/{id}/{id}'],
  ['the id of another resource', 'PUT /players/{teamId}'],
  ['an unknown name', 'PUT /players/{id}/{secret}'],
  ['half a brace', 'PUT /players/{id}/{'],
  ['what is no name', 'PUT /players/{id}/a@b'],
  ['a line feed', 'PUT /players/{id}\nX: y'],
])('%s is refused with an example', (_, text) => {
  let refusal: unknown;
  try {
    parseRoute(text, assumed);
  } catch (error) {
    refusal = error;
  }
  expect(refusal).toBeInstanceOf(UsageError);
  expect((refusal as UsageError).hint).toContain('PUT /players/{id}');
});

test.each(['PUT /v1/players/{id}', 'PUT /v1?id={id}', 'DELETE /v1/players?id={id}'])(
  '%s is refused, because the base URL ends with /v1',
  (text) => {
    let refusal: unknown;
    try {
      parseRoute(text, assumed);
    } catch (error) {
      refusal = error;
    }
    expect(refusal).toBeInstanceOf(UsageError);
    expect(refusal).toMatchObject({
      hint: 'Leave out /v1: the base URL already ends with it.',
    });
  },
);
