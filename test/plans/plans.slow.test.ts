import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { isObject, parseJson, printJson } from '../../src/data/json.js';
import { fast, report, several, until, userInside, userOf } from '../bulk/user.js';
import {
  type Application,
  application,
  keep,
  steps,
  written,
} from '../commands/tryouts/service.js';
import { inProcess } from '../support/in-process.js';
import { closed, errorOf, heard, rosterctl, temporaryFolder } from '../support/run.js';
import { key, organization } from '../support/service.js';
import { forge, planIn, planned, reject, writes } from './two-admins.js';

test('a plan made on one machine is shown on a second without a key, and applied on a third', async () => {
  const { service, anna, ben, made, plan, file } = await planned({ user: userOf });
  const short = plan.hash.slice(0, 8);
  expect(made.stderr).toContain(`Plan of 3 changes written to p.json; hash ${short}.`);
  expect(made.stderr).toContain(`rosterctl plan apply p.json --hash ${short}`);
  expect(writes(service)).toEqual([]);
  expect(statSync(join(anna.home, 'p.json')).mode & 0o777).toBe(0o600);

  const asked = service.requests.length;
  const carol = temporaryFolder();
  const shown = await rosterctl(['plan', 'show', file], {
    home: carol,
    env: { ROSTERCTL_FORCE_TTY: '100' },
  });
  expect([shown.code, shown.stderr]).toEqual([0, '']);
  expect(shown.stdout).toContain(`Hash         ${short}\n`);
  expect(shown.stdout).toContain('Command      rosterctl tryouts set-status app_1 app_2 app_3');
  const narrow = await rosterctl(['plan', 'show', file], {
    home: carol,
    env: { ROSTERCTL_FORCE_TTY: '60' },
  });
  expect(narrow.stdout).toMatch(/^Command {6}rosterctl tryouts set-status .* \\\n {17}\S/m);
  expect(shown.stdout).toMatch(/Made by {6}\S+ on \S+, as stated in the file/);
  expect(shown.stdout).toContain('app_2  Applicant app_2  pending → rejected\n');
  expect(shown.stdout).toContain("trigger your organization's Flows");
  expect(service.requests).toHaveLength(asked);
  expect(existsSync(join(carol, '.local'))).toBe(false);
  expect(existsSync(join(carol, '.config'))).toBe(false);

  const applied = await ben.run(`plan apply p.json --hash ${short} --yes --expect 3 --json`);
  expect(applied.code).toBe(0);
  expect(applied.stderr).toContain("trigger your organization's Flows");
  expect(JSON.parse(applied.stdout)).toMatchObject({
    action: 'tryouts.set-status',
    plan: plan.hash,
    summary: { total: 3, changed: 3 },
  });
  expect(written(service)).toEqual(
    [1, 2, 3].map(() => expect.objectContaining({ status: 'rejected' })),
  );
  const kept = await ben.run('runs show last --json');
  expect(JSON.parse(kept.stdout)).toMatchObject({ plan: plan.hash, summary: { changed: 3 } });
});

test('the file has names, notes and the line, and neither the key nor what only the machine knows', async () => {
  const { file } = await planned({ line: `${reject} --append-note 'Kein Platz mehr'` });
  const text = readFileSync(file, 'utf8');
  for (const part of ['Applicant app_1', 'Kein Platz mehr', '--append-note', organization])
    expect(text).toContain(part);
  expect(text).not.toContain(key);
});

