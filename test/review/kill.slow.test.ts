import { describe, expect, test } from 'vitest';
import { localDay } from '../../src/data/dates.js';
import { report, several, until } from '../bulk/user.js';
import { application, cut, keep, steps } from '../commands/tryouts/service.js';
import { type Desk, sitDown } from '../support/full-screen.js';
import { inProcess } from '../support/in-process.js';
import { temporaryFolder } from '../support/run.js';
import { seeded } from '../support/seeded.js';

const settle = { ROSTERCTL_SETTLE: '0.2s', NO_COLOR: '1' };

/** Every kind of key, what the screen says after it, and how many decisions there are then. */
const script: readonly (readonly [key: string, says: RegExp, decided: number])[] = [
  ['s', /1 decided/, 1],
  ['r', /2 decided/, 2],
  ['a', /3 decided/, 3],
  ['e', /4 decided/, 4],
  ['\r', /: skipped/, 4],
  ['n', /^Note:/, 4],
  ['Strong aim', /^Note: Strong aim/, 4],
  ['\r', /5 decided/, 5],
  ['s', /5 decided, u undoes/, 5],
  ['u', /a note to add/, 5],
  ['\u001b[D', /^5 of/, 5],
  ['\u001b[C', /^6 of/, 5],
  ['\u001b[B', /^6 of/, 5],
  [' ', /^6 of/, 5],
  ['/', /^Search:/, 5],
  ['app_2\r', /Found "app_2"/, 5],
  ['?', /Press any key to go back/, 5],
  ['x', /w send/, 5],
  ['o', /no link to open/, 5],
  ['X', /lower case/, 5],
  ['a', /5 decided/, 5],
  ['w', /Change 5 applications\?/, 5],
];

async function play(desk: Desk, keys: typeof script): Promise<void> {
  for (const [key, says] of keys) {
    // The screen may show it already: two keys in one read would count as one.
    await new Promise((resolve) => setTimeout(resolve, 100));
    const drawn = desk.written().length;
    desk.type(key);
    await until(() => desk.written().length > drawn);
    await desk.sees(says);
  }
}

test.concurrent.each(script.map(([key], index) => [index + 1, JSON.stringify(key)] as const))(
  'kill -9 after %i keys, the last %s, loses no decision and sends nothing',
  async (length) => {
    const service = await keep(several(8));
    const home = temporaryFolder();
    const env = { ...service.env, ...settle };
    const desk = sitDown(['tryouts', 'review'], { home, env });
    await desk.sees(/^1 of 8/);
    const played = script.slice(0, length);
    await play(desk, played);
    desk.kill('SIGKILL');
    await desk.ended;
    const wanted = played.at(-1)?.[2] ?? 0;
    const { stdout } = await inProcess('tryouts review --discard -n', { home, env });
    expect(stdout).toContain(`Would discard ${wanted} unsent decision`);
    expect(steps(service).filter((step) => step.startsWith('PATCH'))).toEqual([]);
  },
);

test('kill -9 while decisions are sent: the next review sends the rest, and nothing twice', async () => {
  const random = seeded(Number(process.env['REVIEW_SEED'] ?? 7));
  const kills = Number(process.env['REVIEW_KILLS'] ?? 6);
  for (let round = 0; round < kills; round += 1) {
    const count = 12;
    const stopAt = 1 + Math.floor(random() * count);
    const isLost = random() < 0.5;
    let desk: Desk | undefined;
    let writes = 0;
    const service = await keep(several(count), (request, step) => {
      if (!step.startsWith('PATCH')) return undefined;
      writes += 1;
      if (writes !== stopAt) return undefined;
      desk?.kill('SIGKILL');
      // Half of the time the service has not heard of it either.
      return isLost ? (_, response) => cut(request, response) : undefined;
    });
    const home = temporaryFolder();
    const env = { ...service.env, ...settle };
    desk = sitDown(['tryouts', 'review'], { home, env });
    await desk.sees(/^1 of/);
    for (let number = 1; number <= count; number += 1) {
      desk.type('srae'[number % 4] ?? 's');
      await desk.sees(new RegExp(`${number} decided`));
    }
    desk.type('w');
    await desk.sees(/Change 12 applications\?/);
    desk.type('y\r');
    await desk.ended;
    const next = sitDown(['tryouts', 'review'], { home, env });
    desk = undefined;
    await next.sees(/already took effect|not sent yet/);
    next.type('w');
    await next.sees(/Change \d+ applications?\?|Nothing is decided yet/);
    next.type(next.usual().includes('Change') ? 'y\r' : 'q');
    expect(await next.ended).toMatchObject({ code: 0 });
    const statuses = [...service.kept.values()].map(({ status }) => status);
    expect(statuses.filter((status) => status === 'pending')).toEqual([]);
    const left = await inProcess('tryouts review --discard --yes', { home, env });
    expect(left.stdout).toBe('There is no unsent review.\n');
    // Where every decision took effect, the run that was killed only has to find that out.
    if (next.usual().includes('Nothing was decided'))
      await inProcess('runs resume last --yes', { home, env });
    const runs = await inProcess('runs list --all --json', { home, env });
    const unfinished = expect.objectContaining({ state: 'unfinished' });
    expect(JSON.parse(runs.stdout)).not.toContainEqual(unfinished);
    expect(report(await inProcess('runs show last --json', { home, env })).summary['failed']).toBe(
      0,
    );
  }
});

