import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { commandHelp, groupHelp, rootHelp, startPage } from '../../src/cli/help.js';
import { topicTexts } from '../../src/cli/topics.js';
import { readTable } from '../../src/data/table-file.js';
import { rosterctl } from '../support/run.js';

const table = readTable(readFileSync(new URL('../../dist/table.json', import.meta.url), 'latin1'));

test.each(topicTexts())(
  'the page on $name fits a terminal of 80 columns',
  async ({ name, text }) => {
    const ran = await rosterctl(`help ${name}`);
    expect([ran.code, ran.stdout, ran.stderr]).toEqual([0, text, '']);
    expect(tooWide(text)).toEqual([]);
  },
);

test('so do the pages of the tool, its nouns and its commands, examples aside', () => {
  const pages = [
    startPage(table),
    rootHelp(table, { long: true }),
    ...table.groups.map((group) => groupHelp(group, table)),
    ...table.commands.map((command) => commandHelp(command, { long: true })),
  ];
  expect(pages.flatMap(tooWide).filter((line) => !line.startsWith('  rosterctl '))).toEqual([]);
});

function tooWide(page: string): string[] {
  return page.split('\n').filter((line) => line.length > 80);
}

function shortPage(words: string): string {
  const command = table.commands.find((entry) => entry.words.join(' ') === words);
  return command ? commandHelp(command, { long: false }) : '';
}

test('-y stands on the pages of commands that may ask, and on no others', () => {
  for (const words of ['teams delete', 'documents upload', 'tryouts set-status', 'tryouts convert'])
    expect(shortPage(words)).toContain('-y, --yes');
  for (const words of ['teams create', 'uploads put', 'config set'])
    expect(shortPage(words)).not.toContain('--yes');
});

test('the short page of auth login shows where the key is for', async () => {
  const { stdout } = await rosterctl('auth login -h');
  expect(stdout).toContain('--base-url URL');
  expect(stdout).toContain('--org ID');
});

test.each([
  ['players update', 'PUT /players/{id}'],
  ['documents delete', 'DELETE /documents/{id}'],
])('the route that %s shows is one of its own', async (words, route) => {
  expect((await rosterctl(`${words} --help`)).stdout.replace(/\s+/g, ' ')).toContain(route);
});

test('help undocumented names every key that replaces a guess', async () => {
  const { stdout } = await rosterctl('help undocumented');
  for (const key of ['columns', 'readOnly', 'lists', 'paging', 'endpoints'])
    expect(stdout).toMatch(new RegExp(`^  ${key}\\.`, 'm'));
  expect((await rosterctl('config set --help')).stdout).toContain('columns.*');
  expect((await rosterctl('config set colums.x a')).stderr).toContain('help undocumented');
});

test('help environment names the variables of a proxy', async () => {
  expect((await rosterctl('help environment')).stdout).toMatch(/^  HTTPS_PROXY, HTTP_PROXY /m);
});
