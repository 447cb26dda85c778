import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { report, several, until } from '../bulk/user.js';
import { application, keep, steps } from '../commands/tryouts/service.js';
import { readBack } from '../screens/emulator.js';
import { converse, inShell } from '../support/converse.js';
import { type Desk, sitDown } from '../support/full-screen.js';
import { inProcess } from '../support/in-process.js';
import { launcher, startRosterctl, temporaryFolder } from '../support/run.js';
import { fakeOpener } from './opener.js';

const esc = '\u001b';

/** A person in front of a review of these applications. */
async function reviewer(
  applications = several(6),
  instead?: Parameters<typeof keep>[1],
  words: readonly string[] = [],
) {
  const service = await keep(applications, instead);
  const home = temporaryFolder();
  const env = { ...service.env, NO_COLOR: '1' };
  const open = (...more: readonly string[]) =>
    sitDown(['tryouts', 'review', ...words, ...more], { home, env });
  const desk = open();
  await desk.sees(/^1 of/);
  return {
    service,
    home,
    env,
    desk,
    open,
    writes: () => steps(service).filter((step) => step.startsWith('PATCH')),
    statusOf: (id: string) => service.kept.get(id)?.status,
  };
}

/** Types a key and waits for what the head then says. */
async function press(desk: Desk, key: string, says: RegExp): Promise<void> {
  desk.type(key);
  await desk.sees(says);
}

/** Keys that arrive sooner belong to the paste before them. */
const pause = () => new Promise((resolve) => setTimeout(resolve, 100));

async function decideTwo(desk: Desk): Promise<void> {
  await press(desk, 's', /1 decided/);
  await press(desk, 'r', /2 decided/);
}

test('sixty applications are decided in one command line and 63 keys, and the report says the same', async () => {
  const home = temporaryFolder();
  const words = ['-p', 'sandbox', 'tryouts', 'review', '--not-status', 'withdrawn'];
  const desk = sitDown(words, { home, columns: 100, rows: 30 });
  await desk.sees(/^1 of 60/);
  const keys = Object.entries({ s: 'shortlisted', r: 'rejected', e: 'reviewing', a: 'accepted' });
  const decided = new Map<string, string>();
  for (let number = 1; number <= 60; number += 1) {
    const [key = '', status = ''] = keys[number % keys.length] ?? [];
    if (number === 20) desk.resize(40, 15);
    if (number === 20) await desk.sees(/^20 of 60 /);
    if (number === 40) desk.resize(120, 40);
    const id = await idOnScreen(desk);
    await press(desk, key, new RegExp(`${number} +decided`));
    decided.set(id, status);
  }
  expect(decided.size).toBe(60);
  await press(desk, 'w', /Change \d+ applications\? \(y\/N\/l\)/);
  expect(desk.isGivenBack()).toBe(true);
  desk.type('y\r');
  // 0.1.0 took a get and a set-status for each.
  expect(desk.typed()).toBe(60 + 'wy\r'.length);
  // The sandbox refuses to reopen those who have applied again since.
  expect(await desk.ended).toMatchObject({ code: 8 });
  expect(desk.usual()).toMatch(
    /\d+ changed, \d+ unchanged, \d in conflict, of 60\. Run [0-9a-f]{6}\./,
  );
  const { results } = report(await inProcess('-p sandbox runs show last --json', { home }));
  expect(results.map(({ id }) => id).toSorted()).toEqual([...decided.keys()].toSorted());
  const list = await inProcess('-p sandbox tryouts list --json', { home });
  const applications = JSON.parse(list.stdout) as { id: string; status: string }[];
  const now = new Map(applications.map(({ id, status }) => [id, status]));
  for (const { id, result } of results)
    expect([id, result !== 'conflict']).toEqual([id, now.get(id) === decided.get(id)]);
  const refused = results.filter(({ result }) => result === 'conflict').length;
  const left = await inProcess('-p sandbox tryouts review --discard --yes', { home });
  expect(left.stdout).toBe(`Discarded ${refused} unsent decisions.\n`);
});

