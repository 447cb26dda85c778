import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { application, cut, keep, steps, written } from '../commands/tryouts/service.js';
import { inProcess } from '../support/in-process.js';
import { closed, errorOf, rosterctl, temporaryFolder } from '../support/run.js';
import { key, type Reply } from '../support/service.js';
import { desk } from '../support/upload-desk.js';
import { ids, report, runFolders, runsOf, several, until, userOf } from './user.js';

const lineOf = (count: number, more = '--yes --json') =>
  `tryouts set-status ${ids(count).join(' ')} --to rejected ${more}`;

describe.concurrent('a reader that closes stdout', () => {
  for (const format of ['ndjson', 'json'])
    test(`in the middle of a run as ${format}: the run continues to its end and exits 1`, async () => {
      const service = await keep(several(20));
      const user = userOf(service, inProcess);
      const child = user.start(lineOf(20, `--yes --concurrency 1 -o ${format}`));
      let stderr = '';
      child.stderr.on('data', (chunk: Buffer) => (stderr += chunk));
      child.stdout.destroy();
      const code = await closed(child);
      expect({ code, written: written(service).length }).toEqual({ code: 1, written: 20 });
      expect(errorOf({ stderr })).toMatchObject({ code: 'output', exitCode: 1 });
      const shown = await user.run('runs show last --json');
      expect(report(shown).summary).toMatchObject({ total: 20, changed: 20 });
      expect(report(await user.run(lineOf(20))).summary).toMatchObject({ unchanged: 20 });
    });

  test('does not hide exit code 4: the user must learn of a refused key', async () => {
    const service = await keep(several(3), ({ method }) =>
      method === 'PATCH' ? { status: 401, json: { error: 'invalidApiKey' } } : undefined,
    );
    const child = userOf(service).start(lineOf(3, '--yes -o ndjson'));
    child.stdout.destroy();
    expect(await closed(child)).toBe(4);
  });

  test('of a list is a success', async () => {
    const service = await keep(several(3));
    const child = userOf(service).start('tryouts list -o ndjson');
    child.stdout.destroy();
    expect(await closed(child)).toBe(0);
  });
});

test('a report that a full disk or a reader that went away lost is named, with its run if there is one', async () => {
  for (const through of ['exec "$@" > /dev/full', '"$@" | true']) {
    const service = await keep(several(2));
    const user = userOf(service);
    const run = () => rosterctl(lineOf(2), { home: user.home, env: service.env, through });
    const { code, hint } = errorOf(await run());
    expect(code).toBe('output');
    const [, shown] = /^The result is kept: rosterctl (runs show \S+)$/.exec(String(hint)) ?? [];
    expect(report(await user.run(`${shown} --json`)).summary).toMatchObject({ changed: 2 });
    // Nothing is sent, so there is no run; the last one is another.
    const again = await run();
    expect(errorOf(again).code).toBe('output');
    expect(errorOf(again).hint).toBeUndefined();
  }
});

/** Runs a change of so many rows at a service that makes each change and gives this answer. */
const taking = async (count: number, answer: Reply) => {
  const service = await keep(several(count), ({ method, body }, step) => {
    if (method !== 'PATCH') return undefined;
    const [, id = ''] = step.split(' ');
    const { status } = JSON.parse(body.toString()) as { status: string };
    service.kept.set(id, application(id, { status }));
    return answer;
  });
  return { service, ran: await userOf(service, inProcess).run(lineOf(count)) };
};

describe.concurrent('a run whose writes take effect', () => {
  test('and whose service answers "OK" each time is not stopped', async () => {
    const { service, ran } = await taking(7, { status: 200, text: 'OK' });
    expect(report(ran).summary).toMatchObject({ total: 7, changed: 7 });
    expect(ran.code).toBe(0);
    expect(written(service)).toHaveLength(7);
  });

  test('and whose answers are all lost ends with 0 once reads have shown every row', async () => {
    const { ran } = await taking(5, cut);
    expect(report(ran).summary).toMatchObject({ total: 5, changed: 5 });
    expect(ran.code).toBe(0);
    expect(ran.stderr).not.toContain('Stopped');
  });
});

