import { expect, test } from 'vitest';
import { rosterctl, temporaryFolder } from '../../support/run.js';

test('a person reads that a long or private value changed, not its hash', async () => {
  const home = temporaryFolder();
  const at200 = { ROSTERCTL_FORCE_TTY: '200' };
  const run = (line: string) => rosterctl(`-p sandbox ${line}`, { home, env: at200 });
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
