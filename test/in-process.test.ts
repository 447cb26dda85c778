import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { inProcess } from './support/in-process.js';
import { rosterctl, temporaryFolder } from './support/run.js';
import { recordingService } from './support/service.js';

/** A service with two teams, one of which cannot be deleted. */
const start = () =>
  recordingService(({ method, url }) => {
    if (method === 'DELETE') return { status: 409, json: { error: 'conflict' } };
    if (/team_[12]/.test(url)) return { status: 200, json: { id: 'team_1', name: 'Paper Lions' } };
    if (url.includes('teams'))
      return {
        status: 200,
        json: [{ id: 'team_1', name: 'Paper Lions\u001b[2J' }, { id: 'team_2' }],
      };
    return { status: 404, json: { error: 'notFound' } };
  });

/** What differs from one run to the next: ports, folders, names of runs, times and sums. */
const steady = (text: string, home: string) =>
  text
    .replaceAll(home, 'HOME')
    .replace(/127\.0\.0\.1:\d+/g, 'ADDRESS')
    .replace(/\d{8}-\d{6}-[a-z0-9]+/g, 'RUN')
    .replace(/\d{4}-\d\d-\d\d[T ][\d:.]+Z?/g, 'TIME')
    .replace(/\d+(\.\d+)? ?ms/g, 'MS')
    .replace(/\d+ s ahead/g, 'S ahead');

test.each([
  '--help',
  'teams --help',
  'help journal',
  '',
  '--version',
  'teams lst',
  'teams list --nope --json',
  'teams list',
  'teams list -o csv',
  'teams list --json',
  'teams list -o xlsx',
  'teams list --fields id,name --out teams.csv',
  'teams get team_1 --verbose',
  'teams get team_9',
  'teams get --json team_9',
  'teams update team_1 --name Foxes',
  'teams update team_1 --name Foxes -n',
  'teams delete team_2 --yes --json',
  'teams delete team_2',
  'players create --name Mira',
  'teams create --input -',
  'docs upload note.txt',
  'docs upload -',
  'teams list --max-time 0.5',
  'config set pageSize 50',
  'config list --json',
  'runs list',
  'doctor',
  'auth status',
  'api teams --debug',
  '-p sandbox tryouts list --json',
])('%s ends in this process as in one of its own', async (line) => {
  const ends = [];
  for (const run of [rosterctl, inProcess]) {
    const { env, requests } = await start();
    const home = temporaryFolder();
    writeFileSync(join(home, 'note.txt'), 'a note');
    const ran = await run(line, { home, cwd: home, env, stdin: '{"name":"Foxes"}' });
    ends.push({
      ...ran,
      stdout: steady(ran.stdout, home),
      stderr: steady(ran.stderr, home),
      sent: requests.map(({ method, url, headerNames, body }) => ({
        method,
        url,
        headerNames,
        body: body.toString(),
      })),
    });
  }
  expect(ends[1]).toEqual(ends[0]);
});
