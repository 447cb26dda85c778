/**
 * Speed as ratios: each figure is measured alternately with its peer in one run and compared pair
 * by pair. Prints a table and writes bench/results.md. Never fails because of a time.
 */
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { backupFigures } from './backups.mjs';
import { bulkFigures } from './bulk.mjs';
import { boundRow, median } from './figures.mjs';
import { serve } from './serve.mjs';
import { uploadFigures } from './uploads.mjs';
import { workbookFigures } from './workbooks.mjs';
import { writeFigures } from './writes.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const launcher = join(root, 'bin/rosterctl');
const rounds = Number(process.env.BENCH_ROUNDS || 25);
const home = mkdtempSync(join(tmpdir(), 'rosterctl-bench-'));
// NODE_EXTRA_CA_CERTS slows down every start of Node 20, which would flatter each ratio.
const env = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !name.startsWith('NODE_')),
);
// Without a token, gh sends nothing.
Object.assign(env, { HOME: home, NO_COLOR: '1', GH_TOKEN: 'bench' });

const node = [process.execPath];
const tool = [process.execPath, launcher];
const list = (format, ...more) => [...tool, 'tryouts', 'list', '-o', format, ...more];
const rows = [];
/** Lists of the service by organization, created when first requested. */
const madeLists = new Map();

const service = await startService();
Object.assign(env, {
  ROSTERCTL_BASE_URL: `${service.origin}/v1`,
  ROSTERCTL_ORG: 'org_7',
  ROSTERCTL_API_KEY: 'bench-key-0123456789',
});

try {
  const bare = [...node, '-e', '0'];
  const getGoal = Number(process.versions.node.split('.')[0]) === 20 ? 3.6 : 3.0;
  await compare('S1 --version', [...tool, '--version'], bare, 'node -e 0', 1.15);
  await compare('S2 --help', [...tool, '--help'], bare, 'node -e 0', 1.5);
  await compare('S2 tryouts list -h', [...tool, 'tryouts', 'list', '-h'], bare, 'node -e 0', 1.5);
  const usage = [rounds, {}, 2];
  await compare('S2 wrong verb', [...tool, 'tryouts', 'lst'], bare, 'node -e 0', 1.5, ...usage);
  const wrong = [...tool, 'tryouts', 'list', '--stauts', 'x'];
  await compare('S2 wrong flag', wrong, bare, 'node -e 0', 1.5, ...usage);
  await completions(bare);
  for (const words of ['help exit-codes', 'config list', 'profile list', 'runs list'])
    await compare(`S8 ${words}`, [...tool, ...words.split(' ')], bare, 'node -e 0', 1.5);
  const get = [...tool, 'teams', 'get', 'team_1', '--json'];
  await compare('S4 one GET as JSON', get, bare, 'node -e 0', getGoal);
  await peer('S2 --help beside gh', [...tool, '--help'], ['gh', '--version'], 0.9);
  await peer(
    'S4 one GET beside gh api',
    get,
    ['gh', 'api', `${service.origin}/v1/teams/org_7/team_1`],
    1.6,
  );
  await peer(
    'S4 one GET beside httpie',
    get,
    ['http', '--ignore-stdin', `${service.origin}/v1/teams/org_7/team_1`],
    0.5,
  );
  await peer('S4 one GET beside curl', get, [
    'curl',
    '-s',
    `${service.origin}/v1/teams/org_7/team_1`,
  ]);
  bound('S4 peak of one GET', await peakOf(get), 60);
  await hang('S5 last byte to exit', get);
  await lists();
  await workbookFigures({ tool, home, compare, bound, peakOf, list });
  await writeFigures({ tool, home, env, record, compare, rounds });
  record(...(await bulkFigures({ tool, home, env })));
  record(...(await uploadFigures({ tool, home, env })));
  record(...(await backupFigures({ tool, home, env })));
  size();
} finally {
  service.close();
  rmSync(home, { recursive: true, force: true });
}
report();

