import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { until, userOf } from '../bulk/user.js';
import { application, keep, steps } from '../commands/tryouts/service.js';
import { inProcess } from '../support/in-process.js';
import { errorOf, temporaryFolder } from '../support/run.js';
import { organization, type Recorded, type Reply, recordingService } from '../support/service.js';

// Answers and reads that are behind the truth, or that say less than they seem to.

type Fields = Record<string, unknown> & { readonly id: string };

/** One record at `/v1/PLURAL/ID` and in its list; `instead` may answer a request itself. */
async function holding(
  record: Fields,
  instead: (request: Recorded, kept: Map<string, Fields>) => Reply | undefined,
) {
  const kept = new Map([[record.id, record]]);
  const service = await recordingService((request) => {
    const reply = instead(request, kept);
    if (reply) return reply;
    const id = request.url.split('?')[0]?.split('/').at(-1) ?? '';
    if (id === organization) return { status: 200, json: [...kept.values()] };
    const found = kept.get(id);
    return found ? { status: 200, json: found } : { status: 404, json: { error: 'notFound' } };
  });
  const at = { env: { ...service.env, ROSTERCTL_SETTLE: '0.3s' }, home: temporaryFolder() };
  const run = (line: string, { env = {} }: { readonly env?: Record<string, string> } = {}) =>
    inProcess(line, { ...at, env: { ...at.env, ...env } });
  return { kept, service, run };
}

test('a conversion waits for reads that lag behind its first step', async () => {
  let acceptedAt = 0;
  const service = await keep([application('app_1')], (_, step) => {
    if (step === 'PATCH app_1') acceptedAt = Date.now();
    const lags = step === 'GET app_1' && Date.now() - acceptedAt < 150;
    return lags ? { status: 200, json: application('app_1') } : undefined;
  });
  const ran = await userOf(service).run('tryouts convert app_1 --accept --yes --json');
  expect(ran.code).toBe(0);
  expect(steps(service).filter((step) => step.startsWith('CONVERT'))).toHaveLength(1);
});

test('a status that someone else sets back after the first step is still a conflict', async () => {
  const service = await keep([application('app_1')], (_, step) =>
    step === 'GET app_1' ? { status: 200, json: application('app_1') } : undefined,
  );
  const ran = await userOf(service).run('tryouts convert app_1 --accept --yes --json');
  expect(ran.code).toBe(6);
  expect(steps(service)).not.toContain('CONVERT app_1');
});

test('a delete that was not applied is not done because the record was archived long before', async () => {
  const { service, run } = await holding(
    { id: 'player_1', name: 'Ann', archivedAt: '2025-01-01T00:00:00Z', number: 7 },
    ({ method }, kept) => {
      if (method !== 'DELETE') return undefined;
      kept.set('player_1', { ...kept.get('player_1'), id: 'player_1', number: 8 });
      return (_, response) => response.socket?.destroy();
    },
  );
  const ran = await run('players delete player_1 --yes --json');
  expect([ran.code, errorOf(ran).code]).toEqual([6, 'changedMeanwhile']);
  expect(service.requests.filter(({ method }) => method === 'DELETE')).toHaveLength(1);
});

test.each([
  ['and someone set one of them back, is a conflict', { nick: 'Old' }, 6, 1],
  ['one of which the service does not show, is sent again', {}, 0, 2],
])('a lost change of two fields, %s', async (_, shown, code, sent) => {
  const { service, run } = await holding(
    { id: 'player_1', rank: 1, ...shown },
    ({ method }, kept) => {
      if (method !== 'PATCH' || kept.get('player_1')?.['rank'] === 2) return undefined;
      kept.set('player_1', { id: 'player_1', rank: 2, ...shown });
      return (__, response) => response.socket?.destroy();
    },
  );
  const ran = await run('players update player_1 -F rank=2 -F nick=New --json');
  expect(ran.code).toBe(code);
  expect(service.requests.filter(({ method }) => method === 'PATCH')).toHaveLength(sent);
});

