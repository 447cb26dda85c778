import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ids, report, several, until, userInside, userOf } from '../bulk/user.js';
import { application, cut, keep, steps } from '../commands/tryouts/service.js';
import { inProcess } from '../support/in-process.js';
import { closed, errorOf } from '../support/run.js';
import type { Reply } from '../support/service.js';

// `tryouts convert --accept` is two writes per row, each with its own intent and outcome.

/** Two applications whose conversion gets this response while it returns one. */
async function converting(answer: () => Reply | undefined, count = 2) {
  const service = await keep(several(count), (_, step) =>
    step.startsWith('CONVERT') ? answer() : undefined,
  );
  return { service, user: userOf(service, inProcess) };
}

const refused: Reply = { status: 422, json: { error: 'noSeat', message: 'The team is full.' } };
const taken: Reply = { status: 409, json: { error: 'conflict' } };
const later: Reply = { status: 429, headers: { 'retry-after': '9999' }, json: { error: 'slow' } };

describe('a conversion that fails permanently after --accept', () => {
  test.each([
    ['422', refused, 3],
    ['409', taken, 6],
  ])(
    '%s: one id ends with the code of the refusal, and says that the status was set',
    async (_, reply, code) => {
      const { service, user } = await converting(() => reply);
      const ran = await user.run('tryouts convert app_1 --accept --yes --json');
      expect([ran.code, ran.stdout]).toEqual([code, '']);
      expect(service.kept.get('app_1')?.status).toBe('accepted');
      const shown = await user.run('runs show last --json');
      expect(report(shown).results).toMatchObject([
        {
          id: 'app_1',
          result: 'failed',
          before: { status: 'pending' },
          after: { status: 'accepted' },
          step: 'accepted',
        },
      ]);
      expect(ran.stderr).toContain('The status was set to accepted');
    },
  );

  test('several exit with 8, and their failed rows report what the first step wrote', async () => {
    const { user } = await converting(() => taken);
    const ran = await user.run('tryouts convert app_1 app_2 --accept --yes --json');
    expect(ran.code).toBe(8);
    const row = { result: 'failed', step: 'accepted', after: { status: 'accepted' } };
    expect(report(ran).results).toMatchObject([row, row]);
    expect(report(ran).results).not.toMatchObject([{ retryable: true }]);
    const retried = await user.run('runs retry last --yes --json');
    expect(retried.code).toBe(8);
  });
});

test('a conversion whose player neither its answer nor a read names reports none', async () => {
  let isConverted = false;
  const service = await keep(several(2), (_, step) => {
    if (step.startsWith('CONVERT')) {
      isConverted = true;
      return { status: 200, json: {} };
    }
    return isConverted && step.startsWith('GET')
      ? { status: 403, json: { error: 'forbidden' } }
      : undefined;
  });
  const ran = await userInside(service).run(
    'tryouts convert app_1 app_2 --yes --json --concurrency 1',
  );
  expect(report(ran).results[0]).toMatchObject({
    result: 'changed',
    after: { convertedPlayerId: null },
  });
});

test('a conversion refused because somebody else converted after --accept is not claimed', async () => {
  const service: Awaited<ReturnType<typeof keep>> = await keep(several(2), (_, step) => {
    if (step !== 'CONVERT app_1') return undefined;
    const theirs = { status: 'accepted', convertedPlayerId: 'player_of_others' };
    service.kept.set('app_1', application('app_1', theirs));
    return { status: 409, json: { error: 'alreadyConverted' } };
  });
  const ran = await userInside(service).run('tryouts convert app_1 app_2 --accept --yes --json');
  expect(ran.code).toBe(0);
  const [first] = report(ran).results;
  expect(first).toMatchObject({ result: 'changed', before: { status: 'pending' } });
  expect(first).toHaveProperty('after', { status: 'accepted' });
  expect(ran.stderr).not.toContain('done, although');
  expect(ran.stderr).toContain('app_1: the rest was already done, but not by this run.\n');
});

