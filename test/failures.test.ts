import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { renderFailure } from '../src/cli/failure.js';
import { inProcess } from './support/in-process.js';
import { rosterctl, temporaryFolder } from './support/run.js';
import { type Reply, recordingService } from './support/service.js';

// The table of failures stands in failures.txt, as a terminal shows it.

interface FailureRow {
  readonly world: string;
  readonly line: string;
  readonly lines: readonly string[];
  readonly code: number;
}

const table = readFileSync(new URL('failures.txt', import.meta.url), 'utf8');
const rows: readonly FailureRow[] = table
  .split(/^## /m)
  .slice(1)
  .flatMap((section) => {
    const [world = '', ...sessions] = section.split('\n\n$ rosterctl ');
    return sessions.map((session) => {
      const lines = session.trimEnd().split('\n');
      const [line = '', ...shown] = lines.slice(0, -1);
      return { world, line, lines: shown, code: Number(/\d+/.exec(lines.at(-1) ?? '')?.[0]) };
    });
  });

test('the table holds at least 100 failures, of every exit code that an error has', () => {
  expect(rows.length).toBeGreaterThanOrEqual(100);
  expect(new Set(rows.map(({ code }) => code))).toEqual(new Set([1, 2, 3, 4, 5, 6, 7, 9, 10, 11]));
});

/** Where most lines stand, since those in one process share a folder. */
const shared = temporaryFolder();
fillHome(shared, '');

/** One line of each exit code has a process, and so has the one about the folder that it stands in. */
const hasProcess = (row: FailureRow) =>
  rows.find(({ code }) => code === row.code) === row || row.line.endsWith(' .');

test.concurrent.each(rows)('$world: $line', async (row) => {
  const { world, line, lines, code } = row;
  const home = temporaryFolder();
  const { env, origin } = await serviceOf(world);
  fillHome(home, world);
  const ran = await (hasProcess(row)
    ? rosterctl(line, { home, cwd: home, env })
    : inProcess(line, { home, cwd: shared, env }));
  const said = ran.stderr
    .trimEnd()
    .replaceAll(home, '~')
    .replaceAll(origin, 'http://HOST')
    // What is left of the wait when the answer has been read: less on a busy machine.
    .replace(/Waiting 0\.[12] s/, 'Waiting 0.2 s')
    .replace(/\d{8}T\d+-\w+(-\w+)?/g, 'RUN');
  expect([ran.code, ...said.split('\n')]).toEqual([code, ...lines]);
});

/** True if a sentence begins with a capital letter, or with what was typed or is at fault. */
const isNamed = (text: string, line: string) =>
  /^[A-Z"]/.test(text) ||
  line.includes(text.split(/[ :]/)[0] ?? '') ||
  /^(--|http|~|rosterctl)/.test(text);

/** A list of the fields there are, or an example of one. */
const namesFields = /^(?:Columns|Write|See the questions|Known fields)/;

/** Text to type or to paste, which may name fields and be wider than the screen. */
const toCopy = /^(?:[^:]{0,24}: )?(?:rosterctl |-)|: rosterctl /;

describe('every sentence of the table', () => {
  const each = rows.flatMap(({ line, lines }) => lines.map((text) => ({ line, text })));
  const prose = each.filter(({ text }) => !toCopy.test(text));
  const offending = (of: typeof each, isWrong: (text: string, line: string) => boolean) =>
    of.filter(({ text, line }) => isWrong(text, line)).map(({ text }) => text);

  test('is one of at most four', () => {
    expect(rows.filter(({ lines }) => lines.length > 4)).toEqual([]);
  });

  test('says first what happened, with a capital letter or the name of what is wrong', () => {
    const first = rows.map(({ line, lines }) => ({ line, text: lines[0] ?? '' }));
    expect(offending(first, (text) => !/[.?]$/.test(text))).toEqual([]);
    expect(offending(first, (text, line) => !isNamed(text, line))).toEqual([]);
  });

  test('is plain English', () => {
    const odd =
      /(?<!there )\b(?:is no|are no|already so|goes on|go on|a word is missing|word too many|mend|guess|told|hence|nobody|strangers|whoever)\b/i;
    expect(offending(each, (text) => odd.test(text))).toEqual([]);
  });

  test('names no section of the contract, and fields of the API only to be copied', () => {
    const internal = /\bcontract\b|\bsection \d/i;
    expect(offending(each, (text) => internal.test(text))).toEqual([]);
    const field = /\b(?:internalNotes|submittedAt|discordUserId|formResponses|sizeBytes|fileKey)\b/;
    expect(offending(prose, (text) => field.test(text) && !namesFields.test(text))).toEqual([]);
  });

  test('has one space between sentences, and no space before its end', () => {
    expect(offending(each, (text) => /\S {2,}\S|(?<!ls) [.?]$|\.\.$/.test(text))).toEqual([]);
  });

  test('suggests what can be copied: known commands, at the end of the line', () => {
    const suggestions = each.filter(({ text }) =>
      /^(?!Unexpected).*\brosterctl (?!has)/.test(text),
    );
    expect(suggestions.length).toBeGreaterThan(50);
    expect(offending(suggestions, (text) => /[.;,]$/.test(text))).toEqual([]);
  });

  test.each([40, 80, 120])('fits %i columns, broken between words', (columns) => {
    const screen = { isTerminal: true, color: false, columns };
    for (const { lines } of rows) {
      const shown = renderFailure(lines, screen, { LANG: 'C.UTF-8' });
      expect(shown.join(' ').replace(/\s+/g, ' ')).toBe(`✘ ${lines.join(' ')}`);
      const wide = shown
        .map((line) => line.replace(/^✘/, '').trim())
        .filter((line) => line.length > columns);
      expect(wide.filter((line) => line.includes(' ') && !toCopy.test(line))).toEqual([]);
    }
  });
});

/** A service as the heading of the table names it. */
async function serviceOf(world: string): Promise<{ env: Record<string, string>; origin: string }> {
  const status = /^status (\d+) ?(.*)/.exec(world);
  const record = { id: 'app_1', status: 'pending', name: 'Ann', internalNotes: 'old' };
  const answers: Readonly<Record<string, Reply>> = {
    'one record': { status: 200, json: record },
    'no answer': () => {},
    'a web page': { status: 200, text: '<html>', headers: { 'content-type': 'text/html' } },
    'a cut connection': (_, response) => response.destroy(),
    'an answer that breaks off': (_, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '99' });
      response.write('[{"id":', () => response.destroy());
    },
  };
  const empty = { status: 200, json: [] };
  const refusal = status && { status: Number(status[1]), json: JSON.parse(status[2] || '{}') };
  const { env, origin } = await recordingService(() => refusal ?? answers[world] ?? empty);
  if (world === 'no key') return { env: { ...env, ROSTERCTL_API_KEY: '' }, origin };
  if (world === 'a dead port')
    return { env: { ...env, ROSTERCTL_BASE_URL: 'http://127.0.0.1:9/v1' }, origin };
  return { env: /^a (fresh|damaged)/.test(world) ? {} : env, origin };
}

function fillHome(home: string, world: string): void {
  const files = {
    'drawing.svg': '<svg/>',
    'fake.pdf': 'no pdf',
    'note.txt': 'a note',
    'empty.txt': '',
    'bad.json': '{"a":',
    'list.json': '[1,2]',
    'ids.txt': 'app_1\napp_1\n',
    'rows.csv': 'id,statu\napp_1,x\n',
    'noid.csv': 'name\nx\n',
    'typo.csv': 'name,emial\nx,x@example.org\n',
    'roster.csv': 'Name,E-Mail\nMira,\n',
    'sheet.csv': 'id,status\napp_1,#REF!\n',
    'wide.csv': 'id,status\napp_1,a,b\n',
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(home, name), text);
  mkdirSync(join(home, 'papers'));
  if (world !== 'a damaged configuration') return;
  mkdirSync(join(home, '.config/rosterctl'), { recursive: true });
  writeFileSync(join(home, '.config/rosterctl/config.json'), '{');
}