test('a write that was only accepted (202) is unknown if it cannot be read again', async () => {
  let sent = false;
  const { run } = await holding({ id: 'player_1', name: 'Ann' }, ({ method }) => {
    if (method === 'PATCH') {
      sent = true;
      return { status: 202, json: {} };
    }
    return sent ? { status: 200, text: '<html>down</html>' } : undefined;
  });
  expect((await run('players update player_1 --name Bea --json')).code).toBe(10);
});

test.each([
  ['-F rating=9.5', '9.50', 0],
  ['-f rating=9.5', '9.50', 0],
  ['-F rating=2026-11-28T12:00:00+02:00', '2026-11-28T10:00:00.000Z', 0],
  ['-F rating=false', 0, 0],
  ['-F rating=true', '1', 0],
  ['-F rating=true', 0, 1],
  ['-f rating=7', '07', 1],
  ['-F rating=9.6', '9.50', 1],
] as const)('%s of a service that keeps showing %j exits with %i', async (flag, rating, code) => {
  const player = { id: 'player_1', name: 'Ann', rating };
  const { run } = await holding(player, ({ method }) =>
    method === 'PATCH' ? { status: 200, json: player } : undefined,
  );
  expect((await run(`players update player_1 ${flag} --json`)).code).toBe(code);
});

test('a field that the service does not show is named in a note', async () => {
  const { run } = await holding({ id: 'player_1', name: 'Ann' }, ({ method }) =>
    method === 'PATCH' ? { status: 200, json: { id: 'player_1', name: 'Ann' } } : undefined,
  );
  const ran = await run('players update player_1 -F nick=zzz --json');
  expect(ran.code).toBe(0);
  expect(ran.stderr).toContain(
    'The service does not show nick, so it is not known whether it was stored.',
  );
  const undone = await run('runs undo last --yes --json');
  expect(JSON.parse(undone.stdout)).toMatchObject({
    summary: { total: 1, skipped: 1 },
    results: [
      {
        error: {
          code: 'notUndoable',
          message: 'The service does not show nick, so it cannot be undone.',
        },
      },
    ],
  });
});

test('a 2xx that says no is a refusal, also for a field that the service does not show', async () => {
  const { run } = await holding({ id: 'player_1', name: 'Ann' }, ({ method }) =>
    method === 'PATCH' ? { status: 200, json: { success: false, error: 'locked' } } : undefined,
  );
  const ran = await run('players update player_1 -F nick=zzz --json');
  expect([ran.code, errorOf(ran).code]).toEqual([3, 'locked']);
});

test('a 2xx that says no is contradicted by one field that shows the change', async () => {
  const { run } = await holding({ id: 'player_1', name: 'Ann' }, ({ method }, kept) => {
    if (method !== 'PATCH') return undefined;
    kept.set('player_1', { id: 'player_1', name: 'Bea' });
    return { status: 200, json: { success: false, error: 'locked' } };
  });
  const ran = await run('players update player_1 --name Bea -F nick=zzz --json');
  expect([ran.code, ran.stderr]).toEqual([0, expect.stringContaining('answered: locked')]);
});

/** Players whose reads, also that of the list, show a write `lagMs` after it, or once `show` is called. */
async function lagging(lagMs: number | undefined, settle: string, count = 1, onWrite = () => {}) {
  const now = new Map<string, Fields>();
  for (let n = 1; n <= count; n += 1) now.set(`player_${n}`, { id: `player_${n}`, name: 'Ann' });
  let shown = new Map(now);
  let shows: NodeJS.Timeout | undefined;
  let created = 0;
  const wrote = () => {
    onWrite();
    if (lagMs === undefined) return;
    const then = new Map(now);
    shows = setTimeout(() => {
      shown = then;
    }, lagMs);
  };
  onTestFinished(() => clearTimeout(shows));
  const service = await recordingService(({ method, url, body }) => {
    const id = url.split('?')[0]?.split('/').at(-1) ?? '';
    if (method === 'GET' && id === organization)
      return { status: 200, json: { players: [...shown.values()], total: shown.size } };
    const record = method === 'GET' ? shown.get(id) : now.get(id);
    if (method === 'POST') {
      created += 1;
      const newId = created === 1 ? 'player_new' : `player_new_${created}`;
      const made = { ...(JSON.parse(body.toString()) as object), id: newId };
      now.set(made.id, made);
      wrote();
      return { status: 201, json: made };
    }
    if (!record) return { status: 404, json: { error: 'notFound' } };
    if (method === 'GET') return { status: 200, json: record };
    if (method === 'DELETE') now.delete(id);
    else now.set(id, { ...record, ...(JSON.parse(body.toString()) as object) });
    wrote();
    return method === 'DELETE' ? { status: 204 } : { status: 200, json: now.get(id) };
  });
  const at = { env: { ...service.env, ROSTERCTL_SETTLE: settle }, home: temporaryFolder() };
  const show = () => {
    shown = new Map(now);
  };
  return { now, service, home: at.home, show, run: (line: string) => inProcess(line, at) };
}