describe('drift', () => {
  const changed = { status: 'accepted' };
  test.each<[string, (kept: Map<string, Application>) => void, string]>([
    [
      'has another status',
      (kept) => kept.set('app_2', application('app_2', changed)),
      'The status is now accepted; the plan says pending.',
    ],
    [
      'has the planned value already',
      (kept) => kept.set('app_2', application('app_2', { status: 'rejected' })),
      'It has the planned values already.',
    ],
    [
      'has no status',
      (kept) => kept.set('app_2', application('app_2', { status: null })),
      'The status is now empty; the plan says pending.',
    ],
    ['is gone', (kept) => kept.delete('app_2'), 'It was not found.'],
  ])('one record that %s stops everything', async (_, drift, message) => {
    const { service, ben } = await planned();
    drift(service.kept);
    const ran = await ben.run('plan apply p.json --yes --json');
    expect(ran.code).toBe(11);
    expect(writes(service)).toEqual([]);
    expect(errorOf(ran)).toMatchObject({ code: 'drift', exitCode: 11 });
    expect(errorOf(ran)['message']).toContain('1 of 3 records no longer matches the plan');
    const { results, summary } = report(ran);
    expect(summary).toMatchObject({ conflict: 1, notAttempted: 2 });
    expect(results[1]).toMatchObject({ id: 'app_2', result: 'conflict', error: { message } });
    // Nothing was begun, so the same plan can be applied once the record is as before.
    service.kept.set('app_2', application('app_2'));
    expect((await ben.run('plan apply p.json --yes')).code).toBe(0);
  });

  test('with --allow-drift the others are changed, and it ends as a conflict', async () => {
    const { service, ben } = await planned();
    service.kept.set('app_1', application('app_1', changed));
    service.kept.delete('app_2');
    const ran = await ben.run('plan apply p.json --yes --json --allow-drift');
    expect(ran.code).toBe(8);
    expect(report(ran).summary).toMatchObject({ changed: 1, conflict: 2 });
    expect(writes(service)).toEqual(['PATCH app_3']);
  });

  test('another note is drift too, although --append-note alone would keep it', async () => {
    const { service, ben } = await planned({ line: `${reject} --append-note 'No place'` });
    service.kept.set('app_3', application('app_3', { internalNotes: 'call her' }));
    const ran = await ben.run('plan apply p.json --yes --json');
    expect([ran.code, report(ran).results[2]]).toMatchObject([
      11,
      { error: { message: 'The field Notes no longer matches the plan.' } },
    ]);
    expect(writes(service)).toEqual([]);
  });

  test('one of two planned values that a record has already is drift too', async () => {
    const { service, ben } = await planned({ line: `${reject} --append-note 'No place'` });
    service.kept.set('app_3', application('app_3', { status: 'rejected' }));
    const ran = await ben.run('plan apply p.json --yes --json');
    expect([ran.code, report(ran).results[2]]).toMatchObject([
      11,
      { error: { message: 'The status is now rejected; the plan says pending.' } },
    ]);
    expect(writes(service)).toEqual([]);
  });

  test('a record that changes after the check is a conflict', async () => {
    let reads = 0;
    const { service, ben } = await planned({
      instead: (_, step) => {
        // Anna's preview, Ben's check, and the turn of the row.
        if (step === 'GET app_3' && ++reads === 3)
          service.kept.set('app_3', application('app_3', changed));
        return undefined;
      },
    });
    const ran = await ben.run('plan apply p.json --yes --json --concurrency 1');
    expect(ran.code).toBe(8);
    expect(report(ran).summary).toMatchObject({ changed: 2, conflict: 1 });
  });

  test('a dry run says so with the same code', async () => {
    const { service, ben } = await planned();
    service.kept.delete('app_2');
    const ran = await ben.run('plan apply p.json -n --json');
    expect([ran.code, errorOf(ran)['code']]).toEqual([11, 'drift']);
  });
});

test('-n shows what it would do, sends nothing, and needs no --yes', async () => {
  const { service, ben } = await planned();
  const ran = await ben.run('plan apply p.json -n --json');
  expect(ran.code).toBe(0);
  expect(JSON.parse(ran.stdout)).toMatchObject({ dryRun: true, summary: { wouldChange: 3 } });
  expect(writes(service)).toEqual([]);
  expect(existsSync(ben.runs)).toBe(false);
});

test('a careless edit is refused; one with a new hash is refused by --hash', async () => {
  const { service, ben, file, plan } = await planned();
  writeFileSync(file, readFileSync(file, 'utf8').replaceAll('rejected', 'accepted'));
  for (const line of ['plan apply p.json --yes', 'plan show p.json']) {
    const ran = await ben.run(`${line} --json`);
    expect([ran.code, errorOf(ran)['code']]).toEqual([11, 'edited']);
  }
  forge(file, ({ rows }) => ({ rows: rows.slice(0, 2) }));
  const ran = await ben.run(`plan apply p.json --yes --json --hash ${plan.hash.slice(0, 8)}`);
  expect([ran.code, errorOf(ran)['code']]).toEqual([11, 'hash']);
  expect(steps(service).filter((step) => step.startsWith('PATCH'))).toEqual([]);
});

test('a plan whose rows do not say what its job does is drift: what is shown is what is sent', async () => {
  const { service, ben, file } = await planned();
  forge(file, () => ({ job: { status: 'accepted' } }));
  expect((await ben.run('plan apply p.json --yes')).code).toBe(11);
  expect(writes(service)).toEqual([]);
});

test.each([
  ['1a2b3c', 'not the beginning of a hash'],
  ['xyzxyzxy', 'not the beginning of a hash'],
])('--hash %s is a usage error', async (hash, message) => {
  const { ben } = await planned();
  const ran = await ben.run(`plan apply p.json --yes --hash ${hash}`);
  expect(ran.code).toBe(2);
  expect(ran.stderr).toContain(message);
});

