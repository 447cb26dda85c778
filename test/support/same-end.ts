/** Lines that end in the process of a test as in one of their own. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { readBack } from '../screens/emulator.js';
import { type Answer, converse } from './converse.js';
import { converseInside } from './converse-inside.js';
import { inProcess } from './in-process.js';
import { rosterctl, splitWords, temporaryFolder } from './run.js';
import { recordingService } from './service.js';

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

/** Runs a line as a process and in this one, and expects the same end. */
export async function expectSameEnd(line: string): Promise<void> {
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
}

/** Shows a line at a terminal of the system and at the stand-in, and expects the same. */
export async function expectSameView(
  line: string,
  columns: number,
  answers: readonly Answer[],
): Promise<void> {
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
}
