import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { application, type Instead, keep, steps, written } from '../commands/tryouts/service.js';
import { errorOf } from '../support/run.js';
import { ids, report, runFolders, several, until, userInside, userOf } from './user.js';

const line = (count: number, more: string) =>
  `tryouts set-status ${ids(count).join(' ')} --to rejected ${more}`;

/** Runs a command over two rows. */
async function shown(how: string): Promise<string> {
  const user = userInside(await keep(several(2)));
  return (await user.run(line(2, `--yes --fields id,result,error ${how}`))).stdout;
}

/** A run of 6 rows with 2 remaining, because the key was refused; `later`: what replaces responses from then on. */
async function unfinished(later: Instead = () => undefined) {
  let refused = true;
  const service = await keep(several(6), (request, step) => {
    if (!refused) return later(request, step);
    return step === 'PATCH app_5' ? { status: 401 } : undefined;
  });
  const user = userOf(service);
  await user.run(line(6, '--yes --json --concurrency 1'));
  expect(written(service)).toHaveLength(5);
  refused = false;
  return { service, user };
}

describe('--expect', () => {
  test('counts the selection when the same command is run again', async () => {
    const { service, user } = await unfinished();
    const wrong = await user.run(line(6, '--yes --expect 5'));
    expect(wrong).toMatchObject({ code: 11 });
    expect(wrong.stderr).toContain('6 rows are selected, but --expect says 5');
    expect(written(service)).toHaveLength(5);
    expect(await user.run(line(6, '--yes --expect 6'))).toMatchObject({ code: 0 });
  });

  test('counts the remaining rows for runs resume', async () => {
    const { service, user } = await unfinished();
    expect(await user.run('runs resume last --yes --expect 6')).toMatchObject({ code: 11 });
    expect(written(service)).toHaveLength(5);
    expect(await user.run('runs resume last --yes --expect 2')).toMatchObject({ code: 0 });
  });
});

test('runs retry asks for confirmation of a single row, too', async () => {
  let refused = true;
  const service = await keep(several(2), (_, step) =>
    refused && step === 'PATCH app_2' ? { status: 400 } : undefined,
  );
  const user = userInside(service);
  expect(await user.run(line(2, '--yes'))).toMatchObject({ code: 8 });
  refused = false;
  const unasked = await user.run('runs retry last');
  expect(unasked.code).toBe(2);
  expect(unasked.stderr).toContain('This needs a confirmation, and this is not a terminal');
  expect(written(service)).toHaveLength(2);
  expect(await user.run('runs retry last --yes')).toMatchObject({ code: 0 });
});

test.each(['statsu!=withdrawn', 'statusx=pending'])(
  '--if %s is an error, not a guard',
  async (condition) => {
    const service = await keep(several(3));
    const ran = await userInside(service).run(line(3, `--yes --if ${condition}`));
    expect(ran.code).toBe(2);
    expect(ran.stderr).toMatch(/No record has a field "stat\w+"\. Did you mean status\?/);
    expect(written(service)).toEqual([]);
  },
);

describe('--fields of a report', () => {
  test.each(['', '--json', '-o csv', '-o ndjson'])(
    'with a name that no row has is refused before anything is sent %s',
    async (how) => {
      const service = await keep(several(2));
      const ran = await userInside(service).run(line(2, `--yes --fields id,resutl ${how}`));
      expect(ran.code).toBe(2);
      expect(ran.stderr).toContain('Did you mean result?');
      expect(service.requests).toEqual([]);
    },
  );

  test('is refused for the report of one row, too', async () => {
    const service = await keep(several(1));
    const ran = await userInside(service).run(line(1, '--fields id,resutl'));
    expect([ran.code, service.requests]).toEqual([2, []]);
  });

  test('a misspelled field after a GET of `api` is a usage error, as for a list', async () => {
    const service = await keep(several(1));
    const ran = await userInside(service).run('api GET /tryout-applications/app_1 --fields nope');
    expect([ran.code, ran.stdout]).toEqual([2, '']);
  });

  test('shows each row, in every format', async () => {
    expect(await shown('')).toBe('id\tresult\terror\napp_1\tchanged\t\napp_2\tchanged\t\n');
    expect(await shown('-o csv')).toBe('id,result,error\r\napp_1,changed,\r\napp_2,changed,\r\n');
    const rows = ids(2).map((id) => ({ id, result: 'changed', error: null }));
    expect(JSON.parse(await shown('--json'))).toEqual(rows);
    const lines = (await shown('-o ndjson')).trim().split('\n');
    expect(lines.map((text) => JSON.parse(text) as unknown)).toEqual(rows);
  });

  test('may name top-level fields of the report', async () => {
    const user = userInside(await keep(several(2)));
    const { stdout } = await user.run(line(2, '--yes --json --fields action,summary.changed'));
    expect(JSON.parse(stdout)).toEqual({ action: 'tryouts.set-status', 'summary.changed': 2 });
  });

  test('a field that the answer lacks is reported after the write, whose record is shown', async () => {
    const answer = application('app_1', { status: 'rejected' });
    const service = await keep([application('app_1', { nick: 'kite' })], (_, step) =>
      step === 'PATCH app_1' ? { status: 200, json: answer } : undefined,
    );
    const ran = await userInside(service).run(
      'tryouts update app_1 --status rejected --json --fields id,nick',
    );
    expect([ran.code, JSON.parse(ran.stdout)]).toEqual([0, { id: 'app_1', nick: null }]);
    expect(ran.stderr).toContain('Unknown field "nick"');
  });
});

