import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { globalFlags } from '../../src/cli/global-flags.js';
import { commandHelp, groupHelp, rootHelp, startPage } from '../../src/cli/help.js';
import { helpTopic } from '../../src/cli/help-topic.js';
import { topicTexts } from '../../src/cli/pages/topics.js';
import { readManifest } from '../../src/data/command-manifest.js';
import { fitPage } from '../../src/terminal/page.js';
import { converse } from '../support/converse.js';
import { converseInside } from '../support/converse-inside.js';
import { inProcess } from '../support/in-process.js';
import { rosterctl, temporaryFolder } from '../support/run.js';

const table = readManifest(
  readFileSync(new URL('../../dist/table.json', import.meta.url), 'latin1'),
);

test.each(topicTexts())(
  'the page on $name fits a terminal of 80 columns',
  async ({ name, text }) => {
    const ran = await inProcess(`help ${name}`);
    expect([ran.code, ran.stdout, ran.stderr]).toEqual([0, fitPage(text, 80), '']);
    expect(wordsOf(ran.stdout)).toEqual(wordsOf(text));
    expect(tooWide(ran.stdout)).toEqual([]);
  },
);

test.each(topicTexts())('the paragraphs of help $name are full at any width', ({ text }) => {
  for (const width of [40, 60, 80]) {
    const page = fitPage(text, width);
    const long = tooWide(page, width).map((line) => line.replace(/ \\$/, '').trim());
    expect(long.filter((line) => line.includes(' '))).toEqual([]);
    // The first word of the next line, or a command to be copied, did not fit on the line before it.
    for (const [, line, next] of page.matchAll(/^(\S.*)\n(?=(\(?rosterctl .*|-.*|\S+))/gm))
      expect(`${line} ${next}`.length).toBeGreaterThan(width);
  }
});

test('help with the words of a command prints the page of its --help', async () => {
  const page = { width: 80, bold: (text: string) => text };
  for (const command of table.commands)
    expect(await helpTopic(command.words, { table, topics: () => ({}) }, page)).toBe(
      commandHelp(command, { long: true, ...page }),
    );
});

test('-h leaves out a flag of a command only if the page would have more than 45 lines', () => {
  const page = { width: 80, bold: (text: string) => text };
  for (const command of table.commands) {
    const short = commandHelp(command, { long: false, ...page });
    const missing = command.flags.filter(
      ({ word }) => !new RegExp(`^ .*${word}\\b`, 'm').test(short),
    );
    const lines = short.trimEnd().split('\n').length;
    expect(lines).toBeLessThanOrEqual(45);
    if (missing.length > 0) expect(lines + missing.length).toBeGreaterThan(45);
  }
});

test('with --json, help holds the page of a topic, a noun or everything as text', async () => {
  for (const words of ['', 'teams', 'teams list', 'exit-codes']) {
    const page = await inProcess(words === '' ? 'help' : `help ${words}`);
    const json = await inProcess(`help ${words} --json`);
    expect([json.code, JSON.parse(json.stdout)]).toEqual([0, { text: page.stdout }]);
  }
});

test('the text beside a flag in help bulk flows, in a pipe and at a terminal', async () => {
  const { stdout } = await rosterctl('help bulk');
  expect(stdout).toContain(`
  --ids  one id per line, NDJSON, a JSON array, or a CSV with an id column; - is
         stdin
  --csv  an id column (or another one, with --key) and the fields to set; for
         tryouts: status, internalNotes (or note) and if_status. A file that
         list -o csv wrote works as it is, and so does a workbook (list --out
         FILE.xlsx), saved by any spreadsheet program: --sheet NAME reads a
         sheet other than the first,`);
  expect(await topicAt('bulk', 200)).toContain(stdout.slice(80));
  expect(await topicAt('import', 40)).toContain(`
  discordUsername
      Discord, Discord name, Discord
      username, Discord tag or Discord
      handle
`);
  expect(await topicAt('cursors', 40)).toContain(`
  --limit N
      print the oldest N; the others
      come next time
`);
});

/** What a terminal of so many columns shows of a topic. */
async function topicAt(topic: string, columns: number): Promise<string> {
  const own = { PAGER: '' };
  const { shown } = await converseInside(temporaryFolder(), ['help', topic], [], own, columns);
  return shown.replaceAll('\r', '');
}

test('the start page breaks its commands at 40 columns as -h does', () => {
  expect(startPage(table, 40)).toContain(`
  rosterctl -p sandbox tryouts \\
      list --status pending

Connect your organization:
  rosterctl auth login
      # store an API key and check it
`);
});

test('a person pastes the commands of every topic, however narrow the terminal was', () => {
  for (const { text } of topicTexts()) {
    const typed = pasted(fitPage(text, 80));
    expect(pasted(fitPage(text, 40))).toEqual(typed);
    expect(pasted(fitPage(text, 1000))).toEqual(typed);
    for (const words of typed) expect([words, unknownIn(words)]).toEqual([words, []]);
  }
  const cursors = topicTexts().find(({ name }) => name === 'cursors')?.text ?? '';
  expect(pasted(fitPage(cursors, 40)).map((words) => words.join('|'))).toEqual([
    '-p|club|tryouts|list|--since-last|mail|-q|--template|{name} {email}',
    '-p|club|tryouts|list|--since-last|discord|--peek|-q|--out|new.txt',
    '-p|club|cursors|commit|discord|-q',
    'cursors|list',
    'cursors|show|discord',
    'cursors|reset|discord',
    'cursors|reset|discord|--at|7d',
    'cursors|reset|tryouts/discord',
  ]);
});

/** What bash makes of the commands of a page: the words of each. */
function pasted(page: string): string[][] {
  const commands = page.match(/^  (?:# .*|rosterctl (?:.*(?:\\|&&)\n)*.*)$/gm) ?? [];
  const shell = `post() { :; }; rosterctl() { printf '%s\\t' "$@"; echo; }\n${commands.join('\n')}`;
  const { stdout, stderr } = spawnSync('bash', ['-c', shell], { cwd: temporaryFolder() });
  expect(stderr.toString()).toBe('');
  const lines = stdout.toString().split('\n').slice(0, -1);
  return lines.map((line) => line.split('\t').slice(0, -1));
}

/** The words of a command line that the tool would not know: its command, or a flag. */
function unknownIn(words: readonly string[]): readonly string[] {
  const said = words[0] === '-p' ? words.slice(2) : words;
  const name = said.join(' ').replace(/^docs /, 'documents ');
  const command = table.commands.find((entry) =>
    `${name} `.startsWith(`${entry.words.join(' ')} `),
  );
  if (!command) return said;
  const flags = [...command.flags, ...globalFlags].flatMap(({ word, short }) => [
    word,
    `-${short}`,
  ]);
  return said.filter((word) => word.startsWith('-') && !flags.includes(word));
}

/** All pages except the topics. */
function pages(width?: number): string[] {
  return [true, false].flatMap((long) => [
    startPage(table, width),
    rootHelp(table, { long, width }),
    ...table.groups.map((group) => groupHelp(group, table, { width })),
    ...table.commands.map((command) => commandHelp(command, { long, width })),
  ]);
}

test('the pages of the tool, its nouns and its commands fit 80 columns', () => {
  expect(pages().flatMap((page) => tooWide(page))).toEqual([]);
});

test('the short pages fit 40 columns', () => {
  const short = pages(40).slice(pages().length / 2);
  expect(short.flatMap((page) => tooWide(page, 40))).toEqual([]);
});

const plain = (text: string) => text;

test('-h and --help print the short and the long page', async () => {
  const command = table.commands.find(({ words }) => words.join(' ') === 'tryouts list');
  if (!command) throw new Error('no such command');
  for (const [flag, long] of [
    ['-h', false],
    ['--help', true],
  ] as const) {
    const ran = await rosterctl(`tryouts list ${flag}`);
    expect([ran.code, ran.stdout, ran.stderr]).toEqual([
      0,
      commandHelp(command, { long, bold: plain }),
      '',
    ]);
  }
});

test('a page fits a narrow terminal without breaking a word', async () => {
  for (const [index, page] of pages(50).entries())
    expect(wordsOf(page)).toEqual(wordsOf(pages()[index] ?? ''));
  const home = temporaryFolder();
  for (const line of [
    '--help',
    'tryouts -h',
    'tryouts list -h',
    'help output',
    'help tryouts get',
  ]) {
    const { shown } = await converseInside(home, line.split(' '), [], { PAGER: '' }, 50);
    const [lines, long] = [shown.split(/\r?\n/), tooWide(shown.replaceAll('\r', ''), 50)];
    expect(lines.length).toBeGreaterThan(5);
    // Unbreakable text: an id, a path, a command to be copied.
    expect(long.filter((each) => each.trim().includes(' ') && !each.includes('rosterctl'))).toEqual(
      [],
    );
  }
});

/** The words in bold on the page that a line prints at a terminal. */
async function bold(line: string) {
  const { shown } = await converse(temporaryFolder(), line.split(' '), [], { PAGER: '' }, 80);
  // oxlint-disable-next-line no-control-regex
  return [...shown.matchAll(/\u001b\[1m(.*?)\u001b\[22m/g)].map(([, text]) => text);
}

test('headings of a topic are bold at a terminal, as those of a command are', async () => {
  expect(await bold('help undocumented')).toEqual([
    'What rosterctl assumes about the service',
    'Lists',
    'Downloads',
    'Fields',
  ]);
  expect(await bold('help fields')).toContain('Players (rosterctl players)');
  expect(await bold('tryouts get -h')).toContain('Examples');
  expect((await inProcess('help fields')).stdout).not.toContain('\u001b');
});

test('a shell reads an example of several lines as one', async () => {
  const { stdout } = await rosterctl('documents create -h');
  const example = /^  (rosterctl [^]*?)\n\n/m.exec(stdout)?.[1] ?? '';
  expect(example).toContain('\\\n');
  const split = spawnSync('bash', ['-c', `rosterctl() { printf '%s ' "$@"; }; ${example}`]);
  expect(split.stdout.toString()).toBe(
    'documents create --file-key documents/org_1/upload_1.pdf --file-ref private://files/1 --content-type application/pdf --size-bytes 1024 --name Contract --dry-run ',
  );
});

test.each(['--help tryouts list', 'tryouts --help list', 'tryouts list --help'])(
  '%s prints the full page of that command',
  async (line) => {
    expect((await inProcess(line)).stdout).toBe((await inProcess('help tryouts list')).stdout);
  },
);

test('the page of the tool lists every flag that works without a command', async () => {
  const { stdout } = await inProcess('--help');
  expect(stdout).toMatch(/^ +-h, --help /m);
  expect(stdout).toMatch(/^ +-V, --version /m);
  expect(stdout).not.toMatch(/^  \w+ .*:.*:/m);
});

/** The words of a page, regardless of its line breaks. */
function wordsOf(page: string): string[] {
  return page.split(/\s+/).filter((word) => word !== '\\' && word !== '#');
}

function tooWide(page: string, width = 80): string[] {
  return page.split('\n').filter((line) => line.length > width);
}

function shortPage(words: string): string {
  const command = table.commands.find((entry) => entry.words.join(' ') === words);
  return command ? commandHelp(command, { long: false }) : '';
}

test('-y is on the pages of commands that may ask, and on no others', () => {
  for (const words of ['teams delete', 'documents upload', 'tryouts set-status', 'tryouts convert'])
    expect(shortPage(words)).toContain('-y, --yes');
  for (const words of ['teams create', 'uploads put', 'config set'])
    expect(shortPage(words)).not.toContain('--yes');
});

test('the short page of an import has the flags that its errors advise', async () => {
  const { stdout } = await inProcess('players import -h');
  for (const flag of ['--map ', '--ignore-columns ', '--skip-invalid '])
    expect(stdout).toContain(`\n      ${flag}`);
});

test('the short page of the tool has at most 45 lines', async () => {
  const short = (await inProcess('-h')).stdout;
  expect(short.split('\n').length - 1).toBeLessThanOrEqual(45);
  expect(short).toContain('help TOPIC: environment, exit-codes');
  expect((await inProcess('--help')).stdout).toContain('help environment   variables');
});

test('the short page of auth login shows --base-url and --org', async () => {
  const { stdout } = await inProcess('auth login -h');
  expect(stdout).toContain('--base-url URL');
  expect(stdout).toContain('--org ID');
});

test.each([
  ['players update', 'PUT /players/{id}'],
  ['documents delete', 'DELETE /documents/{id}'],
])('the page of %s shows its own route', async (words, route) => {
  expect((await inProcess(`${words} --help`)).stdout.replace(/\s+/g, ' ')).toContain(route);
});

test('help undocumented lists every key that overrides an assumption', async () => {
  const { stdout } = await inProcess('help undocumented');
  for (const key of ['columns', 'readOnly', 'lists', 'paging', 'endpoints'])
    expect(stdout).toMatch(new RegExp(`^  ${key}\\.`, 'm'));
  expect((await inProcess('config set --help')).stdout).toContain('columns.*');
  expect((await inProcess('config set colums.x a')).stderr).toContain('help undocumented');
});

test('help environment lists the proxy variables', async () => {
  expect((await inProcess('help environment')).stdout).toMatch(/^  HTTPS_PROXY, HTTP_PROXY /m);
});

test.each([
  ['--json', {}],
  ['', { ROSTERCTL_OUTPUT: 'json' }],
])('a topic is JSON where a flag or the environment asks for it: %s %j', async (flag, env) => {
  const ran = await inProcess(`help exit-codes ${flag}`, { env });
  expect(Object.keys(JSON.parse(ran.stdout) as object)).toEqual(['text']);
});
