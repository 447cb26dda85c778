import { spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { application, cut, keep, steps, written } from '../commands/tryouts/service.js';
import { converse } from '../support/converse.js';
import { inProcess } from '../support/in-process.js';
import { errorOf, freshEnvironment, launcher, rosterctl, temporaryFolder } from '../support/run.js';
import type { Recorded } from '../support/service.js';
import {
  damageJournal,
  fast,
  ids,
  inProcessAtHome,
  report,
  runFolders,
  several,
  userOf,
} from './user.js';

describe('exit', () => {
  test('0: all done, and the same command again sends no write', async () => {
    const service = await keep(several(6));
    const user = userOf(service);
    const line = 'tryouts set-status --status pending,rejected --to rejected --yes --json';
    const first = await user.run(line);
    expect(first.code).toBe(0);
    expect(report(first).summary).toMatchObject({ total: 6, changed: 6 });
    expect(report(first).run).toMatch(/^\d{8}T\d{9}-/);
    const before = written(service).length;
    const again = await user.run(line);
    expect(again.code).toBe(0);
    expect(report(again)).toMatchObject({ run: null, summary: { total: 6, unchanged: 6 } });
    expect(written(service)).toHaveLength(before);
  });

  test('0: more than ten rows at once print nothing with --quiet', async () => {
    const user = userOf(await keep(several(20)), inProcess);
    const line = `tryouts set-status ${ids(20).join(' ')} --to rejected --yes -q --concurrency 16`;
    expect(await user.run(line)).toMatchObject({ code: 0, stdout: '', stderr: '' });
  });

  test('0: nothing selected, and rows that a guard skips', async () => {
    const service = await keep(several(2));
    const user = userOf(service, inProcess);
    const none = await user.run('tryouts set-status --ids - --to rejected --yes --json');
    expect(none).toMatchObject({ code: 0 });
    expect(report(none).summary).toMatchObject({ total: 0 });
    const skipped = await user.run(
      'tryouts set-status app_1 app_2 --to rejected --if-status reviewing --yes --json',
    );
    expect(skipped.code).toBe(0);
    expect(report(skipped).summary).toMatchObject({ total: 2, skipped: 2 });
    expect(written(service)).toEqual([]);
  });

  test('1: with --strict, an answer to a change that differs; the change counts and can be undone', async () => {
    const service = await keep(several(3), (_, step) => {
      const [verb, id = ''] = step.split(' ');
      if (verb !== 'PATCH') return undefined;
      const changed = application(id, { status: 'rejected' });
      service.kept.set(id, changed);
      const { email: _email, ...json } = changed;
      return { status: 200, json };
    });
    const user = userOf(service, inProcess);
    const one = await user.run('tryouts update app_1 --status rejected --strict --json');
    expect([one.code, JSON.parse(one.stdout)]).toMatchObject([1, { status: 'rejected' }]);
    expect(errorOf(one)).toMatchObject({ code: 'drift', exitCode: 1 });
    const many = await user.run('tryouts set-status app_2 app_3 --to rejected --strict --yes');
    expect(many.code).toBe(1);
    expect(many.stderr).toContain('2 changed');
    expect(many.stderr).toContain('does not match the contract. PATCH');
    const undo = await user.run('runs undo last --dry-run --json');
    expect(report(undo).summary).toMatchObject({ wouldChange: 2 });
  });

  test('8: a row was refused; runs retry sends it again', async () => {
    let refuses = true;
    const service = await keep(several(4), (_, step) =>
      refuses && step === 'PATCH app_2' ? { status: 409, json: { error: 'conflict' } } : undefined,
    );
    const user = userOf(service);
    const ran = await user.run(`tryouts set-status ${ids(4).join(' ')} --to rejected -y --json`);
    expect(ran.code).toBe(8);
    expect(report(ran).summary).toMatchObject({ changed: 3, conflict: 1 });
    refuses = false;
    const retried = await user.run('runs retry last --yes --json');
    expect(retried.code).toBe(0);
    expect(report(retried)).toMatchObject({
      summary: { total: 1, changed: 1 },
      results: [{ id: 'app_2', result: 'changed' }],
    });
    const none = await user.run('runs retry last --yes --json');
    expect(none.code).toBe(2);
  });

  test('9: the service stopped answering; the same command resumes', async () => {
    let away = false;
    const service = await keep(several(30), (_, step) => {
      if (step === 'PATCH app_4') away = true;
      return away && step !== 'PATCH app_4' ? { status: 503 } : undefined;
    });
    const user = userOf(service, inProcess);
    const line = `tryouts set-status ${ids(30).join(' ')} --to rejected --yes --json`;
    const ran = await user.run(line);
    expect([9, 10]).toContain(ran.code);
    expect(report(ran).summary).toMatchObject({ total: 30, failed: 0 });
    expect(report(ran).summary['notAttempted']).toBeGreaterThan(15);
    expect(ran.stderr).toContain('runs resume');
    const left = await user.run('runs list --json');
    expect(JSON.parse(left.stdout)).toMatchObject([{ state: 'unfinished' }]);
    away = false;
    const rest = await user.run(line);
    expect(rest.code).toBe(0);
    expect(rest.stderr).toMatch(
      /^Continuing run \S+, started (just now|\d+ min ago): \d+ of 30 rows are left\.$/m,
    );
    // As in the first preview.
    expect(rest.stderr).toMatch(/^ {2}(app_\d+) +Applicant \1 +pending → rejected$/m);
    expect(report(rest).summary).toMatchObject({ total: 30, changed: 30 });
    expect(report(rest).run).toBe(report(ran).run);
  });

  test('10: a write that cannot be verified', async () => {
    let lost = false;
    const service = await keep(several(3), (request, step) => {
      if (step === 'PATCH app_2') {
        lost = true;
        return cut;
      }
      return lost && step === 'GET app_2' ? { status: 500 } : undefined;
    });
    const user = userOf(service, inProcess);
    const ran = await user.run(`tryouts set-status ${ids(3).join(' ')} --to rejected -y --json`);
    expect(ran.code).toBe(10);
    expect(report(ran).summary).toMatchObject({ changed: 2, unknown: 1 });
  });

  test('11: caps, a wrong count and a possibly incomplete list send nothing', async () => {
    const service = await keep(several(5));
    const user = userOf(service, inProcess);
    const all = ids(5).join(' ');
    for (const flags of ['--max-changes 4', '--expect 4', '--max-changes 4 --expect 5'])
      expect(
        await user.run(`tryouts set-status ${all} --to rejected --yes ${flags} --json`),
      ).toMatchObject({ code: 11, stdout: '' });
    const doubtful = await keep(several(5), (_, step) =>
      step === 'LIST' ? { status: 200, json: { applications: several(3), total: 5 } } : undefined,
    );
    const other = userOf(doubtful, inProcess);
    const line = 'tryouts set-status --status pending --to rejected --yes --json';
    expect(await other.run(line)).toMatchObject({ code: 11, stdout: '' });
    expect(written(doubtful)).toEqual([]);
    expect((await other.run(`${line} --allow-partial`)).code).toBe(0);
    expect(written(doubtful)).toHaveLength(3);
  });

  test('--expect confirms more than the default of --max-changes', async () => {
    const service = await keep(several(101));
    const user = userOf(service, inProcess);
    const line = 'tryouts set-status --all --to rejected --yes --json';
    expect(await user.run(line)).toMatchObject({ code: 11, stdout: '' });
    expect(written(service)).toEqual([]);
    expect((await user.run(`${line} --expect 101`)).code).toBe(0);
    expect(written(service)).toHaveLength(101);
  });

  test('12: with --dry-run --exit-code something would change', async () => {
    const service = await keep(several(3));
    const user = userOf(service, inProcess);
    const line = 'tryouts set-status --all --to rejected --dry-run --exit-code --json';
    expect((await user.run(line)).code).toBe(12);
    expect(existsSync(user.runs)).toBe(false);
    expect((await user.run(line.replace('rejected', 'pending'))).code).toBe(0);
    expect((await user.run(line.replace('--dry-run', ''))).code).toBe(2);
    expect(written(service)).toEqual([]);
  });

  test('4 and 7: a failure that concerns every row stops at the first', async () => {
    for (const [status, error, code, failed] of [
      [401, 'invalidApiKey', 4, 0],
      [403, 'featureNotAvailable', 7, 0],
      [403, 'forbidden', 7, 1],
    ] as const) {
      const service = await keep(several(9), ({ method }) =>
        method === 'PATCH' ? { status, json: { error } } : undefined,
      );
      const ran = await userOf(service, inProcess).run(
        `tryouts set-status ${ids(9).join(' ')} --to rejected --yes --json`,
      );
      expect(ran.code).toBe(code);
      expect(report(ran).summary).toMatchObject({ notAttempted: 9 - failed, failed });
      expect(written(service)).toHaveLength(1);
    }
  });

  test('130: Ctrl-C lets requests in flight finish and reports, and resume completes the run', async () => {
    let child: ReturnType<typeof spawn> | undefined;
    const service = await keep(several(40), (request, step) => {
      if (step !== 'PATCH app_6') return undefined;
      child?.kill('SIGINT');
      return undefined;
    });
    const user = userOf(service, inProcess);
    child = spawn(
      process.execPath,
      [launcher, 'tryouts', 'set-status', ...ids(40), '--to', 'rejected', '--yes', '--json'],
      { env: { ...freshEnvironment(user.home), ...service.env, ...fast }, stdio: 'pipe' },
    );
    let stdout = '';
    child.stdout?.on('data', (chunk: Buffer) => (stdout += chunk));
    const code = await new Promise((resolve) => child?.on('close', resolve));
    expect(code).toBe(130);
    const { summary } = report({ stdout });
    expect(summary).toMatchObject({ total: 40, failed: 0, unknown: 0 });
    expect(summary['changed']).toBe(written(service).length);
    expect(summary['notAttempted']).toBeGreaterThan(10);
    const resumed = await user.run('runs resume last --yes --json');
    expect(resumed.code).toBe(0);
    expect(report(resumed).summary).toMatchObject({ total: 40, changed: 40 });
    expect(written(service)).toHaveLength(40);
    const again = await user.run('runs resume last --yes --json');
    expect(again.code).toBe(0);
    expect(written(service)).toHaveLength(40);
  });
});

test('of two concurrent starts one runs and the other exits 11 without a request', async () => {
  let refusal: Promise<unknown> | undefined;
  const service = await keep(several(4), (_, step) =>
    step.startsWith('PATCH')
      ? (_request: Recorded, response) =>
          // No answer before one of them has ended.
          void refusal?.then(() => {
            response.writeHead(200, { 'content-type': 'application/json' });
            response.end(JSON.stringify(application(step.slice(6), { status: 'rejected' })));
          })
      : undefined,
  );
  const home = temporaryFolder();
  const line = `tryouts set-status ${ids(4).join(' ')} --to rejected --yes --json`;
  const start = () => rosterctl(`${line} --debug`, { home, env: { ...service.env, ...fast } });
  const started = [start(), start()];
  refusal = Promise.race(started);
  const both = await Promise.all(started);
  expect(new Set(both.map(({ code }) => code))).toEqual(new Set([0, 11]));
  const refused = both.find(({ code }) => code === 11);
  expect(refused?.stderr).not.toContain('GET ');
  expect(errorOf(refused as never)).toMatchObject({ code: 'locked' });
  expect(String(errorOf(refused as never)['message'])).toMatch(/run \d{8}T.*process \d+/);
  const waits = await rosterctl(`${line} --wait-lock 10s`, {
    home,
    env: { ...service.env, ...fast },
  });
  expect(waits.code).toBe(0);
});

test.each([1, 4, 12])('--concurrency %i limits concurrent requests', async (most) => {
  let active = 0;
  let highest = 0;
  const service = await keep(several(60), (request, step) => (_, response) => {
    highest = Math.max(highest, (active += 1));
    setTimeout(
      () => {
        active -= 1;
        const found = service.kept.get(step.replace(/^\w+ /, ''));
        const fields = request.method === 'PATCH' ? { status: 'rejected' } : {};
        response.writeHead(200, { 'content-type': 'application/json' });
        if (step === 'LIST') response.end(JSON.stringify([...service.kept.values()]));
        else response.end(JSON.stringify({ ...found, ...fields }));
        // Long enough for all that may be sent at once, until they have been.
      },
      highest < most ? 250 : 5,
    );
  });
  const line = `tryouts set-status --all --to rejected --yes --json --concurrency ${most}`;
  expect(await userOf(service, inProcess).run(line)).toMatchObject({ code: 0 });
  expect(written(service)).toHaveLength(60);
  expect(highest).toBe(most);
});

describe('the files of a run', () => {
  test('are private, hold no notes in the journal, and the plan is removed with the last row', async () => {
    const service = await keep(several(3));
    const user = userOf(service);
    await user.run(`tryouts update ${ids(3).join(' ')} --note canary-note --yes`);
    const [folder = ''] = runFolders(user.runs);
    const run = basename(folder);
    expect(folder).toBe(join(user.runs, 'ended', run));
    // The previous notes are stored for runs undo, and nowhere else.
    expect(readdirSync(folder).toSorted()).toEqual(['journal.jsonl', 'undo.jsonl']);
    expect(statSync(join(folder, 'undo.jsonl')).mode & 0o777).toBe(0o600);
    const journal = join(folder, 'journal.jsonl');
    expect(statSync(journal).mode & 0o777).toBe(0o600);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(readFileSync(journal, 'utf8')).not.toMatch(/canary/);
    const shown = await user.run('runs show last --json');
    expect(report(shown)).toMatchObject({ run, summary: { total: 3, changed: 3 } });
    expect((await user.run('runs prune --older-than 0s --json')).stdout).toContain('[]');
    await user.run('config set undo.keep off');
    expect((await user.run('runs prune --older-than 0s --json')).stdout).toContain(run);
    expect(runFolders(user.runs)).toEqual([]);
  });

  test('of another organization are not resumed', async () => {
    const service = await keep(several(3), (_, step) =>
      step.startsWith('PATCH') ? { status: 503 } : undefined,
    );
    const user = userOf(service, inProcess);
    await user.run(`tryouts set-status ${ids(3).join(' ')} --to rejected --yes`);
    const other = await inProcess('runs resume last --yes --json', {
      home: user.home,
      env: { ...service.env, ...fast, ROSTERCTL_ORG: 'org_8' },
    });
    expect(other.code).toBe(2);
    expect(errorOf(other)['message']).toContain('org_7');
    await user.run('config set undo.keep off');
    const pruned = await user.run('runs prune --older-than 0s --json');
    expect(JSON.parse(pruned.stdout)).toEqual({ removed: [] });
    const checks = await user.run('doctor --json');
    expect(checks.stdout).toContain('1 run is unfinished');
  });
});

describe('a spreadsheet', () => {
  test('that was exported, edited and imported changes exactly the edited rows', async () => {
    const service = await keep([
      application('app_1', { internalNotes: '=SUM(A1)', status: 'pending' }),
      application('app_2', { formResponses: { role: 'Duelist, "IGL"' } }),
      application('app_3', { legacyField: 1 }),
      application('app_4'),
    ]);
    const user = userOf(service);
    const file = join(user.home, 'x.csv');
    expect((await user.run(`tryouts list -o csv --out ${file}`)).code).toBe(0);
    const lines = readFileSync(file, 'utf8').split('\r\n');
    writeFileSync(
      file,
      lines
        .map((line) => (/^app_[13]/.test(line) ? line.replace('pending', 'rejected') : line))
        .join('\r\n'),
    );
    // Someone else changes app_3 meanwhile.
    const third = service.kept.get('app_3');
    if (third)
      service.kept.set('app_3', {
        ...third,
        status: 'accepted',
        updatedAt: '2026-03-02T10:00:00Z',
      });
    const results = join(user.home, 'r.csv');
    const ran = await user.run(
      `tryouts set-status --csv ${file} --yes --json --results ${results}`,
    );
    expect(ran.code).toBe(8);
    expect(report(ran).results.map(({ row, result }) => [row, result])).toEqual([
      [2, 'changed'],
      [3, 'unchanged'],
      [4, 'conflict'],
      [5, 'unchanged'],
    ]);
    expect(written(service)).toEqual([{ organizationId: 'org_7', status: 'rejected' }]);
    const [header = '', ...rows] = readFileSync(results, 'utf8').trimEnd().split('\r\n');
    expect(header).toBe(`${lines[0]},result,error_code,message`);
    expect(rows).toHaveLength(4);
    expect(rows[2]).toContain(',conflict,changedMeanwhile,');
  });

  test('writes --results with the delimiter and the byte order mark that are asked for', async () => {
    const user = userOf(await keep(several(1)), inProcess);
    const results = join(user.home, 'r.csv');
    const ran = await user.run(
      `tryouts set-status --csv - --yes --results ${results} --delimiter ; --bom`,
      'id;status\napp_1;accepted\n',
    );
    expect(ran.code).toBe(0);
    expect(readFileSync(results, 'utf8')).toBe(
      '\ufeffid;status;result;error_code;message\r\napp_1;accepted;changed;;\r\n',
    );
  });

  test('sets each row to its own values, also through a pipe', async () => {
    const service = await keep(several(3));
    const ran = await userOf(service, inProcess).run(
      'tryouts update --csv - --yes --json',
      'id;status;note;if_status\napp_1;accepted;;\napp_2;;Good aim;\napp_3;rejected;;reviewing\n',
    );
    expect(ran.code).toBe(0);
    expect(report(ran).summary).toMatchObject({ changed: 2, skipped: 1 });
    expect(service.kept.get('app_1')).toMatchObject({ status: 'accepted' });
    expect(service.kept.get('app_2')).toMatchObject({ internalNotes: 'Good aim' });
  });

  test('with any error sends nothing', async () => {
    const service = await keep(several(3));
    for (const text of [
      'id,status\napp_1,acepted\n',
      'id,status\napp_1,accepted\napp_1,rejected\n',
    ]) {
      const ran = await userOf(service, inProcess).run(
        'tryouts set-status --csv - --yes --json',
        text,
      );
      expect(ran).toMatchObject({ code: 2, stdout: '' });
    }
    expect(service.requests).toEqual([]);
  });
});

test('two sources, --limit without a filter, and no source are refused before any request', async () => {
  const service = await keep(several(2));
  const user = userOf(service, inProcess);
  for (const line of [
    'app_1 --status pending --to rejected',
    '--all --status pending --to rejected',
    '--ids - --csv - --to rejected',
    'app_1 app_2 --limit 1 --to rejected',
    '--limit 1 --to rejected',
    '--to rejected',
  ])
    expect(await user.run(`tryouts set-status ${line} --yes --json`)).toMatchObject({ code: 2 });
  expect(service.requests).toEqual([]);
});

test('-o ndjson prints one result per line and the summary last', async () => {
  const service = await keep(several(12));
  const user = userOf(service, inProcess);
  const ran = await user.run(
    `tryouts set-status ${ids(12).join(' ')} --to rejected --yes -o ndjson`,
  );
  expect(ran.code).toBe(0);
  const lines = ran.stdout
    .trimEnd()
    .split('\n')
    .map((line): unknown => JSON.parse(line));
  expect(lines).toHaveLength(13);
  expect(lines.at(-1)).toMatchObject({ type: 'summary', summary: { total: 12, changed: 12 } });
  // A report that is not written as it comes ends in the same line.
  for (const [line, summary] of [
    ['runs show last', { changed: 12 }],
    [`tryouts set-status ${ids(12).join(' ')} --to accepted -n`, { wouldChange: 12 }],
  ] as const) {
    const { stdout } = await user.run(`${line} -o ndjson`);
    const last = JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '');
    expect(last).toMatchObject({ type: 'summary', summary: { total: 12, ...summary } });
    expect(last).not.toHaveProperty('results');
  }
});

