import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { contract } from '../src/api/contract.js';
import { commands as commandTable } from '../src/commands/index.js';
import { resourceNames, resourceWords } from '../src/data/resources.js';
import { localNames } from './support/local-names.js';

const root = fileURLToPath(new URL('../src/', import.meta.url));

/** The layers: an import points down, or stays in its own folder. */
const floors: Readonly<Record<string, number>> = {
  'main.ts': 18,
  'command-line.ts': 17,
  'run-parsed.ts': 16,
  'assemble.ts': 15,
  'service.ts': 14,
  'describe.ts': 14,
  'complete.ts': 14,
  'start.ts': 14,
  picking: 14,
  commands: 13,
  backups: 12,
  review: 12,
  uploads: 12,
  downloads: 11,
  resources: 10,
  bulk: 9,
  engine: 8,
  cursors: 7,
  runs: 7,
  'print-failure.ts': 7,
  cli: 6,
  'context.ts': 5,
  sandbox: 5,
  api: 4,
  config: 4,
  terminal: 4,
  sheets: 3,
  files: 3,
  data: 2,
  'errors.ts': 1,
  'exit-codes.ts': 0,
};

const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((name) =>
  name.endsWith('.ts'),
);
const imports = new Map(files.map((file) => [file, importsOf(file)]));

test('every file belongs to a layer', () => {
  expect(files.filter((file) => floors[placeOf(file)] === undefined)).toEqual([]);
});

test('imports point down or stay in their folder', () => {
  const upward = [...imports].flatMap(([file, targets]) =>
    targets
      .filter((target) => placeOf(target) !== placeOf(file))
      .filter((target) => (floors[placeOf(target)] ?? 9) >= (floors[placeOf(file)] ?? 0))
      .map(
        (target) =>
          `${file} (floor ${floors[placeOf(file)]}) imports ${target} (floor ${floors[placeOf(target)]})`,
      ),
  );
  expect(upward).toEqual([]);
});

test('no imports form a cycle', () => {
  const circles: string[] = [];
  const done = new Set<string>();
  const walk = (file: string, path: readonly string[]): void => {
    if (path.includes(file)) circles.push([...path.slice(path.indexOf(file)), file].join(' -> '));
    else if (!done.has(file)) {
      for (const target of imports.get(file) ?? []) walk(target, [...path, file]);
      done.add(file);
    }
  };
  for (const file of files) walk(file, []);
  expect(circles).toEqual([]);
});

/** One owner per package; all other code calls the owner. */
const owners: Readonly<Record<string, readonly string[]>> = {
  commander: ['cli/program.ts'],
  undici: ['api/undici.ts', 'api/exchange.ts'],
  '@inquirer/core': ['terminal/prompt-mark.ts'],
  '@inquirer/prompts': ['terminal/prompt.ts'],
  'cli-table3': ['terminal/table.ts'],
  ora: ['terminal/progress.ts'],
  conf: ['config/store-write.ts'],
};

test('each package is imported only by its owner', () => {
  const strangers = files.flatMap((file) =>
    packagesOf(file)
      .filter((name) => owners[name] && !owners[name].includes(file))
      .map((name) => `${file} imports ${name}`),
  );
  expect(strangers).toEqual([]);
});

test('only main.ts uses process, and no file prints to the console', () => {
  const culprits = files
    .filter((file) => file !== 'main.ts')
    .filter((file) =>
      /\bconsole\.|\bprocess\.(env|argv|exit|exitCode|stdout|stderr|stdin)\b/.test(code(file)),
    );
  expect(culprits).toEqual([]);
});

