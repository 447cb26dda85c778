import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import {
  fast,
  ids,
  report,
  runFolders,
  runsOf,
  several,
  until,
  userInside,
  userOf,
} from '../bulk/user.js';
import { application, keep, steps, written } from '../commands/tryouts/service.js';
import { converse } from '../support/converse.js';
import { converseInside } from '../support/converse-inside.js';
import { inProcess } from '../support/in-process.js';
import { closed, errorOf, heard, temporaryFolder } from '../support/run.js';
import {
  key,
  organization,
  type Recorded,
  type Reply,
  recordingService,
} from '../support/service.js';

/** A user of the built-in sandbox, with its own state. */
function sandboxUser() {
  const home = temporaryFolder();
  const env = { ROSTERCTL_SETTLE: '0.1s' };
  const run = (line: string, stdin = '') =>
    inProcess(`-p sandbox ${line}`, { home, cwd: home, stdin, env });
  const json = async (line: string) => JSON.parse((await run(`${line} --json`)).stdout) as never;
  return { home, run, json, runs: runsOf(home) };
}

type Fields = Record<string, unknown>;

/**
 * A record without the fields that every write changes, and without null fields, which an absent
 * field becomes.
 */
function kept(fields: Fields): Fields {
  return Object.fromEntries(
    Object.entries(fields).filter(([name, value]) => name !== 'updatedAt' && value !== null),
  );
}

/** The writes to a service that stores anything, as `METHOD id`. */
const sentTo = (requests: readonly Recorded[]) =>
  requests
    .filter(({ method }) => method !== 'GET')
    .map(({ method, url }) => `${method} ${url.split('/').at(-1)?.split('?')[0]}`);

/** A service that stores players exactly as sent. */
async function keepPlayers(
  players: readonly Fields[],
  instead: (request: Recorded, all: Map<string, Fields>) => Reply | undefined = () => undefined,
) {
  const all = new Map(players.map((each) => [String(each['id']), each]));
  const service = await recordingService((request): Reply => {
    const other = instead(request, all);
    if (other) return other;
    const id = request.url.split('?')[0]?.split('/').at(-1) ?? '';
    if (id === 'players' || id === organization)
      return { status: 200, json: { players: [...all.values()] } };
    const found = all.get(id);
    if (!found) return { status: 404, json: { error: 'notFound' } };
    if (request.method === 'GET') return { status: 200, json: found };
    if (request.method === 'DELETE') {
      all.delete(id);
      return { status: 204 };
    }
    const { organizationId: _, ...fields } = JSON.parse(request.body.toString()) as Fields;
    all.set(id, { ...(request.method === 'PUT' ? { id } : found), ...fields });
    return { status: 200, json: all.get(id) };
  });
  return { ...service, all };
}

test('a former status that the contract does not list is not sent back, the other fields are', async () => {
  const fields = { status: 'onhold', internalNotes: 'Call' };
  const service = await keep([application('app_1', fields), application('app_2', fields)]);
  const user = userOf(service);
  await user.run('tryouts update app_1 --status accepted');
  const undone = await user.run('runs undo last --yes --json');
  expect([undone.code, report(undone).results]).toMatchObject([
    0,
    [{ id: 'app_1', result: 'skipped', error: { code: 'notUndoable' } }],
  ]);
  await user.run("tryouts update app_2 --status accepted --note 'Hired' --yes");
  const partly = await user.run('runs undo last --yes --json');
  expect(report(partly).summary).toMatchObject({ changed: 1 });
  expect(partly.stderr).toContain(
    'Applicant app_2 (app_2) keeps its status, because the previous one, onhold, is not one of the documented ones.\n',
  );
  expect(service.kept.get('app_2')).toMatchObject({ status: 'accepted', internalNotes: 'Call' });
});

test('an undo of one says before it is sent that Flows act on a status, of applications alone', async () => {
  const { run } = sandboxUser();
  await run('tryouts update app_0020 --status rejected');
  const undone = await run('runs undo last');
  expect([undone.code, undone.stderr]).toMatchObject([0, expect.stringContaining('Flows')]);
  const previewed = await run('runs undo last -n');
  expect(previewed.stderr.split('Flows')).toHaveLength(2);
  await run('tryouts update app_0021 --clear-note');
  expect((await run('runs undo last')).stderr).not.toContain('Flows');
  const players = await run('players update player_0001 player_0002 -F status=inactive --yes');
  expect([players.code, players.stderr]).toEqual([0, expect.not.stringContaining('Flows')]);
});

