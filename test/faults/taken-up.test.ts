import { cpSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { fast, ids, report, runFolders, several, until, userInside, userOf } from '../bulk/user.js';
import {
  application,
  cut,
  type Instead,
  keep,
  steps,
  written,
} from '../commands/tryouts/service.js';
import { inProcess } from '../support/in-process.js';
import { closed, errorOf, heard, rosterctl, temporaryFolder } from '../support/run.js';
import { organization, type Reply, recordingService } from '../support/service.js';
import { unlessPossible } from './support/case.js';
import { cannotFalsifyClocks, falseClock } from './support/false-clock.js';
import { missing } from './support/machine.js';

// The same command resumes an unfinished run, and nothing is lost or done twice.

type Kept = Awaited<ReturnType<typeof keep>>;

/** Applies a PATCH and never responds. */
function applied(service: () => Kept, onDone: () => void): Instead {
  return ({ body }, step) =>
    () => {
      const id = step.slice('PATCH '.length);
      const fields = JSON.parse(body.toString()) as object;
      service().kept.set(id, { ...(service().kept.get(id) ?? application(id)), ...fields });
      onDone();
    };
}

/** Starts a command and kills it once `reached` returns true. */
async function killed(user: ReturnType<typeof userOf>, line: string, reached: () => boolean) {
  const child = user.start(line);
  const ended = closed(child);
  await until(reached);
  child.kill('SIGKILL');
  await ended;
}

/** A service that loses the first response to one step, after applying it. */
async function losing(count: number, step: string) {
  let lost = 0;
  const service: Kept = await keep(several(count), (request, asked) => {
    if (asked !== step || lost > 0) return undefined;
    return applied(
      () => service,
      () => (lost += 1),
    )(request, asked);
  });
  return { service, user: userInside(service), isLost: () => lost > 0 };
}

describe('a command whose filter selected the rows', () => {
  const line = 'tryouts set-status --status pending --to rejected --yes --json --concurrency 1';

  test('finishes the started rows, selects again, and closes the old run as replaced', async () => {
    const { service, user, isLost } = await losing(4, 'PATCH app_2');
    await killed(user, line, isLost);
    expect(service.kept.get('app_2')?.status).toBe('rejected');
    // One is new, one no longer matches.
    service.kept.set('app_9', application('app_9'));
    service.kept.set('app_4', application('app_4', { status: 'accepted' }));
    const before = written(service).length;
    const looked = await user.run(line.replace('--yes', '--dry-run'));
    expect(report(looked).results.map(({ id, result }) => [id, result])).toEqual([
      ['app_2', 'unchanged'],
      ['app_3', 'would_change'],
      ['app_9', 'would_change'],
    ]);
    // app_2 is not in the current selection.
    expect(await user.run(`${line} --expect 3`)).toMatchObject({ code: 11, stdout: '' });
    expect(written(service)).toHaveLength(before);
    const again = await user.run(`${line} --expect 2`);
    expect(again.code).toBe(0);
    expect(report(again).results.map(({ id, result }) => [id, result])).toEqual([
      ['app_2', 'changed'],
      ['app_3', 'changed'],
      ['app_9', 'changed'],
    ]);
    expect(steps(service).filter((step) => step === 'PATCH app_2')).toHaveLength(1);
    expect(service.kept.get('app_4')?.status).toBe('accepted');
    const runs = JSON.parse((await user.run('runs list --json')).stdout) as {
      run: string;
      state: string;
    }[];
    expect(runs.map(({ state }) => state)).toEqual(['finished', 'finished']);
    const shown = report(await user.run(`runs show ${runs[0]?.run} --json`));
    expect(shown.summary).toMatchObject({ total: 4, changed: 2, notAttempted: 2 });
    expect(shown.results.map(({ id, result }) => [id, result])).toEqual([
      ['app_1', 'changed'],
      ['app_2', 'changed'],
      ['app_3', 'not_attempted'],
      ['app_4', 'not_attempted'],
    ]);
    // Rows that were taken over are undone with the run that finished them.
    const undone = await user.run('runs undo last --yes --json');
    expect(report(undone).summary).toMatchObject({ total: 3, changed: 3 });
    expect(service.kept.get('app_2')?.status).toBe('pending');
  });

  test('leaves a started row alone that somebody else changed since: a conflict in both runs', async () => {
    const { service, user, isLost } = await losing(2, 'PATCH app_1');
    await killed(user, line, isLost);
    service.kept.set('app_1', application('app_1', { status: 'accepted' }));
    const again = await user.run(line);
    expect([again.code, report(again).results.map(({ id, result }) => [id, result])]).toEqual([
      8,
      [
        ['app_1', 'conflict'],
        ['app_2', 'changed'],
      ],
    ]);
    expect(service.kept.get('app_1')?.status).toBe('accepted');
    const [old] = JSON.parse((await user.run('runs list --json')).stdout) as { run: string }[];
    const shown = await user.run(`runs show ${old?.run} --json`);
    expect(report(shown).results[0]).toMatchObject({
      id: 'app_1',
      result: 'conflict',
      before: { status: 'accepted' },
      error: { message: 'Someone else changed it after this change was sent.' },
    });
  });

  test('undoes each of the rows that it took over by its own before-image', async () => {
    let lost = 0;
    const service: Kept = await keep(
      [...several(2), application('app_3', { status: 'reviewing' })],
      (request, step) =>
        lost < 2 && (step === 'PATCH app_2' || step === 'PATCH app_3')
          ? applied(
              () => service,
              () => (lost += 1),
            )(request, step)
          : undefined,
    );
    const user = userInside(service);
    const both =
      'tryouts set-status --status pending,reviewing --to rejected --yes --concurrency 2';
    await killed(user, both, () => lost === 2);
    expect((await user.run(both)).code).toBe(0);
    expect((await user.run('runs undo last --yes')).code).toBe(0);
    expect([...service.kept.values()].map(({ status }) => status)).toEqual([
      'rejected',
      'pending',
      'reviewing',
    ]);
  });

  test('undoes of a row that it took over also a field that the record did not have', async () => {
    const { service, user, isLost } = await losing(2, 'PATCH app_2');
    service.kept.set('app_2', application('app_2', { internalNotes: undefined }));
    const noting = `${line} --append-note late`;
    await killed(user, noting, isLost);
    expect((await user.run(noting)).code).toBe(0);
    const undone = await user.run('runs undo last --yes');
    expect(undone.stderr).toContain('internalNotes: set to null');
    expect(service.kept.get('app_2')).toMatchObject({ status: 'pending', internalNotes: null });
  });

  test('says of a row that was accepted, and not converted, how far the old run got', async () => {
    const { service, user, isLost } = await losing(2, 'PATCH app_2');
    const convert = 'tryouts convert --status pending --accept --yes --json --concurrency 1';
    await killed(user, convert, isLost);
    const [folder = ''] = runFolders(user.runs);
    expect((await user.run(convert)).code).toBe(0);
    expect(service.kept.get('app_2')).toMatchObject({ convertedPlayerId: 'player_app_2' });
    const shown = await user.run(`runs show ${basename(folder)} --json`);
    expect(report(shown).results).toMatchObject([
      { id: 'app_1', result: 'changed' },
      { id: 'app_2', result: 'failed', step: 'accepted', after: { status: 'accepted' } },
    ]);
  });

  test('converts what it has accepted, although that no longer matches', async () => {
    let isBusy = true;
    const service = await keep(several(2), (_, step) =>
      isBusy && step.startsWith('CONVERT') ? { status: 429 } : undefined,
    );
    const { run } = userInside(service);
    const convert = 'tryouts convert --status pending --accept --yes --json --concurrency 1';
    expect((await run(convert)).code).toBe(9);
    isBusy = false;
    expect((await run(convert)).code).toBe(0);
    expect([...service.kept.values()]).toMatchObject([
      { status: 'accepted', convertedPlayerId: 'player_app_1' },
      { status: 'accepted', convertedPlayerId: 'player_app_2' },
    ]);
  });

  test('is killed again while it finishes them, and nothing is lost or sent twice', async () => {
    const lost = new Set<string>();
    const service: Kept = await keep(several(4), (request, step) => {
      if (!['PATCH app_2', 'PATCH app_3'].includes(step) || lost.has(step)) return undefined;
      return applied(
        () => service,
        () => lost.add(step),
      )(request, step);
    });
    const user = userInside(service);
    await killed(user, line, () => lost.has('PATCH app_2'));
    await killed(user, line, () => lost.has('PATCH app_3'));
    const again = await user.run(line);
    expect(again.code).toBe(0);
    expect(report(again).results.map(({ id, result }) => [id, result])).toEqual([
      ['app_2', 'changed'],
      ['app_3', 'changed'],
      ['app_4', 'changed'],
    ]);
    expect([...service.kept.values()].every(({ status }) => status === 'rejected')).toBe(true);
    expect(written(service)).toHaveLength(4);
  });

  test('changes no more rows than --limit says, with those that it finishes', async () => {
    let isHanging = true;
    const service = await keep(several(4), (_, step) =>
      isHanging && step === 'PATCH app_1' ? () => {} : undefined,
    );
    const user = userInside(service);
    const limited = `${line} --limit 2 --sort name --retries 1`;
    await killed(user, limited, () => written(service).length === 1);
    isHanging = false;
    const earlier = application('app_0', { name: 'Aaron' });
    service.kept.set('app_0', earlier);
    const again = await user.run(`${limited} --expect 2`);
    expect([again.code, report(again).results.map(({ id, result }) => [id, result])]).toEqual([
      0,
      [
        ['app_1', 'changed'],
        ['app_0', 'changed'],
      ],
    ]);
    expect(again.stderr).toContain('2 of 5 pending applications');
  });

  test('counts for --expect what it selects, also in the hint of a delete', async () => {
    const players = new Map(
      ids(3).map((id) => [id, { id, organizationId: organization, name: `Player ${id}` }]),
    );
    let isHanging = true;
    const service = await recordingService(({ method, url }): Reply => {
      const id = url.split('/').at(-1) ?? '';
      if (id === organization) return { status: 200, json: { players: [...players.values()] } };
      if (method === 'DELETE' && isHanging && id === 'app_1') return () => {};
      const found = players.get(id);
      if (method === 'DELETE') players.delete(id);
      return found ? { status: 200, json: found } : { status: 404, json: { error: 'notFound' } };
    });
    const user = userInside(service);
    const deleting = 'players delete --where name~Player --yes --json --concurrency 1';
    const isSent = () => service.requests.some(({ method }) => method === 'DELETE');
    await killed(user, `${deleting} --expect 3`, isSent);
    isHanging = false;
    const asked = await user.run(deleting);
    expect([asked.code, errorOf(asked)['hint']]).toEqual([2, expect.stringMatching(/--expect 3$/)]);
    expect(await user.run(`${deleting} --expect 3 --retries 1`)).toMatchObject({ code: 0 });
    expect(players.size).toBe(0);
  });

  test('is killed while it closes the run that it replaces, and takes each row over once', async () => {
    let hanging = 'PATCH app_2';
    const hung: string[] = [];
    const service = await keep(several(4), (_, step) =>
      step === hanging ? () => hung.push(step) : undefined,
    );
    const user = userInside(service);
    await killed(user, line, () => hung.length === 1);
    hanging = 'GET app_2';
    await killed(user, line, () => hung.length === 2);
    hanging = '';
    const again = await user.run(`${line} --retries 1`);
    expect(again.code).toBe(0);
    expect(report(again).results.map(({ id, result }) => [id, result])).toEqual([
      ['app_2', 'changed'],
      ['app_3', 'changed'],
      ['app_4', 'changed'],
    ]);
    const undone = await user.run('runs undo last --yes --json');
    expect(report(undone).summary).toMatchObject({ total: 3, changed: 3 });
  });

  test('is killed again after a success that cannot be read, which is never sent again', async () => {
    let isHanging = false;
    let hung = 0;
    const service = await keep(several(3), (_, step) => {
      if (step === 'PATCH app_2') return { status: 200, text: '<html>' };
      return isHanging && step === 'GET app_2' ? () => (hung += 1) : undefined;
    });
    const user = userInside(service);
    expect(await user.run(line)).toMatchObject({ code: 10 });
    isHanging = true;
    await killed(user, line, () => hung > 0);
    isHanging = false;
    const again = await user.run(line);
    expect([again.code, report(again).results.map(({ id, result }) => [id, result])]).toEqual([
      10,
      [['app_2', 'unknown']],
    ]);
    expect(steps(service).filter((step) => step === 'PATCH app_2')).toHaveLength(1);
  });
});

test('-n of a line that continues a run judges no cap again that its first run passed', async () => {
  const { user, isLost } = await losing(103, 'PATCH app_2');
  const line = `tryouts set-status ${ids(103).join(' ')} --to rejected --concurrency 1`;
  await killed(user, `${line} --yes --max-changes 103`, isLost);
  const looked = await user.run(`${line} -n --json`);
  expect([looked.code, report(looked).summary]).toMatchObject([0, { wouldChange: 101 }]);
  expect(looked.stderr).not.toContain('--max-changes');
});

test('-n with ids shows the unfinished rows of its run, and sends and stores nothing', async () => {
  const { service, user, isLost } = await losing(4, 'PATCH app_3');
  const line = `tryouts set-status ${ids(4).join(' ')} --to rejected --concurrency 1`;
  await killed(user, `${line} --yes`, isLost);
  const [folder = ''] = runFolders(user.runs);
  const journal = readFileSync(join(folder, 'journal.jsonl'), 'utf8');
  const looked = await user.run(`${line} -n --json`);
  expect(looked.code).toBe(0);
  expect(looked.stderr).toContain(`This continues run ${basename(folder)}`);
  expect(report(looked)).toMatchObject({
    run: basename(folder),
    results: [
      { id: 'app_3', result: 'unchanged' },
      { id: 'app_4', result: 'would_change' },
    ],
  });
  expect(readFileSync(join(folder, 'journal.jsonl'), 'utf8')).toBe(journal);
  expect(written(service)).toHaveLength(3);
});

test.each([
  ['still as before was not made', 'pending', 'failed', 8],
  ['made after all is changed', 'rejected', 'changed', 0],
  ['changed by someone else is a conflict', 'accepted', 'conflict', 8],
])(
  'a change answered with 200 and the old value, whose last read failed, ends when it is read: %s',
  async (_, later, result, code) => {
    let isSilent = false;
    const service: Kept = await keep(several(2), (__, step) => {
      if (step === 'PATCH app_2') {
        isSilent = true;
        return { status: 200, json: service.kept.get('app_2') };
      }
      return isSilent && step === 'GET app_2' ? { status: 503, json: {} } : undefined;
    });
    const user = userInside(service);
    const line = `tryouts set-status ${ids(2).join(' ')} --to rejected --yes --json --retries 0`;
    const first = await user.run(line);
    expect([first.code, report(first).results[1]?.['result']]).toEqual([10, 'unknown']);
    // A second process that cannot read either loses nothing of what the first one knew.
    expect((await user.run('runs resume last --yes --json --retries 0')).code).toBe(10);
    isSilent = false;
    service.kept.set('app_2', { ...application('app_2'), status: later });
    const resumed = await user.run('runs resume last --yes --json');
    expect([resumed.code, report(resumed).results[1]?.['result']]).toEqual([code, result]);
    expect(steps(service).filter((step) => step === 'PATCH app_2')).toHaveLength(1);
    if (result === 'failed')
      expect(report(resumed).results[1]).toMatchObject({ error: { code: 'notApplied' } });
  },
);

test('runs retry whose run was killed before it sent anything, and removed by the next write, is free again', async () => {
  let phase: 'refuses' | 'hangs' | 'works' = 'refuses';
  let reads = 0;
  const service = await keep(several(3), (_, step) => {
    if (phase === 'refuses' && step.startsWith('PATCH'))
      return { status: 400, json: { error: 'invalidRequest' } };
    if (phase !== 'hangs' || !step.startsWith('GET')) return undefined;
    // The preview of the first row is too old for its write once the second row was read.
    if (step === 'GET app_1' && ++reads > 1) return () => {};
    return (_request, response) => {
      const record = JSON.stringify(application(step.slice('GET '.length)));
      setTimeout(() => response.setHeader('content-type', 'application/json').end(record), 2_200);
    };
  });
  const user = userInside(service);
  const line = 'tryouts set-status app_1 app_2 --to rejected --yes --concurrency 1 --json';
  const { run } = report(await user.run(line));
  phase = 'hangs';
  await killed(user, `runs retry ${run} --yes`, () => reads > 1);
  phase = 'works';
  expect((await user.run(`runs retry ${run} --yes`)).stderr).toContain(
    'It is unfinished. Resume it',
  );
  await user.run('tryouts update app_3 --status reviewing');
  const retried = await user.run(`runs retry ${run} --yes --json`);
  expect([retried.code, report(retried).summary]).toMatchObject([0, { changed: 2 }]);
  // A retry that has sent something is not forgotten with its run.
  await user.run(`runs prune ${report(retried).run} --yes`);
  expect(await user.run(`runs retry ${run} --yes`)).toMatchObject({
    code: 11,
    stderr: expect.stringContaining('That run was deleted.'),
  });
});

test('runs retry twice: the second names the run that has the rows, without a request', async () => {
  let refuses = true;
  const service = await keep(several(3), (_, step) =>
    refuses && step === 'PATCH app_2' ? { status: 422, json: { error: 'no' } } : undefined,
  );
  const user = userInside(service);
  const ran = await user.run(`tryouts set-status ${ids(3).join(' ')} --to rejected -y --json`);
  expect(ran.code).toBe(8);
  refuses = false;
  const first = await user.run(`runs retry ${report(ran).run} --yes --json`);
  expect(first.code).toBe(0);
  const count = service.requests.length;
  const second = await user.run(`runs retry ${report(ran).run} --yes --json`);
  expect([second.code, errorOf(second)['code']]).toEqual([11, 'retried']);
  expect(errorOf(second)['message']).toContain(`by run ${report(first).run}.`);
  expect(service.requests).toHaveLength(count);
});

test('runs retry twice at once: the one that waited for the other sends nothing', async () => {
  const held: (() => void)[] = [];
  let phase: 'refuses' | 'holds' | 'works' = 'refuses';
  const service = await keep(several(2), (_, step) => {
    if (phase === 'refuses' && step.startsWith('PATCH'))
      return { status: 422, json: { error: 'no' } };
    if (phase !== 'holds' || step !== 'GET app_1') return undefined;
    return (_request, response) => {
      const record = JSON.stringify(application('app_1'));
      held.push(() => response.setHeader('content-type', 'application/json').end(record));
    };
  });
  const user = userInside(service);
  const { run } = report(await user.run('tryouts set-status app_1 app_2 --to rejected -y --json'));
  phase = 'holds';
  const line = `runs retry ${run} --yes --json --wait-lock 1m`;
  const first = heard(user.start(line));
  await until(() => held.length === 1);
  const second = heard(user.start(line));
  await until(() => second.printed.stderr.includes('Waiting for it.'));
  phase = 'works';
  held[0]?.();
  expect((await first.ended).code).toBe(0);
  const count = service.requests.length;
  const waited = await second.ended;
  expect(waited.code).toBe(11);
  expect(errorOf(waited)).toMatchObject({
    code: 'retried',
    message: expect.stringContaining(`by run ${report(first.printed).run}.`),
  });
  expect(service.requests).toHaveLength(count);
});

test('runs retry of a create that was not sent names the command that sends it', async () => {
  let status = 422;
  const service = await recordingService(() => ({ status, json: { error: 'no' } }));
  const user = userInside(service);
  expect((await user.run('players create --name Ann')).code).toBe(3);
  status = 401;
  const retried = await user.run('runs retry last --yes');
  expect(retried).toMatchObject({
    code: 4,
    stderr: expect.stringContaining('Not finished. Finish it with: rosterctl runs resume'),
  });
});

test('runs retry of a run that was replaced says so', async () => {
  let isBusy = true;
  const service = await keep(several(3), (_, step) => {
    if (!isBusy || !step.startsWith('PATCH')) return undefined;
    return step === 'PATCH app_1'
      ? { status: 422, json: { error: 'no' } }
      : { status: 503, json: { error: 'busy' } };
  });
  const user = userInside(service);
  const line = 'tryouts set-status --status pending --to rejected --yes --json';
  const { run, summary } = report(await user.run(line));
  expect(summary).toMatchObject({ failed: 1, unknown: 2 });
  isBusy = false;
  expect((await user.run(line)).code).toBe(0);
  const retried = await user.run(`runs retry ${run} --yes --json`);
  expect([retried.code, errorOf(retried)['message']]).toEqual([
    2,
    `The run ${run} was replaced by a later one.`,
  ]);
});

test('runs retry of a run whose retry is unfinished names the command that finishes that', async () => {
  let status = 422;
  const service = await keep(several(3), (_, step) =>
    step === 'PATCH app_2' && status !== 200 ? { status, json: { error: 'no' } } : undefined,
  );
  const user = userInside(service);
  const ran = await user.run(`tryouts set-status ${ids(3).join(' ')} --to rejected -y --json`);
  expect(ran.code).toBe(8);
  status = 503;
  const first = await user.run(`runs retry ${report(ran).run} --yes --json`);
  expect(first).toMatchObject({
    code: 10,
    // The same command would be refused.
    stderr: expect.stringContaining('Finish it with: rosterctl runs resume'),
  });
  const second = await user.run(`runs retry ${report(ran).run} --yes --json`);
  expect([second.code, errorOf(second)['code']]).toEqual([11, 'retried']);
  const [, command = ''] =
    /rosterctl (runs resume .*)$/.exec(String(errorOf(second)['hint'])) ?? [];
  status = 200;
  const finished = await user.run(`${command} --yes --json`);
  expect([finished.code, report(finished).run]).toEqual([0, report(first).run]);
});

describe('--append-note', () => {
  const line = "tryouts update app_1 --append-note 'Call back'";

  test.for([
    ['an id', 'tryouts update app_1'],
    ['a filter', 'tryouts set-status --status pending --to reviewing --yes'],
  ])(
    'after midnight is the same command, for %s; a note of another admin stays',
    async ([, words = ''], context) => {
      unlessPossible(context, cannotFalsifyClocks());
      const { service, user, isLost } = await losing(1, 'PATCH app_1');
      const command = [...words.split(' '), '--append-note', 'Call back'];
      const clock = falseClock();
      const child = user.start(command.map((word) => `'${word}'`).join(' '));
      const ended = closed(child);
      await until(isLost);
      child.kill('SIGKILL');
      await ended;
      const notes = service.kept.get('app_1')?.internalNotes;
      service.kept.set('app_1', {
        ...(service.kept.get('app_1') ?? application('app_1')),
        internalNotes: `${notes}\nTheirs`,
      });
      const tomorrow = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10);
      clock.set(`@${tomorrow} 23:59:00`);
      const again = await rosterctl([...command, '--json'], {
        home: user.home,
        env: { ...service.env, ...clock.env, ROSTERCTL_SETTLE: '0.1s', ROSTERCTL_RETRIES: '0' },
      });
      expect([again.code, again.stderr]).toEqual([0, expect.any(String)]);
      expect(service.kept.get('app_1')?.internalNotes).toBe(`${notes}\nTheirs`);
      expect(written(service)).toHaveLength(1);
    },
  );

  test.each([
    ['of two lines', 'two\nlines', (text: string) => text],
    ['stored with CRLF', 'Call back', (text: string) => text.replaceAll('\n', '\r\n')],
    ['stored in NFC', 'Zoe\u0308', (text: string) => text.normalize('NFC')],
  ])(
    'a lost note %s is recognized below a note of another admin, and again',
    async (_, note, stored) => {
      let isFirst = true;
      const service: Kept = await keep([application('app_1')], ({ body }, step) => {
        if (step !== 'PATCH app_1' || !isFirst) return undefined;
        isFirst = false;
        const { internalNotes } = JSON.parse(body.toString()) as { internalNotes: string };
        const kept = { internalNotes: stored(`${internalNotes}\nTheirs`) };
        service.kept.set('app_1', application('app_1', kept));
        return cut;
      });
      const user = userInside(service);
      const ran = await user.run(['tryouts', 'update', 'app_1', '--append-note', note, '--json']);
      expect(ran.code).toBe(0);
      expect(written(service)).toHaveLength(1);
      const last = application('app_1', { internalNotes: stored(`2026-03-01: ${note}`) });
      service.kept.set('app_1', last);
      await user.run(['tryouts', 'update', 'app_1', '--append-note', note, '--json']);
      expect(written(service)).toHaveLength(1);
    },
  );

  test.each([
    ['the last line', (notes: string) => notes],
    ['a line above theirs', (notes: string) => `${notes}\nTheirs`],
  ])(
    'that was lost with a status is not sent again where someone set the status back, as %s',
    async (_, keeping) => {
      let isFirst = true;
      const service: Kept = await keep([application('app_1')], ({ body }, step) => {
        if (step !== 'PATCH app_1' || !isFirst) return undefined;
        isFirst = false;
        const { internalNotes } = JSON.parse(body.toString()) as { internalNotes: string };
        service.kept.set('app_1', application('app_1', { internalNotes: keeping(internalNotes) }));
        return cut;
      });
      const ran = await inProcess(`${line} --status rejected --json`, { env: service.env });
      expect(written(service)).toHaveLength(1);
      expect([ran.code, errorOf(ran).code]).toEqual([6, 'changedMeanwhile']);
    },
  );

  test('keeps the note that another admin added between the read and the write', async () => {
    let isFirst = true;
    const service: Kept = await keep([application('app_1')], (_, step) => {
      if (step !== 'PATCH app_1' || !isFirst) return undefined;
      isFirst = false;
      service.kept.set('app_1', application('app_1', { internalNotes: 'Theirs' }));
      return { status: 429, headers: { 'retry-after': '0' } };
    });
    const ran = await inProcess(line, { env: service.env });
    expect(ran.code).toBe(0);
    expect(service.kept.get('app_1')?.internalNotes).toMatch(
      /^Theirs\n\d{4}-\d\d-\d\d: Call back$/,
    );
  });
});

