import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { emptyConfig, parseConfigFile } from '../../src/config/config-file.js';
import { environmentVariables, type GlobalFlags } from '../../src/config/environment.js';
import { requireKey, settingKeys } from '../../src/config/keys.js';
import { namedKeys } from '../../src/config/named-keys.js';
import { resolveSettings } from '../../src/config/settings.js';
import type { Environment } from '../../src/data/environment.js';
import { ConfigError, type Failure, UsageError } from '../../src/errors.js';

const none = emptyConfig('/c/config.json');
const fileOf = (value: unknown) => parseConfigFile(JSON.stringify(value), '/c/config.json');
const decide = (flags: GlobalFlags = {}, env: Environment = {}, file = none) =>
  resolveSettings({ flags, env, file }).settings;
const refused = (work: () => unknown): Failure => {
  try {
    work();
  } catch (error) {
    return error as Failure;
  }
  throw new Error('it was accepted');
};

test('the documented defaults apply without any setting', () => {
  expect(decide()).toMatchObject({
    profile: { name: 'default', via: 'none' },
    output: 'table',
    fields: undefined,
    delimiter: ',',
    time: undefined,
    dryRun: false,
    noInput: false,
    pager: 'less',
    timeoutMs: 30_000,
    retries: 3,
    maxWaitMs: 60_000,
    concurrency: 4,
    rate: undefined,
    undoKeepMs: 30 * 86_400_000,
    completionCache: true,
    overrides: {},
  });
});

// One valid text per source, highest precedence first; the first one present must win.
const table = [
  { key: 'output', as: 'output', texts: ['json', 'csv', 'ids', 'ndjson'], value: (t: string) => t },
  {
    key: 'timeout',
    as: 'timeoutMs',
    texts: ['1s', '2s', '3s', '4s'],
    value: (t: string) => Number(t[0]) * 1000,
  },
  { key: 'retries', as: 'retries', texts: ['1', '2', '5', '6'], value: Number },
  {
    key: 'maxWait',
    as: 'maxWaitMs',
    texts: ['1m', '2m', '3m', '4m'],
    value: (t: string) => Number(t[0]) * 60_000,
  },
  { key: 'concurrency', as: 'concurrency', texts: ['', '2', '3', '5'], value: Number },
  { key: 'rate', as: 'rate', texts: ['', '2/s', '3/s', '5/s'], value: (t: string) => Number(t[0]) },
  { key: 'pager', as: 'pager', texts: ['', 'more', 'less -R', 'most'], value: (t: string) => t },
  { key: 'time', as: 'time', texts: ['iso', 'local', 'relative', 'iso'], value: (t: string) => t },
] as const;

describe.each(table)('$key', ({ key, as, texts, value }) => {
  test('flag beats environment beats profile beats defaults, and the origin says which', () => {
    const { flag, env: variable } = requireKey(key);
    fc.assert(
      fc.property(fc.array(fc.boolean(), { minLength: 4, maxLength: 4 }), (present) => {
        const [typed, exported, own, shared] = texts.map((text, index) =>
          present[index] ? text : '',
        );
        const profile = own ? { [key]: own } : {};
        const { settings, origins } = resolveSettings({
          flags: flag && typed ? { [flag]: typed } : {},
          env: variable && exported ? { [variable]: exported } : {},
          file: fileOf({
            activeProfile: 'work',
            defaults: shared ? { [key]: shared } : {},
            profiles: { work: profile, other: { [key]: texts[2] } },
          }),
        });
        const winner = [flag && typed, variable && exported, own, shared].findIndex(Boolean);
        const expected = [
          `flag --${key === 'maxWait' ? 'max-wait' : key}`,
          `environment ${variable}`,
          'profile work',
          'defaults',
        ];
        const origin = origins.find((row) => row.key === key)?.origin;
        expect(origin).toBe(winner === -1 ? 'default' : expected[winner]);
        if (winner !== -1) expect(settings[as]).toBe(value(texts[winner] ?? ''));
      }),
    );
  });
});

test('a field that is chosen twice stands once, in every format', () => {
  expect(decide({ fields: 'id, name,id' }).fields).toEqual(['id', 'name']);
});

