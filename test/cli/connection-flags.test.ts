import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { withConnectionFlags } from '../../src/cli/connection-flags.js';
import { topWords } from '../../src/cli/resolve-command.js';
import { readManifest } from '../../src/data/command-manifest.js';

const table = readManifest(
  readFileSync(new URL('../../dist/table.json', import.meta.url), 'latin1'),
);

/** Commands that do the same for every connection, or name one themselves. */
const everywhere = new Set(['commands', 'completion', 'help', 'profile', 'sandbox']);

test('a command in a message gets the connection flags of the command line', () => {
  const groups = new Set(table.groups.flatMap(({ aliases }) => aliases));
  for (const word of topWords(table).filter((each) => !groups.has(each)))
    expect(withConnectionFlags(`See: rosterctl ${word} list`, { profile: 'club' }, table)).toBe(
      everywhere.has(word) ? `See: rosterctl ${word} list` : `See: rosterctl -p club ${word} list`,
    );
});

test('a command that names a connection already stays unchanged', () => {
  for (const line of ['rosterctl auth login --profile NAME', 'rosterctl teams list --org o1'])
    expect(withConnectionFlags(line, { profile: 'club' }, table)).toBe(line);
});

test('the flags are quoted for a shell', () => {
  const flags = { org: "o'1 $&", baseUrl: 'http://localhost:1/v1' };
  expect(withConnectionFlags('rosterctl runs resume last', flags, table)).toBe(
    `rosterctl --org 'o'\\''1 $&' --base-url http://localhost:1/v1 runs resume last`,
  );
});
