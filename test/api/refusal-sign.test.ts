import { describe, expect, test } from 'vitest';
import { refusalSign } from '../../src/api/answers.js';
import type { Call } from '../../src/api/types.js';
import { ApiError, ProtocolError } from '../../src/errors.js';
import { recordingService } from '../support/service.js';
import { apiTo, thrownBy } from './wiring.js';

const team = { id: 'team_1', name: 'A' };
const updateTeam: Call = {
  endpoint: 'updateTeam',
  params: { teamId: 'team_1' },
  body: { name: 'A' },
};

describe('a success response with an error in it', () => {
  test.each([
    [{ error: 'limitExceeded' }, 'error'],
    [{ error: { code: 'limitExceeded' } }, 'error'],
    [{ error: true }, 'error'],
    [{ errors: ['no'] }, 'error'],
    [{ errors: { name: 'taken' } }, 'error'],
    [{ ok: false }, 'error'],
    [{ success: false, message: 'no' }, 'error'],
    [{ success: 'false' }, 'error'],
    [{ ok: 0 }, 'error'],
    [{ error: 'partial', data: team }, 'error'],
    [{ id: null, error: 'x' }, 'error'],
    [{ status: 'error' }, 'code'],
    [{ status: 'fail', data: { name: 'taken' } }, 'code'],
    [{ status: 'failed' }, 'code'],
    [{ code: 404, message: 'gone' }, 'code'],
    [{ statusCode: 599 }, 'code'],
    [{ status: 404, title: 'Not Found' }, 'code'],
    [{ code: 40_301 }, 'code'],
    [{ code: 500, data: [] }, 'code'],
    [{ code: 400, details: [{ id: 'name', text: 'taken' }], request: { id: 'r1' } }, 'code'],
  ])('%j', (body, sign) => {
    expect(refusalSign(body)).toBe(sign);
  });
});

describe('a success response without an error in it', () => {
  test.each([
    [{ id: 'x', status: 'error' }],
    [{ id: 'x', error: 'none', code: 500 }],
    [{ id: 7, success: false }],
    [{ error: null, errors: [] }],
    [{ error: false }],
    [{ error: '' }],
    [{ error: 0 }],
    [{ errors: {} }],
    [{ code: 1000 }],
    [{ code: 200 }],
    [{ code: 600 }],
    [{ code: 39_999 }],
    [{ code: 60_000 }],
    [{ code: '404' }],
    [{ code: 500, team }],
    [{ code: 500, data: { team } }],
    [{ statusCode: 404, players: [{ id: 'p1' }] }],
    [{ team: { ...team, code: 500, error: 'x' } }],
    [{ team, warning: 'slow' }],
    [{ status: 'ok' }],
    [{ status: 200 }],
    [{ status: 404, team }],
    [{ success: true }],
    [{ success: 'true' }],
    [{ ok: 1 }],
    [[{ error: 'x' }]],
    ['error'],
    [null],
  ])('%j', (body) => {
    expect(refusalSign(body)).toBe(undefined);
  });
});

const list = async (json: unknown, strict = false) => {
  const service = await recordingService(() => ({ status: 200, json }));
  const { api, heard } = apiTo(service.baseUrl, { strict });
  const records = api.list('teams');
  const found: unknown[] = [];
  for await (const record of records) found.push(record);
  return { found, completeness: records.completeness(), notes: heard.notes };
};

describe('its result', () => {
  test.each([
    [{ errors: [{ code: 'taken', message: 'In use' }] }, 'taken', 'In use', 'error'],
    [{ errors: ['In use'] }, 'invalid', 'In use', 'error'],
    [{ code: 40_901, message: 'In use' }, '40901', 'In use', 'code'],
    [{ error: { code: 'taken', message: 'In use' } }, 'taken', 'In use', 'error'],
  ])(
    'a write answered with %j is refused in the service’s words',
    async (json, code, message, sign) => {
      const service = await recordingService(() => ({ status: 200, json }));
      const { api } = apiTo(service.baseUrl);
      for (const call of [api.send(updateTeam), api.sendOnce(updateTeam, () => true)]) {
        const error = await thrownBy(call);
        expect(error).toBeInstanceOf(ApiError);
        expect(error).toMatchObject({ status: 200, code, details: { message, sign, body: json } });
      }
    },
  );

  test.each([
    [{ ...team, status: 'error' }],
    [{ team, errors: [] }],
    [{ code: 1000, team }],
    [{ team: { ...team, code: 500 } }],
    [{ team, warning: 'slow' }],
  ])('a write answered with %j is done', async (json) => {
    const service = await recordingService(() => ({ status: 200, json }));
    const { api } = apiTo(service.baseUrl);
    expect((await api.sendOnce(updateTeam, () => true)).body).toEqual(json);
  });

  test('a record that is read with it is refused', async () => {
    const service = await recordingService(() => ({ status: 200, json: { error: 'x', team } }));
    const { api } = apiTo(service.baseUrl);
    const get: Call = { endpoint: 'getTeam', params: { teamId: 'team_1' } };
    expect(await thrownBy(api.record(get))).toBeInstanceOf(ApiError);
  });

  test.each([
    ['short', [team]],
    [
      'long',
      Array.from({ length: 1200 }, (_, index) => ({ id: `t${index}`, name: 'x'.repeat(80) })),
    ],
  ])('a %s list with it may be incomplete', async (_, teams) => {
    const { found, completeness, notes } = await list({ teams, error: 'partialResult' });
    expect(found).toEqual(teams);
    expect(completeness).toEqual({
      state: 'doubtful',
      reason: 'the answer holds an error (partialResult) in addition to its rows',
    });
    expect(notes).toHaveLength(1);
    expect(await thrownBy(list({ teams, error: 'x' }, true))).toBeInstanceOf(ProtocolError);
  });

  test.each([
    [{ teams: [], error: 'x' }],
    [{ success: false }],
    [{ code: 500, teams: [] }],
    [{ status: 'error', teams: [] }],
  ])('a list without rows, %j, is refused', async (json) => {
    expect(await thrownBy(list(json))).toBeInstanceOf(ApiError);
  });

  test.each([
    [{ teams: [team], code: 404 }],
    [{ squads: [{ name: 'B' }], code: 500 }],
    [{ teams: [team], errors: [] }],
    [{ teams: [{ ...team, error: 'x', success: false }] }],
  ])('a list answered with %j is complete', async (json) => {
    expect((await list(json)).completeness).toEqual({ state: 'complete' });
  });
});
