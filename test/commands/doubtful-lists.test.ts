import { describe, expect, test } from 'vitest';
import { errorOf, rosterctl, temporaryFolder } from '../support/run.js';
import { recordingService } from '../support/service.js';

// What stderr says of a list of exactly 20 records, at a service that shows no paging: first why,
// then what to do, each once.

const teams = Array.from({ length: 20 }, (_, index) => ({ id: `t${index}`, name: `T${index}` }));
const service = await recordingService(({ url }) => ({
  status: 200,
  json: url.includes('/teams') ? teams : [],
}));
const home = temporaryFolder();
const run = (line: string) => rosterctl(line, { env: service.env, home });

const why =
  'list of teams may be incomplete: exactly 20 records came and the service says nothing about more.';
const hints = [
  'If no list has pages: rosterctl config set paging.mode none',
  'To find out how it pages: rosterctl doctor --shapes',
];

describe('a list that may be incomplete', () => {
  test.each([
    ['check --only team.empty', 11, `team.empty skipped: the ${why}`],
    ['overview', 0, `The ${why}`],
    ['overview --json', 0, `The ${why}`],
    ['teams list --since-last z', 11, `The ${why} Nothing was printed.`],
    ['teams list -o ids', 0, `The ${why}`],
  ])('%s says why first, and what to do once', async (line, code, first) => {
    const ran = await run(line);
    expect([ran.code, ran.stderr.trimEnd().split('\n')]).toEqual([code, [first, ...hints]]);
  });

  test('check --json has the same hint in its error', async () => {
    const ran = await run('check --only team.empty --json');
    expect(errorOf(ran)).toMatchObject({ code: 'incomplete', hint: hints.join('\n') });
  });
});