describe('every kind of write is undone', () => {
  test.each([
    ['tryouts get app_0020', 'tryouts update app_0020 --status rejected --append-note Weak'],
    ['tryouts get app_0021', 'tryouts update app_0021 --clear-note'],
    ['tryouts get app_0021', 'tryouts update app_0021 --note Other --yes'],
    ['tryouts get app_0020 app_0028', 'tryouts set-status app_0020 app_0028 --to rejected --yes'],
    ['teams get team_0001', "teams update team_0001 --name 'Old Foxes' -F motto=Run -F cups=3"],
    ['players get player_0001 player_0002', 'players update player_0001 player_0002 -F shirt=7 -y'],
    ['docs get doc_0001', 'docs update doc_0001 --name Renamed --add-tag new -F reviewer=Ann'],
  ])('%s: %s', async (look, change) => {
    const { json, run } = sandboxUser();
    const before = [await json(look)].flat() as Fields[];
    expect(await run(change)).toMatchObject({ code: 0 });
    const changed = [await json(look)].flat() as Fields[];
    expect(changed.map(kept)).not.toEqual(before.map(kept));
    const undone = await run('runs undo last --yes --json');
    expect(undone.code).toBe(0);
    expect(report(undone)).toMatchObject({
      of: expect.stringMatching(/^\d{8}T/),
      action: 'runs.undo',
      summary: { total: before.length, changed: before.length },
    });
    expect(([await json(look)].flat() as Fields[]).map(kept)).toEqual(before.map(kept));
  });

  test.each([
    ['teams list', 'teams create --name Foxes'],
    ['players list', 'players create --name Ann -F role=Sub'],
    ['docs list', 'docs upload one.txt'],
    ['docs list', 'docs upload one.txt two.txt three.txt'],
  ])('%s: %s is deleted again', async (list, create) => {
    const { home, json, run } = sandboxUser();
    for (const name of ['one', 'two', 'three']) writeFileSync(join(home, `${name}.txt`), name);
    const before = (await json(list)) as unknown[];
    expect(await run(create)).toMatchObject({ code: 0 });
    const count = ((await json(list)) as unknown[]).length - before.length;
    expect(count).toBeGreaterThan(0);
    const undone = await run(`runs undo last --yes --expect ${count} --json`);
    expect(undone.code).toBe(0);
    expect(report(undone).summary).toMatchObject({ total: count, changed: count });
    expect(await json(list)).toEqual(before);
  });

  test('a row of a created record reads deleted, in the report and in runs show', async () => {
    const home = temporaryFolder();
    const say = (line: string) => converseInside(home, ['-p', 'sandbox', ...line.split(' ')]);
    await say('players create --name Ann');
    const undone = await say('runs undo last --yes');
    expect(undone.shown).toMatch(/Ann \(player_\w+\): deleted\./);
    expect((await say('runs show last')).shown).toMatch(/^player_\w+ +Ann .*deleted/m);
  });

  test('docs create: a document that was renamed since is kept', async () => {
    const documents = new Map<string, Fields>();
    const service = await recordingService(({ method, url, body }): Reply => {
      if (method === 'GET') return { status: 200, json: { documents: [...documents.values()] } };
      if (method === 'DELETE') documents.delete(url.split('?')[0]?.split('/').at(-1) ?? '');
      if (method === 'DELETE') return { status: 204 };
      const { organizationId: _, ...fields } = JSON.parse(body.toString()) as Fields;
      const id = `doc_${documents.size + 1}`;
      documents.set(id, { id, ...fields });
      // Not shown by the list.
      return { status: 201, json: { document: { id, ...fields, uploadedBy: 'a key' } } };
    });
    const user = userInside(service);
    const create = (name: string) =>
      user.run(
        `docs create --file-key ${name} --file-ref private://${name} --content-type text/plain --size-bytes 3 --name ${name}`,
      );
    await create('one');
    const undone = await user.run('runs undo last --yes --json');
    expect(undone.code).toBe(0);
    expect([...documents.keys()]).toEqual([]);
    await create('two');
    documents.set('doc_1', { ...documents.get('doc_1'), name: 'Contract' });
    expect(await user.run('runs undo last --yes --json')).toMatchObject({ code: 6 });
    expect([...documents.keys()]).toEqual(['doc_1']);
  });

  test('deleted records of which one has no e-mail are created again by their names', async () => {
    const { json, run, home } = sandboxUser();
    const { id } = (await json('players create --name Bare')) as { id: string };
    await run(`players delete player_0003 ${id} --yes --expect 2`);
    const { hint } = errorOf(await run('runs undo last --yes --json'));
    expect(hint).toContain('players import deleted.ndjson --key name');
    writeFileSync(join(home, 'deleted.ndjson'), (await run('runs show last --undoable')).stdout);
    const restored = await run('players import deleted.ndjson --key name --yes -o json');
    expect(JSON.parse(restored.stdout)).toMatchObject({ summary: { changed: 2 } });
  });

  test('a delete and a conversion cannot be undone: reported before anything is sent, with a workaround', async () => {
    const { json, run, home } = sandboxUser();
    const player = (await json('players get player_0003')) as Fields;
    await run('players delete player_0003 player_0004 --yes --expect 2');
    const refused = await run('runs undo last --yes --json --debug');
    expect([refused.code, refused.stdout]).toEqual([11, '']);
    expect(errorOf(refused)).toMatchObject({ code: 'notUndoable' });
    expect(errorOf(refused)['message']).toContain('deleted 2 players. Deletions cannot be undone.');
    expect(refused.stderr).not.toMatch(/^(DELETE|PATCH|POST) /m);
    const shown = await run('runs show last --undoable');
    const records = shown.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Fields);
    expect(records.map(({ id }) => id)).toEqual(['player_0003', 'player_0004']);
    const inFormat = async (flags: string) =>
      (await run(`runs show last --undoable ${flags}`)).stdout;
    expect(JSON.parse(await inFormat('--json'))).toEqual(records);
    expect(await inFormat('-o ids')).toBe('player_0003\nplayer_0004\n');
    expect(await inFormat('-o csv --fields id')).toBe('id\r\nplayer_0003\r\nplayer_0004\r\n');
    writeFileSync(join(home, 'deleted.ndjson'), shown.stdout);
    expect(errorOf(refused)['hint']).toContain('players import deleted.ndjson --key email');
    const restored = 'players import deleted.ndjson --key email --yes -o json';
    const again = JSON.parse((await run(restored)).stdout) as { results: { id: string }[] };
    const { id: _, createdAt: __, legacyRef: ___, ...same } = kept(player);
    expect(await json(`players get ${again.results[0]?.id}`)).toMatchObject(same);
    await run('docs delete doc_0001 --yes');
    expect(errorOf(await run('runs undo last --yes --json'))['hint']).toBe(
      'If you still have the file, upload it again: rosterctl -p sandbox documents upload FILE\n' +
        'To undo an earlier run, find its name: rosterctl -p sandbox runs list --all',
    );
    await run('players delete player_0005 --yes');
    const one = errorOf(await run('runs undo last --yes --json'))['hint'];
    expect(one).toContain('players create --input deleted.ndjson');
    writeFileSync(join(home, 'deleted.ndjson'), (await run('runs show last --undoable')).stdout);
    expect(await run('players create --input deleted.ndjson --json')).toMatchObject({ code: 0 });
    await run('tryouts convert app_0061 app_0062 --yes');
    expect(await run('runs undo last --yes --json')).toMatchObject({ code: 11, stdout: '' });
  });
});