test('a retry finishes what --accept began, without judging the guards that the first step met', async () => {
  let answer: Reply | undefined = refused;
  const { service, user } = await converting(() => answer, 3);
  const line = 'tryouts convert app_1 app_2 app_3 --accept --if-status pending --yes --json';
  expect((await user.run(line)).code).toBe(8);
  answer = undefined;
  const other = { ...application('app_2'), status: 'rejected' };
  service.kept.set('app_2', other);
  const retried = await user.run('runs retry last --yes --json');
  expect([retried.code, report(retried).results]).toMatchObject([
    0,
    [
      { result: 'changed', before: { status: 'pending' }, after: { status: 'accepted' } },
      { result: 'skipped', error: { code: 'guard' } },
      { result: 'changed' },
    ],
  ]);
  expect(service.kept.get('app_2')).toEqual(other);
});

test('a conversion with an unknown outcome after --accept is not called undone', async () => {
  const { user } = await converting(() => ({ status: 503 }), 1);
  const ran = await user.run('tryouts convert app_1 --accept --yes --retries 0');
  expect(ran.code).toBe(10);
  expect(ran.stderr).toContain('The status was set to accepted; the rest may have been done.');
});

describe('a conversion that fails temporarily after --accept', () => {
  test.each(['the same line', 'runs resume last --yes --json'])(
    'is finished by %s without judging the guards that the first step met',
    async (how) => {
      let busy = true;
      const { service, user } = await converting(() => (busy ? later : undefined));
      const line = 'tryouts convert app_1 app_2 --accept --if-status pending --yes --json';
      const ran = await user.run(`${line} --concurrency 1`);
      expect(ran.code).toBe(9);
      expect(report(ran).results).toMatchObject([
        { result: 'failed', step: 'accepted', retryable: true, after: { status: 'accepted' } },
        { result: 'not_attempted' },
      ]);
      const listed = JSON.parse((await user.run('runs list --json')).stdout) as object[];
      expect(listed).toMatchObject([{ state: 'unfinished' }]);
      const looked = await user.run(`${line} -n`);
      expect(report(looked).summary).toMatchObject({ wouldChange: 2, skipped: 0 });
      busy = false;
      const again = await user.run(how === 'the same line' ? line : how);
      expect(again.code).toBe(0);
      expect(report(again).summary).toMatchObject({ total: 2, changed: 2 });
      const sent = steps(service).filter((step) => !/^(GET|LIST)/.test(step));
      expect(sent.filter((step) => step.startsWith('PATCH'))).toEqual([
        'PATCH app_1',
        'PATCH app_2',
      ]);
      for (const id of ['app_1', 'app_2'])
        expect(service.kept.get(id)).toMatchObject({
          status: 'accepted',
          convertedPlayerId: `player_${id}`,
        });
    },
  );

  test('one id: exit 9, and the same command finishes it', async () => {
    let busy = true;
    const { service, user } = await converting(() => (busy ? later : undefined));
    const line = 'tryouts convert app_1 --accept --if-status pending --yes --json';
    const ran = await user.run(line);
    expect([ran.code, errorOf(ran)['retryable']]).toEqual([9, true]);
    expect(ran.stderr).toContain('The status was set to accepted');
    busy = false;
    const again = await user.run(line);
    expect(again.code).toBe(0);
    expect(JSON.parse(again.stdout)).toMatchObject({ convertedPlayerId: 'player_app_1' });
    expect(steps(service).filter((step) => step.startsWith('PATCH'))).toEqual(['PATCH app_1']);
  });

  test('whose status another admin changed meanwhile is a conflict, and no player is created', async () => {
    let busy = true;
    const { service, user } = await converting(() => (busy ? later : undefined));
    const line = 'tryouts convert app_1 --accept --yes --json';
    await user.run(line);
    busy = false;
    service.kept.set('app_1', application('app_1', { status: 'rejected' }));
    const again = await user.run(line);
    expect(again.code).toBe(6);
    expect(service.kept.get('app_1')).toMatchObject({
      status: 'rejected',
      convertedPlayerId: null,
    });
  });
});