describe('--results', () => {
  test('holds the result of each row even if nothing was sent', async () => {
    const user = userInside(await keep(several(2)));
    const file = join(user.home, 'r.csv');
    await user.run(line(2, '--yes --results r.csv'));
    expect(readFileSync(file, 'utf8')).toContain('app_1,changed');
    expect(await user.run(line(2, '--yes --results r.csv'))).toMatchObject({ code: 0 });
    expect(readFileSync(file, 'utf8')).toBe(
      'id,result,error_code,message\r\napp_1,unchanged,,\r\napp_2,unchanged,,\r\n',
    );
  });

  test.each([
    ['none/r.csv', 'there is no such folder', 1],
    ['.', 'is a folder', 1],
    ['-', 'needs a file', 2],
  ])('%s is refused before anything is sent', async (file, words, code) => {
    const service = await keep(several(2));
    const ran = await userInside(service).run(line(2, `--yes --results ${file}`));
    expect(ran.code).toBe(code);
    expect(ran.stderr).toContain(words);
    expect(service.requests).toEqual([]);
  });

  test('that can no longer be written at the end is why the run failed', async () => {
    const service = await keep(several(2), (_, step) => {
      if (step === 'PATCH app_2') rmSync(folder, { recursive: true });
      return undefined;
    });
    const user = userInside(service);
    const folder = join(user.home, 'there');
    mkdirSync(folder);
    const ran = await user.run(line(2, '--yes --json --results there/r.csv'));
    expect([ran.code, report(ran).summary]).toMatchObject([1, { changed: 2 }]);
    expect(errorOf(ran)).toMatchObject({
      code: 'output',
      message: 'there/r.csv cannot be written: there is no such folder (ENOENT).',
      exitCode: 1,
    });
  });

  test.each(['./rows.csv', 'link.csv', 'here/rows.csv', 'ROWS.CSV'])(
    'never overwrites its own input, as %s',
    async (results) => {
      const service = await keep(several(1));
      const user = userInside(service);
      const rows = join(user.home, 'rows.csv');
      writeFileSync(rows, 'id\napp_1\n');
      symlinkSync('rows.csv', join(user.home, 'link.csv'));
      symlinkSync('.', join(user.home, 'here'));
      const ran = await user.run(
        `tryouts set-status --csv rows.csv --to rejected --yes --results ${results}`,
      );
      expect([ran.code, service.requests]).toEqual([2, []]);
      expect(ran.stderr).toContain('--results and --csv name the same file');
      expect(readFileSync(rows, 'utf8')).toBe('id\napp_1\n');
    },
  );

  test.each([
    ['--note-file', 'tryouts update app_1 app_2 --note-file text --yes'],
    ['PATH', 'docs upload other.txt text'],
    ['-F', 'players update player_1 player_2 -F bio=@text --yes'],
  ])('never overwrites its own %s', async (word, words) => {
    const service = await keep(several(2));
    const user = userInside(service);
    for (const name of ['text', 'other.txt']) writeFileSync(join(user.home, name), name);
    const ran = await user.run(`${words} --results ./text`);
    expect([ran.code, service.requests]).toEqual([2, []]);
    expect(ran.stderr).toContain(`--results and ${word} name the same file.`);
    expect(readFileSync(join(user.home, 'text'), 'utf8')).toBe('text');
  });

  test.each(['here/new.csv', 'first.csv'])(
    'never overwrites the file of --out, which does not exist yet, as %s',
    async (results) => {
      const service = await keep(several(1));
      const user = userInside(service);
      symlinkSync('.', join(user.home, 'here'));
      symlinkSync('here/second.csv', join(user.home, 'first.csv'));
      symlinkSync('./new.csv', join(user.home, 'second.csv'));
      const ran = await user.run(line(1, `--yes --out new.csv --results ${results}`));
      expect([ran.code, service.requests]).toEqual([2, []]);
    },
  );
});