test('conversions warn about one person with two applications, and verify a lost one by the player', async () => {
  const service = await keep(
    [
      application('app_1', { email: 'a@example.com' }),
      application('app_2', { email: 'a@example.com' }),
    ],
    (request, step) => {
      if (step !== 'CONVERT app_2') return undefined;
      const found = service.kept.get('app_2');
      if (found) service.kept.set('app_2', { ...found, convertedPlayerId: 'player_9' });
      return cut;
    },
  );
  const ran = await userOf(service, inProcess).run('tryouts convert --all --yes --json');
  expect(ran.code).toBe(0);
  expect(ran.stderr).toContain('have the same e-mail: one person would become two players.');
  expect(report(ran).results).toMatchObject([
    { id: 'app_1', result: 'changed', after: { convertedPlayerId: 'player_app_1' } },
    { id: 'app_2', result: 'changed', after: { convertedPlayerId: 'player_9' } },
  ]);
  expect(steps(service).filter((step) => step.startsWith('CONVERT'))).toHaveLength(2);
});

test('conversions recognize one person by a number as by a text, without case and blanks', async () => {
  const service = await keep([
    application('app_1', { discordUserId: 123_456 }),
    application('app_2', { discordUserId: '123456' }),
    application('app_3', { email: 'Zoë@example.com ' }),
    application('app_4', { email: 'zoe\u0308@example.com' }),
  ]);
  const { stderr } = await userOf(service, inProcess).run('tryouts convert --all --dry-run');
  expect(stderr).toMatch(/app_1.* and .*app_2.* have the same Discord user: one person would/);
  expect(stderr).toMatch(/app_3.* and .*app_4.* have the same e-mail: one person would/);
});