test('runs show --undoable leaves out what was not deleted, and says what may not be', async () => {
  const players = ['player_1', 'player_2', 'player_3'].map((id) => ({ id, name: id }));
  const service = await keepPlayers(players, ({ method, url }) => {
    if (method !== 'DELETE' || url.endsWith('player_1')) return undefined;
    return url.endsWith('player_2')
      ? { status: 409, json: { error: 'inUse' } }
      : { status: 503, json: { error: 'busy' } };
  });
  const user = userInside(service);
  await user.run('players delete player_1 player_2 player_3 --yes --expect 3');
  const shown = await user.run('runs show last --undoable -o ids');
  expect(shown.stdout).toBe('player_1\nplayer_3\n');
  expect(shown.stderr).toContain('It is not known whether player_3 was deleted.');
});

test('runs show --undoable shows a record that was gone before the answer to its deletion', async () => {
  const players = [{ id: 'player_1', name: 'Ann' }];
  // A proxy in between sends the request twice, and passes on the second answer.
  const service = await keepPlayers(players, ({ method }, all) => {
    if (method !== 'DELETE') return undefined;
    all.delete('player_1');
    return { status: 404, json: { error: 'notFound' } };
  });
  const user = userInside(service);
  expect((await user.run('players delete player_1 --yes')).code).toBe(5);
  const shown = await user.run('runs show last --undoable -o json');
  expect(JSON.parse(shown.stdout)).toMatchObject(players);
  expect(shown.stderr).toContain('The service answered that player_1 was already gone.');
});

test('a run of conversions counts apart what it only accepted', async () => {
  const service = await keep(several(2), (_, step) =>
    step === 'CONVERT app_2' ? { status: 422, json: { error: 'no' } } : undefined,
  );
  const user = userInside(service);
  const ran = await user.run('tryouts convert app_1 app_2 --accept --yes --json');
  expect(ran.code).toBe(8);
  const refused = await user.run('runs undo last --yes --json');
  expect([refused.code, errorOf(refused)['message']]).toEqual([
    11,
    `Nothing in run ${report(ran).run} (tryouts convert) can be undone (1 converted, 1 only accepted).`,
  ]);
});

describe('a record that was changed since', () => {
  test('stays, the rest is restored, and the totals add up', async () => {
    const service = await keep(several(5));
    const user = userInside(service);
    await user.run(`tryouts set-status ${ids(5).join(' ')} --to rejected --yes`);
    service.kept.set('app_2', { ...application('app_2'), status: 'accepted' });
    service.kept.set('app_4', application('app_4'));
    // Long after the run has settled.
    await sleep(300);
    const looked = await user.run('runs undo last -n --json');
    expect(looked.code).toBe(8);
    expect(looked.stderr).toMatch(
      /: 3 can be undone, 1 changed since, 0 cannot be undone, 1 already as before\./,
    );
    expect(looked.stderr).toContain(
      '1 row will not be undone:\n  Applicant app_2 (app_2): The status is now accepted: someone else changed it.\n',
    );
    expect(report(looked)).toMatchObject({ of: expect.any(String), summary: { wouldChange: 3 } });
    expect(looked.stderr.match(/^ {2}app_\d {2}Applicant app_\d/gm)).toEqual(
      ['app_1', 'app_3', 'app_5'].map((id) => `  ${id}  Applicant ${id}`),
    );
    const before = written(service).length;
    const undone = await user.run('runs undo last --yes --json');
    expect(undone.code).toBe(8);
    const { summary } = report(undone);
    expect(summary).toMatchObject({ total: 5, changed: 3, unchanged: 1, conflict: 1 });
    expect(written(service)).toHaveLength(before + 3);
    expect(service.kept.get('app_2')?.status).toBe('accepted');
    for (const id of ['app_1', 'app_3', 'app_4', 'app_5'])
      expect(service.kept.get(id)?.status).toBe('pending');
  });

  test('is counted where nothing is left to undo, too', async () => {
    const service = await keep(several(2));
    const user = userInside(service);
    await user.run('tryouts set-status app_1 app_2 --to rejected --yes');
    for (const id of ['app_1', 'app_2'])
      service.kept.set(id, application(id, { status: 'accepted' }));
    const undone = await user.run('runs undo last --yes --json');
    expect(undone.code).toBe(8);
    expect(undone.stderr).toContain(': 0 can be undone, 2 changed since, 0 cannot be undone.');
  });

  test('keeps a created record', async () => {
    const { run, json } = sandboxUser();
    const made = (await json('players create --name Ann')) as { id: string };
    await run(`players update ${made.id} -F role=Sub`);
    const runs = (await json('runs list --all')) as { run: string; action: string }[];
    const create = runs.find(({ action }) => action === 'players.create')?.run;
    const undone = await run(`runs undo ${create} --yes --json`);
    expect(undone.code).toBe(6);
    expect(report(undone).summary).toMatchObject({ total: 1, conflict: 1 });
    expect(await json(`players get ${made.id}`)).toMatchObject({ role: 'Sub' });
  });
});

