import { expect, test } from 'vitest';
import { inProcess } from '../../support/in-process.js';
import { rosterctl, temporaryFolder } from '../../support/run.js';
import { application, keep } from '../tryouts/service.js';

test('a person reads that a long or private value changed, not its hash', async () => {
  const home = temporaryFolder();
  const at200 = { ROSTERCTL_FORCE_TTY: '200' };
  const run = (line: string) => inProcess(`-p sandbox ${line}`, { home, env: at200 });
  const long = 'x'.repeat(400);
  const shown = async (line: string) => {
    expect((await run(`${line} -q`)).code).toBe(0);
    return (await run('runs show last')).stdout;
  };
  expect(await shown('tryouts update app_0003 --note first --yes')).toContain('note');
  expect(await shown('tryouts update app_0003 --append-note second')).toContain('notes changed');
  expect(await shown(`players update player_0001 -F bio=${long} -F role=IGL`)).toMatch(
    /Role \S+ → IGL, Bio added/,
  );
  expect(await shown(`players update player_0001 -F bio=${long}y`)).toContain('Bio changed');
  expect(await shown(`players create --name Nim -F bio=${long}`)).toContain('Name Nim, Bio …');
});

test('the last run is that of the organization in use, or else the newest', async () => {
  const service = await keep([application('app_1')]);
  const home = temporaryFolder();
  await inProcess('-p sandbox tryouts update app_0003 --note first --yes', { home });
  await inProcess('tryouts update app_1 --note second', { home, env: service.env });
  const last = async (flags: string, env: Readonly<Record<string, string>> = {}) => {
    const ran = await inProcess(`${flags} runs show last --json`, { home, env });
    return (JSON.parse(ran.stdout) as { organization: string }).organization;
  };
  expect(await last('-p sandbox')).toBe('org_demo');
  expect(await last('', service.env)).toBe('org_7');
  expect(await last('--org org_9', service.env)).toBe('org_7');
});

test('an undo that empties a field named like a resource is no deletion', async () => {
  const home = temporaryFolder();
  const at = { home, cwd: home, env: { ROSTERCTL_FORCE_TTY: '100' } };
  const run = (line: string, by: typeof rosterctl | typeof inProcess = inProcess) =>
    by(`-p sandbox ${line}`, at);
  await run('players update player_0001 -F team=Foxes');
  const previewed = await run('runs undo last -n');
  expect(previewed.stdout).toContain('would change  Team Foxes → -');
  expect(previewed.stderr).toContain('player_0001  Nimbus Kite  Team Foxes → -');
  expect((await run('runs undo last --yes')).stdout).toContain('(player_0001): Team Foxes → -.');
  expect((await run('runs show last')).stdout).toMatch(/player_0001 +undone +Team Foxes → -/);
  // The same field in a player that the undo deletes.
  await run('players create --name Nim -F team=null');
  await run('runs undo last --plan undo.json');
  expect((await run('plan show undo.json')).stdout).toMatch(/Nim +delete$/m);
  expect((await run('runs undo last --yes --expect 1', rosterctl)).stdout).toContain('): deleted.');
  expect((await run('runs show last', rosterctl)).stdout).toMatch(
    /player_\d+ +deleted +player Nim/,
  );
});
