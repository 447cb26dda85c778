import {
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { lockCursor } from '../../src/cursors/cursor.js';
import { readCursor, writeCursor } from '../../src/cursors/cursor-file.js';
import { type Application, application, keep } from '../commands/tryouts/service.js';
import { converseInside } from '../support/converse-inside.js';
import { inProcess } from '../support/in-process.js';
import { closed, rosterctl, startRosterctl, temporaryFolder } from '../support/run.js';
import { key, type Reply, recordingService } from '../support/service.js';

const at = (minute: number) => `2026-03-01T10:${String(minute).padStart(2, '0')}:00Z`;
const applied = (id: string, minute: number, fields: Record<string, unknown> = {}) =>
  application(id, { submittedAt: at(minute), ...fields });

/** A service with applications that a test changes, and a fresh user who lists them. */
async function aClub(first: readonly Application[] = [applied('a', 1), applied('b', 2)]) {
  let instead: Reply | undefined;
  const { kept, env, requests } = await keep(first, () => instead);
  const home = temporaryFolder();
  const run = (line: string) => inProcess(line, { env, home });
  /** The ids that a list prints, and the exit code if that is not 0. */
  const told = async (flags: string) => {
    const { code, stdout } = await run(`tryouts list -o ids -q ${flags}`);
    return [...stdout.split('\n').filter(Boolean), ...(code === 0 ? [] : [code])];
  };
  const set = (...all: Application[]) => {
    for (const each of all) kept.set(each.id, each);
  };
  return {
    kept,
    env,
    requests,
    home,
    run,
    told,
    set,
    answer: (reply: Reply | undefined) => (instead = reply),
    folder: () => {
      const cursors = join(home, '.local/state/rosterctl/cursors');
      return join(cursors, readdirSync(cursors)[0] ?? '');
    },
  };
}

test('at a terminal the last line counts the new records', async () => {
  const { env, home } = await aClub();
  const line = 'tryouts list --since-last mail --initial all --limit 1'.split(' ');
  const { printed } = await converseInside(home, line, [], { ...env, NO_COLOR: '1' });
  expect(printed).toMatch(/^1 new, of 2 applications\b/m);
});

test('the first use prints nothing and says so even with -q; then each new row comes once', async () => {
  const { run, told, set } = await aClub();
  expect(await run('tryouts list --since-last mail -q')).toMatchObject({
    code: 0,
    stdout: '',
    stderr:
      'First use of the cursor mail: 2 applications recorded, none printed. From now on, it prints what is new.\n',
  });
  expect(await told('--since-last mail')).toEqual([]);
  set(applied('c', 9), applied('d', 5));
  expect(await told('--since-last mail')).toEqual(['d', 'c']);
  expect(await told('--since-last mail')).toEqual([]);
});

test('--initial all prints everything at the first use, and nothing more later', async () => {
  const { run, told } = await aClub();
  expect(await run('tryouts list --since-last mail --initial all -o ids -q')).toMatchObject({
    stdout: 'a\nb\n',
    stderr: 'First use of the cursor mail: 2 applications printed.\n',
  });
  expect(await told('--since-last mail --initial all')).toEqual([]);
});

test('rows with equal times, without one, or with an earlier one than those told before are told too', async () => {
  const { told, set } = await aClub();
  await told('--since-last mail');
  set(applied('late', 0), applied('same', 2), application('none', { submittedAt: null }));
  expect(await told('--since-last mail')).toEqual(['late', 'same', 'none']);
});

test('--limit prints the oldest and leaves the rest for the next time', async () => {
  const { run, told, set } = await aClub();
  await told('--since-last mail');
  set(applied('e', 8), applied('c', 6), applied('d', 7));
  const first = await run('tryouts list --since-last mail --limit 2 -o ids');
  expect(first).toMatchObject({
    stdout: 'c\nd\n',
    stderr: 'The oldest 2 of 3 new applications; the others come next time.\n',
  });
  expect(await told('--since-last mail --limit 2')).toEqual(['e']);
});

test('a record is new once, also if it left the filter and came back', async () => {
  const { told, set } = await aClub();
  const line = '--status pending --since-last mail';
  await told(line);
  set(applied('a', 1, { status: 'reviewing' }), applied('c', 3, { status: 'reviewing' }));
  expect(await told(line)).toEqual([]);
  set(applied('a', 1), applied('c', 3));
  expect(await told(line)).toEqual(['c']);
});

test('--changed also tells what has another value, and what came back', async () => {
  const { told, set } = await aClub();
  const line = '--not-status rejected --since-last bot --changed status';
  await told(line);
  set(applied('a', 1, { status: 'accepted', internalNotes: 'hm' }), applied('c', 3));
  expect(await told(line)).toEqual(['a', 'c']);
  set(applied('a', 1, { status: 'accepted', internalNotes: 'other' }));
  expect(await told(line)).toEqual([]);
  set(applied('a', 1, { status: 'rejected' }));
  expect(await told(line)).toEqual([]);
  set(applied('a', 1, { status: 'accepted' }));
  expect(await told(line)).toEqual(['a']);
});

test('--changed tells a field that went missing from one that is null', async () => {
  const { told, set } = await aClub();
  await told('--since-last bot --changed internalNotes');
  set(applied('a', 1, { internalNotes: undefined }));
  expect(await told('--since-last bot --changed internalNotes')).toEqual(['a']);
  expect(await told('--since-last bot --changed internalNotes')).toEqual([]);
});

test('after cursors reset --at, what has exactly that time or none is told, and nothing older', async () => {
  const { run, told, set } = await aClub();
  expect((await run(`cursors reset tryouts/mail --at ${at(2)}`)).code).toBe(0);
  set(application('none', { submittedAt: null }));
  expect(await told('--since-last mail')).toEqual(['b', 'none']);
});

test('--changed with --limit keeps the old value of what it did not print', async () => {
  const { told, set } = await aClub();
  await told('--since-last bot --changed status');
  set(applied('a', 1, { status: 'accepted' }), applied('b', 2, { status: 'accepted' }));
  expect(await told('--since-last bot --changed status --limit 1')).toEqual(['a']);
  expect(await told('--since-last bot --changed status')).toEqual(['b']);
});

test('--changed takes the label of a field, and an object whose keys come in another order is the same', async () => {
  const { run, told, set } = await aClub([applied('a', 1, { formResponses: { x: 1, y: [2] } })]);
  const line = '--since-last bot --changed formResponses';
  await told(line);
  set(applied('a', 1, { formResponses: { y: [2], x: 1 } }));
  expect(await told(line)).toEqual([]);
  await told('--since-last label --changed Notes');
  set(applied('a', 1, { internalNotes: 'new' }));
  expect(await told('--since-last label --changed Notes')).toEqual(['a']);
  expect((await run('tryouts list --since-last no --changed statos')).code).toBe(2);
});

test('ids that the complete list no longer holds are dropped, so the file grows with the list', async () => {
  const { told, set, kept, folder } = await aClub();
  await told('--since-last mail');
  for (let round = 0; round < 3; round++) {
    kept.clear();
    set(applied(`only-${round}`, 1));
    await told('--since-last mail');
  }
  const text = readFileSync(join(folder(), 'tryouts.mail.json'), 'utf8');
  expect(text).toContain('"seen":["only-2"]');
});

test('the state holds ids and hashes in a private file, and nothing else of the records', async () => {
  const { told, folder } = await aClub();
  await told('--since-last bot --changed email --status pending');
  const file = join(folder(), 'tryouts.bot.json');
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(statSync(folder()).mode & 0o777).toBe(0o700);
  const text = readFileSync(file, 'utf8');
  expect(text).not.toMatch(/example\.com|Applicant|2026-03-01|key-canary/);
  expect(JSON.parse(text)).toMatchObject({
    filter: '--status pending',
    changed: 'email',
    seen: [
      ['a', expect.stringMatching(/^[0-9a-f]{16}$/)],
      ['b', expect.stringMatching(/^[0-9a-f]{16}$/)],
    ],
  });
});

test.each([
  ['ids', 'c\n', ''],
  ['json', /^\[\{"id":"c",.*\}\]\n$/, '[]\n'],
  ['ndjson', /^\{"id":"c",.*\}\n$/, ''],
  ['csv', /^id,.*\r\nc,.*\r\n$/, /^id,[^\n]*\r\n$/],
  ['table', /^id\tstatus.*\nc\t.*\n$/, ''],
])(
  '-o %s prints the new rows, and with -q nothing where nothing is new',
  async (format, some, none) => {
    const { run, told, set } = await aClub();
    await told('--since-last mail');
    set(applied('c', 3));
    const line = `tryouts list --since-last mail -q -o ${format}`;
    expect((await run(line)).stdout).toMatch(some);
    const quiet = await run(line);
    expect(quiet.stdout).toMatch(none === '' ? /^$/ : none);
    expect(quiet.stderr).toBe('');
  },
);

test('--template and --out write the new rows', async () => {
  const { run, told, set, home } = await aClub();
  await told('--since-last mail');
  set(applied('c', 3));
  const out = join(home, 'new.txt');
  await run(`tryouts list --since-last mail -q --template '{name} <{email}>' --out ${out}`);
  expect(readFileSync(out, 'utf8')).toBe('Applicant c <c@example.com>\n');
  await run(`tryouts list --since-last mail -q --template '{name}' --out ${out}`);
  expect(readFileSync(out, 'utf8')).toBe('');
});

test('a field that only older records have is empty, not unknown; a misspelt one stays an error and nothing is lost', async () => {
  const { run, told, set } = await aClub([applied('a', 1, { formResponses: { role: 'IGL' } })]);
  await told('--since-last mail');
  set(applied('c', 3));
  const typo = "tryouts list --since-last mail -q --template '{id} {formResponses.rule}'";
  expect(await run(typo)).toMatchObject({ code: 2, stdout: '' });
  const line = "tryouts list --since-last mail -q --template '{id} {formResponses.role}'";
  expect(await run(line)).toMatchObject({ code: 0, stdout: 'c \n' });
});

test('--exit-code is 12 with new rows and 0 without, and both are committed', async () => {
  const { told, set } = await aClub();
  expect(await told('--since-last mail --exit-code')).toEqual([]);
  set(applied('c', 3));
  expect(await told('--since-last mail --exit-code')).toEqual(['c', 12]);
  expect(await told('--since-last mail --exit-code')).toEqual([]);
});

test('a clock that goes back changes nothing', async () => {
  const { told, set, folder, run } = await aClub();
  await told('--since-last mail');
  const cursor = { name: 'mail', resource: 'tryouts' };
  const state = readCursor(folder(), cursor, process.getuid?.());
  if (!state) throw new Error('no state');
  await writeCursor(folder(), { ...state, lastAt: '2099-01-01T00:00:00.000Z' }, undefined);
  set(applied('c', 3));
  expect(await told('--since-last mail')).toEqual(['c']);
  const [listed] = JSON.parse((await run('cursors list --json')).stdout) as { lastAt: string }[];
  expect(Date.parse(listed?.lastAt ?? '')).toBeLessThanOrEqual(Date.now());
});

test('a dry run prints what is new and records nothing', async () => {
  const { told, set } = await aClub();
  await told('--since-last mail');
  set(applied('c', 3));
  expect(await told('--since-last mail -n')).toEqual(['c']);
  expect(await told('--since-last mail')).toEqual(['c']);
});

test('a dry run says what the first use would record', async () => {
  const { run } = await aClub();
  const ran = await run('tryouts list --since-last mail -n -q');
  expect(ran.stderr).toMatch(
    /^First use of the cursor mail: \d+ applications would be recorded, none printed\.$/m,
  );
});

const later = async (club: Awaited<ReturnType<typeof aClub>>) => {
  club.answer(undefined);
  return club.told('--since-last mail');
};

describe('nothing is recorded', () => {
  test.each<[string, Reply, number]>([
    ['the list cannot be read', { status: 500, json: { error: 'internal' } }, 9],
    ['the key is refused', { status: 401, json: { error: 'unauthorized' } }, 4],
    ['the list is forbidden', { status: 403, json: { error: 'forbidden' } }, 7],
    ['the answer is no JSON', { status: 200, text: '<html>' }, 1],
    ['the list may be incomplete', { status: 200, json: { applications: [], total: 7 } }, 11],
    ['there is no list', { status: 200, json: { hello: 1 } }, 1],
    ['there is no answer to be read as a list', { status: 204 }, 11],
    ['a record has no id', { status: 200, json: { applications: [{ name: 'x' }], total: 1 } }, 2],
  ])('if %s', async (_, reply, code) => {
    const club = await aClub();
    await club.told('--since-last mail');
    club.set(applied('c', 3));
    club.answer(reply);
    expect(await club.told('--since-last mail --retries 0')).toEqual([code]);
    expect(await later(club)).toEqual(['c']);
  });

  test('if the file of --out cannot be written', async () => {
    const club = await aClub();
    await club.told('--since-last mail');
    club.set(applied('c', 3));
    expect(await club.told(`--since-last mail --out ${club.home}/no/such/folder`)).toEqual([1]);
    expect(await later(club)).toEqual(['c']);
  });

  test('if the reader goes away: exit 1 and the reason', async () => {
    const club = await aClub();
    await club.told('--since-last mail');
    club.set(applied('c', 3));
    const child = startRosterctl('tryouts list --since-last mail', club);
    child.stdin.end();
    child.stdout.destroy();
    let stderr = '';
    child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
    const code = await closed(child);
    expect([code, stderr]).toEqual([
      1,
      'The new rows could not be written: the pipe was closed.\nNothing was recorded: the next run prints them again.\n',
    ]);
    expect(await later(club)).toEqual(['c']);
  });

  test('if a signal or --max-time ends it while the list is read', async () => {
    const club = await aClub();
    await club.told('--since-last mail');
    club.set(applied('c', 3));
    const child = { current: undefined as ReturnType<typeof startRosterctl> | undefined };
    club.answer(() => child.current?.kill('SIGTERM'));
    child.current = startRosterctl('tryouts list --since-last mail -o ids', club);
    child.current.stdin.end();
    let stdout = '';
    child.current.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
    const code = await new Promise((resolve) => child.current?.on('close', resolve));
    expect([code, stdout]).toEqual([143, '']);
    club.answer(() => {});
    const late = await rosterctl('tryouts list --since-last mail -o ids --max-time 1s', club);
    expect([late.code, late.stdout]).toEqual([143, '']);
    expect(await later(club)).toEqual(['c']);
  });

  test('if stdout is full, or the state is', async () => {
    const many = Array.from({ length: 300 }, (_, index) => applied(`app_${index}`, 1));
    const club = await aClub(many);
    await club.told('--since-last mail');
    club.set(applied('c', 3));
    const full: readonly (readonly [string, RegExp])[] = [
      ['exec "$@" > /dev/full', /cannot be written/],
      ['trap "" XFSZ; ulimit -f 1; exec "$@"', /could not be saved/],
      ['trap "" XFSZ; ulimit -f 0; exec "$@"', /\/cursors\/.*tryouts\.mail\.lock\..*\(EFBIG\)/],
    ];
    for (const [through, stderr] of full) {
      const ran = await rosterctl('tryouts list --since-last mail -o ids', { ...club, through });
      expect(ran.code).toBe(1);
      expect(ran.stderr).toMatch(stderr);
    }
    expect(await later(club)).toEqual(['c']);
  });

  test('if its folder can no longer be read when they were printed', async () => {
    const club = await aClub();
    await club.told('--since-last mail');
    club.set(applied('c', 3));
    const locks = join(club.folder(), 'locks');
    club.answer((_, response) => {
      club.answer(undefined);
      // Stands for a disk that fails.
      rmSync(locks, { recursive: true });
      writeFileSync(locks, '');
      const applications = [...club.kept.values()];
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ applications, total: applications.length }));
    });
    const ran = await club.run('tryouts list --since-last mail -o ids');
    expect(ran).toMatchObject({ code: 1, stdout: 'c\n' });
    expect(ran.stderr).toMatch(
      /The cursor mail could not be saved\. .*locks\/tryouts\.mail\.lock\.1 cannot be read or written: .*\(ENOTDIR\)/,
    );
    rmSync(locks);
    expect(await later(club)).toEqual(['c']);
  });

  test('by the second of two at once, which exits 11 and sends nothing', async () => {
    const club = await aClub();
    await club.told('--since-last mail');
    club.set(applied('c', 3));
    let second: Awaited<ReturnType<typeof club.run>> | undefined;
    club.answer((_, response) => {
      club.answer(undefined);
      void club.run('tryouts list --since-last mail -o ids').then((ran) => {
        second = ran;
        const applications = [...club.kept.values()];
        response.setHeader('content-type', 'application/json');
        response.end(JSON.stringify({ applications, total: applications.length }));
      });
    });
    const before = club.requests.length;
    expect(await club.told('--since-last mail')).toEqual(['c']);
    expect(second).toMatchObject({ code: 11, stdout: '' });
    expect(second?.stderr).toContain('Another command is using the cursor mail');
    expect(club.requests.length - before).toBe(1);
  });
});