test('a run of another format, or with a guard that this version does not know, is refused', async () => {
  const { service, user, isLost } = await losing(3, 'PATCH app_2');
  const line = `tryouts set-status ${ids(3).join(' ')} --to rejected --yes --json --concurrency 1`;
  await killed(user, line, isLost);
  const [folder = ''] = runFolders(user.runs);
  const path = join(folder, 'plan.jsonl');
  const { createHash } = await import('node:crypto');
  const seal = (body: string) =>
    writeFileSync(path, `${body}${createHash('sha256').update(body).digest('hex')}\n`);
  const [head = '', ...rest] = readFileSync(path, 'utf8').trimEnd().split('\n').slice(0, -1);
  const count = written(service).length;
  for (const [from, to] of [
    ['"format":1', '"format":9'],
    ['"guards":{}', '"guards":{"ifMoon":"full"}'],
  ] as const) {
    expect(head).toContain(from);
    seal(`${[head.replace(from, to), ...rest].join('\n')}\n`);
    const refused = await user.run(line);
    expect([to, refused.code, refused.stdout]).toEqual([to, 11, '']);
    expect(errorOf(refused)['hint']).toContain('--restart');
    expect(errorOf(refused)['hint']).toContain(`runs prune ${basename(folder)}`);
  }
  expect(written(service)).toHaveLength(count);
});

