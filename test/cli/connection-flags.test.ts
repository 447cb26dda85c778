import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { withConnectionFlags } from '../../src/cli/connection-flags.js';
import { topWords } from '../../src/cli/resolve-command.js';
import { readTable } from '../../src/data/table-file.js';

const table = readTable(readFileSync(new URL('../../dist/table.json', import.meta.url), 'latin1'));

/** What is the same wherever the line goes, or names a place itself. */
const everywhere = new Set(['commands', 'completion', 'help', 'profile', 'sandbox']);

test('a command that is told in a message goes where the line of it went', () => {
  const groups = new Set(table.groups.flatMap(({ aliases }) => aliases));
  for (const word of topWords(table).filter((each) => !groups.has(each)))
    expect(withConnectionFlags(`See: rosterctl ${word} list`, { profile: 'club' }, table)).toBe(
      everywhere.has(word) ? `See: rosterctl ${word} list` : `See: rosterctl -p club ${word} list`,
    );
});

test('one that names a place already stays as it is', () => {
  for (const line of ['rosterctl auth login --profile NAME', 'rosterctl teams list --org o1'])
    expect(withConnectionFlags(line, { profile: 'club' }, table)).toBe(line);
});

test('the flags are quoted as a shell reads them', () => {
  const flags = { org: "o'1 $&", baseUrl: 'http://localhost:1/v1' };
  expect(withConnectionFlags('rosterctl runs resume last', flags, table)).toBe(
    `rosterctl --org 'o'\\''1 $&' --base-url http://localhost:1/v1 runs resume last`,
  );
});