describe.concurrent('the API key in a refusal', () => {
  for (const count of [1, 3])
    test(`appears neither in the report of ${count} nor in the journal`, async () => {
      const echo = { error: `bad key ${key}`, message: `${key} may not do this` };
      const service = await keep(several(count), ({ method }) =>
        method === 'PATCH' ? { status: 422, json: echo } : undefined,
      );
      const user = userOf(service, inProcess);
      const { code, stdout, stderr } = await user.run(lineOf(count, '--yes --json'));
      // One id ends with the code of its refusal.
      expect(code).toBe(count === 1 ? 3 : 8);
      expect(stdout + stderr).toContain('may not do this');
      const kept = readdirSync(user.home, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'utf8'));
      expect(kept.some((text) => text.includes('may not do this'))).toBe(true);
      expect([stdout, stderr, ...kept].join('')).not.toContain(key);
    });
});

test.each([
  ['', '\nSome services answer 503 to requests that come too fast: add --rate 5/s.'],
  [' --rate 100/s', ''],
  [' --rate 3010/m', ''],
])(
  'a run that a limiter stopped with 503 leads to a rate, unless it has one, which it keeps%s',
  async (rate, hint) => {
    let sent = 0;
    const service = await keep(several(12), (_, step) =>
      step.startsWith('PATCH') && ++sent > 2 ? { status: 503 } : undefined,
    );
    const ran = await userOf(service, inProcess).run(lineOf(12, `--yes${rate}`));
    expect(ran.code).toBe(10);
    const end = ran.stderr.slice(ran.stderr.indexOf('Stopped: '));
    expect(end).toMatch(
      new RegExp(
        `^Stopped: .* 503 .*${hint}\\nRun .*\\nStopped after 2 of 12.* resume \\S+${rate} --yes\\n$`,
      ),
    );
  },
);

test('a run that lost its answers says to run it again, and not also to look at each record first', async () => {
  const service = await keep(several(8), (_, step) => (step.startsWith('PATCH') ? cut : undefined));
  const { code, stderr } = await userOf(service).run(lineOf(8, '--yes'));
  expect(code).toBe(10);
  const end = stderr.slice(stderr.indexOf('Stopped: '));
  expect(end).toMatch(
    /^Stopped: .* was lost .*\nRun .*\nStopped after .*Run the same command again/,
  );
  const ran = await userOf(service).run(lineOf(8, '--yes --json'));
  expect(errorOf(ran)).toMatchObject({
    code: 'unknownOutcome',
    hint: `rosterctl runs resume ${report(ran).run} --yes`,
  });
});