test('PAGER counts only if nothing of ours is set, and none disables the pager', () => {
  expect(decide({}, { PAGER: 'less' }).pager).toBe('less');
  expect(decide({}, { PAGER: 'less', ROSTERCTL_PAGER: 'more' }).pager).toBe('more');
  expect(decide({}, { PAGER: 'less', ROSTERCTL_PAGER: 'cat' }).pager).toBeUndefined();
  expect(
    decide({}, { PAGER: 'less' }, fileOf({ defaults: { pager: 'none' } })).pager,
  ).toBeUndefined();
  expect(decide({}, { PAGER: '' }).pager).toBeUndefined();
  expect(decide({}, { PAGER: 'more', ROSTERCTL_PAGER: '' }).pager).toBeUndefined();
  expect(decide({ noPager: true }, { ROSTERCTL_PAGER: 'more' }).pager).toBeUndefined();
});

test('an empty variable counts as unset, except those of the pager', () => {
  const names = environmentVariables
    .map(([name]) => name)
    .filter((name) => !name.endsWith('PAGER'));
  const empty = Object.fromEntries(names.map((name) => [name, '']));
  expect(decide({}, empty)).toEqual(decide());
});

test('the program that prints the key is one of a profile, and never one for all of them', () => {
  const settings = { 'key.command': 'pass show roster' };
  for (const [file, value] of [
    [fileOf({ defaults: settings }), null],
    [fileOf({ profiles: { default: settings } }), 'pass show roster'],
  ] as const) {
    const { origins } = resolveSettings({ flags: {}, env: {}, file });
    expect(origins.find(({ key }) => key === 'key.command')?.value).toBe(value);
  }
});

test('a terminal that cannot move the cursor, such as the shell of Emacs, has no pager', () => {
  expect(decide({}, { TERM: 'dumb' }).pager).toBeUndefined();
  expect(decide({}, { TERM: 'dumb', PAGER: 'less' }).pager).toBeUndefined();
});

describe('the profile', () => {
  const file = fileOf({ activeProfile: 'work', profiles: { work: {}, other: {} } });
  test.each<[string, GlobalFlags, Environment, typeof file, { name: string; via: string }]>([
    [
      'flag first',
      { profile: 'other' },
      { ROSTERCTL_PROFILE: 'x' },
      file,
      { name: 'other', via: 'flag' },
    ],
    [
      'then the environment',
      {},
      { ROSTERCTL_PROFILE: 'other' },
      file,
      { name: 'other', via: 'environment' },
    ],
    [
      'an empty variable counts as unset',
      {},
      { ROSTERCTL_PROFILE: '' },
      file,
      { name: 'work', via: 'active' },
    ],
    ['then the active one', {}, {}, file, { name: 'work', via: 'active' }],
    [
      'then the one called default',
      {},
      {},
      fileOf({ profiles: { default: {}, other: {} } }),
      { name: 'default', via: 'active' },
    ],
    [
      'else there is none',
      {},
      {},
      fileOf({ profiles: { other: {} } }),
      { name: 'default', via: 'none' },
    ],
  ])('%s', (_, flags, env, from, expected) => {
    expect(decide(flags, env, from).profile).toEqual(expected);
  });

  test('an empty name is refused', () => {
    expect(refused(() => decide({ profile: '' }))).toBeInstanceOf(UsageError);
  });
});

describe('the output format', () => {
  test.each<[string, GlobalFlags, string]>([
    ['--json', { json: true }, 'json'],
    ['--json with -o json', { json: true, output: 'json' }, 'json'],
    ['--out x.csv', { out: 'x.csv' }, 'csv'],
    ['--out X.NDJSON', { out: 'X.NDJSON' }, 'ndjson'],
    ['--out with -o', { out: 'x.json', output: 'json' }, 'json'],
    ['--out with --json', { out: 'x.json', json: true }, 'json'],
    ['--out without a known ending, with -o', { out: 'x.txt', output: 'csv' }, 'csv'],
    ['--out x.jsonl with -o ndjson', { out: 'x.jsonl', output: 'ndjson' }, 'ndjson'],
    ['--out without a known ending', { out: 'x.txt' }, 'ids'],
    ['--out to stdout', { out: '-' }, 'ids'],
  ])('%s overrides the environment', (_, flags, expected) => {
    expect(decide(flags, { ROSTERCTL_OUTPUT: 'ids' }).output).toBe(expected);
  });

  test.each<[GlobalFlags, string]>([
    [{ out: 'x.csv', output: 'json' }, '-o json cannot be written to a .csv file.'],
    [{ out: 'x.csv', json: true }, '--json cannot be written to a .csv file.'],
    [{ out: 'b.JSON', output: 'csv' }, '-o csv cannot be written to a .json file.'],
    [{ out: 'x.csv', output: 'xlsx' }, '-o xlsx cannot be written to a .csv file.'],
    [{ out: 'x.jsonl', output: 'json' }, '-o json cannot be written to a .jsonl file.'],
  ])('%j is refused, because the name promises another format', (flags, message) => {
    const error = refused(() => decide(flags));
    expect(error).toBeInstanceOf(UsageError);
    expect(error.message).toBe(message);
  });

  test('--json with another -o is refused', () => {
    const error = refused(() => decide({ json: true, output: 'csv' }));
    expect(error).toBeInstanceOf(UsageError);
    expect(error.message).toContain('-o csv');
  });

  test('--json works despite a bad variable that it overrides', () => {
    expect(decide({ json: true }, { ROSTERCTL_OUTPUT: 'jsn' }).output).toBe('json');
  });
});