test('a created record that is gone is already as before its create', async () => {
  const { run, json } = sandboxUser();
  const { id } = (await json('players create --name Ann')) as { id: string };
  const runs = (await json('runs list --all')) as { run: string }[];
  await run(`players delete ${id} --yes`);
  const undone = await run(`runs undo ${runs.at(-1)?.run} --yes --json`);
  expect(undone.code).toBe(0);
  expect(undone.stderr).toContain('0 cannot be undone, 1 already as before.');
  expect(report(undone).results).toEqual([expect.objectContaining({ id, result: 'unchanged' })]);
});

describe('killed in the middle', () => {
  test('in the run: unknown outcomes are read first; in the undo: the same command finishes it', async () => {
    let stuck = 'PATCH app_3';
    let reached = false;
    const service = await keep(several(6), ({ body }, step) => {
      if (step !== stuck) return undefined;
      return () => {
        // It takes effect, but its response is lost.
        const fields = JSON.parse(body.toString());
        const id = step.slice('PATCH '.length);
        service.kept.set(id, { ...application(id), ...fields });
        reached = true;
      };
    });
    const user = userInside(service);
    const kill = async (line: string) => {
      reached = false;
      const child = user.start(line);
      const ended = closed(child);
      await until(() => reached);
      child.kill('SIGKILL');
      await ended;
    };
    await kill(`tryouts set-status ${ids(6).join(' ')} --to rejected --yes --concurrency 1`);
    expect(service.kept.get('app_3')?.status).toBe('rejected');
    stuck = 'PATCH app_2';
    await kill('runs undo last --yes --concurrency 1');
    stuck = '';
    expect(service.kept.get('app_1')?.status).toBe('pending');
    const looked = await user.run('runs undo last -n');
    expect(looked.stderr).toMatch(/This continues run .*: 2 of 3 rows are left\.\n/);
    expect(looked.stderr).toContain(
      ': 1 can be undone, 0 changed since, 0 cannot be undone, 1 already undone, 1 already as before.',
    );
    const rest = await user.run('runs undo last --yes --json');
    expect(rest.code).toBe(0);
    expect(rest.stderr).toContain('Continuing run');
    expect(report(rest).summary).toMatchObject({ total: 3, changed: 3 });
    for (const id of ids(6)) expect(service.kept.get(id)?.status).toBe('pending');
    // Each of the three was changed and restored once.
    expect(steps(service).filter((step) => step.startsWith('PATCH'))).toHaveLength(6);
    const again = await user.run('runs undo last --yes --json');
    expect(report(again).summary).toMatchObject({ total: 3, changed: 3 });
    for (const id of ['app_1', 'app_2', 'app_3'])
      expect(service.kept.get(id)?.status).toBe('rejected');
  });

  test('a run whose last row turns out to be applied has no row left', async () => {
    let reached = false;
    const service = await keep(several(2), ({ body }, step) => {
      if (step !== 'PATCH app_2') return undefined;
      return () => {
        service.kept.set('app_2', { ...application('app_2'), ...JSON.parse(body.toString()) });
        reached = true;
      };
    });
    const user = userInside(service);
    const child = user.start('tryouts set-status app_1 app_2 --to rejected --yes');
    const ended = closed(child);
    await until(() => reached);
    child.kill('SIGKILL');
    await ended;
    const looked = await user.run('runs undo last -n');
    expect(looked.stderr).toContain(': 2 can be undone, 0 changed since, 0 cannot be undone.');
    expect(looked.stderr).not.toContain('will not be sent');
  });

  test('a record of a run that still runs is undone, and the run goes on', async () => {
    let answer: (() => void) | undefined;
    const service = await keep(several(2), (_, step) => {
      if (step !== 'GET app_2' || service.kept.get('app_1')?.status !== 'rejected')
        return undefined;
      return (__, response) => {
        answer = () => {
          response.setHeader('content-type', 'application/json');
          response.end(JSON.stringify(service.kept.get('app_2')));
        };
      };
    });
    const user = userInside(service);
    const child = user.start('tryouts set-status app_1 app_2 --to rejected --yes --concurrency 1');
    const ended = closed(child);
    await until(() => answer !== undefined);
    const undone = await user.run('runs undo last --only app_1 --yes');
    expect([undone.code, undone.stderr]).toEqual([0, expect.not.stringContaining('ends it')]);
    answer?.();
    expect(await ended).toBe(0);
    expect([...service.kept.values()].map(({ status }) => status)).toEqual(['pending', 'rejected']);
    const listed = await user.run('runs list --json');
    expect(JSON.parse(listed.stdout)).toMatchObject([
      { state: 'finished', summary: { changed: 2 } },
    ]);
  });

  test('several records of a run that went on while its undo waited for it are left alone', async () => {
    let answer: (() => void) | undefined;
    let isAsked = false;
    const service = await keep(several(3), ({ body }, step) => {
      const isLate = step === 'PATCH app_2' && !isAsked;
      const isHeld = step === 'GET app_3' && isAsked && answer === undefined;
      if (!isLate && !isHeld) return undefined;
      isAsked = true;
      const id = step.slice(-5);
      const record = {
        ...application(id),
        ...(isLate && (JSON.parse(body.toString()) as object)),
      };
      service.kept.set(id, record);
      return (_, response) => {
        const end = () =>
          response.setHeader('content-type', 'application/json').end(JSON.stringify(record));
        // So that the next record is read again before its write.
        if (isLate) setTimeout(end, 2_100);
        else answer = end;
      };
    });
    const user = userInside(service);
    const line = `tryouts set-status ${ids(3).join(' ')} --to rejected --yes --json --concurrency 1`;
    const child = user.start(line);
    const ended = closed(child);
    await until(() => answer !== undefined);
    const undo = heard(user.start('runs undo last --yes --json --wait-lock 1m'));
    await until(() => undo.printed.stderr.includes('Waiting for it.'));
    answer?.();
    expect(await ended).toBe(0);
    const count = service.requests.length;
    const refused = await undo.ended;
    expect([refused.code, errorOf(refused)]).toMatchObject([11, { code: 'goneOn' }]);
    expect(service.requests).toHaveLength(count);
    expect(report(await user.run('runs undo last --yes --json')).summary['changed']).toBe(3);
  });

  test('one record of a run that somebody is about to resume is not undone, because that would end the run', async () => {
    let hangs = true;
    let isHeld = false;
    const service = await keep(several(2), (_, step) => {
      const isHere = step === 'GET app_2' && service.kept.get('app_1')?.status === 'rejected';
      if (!hangs || !isHere) return undefined;
      isHeld = true;
      return () => {};
    });
    const user = userInside(service);
    const child = user.start('tryouts set-status app_1 app_2 --to rejected --yes --concurrency 1');
    const ended = closed(child);
    await until(() => isHeld);
    child.kill('SIGKILL');
    await ended;
    hangs = false;
    const undone: Awaited<ReturnType<typeof user.run>>[] = [];
    const undo = async () => {
      undone.push(await user.run('runs undo last --yes --json'));
      return 'y\r';
    };
    const env = { ...service.env, ...fast };
    const resumed = await converse(user.home, ['runs', 'resume'], [[/\(y\/N\)/, undo]], env);
    expect([undone[0]?.code, resumed.code]).toEqual([11, 0]);
    expect([...service.kept.values()].map(({ status }) => status)).toEqual([
      'rejected',
      'rejected',
    ]);
    expect(report(await user.run('runs undo last --yes --json')).summary['changed']).toBe(2);
  });

  test('an unfinished run ends with its undo, so that the same command starts over', async () => {
    let broken = true;
    const service = await keep(several(4), (_, step) =>
      broken && /^PATCH app_[34]$/.test(step)
        ? { status: 503, json: { error: 'busy' } }
        : undefined,
    );
    const user = userInside(service);
    const line = `tryouts set-status ${ids(4).join(' ')} --to rejected --yes --json`;
    const stopped = await user.run(line);
    expect([stopped.code, report(stopped).summary['changed']]).toEqual([10, 2]);
    broken = false;
    const looked = await user.run('runs undo last -n');
    expect(looked.stderr).toContain('Undoing it ends it: its other 2 rows will not be sent.');
    const undone = await user.run('runs undo last --yes --json');
    expect([undone.code, report(undone).summary['changed']]).toEqual([0, 2]);
    expect((await user.run('runs list --json')).stdout).not.toContain('unfinished');
    const again = await user.run(line);
    expect(again.stderr).not.toContain('Continuing run');
    expect([again.code, report(again).summary['changed']]).toEqual([0, 4]);
    for (const id of ids(4)) expect(service.kept.get(id)?.status).toBe('rejected');
  });

  test('last means an update whose only write may have arrived, not an older run', async () => {
    let lost = false;
    const service = await keep(several(2), (_, step) => {
      if (step !== 'PATCH app_2') return undefined;
      lost = true;
      return () => {};
    });
    const user = userInside(service);
    await user.run('tryouts update app_1 --status rejected');
    const child = user.start('tryouts update app_2 --status rejected');
    const ended = closed(child);
    await until(() => lost);
    child.kill('SIGKILL');
    await ended;
    const refused = await user.run('runs undo last --yes --json');
    expect(refused.code).toBe(11);
    expect(service.kept.get('app_1')?.status).toBe('rejected');
  });
});