test.each([
  ['--csv', 'tryouts set-status --csv file --yes'],
  ['--ids', 'tryouts update --ids file --status rejected --yes'],
  ['--note-file', 'tryouts update app_1 --note-file file'],
  ['--input', 'players create --input file'],
  ['FILE', 'players import file --key email --yes'],
  ['PATH', 'docs upload other.txt file'],
  ['FILE', 'plan show file'],
  ['FILE', 'uploads put http://127.0.0.1/x file'],
  ['--csv', 'backup diff a live --csv file'],
  ['--html', 'report --html file'],
  ['--file', 'docs download doc_1 -O file'],
  ['-F', 'players update player_1 -F bio=@file'],
])('an --out never overwrites the %s of the same command: %s', async (word, words) => {
  const service = await keep(several(2));
  const user = userInside(service);
  const text = 'id,status\napp_1,rejected\n';
  writeFileSync(join(user.home, 'file'), text);
  writeFileSync(join(user.home, 'other.txt'), 'x');
  const ran = await user.run(`${words} --out ./file`);
  expect([ran.code, service.requests]).toEqual([2, []]);
  expect(ran.stderr).toContain(`--out and ${word} name the same file.`);
  expect(readFileSync(join(user.home, 'file'), 'utf8')).toBe(text);
});

test.each([
  ['--results', 'docs upload -r papers --results papers/a.txt'],
  ['--results', "docs upload 'papers/*.txt' --results papers/a.txt"],
  ['--out', 'docs upload --manifest papers.csv -o csv --out papers/a.txt'],
])(
  '%s never overwrites a file that a folder, a pattern or a manifest names: %s',
  async (option, words) => {
    const service = await keep(several(1));
    const user = userInside(service);
    mkdirSync(join(user.home, 'papers'));
    for (const name of ['a.txt', 'b.txt']) writeFileSync(join(user.home, 'papers', name), name);
    writeFileSync(join(user.home, 'papers.csv'), 'path\npapers/a.txt\npapers/b.txt\n');
    const ran = await user.run(words);
    expect([ran.code, service.requests]).toEqual([2, []]);
    expect(ran.stderr).toContain(`${option} and a file to upload name the same file.`);
    expect(readFileSync(join(user.home, 'papers', 'a.txt'), 'utf8')).toBe('a.txt');
  },
);

test('an --out never overwrites a file that the same command downloads', async () => {
  const user = userInside(await keep([]));
  mkdirSync(join(user.home, 'papers'));
  const ran = await user.run(
    "-p sandbox docs download --all -D papers --out 'papers/Budget 2026.xlsx'",
  );
  expect(ran.code).toBe(2);
  expect(ran.stderr).toContain('--out and a file to download name the same file.');
  expect(readdirSync(join(user.home, 'papers'))).toEqual([]);
});

test('an --out that cannot be written is refused before any write', async () => {
  const service = await keep(several(2));
  const ran = await userInside(service).run(line(2, '--yes --out none/x.json'));
  expect(ran.code).toBe(1);
  expect(ran.stderr).toContain('there is no such folder');
  expect(written(service)).toEqual([]);
});

test('an export without rows is not a missing status', async () => {
  const service = await keep([]);
  const ran = await userInside(service).run(
    'tryouts set-status --csv - --yes --json',
    'id,status\n',
  );
  expect([ran.code, report(ran).summary['total']]).toEqual([0, 0]);
});

test.each([
  'tryouts set-status --ids - --to rejected --note-file - --yes',
  'tryouts set-status --csv - --to rejected --note-file - --yes',
  'players update --ids - -F bio=@- --yes',
  'tryouts convert --ids - -F bio=@- --yes',
  'players import - --key email -F bio=@- --yes',
  'players create -F name=@- -F bio=@-',
])('stdin cannot be two inputs at once: %s', async (words) => {
  const service = await keep(several(2));
  const ran = await userInside(service).run(words, 'app_1\napp_2\n');
  expect([ran.code, service.requests]).toEqual([2, []]);
  expect(ran.stderr).toContain('stdin can be read only once');
});

test('a trailing space belongs to an id in a CSV: no other record is changed', async () => {
  const service = await keep(several(1));
  const ran = await userInside(service).run(
    'tryouts set-status --csv - --yes',
    'id,status\n"app_1 ",rejected\n',
  );
  expect([ran.code, written(service)]).toEqual([8, []]);
  expect(ran.stdout).toContain('app_1 \tfailed');
});

test('a dry run warns that --max-changes would stop the run', async () => {
  const user = userInside(await keep(several(3)));
  const ran = await user.run(line(3, '--dry-run --max-changes 2'));
  expect(ran.code).toBe(0);
  expect(ran.stderr).toContain('3 applications would change, more than --max-changes 2');
  expect((await user.run(line(3, '--dry-run --max-changes 3'))).stderr).not.toContain('more than');
});

