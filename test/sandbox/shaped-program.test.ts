import { expect, onTestFinished, test } from 'vitest';
import { errorOf, rosterctl, startRosterctl, temporaryFolder } from '../support/run.js';

/** `sandbox start` with flags in a home of its own, until the test is over. */
async function started(...words: string[]): Promise<string> {
  const home = temporaryFolder();
  const server = startRosterctl(['sandbox', 'start', '--json', ...words], { home });
  const ended = new Promise((resolve) => server.on('exit', resolve));
  onTestFinished(async () => {
    server.kill('SIGTERM');
    await ended;
  });
  await new Promise((resolve) => server.stdout.once('data', resolve));
  return home;
}

test('sandbox start without a state folder says that its data is in memory', async () => {
  const server = startRosterctl(['sandbox', 'start', '--json'], {
    home: temporaryFolder(),
    env: { HOME: '' },
  });
  const [ready, why] = await Promise.all(
    [server.stdout, server.stderr].map(
      (stream) =>
        new Promise<string>((resolve) => stream.once('data', (text) => resolve(`${text}`))),
    ),
  );
  expect(JSON.parse(ready ?? '')).toMatchObject({ organizationId: 'org_demo' });
  expect(why).toBe(
    'The data is in memory and lost when this server ends: there is no home folder. To keep it, set ROSTERCTL_STATE_DIR.\n',
  );
  const ended = new Promise((resolve) => server.on('exit', resolve));
  server.kill('SIGTERM');
  expect(await ended).toBe(0);
});

test('a shaped sandbox is the service of other commands', async () => {
  const home = await started(
    '--shape',
    'list=data',
    '--shape',
    'paging=cursor',
    '--shape=page-size=4',
  );
  const teams = await rosterctl('-p sandbox teams list --json=id', { home });
  expect([teams.code, teams.stderr]).toEqual([0, '']);
  expect(JSON.parse(teams.stdout)).toHaveLength(6);
  const page = await rosterctl('-p sandbox api /teams/org_demo', { home });
  expect(JSON.parse(page.stdout)).toMatchObject({ total: 6, nextCursor: 'YXQ6NA' });
});

test('shapes end with their server, and what was written through them stays', async () => {
  const home = temporaryFolder();
  const server = startRosterctl(
    ['sandbox', 'start', '--json', '--shape', 'ids=number', '--shape', 'casing=snake'],
    { home },
  );
  await new Promise((resolve) => server.stdout.once('data', resolve));
  const updated = await rosterctl('-p sandbox teams update 2 -F home_ground=Pier --json', { home });
  expect(updated.code).toBe(0);
  server.kill('SIGTERM');
  await new Promise((resolve) => server.on('exit', resolve));
  const { stdout } = await rosterctl('-p sandbox teams get team_0002 --json=homeGround', { home });
  expect(JSON.parse(stdout)).toEqual({ homeGround: 'Pier' });
});

test.each([
  ['--shape lits=data', 'Unknown shape "lits". Did you mean list?'],
  ['--shape paging=curser', 'Unknown value "curser" for paging. Did you mean cursor?'],
  ['--shape paging', 'Not a shape: "paging". Write KEY=VALUE.'],
  ['--shape', '--shape needs a value.'],
])('sandbox start %s is a usage error', async (flags, message) => {
  const ran = await rosterctl(`sandbox start --json ${flags}`);
  expect(ran.code).toBe(2);
  expect(errorOf(ran)['message']).toContain(message);
});