test('an added field that is named like a method of every object is set to null', async () => {
  const service = await keepPlayers([{ id: 'p1', name: 'Ann' }]);
  const user = userInside(service);
  await user.run('players update p1 -F constructor=Lanternfish');
  expect((await user.run('runs undo last --yes')).code).toBe(0);
  expect(service.all.get('p1')).toEqual({ id: 'p1', name: 'Ann', constructor: null });
});

test('an undo is undone, and only one record of a run with --only', async () => {
  const service = await keep(several(3));
  const user = userInside(service);
  const statuses = () => [...service.kept.values()].map(({ status }) => status);
  const ran = await user.run(`tryouts set-status ${ids(3).join(' ')} --to rejected --yes --json`);
  const { run } = report(ran);
  await user.run(`runs undo ${run?.slice(-6)} --only app_2 --yes`);
  expect(statuses()).toEqual(['rejected', 'pending', 'rejected']);
  await user.run('runs undo last --yes');
  expect(statuses()).toEqual(['rejected', 'rejected', 'rejected']);
  await user.run(`runs undo ${run} --yes`);
  await user.run('runs undo last --yes');
  expect(statuses()).toEqual(['rejected', 'rejected', 'rejected']);
  const none = await user.run(`runs undo ${run} --only app_9 --yes --json`);
  expect([none.code, errorOf(none)['message']]).toEqual([
    2,
    `The run ${run} changed nothing of app_9. Did you mean app_1?`,
  ]);
  const named = await user.run(`runs undo ${run} --only email:ann@example.org --yes --json`);
  expect([named.code, errorOf(named)['message']]).toEqual([2, '--only takes ids, not email:.']);
  await user.run(`runs undo ${run} --only id:app_3 --yes`);
  expect(statuses()).toEqual(['rejected', 'rejected', 'pending']);
});

