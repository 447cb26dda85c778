import { expect, test } from 'vitest';
import type { JsonObject } from '../../src/data/json.js';
import { sandboxEvents } from '../../src/sandbox/embedded.js';
import { call, newSandbox, start, verdict } from './client.js';

const update = 'PATCH /tryout-applications/app_0042';
const organizationId = 'org_demo';

test('a list holds every application under "applications" with its total', async () => {
  const sandbox = await newSandbox();
  const { json } = await call(sandbox, 'GET /tryout-applications?organizationId=org_demo&status=x');
  expect(json['total']).toBe(64);
  expect(json['applications']).toHaveLength(64);
});

test.each([['accepted!'], ['Accepted'], ['declined'], [''], [null], [7]])(
  'the status %j is refused',
  async (status) => {
    const sandbox = await newSandbox();
    expect(verdict(await call(sandbox, update, { organizationId, status }))).toBe(
      '400 invalidRequest',
    );
  },
);

test.each([[{}], [{ name: 'X' }], [{ status: 'accepted', extra: 1 }], [{ internalNotes: 5 }]])(
  'the body %j is refused',
  async (body) => {
    const sandbox = await newSandbox();
    expect(verdict(await call(sandbox, update, { organizationId, ...body }))).toBe(
      '400 invalidRequest',
    );
  },
);

test('notes alone change only the notes, null clears them, and no event is emitted', async () => {
  const sandbox = await newSandbox();
  sandbox.clock.now = new Date(start.getTime() + 60_000);
  const before = (await call(sandbox, 'GET /tryout-applications/app_0042?organizationId=org_demo'))
    .json;
  const noted = (await call(sandbox, update, { organizationId, internalNotes: 'x' })).json;
  expect(noted).toEqual({
    ...before,
    internalNotes: 'x',
    updatedAt: '2026-03-01T12:01:00.000Z',
  });
  const cleared = await call(sandbox, update, { organizationId, internalNotes: null });
  expect(cleared.status).toBe(200);
  expect(cleared.json['internalNotes']).toBeNull();
  expect(sandboxEvents(sandbox.stateDir)).toEqual([]);
});

test('a status change emits its events in order, a repeated status none', async () => {
  const sandbox = await newSandbox();
  const steps = ['reviewing', 'accepted', 'accepted', 'rejected', 'withdrawn', 'pending'];
  for (const [minute, status] of steps.entries()) {
    sandbox.clock.now = new Date(start.getTime() + minute * 60_000);
    expect((await call(sandbox, update, { organizationId, status })).json['status']).toBe(status);
  }
  expect(sandboxEvents(sandbox.stateDir)).toEqual(
    [
      ['tryout.status_changed', 0],
      ['tryout.status_changed', 1],
      ['tryout.accepted', 1],
      ['tryout.status_changed', 3],
      ['tryout.declined', 3],
      ['tryout.status_changed', 4],
      ['tryout.status_changed', 5],
    ].map(([kind, minute]) => ({
      kind,
      applicationId: 'app_0042',
      at: `2026-03-01T12:0${minute}:00.000Z`,
    })),
  );
});

test('the e-mail or Discord user of another application of the same form is a conflict', async () => {
  const sandbox = await newSandbox();
  for (const id of ['app_0041', 'app_0002', 'app_0050', 'app_0011']) {
    const answer = await call(sandbox, `PATCH /tryout-applications/${id}`, {
      organizationId,
      status: 'accepted',
    });
    expect(`${id} ${verdict(answer)}`).toBe(`${id} 409 conflict`);
  }
  expect(sandboxEvents(sandbox.stateDir)).toEqual([]);
});

test('no other application stands in conflict', async () => {
  const sandbox = await newSandbox();
  const refused: string[] = [];
  for (let number = 1; number <= 64; number += 1) {
    const id = `app_${String(number).padStart(4, '0')}`;
    const { status } = await call(sandbox, `PATCH /tryout-applications/${id}`, {
      organizationId,
      internalNotes: 'seen',
    });
    if (status !== 200) refused.push(id);
  }
  expect(refused).toEqual(['app_0002', 'app_0011', 'app_0041', 'app_0050']);
});

test('a conversion makes a player, links it and keeps the status; the second is refused', async () => {
  const sandbox = await newSandbox();
  const convert = 'POST /tryout-applications/app_0016/convert-to-player';
  const answer = await call(sandbox, convert, { organizationId, teamId: 'team_0005', number: 7 });
  expect(answer.status).toBe(201);
  const { player, application } = answer.json as { player: JsonObject; application: JsonObject };
  expect(player).toMatchObject({ id: 'player_0032', teamIds: ['team_0005'], number: 7 });
  expect(player['name']).toBe(application['name']);
  expect(player['gamerTags']).toEqual(application['gamerTags']);
  expect(application).toMatchObject({
    status: 'accepted',
    convertedPlayerId: 'player_0032',
    convertedPlayer: { id: 'player_0032', name: player['name'] },
  });
  const read = await call(sandbox, 'GET /tryout-applications/app_0016?organizationId=org_demo');
  expect(read.json).toEqual(application);
  expect((await call(sandbox, 'GET /players/org_demo/player_0032')).json).toEqual(player);
  expect(verdict(await call(sandbox, convert, { organizationId }))).toBe('409 alreadyConverted');
  expect((await call(sandbox, 'GET /players/org_demo')).json['total']).toBe(32);
  expect(sandboxEvents(sandbox.stateDir)).toEqual([]);
});

test('a conversion into an unknown team does nothing', async () => {
  const sandbox = await newSandbox();
  const convert = 'POST /tryout-applications/app_0016/convert-to-player';
  expect(verdict(await call(sandbox, convert, { organizationId, teamId: 'team_77' }))).toBe(
    '400 invalidRequest',
  );
  expect((await call(sandbox, 'GET /players/org_demo')).json['total']).toBe(31);
});

test('the player of an application follows its name and is null when it is deleted', async () => {
  const sandbox = await newSandbox();
  const read = async () =>
    (await call(sandbox, 'GET /tryout-applications/app_0001?organizationId=org_demo')).json;
  expect((await read())['convertedPlayerId']).toBe('player_0028');
  await call(sandbox, 'PATCH /players/player_0028', { name: 'Renamed' });
  expect((await read())['convertedPlayer']).toEqual({ id: 'player_0028', name: 'Renamed' });
  expect((await call(sandbox, 'DELETE /players/player_0028')).status).toBe(204);
  expect(await read()).toMatchObject({ convertedPlayerId: 'player_0028', convertedPlayer: null });
});