test('a card shows what this machine changed before', async () => {
  const service = await keep(several(2));
  const [home, env] = [temporaryFolder(), { ...service.env, NO_COLOR: '1' }];
  await inProcess('tryouts set-status app_1 app_2 --to reviewing --yes', { home, env });
  await inProcess('tryouts update app_2 --status shortlisted', { home, env });
  const words = ['tryouts', 'review', '--status', 'reviewing,shortlisted'];
  const desk = sitDown(words, { home, env, columns: 80, rows: 24 });
  await desk.sees(/^Here .* pending → reviewing +\(run [0-9a-f]{6}\)$/);
  expect(desk.screen().join('\n')).toContain('app_1');
  await press(desk, '\r', /^2 of 2/);
  await desk.sees(/^Here .* reviewing → shortlisted +\(run [0-9a-f]{6}\)$/);
  await desk.sees(/^ .* pending → reviewing +\(run [0-9a-f]{6}\)$/);
  desk.type('q');
  expect(await desk.ended).toMatchObject({ code: 0 });
});

/** The id that the card on the screen names. */
async function idOnScreen(desk: Desk): Promise<string> {
  await desk.sees(/\bapp_\d+\b/);
  return /\bapp_\d+\b/.exec(desk.screen().join('\n'))?.[0] ?? '';
}

async function typeNote(desk: Desk): Promise<void> {
  await press(desk, 'n', /^Note:/);
  await press(desk, 'half a note', /^Note: half a note/);
}

describe('kill -9 loses no decision and sends nothing:', () => {
  test.each<readonly [string, (desk: Desk) => Promise<void>, string]>([
    ['after a decision', (desk) => press(desk, 'a', /3 decided/), '3 decisions'],
    ['in a note', typeNote, '2 decisions'],
    ['after an undo', (desk) => press(desk, 'u', /decision undone/), '1 decision'],
    [
      'before the answer to the preview',
      (desk) => press(desk, 'w', /Change 2 applications/),
      '2 decisions',
    ],
  ])('%s', async (_, act, kept) => {
    const { desk, open, writes } = await reviewer();
    await decideTwo(desk);
    await act(desk);
    desk.kill('SIGKILL');
    await desk.ended;
    const next = open('--resume');
    await next.sees(new RegExp(`^── ${kept} not sent yet`));
    next.type('q');
    expect(await next.ended).toMatchObject({ code: 0 });
    expect(writes()).toEqual([]);
  });
});

describe('the terminal is given back and the decisions are kept', () => {
  test.each<readonly [string, (desk: Desk) => void, number]>([
    ['q', (desk) => desk.type('q'), 0],
    ['Ctrl-C', (desk) => desk.type('\u0003'), 130],
    ['SIGTERM', (desk) => desk.kill('SIGTERM'), 143],
    ['SIGHUP', (desk) => desk.kill('SIGHUP'), 129],
    ['SIGTERM right after w', stopAfterSend, 143],
  ])('after %s', async (_, leave, code) => {
    const { desk, writes, home, env } = await reviewer();
    await decideTwo(desk);
    leave(desk);
    expect(await desk.ended).toMatchObject({ code });
    expect(desk.isGivenBack()).toBe(true);
    expect(desk.usual()).toContain('2 decisions kept, not sent.');
    expect(desk.usual()).toContain('rosterctl tryouts review --resume');
    expect(writes()).toEqual([]);
    const asked = await inProcess('tryouts review --discard', { home, env });
    expect([asked.code, asked.stderr]).toEqual([
      2,
      'Discard 2 unsent decisions? This needs a confirmation, and this is not a terminal.\nRun it in a terminal, or add --yes.\n',
    ]);
    const dropped = await inProcess('tryouts review --discard --yes', { home, env });
    expect(dropped.stdout).toBe('Discarded 2 unsent decisions.\n');
  });
});