test('a review that was stopped from outside is drawn anew when it goes on', async () => {
  const service = await keep(several(3));
  const desk = sitDown(['tryouts', 'review'], {
    home: temporaryFolder(),
    env: { ...service.env, ...settle },
  });
  await desk.sees(/^1 of 3/);
  await new Promise((resolve) => setTimeout(resolve, 600));
  const before = desk.written().length;
  desk.kill('SIGSTOP');
  desk.kill('SIGCONT');
  await desk.sees(/^1 of 3/);
  while (!desk.written().slice(before).includes('1 of 3'))
    await new Promise((resolve) => setTimeout(resolve, 20));
  desk.type('s');
  await desk.sees(/1 decided/);
  desk.type('q');
  expect(await desk.ended).toMatchObject({ code: 0 });
});

const right = '\u001b[C';

test.each([
  {
    what: 'changed is sent as it is now',
    keys: [
      [right, /^2 of 4/],
      ['e', /app_2: reviewing\. 2 d/],
      [right, /^4 of 4/],
      ['r', /app_4: rejected\. 3 d/],
      ['w', /Change 3 applications\?/],
    ] as const,
    ends: ['shortlisted', 'reviewing', 'accepted', 'rejected'],
  },
  {
    what: 'taken back is not sent',
    keys: [
      ['u', /app_3: decision undone/],
      ['u', /app_2: decision undone/],
      [right, /^3 of 4/],
      [right, /^4 of 4/],
      ['r', /app_4: rejected\. 1 d/],
      ['w', /Change 1 application\?/],
    ] as const,
    ends: ['shortlisted', 'pending', 'pending', 'rejected'],
  },
])('a decision whose send was killed and that was then $what', async ({ keys, ends }) => {
  let desk: Desk | undefined;
  const service = await keep(several(4), (request, step) => {
    if (!desk || step !== 'PATCH app_2') return undefined;
    desk.kill('SIGKILL');
    return (_, response) => cut(request, response);
  });
  const env = { ...service.env, ...settle, ROSTERCTL_CONCURRENCY: '1' };
  const user = { home: temporaryFolder(), env };
  /** Types keys, waits for what the screen says after each, and sends. */
  const review = async (typed: readonly (readonly [key: string, says: RegExp])[]) => {
    const sat = sitDown(['tryouts', 'review'], user);
    await sat.sees(/^\d of 4/);
    await play(
      sat,
      typed.map(([key, says]) => [key, says, 0]),
    );
    return sat;
  };
  desk = await review([
    ['s', /1 d/],
    ['r', /2 d/],
    ['a', /3 d/],
    ['w', /Change 3 applications\?/],
  ]);
  desk.type('y\r');
  await desk.ended;
  desk = undefined;
  const next = await review(keys);
  next.type('y\r');
  expect(await next.ended).toMatchObject({ code: 0 });
  expect([...service.kept.values()].map(({ status }) => status)).toEqual(ends);
});

