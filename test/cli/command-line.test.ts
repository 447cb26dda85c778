import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { checkAgainstTable } from '../../src/cli/check.js';
import { typedFormat } from '../../src/cli/global-flags.js';
import { parseCommandLine } from '../../src/cli/program.js';
import { pageAlone } from '../../src/cli/resolve-command.js';
import type {
  CommandManifest,
  ManifestCommand,
  ManifestParam,
} from '../../src/data/command-manifest.js';
import { UsageError } from '../../src/errors.js';

const plain = { commaList: false, required: false, placeholder: 'X', text: 'text' } as const;

function value(name: string, word: string, more: Partial<ManifestParam> = {}): ManifestParam {
  return { ...plain, name, word, takes: 'value', ...more };
}

function command(
  words: string,
  args: ManifestParam[],
  flags: ManifestParam[],
  more: Partial<ManifestCommand> = {},
): ManifestCommand {
  return {
    words: words.split(' '),
    summary: words,
    examples: [],
    args,
    flags,
    needsOneOf: [],
    excludes: [],
    calls: [],
    basis: 'local',
    local: true,
    writes: false,
    asks: false,
    shows: [],
    fields: [],
    ...more,
  };
}

const ids = value('ids', 'ID', { takes: 'values', required: true });
const status = value('status', '--status', {
  takes: 'values',
  commaList: true,
  choices: ['pending', 'accepted'],
});
const table: CommandManifest = {
  version: '1.2.3',
  topics: [],
  groups: [
    { word: 'tryouts', aliases: ['tryout'], about: 'Tryouts' },
    { word: 'documents', aliases: ['docs', 'document'], about: 'Documents' },
  ],
  commands: [
    command('tryouts list', [], [status]),
    command(
      'tryouts update',
      [ids],
      [
        value('status', '--status', { choices: ['pending', 'accepted'] }),
        value('note', '--note'),
        value('clearNote', '--clear-note', { takes: 'nothing' }),
      ],
      { needsOneOf: [['status', 'note', 'clearNote']], excludes: [['note', 'clearNote']] },
    ),
    command(
      'documents create',
      [],
      [
        value('name', '--name'),
        value('input', '--input'),
        value('set', '--set', { short: 'F', takes: 'values' }),
      ],
    ),
    command('api', [value('path', 'PATH', { required: true })], []),
    command('help', [value('topic', 'TOPIC', { takes: 'values' })], []),
  ],
};

function parse(...words: string[]) {
  const parsed = parseCommandLine(words, table);
  if (parsed.kind !== 'command') throw new Error(`a ${parsed.kind}, not a command`);
  return { name: parsed.command.words.join(' '), values: parsed.values, globals: parsed.globals };
}

const refusal = (...words: string[]): string => errorFor(words).message;
const hint = (...words: string[]): string | undefined => errorFor(words).hint;

function errorFor(words: readonly string[]): UsageError {
  try {
    const parsed = parse(...words);
    checkAgainstTable(
      table.commands.find((entry) => entry.words.join(' ') === parsed.name) ?? command('x', [], []),
      parsed.values,
    );
  } catch (error) {
    if (error instanceof UsageError) return error;
    throw error;
  }
  throw new Error('it was accepted');
}

test('nouns have aliases, and verbs those of other tools', () => {
  expect(parse('tryout', 'ls').name).toBe('tryouts list');
  expect(parse('docs', 'new', '--name', 'a').name).toBe('documents create');
  expect(parse('api', 'teams/{org}').values).toEqual({ path: 'teams/{org}' });
});

test('a global flag is accepted before the noun, between noun and verb, and after the verb', () => {
  for (const line of [
    '-p x tryouts list',
    'tryouts -p x list',
    'tryouts list -p x',
    'tryouts list --profile=x',
  ])
    expect(parse(...line.split(' ')).globals).toEqual({ profile: 'x' });
  expect(parse('-p', 'a', 'tryouts', 'list', '-p', 'b').globals).toEqual({ profile: 'b' });
});

test("a command's own flag that has the name of a global one is accepted before the noun, too", () => {
  const owned: CommandManifest = {
    ...table,
    commands: [command('person', [], [value('out', '--out')]), ...table.commands],
  };
  for (const line of ['person --out dir', '--out dir person', '--out a person --out dir'])
    expect(parseCommandLine(line.split(' '), owned), line).toMatchObject({
      values: { out: 'dir' },
      globals: {},
    });
});

test('a value may begin with a dash, even if it looks like a global flag', () => {
  expect(parse('tryouts', 'update', 'a', '--note', '-promoted').values['note']).toBe('-promoted');
  expect(parse('tryouts', 'update', 'a', '--note', '-h').values['note']).toBe('-h');
  expect(parse('tryouts', 'update', '--note=-x', '--', '-id').values['ids']).toEqual(['-id']);
});

