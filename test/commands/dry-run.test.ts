import { expect, test } from 'vitest';
import { rosterctl, temporaryFolder } from '../support/run.js';

test('ROSTERCTL_DRY_RUN is reported also with -q, and nothing is sent', async () => {
  const home = temporaryFolder();
  const env = { ROSTERCTL_DRY_RUN: '1' };
  const update = '-p sandbox teams update team_0001 --name New -q';
  const ran = await rosterctl(update, { home, env });
  expect([ran.code, ran.stderr]).toEqual([0, 'ROSTERCTL_DRY_RUN is set: this is a dry run.\n']);
  const team = await rosterctl('-p sandbox teams get team_0001 --json', { home });
  expect(JSON.parse(team.stdout).name).not.toBe('New');
});
