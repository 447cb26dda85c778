import { expect, test } from 'vitest';
import { errorOf, rosterctl } from '../../support/run.js';
import { application, cut, keep, steps } from './service.js';

// The wait that a busy service asks for also applies to verifying a write.

const busy = (seconds: number) => ({
  status: 503,
  json: { error: 'busy' },
  headers: { 'retry-after': String(seconds) },
});

test('nothing is read or sent again before the time that a 503 to a write asks for', async () => {
  const times: number[] = [];
  const service = await keep([application('app_1')], (_, step) => {
    times.push(performance.now());
    return step.startsWith('PATCH') && times.length === 2 ? busy(1) : undefined;
  });
  const ran = await rosterctl('tryouts update app_1 --status accepted', { env: service.env });
  expect(ran.code).toBe(0);
  expect(steps(service).slice(0, 2)).toEqual([
    expect.stringContaining('GET'),
    expect.stringContaining('PATCH'),
  ]);
  expect((times[2] ?? 0) - (times[1] ?? 0)).toBeGreaterThanOrEqual(1_000);
});

test('a 503 to a write that asks for longer than allowed ends the command', async () => {
  const service = await keep([application('app_1')], (_, step) =>
    step.startsWith('PATCH') ? busy(600) : undefined,
  );
  const ran = await rosterctl('tryouts update app_1 --status accepted --json', {
    env: service.env,
  });
  expect([ran.code, steps(service).length]).toEqual([10, 2]);
  expect(errorOf(ran)['hint']).toContain('asks you to wait 600 s');
});

test('a 503 to a write that asks for longer than allowed stops a run at once', async () => {
  const all = ['app_1', 'app_2', 'app_3'].map((id) => application(id));
  const service = await keep(all, (_, step) =>
    step.startsWith('PATCH') ? busy(9_999) : undefined,
  );
  const line = 'tryouts set-status app_1 app_2 app_3 --to rejected --concurrency 1 --yes --json';
  const ran = await rosterctl(line, { env: service.env });
  expect(steps(service).filter((step) => step.startsWith('PATCH'))).toHaveLength(1);
  expect(steps(service).at(-1)).toContain('PATCH');
  expect([ran.code, JSON.parse(ran.stdout).summary]).toMatchObject([
    10,
    { unknown: 1, notAttempted: 2 },
  ]);
});

test('a write whose reads fail as well is not reported as read', async () => {
  let wasSent = false;
  const service = await keep([application('app_1')], (_, step) => {
    wasSent ||= step.startsWith('PATCH');
    return wasSent ? cut : undefined;
  });
  const env = { ...service.env, ROSTERCTL_RETRIES: '0' };
  const ran = await rosterctl('tryouts update app_1 --status accepted --json', { env });
  expect(ran.code).toBe(10);
  expect(errorOf(ran)['message']).toMatch(/ Reading did not settle it: .* lost .*\.$/);
});
