import { mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ruleCodes } from '../../src/resources/findings/rule.js';
import type { Overview } from '../../src/resources/overview.js';
import { overviewLines } from '../../src/resources/overview-page.js';
import { describeUnsent } from '../../src/review/queue.js';
import { createPaint } from '../../src/terminal/paint.js';
import { displayWidth } from '../../src/terminal/width.js';
import { forbidden, hostileTexts } from '../support/hostile.js';
import { inProcess } from '../support/in-process.js';
import { errorOf, rosterctl, temporaryFolder } from '../support/run.js';
import { type Lists, listService, type Reply, refused, unknown } from '../support/service.js';
import { daysAgo } from '../support/times.js';
import { application, keep } from './tryouts/service.js';

const old = (id: string, fields: Record<string, unknown> = {}) => {
  const submittedAt = daysAgo(30);
  return application(id, {
    submittedAt,
    createdAt: submittedAt,
    updatedAt: submittedAt,
    ...fields,
  });
};

async function overview(lists: Lists, flags = '') {
  const service = await listService(lists);
  const env = { ...service.env, ROSTERCTL_FORCE_TTY: '80' };
  const ran = await inProcess(`overview ${flags}`, { env, home: temporaryFolder() });
  return { ...ran, service };
}

const club = {
  tryouts: [
    old('a', { name: 'Kite' }),
    old('b', { submittedAt: daysAgo(2), updatedAt: daysAgo(2) }),
    old('c', { status: 'reviewing', updatedAt: daysAgo(1) }),
    old('d', { status: 'accepted' }),
    old('e', { status: 'rejected', submittedAt: daysAgo(90) }),
  ],
  players: [
    { id: 'p1', name: 'One', teamIds: ['t1'] },
    { id: 'p2', name: 'Two', teamIds: [] },
  ],
  teams: [{ id: 't1', name: 'Foxes' }],
  documents: [{ id: 'd1', name: 'a.pdf', tags: [] }],
};

test('runs of this machine that cannot be read are a message, and the rest is shown', async () => {
  const service = await listService(club);
  const home = temporaryFolder();
  const runs = join(home, '.local/state/rosterctl/runs');
  mkdirSync(runs, { recursive: true });
  // A link to itself cannot be read, not even by root.
  symlinkSync('open', join(runs, 'open'));
  const ran = await inProcess('overview --json -q', { env: service.env, home });
  expect([ran.code, ran.stderr]).toEqual([0, expect.stringContaining('cannot be read')]);
  expect(JSON.parse(ran.stdout)).toMatchObject({ waiting: { pending: 2 } });
});

test('shows what waits, each row with the command that shows it', async () => {
  const { code, stdout, stderr, service } = await overview(club);
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toBe(
    [
      'Overview of org_7 (profile default)',
      'Waiting      2 pending, oldest waits 30 d',
      '             rosterctl tryouts list --status pending',
      'In review    1 reviewing · 0 shortlisted',
      '             rosterctl tryouts list --status reviewing,shortlisted',
      'Last 7 days  1 new · 1 other changed',
      '             rosterctl tryouts list --updated-since 7d',
      'To convert   1 accepted, not a player yet',
      '             rosterctl tryouts list --status accepted --unconverted',
      'Rosters      1 player in no team · 1 document without tags',
      '             rosterctl check --only player.noTeam,document.untagged',
      'Findings     1 waiting over 14 days · 1 not converted',
      '             rosterctl check',
      'Last backup  none from this machine',
      '             rosterctl help backup',
      '',
    ].join('\n'),
  );
  expect(service.requests.map(({ method }) => method)).toEqual(['GET', 'GET', 'GET', 'GET']);
  for (const line of stdout.matchAll(/rosterctl (tryouts .*|check.*)/g)) {
    const words = `${line[1]} -o ids`;
    const ran = await inProcess(words, { env: service.env, home: temporaryFolder() });
    expect([words, ran.code, ran.stdout === '']).toEqual([words, 0, false]);
  }
});

test('says the same as JSON', async () => {
  const { stdout } = await overview(club, '--json');
  const { findings, ...rest } = JSON.parse(stdout) as Overview;
  expect(rest).toMatchObject({
    schema: 1,
    organization: 'org_7',
    waiting: { pending: 2, oldest: { id: 'a', name: 'Kite' }, reviewing: 1, shortlisted: 0 },
    changed: { submitted: 1, updated: 1 },
    unfinished: { runs: [], uploads: 0, decisions: 0 },
    backup: null,
    skipped: [],
  });
  expect(Object.keys(findings)).toEqual([...ruleCodes]);
  expect(findings).toMatchObject({ waiting: 1, 'player.noTeam': 1, 'team.empty': 0 });
});