/** A TAB with nothing cached, and one that offers 5,000 ids with their names. */
async function completions(bare) {
  const few = [...tool, '__complete', 'tryouts', 'list', '--'];
  const many = [...tool, '__complete', 'tryouts', 'get', ''];
  const beside = [bare, 'node -e 0'];
  const inCache = { ROSTERCTL_ORG: 'org_5000' };
  await compare('S3 TAB, flags', few, ...beside, 1.35);
  await compare('S3 TAB, ids, empty cache', many, ...beside, 1.35, rounds, inCache);
  await time(list('ids'), inCache, 0);
  await compare('S3 TAB, 5,000 ids', many, ...beside, 1.5, rounds, inCache);
  const bash = { COMP_LINE: 'rosterctl tryouts get ', COMP_POINT: '22', COMP_TYPE: '9' };
  const inBash = [...tool, '__complete', ''];
  const both = { ...inCache, ...bash };
  await compare('S3 TAB in bash, 5,000 ids', inBash, ...beside, 1.5, rounds, both);
  for (const text of [await textOf(many, inCache), await textOf(inBash, both)]) {
    const ids = text.split('\n').length - 2;
    if (ids !== 5000) throw new Error(`the TAB offered ${ids} ids`);
  }
}

/**
 * Runs both commands in turn; the figure is the median of the ratios of each round. Throws when ours
 * ends with another exit code than `code`, or the other one with a failure: it did less than it should.
 */
async function compare(name, command, other, otherName, goal, times = rounds, more = {}, code = 0) {
  await time(command, more, code);
  await time(other, more, 0);
  const pairs = [];
  for (let round = 0; round < times; round++)
    pairs.push([await time(command, more, code), await time(other, more, 0)]);
  const ratio = median(pairs.map(([ours, theirs]) => ours / theirs));
  add(
    name,
    median(pairs.map(([ours]) => ours)),
    otherName,
    median(pairs.map(([, theirs]) => theirs)),
    ratio,
    goal,
  );
}

/** Lists in one response: total time, memory, time to the first record, and as a table. */
async function lists() {
  const many = { ROSTERCTL_ORG: 'org_100000' };
  const url = `${service.origin}/v1/tryout-applications?organizationId=org_100000`;
  const few = Math.min(rounds, 5);
  if (spawnSync('sh', ['-c', 'command -v curl && command -v jq']).status === 0) {
    const other = ['sh', '-c', `curl -s '${url}' | jq -c '.[]'`];
    const label = 'L1 100,000 records as NDJSON';
    await compare(label, list('ndjson'), other, 'curl to jq', 0.5, few, many);
    const same = (await outputOf(list('ndjson'), many)) === (await outputOf(other, many));
    record([
      'L1 the same bytes as jq',
      String(same),
      '-',
      '-',
      '-',
      'true',
      same ? 'met' : 'MISSED',
    ]);
  }
  const peak = await peakOf(list('ndjson'), many);
  const small = await peakOf(list('ndjson'), { ROSTERCTL_ORG: 'org_1000' });
  bound('L2 peak of 100,000 records', peak, 125);
  bound('L2 beyond that of 1,000', peak - small, 35);
  const shares = [];
  for (let round = 0; round < few; round++) shares.push(await firstByte(list('ndjson'), many));
  const share = median(shares);
  const verdict = share <= 0.25 ? 'met' : 'MISSED';
  record(['L3 first record', '-', 'the whole list', '-', share.toFixed(2), '<= 0.25', verdict]);
  const label = 'L4 100,000 rows as tab-separated table';
  const beside = [list('ndjson'), 'NDJSON'];
  await compare(label, list('table'), ...beside, 1.3, few, many);
  await compare('L4 100,000 rows as CSV', list('csv'), ...beside, undefined, few, many);
  await compare('L4 100,000 records as JSON', list('json'), ...beside, undefined, few, many);
  // Every one of them has waited for too long, so that each is a finding.
  const check = [...tool, 'check', '--json'];
  const listed = [list('ndjson'), 'list as NDJSON'];
  const tenThousand = { ROSTERCTL_ORG: 'org_10000' };
  await compare('L5 check of 10,000 applications', check, ...listed, 3, few, tenThousand);
  for (const filter of [
    ['--where', 'name~99'],
    ['--search', 'ann99'],
  ]) {
    const name = `L4 100,000 records, ${filter.join(' ')}`;
    await compare(name, list('ndjson', ...filter), ...beside, 1.3, few, many);
  }
}