test('conversions take no person from a Discord user that is false or an object, as services write none', async () => {
  const service = await keep([
    application('app_1', { discordUserId: false }),
    application('app_2', { discordUserId: false }),
    application('app_3', { discordUserId: {} }),
    application('app_4', { discordUserId: {} }),
  ]);
  const { stderr } = await userOf(service, inProcess).run('tryouts convert --all --dry-run');
  expect(stderr).not.toContain('one person would become two players');
});

test('no warning is about an application that a guard skips', async () => {
  const service = await keep([
    application('app_1', { status: 'accepted', email: 'a@example.com' }),
    application('app_2', { status: 'reviewing', email: 'b@example.com' }),
    application('app_3', { status: 'withdrawn', email: 'b@example.com' }),
  ]);
  const { run } = userOf(service, inProcess);
  for (const line of [
    'tryouts convert --all --if-status accepted --yes',
    'tryouts convert app_2 --accept --if-status pending --yes',
    'tryouts set-status --all --to rejected --if-status accepted --yes',
  ]) {
    const { code, stderr } = await run(`${line} -o ids`);
    expect(code).toBe(0);
    expect(stderr).not.toMatch(
      /not accepted: the status|two players|withdrawn by|may refuse|Accepting triggers/,
    );
  }
});

test('players are updated from a CSV and deleted by a filter', async () => {
  const home = temporaryFolder();
  const run = (line: string, stdin = '') => inProcess(`-p sandbox ${line}`, { home, stdin });
  const updated = await run(
    'players update --csv - --yes --json',
    'id,role,rating:int\nplayer_0001,Coach,7\nplayer_0002,Captain,\n',
  );
  expect(updated.code).toBe(0);
  expect(report(updated).summary).toMatchObject({ changed: 2 });
  const player = JSON.parse((await run('players get player_0001 --json')).stdout) as object;
  expect(player).toMatchObject({ role: 'Coach', rating: 7 });
  const deleted = await run("players delete --where 'role=Coach' --yes --json");
  expect(deleted.code).toBe(0);
  expect(report(deleted).results).toMatchObject([{ id: 'player_0001', result: 'changed' }]);
  expect((await run('players get player_0001')).code).toBe(5);
});