describe.concurrent('--restart', () => {
  test('ends the old run: it is listed as finished, and its open write is verified by reading', async () => {
    let away = true;
    const service = await keep(several(6), (request, step) => {
      if (!away) return undefined;
      if (step !== 'PATCH app_1') return step.startsWith('PATCH') ? { status: 503 } : undefined;
      // The answer is lost, but the write is applied.
      const found = service.kept.get('app_1');
      if (found) service.kept.set('app_1', { ...found, status: 'rejected' });
      return cut;
    });
    const user = userOf(service, inProcess);
    const first = user.start(lineOf(6, '--yes --json --concurrency 1'), {
      ROSTERCTL_SETTLE: '20s',
    });
    // Killed while it waits for the lost write, so that its writes stay open.
    await new Promise((resolve) => first.stderr.on('data', resolve));
    await until(() => written(service).length >= 5);
    first.kill('SIGKILL');
    await closed(first);
    away = false;
    const old = basename(runFolders(user.runs)[0] ?? '');
    const again = await user.run(lineOf(6, '--yes --json --restart'));
    expect(again.code).toBe(0);
    expect(report(again).summary).toMatchObject({ total: 6, changed: 5, unchanged: 1 });
    expect(report(again).run).not.toBe(old);
    const runs = JSON.parse((await user.run('runs list --json')).stdout) as { state: string }[];
    expect(runs.map(({ state }) => state)).toEqual(['finished', 'finished']);
    expect((await user.run('doctor --json')).stdout).toContain('no unfinished runs');
    const shown = report(await user.run(`runs show ${old} --json`));
    expect(shown.results).toHaveLength(6);
    expect(shown.results[0]).toMatchObject({ id: 'app_1', result: 'changed' });
    expect(shown.summary).toMatchObject({ total: 6, changed: 1, unknown: 0, notAttempted: 5 });
    expect(existsSync(join(user.runs, 'ended', old, 'plan.jsonl'))).toBe(false);
    const before = written(service).length;
    expect((await user.run(`runs resume ${old} --yes --json`)).code).toBe(2);
    expect(written(service)).toHaveLength(before);
  });

  test('creates another record, where the same line alone prints the report that nobody saw', async () => {
    const home = temporaryFolder();
    const runs = runsOf(home);
    const create = async (more = '') => {
      const ran = await inProcess(`-p sandbox players create --name Ann --json ${more}`, { home });
      return (JSON.parse(ran.stdout) as { id: string }).id;
    };
    /** As if the processes had been killed before they printed their reports. */
    const hideReports = () => {
      for (const run of readdirSync(join(runs, 'ended'))) {
        renameSync(join(runs, 'ended', run), join(runs, 'open', run));
        rmSync(join(runs, 'open', run, 'told'), { force: true });
      }
    };
    const first = await create();
    hideReports();
    expect(await create()).toBe(first);
    hideReports();
    const second = await create('--restart');
    // The report of the first is not printed any more.
    expect(new Set([first, second, await create()]).size).toBe(3);
  });

  test('of a create in doubt leaves no run among the open ones, once another change was made', async () => {
    let isLost = true;
    const service = await keep(several(1), ({ method }) => {
      if (method !== 'POST') return undefined;
      return isLost ? cut : { status: 201, json: { id: 'player_1', name: 'Ann' } };
    });
    const user = userOf(service, inProcess);
    expect((await user.run('players create --name Ann')).code).toBe(10);
    isLost = false;
    expect((await user.run('players create --name Ann --restart')).code).toBe(0);
    expect((await user.run(lineOf(1))).code).toBe(0);
    expect(readdirSync(join(user.runs, 'open'))).toEqual([]);
  });

  test('leaves the old run unchanged if the user answers no', async () => {
    let away = true;
    const service = await keep(several(7), (_, step) =>
      away && step.startsWith('PATCH') ? { status: 429 } : undefined,
    );
    const user = userOf(service, inProcess);
    await user.run(lineOf(7));
    away = false;
    expect((await user.run(lineOf(7, '--restart --json'))).code).toBe(2);
    const runs = JSON.parse((await user.run('runs list --json')).stdout) as { state: string }[];
    expect(runs.map(({ state }) => state)).toEqual(['unfinished']);
  });
});

describe.concurrent('runs resume and retry', () => {
  test('stream ndjson row by row, like the command that started the run', async () => {
    let away = true;
    const answers: (() => void)[] = [];
    const service = await keep(several(8), (request, step) => {
      if (away && step.startsWith('PATCH')) return { status: 429 };
      if (step !== 'PATCH app_8') return undefined;
      return (_, response) => {
        answers.push(() => {
          response.writeHead(409, { 'content-type': 'application/json' });
          response.end('{"error":"conflict"}');
        });
      };
    });
    const user = userOf(service);
    expect((await user.run(lineOf(8))).code).toBe(9);
    away = false;
    const child = user.start('runs resume last --yes -o ndjson --concurrency 1');
    let stdout = '';
    child.stdout.on('data', (chunk: Buffer) => (stdout += chunk));
    // The last row waits for its answer, and the others are already printed.
    await until(() => stdout.split('\n').length === 8);
    expect(stdout).not.toContain('app_8');
    await until(() => answers.length === 1);
    answers[0]?.();
    expect(await closed(child)).toBe(8);
    const lines = stdout
      .trimEnd()
      .split('\n')
      .map((line): unknown => JSON.parse(line));
    expect(lines).toHaveLength(9);
    expect(lines.at(-1)).toMatchObject({ type: 'summary', summary: { changed: 7, conflict: 1 } });
    const retried = user.run('runs retry last --yes -o ndjson');
    await until(() => answers.length === 2);
    answers[1]?.();
    const rows = (await retried).stdout.trimEnd().split('\n');
    expect(rows.map((row) => (JSON.parse(row) as { type?: string }).type)).toEqual([
      undefined,
      'summary',
    ]);
  });
});