function bound(...figure) {
  record(boundRow(...figure));
}

/** Returns a hash of a command's output, asynchronously because the server runs in this process. */
function outputOf([command, ...words], more) {
  return new Promise((resolve) => {
    const options = { env: { ...env, ...more }, cwd: home, stdio: ['ignore', 'pipe', 'ignore'] };
    const hash = createHash('sha256');
    const child = spawn(command, words, options);
    child.stdout.on('data', (chunk) => hash.update(chunk));
    child.on('close', () => resolve(hash.digest('hex')));
  });
}

/** What a command prints. */
function textOf([command, ...words], more) {
  return new Promise((resolve) => {
    const options = { env: { ...env, ...more }, cwd: home, stdio: ['ignore', 'pipe', 'ignore'] };
    const child = spawn(command, words, options);
    const chunks = [];
    child.stdout.on('data', (chunk) => chunks.push(chunk));
    child.on('close', () => resolve(Buffer.concat(chunks).toString()));
  });
}

/** Largest memory of a run (Linux). Not resourceUsage: that begins with the parent's own. */
async function peakOf([command, ...words], more) {
  const file = join(home, 'peak');
  const preload = join(home, 'peak.cjs');
  writeFileSync(
    preload,
    `const fs = require('node:fs'); process.on('exit', () => fs.writeFileSync(${JSON.stringify(file)}, /VmHWM:\\s*(\\d+)/.exec(fs.readFileSync('/proc/self/status', 'utf8'))[1]));`,
  );
  await time([command, '--require', preload, ...words], more);
  return Number(readFileSync(file, 'utf8')) / 1024;
}

/** Returns the fraction of the total time before the first byte arrives on stdout. */
function firstByte([command, ...words], more) {
  return new Promise((resolve) => {
    const start = performance.now();
    const options = { env: { ...env, ...more }, cwd: home, stdio: ['ignore', 'pipe', 'ignore'] };
    const child = spawn(command, words, options);
    let first;
    child.stdout.on('data', () => {
      first ??= performance.now() - start;
    });
    child.on('close', () => resolve(first / (performance.now() - start)));
  });
}

async function peer(name, command, other, goal) {
  const why =
    spawnSync('sh', ['-c', `command -v ${other[0]}`]).status === 0
      ? await time(other, {}, 0).then(
          () => undefined,
          (error) => error.message,
        )
      : 'is not installed';
  if (why !== undefined) {
    const wanted = goal ? `<= ${goal}` : '-';
    record([name, '-', `${other[0]}: ${why}`, '-', '-', wanted, 'left out']);
    return;
  }
  await compare(name, command, other, other[0], goal);
}

/** Milliseconds from start to exit. Rejects for another exit code than `code`, where that is given. */
function time(command, more = {}, code) {
  return new Promise((resolve, reject) => {
    const start = process.hrtime.bigint();
    const options = { env: { ...env, ...more }, cwd: home, stdio: 'ignore' };
    const child = spawn(command[0], command.slice(1), options);
    child.on('error', reject);
    child.on('exit', (ended) => {
      if (code !== undefined && ended !== code)
        reject(new Error(`exit code ${ended} of ${command.join(' ')}`));
      else resolve(Number(process.hrtime.bigint() - start) / 1e6);
    });
  });
}

