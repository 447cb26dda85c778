import { expect, test } from 'vitest';
import { parseRoute } from '../../src/data/http.js';
import { UsageError } from '../../src/errors.js';

const assumed = 'PATCH /players/{playerId}';

test.each([
  ['PUT /players/{id}', 'PUT', '/players/{playerId}'],
  ['put /players/{id}', 'PUT', '/players/{playerId}'],
  ['PATCH /players/{organizationId}/{id}', 'PATCH', '/players/{organizationId}/{playerId}'],
  ['DELETE /players/{playerId}', 'DELETE', '/players/{playerId}'],
  ['POST /players/{id}/remove', 'POST', '/players/{playerId}/remove'],
  [' PUT   /players/{id} ', 'PUT', '/players/{playerId}'],
])('%s is a route', (text, method, path) => {
  expect(parseRoute(text, assumed)).toEqual({ method, path });
});

test.each([
  ['nothing', ''],
  ['a path alone', '/players/{id}'],
  ['a method alone', 'PUT'],
  ['three words', 'PUT /players/{id} now'],
  ['an unknown method', 'FETCH /players/{id}'],
  ['a path without its slash', 'PUT players/{id}'],
  ['another host', 'PUT //evil.example/{id}'],
  ['a whole URL', 'PUT https://evil.example/{id}'],
  ['a scheme inside', 'PUT /https://evil.example/{id}'],
  ['a query', 'PUT /players/{id}?force=1'],
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