test('of an organization without records says that nothing waits', async () => {
  const { code, stdout } = await overview({});
  expect([code, stdout]).toEqual([
    0,
    [
      'Overview of org_7 (profile default)',
      'Waiting      nobody',
      'Last 7 days  nothing new',
      'Findings     none',
      'Last backup  none from this machine  rosterctl help backup',
      '',
    ].join('\n'),
  ]);
});

describe('a list that the key may not read', () => {
  test('is told in its row, and the others are shown', async () => {
    const { code, stdout } = await overview({ ...club, players: refused, documents: refused });
    expect(code).toBe(0);
    expect(stdout).toContain('Waiting      2 pending');
    expect(stdout).toContain(
      [
        'Rosters      not known: this key cannot read players (403)',
        '             not known: this key cannot read documents (403)',
        'Findings',
      ].join('\n'),
    );
    const without = await overview({ ...club, tryouts: refused });
    expect([without.code, without.stdout.split('\n').slice(1, 3)]).toEqual([
      0,
      [
        'Waiting      not known: this key cannot read applications (403)',
        'Rosters      1 player in no team · 1 document without tags',
      ],
    ]);
  });

  test('is null as JSON, and fails with --strict', async () => {
    const ran = await overview({ ...club, tryouts: refused }, '--json --strict');
    const { waiting, changed, findings, skipped } = JSON.parse(ran.stdout) as Overview;
    expect([waiting, changed, findings['duplicate.email']]).toEqual([null, null, null]);
    expect(skipped[0]?.reason).toBe('this key cannot read applications (403)');
    expect([ran.code, errorOf(ran)['code']]).toEqual([7, 'forbidden']);
  });

  test('is no success if it is every list', async () => {
    const none = { tryouts: refused, players: refused, teams: refused, documents: refused };
    expect(await overview(none)).toMatchObject({ code: 7 });
  });

  test('or that the service does not have is told in the same way', async () => {
    const { code, stdout, stderr } = await overview({ ...club, tryouts: unknown, teams: unknown });
    expect([code, stderr, stdout.split('\n').slice(1, 5)]).toEqual([
      0,
      '',
      [
        'Waiting      not known: this service has no list of applications (404)',
        'Rosters      1 player in no team · 1 document without tags',
        '             rosterctl check --only player.noTeam,document.untagged',
        '             not known: this service has no list of teams (404)',
      ],
    ]);
  });

  test('may be one that the service does not have, but then not every one', async () => {
    const none = { tryouts: unknown, players: unknown, teams: unknown, documents: unknown };
    const { code, stdout, stderr } = await overview(none);
    expect([code, stdout]).toEqual([5, '']);
    expect(stderr).toContain('GET /teams/{organizationId} was not found');
    expect(stderr).toContain('Are the base URL and the organization id right?');
  });
});

test('names an interrupted run of this profile and the line that resumes it', async () => {
  const ids = ['app_1', 'app_2', 'app_3'];
  const stop: Reply = { status: 401, json: { error: 'unauthorized' } };
  const { env } = await keep(
    ids.map((id) => application(id)),
    ({ url }, step) => {
      if (!url.includes('tryout-applications')) return { status: 200, json: [] };
      return step === 'PATCH app_2' ? stop : undefined;
    },
  );
  const home = temporaryFolder();
  const line = `tryouts set-status ${ids.join(' ')} --to reviewing --yes --concurrency 1`;
  expect((await rosterctl(line, { env, home })).code).toBe(4);
  const { stdout } = await inProcess('overview', { env, home });
  expect(stdout).toMatch(
    /Unfinished +run ([0-9a-f]{6}): 2 of 3 rows left\n? +rosterctl runs resume \1\n/,
  );
});

test('the last backup of this organization is shown, until its folder is gone', async () => {
  const service = await listService({ ...club, documents: [] });
  const home = temporaryFolder();
  const shown = async (flags = '', env: Record<string, string> = {}) =>
    (await inProcess(`overview ${flags}`, { env: { ...service.env, ...env }, home })).stdout;
  const made = await rosterctl('backup create backups --json', {
    env: service.env,
    home,
    cwd: home,
  });
  const { snapshot } = JSON.parse(made.stdout);
  const path = join(home, snapshot);
  expect((await shown()).replaceAll(/\s+\\?\s*/g, ' ')).toContain(
    `Last backup just now rosterctl backup verify ${path}`,
  );
  expect(JSON.parse(await shown('--json')).backup).toEqual({
    snapshot: path,
    finishedAt: expect.any(String),
    complete: true,
    leftOut: [],
    exists: true,
  });
  expect(await shown('', { ROSTERCTL_ORG: 'org_8' })).toContain('none from this machine');
  const only = ['backup create backups --only teams', 'backup create backups --no-files'];
  for (const line of only) await rosterctl(line, { env: service.env, home, cwd: home });
  expect(await shown()).toMatch(/\nLast backup +just now · without files\n/);
  rmSync(join(home, 'backups'), { recursive: true });
  expect(await shown()).toMatch(/\nLast backup +just now, but its folder is gone\n/);
});

