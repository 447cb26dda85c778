import { expect } from 'vitest';
import { startLine, temporaryFolder } from '../support/run.js';
import { fault, unlessPossible } from './support/case.js';
import { cannotFalsifyClocks, falseClock } from './support/false-clock.js';
import { application, hostileWorld, team } from './support/world.js';

const read = 'teams get team_1';

const jumps = [
  ['an hour back', '-1h'],
  ['a day ahead', '+1d'],
  ['to the last second of 32 bits', '@2038-01-19 03:14:07'],
] as const;

for (const [title, time] of jumps) {
  fault('F125', `the clock jumps ${title} during a Retry-After wait`, async (attack, context) => {
    unlessPossible(context, cannotFalsifyClocks());
    const clock = falseClock();
    const world = await hostileWorld({
      api: ({ nth }) => {
        if (nth > 1) return undefined;
        setTimeout(() => clock.set(time), 300);
        return { status: 503, headers: { 'retry-after': '1' } };
      },
    });
    const ran = await attack(`${read} --json`, {
      env: { ...world.env, ...clock.env },
    });
    expect({ code: ran.code, stderr: ran.stderr }).toMatchObject({ code: 0 });
    expect(JSON.parse(ran.stdout)).toEqual(team);
    const [first, second, ...more] = world.requests;
    expect(more).toEqual([]);
    // Neither shortened by a clock that jumped ahead nor an hour longer after one that went back.
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThanOrEqual(1000);
  });

  fault('F125', `the clock jumps ${title} between the rows of a run`, async (attack, context) => {
    unlessPossible(context, cannotFalsifyClocks());
    const clock = falseClock();
    const rows = new Map(
      ['app_1', 'app_2', 'app_3', 'app_4'].map((id) => [id, { ...application, id }]),
    );
    let patches = 0;
    const world = await hostileWorld({
      api: ({ method, url, body }) => {
        const id = /tryout-applications\/(\w+)/.exec(url)?.[1] ?? '';
        const row = rows.get(id);
        if (!row) return undefined;
        if (method !== 'PATCH') return { json: row };
        if (++patches === 2) clock.set(time);
        Object.assign(row, JSON.parse(body.toString()));
        return { json: row };
      },
    });
    const env = { ...world.env, ...clock.env };
    const ids = [...rows.keys()].join(' ');
    const ran = await attack(
      `tryouts set-status ${ids} --to rejected --yes --json --concurrency 1`,
      {
        env,
      },
    );
    expect({ code: ran.code, stderr: ran.stderr }).toMatchObject({ code: 0 });
    const report = JSON.parse(ran.stdout) as { summary: object; run: string };
    expect(report.summary).toMatchObject({ total: 4, changed: 4 });
    expect(patches).toBe(4);
  });
}

// Else a write that the service carries out late would be sent a second time.
for (const [what, line] of [
  ['an update', 'tryouts update app_1 --status rejected --yes --json'],
  ['a conversion', 'tryouts convert app_1 --yes --json'],
] as const)
  fault(
    'F125',
    `the clock jumps ahead while ${what} without an answer may still take effect`,
    async (attack, context) => {
      unlessPossible(context, cannotFalsifyClocks());
      const clock = falseClock();
      const world = await hostileWorld({
        api: (request, own) => {
          if (request.method === 'GET' || request.nth > 1) return undefined;
          setTimeout(() => clock.set('+10m'), 500);
          return (socket) => {
            setTimeout(() => own.carryOut(request), 2_800);
            socket.destroy();
          };
        },
      });
      const ran = await attack(line, {
        env: { ...world.env, ...clock.env, ROSTERCTL_SETTLE: '4s' },
      });
      expect({ code: ran.code, stderr: ran.stderr }).toMatchObject({ code: 0 });
      expect(world.requests.filter(({ method }) => method !== 'GET')).toHaveLength(1);
    },
  );

fault('F125', 'every command goes by a clock far ahead', async (attack, context) => {
  unlessPossible(context, cannotFalsifyClocks());
  const clock = falseClock();
  clock.set('@2040-06-01 00:00:00');
  const world = await hostileWorld();
  const env = { ...world.env, ...clock.env };
  for (const line of [
    read,
    'tryouts list',
    'tryouts list --older-than 4000d -o ids',
    'docs list',
  ]) {
    const ran = await attack(line, { env });
    expect({ code: ran.code, stderr: ran.stderr }).toMatchObject({ code: 0 });
    expect(ran.stdout).not.toBe('');
  }
});

fault('F125', 'the clock was set back between two runs', async (attack, context) => {
  unlessPossible(context, cannotFalsifyClocks());
  const clock = falseClock();
  const rows = new Map(['app_1', 'app_2'].map((id) => [id, { ...application, id }]));
  const world = await hostileWorld({
    api: ({ method, url, body }) => {
      const row = rows.get(/tryout-applications\/(\w+)/.exec(url)?.[1] ?? '');
      if (row && method === 'PATCH') Object.assign(row, JSON.parse(body.toString()));
      return row && { json: row };
    },
  });
  const home = temporaryFolder('clock');
  const at = { env: { ...world.env, ...clock.env }, home };
  clock.set('+2h');
  await attack('tryouts update app_1 --status rejected', at);
  clock.set('+0');
  await attack('tryouts update app_2 --status accepted', at);
  const ran = await attack('runs undo last --yes --json', at);
  expect({ code: ran.code, stderr: ran.stderr }).toMatchObject({ code: 0 });
  expect([...rows.values()].map(({ status }) => status)).toEqual(['rejected', application.status]);
});

// Else the write of a killed process would take effect after the next command judged the record.
for (const status of ['rejected', 'accepted'])
  fault(
    'F125',
    `the clock jumps ahead between a kill and the next command, which sets ${status}`,
    async (attack, context) => {
      unlessPossible(context, cannotFalsifyClocks());
      const clock = falseClock();
      const applied: unknown[] = [];
      const kill = new AbortController();
      let late: Promise<unknown> | undefined;
      const world = await hostileWorld({
        api: (request, own) => {
          if (request.method !== 'PATCH') return undefined;
          const apply = () => {
            applied.push((JSON.parse(request.body.toString()) as { status: unknown }).status);
            return own.carryOut(request);
          };
          if (kill.signal.aborted) return apply();
          kill.abort();
          late = new Promise((resolve) => setTimeout(() => resolve(apply()), 2_500));
          return (socket) => socket.destroy();
        },
      });
      const at = {
        env: { ...world.env, ...clock.env, ROSTERCTL_SETTLE: '4s' },
        home: temporaryFolder('clock'),
      };
      const first = startLine('tryouts update app_1 --status rejected --yes', at);
      kill.signal.addEventListener('abort', () => first.kill('SIGKILL'));
      await first.ended;
      clock.set('+1d');
      const ran = await attack(`tryouts update app_1 --status ${status} --yes --json`, at);
      expect({ code: ran.code, stderr: ran.stderr }).toMatchObject({ code: 0 });
      await late;
      expect(applied).toEqual(status === 'rejected' ? ['rejected'] : ['rejected', 'accepted']);
    },
  );