test('a new run reads only the end of ended runs; doctor reads all of them', async () => {
  const service = await keep(several(4));
  const user = userOf(service, inProcess);
  expect((await user.run('tryouts set-status app_1 app_2 --to accepted --yes')).code).toBe(0);
  damageJournal(user.runs, 1);
  const next = await user.run('tryouts set-status app_3 app_4 --to accepted --yes');
  expect([next.code, next.stderr.includes('damaged')]).toEqual([0, false]);
  expect((await user.run('doctor')).stdout).toContain('is damaged in line 1');
});

test.each(['runs undo last --yes --json', 'runs retry last --yes --json'])(
  '%s touches no older run where the newest one is damaged',
  async (line) => {
    let refuses = true;
    const service = await keep(several(4), (_, step) =>
      refuses && step === 'PATCH app_2'
        ? { status: 400, json: { error: 'invalidRequest' } }
        : undefined,
    );
    const user = userOf(service, inProcess);
    const older = await user.run('tryouts set-status app_1 app_2 --to rejected --yes --json');
    const newer = await user.run('tryouts set-status app_3 app_4 --to accepted --yes --json');
    refuses = false;
    const journal = join(user.runs, 'ended', report(newer).run ?? '', 'journal.jsonl');
    writeFileSync(journal, readFileSync(journal, 'utf8').replace('"seq":2', '"seq":7'));
    const sent = written(service).length;
    const ran = await user.run(line);
    expect([ran.code, written(service).length - sent]).toEqual([11, 0]);
    expect(ran.stderr).toContain('It may be the last run.');
    // The older run is still there for whoever names it.
    const named = await user.run(line.replace('last', report(older).run ?? ''));
    expect(named.code).toBe(0);
  },
);