test('Ctrl-C before the first card is shown leaves the review', async () => {
  const service = await keep(several(3));
  const desk = sitDown(['tryouts', 'review'], { home: temporaryFolder(), env: service.env });
  await until(() => desk.written().includes('?1049h'));
  desk.type('\u0003');
  expect(await desk.ended).toMatchObject({ code: 130 });
  expect(desk.isGivenBack()).toBe(true);
  expect(desk.usual()).toContain('Nothing was decided.');
});

/** Both arrive at once, the key first. */
function stopAfterSend(desk: Desk): void {
  desk.kill('SIGSTOP');
  desk.type('w');
  desk.kill('SIGTERM');
  desk.kill('SIGCONT');
}

describe('what arrives otherwise than a key decides nothing:', () => {
  test('pasted text, the rest of a read, arrows in pieces, an answer typed ahead', async () => {
    const { desk, writes } = await reviewer();
    await press(desk, `${esc}[200~rrrr\rw\ry${esc}[201~`, /Pasted text is ignored/);
    await pause();
    await press(desk, 'sraw', /1 decided, u undoes\. More keys arrived at once/);
    await pause();
    for (const piece of [esc, '[', 'C']) desk.type(piece);
    await desk.sees(/^3 of 6/);
    desk.type(`${esc}O`);
    await new Promise((resolve) => setTimeout(resolve, 300));
    desk.type('D');
    await desk.sees(/^2 of 6/);
    await press(desk, 'r', /2 decided/);
    expect(desk.screen()[0]).toMatch(/^3 of 6 .* 1 shortlisted {2}1 rejected$/);
    await press(desk, 'wy\r', /Other keys arrived with w/);
    await pause();
    desk.type('q');
    await desk.ended;
    expect(writes()).toEqual([]);
  });
});

test('a key that was pressed while the disk was busy decides nothing about a card that was not shown', async ({
  skip,
}) => {
  const trace = spawnSync('strace', ['-o', '/dev/null', 'true']).status === 0;
  skip(!trace, 'strace is not installed or may not trace');
  const service = await keep(several(6));
  const slow = ['-e', 'trace=fdatasync', '-e', 'inject=fdatasync:delay_exit=4000000'];
  const program = ['strace', '-f', '-o', '/dev/null', ...slow, process.execPath, launcher];
  const env = { ...service.env, NO_COLOR: '1' };
  const desk = sitDown(['tryouts', 'review'], { home: temporaryFolder(), env, program });
  await desk.sees(/^1 of 6/);
  desk.type('s');
  await new Promise((resolve) => setTimeout(resolve, 800));
  for (const key of 'ra') {
    desk.type(key);
    await pause();
  }
  await desk.sees(/^2 of 6/);
  await pause();
  await press(desk, 'e', /app_2: reviewing\. 2 decided/);
  desk.type('q');
  expect(await desk.ended).toMatchObject({ code: 0 });
});

test('a text pasted into a note is kept with it', async () => {
  const { desk } = await reviewer();
  await press(desk, 'n', /^Note:/);
  desk.type(`${esc}[200~see https://example.com/v/1\rw${esc}[201~`);
  await desk.sees(/^Note: see https:\/\/example\.com\/v\/1 w/);
  await press(desk, '\r', /note kept\. 1 decided/);
  expect(desk.screen().join('\n')).toContain('To add  see https://example.com/v/1 w');
  desk.type('q');
  await desk.ended;
});

test('Ctrl-L draws the screen anew', async () => {
  const { desk } = await reviewer();
  const before = desk.written().length;
  desk.type('\u000c');
  await until(() => desk.written().slice(before).includes('1 of 6'));
  desk.type('q');
  expect(await desk.ended).toMatchObject({ code: 0 });
});

