import { describe, expect, test } from 'vitest';
import { application, cut, keep, steps, written } from '../commands/tryouts/service.js';
import { converse } from '../support/converse.js';
import { closed, errorOf, heard, rosterctl, splitWords, temporaryFolder } from '../support/run.js';
import type { Service } from '../support/service.js';
import { fast, ids, report, several, until, userInside, userOf } from './user.js';

const lineOf = (count: number, more: string) =>
  `tryouts set-status ${ids(count).join(' ')} --to rejected ${more}`;

/** A service that does not answer writes from the third on; `hanging` counts them. */
async function hangingService(count: number) {
  const state = { hangs: true, hanging: 0 };
  const service = await keep(several(count), (_, step) => {
    if (!state.hangs || !step.startsWith('PATCH') || /^PATCH app_[12]$/.test(step))
      return undefined;
    return () => {
      state.hanging += 1;
    };
  });
  return { service, state };
}

/** A run of nine rows, of which two are done and two hang. */
async function hangingRun() {
  const { service, state } = await hangingService(9);
  const user = userOf(service);
  const child = user.start(lineOf(9, '--yes --json --concurrency 2'));
  const told = heard(child).ended;
  await until(() => state.hanging === 2);
  return { state, user, child, told };
}

describe.concurrent('Ctrl-C while a request hangs', () => {
  test('waits 10 s at most, then prints the summary and how to resume, and exits 130', async () => {
    const { state, user, child, told } = await hangingRun();
    const asked = Date.now();
    child.kill('SIGINT');
    const { code, stdout, stderr } = await told;
    expect(code).toBe(130);
    expect(Date.now() - asked).toBeGreaterThan(8_000);
    // After ten seconds the process would end without a report.
    expect(report({ stdout }).summary).toMatchObject({
      total: 9,
      changed: 2,
      unknown: 2,
      failed: 0,
      notAttempted: 5,
    });
    expect(stderr).toMatch(/Stopped after \d+ of \d+\. .* rosterctl runs resume \d{8}T/);
    const { run } = report({ stdout });
    expect((await user.run('doctor --json')).stdout).toContain(
      `rosterctl runs resume ${run?.slice(-6)}"`,
    );
    state.hangs = false;
    const resumed = await user.run('runs resume last --yes --json');
    expect(resumed.code).toBe(0);
    expect(report(resumed).summary).toMatchObject({ total: 9, changed: 9 });
  });

  test('a second Ctrl-C ends it immediately, and the run can be resumed', async () => {
    const { state, user, child, told } = await hangingRun();
    child.kill('SIGINT');
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(child.exitCode).toBe(null);
    // Two that come close together could reach it as one.
    const again = setInterval(() => child.kill('SIGINT'), 300);
    // A report would mean that it waited for the hanging requests.
    const { code, stdout, stderr } = await told;
    expect([code, stdout]).toEqual([130, '']);
    expect(errorOf({ stderr })).toMatchObject({
      code: 'cancelled',
      message: 'Quit before all answers arrived: requests already sent may have taken effect.',
      hint: 'Check with: rosterctl runs resume last',
      exitCode: 130,
    });
    clearInterval(again);
    state.hangs = false;
    const resumed = await user.run(lineOf(9, '--yes --json'));
    expect(resumed.code).toBe(0);
    expect(report(resumed).summary).toMatchObject({ total: 9, changed: 9 });
  });

  test('during the preview ends immediately: nothing was started', async () => {
    let asked = 0;
    const service = await keep(several(4), () => () => {
      asked += 1;
    });
    const child = userOf(service).start(lineOf(4, '--yes --json'));
    const told = heard(child).ended;
    await until(() => asked > 0);
    child.kill('SIGINT');
    expect(await told).toMatchObject({ code: 130, stdout: '' });
    expect(written(service)).toEqual([]);
  });
});

describe.concurrent('above --max-changes the user types the number', () => {
  const question = /Type the number to confirm:/;

  test('the right number starts the run', async () => {
    const service = await keep(several(101));
    const ran = await typing(service, [[question, '101\r']]);
    expect(ran.code).toBe(0);
    expect(ran.shown).toContain('101 pending → rejected');
    expect(written(service)).toHaveLength(101);
  });

  for (const [what, typed] of [
    ['a wrong one', '100\r'],
    ['yes', 'y\r'],
    ['nothing', '\r'],
    ['Escape', '\u001b'],
    ['Ctrl-C', '\u0003'],
  ] as const)
    test(`${what} changes nothing and exits 130`, async () => {
      const service = await keep(several(101));
      const ran = await typing(service, [[question, typed]]);
      expect(ran.code).toBe(130);
      expect(written(service)).toEqual([]);
    });

  test('Ctrl-C typed twice in the middle of a run ends it immediately', async () => {
    const { service, state } = await hangingService(5);
    const ran = await typing(
      service,
      [
        [/Change 5 applications\?/, 'y\r'],
        [/2 of 5/, '\u0003'],
        // Redrawn twice since, so the first one was handled.
        [/2 of 5[^]*2 of 5/, '\u0003'],
      ],
      '--concurrency 1',
      5,
    );
    expect(ran.code).toBe(130);
    expect(ran.shown).not.toMatch(/Not finished|Stopped after/);
    expect(state.hanging).toBe(1);
  });
});