test('a row whose before-image cannot be written is not attempted, not unknown', async () => {
  let isDown = true;
  const service = await keep(several(3), (_, step) =>
    isDown && step === 'PATCH app_3' ? { status: 401 } : undefined,
  );
  const user = userOf(service, inProcess);
  const line = `tryouts set-status ${ids(3).join(' ')} --to rejected -y --json --concurrency 1`;
  expect((await user.run(line)).code).toBe(4);
  isDown = false;
  const [folder = ''] = runFolders(user.runs);
  const file = join(folder, 'undo.jsonl');
  writeFileSync(file, readFileSync(file, 'utf8').replace('app_1', 'app_9'));
  const sent = written(service).length;
  const ran = await user.run('runs resume last --yes');
  expect([ran.code, ran.stderr]).toEqual([11, expect.stringContaining('--restart')]);
  expect(written(service)).toHaveLength(sent);
  const shown = report(await user.run('runs show last --json'));
  expect(shown.summary).toMatchObject({ changed: 2, unknown: 0, notAttempted: 1 });
});

test('a run that is pruned while its resume asks is not resumed, and not named again', async () => {
  const service = await keep(several(2), (_, step) =>
    step.startsWith('PATCH') ? { status: 503 } : undefined,
  );
  const user = userOf(service, inProcess);
  const first = await user.run('tryouts set-status app_1 app_2 --to rejected --yes --json');
  const { run } = report(first);
  const sent = written(service).length;
  const prune = async () => {
    expect((await user.run(`runs prune ${run} --yes`)).code).toBe(0);
    return 'y\r';
  };
  const env = { ...service.env, ...fast };
  const resumed = await converse(user.home, ['runs', 'resume', 'last'], [[/y\/N/, prune]], env);
  expect([resumed.code, written(service).length]).toEqual([11, sent]);
  expect(resumed.shown).toContain(`The run ${run} was removed in the meantime. Nothing was sent.`);
  expect(resumed.shown).toContain('See: rosterctl runs list');
  expect(runFolders(user.runs)).toEqual([]);
});