test('CR LF and another indentation from a chat program change nothing', async () => {
  const { ben, file } = await planned();
  const text = printJson(parseJson(readFileSync(file, 'utf8')), { indent: 4 });
  writeFileSync(file, `\ufeff${text.replaceAll('\n', '\r\n')}\r\n`);
  expect((await ben.run('plan apply p.json --yes')).code).toBe(0);
});

test('an expired plan is shown as such and not applied', async () => {
  const { service, ben, file } = await planned();
  forge(file, () => ({ expiresAt: '2026-01-01T00:00:00.000Z' }));
  const shown = await ben.run('plan show p.json --json');
  expect([shown.code, JSON.parse(shown.stdout)]).toEqual([
    0,
    expect.objectContaining({ expired: true }),
  ]);
  const ran = await ben.run('plan apply p.json --yes --json');
  expect([ran.code, errorOf(ran)['code']]).toEqual([11, 'expired']);
  expect(writes(service)).toEqual([]);
});

test('--expires sets how long; without it a plan is valid for a day', async () => {
  const service = await keep(several(3));
  const anna = userInside(service);
  const validFor = async (flags: string, file: string) => {
    await anna.run(`${reject} --plan ${file} ${flags}`);
    const { madeAt, expiresAt } = planIn(join(anna.home, file));
    return Date.parse(String(expiresAt)) - Date.parse(String(madeAt));
  };
  expect(await validFor('', 'a.json')).toBe(86_400_000);
  expect(await validFor('--expires 90m', 'b.json')).toBe(5_400_000);
  expect(await validFor('--expires 7d', 'c.json')).toBe(604_800_000);
  for (const bad of ['0s', '31d', '24', 'soon']) {
    const ran = await anna.run(`${reject} --plan d.json --expires ${bad}`);
    expect([bad, ran.code]).toEqual([bad, 2]);
  }
});

test('a plan for another organization or service is refused before any request', async () => {
  const { service, ben, file } = await planned();
  const asked = service.requests.length;
  const other = { ...service.env, ...fast, ROSTERCTL_ORG: 'org_8' };
  const ran = await inProcess(['plan', 'apply', file, '--yes'], { home: ben.home, env: other });
  expect([ran.code, ran.stderr]).toEqual([
    2,
    expect.stringContaining('This plan is for organization org_7, not for org_8.'),
  ]);
  const elsewhere = await keep(several(3));
  const there = { ...elsewhere.env, ...fast };
  const far = await inProcess(['plan', 'apply', file, '--yes'], { home: ben.home, env: there });
  expect([far.code, far.stderr]).toEqual([2, expect.stringContaining('This plan is for http://')]);
  expect(service.requests).toHaveLength(asked);
  expect(elsewhere.requests).toEqual([]);
});

test('a second apply is refused and names the run, and plan show names it too', async () => {
  const { service, ben } = await planned();
  const { run } = report(await ben.run('plan apply p.json --yes --json'));
  const sent = service.requests.length;
  const again = await ben.run('plan apply p.json --yes --json');
  expect([again.code, errorOf(again)]).toEqual([
    11,
    expect.objectContaining({ code: 'applied', message: expect.stringContaining(String(run)) }),
  ]);
  expect(service.requests).toHaveLength(sent);
  const shown = await ben.run('plan show p.json --json');
  expect(JSON.parse(shown.stdout)).toMatchObject({
    applied: { run, state: 'finished', summary: { changed: 3 } },
  });
});

test('an apply that is killed goes on with the same line, once for each record', async () => {
  let hangs = true;
  let hanging = 0;
  const { service, ben, file } = await planned({
    user: userOf,
    line: 'tryouts set-status --all --to rejected',
    count: 9,
    instead: (_, step) => {
      if (!hangs || !step.startsWith('PATCH') || /app_[12]$/.test(step)) return undefined;
      return () => (hanging += 1);
    },
  });
  const child = ben.start('plan apply p.json --yes --json --concurrency 2');
  await until(() => hanging === 2);
  child.kill('SIGKILL');
  await closed(child);
  hangs = false;
  const before = new Set(writes(service)).size;
  expect(before).toBe(4);
  const shown = await ben.run('plan show p.json --json');
  expect(JSON.parse(shown.stdout)).toMatchObject({ applied: { state: 'unfinished' } });
  // It expired meanwhile: what was begun in time is finished.
  const { hash } = planIn(file);
  const ran = await ben.run('plan apply p.json --yes --json');
  expect(ran.stderr).toContain('Continuing run');
  expect([ran.code, JSON.parse(ran.stdout)]).toEqual([
    0,
    expect.objectContaining({
      plan: hash,
      summary: expect.objectContaining({ total: 9, changed: 9 }),
    }),
  ]);
  // The two writes whose outcome was unknown were read again, and sent again.
  expect(writes(service)).toHaveLength(11);
  expect((await ben.run('plan apply p.json --yes')).code).toBe(11);
});

