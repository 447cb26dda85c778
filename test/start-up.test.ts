import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative, sep } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { freshEnvironment, launcher, rosterctl, temporaryFolder } from './support/run.js';
import { recordingService } from './support/service.js';

// Start-up without timing: the modules that each kind of call loads, at about a millisecond each.

const root = join(dirname(launcher), '..');
const node = Number(process.versions.node.split('.')[0]);

/** The modules that a run has loaded when it ends. */
interface Loaded {
  readonly code: number | null;
  readonly stdout: string;
  /** Files of dist/, by their path in it. */
  readonly files: readonly string[];
  /** Our own modules: `src/main.ts`. */
  readonly sources: readonly string[];
  readonly packages: readonly string[];
  /** Node's modules beyond those that an empty program loads. */
  readonly builtins: readonly string[];
  /** How many properties were defined one by one, as the bundler does with each export. */
  readonly defined: number;
}

const folder = temporaryFolder();
const preload = join(folder, 'loaded.cjs');
const list = join(folder, 'loaded.json');
let bare: ReadonlySet<string>;
/** The modules in each file of dist/, as written by the build. */
let manifest: Readonly<Record<string, readonly string[]>>;

beforeAll(() => {
  writeFileSync(
    preload,
    `let defined = 0;
const { defineProperty } = Object;
Object.defineProperty = (...parameters) => {
  defined += 1;
  return defineProperty(...parameters);
};
process.on('exit', () => require('node:fs').writeFileSync(${JSON.stringify(list)}, JSON.stringify({ files: Object.keys(require.cache), builtins: process.moduleLoadList, defined })));`,
  );
  spawnSync(process.execPath, ['--require', preload, '-e', '0'], {
    env: freshEnvironment(folder),
  });
  bare = new Set(read().builtins);
  const path = join(root, 'node_modules/.cache/rosterctl/modules.json');
  manifest = JSON.parse(readFileSync(path, 'utf8')) as typeof manifest;
});

function read() {
  return JSON.parse(readFileSync(list, 'utf8')) as {
    files: string[];
    builtins: string[];
    defined: number;
  };
}

async function load(line: string, env: Readonly<Record<string, string>> = {}): Promise<Loaded> {
  const options = `--require ${JSON.stringify(preload)}`;
  const ran = await rosterctl(line, { env: { ...env, NODE_OPTIONS: options } });
  const loaded = read();
  const files = loaded.files
    .map((file) => relative(join(root, 'dist'), file).replaceAll(sep, '/'))
    .filter((file) => !file.startsWith('..'));
  const modules = files
    .filter((file) => file.endsWith('.cjs'))
    .flatMap((file) => manifest[file] ?? [`no build made ${file}: npm run build`]);
  const packages = modules.flatMap(
    (id) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(id)?.[1] ?? [],
  );
  return {
    code: ran.code,
    stdout: ran.stdout,
    files,
    sources: modules.filter((id) => !id.includes('node_modules/') && !id.startsWith('rolldown/')),
    packages: [...new Set(packages)].toSorted(),
    builtins: loaded.builtins
      .filter((name) => !bare.has(name) && name.startsWith('NativeModule '))
      .map((name) => name.replace('NativeModule ', ''))
      .filter((name) => !name.startsWith('internal/')),
    defined: loaded.defined,
  };
}

/** Modules for networks, streams and computation, of which a page of text needs none. */
const costly = ['net', 'stream', 'http', 'https', 'tls', 'crypto', 'dns', 'child_process', 'tty'];

test('the build lists every file that it wrote', () => {
  const made = Object.keys(manifest);
  expect(made).toContain('main.cjs');
  expect(made.filter((file) => basename(dirname(file)) === 'chunks').length).toBeGreaterThan(20);
});

test.each(['--version', '-V'])('%s loads nothing of the program', async (line) => {
  const { code, files, builtins } = await load(line);
  expect([code, files]).toEqual([0, []]);
  expect(builtins.filter((name) => costly.includes(name))).toEqual([]);
});