test('an unknown flag is named whole', () => {
  expect(refusal('tryouts', 'list', "--it's")).toMatch(/^Unknown flag --it's for tryouts list\./);
});

test('all words behind -- are words, those of the command too', () => {
  for (const line of ['-- tryouts update -id', 'tryouts -- update -id', 'tryouts update -- -id'])
    expect(parse(...line.split(' ')), line).toMatchObject({
      name: 'tryouts update',
      values: { ids: ['-id'] },
    });
  expect(() => parseCommandLine(['--', '--help'], table)).toThrow('Unknown command "--help".');
  expect(() => parseCommandLine(['tryouts', '--', '-q'], table)).toThrow(
    'Unknown command "tryouts -q".',
  );
});

test('--no-input does not disturb the --input of a command', () => {
  const parsed = parse('docs', 'create', '--no-input', '--input', 'a.json');
  expect(parsed.values['input']).toBe('a.json');
  expect(parsed.globals).toEqual({ noInput: true });
  expect(parse('docs', 'create', '--input', 'a.json').globals).toEqual({});
});

test('--json never consumes the next id, and --json=a,b names fields', () => {
  expect(parse('tryouts', 'update', '--json', 'app_1', '--status', 'pending')).toMatchObject({
    values: { ids: ['app_1'] },
    globals: { json: true },
  });
  expect(parse('tryouts', 'list', '--json=id,name').globals).toEqual({
    json: true,
    fields: 'id,name',
  });
  expect(parse('tryouts', 'update', '--note', 'x', '--', '--json=id').values['ids']).toEqual([
    '--json=id',
  ]);
});

test('repeatable flags collect, and a comma list is split', () => {
  expect(
    parse('tryouts', 'list', '--status', 'pending,accepted', '--status', 'pending').values[
      'status'
    ],
  ).toEqual(['pending', 'accepted', 'pending']);
  expect(parse('docs', 'create', '-F', 'a=1,2', '-F', 'b=2').values['set']).toEqual([
    'a=1,2',
    'b=2',
  ]);
});

test('a prefix is not accepted as an abbreviation', () => {
  expect(refusal('tryouts', 'li')).toBe('Unknown command "tryouts li".');
  expect(refusal('tryouts', 'list', '--stat', 'pending')).toContain(
    'Unknown flag --stat for tryouts list. Did you mean --status?',
  );
});

test('an error suggests the nearest known word', () => {
  expect(hint('tryuots', 'list')).toBe('Did you mean: rosterctl tryouts list');
  expect(refusal('tryouts', 'list', '--jsno')).toContain('Did you mean --json?');
  expect(refusal('tryouts', 'list', '--status', 'acepted')).toContain('Did you mean accepted?');
});

test('a flag of another verb is not suggested', () => {
  expect(refusal('tryouts', 'list', '--note', 'x')).toBe(
    'Unknown flag --note for tryouts list. It belongs to tryouts update.',
  );
  expect(refusal('tryouts', 'list', '--nto', 'x')).toBe('Unknown flag --nto for tryouts list.');
  expect(refusal('--foo')).toBe('Unknown flag --foo.');
});

test('a number before the name of a command is an unknown flag', () => {
  expect(refusal('-5')).toBe('Unknown flag -5.');
  expect(refusal('tryouts', '-5', 'list')).toBe('Unknown flag -5.');
});

test('an error names the missing or unexpected word', () => {
  expect(refusal('tryouts', 'update', '--status', 'pending')).toBe('Which id?');
  expect(refusal('tryouts', 'update', 'a', '--note')).toBe('--note needs a value.');
  expect(refusal('tryouts', 'list', 'stray')).toBe(
    'Unexpected argument "stray" for rosterctl tryouts list.',
  );
  expect(refusal('tryouts', 'update', 'a')).toBe(
    'Nothing to do. Add --status, --note or --clear-note.',
  );
  expect(refusal('tryouts', 'update', 'a', '--note', 'x', '--clear-note')).toBe(
    '--note and --clear-note cannot be given together.',
  );
});

test('help takes precedence over a missing argument, short or long', () => {
  expect(parseCommandLine(['tryouts', 'update', '-h'], table)).toMatchObject({
    kind: 'help',
    long: false,
  });
  expect(parseCommandLine(['tryouts', 'update', '--help'], table)).toMatchObject({
    kind: 'help',
    long: true,
  });
  expect(parseCommandLine(['tryouts', '--help'], table)).toMatchObject({
    kind: 'help',
    of: { word: 'tryouts' },
  });
  expect(parseCommandLine([], table)).toEqual({ kind: 'start', globals: {} });
  expect(parseCommandLine(['--version'], table)).toEqual({ kind: 'version' });
});

test('a page that takes no parser is the page that the parser finds', () => {
  const words = 'tryouts tryout list ls update docs create api help bulk -h --help --json -q -- x';
  const pages = new Set<string>();
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...words.split(' '), ''), { maxLength: 4 }), (line) => {
      const page = pageAlone(line, table);
      if (!page) return;
      expect(parseCommandLine(line, table)).toEqual(page);
      pages.add(page.kind === 'help' ? `${page.kind} ${page.long}` : page.kind);
    }),
    { numRuns: 3000 },
  );
  expect([...pages].toSorted()).toEqual(['command', 'help false', 'help true', 'start']);
});

