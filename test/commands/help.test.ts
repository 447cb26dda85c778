import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { commandHelp, groupHelp, rootHelp, startPage } from '../../src/cli/help.js';
import { topicTexts } from '../../src/cli/pages/topics.js';
import { readManifest } from '../../src/data/command-manifest.js';
import { converse } from '../support/converse.js';
import { rosterctl, temporaryFolder } from '../support/run.js';

const table = readManifest(
  readFileSync(new URL('../../dist/table.json', import.meta.url), 'latin1'),
);

test.each(topicTexts())(
  'the page on $name fits a terminal of 80 columns',
  async ({ name, text }) => {
    const ran = await rosterctl(`help ${name}`);
    expect([ran.code, ran.stdout, ran.stderr]).toEqual([0, text, '']);
    expect(tooWide(text)).toEqual([]);
  },
);

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
    const { shown } = await converse(home, line.split(' '), [], { PAGER: '' }, 50);
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
  expect((await rosterctl('help fields')).stdout).not.toContain('\u001b');
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
    expect((await rosterctl(line)).stdout).toBe((await rosterctl('help tryouts list')).stdout);
  },
);

test('the page of the tool lists every flag that works without a command', async () => {
  const { stdout } = await rosterctl('--help');
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

test('the short page of auth login shows --base-url and --org', async () => {
  const { stdout } = await rosterctl('auth login -h');
  expect(stdout).toContain('--base-url URL');
  expect(stdout).toContain('--org ID');
});

test.each([
  ['players update', 'PUT /players/{id}'],
  ['documents delete', 'DELETE /documents/{id}'],
])('the page of %s shows its own route', async (words, route) => {
  expect((await rosterctl(`${words} --help`)).stdout.replace(/\s+/g, ' ')).toContain(route);
});

test('help undocumented lists every key that overrides an assumption', async () => {
  const { stdout } = await rosterctl('help undocumented');
  for (const key of ['columns', 'readOnly', 'lists', 'paging', 'endpoints'])
    expect(stdout).toMatch(new RegExp(`^  ${key}\\.`, 'm'));
  expect((await rosterctl('config set --help')).stdout).toContain('columns.*');
  expect((await rosterctl('config set colums.x a')).stderr).toContain('help undocumented');
});

test('help environment lists the proxy variables', async () => {
  expect((await rosterctl('help environment')).stdout).toMatch(/^  HTTPS_PROXY, HTTP_PROXY /m);
});