test('a run that is pruned while its retry asks is retried', async () => {
  let refuses = true;
  const service = await keep(several(2), (_, step) =>
    refuses && step === 'PATCH app_2' ? { status: 400, json: { error: 'invalid' } } : undefined,
  );
  const user = userOf(service, inProcess);
  const first = await user.run('tryouts set-status app_1 app_2 --to rejected --yes --json');
  const { run } = report(first);
  refuses = false;
  const prune = async () => {
    expect((await user.run(`runs prune ${run} --yes`)).code).toBe(0);
    return 'y\r';
  };
  const env = { ...service.env, ...fast };
  const retried = await converse(user.home, ['runs', 'retry', 'last'], [[/y\/N/, prune]], env);
  expect([first.code, retried.code]).toEqual([8, 0]);
  expect(service.kept.get('app_2')).toMatchObject({ status: 'rejected' });
});

test('runs prune reports what it removed although a damaged run cannot be set aside', async () => {
  const service = await keep(several(2));
  const user = userOf(service, inProcess);
  await user.run('tryouts set-status app_1 app_2 --to accepted --yes');
  const damaged = damageJournal(user.runs, 1);
  await user.run('tryouts set-status app_1 app_2 --to rejected --yes');
  await user.run('config set undo.keep off');
  const aside = join(user.runs, 'ended', `${damaged}.damaged`);
  mkdirSync(join(aside, 'in the way'), { recursive: true });
  const pruned = await user.run('runs prune --older-than 0s --json');
  expect([pruned.code, JSON.parse(pruned.stdout)]).toMatchObject([
    1,
    { removed: [expect.not.stringContaining(damaged)] },
  ]);
  expect(pruned.stderr).toContain('cannot be set aside');
});

test('runs prune sets a damaged ended run aside once it is old, which ends the warnings', async () => {
  const service = await keep(several(2));
  const user = userOf(service, inProcess);
  await user.run('tryouts set-status app_1 nobody --to accepted --yes');
  const run = damageJournal(user.runs, 1);
  await user.run('config set undo.keep off');
  const young = await user.run('runs prune --json');
  expect(JSON.parse(young.stdout)).toEqual({ removed: [] });
  expect(young.stderr).toBe('');
  const would = await user.run('runs prune --older-than 0s --dry-run');
  expect(would.stdout).toContain(`${run} (damaged)`);
  const pruned = await user.run('runs prune --older-than 0s --json');
  expect(JSON.parse(pruned.stdout)).toEqual({
    removed: [],
    setAside: [join(user.runs, 'ended', `${run}.damaged`)],
  });
  expect(runFolders(user.runs)).toEqual([join(user.runs, 'ended', `${run}.damaged`)]);
  expect(await user.run('runs list')).toMatchObject({ code: 0, stderr: '' });
});