const known = [...Object.keys(contract), ...resourceNames].join('|');
/** Patterns of decisions by the name of an endpoint, a resource or a command, for which a table has a column. */
const spelling = [
  new RegExp(`[!=]==? '(?:${known})'|'(?:${known})' [!=]==?|case '(?:${known})'`),
  /\b[eE]ndpoint(?:Name)?\)?\.(?:startsWith|endsWith|includes|match|search|replace|slice)\(/,
  /\.(?:test|exec)\([^()]*\b[eE]ndpoint(?:Name)?\)/,
  new RegExp(`\\b(?:${resourceNames.join('|')})\\|(?:${resourceNames.join('|')})\\b(?=.*/)`),
  new RegExp(`'(?:${resourceNames.join('|')})',\\s*'(?:${resourceNames.join('|')})'`),
  new RegExp(`\\bresource(?:Word)?s\\.(?:${resourceNames.join('|')})\\b(?!,)`),
  // What a command is called: an operation and its runs have a verb.
  /\b[aA]ction\.(?:startsWith|endsWith|includes|match|search|slice|indexOf|lastIndexOf)\(/,
  /\b[aA]ction [!=]== '\w+\.|\w\.[\w-]+' [!=]== (?:\w+\.)?action\b/,
];
const decidesBySpelling = (text: string) => spelling.some((way) => way.test(text));

test.each([
  ["if (resource === 'tryouts') return []", true],
  ["call.endpoint === 'deleteTeam' ? 1 : 2", true],
  ["switch (name) { case 'updateTryout': }", true],
  ["call.endpoint.startsWith('delete')", true],
  ['/^(update|delete)/.test(call.endpoint)', true],
  ['/(teams|players)$/.test(path)', true],
  ["const areas = ['teams', 'players'];", true],
  ["action.endsWith('.delete')", true],
  ["head.action === 'tryouts.convert'", true],
  ['call.path.startsWith(resourceWords.tryouts.path)', true],
  ["head.verb === 'delete'", false],
  ["head.action.replace('.', ' ')", false],
  ['...resourceWords.tryouts,', false],
  ['resource(name).calls.get === undefined', false],
  ["endpoint(call.endpoint).verb === 'update'", false],
  ["view: recordView('tryouts')", false],
])('%s decides by a name: %s', (text, expected) => {
  expect(decidesBySpelling(text)).toBe(expected);
});

test('only the command of a resource decides by a name, and one file reads what a name says of an old run', () => {
  const commands = new RegExp(`^commands/(${resourceNames.join('|')})/`);
  const culprits = files.filter(
    (file) => !commands.test(file) && file !== 'runs/verb.ts' && decidesBySpelling(code(file)),
  );
  expect(culprits).toEqual([]);
});

test('no file but a table grows past 300 lines', () => {
  const long = files
    .filter((file) => file !== 'api/contract.ts')
    .filter((file) => code(file).split('\n').length > 300);
  expect(long).toEqual([]);
});

/** A comment with a sentence that belongs to the file, not to its first declaration. */
const opening =
  /^\/\*\*(?:(?!\*\/)[^])*[.?]\s(?:(?!\*\/)[^])*\*\/\n(?!(?:export|const|let|function|class|interface|type)\b)/;

test('every file opens with one sentence on what it is for', () => {
  const silent = files.filter((file) => !opening.test(readFileSync(join(root, file), 'utf8')));
  expect(silent).toEqual([]);
});

test('a skipped test states the reason', () => {
  const folder = fileURLToPath(new URL('./', import.meta.url));
  const silent = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.ts'))
    .filter((name) =>
      /\.(skipIf|runIf|todo)\(|\b(test|describe)\.skip\b|\bskip\(\)/.test(
        readFileSync(join(folder, name), 'utf8'),
      ),
    );
  expect(silent.filter((name) => name !== 'architecture.test.ts')).toEqual([]);
});

test('a folder holds at most thirty files', () => {
  const counts = new Map<string, number>();
  for (const file of files) counts.set(dirname(file), (counts.get(dirname(file)) ?? 0) + 1);
  expect([...counts].filter(([, count]) => count > 30)).toEqual([]);
});

test('inside a folder at most eight files stand on one another', () => {
  const longest = (file: string): readonly string[] => {
    const below = (imports.get(file) ?? [])
      .filter((target) => dirname(target) === dirname(file))
      .map(longest)
      .toSorted((a, b) => b.length - a.length);
    return [file, ...(below[0] ?? [])];
  };
  const tall = files.map(longest).filter((chain) => chain.length > 8);
  expect(tall.map((chain) => chain.join(' > '))).toEqual([]);
});

test('a folder of commands holds one file per command, and shared.ts for what siblings share', () => {
  const expected = Object.entries(commandTable).flatMap(([noun, entry]) =>
    typeof entry === 'function'
      ? [`commands/${noun}.ts`]
      : Object.keys(entry.commands).map((verb) => `commands/${noun}/${verb}.ts`),
  );
  const shared = files.filter((file) => /^commands\/\w+\/shared\.ts$/.test(file));
  const found = files.filter((file) => file.startsWith('commands/') && !shared.includes(file));
  expect(found.toSorted()).toEqual(['commands/index.ts', ...expected].toSorted());
  for (const file of shared) {
    const siblings = files.filter(
      (other) => dirname(other) === dirname(file) && imports.get(other)?.includes(file),
    );
    expect([file, siblings.length > 1]).toEqual([file, true]);
  }
});

test('each assumed endpoint is replaced by a setting of its own', () => {
  const keys = Object.values(contract).flatMap(({ basis }) =>
    'assumed' in basis ? [basis.override] : [],
  );
  const offered = resourceNames.flatMap((name) =>
    Object.keys(resourceWords[name].overrides).map((action) => `endpoints.${name}.${action}`),
  );
  expect(
    keys.toSorted(),
    'each entry of `overrides` in src/data/resources.ts is the `override` of exactly one assumed row',
  ).toEqual(offered.toSorted());
});

/** `export class NAME` and its kinds, with every file that declares it. */
function homesOf(name: string): string[] {
  const declares = new RegExp(
    `^export (?:async )?(?:function\\*?|const|class|interface|type) ${name}\\b`,
    'm',
  );
  return files.filter((file) => declares.test(code(file)));
}

test('each exported name is declared once', () => {
  const names = files.flatMap((file) => {
    const found = code(file).matchAll(
      /^export (?:async )?(?:function\*?|const|class|interface|type) (\w+)/gm,
    );
    // A schema and the type of what it checks go by one name.
    return [...new Set([...found].map(([, name = '']) => name))];
  });
  const twice = names.filter((name, index) => names.indexOf(name) !== index);
  expect(twice.map((name) => `${name}: ${homesOf(name).join(', ')}`)).toEqual([]);
});

test.each([
  ['function f(a: string, { b, c: [d = 1] }: T) {\n  const e = a;\n}', ['a', 'b', 'd', 'e']],
  [
    'const f = async () => {\n  const { g } = await import("./g.js");\n  return g((h) => h);\n};',
    ['h'],
  ],
  ['const a = 1;\nexport const b = { c: a };', []],
])('%s has the local names %j', (text, names) => {
  expect(localNames(text)).toEqual(names);
});

test('a local name of the write path is that of nothing that its file could import', () => {
  const homes = new Map(
    files.flatMap((file) =>
      [...code(file).matchAll(/^export (?:async )?(?:function\*?|const|class) (\w+)/gm)].map(
        ([, name = '']) => [name, file] as const,
      ),
    ),
  );
  const repeated = files
    .filter((file) => ['bulk', 'engine', 'runs', 'resources', 'uploads'].includes(placeOf(file)))
    .flatMap((file) =>
      localNames(code(file)).flatMap((name) => {
        const home = homes.get(name);
        const isInReach = home && (floors[placeOf(home)] ?? 0) <= (floors[placeOf(file)] ?? 0);
        return isInReach ? [`${file}: ${name}, as in ${home}`] : [];
      }),
    );
  expect(repeated).toEqual([]);
});

test('each term of the glossary is declared once, where the glossary says', () => {
  const guide = readFileSync(join(root, '../CONTRIBUTING.md'), 'utf8');
  const rows = [...guide.matchAll(/^\| ([\w -]+) \| `(\w+)` in ([\w/.-]+) \|/gm)];
  expect(rows.length).toBeGreaterThanOrEqual(25);
  expect(rows.map(([, term, name = '']) => [term, homesOf(name)])).toEqual(
    rows.map(([, term, , home]) => [term, [home]]),
  );
});

/** State of the process itself, which no object of ours could own. */
const processState: Readonly<Record<string, readonly string[]>> = {
  // V8 has one heap, whoever asks for more of it.
  'data/workload.ts': ['isHeapSmall'],
  // undici names no request when it publishes that a head was written.
  'api/undici.ts': ['pendingListener'],
  // JSON.stringify has no other way to say what it met.
  'data/json.ts': ['hasRawNumber'],
  // Set back before each use: matchAll would copy the expression for every attribute of a sheet.
  'sheets/xml.ts': ['attributePattern'],
};

/** Returns the variables of a module that change: each `let`, and what is filled after its declaration. */
function changingVariables(text: string): string[] {
  const declared = text.matchAll(/^(?:export )?(let|const) (\w+)\b/gm);
  return [...declared].flatMap(([, keyword, name = '']) => {
    const fills = new RegExp(
      `(?<![\\w.])${name}(?:\\.(?:set|add|delete|clear|push|unshift|pop|shift|splice)\\(|(?:\\.\\w+|\\[[^\\]]+\\]) (?:\\?\\?|\\|\\||\\+|-)?= )`,
    );
    return keyword === 'let' || fills.test(text) ? [name] : [];
  });
}

test.each([
  ['let opened = 0;', ['opened']],
  ['const known = new Map();\nfunction learn() {\n  known.set(1, 2);\n}', ['known']],
  ['const found: string[] = [];\nfunction find() {\n  found.push("a");\n}', ['found']],
  ['const state = {};\nfunction begin() {\n  state.begun ??= true;\n}', ['state']],
  ['const words = new Set(["a"]);\nfunction has() {\n  return words.has("a");\n}', []],
  ['function make() {\n  const made = new Set();\n  made.add(1);\n}', []],
])('%s keeps %j', (text, expected) => {
  expect(changingVariables(text)).toEqual(expected);
});

test('no module keeps state that changes', () => {
  const changing = files.flatMap((file) =>
    changingVariables(code(file))
      .filter((name) => !processState[file]?.includes(name))
      .map((name) => `${file}: ${name}`),
  );
  expect(changing).toEqual([]);
});

function placeOf(file: string): string {
  return file.split('/')[0] ?? file;
}

function code(file: string): string {
  return readFileSync(join(root, file), 'utf8').replace(/^\s*(\/\/|\*|\/\*).*$/gm, '');
}

function specifiers(file: string): string[] {
  const found = readFileSync(join(root, file), 'utf8').matchAll(
    /(?:from\s+|import\s*\(?\s*)'([^']+)'/g,
  );
  return [...found].map(([, specifier = '']) => specifier);
}

function importsOf(file: string): string[] {
  return specifiers(file)
    .filter((specifier) => specifier.startsWith('.'))
    .map((specifier) =>
      relative(root, join(root, dirname(file), specifier)).replace(/\.js$/, '.ts'),
    );
}

function packagesOf(file: string): string[] {
  return specifiers(file)
    .filter((specifier) => !specifier.startsWith('.') && !specifier.startsWith('node:'))
    .map((specifier) =>
      specifier
        .split('/')
        .slice(0, specifier.startsWith('@') ? 2 : 1)
        .join('/'),
    );
}