describe('the report of a row that was not done', () => {
  test('not attempted if a 429 ended it or nothing was sent; unknown if its request may have been sent', async () => {
    const service = await keep(several(6), (_, step) => {
      if (step === 'PATCH app_1') return cut;
      if (step === 'PATCH app_2')
        return { status: 429, headers: { 'retry-after': '9999' }, json: { error: 'slow' } };
      return undefined;
    });
    const user = userInside(service);
    const ran = await user.run(
      `tryouts set-status ${ids(6).join(' ')} --to rejected --yes --json --concurrency 1`,
    );
    expect(ran.code).toBe(10);
    expect(report(ran).results.map(({ id, result }) => [id, result])).toEqual([
      ['app_1', 'unknown'],
      ...ids(6)
        .slice(1)
        .map((id) => [id, 'not_attempted']),
    ]);
  });

  test('unknown, not "not attempted", if the service went away after a write', async () => {
    const service = await keep(several(8), (_, step) => {
      if (step.startsWith('PATCH')) return cut;
      return undefined;
    });
    const user = userInside(service);
    const ran = await user.run(
      `tryouts set-status ${ids(8).join(' ')} --to rejected --yes --json --retries 2 --concurrency 1`,
    );
    const sent = new Set(steps(service).filter((step) => step.startsWith('PATCH')));
    for (const { id, result } of report(ran).results)
      expect([id, result]).toEqual([id, sent.has(`PATCH ${id}`) ? 'unknown' : 'not_attempted']);
    expect(sent.size).toBeGreaterThan(0);
  });
});