test('an import goes on where reads lag behind each create', async () => {
  const { now, home, run } = await lagging(300, '10s', 0);
  const people = Array.from({ length: 20 }, (_, n) => `Ann ${n},ann${n}@example.org\n`);
  const file = join(home, 'roster.csv');
  writeFileSync(file, `name,email\n${people.join('')}`);
  const ran = await run(`players import ${file} --key email --yes --json`);
  expect(ran.code).toBe(0);
  expect(JSON.parse(ran.stdout)).toMatchObject({ summary: { total: 20, changed: 20 } });
  expect(now.size).toBe(20);
});

test('an import goes on where a list that lags behind it holds a round number of records', async () => {
  const kept = Array.from({ length: 49 }, (_, n): Fields => ({ id: `player_${n}`, email: `${n}` }));
  const service = await recordingService(({ method, url, body }) => {
    const id = url.split('?')[0]?.split('/').at(-1) ?? '';
    if (method === 'POST') {
      const made = { ...(JSON.parse(body.toString()) as object), id: `player_${kept.length}` };
      kept.push(made);
      // Reads of the list age meanwhile.
      return (_, response) => void sleep(1_100).then(() => response.end(JSON.stringify(made)));
    }
    return id === organization
      ? { status: 200, json: kept.slice(0, 50) }
      : { status: 200, json: kept.find((each) => each.id === id) };
  });
  const home = temporaryFolder();
  const file = join(home, 'roster.csv');
  writeFileSync(file, 'email\na@example.org\nb@example.org\nc@example.org\n');
  const ran = await inProcess(`players import ${file} --key email --yes --json --concurrency 1`, {
    env: service.env,
    home,
  });
  expect([ran.code, kept.length]).toEqual([0, 52]);
});