describe('a bad value says where it is and suggests a correction', () => {
  test.each<[string, GlobalFlags, Environment, string[]]>([
    ['flag', { output: 'jsn' }, {}, ['--output', '"jsn"', 'Did you mean json?']],
    ['flag', { timeout: '30' }, {}, ['--timeout', 'has no unit']],
    ['flag', { timeout: '0s' }, {}, ['--timeout', 'too short']],
    ['flag', { maxWait: '2w' }, {}, ['--max-wait', 'too long']],
    ['flag', { retries: '-1' }, {}, ['--retries', 'whole number']],
    ['flag', { retries: '1.5' }, {}, ['--retries', 'whole number']],
    ['flag', { time: 'localtime' }, {}, ['--time', 'unknown value']],
    ['flag', { delimiter: '|' }, {}, ['--delimiter']],
    ['flag', { fields: 'id,,name' }, {}, ['--fields']],
    ['flag', { fields: '' }, {}, ['--fields']],
    ['variable', {}, { ROSTERCTL_OUTPUT: 'yaml' }, ['ROSTERCTL_OUTPUT', '"yaml"']],
    ['variable', {}, { ROSTERCTL_OUTPUT: 'xlsx' }, ['ROSTERCTL_OUTPUT', '--out FILE.xlsx']],
    ['variable', {}, { ROSTERCTL_TIMEOUT: 'soon' }, ['ROSTERCTL_TIMEOUT']],
    ['variable', {}, { ROSTERCTL_CONCURRENCY: '0' }, ['ROSTERCTL_CONCURRENCY', '1 to 256']],
    ['variable', {}, { ROSTERCTL_CONCURRENCY: '257' }, ['ROSTERCTL_CONCURRENCY', '1 to 256']],
    ['variable', {}, { ROSTERCTL_RATE: '5/h' }, ['ROSTERCTL_RATE']],
    ['variable', {}, { ROSTERCTL_DRY_RUN: 'perhaps' }, ['ROSTERCTL_DRY_RUN']],
  ])('%s %j %j', (_, flags, env, words) => {
    const error = refused(() => decide(flags, env));
    expect(error).toBeInstanceOf(UsageError);
    for (const word of words) expect(error.message).toContain(word);
  });

  test('in the file it is a ConfigError with path, profile and the command that fixes it', () => {
    const file = fileOf({ activeProfile: 'work', profiles: { work: { output: 'jsn' } } });
    const error = refused(() => decide({}, {}, file));
    expect(error).toBeInstanceOf(ConfigError);
    expect(error.message).toContain('/c/config.json');
    expect(error.message).toContain('profile work');
    expect(error.message).toContain('Did you mean json?');
    expect(error.hint).toContain('rosterctl config set output');
  });

  test('in the file it becomes a note and the default for the commands that fix it', () => {
    const file = fileOf({ defaults: { output: 'jsn', 'endpoints.players.update': 'x' } });
    const { settings, notes } = resolveSettings({ flags: {}, env: {}, file, tolerant: true });
    expect(settings.output).toBe('table');
    expect(settings.overrides).toEqual({});
    expect(notes.join('\n')).toContain('jsn');
  });

  test('an unknown setting is noted with the nearest one', () => {
    const file = fileOf({ defaults: { ouput: 'json' } });
    const { notes } = resolveSettings({ flags: {}, env: {}, file });
    expect(notes.join('\n')).toMatch(/ouput.*Did you mean output\?/);
  });

  test('a setting of one profile is noted among the defaults, where it has no effect', () => {
    const file = fileOf({ defaults: { 'key.command': 'pass show roster' } });
    const { settings, notes } = resolveSettings({ flags: {}, env: {}, file });
    expect(settings.overrides).toEqual({});
    expect(notes).toEqual([
      '/c/config.json: key.command has no effect in the defaults, because it belongs to one profile.',
    ]);
  });
});