describe.concurrent('with --json the last line of stderr is the error', () => {
  const line = `tryouts set-status ${ids(6).join(' ')} --to rejected --yes --json --concurrency 1`;

  test.each([
    ['stopped by a refused key', 'PATCH app_2', 401, 'invalidApiKey', 4],
    ['with a row that is refused', 'PATCH app_2', 409, 'rowsFailed', 8],
    ['that may not read', 'GET', 401, 'invalidApiKey', 4],
    ['that may not read any', 'GET', 403, 'invalidApiKey', 7],
  ])('of a run %s, and the report is printed', async (_, at, status, code, exitCode) => {
    const service = await keep(several(6), (__, step) =>
      step.startsWith(at) ? { status, json: { error: 'invalidApiKey' } } : undefined,
    );
    const ran = await userOf(service, inProcess).run(line);
    expect(ran.code).toBe(exitCode);
    expect(errorOf(ran)).toMatchObject({ code, exitCode });
    expect(report(ran).summary['total']).toBe(6);
    expect(report(ran).results).toHaveLength(6);
  });

  test.each([
    ['refused', 409, 8, 'retry'],
    ['unknown', 503, 10, 'resume'],
  ])('and names the command for a row that is %s', async (_, status, exitCode, verb) => {
    let sent = false;
    const service = await keep(several(6), (__, step) => {
      sent ||= step === 'PATCH app_2';
      return sent && step.endsWith(' app_2') ? { status, json: { error: 'x' } } : undefined;
    });
    const ran = await userOf(service, inProcess).run(`${line} --retries 0 --rate 900/s`);
    const hint = `rosterctl runs ${verb} ${report(ran).run} --rate 900/s --yes`;
    expect([ran.code, errorOf(ran)]).toMatchObject([exitCode, { exitCode, hint }]);
  });

  test('and names the command for rows that --max-time left', async () => {
    // The limit counts from the start of the process, and a busy machine may take long to get to the second row.
    const attempt = async (seconds: number): ReturnType<typeof rosterctl> => {
      const service = await keep(several(6), (__, step) =>
        step === 'PATCH app_2'
          ? (___, response) => setTimeout(() => response.destroy(), seconds * 1_000 + 500)
          : undefined,
      );
      const ran = await userOf(service).run(`${line} --max-time ${seconds}s`);
      return steps(service).includes('PATCH app_2') ? ran : attempt(seconds * 2);
    };
    const ran = await attempt(3);
    const hint = `rosterctl runs resume ${report(ran).run} --yes`;
    expect([ran.code, errorOf(ran)]).toMatchObject([143, { exitCode: 143, hint }]);
  });

  test('and for files that did not arrive, how to finish their uploads', async () => {
    const { view, upload } = await desk({ 'a.txt': 'a', 'b.txt': 'b' });
    view.put = () => ({ status: 503 });
    const { hint } = errorOf(await upload('a.txt b.txt --retries 0'));
    expect(hint).toBe('rosterctl uploads finish --all');
  });

  test('for several ids of which one is missing', async () => {
    const service = await keep(several(1));
    const ran = await userOf(service, inProcess).run('tryouts get app_1 app_9 --json');
    expect(ran.code).toBe(5);
    expect(errorOf(ran)).toMatchObject({ code: 'notFound', exitCode: 5 });
    expect(JSON.parse(ran.stdout)).toHaveLength(1);
  });

  test.each([
    [2, 'The service refused to read the application (forbidden).'],
    [1, 'The service refused to read application app_1 (forbidden).'],
  ])('a refused read of %i names no empty id', async (count, sentence) => {
    const service = await keep(several(2), () => ({ status: 403, json: { error: 'forbidden' } }));
    const ran = await userOf(service, inProcess).run(
      `tryouts set-status ${ids(count).join(' ')} --to rejected --yes`,
    );
    expect(ran.code).toBe(7);
    expect(ran.stderr.split('\n')).toContain(sentence);
  });

  test.each([6, 1])('a table of %i says why nothing could be read', async (count) => {
    const service = await keep(several(6), (__, step) =>
      step.startsWith('GET') ? { status: 401, json: { error: 'invalidApiKey' } } : undefined,
    );
    const ran = await userOf(service, inProcess).run(
      `tryouts set-status ${ids(count).join(' ')} --to rejected --yes`,
    );
    expect(ran.code).toBe(4);
    expect(ran.stderr).toContain('does not accept the API key in ROSTERCTL_API_KEY');
    expect(ran.stdout.trimEnd().split('\n')).toHaveLength(count + 1);
  });
});

