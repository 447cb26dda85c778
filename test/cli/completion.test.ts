import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { bashAnswer, readBashLine } from '../../src/cli/completion/bash.js';
import { completionFor } from '../../src/cli/completion/candidates.js';
import { readLine } from '../../src/cli/completion/line.js';
import { completionScripts, shells } from '../../src/cli/completion/scripts.js';
import { globalFlags } from '../../src/cli/global-flags.js';
import { complete, idLines } from '../../src/complete.js';
import { completionCacheFile, rememberRecords } from '../../src/config/completion-cache.js';
import { settingKeys } from '../../src/config/keys.js';
import { resolvePaths } from '../../src/config/paths.js';
import { type CommandManifest, readManifest } from '../../src/data/command-manifest.js';
import type { Environment } from '../../src/data/environment.js';
import { type ResourceWords, resourceNames, resourceWords } from '../../src/data/resources.js';
import { singleLine } from '../../src/terminal/safe-text.js';
import { codePoint } from '../support/code-point.js';
import { hostileTexts } from '../support/hostile.js';
import { completeInProcess, inProcess } from '../support/in-process.js';
import { freshEnvironment, launcher, rosterctl, temporaryFolder } from '../support/run.js';
import { missingPowershell, missingShell } from '../support/tab.js';

const dist = fileURLToPath(new URL('../../dist/', import.meta.url));
const manifest = readFileSync(`${dist}table.json`, 'latin1');
const table = JSON.parse(manifest) as CommandManifest;
const settings = JSON.parse(readFileSync(`${dist}settings.json`, 'utf8')) as [
  name: string,
  text: string,
  words: string[],
][];

describe.each(shells)('the %s script', (shell) => {
  const { text: script, fileName } = completionScripts[shell];

  test('is short and knows no word of the tool', () => {
    const words = [
      ...table.groups.flatMap(({ word, aliases }) => [word, ...aliases]),
      ...table.commands.flatMap(({ flags }) => flags.map(({ word }) => word)),
      ...globalFlags.map(({ word }) => word),
      ...settings.map(([name]) => name),
    ];
    const found = new Set(script.match(/[\w.-]+/g));
    expect([...new Set(words)].filter((word) => found.has(word))).toEqual([]);
    expect(script.split('\n').length).toBeLessThan(70);
  });

  test('is what the command prints and the package contains', async () => {
    const ran = await rosterctl(`completion ${shell}`);
    expect(ran).toMatchObject({ code: 0, stderr: '' });
    expect(ran.stdout).toBe(script);
    const names = { bash: 'rosterctl.bash', zsh: '_rosterctl', fish: 'rosterctl.fish' };
    const name = shell === 'powershell' ? 'rosterctl.ps1' : names[shell];
    expect(fileName).toBe(name);
  });

  test('is plain text without control characters', () => {
    expect(script).not.toMatch(/[^\P{Cc}\n]/u);
    expect(script.endsWith('\n')).toBe(true);
  });

  test('is read by its shell without a complaint', ({ skip }) => {
    const missing = shell === 'powershell' ? missingPowershell() : missingShell(shell);
    if (missing) skip(missing);
    const file = join(temporaryFolder(), 'script');
    writeFileSync(file, script);
    const read = spawnSync(shell, ['-n', file], { encoding: 'utf8' });
    expect({ code: read.status, stderr: read.stderr }).toEqual({ code: 0, stderr: '' });
  });
});

test('a script stays one under a stored output format, which only a typed one replaces', async () => {
  const script = completionScripts.bash.text;
  for (const format of ['json', 'ids']) {
    const ran = await inProcess('completion bash', { env: { ROSTERCTL_OUTPUT: format } });
    expect([ran.code, ran.stdout]).toEqual([0, script]);
  }
  const typed = await inProcess('completion bash --json', { env: { ROSTERCTL_OUTPUT: 'csv' } });
  expect(JSON.parse(typed.stdout)).toEqual({ shell: 'bash', script });
});