test('last is the newest run of this profile that changed something; others are refused by name', async () => {
  const service = await keep(several(4));
  const user = userInside(service);
  const at = (line: string, more: Record<string, string>) =>
    inProcess(line, { home: user.home, env: { ...service.env, ...fast, ...more } });
  const login = (profile: string) =>
    inProcess(`auth login --profile ${profile} --key-stdin --no-check`, {
      home: user.home,
      stdin: key,
      env: { ROSTERCTL_BASE_URL: service.baseUrl, ROSTERCTL_ORG: 'org_7' },
    });
  await login('mine');
  await login('theirs');
  const bare = { ROSTERCTL_API_KEY: '', ROSTERCTL_BASE_URL: '', ROSTERCTL_ORG: '' };
  const mine = (line: string) => at(`-p mine ${line}`, bare);
  await mine('tryouts update app_1 --status rejected');
  await mine('tryouts update app_2 --status pending');
  const other = await at(
    '-p theirs tryouts set-status app_3 app_4 --to rejected --yes --json',
    bare,
  );
  const undone = await mine('runs undo last --yes --json');
  expect(report(undone).results).toMatchObject([{ id: 'app_1', result: 'changed' }]);
  const { run } = report(other);
  const refused = await mine(`runs undo ${run} --yes --json`);
  expect([refused.code, errorOf(refused)['code']]).toEqual([11, 'otherProfile']);
  expect(errorOf(refused)['hint']).toContain('-p theirs');
  const elsewhere = await at('runs undo last --yes --json', { ROSTERCTL_ORG: 'org_8' });
  expect([elsewhere.code, errorOf(elsewhere)['message']]).toEqual([
    2,
    expect.stringMatching(/^The last run, \S+, belongs to organization org_7 at /),
  ]);
});

test('a run that cannot be undone is refused with the reason: undo.keep off, pruned before-images, a pruned run', async () => {
  const service = await keep(several(2));
  const user = userInside(service);
  const line = `tryouts set-status ${ids(2).join(' ')} --yes --json --to`;
  const { run } = report(await user.run(`${line} rejected`));
  await user.run('config set undo.keep off');
  await user.run(`${line} reviewing`);
  const before = written(service).length;
  const unkept = await user.run('runs undo last --yes --json');
  expect(unkept.code).toBe(11);
  expect(errorOf(unkept)['message']).toContain('whose previous values were not kept');
  // The next write removed the earlier before-images.
  const pruned = await user.run(`runs undo ${run} --yes --json`);
  expect(pruned.code).toBe(11);
  await user.run(`runs prune ${run} --yes`);
  const gone = await user.run(`runs undo ${run} --yes --json`);
  expect([gone.code, errorOf(gone)['message']]).toEqual([2, `Unknown run "${run}".`]);
  expect(written(service)).toHaveLength(before);
});

test('a run that was continued after its previous values were removed is undone as far as they are kept', async () => {
  let broken = true;
  const service = await keep(several(2), (_, step) =>
    broken && step === 'PATCH app_2' ? { status: 503, json: { error: 'busy' } } : undefined,
  );
  const user = userInside(service);
  await user.run('tryouts set-status app_1 app_2 --to rejected --yes');
  broken = false;
  const [folder = ''] = runFolders(user.runs);
  // As auth logout does.
  rmSync(join(folder, 'undo.jsonl'));
  expect((await user.run('runs resume last --yes')).code).toBe(0);
  const looked = await user.run('runs undo last -n');
  expect(looked.stderr).toContain(
    ': 1 can be undone, 0 changed since, 1 cannot be undone (1 changed by a run whose previous values were not kept).',
  );
});

test('a run whose deleted records are no longer kept says so, and is not said to show them', async () => {
  const user = userInside(await keepPlayers([{ id: 'player_1', name: 'Ann' }]));
  await user.run('players delete player_1 --yes');
  const [folder = ''] = runFolders(user.runs);
  rmSync(join(folder, 'undo.jsonl'));
  const refused = errorOf(await user.run('runs undo last --yes --json'));
  expect(refused['code']).toBe('notUndoable');
  expect(refused['hint']).toContain('See what it changed: rosterctl runs show');
  expect(refused['hint']).not.toContain('--undoable');
  const shown = await user.run('runs show last --undoable');
  expect(shown).toMatchObject({ code: 0, stdout: '' });
  expect(shown.stderr).toContain(' deleted are not kept on this machine.');
});