describe('an undo directly after its run, where reads lag', () => {
  const change = 'players update player_1 --name Bea --json';

  test('waits until the change shows', async () => {
    const { now, service, show, run } = await lagging(undefined, '20s');
    expect((await run(change)).code).toBe(0);
    const before = service.requests.length;
    const undoing = run('runs undo last --yes --json');
    await until(() => service.requests.length > before + 1);
    show();
    const undone = await undoing;
    expect([undone.code, now.get('player_1')?.['name']]).toEqual([0, 'Ann']);
    expect(undone.stderr).toContain(
      'player_1 still reads as it did before the run. Reading it again for up to',
    );
  });

  test('waits for a field that the run added', async () => {
    const { now, run } = await lagging(1_000, '20s');
    expect((await run('players update player_1 -F role=IGL --json')).code).toBe(0);
    expect((await run('runs undo last --yes --json')).code).toBe(0);
    expect(now.get('player_1')).toMatchObject({ name: 'Ann', role: null });
  });

  test('skips a field that the service does not show even then', async () => {
    const { service, run } = await lagging(undefined, '2s');
    await run('players update player_1 -F role=IGL --json');
    const undone = await run('runs undo last --yes --json');
    expect([undone.code, JSON.parse(undone.stdout).results]).toMatchObject([
      0,
      [{ result: 'skipped', error: { code: 'notUndoable' } }],
    ]);
    expect(service.requests.filter(({ method }) => method === 'PATCH')).toHaveLength(1);
  });

  test('waits in its dry run too', async () => {
    const { run } = await lagging(1_000, '20s');
    await run(change);
    expect((await run('runs undo last -n')).stderr).toContain(': 1 can be undone,');
  });

  test('waits for each of many records that one list shows', async () => {
    const { now, run } = await lagging(1_000, '20s', 40);
    const all = [...now.keys()].join(' ');
    expect((await run(`players update ${all} --name Bea --yes --json`)).code).toBe(0);
    expect((await run('runs undo last --yes --json')).code).toBe(0);
    expect(new Set([...now.values()].map(({ name }) => name))).toEqual(new Set(['Ann']));
  });

  test('waits until what was created is there', async () => {
    const { now, run } = await lagging(1_000, '20s');
    expect((await run('players create --name Bea --json')).code).toBe(0);
    expect((await run('runs undo last --yes --json')).code).toBe(0);
    expect([...now.keys()]).toEqual(['player_1']);
  });

  test('is a conflict if the change does not show, and undoes it when repeated later', async () => {
    const { now, show, run } = await lagging(undefined, '3s');
    expect((await run(change)).code).toBe(0);
    const early = await run('runs undo last --yes --json');
    const error = {
      code: 'changedMeanwhile',
      message:
        'player_1 still reads as it did before the run, which has only just changed it. Someone set it back, or the service shows changes late.',
    };
    expect(early.code).toBe(6);
    expect(JSON.parse(early.stdout)).toMatchObject({ results: [{ result: 'conflict', error }] });
    show();
    expect((await run('runs undo last --yes --json')).code).toBe(0);
    expect(now.get('player_1')?.['name']).toBe('Ann');
  });

  test('is a conflict if what was created is not there', async () => {
    const { run } = await lagging(undefined, '3s');
    await run('players create --name Bea --json');
    const undone = await run('runs undo last --yes --json');
    expect(undone.code).toBe(6);
    expect(undone.stdout).toContain('player_new was not found, although the run has only just');
  });
});

test.each([[], ['--status rejected']])(
  'a change directly after another one builds on it where reads lag; between them: %j',
  async (...between) => {
    const { now, service, run } = await lagging(700, '10s');
    const changes = ['--append-note red', ...between, '--append-note blue'];
    for (const change of changes)
      expect((await run(`tryouts update player_1 ${change} --json`)).code).toBe(0);
    expect(now.get('player_1')?.['internalNotes']).toMatch(/red\n.*blue$/);
    const sent = service.requests.filter(({ method }) => method === 'PATCH');
    expect(sent).toHaveLength(changes.length);
  },
);

test('a PUT of the entire record directly after another change does not undo that where reads lag', async () => {
  const { now, run } = await lagging(700, '10s');
  expect((await run('players update player_1 --name Bea')).code).toBe(0);
  await run("config set endpoints.players.update 'PUT /players/{id}'");
  await run('config set endpoints.players.update.semantics replace');
  const ran = await run('players update player_1 -F rank=2');
  expect(ran.code).toBe(0);
  expect(now.get('player_1')).toMatchObject({ name: 'Bea', rank: 2 });
});

test('a change directly after a run of many, which took ten minutes, builds on it, too', async () => {
  const { now, run } = await lagging(700, '10s', 2, () => vi.useRealTimers());
  const line = 'tryouts update player_1 player_2 --append-note red --yes --json';
  onTestFinished(() => void vi.useRealTimers());
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() - 600_000 });
  expect((await run(line)).code).toBe(0);
  expect((await run('tryouts update player_1 --append-note blue --json')).code).toBe(0);
  expect(now.get('player_1')?.['internalNotes']).toMatch(/red\n.*blue$/);
});

test('an undo that is repeated at once says so without waiting', async () => {
  const { service, run } = await lagging(0, '20s');
  expect((await run('players update player_1 --name Bea --json')).code).toBe(0);
  const [{ run: name } = { run: '' }] = JSON.parse(
    (await run('runs list --all --json')).stdout,
  ) as {
    run: string;
  }[];
  expect((await run(`runs undo ${name} --yes --json`)).code).toBe(0);
  const before = service.requests.length;
  const again = await run(`runs undo ${name} --yes --json`);
  expect([again.code, service.requests.length - before]).toEqual([0, 1]);
  expect(again.stderr).toContain('1 already as before.');
});