/** Applications of one status; another admin sets that of the first while its conversion waits. */
async function moving(count: number, { from, to }: { from: string; to: string }) {
  let isFirst = true;
  const service = await keep(
    ids(count).map((id) => application(id, { status: from })),
    (_, step) => {
      if (step !== 'CONVERT app_1' || !isFirst) return undefined;
      isFirst = false;
      service.kept.set('app_1', application('app_1', { status: to }));
      return { status: 429, headers: { 'retry-after': '1' }, json: { error: 'slow' } };
    },
  );
  return { service, user: userOf(service, inProcess) };
}

describe('an accepted applicant who is rejected while the conversion waits becomes no player:', () => {
  test('one id ends in a conflict', async () => {
    const { service, user } = await moving(1, { from: 'accepted', to: 'rejected' });
    const ran = await user.run('tryouts convert app_1 --yes --retries 1 --json');
    expect([ran.code, errorOf(ran)['message']]).toEqual([
      6,
      expect.stringContaining('The status is now rejected: someone else changed it.'),
    ]);
    expect(service.kept.get('app_1')).toMatchObject({ convertedPlayerId: null });
  });

  test('of several, only the others are converted, also by a retry', async () => {
    const { service, user } = await moving(2, { from: 'accepted', to: 'rejected' });
    const line = 'tryouts convert app_1 app_2 --yes --concurrency 1 --retries 1 --json';
    const ran = await user.run(line);
    expect(ran.code).toBe(8);
    expect(report(ran).results).toMatchObject([
      { id: 'app_1', result: 'conflict', before: { status: 'rejected' } },
      { id: 'app_2', result: 'changed' },
    ]);
    expect((await user.run('runs retry last --yes --json')).code).toBe(8);
    expect(service.kept.get('app_1')).toMatchObject({ convertedPlayerId: null });
  });

  test('one who was not accepted before is converted whatever the status is now', async () => {
    const { service, user } = await moving(1, { from: 'pending', to: 'accepted' });
    const ran = await user.run('tryouts convert app_1 --yes --retries 1 --json');
    expect(ran.code).toBe(0);
    expect(service.kept.get('app_1')).toMatchObject({ convertedPlayerId: 'player_app_1' });
  });
});

const halfDone = {
  result: 'failed',
  before: { status: 'pending' },
  after: { status: 'accepted' },
  step: 'accepted',
};

/** Starts a conversion with --accept and interrupts it once `reached` resolves: 130, and it says no untruth. */
async function interruptConversion(
  user: ReturnType<typeof userOf>,
  count: number,
  reached: () => Promise<void>,
) {
  const child = user.start(`tryouts convert ${ids(count).join(' ')} --accept --yes --json`);
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  const ended = closed(child);
  await reached();
  child.kill('SIGINT');
  expect(await ended).toBe(130);
  expect(stderr).not.toContain('nothing was sent');
}