describe('a state that cannot be trusted is refused and named', () => {
  test.each([
    ['cut', (file: string) => truncateSync(file, statSync(file).size - 9)],
    ['empty', (file: string) => truncateSync(file)],
    [
      'edited',
      (file: string) =>
        writeFileSync(file, readFileSync(file, 'utf8').replace('"a"', '"z"'), { mode: 0o600 }),
    ],
  ])('%s', async (_, spoil) => {
    const { run, told, set, folder, requests } = await aClub();
    await told('--since-last mail');
    set(applied('c', 3));
    spoil(join(folder(), 'tryouts.mail.json'));
    const before = requests.length;
    const refused = await run('tryouts list --since-last mail');
    expect(refused).toMatchObject({ code: 11, stdout: '' });
    expect(refused.stderr).toContain('rosterctl cursors reset tryouts/mail');
    expect(requests.length).toBe(before);
    const listed = await run('cursors list --json');
    expect([listed.code, listed.stdout]).toEqual([0, '[]\n']);
    expect((await run('cursors reset tryouts/mail')).code).toBe(0);
    expect((await run('tryouts list --since-last mail')).stderr).toContain('First use');
  });

  test('another filter than that of the first use names both', async () => {
    const { run, told } = await aClub();
    await told("--since-last mail --status reviewing,pending --where 'name~A'");
    const same = "--where 'name~A' --status pending --status reviewing --since-last mail";
    expect(await told(same)).toEqual([]);
    const other = await run('tryouts list --since-last mail --changed status');
    expect(other.code).toBe(2);
    expect(other.stderr).toContain(
      "was first used with --status pending --status reviewing --where 'name~A', but this command has --changed status.",
    );
    expect(await told(`${same} --changed status`)).toEqual([2]);
  });
});