describe.each([
  ['--help', 0],
  ['', 0],
  ['tryouts --help', 0],
  ['tryouts list -h', 0],
  ['help tryouts list', 0],
  ['tryouts lst', 2],
  ['tryuots', 2],
  ['tryouts list --stauts x', 2],
  ['tryouts list --status lost', 2],
  ['teams get', 2],
  ['teams get x --json -o csv --no-such', 2],
] as const)('a page or a mistake: %s', (line, code) => {
  let loaded: Loaded;
  beforeAll(async () => {
    loaded = await load(line);
  });

  test('loads the command line parser for a mistake only, and nothing that runs commands', () => {
    expect([loaded.code, loaded.packages]).toEqual([code, code === 0 ? [] : ['commander']]);
    expect(loaded.files.length).toBeLessThanOrEqual(code === 0 ? 2 : 3);
    expect(
      loaded.sources.filter((id) =>
        /^src\/(commands|api|bulk|engine|runs|sandbox|files|assemble)/.test(id),
      ),
    ).toEqual([]);
    expect(loaded.sources.filter((id) => id.startsWith('src/config/'))).toEqual([
      'src/config/choices.ts',
      // Where a login is stored.
      'src/config/paths.ts',
    ]);
    expect(loaded.sources).not.toContain('src/terminal/width.ts');
    expect(loaded.sources.includes('src/cli/failure.ts')).toBe(code !== 0);
    expect(loaded.files).not.toContain('topics.json');
  });

  test('opens no stream', () => {
    expect(loaded.builtins.filter((name) => costly.includes(name))).toEqual([]);
  });
});

test('a topic of help loads the topics, and no parser', async () => {
  const { code, files, packages, builtins } = await load('help exit-codes');
  expect([code, packages]).toEqual([0, []]);
  expect(files.map((file) => basename(file).split('-')[0])).toEqual([
    'main.cjs',
    'help',
    'topics.json',
  ]);
  expect(builtins.filter((name) => costly.includes(name))).toEqual([]);
});

test('rosterctl alone after a login reads the runs, and loads no client, schema or command', async () => {
  const home = temporaryFolder();
  mkdirSync(join(home, 'rosterctl'));
  writeFileSync(
    join(home, 'rosterctl', 'config.json'),
    JSON.stringify({
      version: 1,
      activeProfile: 'club',
      profiles: { club: { baseUrl: 'https://api.example.com/v1', organization: 'org_1' } },
    }),
    { mode: 0o600 },
  );
  const { code, stdout, packages, sources, builtins } = await load('', { XDG_CONFIG_HOME: home });
  expect([code, packages]).toEqual([0, ['commander']]);
  expect(stdout).toContain('profile club · org_1');
  const needless = /^src\/(api|bulk|engine|resources|sandbox|downloads)\/|^src\/service\.ts/;
  expect(sources.filter((id) => needless.test(id))).toEqual([]);
  expect(builtins.filter((name) => costly.includes(name))).toEqual([]);
});

describe.each([
  'commands',
  'completion bash',
  'config list',
  'config get output',
  'config path',
  'profile list',
  'profile show sandbox',
  'runs list',
  'uploads list',
  '-p sandbox cursors list',
])('a command that sends nothing: %s', (line) => {
  let loaded: Loaded;
  beforeAll(async () => {
    loaded = await load(line);
  });

  test('loads no client, no schema and nothing that is for writes or a person', () => {
    expect([loaded.code, loaded.packages]).toEqual([0, ['commander']]);
    const needless =
      /^src\/(api|resources|downloads|sandbox)\/|^src\/service\.ts|^src\/cli\/(lists\/.*|card|filters|failure)\.ts|^src\/terminal\/(prompt-screen|table|width|other-programs)\.ts/;
    expect(loaded.sources.filter((id) => needless.test(id))).toEqual([]);
    expect(loaded.files.filter((file) => file.endsWith('.cjs')).length).toBeLessThanOrEqual(6);
  });

  test('opens no stream for a pipe', () => {
    expect(loaded.builtins.filter((name) => costly.includes(name))).toEqual([]);
  });
});