test('unknown for a write of the replaced run, if its rows cannot even be previewed', async () => {
  let phase: 'hangs' | 'refuses' = 'hangs';
  let isSent = false;
  const listed = several(3).map(({ internalNotes: _notes, ...record }) => record);
  const service = await keep(several(3), (_request, step) => {
    if (step === 'LIST') return { status: 200, json: { applications: listed, total: 3 } };
    if (phase === 'refuses') return { status: 401, json: { error: 'unauthorized' } };
    if (!step.startsWith('PATCH')) return undefined;
    isSent = true;
    return () => {};
  });
  const user = userInside(service);
  const line =
    'tryouts set-status --status pending --to rejected --append-note Late --yes --json --concurrency 1';
  await killed(user, line, () => isSent);
  phase = 'refuses';
  const ran = await user.run(line);
  expect([ran.code, report(ran).summary]).toMatchObject([4, { unknown: 1, notAttempted: 2 }]);
  expect(report(ran).results[0]).toMatchObject({
    result: 'unknown',
    error: { code: 'unknownOutcome' },
  });
});

/** A runner of command lines on a machine with the profiles `mine` and `theirs`, both of one organization. */
async function twoProfiles(service: Pick<Kept, 'baseUrl'>) {
  const home = temporaryFolder();
  const login = (profile: string) =>
    inProcess(`auth login --profile ${profile} --key-stdin --no-check`, {
      home,
      stdin: 'key-1',
      env: { ROSTERCTL_BASE_URL: service.baseUrl, ROSTERCTL_ORG: organization },
    });
  await login('mine');
  await login('theirs');
  const env = { ROSTERCTL_SETTLE: '0.1s', ROSTERCTL_RETRIES: '0' };
  return (words: string) => inProcess(words, { home, env });
}