test.each([
  { what: 'alone', keys: [[right, /^2 of 3/]] as const, ends: 'pending' },
  { what: 'with a status', keys: [['s', /app_1: shortlisted/]] as const, ends: 'shortlisted' },
])(
  'a note $what that a killed review added is not added again below what others wrote since',
  async ({ keys, ends }) => {
    let desk: Desk | undefined;
    const service = await keep(several(3), (request, step) => {
      if (!desk || step !== 'PATCH app_2') return undefined;
      desk.kill('SIGKILL');
      return (_, response) => cut(request, response);
    });
    const env = { ...service.env, ...settle, ROSTERCTL_CONCURRENCY: '1' };
    const user = { home: temporaryFolder(), env };
    desk = sitDown(['tryouts', 'review'], user);
    await desk.sees(/^1 of 3/);
    const typed = [['n', /^Note:/], ['Strong aim\r', /1 decided/], ...keys] as const;
    await play(
      desk,
      typed.map(([key, says]) => [key, says, 0]),
    );
    await play(desk, [
      ['r', /2 decided/, 2],
      ['w', /Change 2 applications\?/, 2],
    ]);
    desk.type('y\r');
    await desk.ended;
    desk = undefined;
    const noted = service.kept.get('app_1') ?? application('app_1');
    const notes = `${noted.internalNotes}\n2026-11-30: Kim: I agree`;
    service.kept.set('app_1', { ...noted, internalNotes: notes });
    const next = sitDown(['tryouts', 'review'], user);
    await next.sees(
      /1 decision not sent yet: w sends, u undoes\. 1 decision already took effect\./,
    );
    await play(next, [['w', /Change 1 application\?/, 1]]);
    next.type('y\r');
    expect(await next.ended).toMatchObject({ code: 0 });
    expect(service.kept.get('app_1')).toMatchObject({ status: ends, internalNotes: notes });
    expect(service.kept.get('app_2')?.status).toBe('rejected');
  },
);

test('a note that was added earlier on the day is added again by a new decision', async () => {
  const day = localDay(new Date());
  const notes = `${day}: No show\n${day}: Rescheduled`;
  const service = await keep([{ ...application('app_1'), internalNotes: notes }]);
  const desk = sitDown(['tryouts', 'review'], { home: temporaryFolder(), env: service.env });
  await desk.sees(/^1 of 1/);
  await play(desk, [
    ['n', /^Note:/, 0],
    ['No show\r', /1 decided/, 1],
    ['w', /Change 1 application\?/, 1],
  ]);
  desk.type('y\r');
  expect(await desk.ended).toMatchObject({ code: 0 });
  expect(service.kept.get('app_1')?.internalNotes).toBe(`${notes}\n${day}: No show`);
});

test('a limit cuts what a review shows, not what a killed review decided', async () => {
  const { sit, statuses } = await cutShort('killed');
  const next = await sit([['w', /Change 2 applications\?/, 2]], '--limit=1');
  next.type('y\r');
  expect(await next.ended).toMatchObject({ code: 0 });
  expect(statuses()).toEqual(['shortlisted', 'rejected', 'accepted', 'pending']);
});

/** Decides about three of four applications; the second write kills the review, or is refused. */
async function cutShort(how: 'killed' | 'refused') {
  let desk: Desk | undefined;
  const service = await keep(several(4), (request, step) => {
    if (!desk || step !== 'PATCH app_2') return undefined;
    if (how === 'refused') return { status: 422, json: { error: 'notNow' } };
    desk.kill('SIGKILL');
    return (_, response) => cut(request, response);
  });
  const env = { ...service.env, ...settle, ROSTERCTL_CONCURRENCY: '1' };
  const user = { home: temporaryFolder(), env };
  const sit = async (keys: typeof script, ...words: readonly string[]) => {
    const sat = sitDown(['tryouts', 'review', ...words], user);
    await sat.sees(/^\d of \d/);
    await play(sat, keys);
    return sat;
  };
  desk = await sit([
    ['s', /1 d/, 1],
    ['r', /2 d/, 2],
    ['a', /3 d/, 3],
    ['w', /Change 3 applications\?/, 3],
  ]);
  desk.type('y\r');
  await desk.ended;
  desk = undefined;
  return {
    sit,
    run: (line: string) => inProcess(line, user),
    statuses: () => [...service.kept.values()].map(({ status }) => status),
  };
}