test('-V works at every level, with other flags and without a required id', () => {
  for (const line of [
    'tryouts -V',
    'tryouts list -V',
    'tryouts update --version',
    'tryouts update a -Vq --status pending',
    'tryouts -p x list --json -V',
    'api -V',
  ])
    expect(parseCommandLine(line.split(' '), table)).toEqual({ kind: 'version' });
  expect(parse('tryouts', 'update', 'a', '--note', '-V').values['note']).toBe('-V');
});

test('the error for a jq filter after -q suggests a pipe, wherever it is', () => {
  const answer = 'rosterctl has no -q filter (here -q is --quiet). Pipe to jq, or use --fields.';
  for (const line of [
    'tryouts list -q .id',
    'tryouts list --json -q .[].id',
    'tryouts update a -vq .name --status pending',
    '-q .id tryouts list',
    'tryouts -q .id list',
  ])
    expect(refusal(...line.split(' '))).toBe(answer);
  expect(parse('tryouts', 'update', '.id', '-q').values['ids']).toEqual(['.id']);
  expect(parse('tryouts', 'update', '--note', '-q', '.id').values['ids']).toEqual(['.id']);
});

test('the error for field names after --json suggests --json --fields', () => {
  const owned: CommandManifest = {
    ...table,
    commands: [
      command('tryouts get', [{ ...ids, completes: 'id:tryouts' }], [], { fields: ['email'] }),
      ...table.commands,
    ],
  };
  const answer = (line: string) => {
    try {
      return parseCommandLine(line.split(' '), owned);
    } catch (error) {
      return error instanceof UsageError ? [error.message, error.hint] : error;
    }
  };
  expect(answer('tryouts get app_1 --json name,email')).toEqual([
    'Unexpected argument "name,email": --json takes no value.',
    'To choose fields: rosterctl tryouts get app_1 --json --fields name,email',
  ]);
  expect(answer('tryouts get --json app_1')).toMatchObject({ values: { ids: ['app_1'] } });
});

/** True if the words, or else the variable, ask for errors as JSON. */
const isJson = (words: readonly string[], env: string | undefined) =>
  ['json', 'ndjson'].includes(typedFormat(words, env) ?? '');

test('an error is printed as JSON if the words ask for JSON, whatever else is wrong with them', () => {
  expect(isJson(['tryouts', 'lst', '--json'], undefined)).toBe(true);
  expect(isJson(['tryouts', '-ondjson'], undefined)).toBe(true);
  expect(isJson(['tryouts', '-qo', 'json'], undefined)).toBe(true);
  expect(isJson(['tryouts', '-nqojson'], undefined)).toBe(true);
  expect(isJson(['-pfoo', 'json'], undefined)).toBe(false);
  expect(isJson(['tryouts', '--output=csv'], 'json')).toBe(false);
  expect(isJson(['tryouts', 'lst', '--out', 'a.ndjson'], undefined)).toBe(true);
  expect(isJson(['tryouts', 'lst', '--out=a.csv'], 'json')).toBe(false);
  expect(isJson(['tryouts', 'lst', '--out', 'a.json', '-o', 'csv'], undefined)).toBe(false);
  expect(isJson(['tryouts', '--', '--json'], undefined)).toBe(false);
});

test('a short flag of a command takes its value after an equals sign, too', () => {
  const { values } = parse('docs', 'create', '-F=a=1', '-F', '=b');
  expect(values['set']).toEqual(['a=1', '=b']);
});

test('-o=json and -p=NAME mean -o json and -p NAME, also for an error', () => {
  const parsed = parseCommandLine(['-p=sandbox', 'tryouts', 'list', '-o=json'], table);
  expect(parsed).toMatchObject({ globals: { output: 'json', profile: 'sandbox' } });
  const bundled = parseCommandLine(['tryouts', 'list', '-qo=json'], table);
  expect(bundled).toMatchObject({ globals: { output: 'json', quiet: true } });
  expect(isJson(['tryouts', 'lst', '-o=json'], undefined)).toBe(true);
});