test('the dry run of an apply that was interrupted says what the same line then does', async () => {
  let isDown = true;
  const { service, ben } = await planned({
    instead: (_, step) => (isDown && step === 'PATCH app_2' ? { status: 401 } : undefined),
  });
  const stopped = await ben.run('plan apply p.json --yes --concurrency 1');
  expect(stopped.code).toBe(4);
  isDown = false;
  service.kept.set('app_3', application('app_3', { status: 'accepted' }));
  const dry = await ben.run('plan apply p.json -n --json');
  expect(report(dry).summary).toMatchObject({ wouldChange: 1, conflict: 1 });
  expect([dry.code, errorOf(dry)['code']]).toEqual([8, 'rowsFailed']);
  const ran = await ben.run('plan apply p.json --yes --json');
  expect(report(ran).summary).toMatchObject({ changed: 2, conflict: 1 });
  expect([ran.code, errorOf(ran)['code']]).toEqual([8, 'rowsFailed']);
});

test('a report whose reader went away is printed by the same line, and then the plan is applied', async () => {
  const { service, ben } = await planned({ user: userOf });
  const lost = await rosterctl('plan apply p.json --yes --json', {
    home: ben.home,
    env: { ...service.env, ...fast },
    through: 'exec "$@" > /dev/full',
  });
  expect(lost.code).toBe(1);
  const sent = writes(service).length;
  const again = await ben.run('plan apply p.json --yes --json');
  expect(again.stderr).toContain('already did this; here is its result.');
  expect([again.code, report(again).summary]).toMatchObject([0, { changed: 3 }]);
  expect((await ben.run('plan apply p.json --yes')).code).toBe(11);
  expect(writes(service)).toHaveLength(sent);
});

test('of two who apply at once, one is refused with no request sent', async () => {
  let hanging = 0;
  const { service, ben } = await planned({
    user: userOf,
    instead: (_, step) => (step === 'PATCH app_1' ? () => (hanging += 1) : undefined),
  });
  const child = ben.start('plan apply p.json --yes --concurrency 1');
  await until(() => hanging === 1);
  const asked = service.requests.length;
  const second = await ben.run('plan apply p.json --yes --json');
  expect([second.code, errorOf(second)['code']]).toEqual([11, 'locked']);
  expect(service.requests).toHaveLength(asked);
  child.kill('SIGKILL');
});

test('a plan that expires while it waits for another change is not applied', async () => {
  const held: (() => void)[] = [];
  const { service, ben, file } = await planned({
    user: userOf,
    count: 4,
    instead: (_, step) =>
      step === 'PATCH app_4'
        ? (__, response) => {
            const record = JSON.stringify(application('app_4', { status: 'rejected' }));
            held.push(() => response.setHeader('content-type', 'application/json').end(record));
          }
        : undefined,
  });
  const other = heard(ben.start('tryouts set-status app_3 app_4 --to rejected --yes'));
  await until(() => held.length === 1);
  const expires = Date.now() + 6_000;
  forge(file, () => ({ expiresAt: new Date(expires).toISOString() }));
  const waiting = heard(ben.start('plan apply p.json --yes --json --allow-drift --wait-lock 1m'));
  let hasEnded = false;
  void waiting.ended.then(() => (hasEnded = true));
  await until(() => waiting.printed.stderr.includes('Waiting for it.') || hasEnded);
  expect(waiting.printed.stderr).toContain('Waiting for it.');
  await until(() => Date.now() > expires);
  held[0]?.();
  expect((await other.ended).code).toBe(0);
  const count = writes(service).length;
  const ran = await waiting.ended;
  expect([ran.code, errorOf(ran)['code']]).toEqual([11, 'expired']);
  expect(writes(service)).toHaveLength(count);
});

test('--results has a line for each row', async () => {
  const { ben } = await planned();
  expect((await ben.run('plan apply p.json --yes --results r.csv')).code).toBe(0);
  expect(readFileSync(join(ben.home, 'r.csv'), 'utf8').trim().split('\r\n')).toHaveLength(4);
});

test('plan show prints its rows in every format', async () => {
  const { ben } = await planned();
  expect((await ben.run('plan show p.json -o ids')).stdout).toBe('app_1\napp_2\napp_3\n');
  const csv = (await ben.run('plan show p.json -o csv')).stdout.split('\r\n');
  expect(csv[0]).toContain('before.status');
  expect(csv[1]).toContain('pending');
  const [first = ''] = (await ben.run('plan show p.json -o ndjson')).stdout.split('\n');
  expect(JSON.parse(first)).toSatisfy(isObject);
  const table = (await ben.run('plan show p.json')).stdout.split('\n');
  expect(table[0]).toContain('row\tid\tname\tbefore\tafter');
});