describe.concurrent('--quiet', () => {
  test('says what went wrong in a finished run that there is nothing to resume of', async () => {
    const service = await keep(several(2), (_, step) =>
      step === 'PATCH app_2' ? { status: 400, json: { error: 'validation' } } : undefined,
    );
    const user = userOf(service, inProcess);
    await user.run(lineOf(2, '--yes -q'));
    const ran = await user.run('runs resume last --yes -q -o ids');
    expect([ran.code, ran.stdout]).toEqual([8, 'app_1\n']);
    expect(ran.stderr).toBe('app_2: The service rejected the request: 400 (validation).\n');
  });

  test.each(['', '-o ids', '--out rows.csv'])('%s says why nothing was sent', async (format) => {
    const service = await keep(several(2), () => cut);
    const user = userOf(service, inProcess);
    const flags = format.replace('rows', join(user.home, 'rows'));
    const ran = await user.run(lineOf(2, `--yes -q ${flags}`));
    expect([ran.code, ran.stdout, ran.stderr]).toEqual([
      9,
      '',
      `2 not sent: The connection to ${new URL(service.baseUrl).origin} was lost before the whole answer arrived.\n`,
    ]);
  });

  test('a successful run prints nothing, nor does one with nothing to do', async () => {
    const user = userOf(await keep(several(3)), inProcess);
    const silent = { code: 0, stdout: '', stderr: '' };
    expect(await user.run(lineOf(3, '--yes -q'))).toMatchObject(silent);
    expect(await user.run(lineOf(3, '--yes -q'))).toMatchObject(silent);
    const none = 'tryouts set-status --status withdrawn --to rejected --yes -q';
    expect(await user.run(none)).toMatchObject(silent);
  });

  test('a successful single write prints nothing', async () => {
    const user = userOf(await keep(several(1)), inProcess);
    const ran = await user.run('tryouts update app_1 --status rejected -q');
    expect(ran).toMatchObject({ code: 0, stdout: '', stderr: '' });
  });

  test('ids hold no row that went wrong, so stderr says which and why', async () => {
    const service = await keep(several(3), (_, step) =>
      step === 'PATCH app_2' ? { status: 409, json: { error: 'conflict' } } : undefined,
    );
    const user = userOf(service, inProcess);
    const line = `tryouts set-status ${ids(3).join(' ')} app_9 --to rejected --yes -o ids -q`;
    const why = [
      'app_2: The service reports a conflict for application app_2 (conflict). The e-mail or Discord user is already used on another application for the same form.',
      'app_9: Application app_9 was not found (notFound).',
    ];
    const dry = await user.run(`${line} --dry-run`);
    expect([dry.code, dry.stdout, dry.stderr]).toEqual([8, 'app_1\napp_2\napp_3\n', `${why[1]}\n`]);
    const ran = await user.run(line);
    expect([ran.code, ran.stdout, ran.stderr]).toEqual([
      8,
      'app_1\napp_3\n',
      `${why.join('\n')}\n`,
    ]);
  });

  test('a report in a file leaves it to stderr to say what went wrong', async () => {
    const service = await keep(several(3), (_, step) =>
      step === 'PATCH app_2' ? { status: 422, json: { error: 'no' } } : undefined,
    );
    const user = userOf(service, inProcess);
    for (const name of ['rows.csv', 'rows.xlsx', 'rows.txt']) {
      const ran = await user.run(lineOf(3, `--yes -q --out ${join(user.home, name)}`));
      expect([ran.code, ran.stdout, ran.stderr]).toEqual([
        8,
        '',
        'app_2: The service rejected the request: 422 (no).\n',
      ]);
    }
  });

  test('a table holds only the rows that went wrong; json holds all', async () => {
    const service = await keep(several(3), (_, step) =>
      step === 'PATCH app_2' ? { status: 422, json: { error: 'no' } } : undefined,
    );
    const user = userOf(service, inProcess);
    const { code, stdout, stderr } = await user.run(lineOf(3, '--yes -q'));
    expect([code, stderr]).toEqual([8, '']);
    expect(stdout.split('\n').map((row) => row.split('\t')[1])).toEqual(['id', 'app_2', undefined]);
    expect(report(await user.run(lineOf(3, '--yes -q --json'))).results).toHaveLength(3);
  });
});