test('a run of another profile is not resumed without naming it', async () => {
  const service = await recordingService(({ method }) =>
    method === 'PATCH'
      ? { status: 503 }
      : { status: 200, json: application('app_1', { organizationId: 'org_7' }) },
  );
  const at = await twoProfiles(service);
  expect(await at('-p theirs tryouts update app_1 --status rejected')).toMatchObject({ code: 10 });
  const count = service.requests.length;
  const refused = await at('-p mine runs resume last --yes --json');
  expect([refused.code, errorOf(refused)['code']]).toEqual([11, 'otherProfile']);
  expect(errorOf(refused)['hint']).toContain('-p theirs');
  expect(service.requests).toHaveLength(count);
});

test('runs resume names the unfinished run of another profile, where those of its own have ended', async () => {
  let isDown = false;
  const service = await keep(several(2), (_, step) =>
    isDown && step.startsWith('PATCH') ? { status: 503 } : undefined,
  );
  const at = await twoProfiles(service);
  await at('-p mine tryouts update app_1 --status rejected');
  isDown = true;
  expect(await at('-p theirs tryouts update app_2 --status rejected')).toMatchObject({ code: 10 });
  const before = written(service).length;
  const resumed = await at('-p mine runs resume --yes');
  expect(resumed.code).toBe(0);
  expect(resumed.stderr.split('\n')).toEqual([
    expect.stringMatching(
      /^Run (\S+) of profile theirs is unfinished\. To resume it: rosterctl -p theirs runs resume \1$/,
    ),
    expect.stringMatching(
      /^No run of profile mine is unfinished, so nothing was sent\. The last run is \S+:$/,
    ),
    '',
  ]);
  expect(written(service)).toHaveLength(before);
});