test('of two undos of one run at once, one undoes it and the other finds it as before', async () => {
  const { service, run } = await holding({ id: 'player_1', name: 'Ann' }, (request, kept) => {
    if (request.method !== 'PATCH') return undefined;
    return (_, response) => {
      const answer = () => {
        const record = { ...kept.get('player_1'), id: 'player_1' };
        kept.set('player_1', { ...record, ...(JSON.parse(request.body.toString()) as object) });
        response.writeHead(200, { 'content-type': 'application/json' });
        response.end(JSON.stringify(kept.get('player_1')));
      };
      // Meanwhile the other undo waits for the record.
      setTimeout(answer, 400);
    };
  });
  const settle = { env: { ROSTERCTL_SETTLE: '20s' } };
  expect((await run('players update player_1 --name Bea', settle)).code).toBe(0);
  const undo = () => run('runs undo last --yes --json', settle);
  const undone = await Promise.all([undo(), undo()]);
  expect(undone.map(({ code }) => code)).toEqual([0, 0]);
  const said = undone.map(({ stderr }) => stderr).join('');
  expect(said).toMatch(/Waiting for it/);
  expect(said).not.toMatch(/Reading it again/);
  expect(service.requests.filter(({ method }) => method === 'PATCH')).toHaveLength(2);
});

/** A player, changes that take effect at once, and the names of the runs, oldest first. */
async function prompt(settle: string) {
  const { kept, service } = await holding(
    { id: 'player_1', name: 'Ann' },
    ({ method, body }, all) => {
      if (method !== 'PATCH') return undefined;
      const record = { ...all.get('player_1'), ...(JSON.parse(body.toString()) as object) };
      all.set('player_1', { ...record, id: 'player_1' });
      return { status: 200, json: all.get('player_1') };
    },
  );
  const at = { env: { ...service.env, ROSTERCTL_SETTLE: settle }, home: temporaryFolder() };
  const run = (line: string) => inProcess(line, at);
  const runs = async () => {
    const { stdout } = await run('runs list --all --json');
    return (JSON.parse(stdout) as { run: string }[]).map((each) => each.run).toSorted();
  };
  return { kept, service, run, runs };
}

describe('an undo directly after its run, where reads do not lag', () => {
  test('does not wait where another undo has just set the record back', async () => {
    const { kept, service, run, runs } = await prompt('20s');
    expect((await run('players update player_1 --name Bea --json')).code).toBe(0);
    // Somebody else, and then the same change again.
    kept.set('player_1', { id: 'player_1', name: 'Ann' });
    expect((await run('players update player_1 --name Bea --json')).code).toBe(0);
    const [first, second] = await runs();
    expect((await run(`runs undo ${second} --yes --json`)).code).toBe(0);
    const before = service.requests.length;
    const undone = await run(`runs undo ${first} --yes --json`);
    expect([undone.code, service.requests.length - before]).toEqual([0, 1]);
    expect(undone.stderr).toContain('1 already as before.');
    expect(kept.get('player_1')?.['name']).toBe('Ann');
  });

  test.each([
    ['changed another field', '-F role=Coach'],
    ['wrote another value', '--name Cleo'],
  ])('is a conflict where a later run %s, and somebody set the record back', async (_, change) => {
    const { kept, run, runs } = await prompt('3s');
    expect((await run('players update player_1 --name Bea --json')).code).toBe(0);
    expect((await run(`players update player_1 ${change} --json`)).code).toBe(0);
    kept.set('player_1', { ...kept.get('player_1'), id: 'player_1', name: 'Ann' });
    const undone = await run(`runs undo ${(await runs())[0]} --yes --json`);
    expect([undone.code, undone.stdout]).toEqual([6, expect.stringContaining('set it back')]);
  });
});