test('a filter that holds the API key is refused, since the filter is kept on disk', async () => {
  const { env } = await keep([]);
  const home = temporaryFolder();
  const ran = await inProcess(`tryouts list --since-last mail --search ${key}`, { env, home });
  expect([ran.code, existsSync(join(home, '.local'))]).toEqual([2, false]);
});

test('other lists, organizations and services have cursors of their own', async () => {
  const service = await recordingService(({ url }) => ({
    status: 200,
    json: { items: [{ id: `of ${url}`, name: 'N' }], total: 1 },
  }));
  const home = temporaryFolder();
  const run = (line: string, env = service.env) => inProcess(line, { env, home });
  const first = '--since-last mail --initial all -o ids -q';
  for (const noun of ['tryouts', 'teams', 'players', 'docs']) {
    expect((await run(`${noun} list ${first}`)).stdout).toMatch(/^of .*\n$/);
    expect((await run(`${noun} list ${first}`)).stdout).toBe('');
  }
  const other = { ...service.env, ROSTERCTL_ORG: 'org_8' };
  expect((await run(`teams list ${first}`, other)).stdout).toMatch(/^of /);
  const listed = await run('cursors list -o ids', service.env);
  expect(listed.code).toBe(0);
  const json = JSON.parse((await run('cursors list --json')).stdout) as { resource: string }[];
  expect(json.map(({ resource }) => resource)).toEqual([
    'documents',
    'players',
    'teams',
    'tryouts',
  ]);
});