test('after a stop no queued request is sent', async () => {
  const service = await keep(several(60), (_, step) =>
    step.startsWith('PATCH') && step !== 'PATCH app_1' ? { status: 409 } : undefined,
  );
  const ran = await userInside(service).run(
    line(60, '--yes --json --fail-fast --concurrency 32 --rate 60/s'),
  );
  expect(ran.code).toBe(8);
  const all = steps(service);
  const stopped = all.findIndex((step) => step.startsWith('PATCH') && step !== 'PATCH app_1');
  // Requests that were sent before its answer arrived.
  expect(all.length - stopped).toBeLessThanOrEqual(3);
});

test('a second start names the run being resumed, not one that does not exist', async () => {
  const { service, user } = await unfinished((_, step) =>
    step === 'PATCH app_6' ? () => {} : undefined,
  );
  const [run] = runFolders(user.runs).map((folder) => basename(folder));
  const child = user.start(line(6, '--yes'));
  await until(() => written(service).length > 6);
  const second = await user.run(line(6, '--yes'));
  child.kill('SIGKILL');
  expect(second.code).toBe(11);
  expect(second.stderr).toContain(`is running (run ${run}, started `);
  expect(second.stderr).toMatch(/, started \d+ \w{3} \d{4}, \d\d:\d\d \S+, process \d+ on host /);
});

test('a run with an unreadable plan is not called finished, and its rows are not repeated', async () => {
  const { service, user } = await unfinished();
  const [folder = ''] = runFolders(user.runs);
  const plan = join(folder, 'plan.jsonl');
  rmSync(plan);
  mkdirSync(plan);
  const resumed = await user.run('runs resume last --yes');
  expect([resumed.code, resumed.stderr]).toEqual([
    1,
    expect.stringContaining(`The plan ${plan} cannot be read: it is a folder (EISDIR).`),
  ]);
  const again = await user.run(line(6, '--yes'));
  expect([again.code, again.stderr]).toEqual([
    11,
    expect.stringContaining('It is unknown which of these rows that run changed.'),
  ]);
  expect(await user.run('runs list')).toMatchObject({ code: 0 });
  expect((await user.run('doctor')).stdout).toContain('cannot be read: it is a folder (EISDIR)');
  expect(written(service)).toHaveLength(5);
});

test('a dry run of the remaining rows reads them again and prints the report of a run', async () => {
  const { service, user } = await unfinished();
  const { code, stdout, stderr } = await user.run('runs resume last --dry-run --json');
  expect(code).toBe(0);
  const before = { status: 'pending' };
  const after = { status: 'rejected' };
  expect(JSON.parse(stdout)).toMatchObject({
    run: basename(runFolders(user.runs)[0] ?? ''),
    dryRun: true,
    summary: { total: 2, wouldChange: 2 },
    results: [
      { row: 5, id: 'app_5', result: 'would_change', before, after },
      { row: 6, id: 'app_6', result: 'would_change', before, after },
    ],
  });
  expect(stderr).toContain('2 applications in org_7 (profile default, ');
  expect(written(service)).toHaveLength(5);
});

test('a dry run of the remaining rows shows what others changed meanwhile', async () => {
  const { service, user } = await unfinished();
  await user.run('tryouts set-status app_6 --to withdrawn');
  const left = report(await user.run('runs resume last --dry-run --json'));
  expect(left.results.map(({ id, result }) => [id, result])).toEqual([
    ['app_5', 'would_change'],
    ['app_6', 'conflict'],
  ]);
  expect(written(service)).toHaveLength(6);
});

/** A run of 2 rows that were refused and would be accepted now. */
async function refusedBefore() {
  let refused = true;
  const service = await keep(several(2), (_, step) =>
    refused && step.startsWith('PATCH') ? { status: 400 } : undefined,
  );
  const user = userInside(service);
  expect(await user.run(line(2, '--yes'))).toMatchObject({ code: 8 });
  refused = false;
  return { service, user };
}

test('a dry run of runs retry prints the report of the run that would start', async () => {
  const { service, user } = await refusedBefore();
  const { code, stdout } = await user.run('runs retry last --dry-run --json');
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({
    run: null,
    dryRun: true,
    summary: { total: 2, wouldChange: 2 },
  });
  expect(written(service)).toHaveLength(2);
  expect(runFolders(user.runs)).toHaveLength(1);
});

test('runs retry respects --rate', async () => {
  const { user } = await refusedBefore();
  const began = performance.now();
  expect(await user.run('runs retry last --yes --rate 2/s')).toMatchObject({ code: 0 });
  // Two reads, two rereads, two writes: the last starts no sooner than 2.5 s after the first.
  expect(performance.now() - began).toBeGreaterThan(2_400);
});
