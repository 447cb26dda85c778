import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readBack } from './screens/emulator.js';
import { converse } from './support/converse.js';
import { converseInside } from './support/converse-inside.js';
import { inProcess } from './support/in-process.js';
import { rosterctl, splitWords, temporaryFolder } from './support/run.js';
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

const change = '-p sandbox tryouts set-status app_0061 app_0062 --to rejected';

test.each([
  ['teams list', 100, []],
  ['teams list', 30, []],
  ['teams get team_1', 60, []],
  ['teams get team_9', 40, []],
  ['teams update team_1 --name Foxes -n', 80, []],
  [change, 80, [[/\(y\/N/, 'n\r']]],
  [change, 80, [[/\(y\/N/, 'y\r']]],
  ['teams get', 80, [[/team_2[^]*Esc/, '\u001b[B\r']]],
  ['teams get', 80, [[/team_2[^]*Esc/, '\u001b']]],
] as const)('%s at %i columns shows what it shows at a terminal of the system', async (...row) => {
  const [line, columns, answers] = row;
  const seen = [];
  for (const talk of [converse, converseInside]) {
    const { env } = await start();
    const home = temporaryFolder();
    const own = { ...env, ROSTERCTL_PAGER: 'none' };
    const { code, shown, printed } = await talk(home, splitWords(line), answers, own, columns);
    // How often a question is drawn again depends on how soon its list comes.
    const text = answers.length === 0 ? printed : (await readBack(shown, columns)).lines.join('\n');
    seen.push({ code, text: steady(text, home).replaceAll(/\b[0-9a-f]{6}\b/g, 'RUN') });
  }
  expect(seen[1]).toEqual(seen[0]);
});