describe('a conversion stopped while its status is being set', () => {
  test.each([1, 2])(
    'by a signal, of %i: the status is reported, and resume converts',
    async (count) => {
      let release: (() => void) | undefined;
      const service = await keep(several(count), (_, step) => {
        if (step !== 'PATCH app_1') return undefined;
        const accepted = application('app_1', { status: 'accepted' });
        service.kept.set('app_1', accepted);
        return (__, response) => {
          release = () => response.end(JSON.stringify(accepted));
        };
      });
      const user = userInside(service);
      await interruptConversion(user, count, async () => {
        await until(() => steps(service).includes('PATCH app_1'));
        // The answer must come after the signal, also to a process that is behind.
        setTimeout(() => release?.(), 1_500);
      });
      const shown = report(await user.run('runs show last --json'));
      expect(shown.results[0]).toMatchObject({ ...halfDone, retryable: true });
      const resumed = await user.run('runs resume last --yes --json');
      expect(resumed.code).toBe(0);
      expect(report(resumed).summary).toMatchObject({ total: count, changed: count });
      const sent = steps(service).filter((step) => /^(PATCH|CONVERT)/.test(step));
      expect(sent).toEqual(ids(count).flatMap((id) => [`PATCH ${id}`, `CONVERT ${id}`]));
    },
  );

  test.each([1, 2])(
    'by a signal while the next read hangs, of %i: the same, and the run stays open',
    async (count) => {
      let accepted = false;
      let isOver = false;
      const service = await keep(several(count), (_, step) => {
        accepted ||= step === 'PATCH app_1';
        return accepted && !isOver && step === 'GET app_1' ? () => {} : undefined;
      });
      const user = userInside(service);
      await interruptConversion(user, count, () =>
        until(() => accepted && steps(service).at(-1) === 'GET app_1'),
      );
      isOver = true;
      const shown = report(await user.run('runs show last --json'));
      expect(shown.results[0]).toMatchObject({ ...halfDone, retryable: true });
      const resumed = await user.run('runs resume last --yes --json');
      expect(report(resumed).summary).toMatchObject({ total: count, changed: count });
    },
  );

  test('by the refusal of another row, is failed, never not attempted', async () => {
    let release: (() => void) | undefined;
    const service = await keep(several(3), (_, step) => {
      if (step === 'PATCH app_3')
        return (_request, response) =>
          void until(() => release !== undefined).then(() => {
            response.writeHead(422, { 'content-type': 'application/json' });
            response.end(JSON.stringify({ error: 'noSeat' }));
            // The refusal must come first, also to a process that is behind.
            setTimeout(() => release?.(), 1_500);
          });
      if (step !== 'PATCH app_2') return undefined;
      const accepted = application('app_2', { status: 'accepted' });
      service.kept.set('app_2', accepted);
      return (__, response) => {
        release = () => response.end(JSON.stringify(accepted));
      };
    });
    const user = userInside(service);
    const line = 'tryouts convert app_1 app_2 app_3 --accept --yes --fail-fast --json';
    const ran = await user.run(line);
    expect(ran.code).toBe(8);
    expect(report(ran).results).toMatchObject([
      { result: 'changed' },
      { ...halfDone, retryable: true },
      { result: 'failed' },
    ]);
    expect(errorOf(ran)['hint']).toContain('runs resume');
  });
});

test.each([
  [1, 6],
  [2, 8],
])(
  'a status that another admin changes right after it was set: %i ends with %i, and its row says that it was set',
  async (count, code) => {
    const service = await keep(several(count), (_, step) => {
      if (step !== 'PATCH app_1') return undefined;
      service.kept.set('app_1', application('app_1', { status: 'rejected' }));
      return { status: 200, json: application('app_1', { status: 'accepted' }) };
    });
    const user = userInside(service);
    const line = `tryouts convert ${ids(count).join(' ')} --accept --yes --json`;
    const ran = await user.run(line);
    expect(ran.code).toBe(code);
    if (count === 1) expect(ran.stderr).toContain('The status was set to accepted');
    const shown = report(await user.run('runs show last --json'));
    expect(shown.results[0]).toMatchObject({ ...halfDone, error: { kind: 'conflict' } });
    expect(service.kept.get('app_1')).toMatchObject({ convertedPlayerId: null });
  },
);