/** Runs a command in a pseudo terminal; types each text once its prompt appears. */
function typing(
  service: Service,
  keys: readonly (readonly [shown: RegExp, typed: string])[],
  more = '',
  count = 101,
) {
  const env = { ...service.env, ...fast };
  return converse(temporaryFolder(), splitWords(lineOf(count, more)), keys, env, 120);
}

test.concurrent('a conversion waits for the writes of a killed run, so that no one becomes two players', async () => {
  const service = await keep(several(2), (_request, step) => {
    if (step !== 'CONVERT app_1') return undefined;
    return (_, response) => {
      setTimeout(() => {
        const record = application('app_1', { convertedPlayerId: 'player_1' });
        service.kept.set('app_1', record);
        response.writeHead(200, { 'content-type': 'application/json' });
        response.end(JSON.stringify({ player: { id: 'player_1', name: 'Ann' } }));
      }, 1_000);
    };
  });
  const user = userOf(service);
  const run = user.start('tryouts convert app_1 app_2 --concurrency 1 --yes --json');
  await until(() => steps(service).includes('CONVERT app_1'));
  run.kill('SIGKILL');
  await closed(run);
  const env = { ...service.env, ROSTERCTL_SETTLE: '6s' };
  const alone = await rosterctl('tryouts convert app_1 --yes --json', { env, home: user.home });
  expect([alone.code, JSON.parse(alone.stdout)]).toMatchObject([
    0,
    { convertedPlayerId: 'player_1' },
  ]);
  expect(alone.stderr).toContain('of an earlier run that may still take effect');
  expect(steps(service).filter((step) => step === 'CONVERT app_1')).toHaveLength(1);
});

test('a create with an unknown outcome names both ways to continue, also when repeated', async () => {
  const service = await keep([], ({ method }) => (method === 'POST' ? cut : undefined));
  const user = userInside(service);
  for (const [line, search] of [
    ['players create --name Ann', 'players list --search Ann'],
    ['teams create -F size=5 -F title="Red Foxes"', "teams list --search 'Red Foxes'"],
  ] as const) {
    const first = await user.run(line);
    const again = await user.run(line);
    const [run = ''] = /\d{8}T[\w-]+/.exec(again.stderr) ?? [];
    for (const { code, stderr } of [first, again]) {
      expect(code).toBe(10);
      expect(stderr).toContain(`Check whether it was created: rosterctl ${search}\n`);
      expect(stderr).toContain('again with --restart.');
      expect(stderr).toContain(`rosterctl runs prune ${run}`);
    }
    const sent = written(service).length;
    expect((await user.run(`${line} --restart`)).code).toBe(10);
    expect(written(service).length).toBe(sent + 1);
  }
});

test('a run that is removed while its resume waits for another change is not resumed', async () => {
  const held: (() => void)[] = [];
  let isDown = true;
  const service = await keep(several(4), (_, step) => {
    if (isDown && step.startsWith('PATCH')) return { status: 503 };
    if (step !== 'PATCH app_4') return undefined;
    return (_request, response) => {
      const record = JSON.stringify(application('app_4', { status: 'rejected' }));
      held.push(() => response.setHeader('content-type', 'application/json').end(record));
    };
  });
  const user = userInside(service);
  const { run } = report(await user.run(lineOf(2, '--yes --json')));
  isDown = false;
  const other = heard(user.start('tryouts set-status app_3 app_4 --to rejected --yes'));
  await until(() => held.length === 1);
  const resumed = heard(user.start(`runs resume ${run} --yes --json --wait-lock 1m`));
  await until(() => resumed.printed.stderr.includes('Waiting for it.'));
  expect((await user.run(`runs prune ${run} --yes`)).code).toBe(0);
  const sent = service.requests.length;
  held[0]?.();
  expect((await other.ended).code).toBe(0);
  const ended = await resumed.ended;
  expect([ended.code, errorOf(ended)]).toEqual([
    11,
    expect.objectContaining({
      code: 'finishedMeanwhile',
      message: `The run ${run} was removed in the meantime. Nothing was sent.`,
    }),
  ]);
  expect(service.requests).toHaveLength(sent);
});