test.each([
  ['tea', []],
  ['tryouts list --', []],
  ['tryouts list --game V', []],
  ['tryouts get app', []],
  ['-p x', []],
  ['teams list --fields i', []],
  ['help o', []],
  ['runs show 2', []],
  ['cursors show ma', []],
  ['docs upload x', []],
  ['config get p', ['settings.json']],
])('a TAB behind %s loads its own file, and of data %j', async (words, data) => {
  const { code, files, builtins } = await load(`__complete ${words}`);
  expect([code, files]).toEqual([0, ['complete.cjs', ...data]]);
  expect(builtins.filter((name) => costly.includes(name))).toEqual([]);
});

describe('one GET printed as JSON', async () => {
  const team = { id: 'team_1', organizationId: 'org_7', name: 'Foxes' };
  const service = await recordingService(() => ({ status: 200, json: team }));
  let loaded: Loaded;
  beforeAll(async () => {
    loaded = await load('teams get team_1 --json', service.env);
  });

  test('prints the record', () => {
    expect([loaded.code, JSON.parse(loaded.stdout)]).toEqual([0, team]);
  });

  test('loads the parser, the client and the schemas, and no other package', () => {
    expect(loaded.packages).toEqual(['commander', 'undici', 'zod']);
  });

  test('loads nothing that draws, lists, writes, prompts or starts a service', () => {
    const needless = [
      /^src\/cli\/(lists\/.*|card|cells|chosen-fields|filters|failure)\.ts/,
      /^src\/terminal\/(table|width|other-programs)/,
      /^src\/api\/(list-page|paging|links|store\/(answers|download|file-store|signed-url)|tunnel|openapi)\.ts/,
      /^src\/config\/(store-write|key-command|completion-cache)/,
      /^src\/(bulk|engine|runs|sandbox|uploads|downloads|resources\/cards)\//,
      /^src\/files\/(lock|atomic-write|temporary)/,
    ];
    const found = loaded.sources.filter((id) => needless.some((pattern) => pattern.test(id)));
    expect(found).toEqual([]);
  });

  test('loads only the command of this verb', () => {
    const commands = loaded.sources.filter((id) => /^src\/commands\/\w+\//.test(id));
    expect(commands).toEqual(['src/commands/teams/get.ts']);
  });

  test('loads only the parts of the client and the schemas that are used', () => {
    const inside = Object.entries(manifest)
      .filter(([file]) => loaded.files.includes(file))
      .flatMap(([, modules]) => modules);
    expect(inside.filter((id) => /zod\/v4\/(classic|locales\/(?!en\.js))/.test(id))).toEqual([]);
    expect(
      inside.filter((id) => /undici\/lib\/(web|mock|cache|interceptor|api)\//.test(id)),
    ).toEqual(inside.filter((id) => id.endsWith('undici/lib/web/fetch/body.js')));
  });

  test('loads none of the Node modules for HTTP, TLS, hashing or child processes', () => {
    const needless = ['http', 'https', 'tls', 'crypto', 'assert', 'perf_hooks', 'zlib', 'dns'];
    const further = ['child_process', 'worker_threads', 'fs/promises', 'readline'];
    expect(loaded.builtins.filter((name) => [...needless, ...further].includes(name))).toEqual([]);
  });

  test('sets a V8 flag only on Node 20, where it avoids a wait at exit', () => {
    expect(loaded.builtins.includes('v8')).toBe(node === 20);
  });

  test('reads few files', () => {
    expect(loaded.files.filter((file) => file.endsWith('.cjs')).length).toBeLessThanOrEqual(6);
  });

  test('does not copy the bytes of the parser one by one, as if they were exports', () => {
    expect(loaded.defined).toBeLessThan(3000);
  });
});

test('a change of one record in a pipe loads nothing that previews, draws, filters or resumes', async () => {
  const record = { id: 'app_1', status: 'pending' };
  const service = await recordingService(({ method }) => ({
    status: 200,
    json: method === 'GET' ? record : { ...record, status: 'rejected' },
  }));
  const line = 'tryouts update app_1 --status rejected --yes';
  const { code, files, packages, sources, builtins } = await load(line, service.env);
  expect([code, packages]).toEqual([0, ['commander', 'undici', 'zod']]);
  const needless =
    /^src\/bulk\/(dry-run|preview-lines|references|reference-index|report-\w+|row-lines|selection|show-run|write-plan)\.ts|^src\/(terminal\/(table|width|other-programs)|resources\/(cards|import|tryout-filters)|cli\/(card|cells|input|lines|lists\/(show|table))|uploads|downloads|runs\/plan-file\.ts)/;
  expect(sources.filter((id) => needless.test(id))).toEqual([]);
  expect(builtins.filter((name) => ['perf_hooks', 'zlib', 'child_process'].includes(name))).toEqual(
    [],
  );
  expect(files.filter((file) => file.endsWith('.cjs')).length).toBeLessThanOrEqual(12);
});

test.each(['teams list --json', 'tryouts list --json', 'tryouts list --status pending -o ids'])(
  'a piped list loads only the modules for reading and filtering lists: %s',
  async (line) => {
    const record = { id: 'x_1', status: 'pending' };
    const service = await recordingService(() => ({ status: 200, json: [record] }));
    const { code, packages, sources, builtins } = await load(line, service.env);
    expect([code, packages]).toEqual([0, ['commander', 'undici', 'zod']]);
    expect(sources).toContain('src/api/list-page.ts');
    const needless =
      /^src\/(bulk|engine|runs|cursors|sandbox|uploads|downloads)\/|^src\/cli\/(lists\/(table|show|end|template)|card|failure)\.ts|^src\/resources\/list-summary\.ts|^src\/terminal\/(table|width|other-programs)\.ts|^src\/api\/(store\/(answers|download|file-store|signed-url)|tunnel)\.ts/;
    expect(sources.filter((id) => needless.test(id))).toEqual([]);
    expect(sources.filter((id) => /^src\/commands\/\w+\//.test(id))).toHaveLength(1);
    expect(
      builtins.filter((name) => ['http', 'tls', 'dns', 'child_process'].includes(name)),
    ).toEqual([]);
  },
);

test.each(['tryouts get app_1', 'teams get app_1', 'tryouts stats --json'])(
  'a pipe loads neither cards nor charts: %s',
  async (line) => {
    const record = { id: 'app_1', status: 'pending' };
    const service = await recordingService(({ url }) => ({
      status: 200,
      json: url.includes('?') && !url.includes('app_1') ? [record] : record,
    }));
    const { code, sources } = await load(line, service.env);
    expect(code).toBe(0);
    const drawing =
      /^src\/(resources\/(cards\/|season\/|stats-page)|runs\/|terminal\/(layout|width))/;
    expect(sources.filter((id) => drawing.test(id))).toEqual([]);
    expect(service.requests).toHaveLength(1);
  },
);

test('a piped table loads no width tables', async () => {
  const service = await recordingService(() => ({ status: 200, json: [{ id: 'team_1' }] }));
  const { code, packages, sources } = await load('teams list', service.env);
  expect([code, packages]).toEqual([0, ['commander', 'undici', 'zod']]);
  expect(sources).not.toContain('src/terminal/width.ts');
});

/** The loaded modules that read or write workbooks. */
const sheets = ({ sources }: Loaded) =>
  sources.filter((id) => /^src\/(sheets\/|cli\/lists\/workbook)/.test(id));

test('only a workbook loads what reads and writes one', async () => {
  const records = [{ id: 'player_1', name: 'Ann' }];
  const service = await recordingService(({ method }) => ({
    status: 200,
    json: method === 'GET' ? records : {},
  }));
  const at = join(temporaryFolder(), 'players');
  expect(sheets(await load(`players list --out ${at}.csv`, service.env))).toEqual([]);
  expect(sheets(await load(`players update --csv ${at}.csv -n`, service.env))).toEqual([]);
  const written = sheets(await load(`players list --out ${at}.xlsx`, service.env));
  expect(written).toContain('src/sheets/write-workbook.ts');
  expect(written).not.toContain('src/sheets/xml.ts');
  const opened = sheets(await load(`players update --csv ${at}.xlsx -n`, service.env));
  expect(opened).toContain('src/sheets/xml.ts');
  expect(opened).not.toContain('src/sheets/write-workbook.ts');
});
