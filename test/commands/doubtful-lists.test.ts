import { describe, expect, test } from 'vitest';
import { inProcess } from '../support/in-process.js';
import { errorOf, rosterctl, temporaryFolder } from '../support/run.js';
import { type Reply, recordingService } from '../support/service.js';

// What stderr says of a list of exactly 20 records, at a service that shows no paging: first why,
// then what to do, each once.

const teams = Array.from({ length: 20 }, (_, index) => ({ id: `t${index}`, name: `T${index}` }));
const service = await recordingService(({ url }) => ({
  status: 200,
  json: url.includes('/teams') ? teams : [],
}));
const home = temporaryFolder();
const run = (line: string) => inProcess(line, { env: service.env, home });

const why =
  'list of teams may be incomplete: exactly 20 records arrived and the service says nothing about more.';
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

  test('is no list to find the record of a reference in', async () => {
    const ran = await run('teams update name:T1 --name x --json');
    expect([ran.code, errorOf(ran).code]).toEqual([11, 'incomplete']);
  });

  test('check --json has the same hint in its error', async () => {
    const ran = await run('check --only team.empty --json');
    expect(errorOf(ran)).toMatchObject({ code: 'incomplete', hint: hints.join('\n') });
  });
});

test('a refused next page says how to find out its parameters, and doubts no organization', async () => {
  const paged = await recordingService(({ url }) =>
    url.includes('page=2')
      ? { status: 400, json: { error: { status: 400, message: 'Invalid pagination attributes' } } }
      : { status: 200, json: { data: teams, meta: { page: 1, pageSize: 20, total: 41 } } },
  );
  const at = { env: paged.env, home: temporaryFolder() };
  const hint = `The first page was read; a later one was refused.\n${hints[1]}`;
  const list = await rosterctl('teams list --json', at);
  expect([list.code, errorOf(list)]).toMatchObject([3, { hint }]);
  const doctor = await rosterctl('doctor --json', at);
  const checks = JSON.parse(doctor.stdout) as { check: string; hint: string }[];
  expect(checks.find(({ check }) => check === 'read teams')?.hint).toBe(hint);
});

describe('a page that breaks after others were read', () => {
  const broken: readonly (readonly [what: string, reply: Reply, says: string])[] = [
    ['is a web page', { status: 200, text: '<html></html>' }, 'answered with a web page'],
    ['is empty', { status: 200 }, 'is empty.'],
    ['is redirected', { status: 302, headers: { location: '/login' } }, 'Unexpected redirect'],
    ['never comes', (_, response) => void response.destroy(), ''],
  ];
  test.each(broken)('%s: the page is to blame, not the base URL', async (_, reply, says) => {
    const paged = await recordingService(({ url }) => {
      const page = Number(/page=(\d)/.exec(url)?.[1] ?? 1);
      if (page === 3) return reply;
      const data = teams.map(({ id, name }) => ({ id: `${page}${id}`, name }));
      return { status: 200, json: { data, meta: { page, pageSize: 20, total: 60 } } };
    });
    const at = { env: paged.env, home: temporaryFolder() };
    for (const line of ['teams list --json', 'api teams/org_7 --paginate --json']) {
      const ran = await inProcess(`${line} --retries 0`, at);
      expect(ran.stdout).toBe('');
      expect(String(errorOf(ran)['message'])).toContain(says);
      expect(errorOf(ran)['hint']).toBe(
        'The first 2 pages were read; page 3 was not. Run the same command again.',
      );
    }
  });

  test('but the first page may be that of another address', async () => {
    const web = await recordingService(() => ({ status: 200, text: '<html></html>' }));
    const ran = await inProcess('teams list --json', { env: web.env, home: temporaryFolder() });
    expect(errorOf(ran)['hint']).toBe('Check the base URL: rosterctl auth status');
  });
});