test('the bash script keeps to what bash 3.2 can do', () => {
  const script = completionScripts.bash.text;
  const newer = {
    'associative arrays': /(?:declare|local|typeset) -[a-zA-Z]*[An]/,
    'mapfile, readarray, coproc': /\b(?:mapfile|readarray|coproc)\b/,
    'upper and lower case': /\$\{\w+(?:\[[^\]]*\])?(?:,|\^)/,
    'joined redirections': /&>>|\|&|;;?&/,
    'negative subscripts': /\[-\d/,
    'process substitution, off in posix mode': /<\(/,
    'elements added to arrays': /\+=/,
    '-v, @Q and EPOCH': /\[\[ -v |@[QEPAa]\}|EPOCH/,
  };
  const code = script.replace(/#.*$/gm, '').replace(/'[^']*'/g, "''");
  expect(Object.entries(newer).filter(([, pattern]) => pattern.test(code))).toEqual([]);
  const calls = code.split('\n').filter((line) => line.includes('compopt'));
  expect(calls.filter((line) => !line.includes('2>/dev/null'))).toEqual([]);
  expect(calls.length).toBeGreaterThan(0);
});

test('the PowerShell script is ASCII: version 5.1 reads a file in an old code page', () => {
  // oxlint-disable-next-line no-control-regex
  expect(completionScripts.powershell.text).toMatch(/^[\u0000-\u007f]*$/);
});

test('a topic and a command of one name are offered once after help', () => {
  const found = offered('help', '');
  expect(found).toContain('backup');
  expect(found).toContain('cursors');
  expect(found).toHaveLength(new Set(found).size);
});

/** The words offered in place of the last one, without the program being started. */
function offered(...words: string[]): string[] {
  let written = '';
  complete(words, { ...outside({ HOME: '' }), write: (text) => (written += text) });
  return written
    .split('\n')
    .slice(1, -1)
    .map((line) => line.replace(/\t.*/, ''));
}

function outside(env: Environment) {
  return {
    env,
    platform: process.platform,
    uid: process.getuid?.(),
    table: manifest,
    settings: () => settings,
  };
}

describe('every command', () => {
  test.each(table.commands.map(({ words }) => [words.join(' '), words] as const))(
    '%s is offered, with its flags and those of every command',
    (_, words) => {
      expect(offered(...words.slice(0, -1), '')).toContain(words.at(-1));
      const { flags = [] } = table.commands.find((command) => command.words === words) ?? {};
      const all = [...flags, ...globalFlags].map(({ word }) => word);
      expect(new Set(offered(...words, '-'))).toEqual(new Set([...all, '--help']));
    },
  );

  test.each(
    table.commands.flatMap(({ words, flags }) =>
      [...flags, ...globalFlags]
        .filter(({ choices }) => choices)
        .map(({ word, choices = [] }) => [`${words.join(' ')} ${word}`, choices] as const),
    ),
  )('%s offers its choices, behind a space and behind =', (line, choices) => {
    const words = line.split(' ');
    expect(offered(...words, '')).toEqual(choices);
    const flag = words.at(-1) ?? '';
    expect(offered(...words.slice(0, -1), `${flag}=`)).toEqual(
      choices.map((choice) => `${flag}=${choice}`),
    );
  });
});

test('api offers its methods, and backup create the resources that are left', () => {
  expect(offered('api', 'teams', '-X', '')).toEqual(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']);
  expect(offered('backup', 'create', 'backups', '--only', '').toSorted()).toEqual(
    resourceNames.toSorted(),
  );
  expect(offered('backup', 'create', 'backups', '--only', 'teams,p')).toEqual(['teams,players']);
});

test('each value that a parameter completes is one that its resource remembers', () => {
  const all: { readonly [name: string]: ResourceWords } = resourceWords;
  const paths = table.commands.flatMap(({ args, flags }) =>
    [...args, ...flags].flatMap(({ completes = '' }) => {
      const [kind, noun = '', path] = completes.split(':');
      return kind === 'value' ? [[noun, path] as const] : [];
    }),
  );
  expect(paths.length).toBeGreaterThan(0);
  for (const [noun, path] of paths) expect(all[noun]?.completed).toContain(path);
});

describe('what may stand at the cursor', () => {
  test.each<[what: string, words: string[], expected: string[]]>([
    ['a value behind a letter in a group', ['teams', 'list', '-qo', 'nd'], ['ndjson']],
    ['a flag behind a glued value', ['-pclub', 'tea'], ['teams']],
    ['a flag of the command over one of all', ['teams', 'list', '--limi'], ['--limit']],
    ['nothing behind an unknown noun', ['nonsense', ''], []],
    ['nothing behind an unknown verb', ['teams', 'nonsense', ''], []],
    ['nothing where any text may stand', ['teams', 'list', '--search', ''], []],
    ['nothing behind the last argument', ['completion', 'bash', ''], []],
    ['an argument behind --', ['completion', '--', 'ba'], ['bash']],
    ['no flag behind --', ['completion', '--', '--in'], []],
    [
      'a value that looks like a flag is one',
      ['teams', 'list', '--search', '--out', '-o', 'nd'],
      ['ndjson'],
    ],
    ['the key of a shape', ['sandbox', 'start', '--shape', 'cas'], ['casing=']],
    ['its names', ['sandbox', 'start', '--shape', 'paging=l'], ['paging=link', 'paging=last-id']],
    [
      'its names for one resource, behind =',
      ['sandbox', 'start', '--shape=casing.teams=s'],
      ['--shape=casing.teams=snake'],
    ],
    ['a verb by another name', ['teams', 'vi'], ['view']],
    ['no other name where the own one fits', ['teams', 'li'], ['list']],
    ['whatever the case', ['TEA'], ['teams']],
    ['the verbs of a topic', ['help', 'docs', 'prev'], ['preview']],
    ['no third word of a topic', ['help', 'docs', 'preview', ''], []],
    ['a setting', ['config', 'get', 'paging.m'], ['paging.mode']],
    ['no field twice', ['teams', 'list', '--fields', 'id,name,id'], []],
  ])('%s', (_, words, expected) => {
    const found = offered(...words);
    const current = words.at(-1)?.toLowerCase() ?? '';
    expect(found.filter((word) => word.toLowerCase().startsWith(current))).toEqual(expected);
  });

  test('where no word begins as typed all are given, for shells that match in other ways', () => {
    expect(offered('teams', 'st')).toEqual(expect.arrayContaining(['list', 'ls']));
  });

  test.each([
    [['docs', 'upload', ''], ':files\t\n'],
    [['teams', 'list', '--out=a'], ':files\t--out=\n'],
    [['docs', 'download', '-D', ''], ':folders\t\n'],
    [
      ['tryouts', 'list', '--status=pending,rev'],
      ':space\t--status=pending,\n--status=pending,reviewing\n',
    ],
    [['tryouts', 'list', '--where', 'statu'], ':nospace\t\nstatus=\n'],
    [['tryouts', 'get', 'disc'], ':nospace\t\ndiscord:\n'],
  ])('%j is answered with what the shell has to do', (words, answer) => {
    let written = '';
    complete(words, { ...outside({ HOME: '' }), write: (text) => (written += text) });
    expect(written).toBe(answer);
  });
});

/** The lines that the script of bash gets. */
function bashReply(line: string, replaced: string, type = '9', columns = '', home = ''): string[] {
  let written = '';
  const env = {
    HOME: home,
    COMP_LINE: line,
    COMP_TYPE: type,
    COLUMNS: columns,
  };
  complete([replaced], { ...outside(env), write: (text) => (written += text) });
  return written.split('\n').slice(0, -1);
}

describe('a command line of bash', () => {
  test('has its descriptions in one column, cut to the screen', () => {
    const [whole, narrow, tiny] = ['', '50', '14'].map((columns) =>
      bashReply('rosterctl ', '', '63', columns),
    );
    expect(whole).toContain('api          (Send any request to the service)');
    expect(narrow).toContain('check        (Find what is waiting and what is…)');
    expect(Math.max(...(narrow?.map((row) => row.length) ?? []))).toBeLessThan(50);
    expect(tiny).toContain('api ');
  });

  test.each([
    ['rosterctl tr', 'tr', [':words', 'tryouts ']],
    ['rosterctl  "te', 'te', [':closes', 'teams']],
    ["rosterctl 'te", 'te', [':closes', 'teams']],
    ['rosterctl te\\', 'te\\', [':words', 'teams ']],
    ['rosterctl teams list --output=nd', 'nd', [':words', 'ndjson ']],
    ['rosterctl teams list --output=nd', '--output=nd', [':words', '--output=ndjson ']],
    ['rosterctl tryouts list --where stat', 'stat', [':words', 'status=']],
    ['rosterctl teams list --search "a b" -o nd', 'nd', [':words', 'ndjson ']],
    ['rosterctl teams list --search é -o nd', 'nd', [':words', 'ndjson ']],
    ['rosterctl docs upload x', 'x', [':files']],
    ['rosterctl docs download -D x', 'x', [':folders']],
    ['rosterctl nonsense x', 'x', []],
  ])('%s', (line, replaced, lines) => {
    expect(bashReply(line, replaced)).toEqual(lines);
  });

  test('names are shown where a choice is left, and never put into the line', () => {
    expect(bashReply('rosterctl completion ', '')).toEqual([
      ':words',
      'bash ',
      'zsh ',
      'fish ',
      'powershell ',
    ]);
    expect(bashReply('rosterctl t', 't')[1]).toMatch(/^tryouts  {2}\(Review/);
    for (const type of ['37', '42'])
      expect(bashReply('rosterctl t', 't', type)[1]).toBe('tryouts ');
  });
});

const work = { baseUrl: 'https://api.example.com/v1', organization: 'org_1' };
const club = { baseUrl: 'https://api.example.com/v1', organization: 'org_2' };

async function homeWith(
  config: unknown,
  ids: Readonly<Record<string, readonly string[]>> = {},
): Promise<string> {
  const home = temporaryFolder();
  const folder = join(home, '.config', 'rosterctl');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const text = typeof config === 'string' ? config : JSON.stringify(config);
  writeFileSync(join(folder, 'config.json'), text, { mode: 0o600 });
  for (const [organizationId, known] of Object.entries(ids)) {
    const place = { profile: 'x', baseUrl: work.baseUrl, organizationId };
    const memory = rememberRecords(pathsOf(home), place, 'tryouts');
    for (const id of known) memory.observe({ id, name: `Name of ${id}` });
    await memory.write({ whole: true });
  }
  return home;
}

function pathsOf(home: string) {
  return resolvePaths({
    env: { HOME: home },
    platform: process.platform,
    uid: process.getuid?.(),
  });
}

/** The candidates with what they mean. */
function ask(home: string, words: readonly string[], env: Record<string, string> = {}) {
  return candidatesOf(completeInProcess(words, { home, env }));
}

/** The same of a process, as a shell starts one. */
async function askProcess(home: string, words: readonly string[]) {
  const ran = await rosterctl(['__complete', ...words], { home });
  expect({ code: ran.code, stderr: ran.stderr }).toEqual({ code: 0, stderr: '' });
  return candidatesOf(ran.stdout);
}

function candidatesOf(stdout: string) {
  const [directive, ...lines] = stdout.split('\n').slice(0, -1);
  if (directive !== undefined) expect(directive).toMatch(/^:(?:no)?space\t/);
  return lines;
}

const config = { activeProfile: 'work', defaults: {}, profiles: { work, club } };
const ids = { org_1: ['app_1', 'app_2'], org_2: ['club_app'] };

test('records of one name are one answer, of which bash puts only the name on the line', async () => {
  const home = await homeWith(config);
  const place = { profile: 'x', baseUrl: work.baseUrl, organizationId: 'org_1' };
  const memory = rememberRecords(pathsOf(home), place, 'teams');
  const names = { team_1: 'Herons', team_2: 'Lanternfish', team_13: 'Lanternfish' };
  for (const [id, name] of Object.entries(names)) memory.observe({ id, name });
  await memory.write({ whole: true });
  expect(ask(home, ['teams', 'get', 'name:'])).toEqual([
    'name:Herons\tteam_1',
    'name:Lanternfish\tteam_2, team_13',
  ]);
  const typed = 'rosterctl teams get name:L';
  expect(bashReply(typed, 'L', '9', '', home)).toEqual([':words', 'Lanternfish ']);
});

test('a name is offered whole and as it is, or not at all: a cut one names no record', async () => {
  const home = await homeWith(config);
  const place = { profile: 'x', baseUrl: work.baseUrl, organizationId: 'org_1' };
  const memory = rememberRecords(pathsOf(home), place, 'documents');
  const long = `Contract ${'Maximiliana-Theodora '.repeat(4)}2026.pdf`;
  const names = [long, 'x'.repeat(500), '\u202egpj.exe', 'B.pdf'];
  for (const [at, name] of names.entries()) memory.observe({ id: `doc_${at}`, name });
  await memory.write({ whole: true });
  expect(ask(home, ['documents', 'get', 'name:'])).toEqual([
    `name:${long}\tdoc_0`,
    'name:B.pdf\tdoc_3',
  ]);
  expect(ask(home, ['documents', 'get', 'doc_0', 'name:'])).toEqual(['name:B.pdf\tdoc_3']);
});

const choicesOf = (key: string) => settingKeys().get(key)?.parse.words ?? [];

test('each word that is offered for a setting is one that the setting takes', () => {
  const withChoices = [...settingKeys().values()].filter(({ name }) => choicesOf(name).length > 0);
  expect(withChoices.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['output', 'time', 'completion.cache', 'paging.mode']),
  );
  for (const key of withChoices)
    for (const word of choicesOf(key.name)) expect(() => key.parse(word)).not.toThrow();
  for (const key of ['endpoints.teams.update.org', 'endpoints.documents.delete.org'])
    expect(choicesOf(key)).toEqual(['none', 'body', 'query']);
  expect(choicesOf('timeout')).toEqual([]);
});

test('no line that can be typed makes it fail', () => {
  const known = readManifest(manifest);
  const some = 'a\tb\nid:1';
  const knowledge = {
    settings: () => some,
    settingWords: () => some,
    profiles: () => some,
    ids: () => some,
    references: () => some,
    values: () => some,
    runs: () => some,
    cursors: () => some,
    fields: () => some,
  };
  const typical = fc.constantFrom(
    ...['tryouts', 'teams', 'docs', 'get', 'list', 'help', 'config', 'set', '--', '-', '-p'],
    ...['--status', '--status=', '--fields=a,', '--json=', '-qo', '--where', '--out=', ''],
  );
  const word = fc.oneof(typical, fc.string({ unit: codePoint, maxLength: 12 }));
  fc.assert(
    fc.property(fc.array(word, { maxLength: 6 }), word, (words, current) => {
      const found = completionFor(readLine(words, known), current, known, knowledge);
      expect(current.startsWith(found?.kept ?? '')).toBe(true);
    }),
  );
  fc.assert(
    fc.property(fc.array(word, { maxLength: 6 }), word, (words, replaced) => {
      const COMP_LINE = ['rosterctl', ...words].join(' ');
      const line = readBashLine({ COMP_LINE }, replaced);
      if (!line) throw new Error('no line');
      const found = completionFor(
        readLine(line.words.slice(0, -1), known),
        line.words.at(-1) ?? '',
        known,
        knowledge,
      );
      if (found) bashAnswer(found, line, () => some);
    }),
  );
});

describe('thousands of ids', () => {
  const plain = Array.from({ length: 2000 }, (_, index) => `app_${index}\tName of ${index}`);
  const changed = [
    ['h1\tevil\u001b[31m', 'h1\tevil\\u001b[31m'],
    [`h2\t${'long '.repeat(20)}`, `h2\t${'long '.repeat(11)}long…`],
    [`h3\t${'wide \u6f22'.repeat(8)}`, `h3\t${'wide \u6f22'.repeat(8)}`],
    ['-rf\tflag', undefined],
    ['no name\t', 'no name'],
    ['\tno id', undefined],
    ['no tab', undefined],
    ['h4\u001b\tname', undefined],
    ['two\ttabs\there', `two\ttabs${singleLine('\t')}here`],
  ] as const;

  test.each(changed)(
    '%j among them becomes %j and leaves the others as they are',
    (line, shown) => {
      for (const at of [0, 1000, 2000]) {
        const lines = idLines([...plain.slice(0, at), line, ...plain.slice(at)].join('\n'), []);
        const expected = [...plain.slice(0, at), ...(shown === undefined ? [] : [shown])];
        expect(lines.split('\n')).toEqual([...expected, ...plain.slice(at)]);
      }
    },
  );

  test('those given are left out, the first and the last too', () => {
    const given = ['app_0', 'app_7', 'app_1999', 'app', ''];
    const left = plain.filter((_, index) => ![0, 7, 1999].includes(index));
    expect(idLines(plain.join('\n'), given).split('\n')).toEqual(left);
    expect(idLines('', given)).toBe('');
    expect(idLines('t1\t\nt2\tName\nt3\t', ['t1', 't3', 'Name'])).toBe('t2\tName');
  });

  test('bash gets the same lines whether or not another one has to be quoted', () => {
    const line = { words: ['tryouts', 'get', ''], replaced: '', start: '', quote: '' } as const;
    const reply = (candidates: string, isShown: boolean) =>
      bashAnswer(
        { directive: 'space', kept: '', candidates },
        { ...line, isRedirected: false, isShown, columns: 80 },
        () => '',
      ).split('\n');
    for (const isShown of [true, false]) {
      const alone = reply([...plain, 'bare'].join('\n'), isShown);
      const beside = reply([...plain, 'bare', 'a b\tc'].join('\n'), isShown);
      expect(alone.slice(0, 2)).toEqual([':words', isShown ? 'app_0      (Name of 0)' : 'app_0 ']);
      expect(alone.at(-2)).toBe('bare ');
      expect(beside).toEqual([...alone.slice(0, -1), isShown ? 'a\\ b       (c)' : 'a\\ b ', '']);
    }
  });
});

describe('__complete', () => {
  test('offers the values of the typed setting, none if any value is valid', async () => {
    const home = await homeWith(config);
    expect(await askProcess(home, ['config', 'set', 'time', ''])).toEqual([
      'iso',
      'local',
      'relative',
    ]);
    expect(
      await askProcess(home, ['-p', 'club', 'config', 'set', 'paging.mode', '-n', '']),
    ).toContain('offset');
    expect(await askProcess(home, ['config', 'set', 'timeout', ''])).toEqual([]);
  });

  test('names the profiles with what they lead to', async () => {
    expect(await askProcess(await homeWith(config), ['-p', ''])).toEqual([
      'work\torg_1 at api.example.com',
      'club\torg_2 at api.example.com',
      'sandbox\tthe built-in demo service',
    ]);
  });

  test.each([
    ['the active profile', ['tryouts', 'get'], {}, ['app_1', 'app_2']],
    ['-p NAME', ['-p', 'club', 'tryouts', 'get'], {}, ['club_app']],
    ['-pNAME', ['-pclub', 'tryouts', 'get'], {}, ['club_app']],
    ['-p=NAME', ['-p=club', 'tryouts', 'get'], {}, ['club_app']],
    ['-qp NAME', ['tryouts', 'get', '-qp', 'club'], {}, ['club_app']],
    ['--profile NAME', ['tryouts', 'get', '--profile', 'club'], {}, ['club_app']],
    ['--profile=NAME', ['tryouts', 'get', '--profile=club'], {}, ['club_app']],
    ['the last of several', ['tryouts', 'get', '-p', 'club', '-p', 'work'], {}, ['app_1', 'app_2']],
    ['no flag behind --', ['tryouts', 'get', '--', '-p', 'club'], {}, ['app_1', 'app_2']],
    ['ROSTERCTL_PROFILE', ['tryouts', 'get'], { ROSTERCTL_PROFILE: 'club' }, ['club_app']],
    [
      '-p over ROSTERCTL_PROFILE',
      ['tryouts', 'get', '-p', 'work'],
      { ROSTERCTL_PROFILE: 'club' },
      ['app_1', 'app_2'],
    ],
    ['--org', ['tryouts', 'get', '--org', 'org_2'], {}, ['club_app']],
    ['ROSTERCTL_ORG', ['tryouts', 'get'], { ROSTERCTL_ORG: 'org_2' }, ['club_app']],
    ['another service', ['tryouts', 'get', '--base-url', 'https://other.example.com/v1'], {}, []],
    ['an unknown profile', ['tryouts', 'get', '-p', 'nobody'], {}, []],
  ])('remembers the ids of %s', async (_, typed, env, expected) => {
    const home = await homeWith(config, ids);
    const lines = ask(home, [...typed, ''], { ...env });
    expect(lines).toEqual(expected.map((id) => `${id}\tName of ${id}`));
  });

  test('omits ids that are on the line already', async () => {
    const home = await homeWith(config, ids);
    expect(ask(home, ['tryouts', 'get', 'app_1', ''])).toEqual(['app_2\tName of app_2']);
  });

  test('offers nothing if the cache is turned off', async () => {
    const off = { ...config, defaults: { 'completion.cache': 'off' } };
    expect(ask(await homeWith(off, ids), ['tryouts', 'get', ''])).toEqual([]);
  });

  test.each([
    ['an unknown command', ['nonsense', '']],
    ['a name that every object has', ['__proto__', '']],
    ['a verb that every object has', ['teams', 'constructor', '']],
    ['a resource of which nothing is cached', ['players', 'get', '']],
    ['a word of the old scripts', ['id:tryouts', '--', '-p']],
  ])('answers %s with nothing and no error', async (_, words) => {
    const lines = ask(await homeWith(config, { org_1: [] }), words);
    expect(lines).toEqual([]);
  });

  test.each([
    ['no home folder', { HOME: '' }],
    ['a home that does not exist', { HOME: '/nonexistent' }],
    ['an empty cache folder name', { ROSTERCTL_CACHE_DIR: '/dev/null' }],
  ])('answers with nothing in %s', async (_, env) => {
    expect(ask(await homeWith(config, {}), ['tryouts', 'get', ''], env)).toEqual([]);
  });

  test.each([
    [['-p', ''], 'no JSON', ['sandbox\tthe built-in demo service']],
    [['-p', ''], '{"profiles":[1]}', ['sandbox\tthe built-in demo service']],
    [['tryouts', 'list', '--fields', 'submi'], 'no JSON', ['submittedAt']],
  ])(
    'answers %j with what it can when config.json is broken: %s',
    async (words, text, expected) => {
      expect(ask(await homeWith(text), words)).toEqual(expected);
    },
  );

  test('no hostile name reaches the terminal unsanitized, and no hostile id is offered', async () => {
    const home = await homeWith(config);
    const place = { profile: 'work', baseUrl: work.baseUrl, organizationId: 'org_1' };
    const memory = rememberRecords(pathsOf(home), place, 'tryouts');
    for (const [index, text] of hostileTexts.entries()) {
      memory.observe({ id: `id_${index}`, name: text });
      memory.observe({ id: `x${text}`, name: 'n' });
    }
    await memory.write({ whole: true });
    const lines = ask(home, ['tryouts', 'get', '']);
    expect(lines.filter((line) => line.startsWith('id_'))).toHaveLength(hostileTexts.length);
    for (const line of lines) {
      expect(line.split('\t')).toHaveLength(2);
      expect(line.replace('\t', '')).not.toMatch(
        /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/u,
      );
    }
  });

  test('whatever the cache contains, each line is a word that can be typed and a safe text', async () => {
    const home = await homeWith(config, ids);
    const place = { profile: 'work', baseUrl: work.baseUrl, organizationId: 'org_1' };
    const file = completionCacheFile(pathsOf(home), place) ?? '';
    const any = fc.string({ unit: codePoint, maxLength: 80 });
    fc.assert(
      fc.property(fc.array(fc.tuple(any, any)), (pairs) => {
        const text = pairs.map((pair) => pair.join('\t')).join('\n');
        writeFileSync(file, JSON.stringify({ tryouts: { ids: text, fields: [text] } }));
        for (const words of [['get'], ['list', '--fields']]) {
          let written = '';
          const write = (lines: string) => (written += lines);
          complete(['tryouts', ...words, ''], { ...outside({ HOME: home }), write });
          for (const line of written.split('\n').slice(1, -1)) {
            expect(line).toMatch(/^[^\t-][^\t]*(?:\t[^\t]+)?$/u);
            expect(line.replace('\t', '')).not.toMatch(/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u202a-\u202e]/u);
          }
        }
      }),
    );
  });

  test('a name takes at most 60 columns', async () => {
    const home = await homeWith(config);
    const place = { profile: 'work', baseUrl: work.baseUrl, organizationId: 'org_1' };
    const memory = rememberRecords(pathsOf(home), place, 'tryouts');
    memory.observe({ id: 'a', name: 'n'.repeat(500) });
    await memory.write({ whole: true });
    expect(ask(home, ['tryouts', 'get', ''])).toEqual([`a\t${'n'.repeat(59)}…`]);
  });

  test('loads one file of ours, and nothing for the network', () => {
    const probe = `
      process.argv = [process.argv[0], ${JSON.stringify(launcher)}, '__complete', 'tryouts', 'get', ''];
      require(${JSON.stringify(launcher)});
      const files = Object.keys(require.cache).map((file) => file.split(/[\\\\/]/).slice(-2).join('/'));
      const modules = process.moduleLoadList.filter((name) => /NativeModule (net|tls|http|https|http2|dns|child_process|worker_threads)$/.test(name));
      console.log(JSON.stringify({ files, modules }));`;
    const home = temporaryFolder();
    const ran = spawnSync(process.execPath, ['-e', probe], {
      env: freshEnvironment(home),
      encoding: 'utf8',
    });
    const { files, modules } = JSON.parse(ran.stdout.trim().split('\n').at(-1) ?? '') as {
      files: string[];
      modules: string[];
    };
    expect(files.toSorted()).toEqual(['bin/rosterctl', 'dist/complete.cjs']);
    expect(modules).toEqual([]);
  });

  test('a link that leads in a circle hides no other file from bash', async () => {
    const home = await homeWith({});
    for (const name of ['alpha', 'alps']) writeFileSync(join(home, name), '');
    symlinkSync('loop', join(home, 'loop'));
    const env = { COMP_LINE: 'rosterctl teams list --out=al', COMP_TYPE: '9' };
    const { stdout } = await rosterctl(['__complete', '--out=al'], { home, env });
    expect(stdout.split('\n').toSorted()).toEqual(['', '--out=alpha ', '--out=alps ', ':words']);
  });

  test('a closed pipe is no error', () => {
    const home = temporaryFolder();
    const ran = spawnSync(
      'sh',
      ['-c', `'${process.execPath}' '${launcher}' __complete -p '' | true`],
      {
        env: freshEnvironment(home),
        encoding: 'utf8',
      },
    );
    expect(ran.stderr).toBe('');
  });

  test('a cache file that cannot be read is no error', async () => {
    const home = await homeWith(config, ids);
    chmodSync(join(home, '.cache', 'rosterctl'), 0o000);
    const lines = ask(home, ['tryouts', 'get', '']);
    chmodSync(join(home, '.cache', 'rosterctl'), 0o700);
    // Root can read everything.
    if (process.getuid?.() !== 0) expect(lines).toEqual([]);
  });
});
