import { spawnSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { globalFlags } from '../../src/cli/global-flags.js';
import { manPages } from '../../src/cli/pages/man-page.js';
import {
  assumptionsPage,
  exitCodeRows,
  referencePage,
  usageOf,
} from '../../src/cli/pages/reference.js';
import {
  type CommandManifest,
  exampleLine,
  type ManifestCommand,
  type ManifestParam,
} from '../../src/data/command-manifest.js';

const id: ManifestParam = {
  name: 'id',
  word: 'ID',
  placeholder: 'ID',
  text: 'ids of tryouts',
  takes: 'values',
  commaList: false,
  required: true,
};
const status: ManifestParam = {
  name: 'toStatus',
  word: '--to-status',
  short: 's',
  placeholder: 'S',
  text: "the new one; a|b, <clear>, `x` and 'quotes'",
  takes: 'value',
  commaList: false,
  required: false,
  choices: ['pending', 'accepted'],
};
const clear: ManifestParam = {
  name: 'clearNote',
  word: '--clear-note',
  placeholder: '',
  text: '.starts like a macro and has a \\ backslash',
  takes: 'nothing',
  commaList: false,
  required: false,
};
const command: ManifestCommand = {
  words: ['tryouts', 'update'],
  summary: 'Change a tryout application',
  about: `A long sentence ${'that goes on and on '.repeat(8)}and ends.`,
  examples: [
    ['Shortlist', "app_42 --to-status accepted --where 'email~example' --search 'naïve …' --x y"],
    ['Another way', 'rosterctl tryouts ls'],
  ],
  args: [id],
  flags: [status, clear],
  needsOneOf: [['toStatus', 'clearNote']],
  excludes: [],
  calls: [
    {
      route: 'PATCH /tryout-applications/{applicationId}',
      basis: 'stated',
      source: 'contract 4.1',
      permission: 'tryout:update',
    },
    { route: 'PATCH /players/{playerId}', basis: 'assumed', source: 'not shown' },
  ],
  basis: 'assumed',
  local: false,
  writes: true,
  asks: true,
  shows: [],
  fields: [],
};
const alone: ManifestCommand = {
  ...command,
  words: ['commands'],
  about: undefined,
  args: [],
  flags: [],
  needsOneOf: [],
  calls: [],
  basis: 'local',
  examples: [['All', '']],
};
const table: CommandManifest = {
  version: '9.8.7',
  groups: [{ word: 'tryouts', aliases: ['tryout'], about: 'Read and decide' }],
  commands: [command, alone],
  topics: [{ name: 'exit-codes', about: 'what each exit code means' }],
};

describe('the markdown reference', () => {
  const page = referencePage(table);

  test('has usage, arguments, flags, examples and calls of a command', () => {
    expect(page).toContain('### tryouts update\n\nChange a tryout application.');
    expect(page).toContain('rosterctl tryouts update ID… [flags]');
    expect(page).toContain('| `ID…` | ids of tryouts; repeatable; required |');
    expect(page).toContain('`-s, --to-status S`');
    expect(page).toContain('(pending, accepted)');
    expect(page).toContain('At least one of `--to-status`, `--clear-note` is needed.');
    expect(page).toContain('# Shortlist\nrosterctl tryouts update app_42 --to-status accepted');
    expect(page).toContain('# Another way\nrosterctl tryouts ls');
    expect(page).toContain(
      '`PATCH /tryout-applications/{applicationId}` (stated, contract 4.1; permission tryout:update)',
    );
    expect(page).toContain('`PATCH /players/{playerId}` (assumed, not shown)');
  });

  test('names every global flag and topic', () => {
    for (const { word } of globalFlags) expect(page).toContain(word);
    expect(page).toContain('`rosterctl help exit-codes`');
  });

  test('escapes text that Markdown would interpret', () => {
    expect(page).toContain('a\\|b, &lt;clear>, `x`');
  });

  test('a command without calls says that it is local', () => {
    expect(page).toContain('### commands');
    expect(page).toContain('Local: it sends no request to the service.');
    expect(usageOf(alone)).toBe('rosterctl commands');
    expect(exampleLine(alone, '')).toBe('rosterctl commands');
  });

  test('a command that sends what its arguments name does not say that it is local', () => {
    const api: ManifestCommand = { ...alone, words: ['api'], basis: 'assumed' };
    const ofApi = referencePage({ ...table, commands: [api] });
    expect(ofApi).not.toContain('Local');
    expect(ofApi).toContain('It sends the request that its arguments name.');
  });
});

test('the exit codes and the assumptions come from their tables', () => {
  expect(exitCodeRows()).toContain('| 7 | forbidden: 403');
  const page = assumptionsPage(['lists have no pages']);
  expect(page).toContain('| Delete a team | `DELETE /teams/{teamId}` |');
  expect(page).toContain('| Convert a tryout application to a player |');
  expect(page).toContain('- lists have no pages');
  expect(page).toMatch(/^- The records are found under the resource's name, then under data/m);
});

describe('the man page of a noun', () => {
  const pages = manPages(table, { date: '2026-11-21' });
  const page = pages['rosterctl-tryouts.1'] ?? '';

  test('is rendered by man as intended', ({ skip }) => {
    const shown = spawnSync('mandoc', ['-T', 'utf8', '-O', 'width=100'], { input: page });
    if (shown.error) skip('mandoc is not installed (apt-get install mandoc)');
    // Bold and underlined letters are overstruck.
    const text = shown.stdout.toString().replace(/.[\b]/gu, '');
    expect(text).toContain('rosterctl tryouts update ID… [flags]');
    expect(text).toContain("--where 'email~example' --search 'naïve …' --x y\n");
    expect(text).toContain('.starts like a macro and has a \\ backslash');
    expect(text).toContain('-s, --to-status S');
    expect(text).toContain('--clear-note');
  });

  test('leads to that of the tool, which has the global flags and leads back', () => {
    expect(page).toContain('.SH SEE ALSO\n.BR rosterctl (1)\n');
    const tool = pages['rosterctl.1'] ?? '';
    expect(tool).toContain('.BR rosterctl\\-tryouts (1)');
    for (const { word } of globalFlags) expect(tool).toContain(word.replaceAll('-', '\\-'));
  });

  test('lints clean', ({ skip }) => {
    const linted = spawnSync('mandoc', ['-T', 'lint'], { input: page });
    if (linted.error) skip('mandoc is not installed (apt-get install mandoc)');
    expect(linted.stdout.toString()).toBe('');
    expect(linted.status).toBe(0);
  });
});