test('a damaged run that has not ended is never pruned', async () => {
  let away = false;
  const service = await keep(several(2), (_, step) => {
    away ||= step.startsWith('PATCH');
    return away ? { status: 503 } : undefined;
  });
  const user = userOf(service, inProcess);
  await user.run('tryouts set-status app_1 app_2 --to accepted --yes');
  const run = damageJournal(user.runs, 1);
  await user.run('config set undo.keep off');
  const pruned = await user.run('runs prune --older-than 0s --json');
  expect(JSON.parse(pruned.stdout)).toEqual({ removed: [] });
  expect(runFolders(user.runs)).toEqual([join(user.runs, 'open', run)]);
});

test('a damaged run that has not ended stops only what may change its rows again', async () => {
  let isAway = true;
  const service = await keep(several(3), (_, step) =>
    isAway && step.startsWith('PATCH') ? { status: 503 } : undefined,
  );
  const user = userOf(service, inProcess);
  await user.run('tryouts set-status app_1 app_2 --to accepted --yes');
  isAway = false;
  const run = damageJournal(user.runs, 2);
  const change = (rows: string) => user.run(`tryouts set-status ${rows} --to rejected --yes`);
  const refused = 'It is unknown which of these rows that run changed.';
  expect(await change('app_2 app_3')).toMatchObject({
    code: 11,
    stderr: expect.stringContaining(refused),
  });
  const other = await change('app_3');
  expect([other.code, other.stderr]).toEqual([0, expect.stringContaining('is damaged in line 2')]);
  // Without a plan nothing was sent; one that cannot be read may name every application, and no player.
  const plan = join(user.runs, 'open', run, 'plan.jsonl');
  rmSync(plan);
  expect(await change('app_3')).toMatchObject({ code: 0 });
  mkdirSync(plan);
  expect(await change('app_3')).toMatchObject({ code: 11 });
  const player = await user.run('players update app_1 -F role=Coach');
  expect([player.code, player.stderr]).toEqual([5, expect.not.stringContaining(refused)]);
});

test('an old damaged run affects neither `last` nor other commands', async () => {
  const service = await keep([application('app_1'), application('app_2')]);
  const user = userOf(service, inProcessAtHome);
  await user.run('tryouts set-status app_1 nobody --to accepted --yes');
  damageJournal(user.runs, 2);
  await user.run('tryouts set-status app_2 nobody --to accepted --yes');
  const shown = await user.run('runs retry last --yes --json');
  expect([shown.code, report(shown).results]).toMatchObject([8, [{ id: 'nobody' }]]);
  writeFileSync(join(user.home, 'a.txt'), 'x');
  const upload = await user.run('docs upload a.txt --json');
  expect(upload.stderr).not.toContain('Something went wrong');
  expect(errorOf(upload)).toMatchObject({ status: 404 });
});

test('at 80 columns runs list shows the result of each run and omits nothing that matters', async () => {
  const home = temporaryFolder();
  const change = (words: string) =>
    inProcess(`-p sandbox tryouts set-status ${words} --to reviewing --yes`, { home });
  const listed = async () => {
    const line = ['-p', 'sandbox', 'runs', 'list'];
    const { shown } = await converse(home, line, [], { NO_COLOR: '1' }, 80);
    return shown.trimEnd().split('\r\n');
  };
  await change('app_0001 app_0003');
  // A count that is 0 everywhere takes no room.
  expect(await listed()).toEqual([
    'Run     State     Action              Started   Done  Profile',
    expect.stringMatching(
      /^[0-9a-f]{6} {2}finished {2}tryouts set-status {2}just now {2}\d {5}sandbox$/,
    ),
  ]);
  await change('app_0002 app_9999');
  const [head, first, second] = await listed();
  expect(head).toBe(
    'Run     State     Action              Started   Done  Conflict  Failed  Profile',
  );
  expect([first, second]).toEqual([
    expect.stringMatching(/ {2}tryouts set-status {2}just now {2}\d {5}0 {9}0 {7}sandbox$/),
    expect.stringMatching(/ {2}tryouts set-status {2}just now {2}0 {5}1 {9}1 {7}sandbox$/),
  ]);
});

test('last is no run of the same organization at another service', async () => {
  const [one, other] = [await keep(several(2)), await keep(several(2))];
  const home = temporaryFolder();
  const line = 'tryouts set-status app_1 app_2 --to rejected --yes';
  expect((await inProcess(line, { home, env: one.env })).code).toBe(0);
  const undone = await inProcess('runs undo last --yes', { home, env: other.env });
  expect([undone.code, other.requests]).toEqual([2, []]);
});