test('Ctrl-Z gives the terminal to the shell, and fg brings the review back', async () => {
  const service = await keep(several(3));
  const { shown, code } = await inShell(
    temporaryFolder(),
    [
      [/shell> /, 'rosterctl tryouts review\r'],
      [/1 of 3/, 's'],
      [/1 decided/, '\u001a'],
      [/Stopped[^]*shell> /, 'echo at the $((1+1))nd prompt\r'],
      [/at the 2nd prompt[^]*shell> /, 'fg\r'],
      [/2 of 3/, 'r'],
      [/2 decided/, 'q'],
      [/2 decisions kept[^]*shell> /, 'exit\r'],
    ],
    { ...service.env, NO_COLOR: '1' },
  );
  expect(code).toBe(0);
  const alternate = [...shown.matchAll(/\?1049([hl])/g)].map(([, on]) => on).join('');
  expect(alternate).toBe('hlhl');
});

test('a terminal without an alternate screen shows nothing of the review after its end', async () => {
  const { desk } = await reviewer();
  desk.type('q');
  await desk.ended;
  const written = desk.written().replaceAll('?1049', '?12');
  expect((await readBack(written, 100)).lines).toEqual(['Nothing was decided.']);
});

describe('sending', () => {
  test('what another admin changed meanwhile is a conflict and stays; the rest leaves the queue', async () => {
    const { desk, open, service, statusOf } = await reviewer();
    await decideTwo(desk);
    await press(desk, 'n', /^Note:/);
    await press(desk, 'Strong aim\r', /3 decided/);
    service.kept.set('app_2', application('app_2', { status: 'accepted' }));
    service.kept.set('app_3', application('app_3', { internalNotes: 'theirs' }));
    await press(desk, 'w', /Change 2 applications\?/);
    expect(desk.usual()).toContain('1 row will not be changed:');
    desk.type('y\r');
    expect(await desk.ended).toMatchObject({ code: 8 });
    expect(desk.usual()).toMatch(/2 changed, 1 in conflict, of 3/);
    // The queue has it; a retry would send it a second time.
    expect(desk.usual()).not.toContain('runs retry');
    expect(desk.usual()).toContain('Your decision is kept: rosterctl tryouts review --resume');
    expect([statusOf('app_1'), statusOf('app_2')]).toEqual(['shortlisted', 'accepted']);
    expect(service.kept.get('app_3')?.internalNotes).toMatch(
      /^theirs\n\d{4}-\d\d-\d\d: Strong aim$/,
    );
    const next = open('--resume');
    await next.sees(/^1 of 1/);
    await next.sees(/You decided when it was pending/);
    await press(next, 'r', /1 decided/);
    await press(next, 'w', /Change 1 application\?/);
    next.type('y\r');
    expect(await next.ended).toMatchObject({ code: 0 });
    expect(statusOf('app_2')).toBe('rejected');
  });

  test('runs undo takes a review back', async () => {
    const { desk, home, env, statusOf } = await reviewer();
    await decideTwo(desk);
    await press(desk, 'w', /Change 2 applications\?/);
    desk.type('y\r');
    expect(await desk.ended).toMatchObject({ code: 0 });
    expect([statusOf('app_1'), statusOf('app_2')]).toEqual(['shortlisted', 'rejected']);
    expect((await inProcess('runs undo last --yes', { home, env })).code).toBe(0);
    expect([statusOf('app_1'), statusOf('app_2')]).toEqual(['pending', 'pending']);
  });

  test('a queue that is gone after the sending does not lose the report', async () => {
    let reviews: string | undefined;
    const { desk, home, statusOf } = await reviewer(several(6), (_, step) => {
      if (reviews !== undefined && step === 'PATCH app_2') rmSync(reviews, { recursive: true });
      return undefined;
    });
    await decideTwo(desk);
    reviews = join(home, '.local/state/rosterctl/reviews');
    await press(desk, 'w', /Change 2 applications\?/);
    desk.type('y\r');
    expect(await desk.ended).toMatchObject({ code: 1 });
    expect([statusOf('app_1'), statusOf('app_2')]).toEqual(['shortlisted', 'rejected']);
    expect(desk.usual()).toContain('2 changed');
    expect(desk.usual()).toMatch(/The unsent review\s+\S+\s+was removed/);
    expect(desk.usual()).not.toContain('are kept');
  });

  test('"no" sends nothing and keeps the queue', async () => {
    const { desk, writes } = await reviewer();
    await decideTwo(desk);
    await press(desk, 'w', /Change 2 applications\?/);
    desk.type('n\r');
    expect(await desk.ended).toMatchObject({ code: 130 });
    expect(desk.usual()).toContain('Your 2 decisions are kept');
    expect(desk.usual()).toContain('Nothing was sent.');
    expect(writes()).toEqual([]);
  });

  test('403 at the end keeps the queue', async () => {
    const { desk, open } = await reviewer(several(6), (_, step) =>
      step.startsWith('PATCH') ? { status: 403, json: { error: 'forbidden' } } : undefined,
    );
    await decideTwo(desk);
    await press(desk, 'w', /Change 2 applications\?/);
    desk.type('y\r');
    expect(await desk.ended).toMatchObject({ code: 7 });
    const next = open();
    await next.sees(/2 decisions not sent yet/);
    next.type('q');
    await next.ended;
  });

  test('while a bulk change runs is refused, without a flag that a review does not have', async () => {
    let isHeld = false;
    const { desk, home, env } = await reviewer(several(6), (_, step) => {
      if (step !== 'PATCH app_6') return undefined;
      isHeld = true;
      return () => {};
    });
    await decideTwo(desk);
    const line = 'tryouts set-status app_5 app_6 --to rejected --yes';
    const bulk = startRosterctl(line, { home, env });
    await until(() => isHeld);
    desk.type('w');
    expect(await desk.ended).toMatchObject({ code: 11 });
    expect(desk.usual()).toContain('Another bulk change on tryouts is running');
    expect(desk.usual()).toContain('Wait for it, or end it.');
    expect(desk.usual()).not.toContain('--wait-lock');
    bulk.kill('SIGKILL');
  });

  test('decisions about applications that are gone are told and dropped', async () => {
    const { desk, open, service } = await reviewer();
    await decideTwo(desk);
    desk.type('q');
    await desk.ended;
    service.kept.delete('app_2');
    const next = open();
    await next.sees(/1 decision not sent yet: w sends, u undoes\. 1 decision is discarded: gone\./);
    next.type('q');
    await next.ended;
    expect(next.usual()).toContain(
      'Applicant app_2 (app_2) is gone: your decision (rejected) is discarded.',
    );
  });

  test('a decision about an application that an incomplete list lacks is kept, and sent', async () => {
    let isCut = false;
    const { desk, open, statusOf } = await reviewer(several(3), (_, step) =>
      isCut && step === 'LIST'
        ? { status: 200, json: { applications: several(1), total: 3 } }
        : undefined,
    );
    await decideTwo(desk);
    desk.type('q');
    await desk.ended;
    isCut = true;
    const next = open('--resume');
    await next.sees(/2 decisions not sent yet: w sends, u undoes\. ─/);
    expect(next.usual()).toContain('The list of applications may be incomplete');
    expect(next.screen()[0]).toMatch(/^1 of 1 .* 1 shortlisted {2}1 rejected$/);
    await press(next, 'w', /Change 2 applications\?/);
    next.type('y\r');
    expect(await next.ended).toMatchObject({ code: 0 });
    expect([statusOf('app_1'), statusOf('app_2')]).toEqual(['shortlisted', 'rejected']);
  });

  test('a decision that took effect already, as by runs resume, leaves the queue', async () => {
    const { desk, open, service } = await reviewer();
    await decideTwo(desk);
    await press(desk, '\u001b[D', /^2 of/);
    await press(desk, 'n', /^Note:/);
    await press(desk, 'late\r', /note kept/);
    desk.type('q');
    await desk.ended;
    service.kept.set('app_1', application('app_1', { status: 'shortlisted' }));
    // Its note is not there yet.
    service.kept.set('app_2', application('app_2', { status: 'rejected' }));
    const next = open();
    await next.sees(
      /1 decision not sent yet: w sends, u undoes\. 1 decision already took effect\./,
    );
    next.type('q');
    await next.ended;
    expect(next.usual()).toContain('1 decision kept, not sent.');
  });

  test('the heading counts what was decided under another filter apart', async () => {
    const { desk, open } = await reviewer();
    await decideTwo(desk);
    desk.type('q');
    await desk.ended;
    const next = open('--search=app_3');
    await next.sees(/ and 2 decided earlier, oldest first/);
    next.type('q');
    await next.ended;
  });

  test('a dry run shows what would be sent and keeps the queue', async () => {
    const { desk, writes } = await reviewer(several(3), undefined, ['--dry-run']);
    await decideTwo(desk);
    desk.type('w');
    expect(await desk.ended).toMatchObject({ code: 0 });
    expect(desk.usual()).toMatch(/2 would change/);
    expect(desk.usual()).toContain('Your 2 decisions are kept');
    expect(writes()).toEqual([]);
  });
});