test.each([
  ['--peek', '--peek needs --since-last NAME.'],
  ['--changed status', '--changed needs --since-last NAME.'],
  ['--initial all', '--initial needs --since-last NAME.'],
  ['--exit-code', '--exit-code needs --since-last NAME.'],
  ['--since-last mail --sort name', '--since-last and --sort'],
  ['--since-last ../x', 'cannot be the name of a cursor'],
])('%s is refused before a request', async (flags, reason) => {
  const { env, requests } = await keep([]);
  const ran = await rosterctl(`tryouts list ${flags}`, { env });
  expect(ran.code).toBe(2);
  expect(ran.stderr).toContain(reason);
  expect(requests).toEqual([]);
});

test.each(['tryouts list --since-last mail', 'cursors commit mail'])(
  '%s says what to do if the lock cannot be written, before a request',
  async (line) => {
    const { run, told, folder, requests } = await aClub();
    await told('--since-last mail');
    const locks = join(folder(), 'locks');
    rmSync(locks, { recursive: true });
    writeFileSync(locks, '');
    requests.length = 0;
    expect(await run(line)).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(
        /^The cursor mail cannot be locked\. .* \(ENOTDIR\)\.\nMake room, or set ROSTERCTL_STATE_DIR to a folder that you can write to\.\n$/,
      ),
    });
    expect(requests).toEqual([]);
  },
);

// Where a file system ignores case, linking the second lock failed again and again, without an end.
test('two cursors whose names differ in case share one lock', async () => {
  const folder = temporaryFolder();
  const world = {
    self: { pid: process.pid, isAlive: () => true },
    signal: new AbortController().signal,
  };
  const held = await lockCursor(folder, { resource: 'tryouts', name: 'Weekly' }, world);
  expect(readdirSync(join(folder, 'locks'))).toEqual(['tryouts.weekly.lock.1']);
  await expect(
    lockCursor(folder, { resource: 'tryouts', name: 'weekly' }, world),
  ).rejects.toMatchObject({ code: 'locked' });
  held.release();
});