test('a run of another organization under the same profile names that organization', async () => {
  const service = await keep(several(1));
  const user = userInside(service);
  const ran = await user.run('tryouts set-status app_1 --to rejected --json');
  const env = { ...service.env, ROSTERCTL_ORG: 'org_other' };
  const undone = await inProcess(`runs undo ${report(ran).run} --yes --json`, {
    home: user.home,
    env,
  });
  expect([undone.code, errorOf(undone)['hint']]).toEqual([
    2,
    `Choose it: --org org_7 --base-url ${service.baseUrl}`,
  ]);
});

/** A run of five rows, killed while the PATCH of app_2 to app_5 travel; those in `took` take effect. */
async function killedWithFour(took: readonly string[]) {
  let refuses = false;
  const service: Kept = await keep(several(5), (request, step) => {
    if (!step.startsWith('PATCH') || step === 'PATCH app_1') return undefined;
    if (refuses) return { status: 403, json: { error: 'forbidden' } };
    if (!took.includes(step)) return () => undefined;
    return applied(
      () => service,
      () => undefined,
    )(request, step);
  });
  const user = userInside(service);
  const sent = () => steps(service).filter((step) => step.startsWith('PATCH'));
  const line = `tryouts set-status ${ids(5).join(' ')} --to rejected --yes --json`;
  await killed(user, line, () => sent().length === 5);
  refuses = true;
  return { user, sentAgain: () => sent().slice(5) };
}