/** Returns the milliseconds between the last byte of output and the exit. */
async function hang(name, command) {
  const waits = [];
  for (let round = 0; round < rounds; round++) {
    waits.push(
      await new Promise((resolve) => {
        const child = spawn(command[0], command.slice(1), {
          env,
          cwd: home,
          stdio: ['ignore', 'pipe', 'ignore'],
        });
        let last = process.hrtime.bigint();
        child.stdout.on('data', () => {
          last = process.hrtime.bigint();
        });
        child.on('exit', () => resolve(Number(process.hrtime.bigint() - last) / 1e6));
      }),
    );
  }
  const wait = median(waits);
  record([name, ms(wait), '-', '-', '-', '<= 10 ms', wait <= 10 ? 'met' : 'MISSED']);
}

function size() {
  const bytes = ['bin', 'dist', 'completions', 'man'].reduce(
    (sum, name) => sum + sizeOf(join(root, name)),
    0,
  );
  const mebibytes = bytes / 1024 / 1024;
  record([
    'S6 installed size',
    `${mebibytes.toFixed(2)} MiB`,
    '-',
    '-',
    '-',
    '<= 3 MB',
    bytes <= 3e6 ? 'met' : 'MISSED',
  ]);
}

function sizeOf(path) {
  try {
    if (!statSync(path).isDirectory()) return statSync(path).size;
    return readdirSync(path).reduce((sum, name) => sum + sizeOf(join(path, name)), 0);
  } catch {
    return 0;
  }
}

function add(name, ours, otherName, theirs, ratio, goal) {
  const verdict = goal === undefined ? '-' : ratio <= goal ? 'met' : 'MISSED';
  record([
    name,
    ms(ours),
    otherName,
    ms(theirs),
    ratio.toFixed(2),
    goal ? `<= ${goal}` : '-',
    verdict,
  ]);
}

/** Keeps rows for the table and prints each at once, because the whole takes twenty minutes. */
function record(...measured) {
  rows.push(...measured);
  for (const cells of measured) console.error(cells.join(' | '));
}

function report() {
  const head = ['figure', 'rosterctl', 'beside', 'its median', 'ratio', 'goal', 'verdict'];
  const lines = [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`);
  const text = [
    '# Results',
    '',
    `Node ${process.versions.node}, ${rounds} rounds in turn, medians; all NODE_* variables unset.`,
    '',
    ...lines,
    '',
  ].join('\n');
  writeFileSync(join(root, 'bench/results.md'), text);
  console.log(text);
}

function ms(value) {
  return `${value.toFixed(1)} ms`;
}

/** Returns a list of the length in its organization's name, created once. */
function listFor(path) {
  const organizationId = new URL(path, 'http://x').searchParams.get('organizationId') ?? '';
  const made = madeLists.get(organizationId);
  if (made) return made;
  const at = '2026-01-01T00:00:00Z';
  const records = Array.from({ length: Number(organizationId.slice(4)) }, (_, index) =>
    JSON.stringify({
      id: `app_${index}`,
      organizationId,
      status: 'pending',
      name: `Ann "A" ${index}`,
      email: `ann${index}@example.org`,
      discordUserId: null,
      formResponses: { why: 'x'.repeat(600), hours: 12, games: ['a', 'b'] },
      gamerTags: [
        {
          id: `tag_${index}`,
          game: 'Valorant',
          gamerTag: `ann#${index}`,
          createdAt: at,
          updatedAt: at,
        },
      ],
      submittedAt: at,
      createdAt: at,
      updatedAt: at,
    }),
  );
  const body = Buffer.from(`[${records.join(',')}]`);
  madeLists.set(organizationId, { body, total: String(records.length) });
  return madeLists.get(organizationId);
}

/** A bare server with one team and lists; the same for every client of a comparison. */
function startService() {
  const team = JSON.stringify({
    id: 'team_1',
    organizationId: 'org_7',
    name: 'Foxes',
    note: 'x'.repeat(900),
  });
  return serve((request, response) => {
    request.resume();
    const type = { 'content-type': 'application/json' };
    if (!request.url.startsWith('/v1/tryout-applications')) {
      response.writeHead(200, type).end(team);
      return;
    }
    // With a total, so that a round count does not look like a truncated list.
    const { body, total } = listFor(request.url);
    response.writeHead(200, { ...type, 'x-total-count': total }).end(body);
  });
}