test('a run killed between its two steps is kept: the guards of the first are not checked again', async () => {
  let accepted = false;
  let isOver = false;
  const service = await keep(several(1), (_, step) => {
    accepted ||= step === 'PATCH app_1';
    // After the first step the service no longer responds.
    return accepted && !isOver && step !== 'PATCH app_1' ? () => {} : undefined;
  });
  const user = userOf(service);
  const line = 'tryouts convert app_1 --accept --if-status pending --yes --json';
  const child = user.start(line);
  const ended = closed(child);
  await until(() => steps(service).at(-1) === 'GET app_1' && accepted);
  child.kill('SIGKILL');
  await ended;
  isOver = true;
  const shown = report(await user.run('runs show last --json'));
  expect(shown.results).toMatchObject([{ ...halfDone, retryable: true }]);
  await user.run('tryouts update app_9 --status rejected');
  const again = await user.run(line);
  expect(again.code).toBe(0);
  expect(service.kept.get('app_1')).toMatchObject({ convertedPlayerId: 'player_app_1' });
});

test.each(['PATCH', 'CONVERT'])(
  'a run killed while its last %s travels, and read again by an undo, still knows that the first step is done',
  async (step) => {
    let isLost = false;
    const service = await keep(several(2), (_, asked) => {
      if (asked !== `${step} app_2` || isLost) return undefined;
      return () => {
        const accepted = application('app_2', { status: 'accepted' });
        if (step === 'PATCH') service.kept.set('app_2', accepted);
        isLost = true;
      };
    });
    const user = userInside(service);
    const line = 'tryouts convert app_1 app_2 --accept --if-status pending --yes --concurrency 1';
    const child = user.start(line);
    const ended = closed(child);
    await until(() => isLost);
    child.kill('SIGKILL');
    await ended;
    const undone = await user.run('runs undo last --json');
    expect(errorOf(undone)['message']).toContain('1 converted, 1 only accepted');
    const shown = report(await user.run('runs show last --json'));
    expect(shown.results[1]).toMatchObject({ ...halfDone, retryable: true });
    const resumed = await user.run('runs resume last --yes --json');
    expect(report(resumed).summary).toMatchObject({ total: 2, changed: 2 });
    expect(steps(service).filter((each) => each === 'PATCH app_2')).toHaveLength(1);
  },
);

describe('a status that was lost on its way, of an application that somebody else converts meanwhile, is not claimed', () => {
  test.each(['the same process', 'the same line', 'runs resume last --yes --json'])(
    'by %s',
    async (how) => {
      const theirs = application('app_1', { convertedPlayerId: 'player_of_others' });
      const isKilled = how !== 'the same process';
      const service: Awaited<ReturnType<typeof keep>> = await keep(several(2), (_, step) => {
        if (step !== 'PATCH app_1') return undefined;
        service.kept.set('app_1', theirs);
        return isKilled ? () => {} : cut;
      });
      const user = userInside(service);
      const line = 'tryouts convert app_1 app_2 --accept --yes --json --retries 1';
      if (isKilled) {
        const child = user.start(line);
        const ended = closed(child);
        await until(() => steps(service).includes('PATCH app_1'));
        child.kill('SIGKILL');
        await ended;
      }
      const ran = await user.run(how.startsWith('runs') ? how : line);
      expect([ran.code, report(ran).results]).toMatchObject([
        0,
        [
          { id: 'app_1', result: 'unchanged' },
          { id: 'app_2', result: 'changed' },
        ],
      ]);
      expect(service.kept.get('app_1')).toEqual(theirs);
    },
  );
});

test.each(['at once', 'later'])(
  'a single conversion killed while its POST travels and repeated makes one player, done %s',
  async (when) => {
    let players = 0;
    let sent = 0;
    const convert = () => {
      players += 1;
      const convertedPlayerId = `player_${players}` as never;
      service.kept.set('app_1', application('app_1', { convertedPlayerId }));
    };
    const service: Awaited<ReturnType<typeof keep>> = await keep(several(1), (_, step) => {
      if (step !== 'CONVERT app_1') return undefined;
      sent += 1;
      if (sent > 1) {
        convert();
        return { status: 201, json: { player: { id: 'player_2' } } };
      }
      return () => {
        if (when === 'at once') convert();
        else setTimeout(convert, 600);
      };
    });
    const user = userOf(service);
    const env = { ROSTERCTL_SETTLE: '1.5s' };
    const child = user.start('tryouts convert app_1 --yes', env);
    const ended = closed(child);
    await until(() => sent === 1);
    child.kill('SIGKILL');
    await ended;
    const again = user.start('tryouts convert app_1 --yes --json', env);
    again.stdin.end();
    let stdout = '';
    again.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
    expect(await closed(again)).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ id: 'app_1', convertedPlayerId: 'player_1' });
    expect([sent, players]).toEqual([1, 1]);
  },
);