describe('switches of the environment', () => {
  test.each([
    ['1', true],
    ['true', true],
    ['ON', true],
    ['0', false],
    ['false', false],
    ['', false],
  ])('ROSTERCTL_DRY_RUN=%s is %s', (text, expected) => {
    expect(decide({}, { ROSTERCTL_DRY_RUN: text }).dryRun).toBe(expected);
  });

  test.each([
    ['1', true],
    ['true', true],
    ['woodpecker', true],
    ['', false],
    ['0', false],
    ['false', false],
  ])('CI=%s: no input is %s', (text, expected) => {
    expect(decide({}, { CI: text }).noInput).toBe(expected);
  });

  test.each([
    ['ROSTERCTL_QUIET', 'quiet'],
    ['ROSTERCTL_VERBOSE', 'verbose'],
    ['ROSTERCTL_STRICT', 'strict'],
    ['ROSTERCTL_BOM', 'bom'],
    ['ROSTERCTL_CSV_RAW', 'csvRaw'],
    ['ROSTERCTL_DEBUG', 'debug'],
    ['ROSTERCTL_NO_INPUT', 'noInput'],
  ] as const)('%s is the twin of its flag, and config list names it', (name, key) => {
    const { settings, origins } = resolveSettings({ flags: {}, env: { [name]: 'on' }, file: none });
    expect(settings[key]).toBe(true);
    expect(origins).toContainEqual({ key, value: 'on', origin: `environment ${name}` });
    expect(decide({}, { [name]: 'off' })[key]).toBe(false);
    expect(refused(() => decide({}, { [name]: 'perhaps' })).message).toContain(name);
    expect(environmentVariables.map(([variable]) => variable)).toContain(name);
  });

  test.each([
    ['ROSTERCTL_OUTPUT', 'csv', 'output', 'csv'],
    ['ROSTERCTL_TIME', 'iso', 'time', 'iso'],
    ['ROSTERCTL_TIMEOUT', '5s', 'timeoutMs', 5000],
    ['ROSTERCTL_RETRIES', '7', 'retries', 7],
    ['ROSTERCTL_MAX_WAIT', '2s', 'maxWaitMs', 2000],
    ['ROSTERCTL_CONCURRENCY', '9', 'concurrency', 9],
    ['ROSTERCTL_RATE', '8/s', 'rate', 8],
    ['ROSTERCTL_DELIMITER', ';', 'delimiter', ';'],
    ['ROSTERCTL_NO_INPUT', '1', 'noInput', true],
    ['ROSTERCTL_DEBUG', '1', 'debug', true],
    ['ROSTERCTL_PROMPTS', 'plain', 'plainPrompts', true],
    ['ROSTERCTL_PROMPTS', 'auto', 'plainPrompts', false],
    ['TERM', 'dumb', 'plainPrompts', true],
  ] as const)('%s=%s is a setting', (name, text, key, expected) => {
    expect(decide({}, { [name]: text })[key]).toEqual(expected);
  });

  test('ROSTERCTL_DELIMITER sets the delimiter, and --delimiter overrides it', () => {
    const env = { ROSTERCTL_DELIMITER: 'tab' };
    expect(decide({}, env).delimiter).toBe('\t');
    expect(decide({ delimiter: ';' }, env).delimiter).toBe(';');
    expect(decide({}, { ROSTERCTL_DELIMITER: '' }).delimiter).toBe(',');
    const bad = refused(() => decide({}, { ROSTERCTL_DELIMITER: 'x' }));
    expect(bad.message).toContain('ROSTERCTL_DELIMITER');
  });

  test('-v beats ROSTERCTL_QUIET, and -q beats ROSTERCTL_VERBOSE', () => {
    const loud = decide({ verbose: true }, { ROSTERCTL_QUIET: '1' });
    expect([loud.quiet, loud.verbose]).toEqual([false, true]);
    const still = decide({ quiet: true }, { ROSTERCTL_VERBOSE: '1' });
    expect([still.quiet, still.verbose]).toEqual([true, false]);
  });

  test('no environment variable implies --yes', () => {
    const env = { ROSTERCTL_YES: '1', ROSTERCTL_CONFIRM: 'x' };
    expect(decide({}, env).yes).toBe(false);
  });
});