test('a row that was sent before another process took its run over is unknown, and verified later', async () => {
  let locks = '';
  const service = await keep(several(2), (_, step) => {
    // As by hand, while this process was stopped.
    if (step === 'PATCH app_1') rmSync(locks, { recursive: true });
    return undefined;
  });
  const user = userOf(service);
  locks = join(user.runs, '../locks');
  const line = 'tryouts set-status app_1 app_2 --to rejected --yes --concurrency 1 --json';
  const first = await user.run(line);
  expect(report(first).results.map(({ result }) => result)).toEqual(['unknown', 'not_attempted']);
  expect(first.stderr).toContain('was taken over by another process');
  const second = await user.run(line);
  expect(second.code).toBe(0);
  expect(report(second).results.map(({ result }) => result)).toEqual(['changed', 'changed']);
  expect(steps(service).filter((step) => step.startsWith('PATCH'))).toEqual([
    'PATCH app_1',
    'PATCH app_2',
  ]);
});

test('a run whose files are removed sends nothing more, and says why', async () => {
  let state = '';
  const service = await keep(several(3), (_, step) => {
    if (step === 'PATCH app_1') rmSync(state, { recursive: true });
    return undefined;
  });
  const user = userOf(service);
  state = join(user.runs, '..');
  const line = lineOf(3, '--yes --concurrency 1 --json');
  const first = await user.run(line);
  expect(first.code).toBe(1);
  expect(report(first).results.map(({ result }) => result)).toEqual([
    'unknown',
    'not_attempted',
    'not_attempted',
  ]);
  expect(errorOf(first).message).toMatch(
    /The journal .* was removed while this command was running/,
  );
  expect((await user.run(line)).code).toBe(0);
  expect(steps(service).filter((step) => step.startsWith('PATCH'))).toEqual([
    'PATCH app_1',
    'PATCH app_2',
    'PATCH app_3',
  ]);
});

test('a run whose plan cannot be removed at its end still prints its report', async () => {
  const service = await keep(several(2), ({ method }) => {
    if (method !== 'PATCH') return undefined;
    const [folder = ''] = runFolders(user.runs);
    rmSync(join(folder, 'plan.jsonl'), { recursive: true });
    mkdirSync(join(folder, 'plan.jsonl'));
    return undefined;
  });
  const user = userOf(service, inProcess);
  const ran = await user.run(lineOf(2, '--yes --json --concurrency 1'));
  expect(report(ran).summary).toMatchObject({ total: 2, changed: 2 });
  expect(errorOf(ran)).toMatchObject({
    code: 'output',
    exitCode: 1,
    message: expect.stringMatching(/plan\.jsonl cannot be written: /),
  });
});
