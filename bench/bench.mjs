// Speed as ratios: every figure is measured side by side with its peer in one run, in turn,
// and compared pair by pair. Prints a table and writes bench/results.md. Never fails on time.
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const launcher = join(root, 'bin/rosterctl');
const rounds = Number(process.env.BENCH_ROUNDS ?? 25);
const home = mkdtempSync(join(tmpdir(), 'rosterctl-bench-'));
// NODE_EXTRA_CA_CERTS alone slows every start of Node 20 and would flatter each ratio.
const env = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !name.startsWith('NODE_')),
);
Object.assign(env, { HOME: home, NO_COLOR: '1' });

const node = [process.execPath];
const tool = [process.execPath, launcher];
const rows = [];

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
  await compare('S2 usage error', [...tool, 'tryouts', 'lst'], bare, 'node -e 0', 1.5);
  await compare(
    'S3 completion of ids',
    [...tool, '__complete', 'id:tryouts'],
    bare,
    'node -e 0',
    1.5,
  );
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
  await hang('S5 last byte to exit', get);
  size();
} finally {
  service.close();
  rmSync(home, { recursive: true, force: true });
}
report();

/** Runs both commands in turn; the figure is the median of the ratios of each round. */
async function compare(name, command, other, otherName, goal) {
  for (const warm of [command, other]) await time(warm);
  const pairs = [];
  for (let round = 0; round < rounds; round++) pairs.push([await time(command), await time(other)]);
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

async function peer(name, command, other, goal) {
  if (spawnSync('sh', ['-c', `command -v ${other[0]}`]).status !== 0) {
    rows.push([
      name,
      '-',
      `${other[0]} is not installed`,
      '-',
      '-',
      goal ? `<= ${goal}` : '-',
      'left out',
    ]);
    return;
  }
  await compare(name, command, other, other[0], goal);
}

/** Milliseconds from start to exit. */
function time(command) {
  return new Promise((resolve, reject) => {
    const start = process.hrtime.bigint();
    const child = spawn(command[0], command.slice(1), { env, cwd: home, stdio: 'ignore' });
    child.on('error', reject);
    child.on('exit', () => resolve(Number(process.hrtime.bigint() - start) / 1e6));
  });
}

/** Milliseconds between the last byte of the output and the exit. */
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
  rows.push([name, ms(wait), '-', '-', '-', '<= 10 ms', wait <= 10 ? 'met' : 'MISSED']);
}

function size() {
  const bytes = ['bin', 'dist', 'completions', 'man'].reduce(
    (sum, name) => sum + sizeOf(join(root, name)),
    0,
  );
  const mebibytes = bytes / 1024 / 1024;
  rows.push([
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
  rows.push([
    name,
    ms(ours),
    otherName,
    ms(theirs),
    ratio.toFixed(2),
    goal ? `<= ${goal}` : '-',
    verdict,
  ]);
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

function median(values) {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
}

function ms(value) {
  return `${value.toFixed(1)} ms`;
}

/** A bare server with one team; the same for every client of a comparison. */
function startService() {
  const team = JSON.stringify({
    id: 'team_1',
    organizationId: 'org_7',
    name: 'Foxes',
    note: 'x'.repeat(900),
  });
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(200, { 'content-type': 'application/json' }).end(team);
  });
  return new Promise((resolve) =>
    server.listen(0, '127.0.0.1', () =>
      resolve({
        origin: `http://127.0.0.1:${server.address().port}`,
        close: () => {
          server.close();
          server.closeAllConnections();
        },
      }),
    ),
  );
}