describe('guesses', () => {
  test('those that are set are returned, routes normalized', () => {
    const file = fileOf({
      defaults: { 'paging.mode': 'cursor', 'endpoints.players.update': 'put /players/{id}' },
      profiles: { default: { 'columns.teams': 'id, name', 'upload.maxBytes': 1000 } },
    });
    expect(decide({}, {}, file).overrides).toEqual({
      'paging.mode': 'cursor',
      'endpoints.players.update': 'PUT /players/{playerId}',
      'columns.teams': 'id,name',
      'upload.maxBytes': '1000',
    });
  });

  test('auto, wherever it is set, leaves it to rosterctl', () => {
    const file = fileOf({
      defaults: { 'download.urlPath': 'data.url', 'lists.players.path': 'data.players' },
      profiles: { default: { 'download.urlPath': 'auto' } },
    });
    expect(decide({}, {}, file).overrides).toEqual({ 'lists.players.path': 'data.players' });
  });

  test('a path with an empty step is also refused when it is used', () => {
    const file = fileOf({ defaults: { 'download.urlPath': 'files[].url' } });
    expect(refused(() => decide({}, {}, file))).toBeInstanceOf(ConfigError);
  });

  test('an invalid route is also refused when it is used', () => {
    const file = fileOf({
      defaults: { 'endpoints.teams.delete': 'DELETE https://evil.example/{id}' },
    });
    expect(refused(() => decide({}, {}, file))).toBeInstanceOf(ConfigError);
  });

  test.each([
    ['lists.players.path', 'data.players', 'data..players'],
    ['lists.tryouts.query', 'include=gamerTags&a=', 'organizationId=org_2'],
    ['paging.mode', 'offset', 'ofset'],
    ['paging.params.cursor', 'startingAfter', 'a b'],
    ['paging.size', '100', '0'],
    ['columns.documents', 'id,tags.0', 'id,,name'],
    ['download.urlPath', 'data.signedUrl', '.url'],
    ['download.urlPath', 'files.0.url', 'files[].url'],
    ['download.urlPath', '[0].data[1].url', '[0]url'],
    ['download.urlPath', 'auto', 'https://files.example.com/ a'],
    ['upload.maxBytes', '26214400', '25MB'],
    ['readOnly.teams', 'id,slug', ''],
    ['endpoints.documents.update.semantics', 'replace', 'overwrite'],
    ['endpoints.documents.update.org', 'body', 'path'],
    ['completion.cache', 'off', 'maybe'],
    ['undo.keep', '90d', '30'],
    ['undo.keep', 'off', 'never'],
    ['rate', '90/m', '0/s'],
    ['rate', '8', '8/h'],
    ['key.command', "pass show 'rosterctl key'", "pass 'show"],
  ])('%s takes %s and refuses "%s"', (name, good, bad) => {
    const key = requireKey(name);
    expect(() => key.parse(good)).not.toThrow();
    expect(refused(() => key.parse(bad))).toBeInstanceOf(UsageError);
  });
});

describe('the table of keys', () => {
  test('every default is a valid value of its own key', () => {
    for (const key of settingKeys().values())
      if (key.default !== undefined) expect(() => key.parse(key.default ?? '')).not.toThrow();
  });

  test('an unknown key suggests the nearest one, and one that is set elsewhere its command', () => {
    expect(refused(() => requireKey('maxwait')).message).toContain('Did you mean maxWait?');
    expect(refused(() => requireKey('baseUrl')).hint).toContain('rosterctl auth login');
    expect(refused(() => requireKey('__proto__'))).toBeInstanceOf(UsageError);
    expect(refused(() => requireKey('constructor'))).toBeInstanceOf(UsageError);
  });

  test('all documented keys exist', () => {
    const names = [
      'output',
      'time',
      'timeout',
      'retries',
      'maxWait',
      'concurrency',
      'rate',
      'pager',
      'completion.cache',
      'undo.keep',
    ];
    expect(Object.keys(namedKeys)).toEqual(expect.arrayContaining(names));
  });
});