/** Both organizations have unfinished runs, and the other one has the newest. */
async function twoOrganizations() {
  const service = await keep(
    [
      ...several(2),
      ...['app_3', 'app_4'].map((id) => application(id, { organizationId: 'org_8' })),
    ],
    (_, step) => (step.startsWith('PATCH') ? { status: 503 } : undefined),
  );
  const home = temporaryFolder();
  const folder = join(home, '.config', 'rosterctl');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const profiles = {
    big: { baseUrl: service.baseUrl, organization: 'org_7' },
    alias: { baseUrl: service.baseUrl, organization: 'org_7' },
    small: { baseUrl: service.baseUrl, organization: 'org_8' },
  };
  writeFileSync(join(folder, 'config.json'), JSON.stringify({ profiles }), { mode: 0o600 });
  const env = { ...fast, ROSTERCTL_API_KEY: service.env['ROSTERCTL_API_KEY'] ?? '' };
  const run = (line: string) => inProcess(line, { home, env });
  await run('-p big tryouts update app_1 app_2 --note a --yes');
  await run('-p small tryouts update app_3 app_4 --note b --yes');
  return run;
}

describe('with runs of two organizations', () => {
  test('last is the newest of the current organization, and resumes only with its profile', async () => {
    const run = await twoOrganizations();
    const shown = await run('-p alias runs show last --json');
    expect(JSON.parse(shown.stdout)).toMatchObject({ profile: 'big', organization: 'org_7' });
    const refused = await run('-p alias runs resume last --dry-run --json');
    expect([refused.code, refused.stdout]).toEqual([11, '']);
    expect(errorOf(refused)['message']).toMatch(/^The last run, \S+, belongs to profile big\.$/);
    expect(errorOf(refused)['hint']).toContain('-p big');
    const resumed = await run('-p big runs resume last --dry-run --json');
    expect([resumed.code, report(resumed).results.map(({ id }) => id)]).toEqual([
      0,
      ['app_1', 'app_2'],
    ]);
  });

  test('runs list shows to whom they belong', async () => {
    const run = await twoOrganizations();
    const listed = await run('runs list');
    const [head, ...rows] = listed.stdout.trimEnd().split('\n');
    const at = head?.split('\t').indexOf('profile') ?? -1;
    expect(rows.map((row) => row.split('\t')[at])).toEqual(['big', 'small']);
  });
});

describe.concurrent('a single write that ended by an answer', () => {
  test.each([
    [401, {}, 4, { notAttempted: 1, failed: 0 }],
    [403, {}, 7, { notAttempted: 0, failed: 1 }],
    [429, { 'retry-after': '9999' }, 9, { notAttempted: 1, failed: 0 }],
  ])(
    '%s: its run is finished, and the same command starts a new one',
    async (status, headers, code, summary) => {
      let refuses = true;
      const service = await keep(several(1), (_, step) =>
        refuses && step.startsWith('PATCH')
          ? { status, headers, json: { error: 'no' } }
          : undefined,
      );
      const user = userOf(service, inProcess);
      const line = 'tryouts update app_1 --status rejected --json';
      const refused = await user.run(line);
      expect(refused.code).toBe(code);
      expect(refused.stderr).not.toMatch(/Not finished|Stopped after/);
      const listed = await user.run('runs list --all --json');
      expect(JSON.parse(listed.stdout)).toMatchObject([{ state: 'finished', summary }]);
      refuses = false;
      const again = await user.run(line);
      expect(again.code).toBe(0);
      expect(again.stderr).not.toContain('Continuing run');
    },
  );
});

test('the rows of a run that was confirmed are resumed however many are left, and the help says so', async () => {
  let isDown = true;
  const service = await keep(several(103), (_, step) =>
    isDown && step === 'PATCH app_1' ? { status: 401 } : undefined,
  );
  const user = userOf(service, inProcess);
  const line = 'tryouts set-status --all --to rejected --yes --json --concurrency 1';
  await user.run(`${line} --max-changes 103`);
  isDown = false;
  const capped = await user.run('runs resume --yes --max-changes 100');
  expect([capped.code, capped.stderr]).toEqual([11, expect.stringContaining('--max-changes 103')]);
  expect((await user.run('runs resume --yes -q')).code).toBe(0);
  const limit = async (verb: string) =>
    /--max-changes N +(.*)/.exec((await user.run(`runs ${verb} --help`)).stdout)?.[1];
  expect(await limit('resume')).toBe('stop if more than N would change');
  expect(await limit('undo')).toBe('stop if more than N would change (default 100)');
});

test('a row that the preview cannot read for now is listed and counted, since the run tries it again', async () => {
  let isBusy = true;
  const service = await keep(several(3), (_, step) => {
    if (step !== 'GET app_3' || !isBusy) return undefined;
    isBusy = false;
    return { status: 503, json: { error: 'busy' } };
  });
  const user = userOf(service, inProcess);
  const line = 'tryouts set-status app_1 app_2 app_3 --to rejected --yes --json';
  const capped = await user.run(`${line} --max-changes 2`);
  expect([capped.code, errorOf(capped)['message']]).toEqual([
    11,
    '3 applications would change, more than --max-changes 2. Nothing was changed.',
  ]);
  expect(capped.stderr).toMatch(/^ {2}app_3 +could not be read yet$/m);
  expect(written(service)).toEqual([]);
  isBusy = true;
  expect(report(await user.run(line)).summary).toMatchObject({ total: 3, changed: 3 });
});
