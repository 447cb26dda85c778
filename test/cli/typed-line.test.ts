import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { withConnectionFlags } from '../../src/cli/typed-line.js';
import { readManifest, topWords } from '../../src/data/command-manifest.js';
import { inProcess } from '../support/in-process.js';
import { errorOf, rosterctl, temporaryFolder } from '../support/run.js';

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

test('a value that holds such words is not a connection', () => {
  for (const note of ["'see -p and --org'", '"use --profile"'])
    expect(
      withConnectionFlags(`rosterctl tryouts update a --note ${note}`, { profile: 'club' }, table),
    ).toBe(`rosterctl -p club tryouts update a --note ${note}`);
});

test('the flags are quoted for a shell', () => {
  const flags = { org: "o'1 $&", baseUrl: 'http://localhost:1/v1' };
  expect(withConnectionFlags('rosterctl runs resume last', flags, table)).toBe(
    `rosterctl --org 'o'\\''1 $&' --base-url http://localhost:1/v1 runs resume last`,
  );
});

test.each([
  ['-p club tryouts list --json id', 'rosterctl -p club tryouts list --json --fields id'],
  ['players list extra --profile=club', 'rosterctl -p club players list --search extra'],
  ['-qp club tryouts lst', 'Did you mean: rosterctl -p club tryouts list -q\n'],
  ['--org o1 teams lst', 'Did you mean: rosterctl --org o1 teams list'],
])('%s: the hint of a misspelt line names the same connection', async (line, hint) => {
  const ran = await inProcess(line);
  expect(ran.code).toBe(2);
  expect(line.includes('--json') ? errorOf(ran)['hint'] : ran.stderr).toContain(hint);
});

test('a broken config.json is answered with a login that the sandbox does not refuse', async () => {
  const home = temporaryFolder();
  mkdirSync(join(home, '.config/rosterctl'), { recursive: true, mode: 0o700 });
  writeFileSync(join(home, '.config/rosterctl/config.json'), '{', { mode: 0o600 });
  const hint = async (profile: string) =>
    (await rosterctl(`-p ${profile} teams list`, { home })).stderr.trimEnd().split('\n').at(-1);
  expect(await hint('sandbox')).toBe('Fix it, or move it away and run: rosterctl auth login');
  expect(await hint('club')).toBe('Fix it, or move it away and run: rosterctl -p club auth login');
});