describe('a resumed run whose process was killed with writes on their way', () => {
  const line = 'tryouts set-status app_1 app_2 app_3 --to rejected --yes --concurrency 1 --json';

  test.each([
    'tryouts update app_2 --status pending',
    'tryouts set-status app_2 app_3 --to pending --yes',
  ])('leaves a record alone that another run has put back since: %s', async (other) => {
    const { service, user, isLost } = await losing(3, 'PATCH app_2');
    await killed(user, line, isLost);
    expect((await user.run(other)).code).toBe(0);
    const resumed = await user.run('runs resume --yes --json');
    expect([resumed.code, report(resumed).results.map(({ result }) => result)]).toEqual([
      8,
      ['changed', 'conflict', 'changed'],
    ]);
    expect(service.kept.get('app_2')?.status).toBe('pending');
  });

  test('leaves a record alone that two runs have put back since, one field each', async () => {
    const { service, user, isLost } = await losing(3, 'PATCH app_2');
    await killed(user, `${line} --append-note later`, isLost);
    for (const back of ['--status pending', '--clear-note --yes'])
      expect((await user.run(`tryouts update app_2 ${back}`)).code).toBe(0);
    const resumed = await user.run('runs resume --yes --json');
    expect(report(resumed).results[1]).toMatchObject({ id: 'app_2', result: 'conflict' });
    expect(service.kept.get('app_2')).toMatchObject({ status: 'pending', internalNotes: null });
  });

  test('leaves a record alone that a run has put back which was itself killed', async () => {
    let lost = 0;
    const service: Kept = await keep(
      [application('app_1'), application('app_2', { status: 'reviewing' })],
      (request, step) => {
        if (step === 'PATCH app_2') return () => (lost += 1);
        if (step !== 'PATCH app_1' || lost > 0) return undefined;
        return applied(
          () => service,
          () => (lost += 1),
        )(request, step);
      },
    );
    const user = userInside(service);
    await killed(user, 'tryouts set-status app_1 app_3 --to rejected --yes', () => lost === 1);
    const [first = ''] = runFolders(user.runs).map((folder) => basename(folder));
    await killed(user, 'tryouts set-status app_1 app_2 --to pending --yes', () => lost === 2);
    const resumed = await user.run(`runs resume ${first} --yes --json`);
    expect(report(resumed).results[0]).toMatchObject({ id: 'app_1', result: 'conflict' });
    expect(service.kept.get('app_1')?.status).toBe('pending');
  });

  test('sends again what another run has not touched, and what the same line asks for again', async () => {
    const { service, user, isLost } = await losing(3, 'PATCH app_2');
    await killed(user, line, isLost);
    service.kept.set('app_2', application('app_2'));
    service.kept.set('app_9', application('app_9'));
    for (const other of ['app_2 --note seen', 'app_9 --status reviewing'])
      expect((await user.run(`tryouts update ${other}`)).code).toBe(0);
    expect((await user.run('runs resume --yes --json')).code).toBe(0);
    expect(service.kept.get('app_2')?.status).toBe('rejected');
    const other = await losing(3, 'PATCH app_2');
    await killed(other.user, line, other.isLost);
    await other.user.run('tryouts update app_2 --status pending');
    expect((await other.user.run(line)).code).toBe(0);
    expect(other.service.kept.get('app_2')?.status).toBe('rejected');
  });

  test('stops at a 403 that is the first answer to a write', async () => {
    const { user, sentAgain } = await killedWithFour([]);
    const ran = await user.run('runs resume last --yes --json --retries 1 --concurrency 1');
    expect(ran.code).toBe(7);
    expect(sentAgain()).toHaveLength(1);
    expect(report(ran).summary).toMatchObject({ changed: 1, failed: 1, unknown: 3 });
  });

  test('stops at the third 403 if another of the writes was found applied', async () => {
    const { user, sentAgain } = await killedWithFour(['PATCH app_2']);
    const ran = await user.run('runs resume last --yes --json --retries 1 --concurrency 1');
    expect(ran.code).toBe(7);
    expect(sentAgain()).toHaveLength(3);
    expect(report(ran).summary).toMatchObject({ changed: 2, failed: 3 });
  });

  test('reports them as unknown, never as not attempted, where the journal cannot be written any more', async (context) => {
    unlessPossible(context, missing('prlimit', '--fsize=65536', 'true'));
    const { service, user, isLost } = await losing(2, 'PATCH app_1');
    await killed(user, 'tryouts set-status app_1 app_2 --to rejected --yes', isLost);
    const [folder = ''] = runFolders(user.runs);
    const { size } = statSync(join(folder, 'journal.jsonl'));
    const seen = new Set<string | undefined>();
    for (const more of [200, 350, 500, 650]) {
      const home = temporaryFolder();
      cpSync(user.home, home, { recursive: true });
      const ran = await rosterctl('runs resume last --yes --json', {
        home,
        env: { ...service.env, ...fast },
        through: `exec prlimit --fsize=${size + more} "$@"`,
      });
      expect(ran.code).toBe(1);
      if (ran.stdout) seen.add(report(ran).results.find(({ id }) => id === 'app_1')?.result);
    }
    // Where its result still fits, it is known.
    expect([...seen].filter((result) => result !== 'changed')).toEqual(['unknown']);
    const resumed = await user.run('runs resume last --yes --json');
    expect(report(resumed).results).toMatchObject([{ result: 'changed' }, {}]);
    expect(steps(service).filter((step) => step === 'PATCH app_1')).toHaveLength(1);
  });
});

test('a delete whose before-image could not be written did nothing: the same command deletes', async (context) => {
  unlessPossible(context, missing('prlimit', '--fsize=65536', 'true'));
  let isThere = true;
  const record = {
    id: 'player_1',
    organizationId: organization,
    name: 'Ann',
    bio: 'x'.repeat(6_000),
  };
  const service = await recordingService(({ method }): Reply => {
    if (method === 'DELETE') isThere = false;
    if (!isThere) return { status: method === 'DELETE' ? 204 : 404 };
    return { status: 200, json: record };
  });
  const user = userInside(service);
  const line = 'players delete player_1 --yes --json';
  const ran = await rosterctl(line, {
    home: user.home,
    env: { ...service.env, ...fast },
    through: 'exec prlimit --fsize=3000 "$@"',
  });
  expect([ran.code, errorOf(ran)['code'], isThere]).toEqual([1, 'output', true]);
  const again = await user.run(line);
  expect([again.code, isThere]).toEqual([0, false]);
  expect(again.stderr).not.toContain('already did this');
});
