import { expect, test } from 'vitest';
import { converse } from '../support/converse.js';
import { rosterctl, temporaryFolder } from '../support/run.js';
import { recordingService } from '../support/service.js';

/** A service that asks once to wait 3 s, then responds. */
async function busyService() {
  let asked = 0;
  return recordingService(() =>
    ++asked === 1
      ? { status: 429, headers: { 'retry-after': '3' } }
      : { status: 200, json: { id: 'team_1', organizationId: 'org_7', name: 'Foxes' } },
  );
}

const waits = /The service asks you to wait; trying again in [34] s\./;

test.concurrent('a wait requested by the service is noted in a terminal', async () => {
  const { env } = await busyService();
  const { shown, code } = await converse(
    temporaryFolder(),
    ['teams', 'get', 'team_1', '--fields', 'name'],
    [],
    env,
  );
  expect(shown).toMatch(waits);
  expect(shown).toContain('Foxes');
  expect(code).toBe(0);
});

test.concurrent('it is not noted in a log or with --quiet', async () => {
  const [log, quiet] = await Promise.all([busyService(), busyService()]);
  const [piped, still] = await Promise.all([
    rosterctl('teams get team_1 --json', { env: log.env }),
    converse(temporaryFolder(), ['teams', 'get', 'team_1', '--quiet'], [], quiet.env),
  ]);
  expect(piped.stderr + still.shown).not.toMatch(waits);
  expect([piped.code, still.code]).toEqual([0, 0]);
});