test('the preview of several shows the team and everything else that is sent, and who is not accepted', async () => {
  const service = await keep([
    application('app_1', { status: 'accepted' }),
    application('app_2', { status: 'reviewing' }),
  ]);
  const user = userInside(service);
  const line = 'tryouts convert app_1 app_2 -F teamId=team_1 -F shirt=7';
  for (const words of [`${line} -n`, `${line} --yes`]) {
    const { stderr } = await user.run(words);
    expect(stderr).toContain('2 applications to convert in ');
    expect(stderr).toMatch(/app_1 {2}Applicant app_1 .*Team \S+ → team_1, Shirt \S+ → 7/);
    expect(stderr).toMatch(/app_2 {2}Applicant app_2 .*Team \S+ → team_1, Shirt \S+ → 7/);
    expect(stderr).toContain('Applicant app_2 (app_2) is not accepted: the status is reviewing.');
    expect(stderr).not.toMatch(/app_1 .*is not accepted/);
  }
});

test('a lost response to the acceptance is verified by reading before the conversion is sent', async () => {
  const service = await keep(several(1), (_, step) => {
    if (step !== 'PATCH app_1') return undefined;
    return (request, response) => {
      service.kept.set('app_1', application('app_1', { status: 'accepted' }));
      cut(request, response);
    };
  });
  const ran = await userInside(service).run('tryouts convert app_1 --accept --yes --json');
  expect(ran.code).toBe(0);
  expect(steps(service).filter((step) => /^(PATCH|CONVERT)/.test(step))).toEqual([
    'PATCH app_1',
    'CONVERT app_1',
  ]);
});

test('a conversion lost on the way is sent again, although its acceptance was lost on the way, too', async () => {
  const seen = new Set<string>();
  const service = await keep(several(1), (_, step) => {
    if (!/^(PATCH|CONVERT)/.test(step) || seen.has(step)) return undefined;
    seen.add(step);
    return cut;
  });
  const ran = await userInside(service).run(
    'tryouts convert app_1 --accept --yes --json --retries 3',
  );
  expect(steps(service).filter((step) => /^(PATCH|CONVERT)/.test(step))).toEqual([
    'PATCH app_1',
    'PATCH app_1',
    'CONVERT app_1',
    'CONVERT app_1',
  ]);
  expect(ran.code).toBe(0);
});

test('a row that cannot be locked on a disk that failed in between is not said to leave nothing sent', async () => {
  const service = await keep(several(2), (_, step) => {
    if (step !== 'CONVERT app_1') return undefined;
    rmSync(records, { recursive: true });
    writeFileSync(records, '');
    return undefined;
  });
  const user = userOf(service);
  const records = join(user.runs, '../locks/records');
  const line = 'tryouts convert app_1 app_2 --yes --concurrency 1';
  const ran = await user.run(line);
  expect(ran.code).toBe(1);
  expect(ran.stderr).toContain(`A lock cannot be written in ${records}: `);
  expect(ran.stderr).toContain('Make room, then run the same command again.');
  // In another folder the same command would not find this run.
  expect(ran.stderr).not.toMatch(/Nothing was sent|ROSTERCTL_STATE_DIR/);
  rmSync(records);
  expect((await user.run(line)).code).toBe(0);
  expect(steps(service).filter((step) => step.startsWith('CONVERT'))).toEqual([
    'CONVERT app_1',
    'CONVERT app_2',
  ]);
});