describe('runs resume of a review that was killed while it sent', () => {
  test('leaves no decision that counts as not sent', async () => {
    const { run } = await cutShort('killed');
    expect((await run('')).stdout).toContain('review: 3 decisions not sent');
    expect(await run('runs resume last --yes')).toMatchObject({ code: 0 });
    expect((await run('')).stdout).not.toContain('not sent');
    expect((await run('tryouts review --discard -n')).stdout).toBe('There is no unsent review.\n');
  });

  test('keeps a decision that is another one since', async () => {
    const { sit, run } = await cutShort('killed');
    const next = await sit([
      [right, /^2 of 4/, 3],
      [right, /^3 of 4/, 3],
      ['e', /app_3: reviewing\. 2 d/, 2],
    ]);
    next.type('q');
    await next.ended;
    expect(await run('runs resume last --yes')).toMatchObject({ code: 0 });
    expect((await run('')).stdout).toContain('review: 1 decision not sent');
  });
});

describe('a review that was killed while it sent, and then', () => {
  const undone = [
    ['u', /app_3: decision undone/, 2],
    ['u', /app_2: decision undone/, 1],
  ] as const;
  const changed = [
    [right, /^2 of 4/, 3],
    [right, /^3 of 4/, 3],
    ['e', /app_3: reviewing\. 2 d/, 2],
  ] as const;
  test.each([
    [
      'discarded',
      undefined,
      '2 decisions that you have dropped or changed since: rosterctl runs resume would send them',
    ],
    [
      'taken back',
      undone,
      '2 decisions that you have dropped or changed since: rosterctl runs resume would send them',
    ],
    [
      'changed',
      changed,
      '1 decision that you have dropped or changed since: rosterctl runs resume would send it',
    ],
  ] as const)('%s, names the run that still holds decisions', async (_, keys, holds) => {
    const { sit, run, statuses } = await cutShort('killed');
    const next = keys && (await sit(keys));
    next?.type('q');
    await next?.ended;
    const shown = next?.usual() ?? (await run('tryouts review --discard --yes')).stderr;
    const said = shown.replaceAll(/\s+/g, ' ');
    expect(said).toContain(holds);
    const [, command = ''] = /To delete it: rosterctl (runs prune \S+)/.exec(said) ?? [];
    expect(await run(`${command} --yes`)).toMatchObject({ code: 0 });
    await run('runs resume last --yes');
    expect(statuses()).toEqual(['shortlisted', 'pending', 'pending', 'pending']);
    expect((await run('tryouts review --discard --yes')).stderr).toBe('');
  });

  test('kept says nothing of the run, since the next review sends the same', async () => {
    const { sit } = await cutShort('killed');
    const next = await sit([[right, /^2 of 4/, 3]]);
    next.type('q');
    await next.ended;
    expect(next.usual()).toContain('2 decisions kept, not sent.');
    expect(next.usual()).not.toContain('runs resume');
  });
});

test('runs retry of a decision that was refused takes it out of the review', async () => {
  const { run } = await cutShort('refused');
  expect((await run('')).stdout).toContain('review: 1 decision not sent');
  expect(await run('runs retry last --yes')).toMatchObject({ code: 0 });
  expect((await run('')).stdout).not.toContain('not sent');
});

test('an application that cannot be read for the moment keeps the status seen as its guard', async () => {
  let isBusy = true;
  const service: Awaited<ReturnType<typeof keep>> = await keep(several(2), (_, step) => {
    if (step !== 'GET app_1' || !isBusy) return undefined;
    isBusy = false;
    service.kept.set('app_1', application('app_1', { status: 'accepted' }));
    return { status: 503, json: { error: 'busy' } };
  });
  const env = { ...service.env, ...settle, ROSTERCTL_RETRIES: '0' };
  const desk = sitDown(['tryouts', 'review'], { home: temporaryFolder(), env });
  await desk.sees(/^1 of 2/);
  await play(desk, [
    ['r', /1 decided/, 1],
    ['s', /2 decided/, 2],
    ['w', /Change 2 applications\?/, 2],
  ]);
  desk.type('y\r');
  expect(await desk.ended).toMatchObject({ code: 8 });
  expect([...service.kept.values()].map(({ status }) => status)).toEqual([
    'accepted',
    'shortlisted',
  ]);
});