test('a value that is the key, or a URL that lost its query, is not undone, and a note says so', async () => {
  const service = await keepPlayers([
    { id: 'p1', name: 'Ann', link: 'https://cdn.example/a?sig=secret', role: 'Sub' },
    { id: 'p2', name: 'Bea', token: key, role: 'Sub' },
    { id: 'p3', name: 'Cleo', link: 'https://cdn.example/c?sig=secret' },
  ]);
  const user = userInside(service);
  await user.run('players update p1 p2 -F link=https://x.example/ -F token=none -F role=IGL --yes');
  const undone = await user.run('runs undo last --yes --json');
  expect(undone.code).toBe(0);
  expect(undone.stderr).toMatch(
    /^(link, token|token, link) of 2 records cannot be undone: the previous value was not kept/m,
  );
  expect(service.all.get('p1')).toMatchObject({ role: 'Sub', link: 'https://x.example/' });
  expect(service.all.get('p2')).toMatchObject({ role: 'Sub', token: 'none' });
  await user.run('players update p3 -F link=none');
  const none = await user.run('runs undo last --yes --json');
  expect(none.code).toBe(11);
  expect(errorOf(none)['message']).toContain('(1 with a previous value that was not kept (link))');
  for (const folder of runFolders(user.runs))
    expect(readFileSync(join(folder, 'undo.jsonl'), 'utf8')).not.toMatch(/sig=secret|canary/);
});

test('a field that is not undone is not said to be set to null', async () => {
  const user = userInside(await keepPlayers([{ id: 'p1', name: 'Ann' }]));
  await user.run('players update p1 -F link=https://x.example/?sig=secret -F role=IGL');
  const undone = await user.run('runs undo last');
  expect(undone.stderr).toContain('link of 1 record cannot be undone');
  expect(undone.stderr).toContain('role: set to null');
  expect(undone.stderr).not.toContain('link, role');
});

test('a field that the service does not show is not undone beside others, which is said', async () => {
  const players = ['p1', 'p2'].map((id) => ({ id, name: id, role: 'Sub' }));
  const service = await keepPlayers(players, ({ method, body, url }, all) => {
    if (method !== 'PATCH') return undefined;
    const { secret: _, ...shown } = JSON.parse(String(body));
    const id = url.split('/').at(-1) ?? '';
    const json = { ...all.get(id), ...shown };
    all.set(id, json);
    return { status: 200, json };
  });
  const user = userInside(service);
  await user.run('players update p1 p2 -F role=IGL -F secret=5 --yes');
  const undone = await user.run('runs undo last --yes');
  expect([undone.code, [...service.all.values()]]).toEqual([0, players]);
  expect(undone.stderr).toContain('p1 keeps secret, because the service does not show it.\n');
  expect(undone.stderr).toContain('p2 keeps secret, because the service does not show it.\n');
  expect(undone.stderr).not.toContain('set to null');
});

test('a row whose outcome is still unknown is left alone and counted', async () => {
  let isSent = false;
  const players = ['p1', 'p2'].map((id) => ({ id, name: id, role: 'Sub' }));
  const service = await keepPlayers(players, ({ method, url }) => {
    if (!url.includes('/p2')) return undefined;
    isSent ||= method === 'PATCH';
    if (method === 'PATCH') return (_, response) => response.socket?.destroy();
    return isSent ? { status: 403, json: { error: 'forbidden' } } : undefined;
  });
  const user = userInside(service);
  const ran = await user.run('players update p1 p2 -F role=IGL --yes --concurrency 1 --json');
  expect([ran.code, report(ran).summary]).toMatchObject([10, { changed: 1, unknown: 1 }]);
  const undone = await user.run(`runs undo ${report(ran).run} --yes --json`);
  expect(undone.stderr).toContain(
    ': 1 can be undone, 0 changed since, 1 cannot be undone (1 with an unknown outcome).',
  );
  expect([undone.code, sentTo(service.requests)]).toEqual([
    0,
    ['PATCH p1', 'PATCH p2', 'PATCH p1'],
  ]);
});

test('a route from --route is also used for the undo; one that replaces keeps what others added', async () => {
  const service = await keepPlayers([{ id: 'p1', name: 'Ann', role: 'Sub' }]);
  const user = userInside(service);
  const replaces = 'config set endpoints.players.update.semantics replace';
  expect(await user.run(replaces)).toMatchObject({ code: 0 });
  await user.run("players update p1 -F role=IGL --route 'PUT /players/{id}'");
  service.all.set('p1', { ...service.all.get('p1'), shirt: 7 });
  expect(await user.run('runs undo last')).toMatchObject({ code: 0 });
  expect(sentTo(service.requests)).toEqual(['PUT p1', 'PUT p1']);
  expect(service.all.get('p1')).toMatchObject({ name: 'Ann', role: 'Sub', shirt: 7 });
});

async function withFiles() {
  const { home, run } = sandboxUser();
  for (const name of ['one', 'two', 'three']) writeFileSync(join(home, `${name}.txt`), name);
  await run('docs upload one.txt two.txt three.txt');
  return { home, run };
}

describe('an undo that deletes is confirmed like a delete', () => {
  test('without a terminal with --yes and --expect', async () => {
    const { run } = await withFiles();
    const bare = await run('runs undo last --json');
    expect(bare.code).toBe(2);
    expect(bare.stderr).toContain('3 documents to delete in ');
    expect(bare.stderr).not.toMatch(/would change|cannot be changed/);
    const yes = await run('runs undo last --yes --json');
    expect([yes.code, errorOf(yes)['message']]).toEqual([
      2,
      '3 documents would be deleted, and --yes alone is not enough.',
    ]);
    expect((await run('runs undo last --yes --expect 2 --json')).code).toBe(11);
    expect((await run('runs undo last --yes --expect 3 --json')).code).toBe(0);
  });

  test('at a terminal with the number of records', async () => {
    const { home, run } = await withFiles();
    const line = ['-p', 'sandbox', 'runs', 'undo', 'last'];
    const wrong = await converseInside(home, line, [
      [/Delete 3 documents\? Type the number/, 'y\r'],
    ]);
    expect(wrong.code).toBe(130);
    const right = await converse(home, line, [[/Delete 3 documents\? Type the number/, '3\r']]);
    expect(right.code).toBe(0);
    expect((await run('docs list -o ids')).stdout).not.toMatch(/doc_00(19|2\d)/);
  });
});