test.each<readonly [string, Record<string, string>]>([
  ['a terminal that cannot move the cursor', { TERM: 'dumb' }],
  ['plain prompts', { ROSTERCTL_PROMPTS: 'plain' }],
])('%s: refused with the line to use instead', async (_, env) => {
  const words = ['-p', 'sandbox', 'tryouts', 'review'];
  const { shown, code } = await converse(temporaryFolder(), words, [], env);
  expect(code).toBe(2);
  expect(shown.replace(/\s+/g, ' ')).toContain('review needs the full screen');
  expect(shown).toContain('rosterctl -p sandbox tryouts set-status ID --to STATUS');
});

test('a second review exits 11 and names the first', async () => {
  const { desk, home, env } = await reviewer();
  const { shown, code } = await converse(home, ['tryouts', 'review'], [], env);
  expect(code).toBe(11);
  expect(shown).toContain(
    `Another review of this organization is open (process ${desk.pid} on host`,
  );
  desk.type('q');
  await desk.ended;
});

test('a link is opened by its own program, as one argument, after a question', async () => {
  const home = temporaryFolder();
  const opener = fakeOpener(home);
  const url = 'https://example.com/vod?a=1&b=$(id);c=%22';
  const service = await keep([
    application('app_1', {
      formResponses: { VOD: `see ${url} and https://user:pw@evil.example/` },
    }),
  ]);
  const env = { ...service.env, ...opener.env, NO_COLOR: '1' };
  const desk = sitDown(['tryouts', 'review'], { home, env });
  await desk.sees(/^1 of 1/);
  await press(desk, 'o', /Open it\? \[y\/N\]$/);
  expect(desk.screen()).toContain('example.com');
  await press(desk, 'y', /Opened\./);
  expect(opener.arguments()).toEqual([new URL(url).href]);
  expect(opener.environment()).not.toContain(service.env['ROSTERCTL_API_KEY']);
  desk.type('q');
  await desk.ended;
});

test('without an opener the whole address is shown', async () => {
  const url = `https://example.com/${'long/'.repeat(40)}end`;
  const { desk } = await reviewer([application('app_1', { formResponses: { VOD: url } })]);
  await press(desk, 'o', /Open it\?/);
  await press(desk, 'y', /No browser can be opened from here/);
  expect(desk.screen().join('')).toContain(url);
  desk.type('q');
  await desk.sees(/w send/);
  desk.type('q');
  await desk.ended;
});