test('reviews of this machine that cannot be read are a message, not nothing', async () => {
  const service = await listService(club);
  const home = temporaryFolder();
  mkdirSync(join(home, '.local/state/rosterctl'), { recursive: true });
  symlinkSync('reviews', join(home, '.local/state/rosterctl/reviews'));
  const ran = await inProcess('overview --json', { env: service.env, home });
  expect([ran.code, ran.stderr]).toEqual([
    0,
    expect.stringMatching(/^The reviews in .* cannot be read: .*ELOOP/),
  ]);
});

test('a backup that cannot be read is not called none, or gone', async () => {
  const service = await listService({ ...club, documents: [] });
  const home = temporaryFolder();
  const at = { env: { ...service.env, ROSTERCTL_FORCE_TTY: '80' }, home };
  await rosterctl('backup create kept --no-files', { ...at, cwd: home });
  // A link to itself cannot be read, not even by root.
  renameSync(join(home, 'kept'), join(home, 'moved'));
  symlinkSync('kept', join(home, 'kept'));
  const folder = await inProcess('overview', at);
  expect(folder.stdout).toMatch(/\nLast backup +just now, but its folder cannot be read\n/);
  const { exists } = JSON.parse((await inProcess('overview --json', at)).stdout).backup;
  expect(exists).toBeNull();
  const backups = join(home, '.local/state/rosterctl/backups');
  rmSync(backups, { recursive: true });
  symlinkSync('backups', backups);
  const record = await inProcess('overview', at);
  expect(record.stdout).toMatch(/\nLast backup +not known: its record cannot be read\n/);
  expect(record.stderr).toMatch(/The record of the last backup, .*, cannot be read: .*ELOOP/);
  expect(JSON.parse((await inProcess('overview --json', at)).stdout).backup).toBeNull();
});

describe('the page', () => {
  const busy: Overview = {
    schema: 1,
    profile: 'club',
    organization: 'org_demo',
    waiting: {
      pending: 276,
      oldest: { id: 'a', name: 'Kite', submittedAt: daysAgo(56) },
      reviewing: 370,
      shortlisted: 171,
    },
    changed: { submitted: 120, updated: 300 },
    unfinished: {
      runs: ['aaaaaa', 'bbbbbb', 'cccccc'].map((run) => ({ run, left: 62, total: 90 })),
      uploads: 3,
      decisions: 12,
    },
    backup: {
      snapshot: '/srv/backups/2026-11-22T010000Z',
      finishedAt: daysAgo(3),
      complete: true,
      exists: true,
    },
    findings: Object.fromEntries(ruleCodes.map((code) => [code, 12])),
    skipped: [],
  };
  const page = (columns: number, value = busy, unread = new Map<'teams', string>()) =>
    overviewLines(
      { overview: value, unread, failure: undefined },
      describeUnsent(value.unfinished.decisions),
      (text) => text.replace('rosterctl', 'rosterctl -p club'),
      { now: new Date(), columns, isTerminal: true, isUtf8: true, paint: createPaint(false) },
    );

  test('fits a screen of 80x24, with a line for the prompt', () => {
    const lines = page(80);
    expect(lines.length).toBeLessThanOrEqual(23);
    for (const line of lines) expect(displayWidth(line), line).toBeLessThanOrEqual(80);
    expect(lines).toContain('             3 runs');
    expect(lines).toContain('             rosterctl -p club runs list');
  });

  test('puts the commands beside the texts on a wide screen', () => {
    expect(page(140).find((line) => line.startsWith('Waiting'))).toMatch(
      /^Waiting {6}276 pending, oldest waits 56 d +rosterctl -p club tryouts list --status pending$/,
    );
  });

  test('breaks a command that does not fit 40 columns so that it can be pasted', () => {
    const shown = page(40).join('\n');
    expect(shown).toContain(`
  rosterctl -p club tryouts list \\
      --status pending
`);
    for (const line of page(40))
      expect(displayWidth(line) <= 40 || line.includes('rosterctl'), line).toBe(true);
  });

  test.each([40, 59, 60, 80, 140, 250])(
    'keeps to %i columns, whatever the names hold',
    (columns) => {
      for (const text of hostileTexts) {
        const unread = new Map([['teams', `the list may be incomplete: ${text}`]] as const);
        for (const line of page(columns, { ...busy, organization: text, profile: text }, unread)) {
          expect(forbidden.exec(line.toWellFormed()), JSON.stringify(line)).toBeNull();
          if (!line.includes('rosterctl')) expect(displayWidth(line)).toBeLessThanOrEqual(columns);
        }
      }
    },
  );
});