test('neither the key nor a signed URL in a record is in any file of its runs', async () => {
  const link = 'https://files.example/a.pdf?X-Amz-Signature=canary-of-a-signature';
  const service = await keepPlayers([
    { id: 'p1', organizationId: organization, token: key, said: `it is ${key}`, link, kind: 'a' },
  ]);
  const user = userInside(service);
  const update = 'players update p1 -F token=a -F said=b -F link=c -F kind=b --json';
  expect((await user.run(update)).code).toBe(0);
  const undo = await user.run('runs undo last --json');
  expect(report(undo).results[0]).toMatchObject({ result: 'changed', after: { kind: 'a' } });
  expect((await user.run('players delete p1 --yes')).code).toBe(0);
  const files = runFolders(user.runs).flatMap((folder) =>
    readdirSync(folder).map((file) => readFileSync(join(folder, file), 'utf8')),
  );
  expect(files.length).toBeGreaterThan(3);
  for (const text of files) {
    expect(text).not.toContain(key);
    expect(text).not.toContain('canary-of-a-signature');
  }
});

test('a signed URL within a text is in no file of a run, in no message, and is not written back', async () => {
  const canary = 'canary-of-a-signature';
  const about = `See https://files.example/a.pdf?X-Amz-Signature=${canary} for more`;
  const message = `Already used: "${about}".`;
  const fields = { organizationId: organization, about, kind: 'a' };
  const service = await keepPlayers(
    [
      { id: 'p1', name: 'Ann', ...fields },
      { id: 'p2', name: `Bea, ${about}`, ...fields },
    ],
    ({ method, url }) =>
      method === 'PATCH' && url.endsWith('p2')
        ? { status: 400, json: { error: 'used', message } }
        : undefined,
  );
  const user = userInside(service);
  const change = await user.run('players update p1 p2 -F about=new -F kind=b --yes --json');
  const { run, results } = report(change);
  expect([change.code, results]).toMatchObject([
    8,
    [{ result: 'changed' }, { result: 'failed', error: { code: 'used' } }],
  ]);
  expect(JSON.stringify(results[1])).not.toContain(canary);
  const shown = await user.run(`runs show ${run} --json`);
  const one = await user.run('players update p2 -F about=new --debug');
  expect(one.code).toBe(3);
  for (const text of [change.stderr, shown.stdout, one.stderr, one.stdout])
    expect(text).not.toContain(canary);
  const undo = await user.run(`runs undo ${run} --yes --json`);
  expect([undo.code, report(undo).results]).toMatchObject([
    0,
    [{ id: 'p1', after: { kind: 'a' } }],
  ]);
  expect(service.all.get('p1')).toMatchObject({ about: 'new', kind: 'a' });
  expect(undo.stderr).toMatch(/about/);
  for (const folder of runFolders(user.runs))
    for (const file of readdirSync(folder))
      expect(readFileSync(join(folder, file), 'utf8')).not.toContain(canary);
});

test('a note with a signed URL that gets another line is in no file of the run that is open', async () => {
  const canary = 'canary-of-a-signature';
  const internalNotes = `See https://files.example/a.pdf?X-Amz-Signature=${canary}`;
  const service = await keep([application('app_1', { internalNotes })], (_, step) =>
    step.startsWith('PATCH') ? { status: 503 } : undefined,
  );
  const user = userInside(service);
  const line = 'tryouts set-status app_1 --to rejected --append-note Called --yes';
  expect((await user.run(line)).code).toBe(10);
  const files = runFolders(user.runs).flatMap((folder) =>
    readdirSync(folder).map((file) => readFileSync(join(folder, file), 'utf8')),
  );
  expect(files.length).toBeGreaterThan(1);
  for (const text of files) expect(text).not.toContain(canary);
});

test('a write of a record that holds the key is verified after a kill', async () => {
  let hangs = true;
  const service = await keepPlayers(
    [{ id: 'p1', organizationId: organization, said: `it is ${key}` }],
    ({ method }) => (hangs && method === 'PATCH' ? () => {} : undefined),
  );
  const user = userInside(service);
  const child = user.start('players update p1 -F said=b');
  await until(() => service.requests.some(({ method }) => method === 'PATCH'));
  child.kill('SIGKILL');
  await closed(child);
  for (const folder of runFolders(user.runs))
    for (const file of readdirSync(folder))
      expect(readFileSync(join(folder, file), 'utf8')).not.toContain(key);
  hangs = false;
  const again = await user.run('players update p1 -F said=b --json');
  expect([again.code, service.all.get('p1')?.['said']]).toEqual([0, 'b']);
});

test("a value that the service keeps in its own form is nobody else's change", async () => {
  const player: Fields = { id: 'p1', organizationId: organization, name: 'Ann', number: '4' };
  const service = await recordingService(({ method, body }): Reply => {
    if (method !== 'PATCH') return { status: 200, json: player };
    player['number'] = String(JSON.parse(String(body)).number);
    return { status: 204 };
  });
  const at = { env: service.env, home: temporaryFolder() };
  await inProcess('players update p1 -F number=50', at);
  expect(player['number']).toBe('50');
  const ran = await inProcess('runs undo last --yes', at);
  expect([ran.code, player['number']]).toEqual([0, '4']);
});
