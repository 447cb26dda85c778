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