test('an undo of what was undone and then changed again waits for a record that reads as before', async () => {
  const { kept, run, runs } = await prompt('4s');
  expect((await run('players update player_1 --name Bea --json')).code).toBe(0);
  const [first] = await runs();
  expect((await run(`runs undo ${first} --yes --json`)).code).toBe(0);
  expect((await run('players update player_1 --name Bea --json')).code).toBe(0);
  kept.set('player_1', { id: 'player_1', name: 'Ann' });
  const undone = await run(`runs undo ${first} --yes --json`);
  expect([undone.code, undone.stdout]).toEqual([6, expect.stringContaining('set it back')]);
});

test('an undo of what was set back by hand long ago reads once and says so', async () => {
  const { kept, service, run } = await holding(
    { id: 'player_1', name: 'Ann' },
    ({ method }, all) => {
      if (method !== 'PATCH') return undefined;
      all.set('player_1', { id: 'player_1', name: 'Bea' });
      return { status: 200, json: all.get('player_1') };
    },
  );
  await run('players update player_1 --name Bea --json');
  kept.set('player_1', { id: 'player_1', name: 'Ann' });
  await sleep(400);
  const before = service.requests.length;
  const undone = await run('runs undo last --yes --json');
  expect([undone.code, service.requests.length - before]).toEqual([0, 1]);
  expect(undone.stderr).toContain('1 already as before.');
});

test('an undo recognizes a value that the service stored in its own form', async () => {
  const { kept, run } = await holding({ id: 'player_1', number: '7' }, ({ method, body }, all) => {
    if (method !== 'PATCH') return undefined;
    const { number } = JSON.parse(body.toString()) as { number: unknown };
    all.set('player_1', { id: 'player_1', number: String(number) });
    return { status: 200, json: all.get('player_1') };
  });
  expect((await run('players update player_1 -F number=42 --json')).code).toBe(0);
  expect(kept.get('player_1')?.['number']).toBe('42');
  expect((await run('runs undo last --yes --json')).code).toBe(0);
  expect(kept.get('player_1')?.['number']).toBe('7');
});

test('undo keeps a created document that was changed since, also if the answer showed only its id', async () => {
  const made = {
    id: 'doc_9',
    name: 'a.pdf',
    tags: [],
    fileKey: 'k/a.pdf',
    organizationId: organization,
  };
  const { kept, service, run } = await holding(
    { id: 'doc_1', name: 'other' },
    ({ method }, all) => {
      if (method !== 'POST') return undefined;
      all.set(made.id, made);
      return { status: 201, json: { id: made.id } };
    },
  );
  const line =
    'docs create --file-key k/a.pdf --file-ref r --content-type application/pdf --size-bytes 3 --name a.pdf --json';
  expect((await run(line)).code).toBe(0);
  kept.set(made.id, { ...made, name: 'renamed' });
  expect((await run('runs undo last --yes --json')).code).toBe(6);
  expect(service.requests.filter(({ method }) => method === 'DELETE')).toEqual([]);
});

test('runs show --undoable names the fields of deleted records that it cannot show whole', async () => {
  const { run } = await holding(
    { id: 'player_1', name: 'Ann', website: 'https://x.example/p?token=1' },
    ({ method }, kept) => {
      if (method !== 'DELETE') return undefined;
      kept.delete('player_1');
      return { status: 204 };
    },
  );
  await run('players delete player_1 --yes');
  const shown = await run('runs show last --undoable');
  expect(JSON.parse(shown.stdout)).toMatchObject({ website: 'https://x.example/p' });
  expect(shown.stderr).toContain('player_1: website is not complete');
});

test('the counts of an undo add up where a created record is gone', async () => {
  const { kept, run } = await holding({ id: 'player_1', name: 'Ann' }, ({ method, body }, all) => {
    if (method !== 'POST') return undefined;
    const made = { ...(JSON.parse(body.toString()) as object), id: `player_${all.size + 1}` };
    all.set(made.id, made);
    return { status: 201, json: made };
  });
  await run('players create --name Bea --json');
  kept.delete('player_2');
  await sleep(400);
  const { stderr } = await run('runs undo last -n');
  expect(stderr).toContain(
    '0 can be undone, 0 changed since, 0 cannot be undone, 1 already as before.',
  );
});
