import { expect, test } from 'vitest';
import { keep } from '../commands/tryouts/service.js';
import { ids, report, several, userOf } from './user.js';

test('a run waits for the reset of a rate limit that a successful answer reports as used up', async () => {
  const times: number[] = [];
  const service = await keep(several(3), (request, step) => {
    times.push(performance.now());
    if (step !== 'PATCH app_1') return undefined;
    const before = service.kept.get('app_1');
    const after = { ...before, ...(JSON.parse(request.body.toString()) as { status: string }) };
    service.kept.set('app_1', after as NonNullable<typeof before>);
    const headers = { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset-after': '1' };
    return { status: 200, json: after, headers };
  });
  const line = `tryouts set-status ${ids(3).join(' ')} --to rejected --yes --concurrency 1 --json`;
  const ran = await userOf(service).run(line);
  expect([ran.code, report(ran).summary]).toMatchObject([0, { changed: 3 }]);
  const spent = service.requests.findIndex(({ method }) => method === 'PATCH');
  const gaps = times.slice(1).map((time, index) => time - (times[index] ?? 0));
  expect(gaps[spent]).toBeGreaterThan(950);
});
