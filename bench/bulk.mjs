/**
 * The bulk figures (B1 to B6): rosterctl, with its reads, journal and checks, and its peers send
 * the same requests alternately to the same server process. Rates are requests per second of the
 * entire process. BENCH_BULK_ROUNDS sets the number of rounds.
 */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { boundRow, median } from './figures.mjs';
import { hasNginx, startNginx } from './nginx.mjs';

const rounds = Number(process.env.BENCH_BULK_ROUNDS ?? 5);
const server = fileURLToPath(new URL('applications.mjs', import.meta.url));
const bareClient = fileURLToPath(new URL('bare-bulk.mjs', import.meta.url));

/** Returns the rows of the result table for B1 to B6. `tool` starts rosterctl, `home` is a working folder. */
export async function bulkFigures({ tool, home, env }) {
  const rows = [];
  const bench = { tool, home, env, rows };
  const quick = await startServer(home, 0);
  rows.push(['the server of B1 to B3 and B6', quick.name, '-', '-', '-', '-', '-']);
  try {
    await beside(bench, quick, {
      name: 'B1 10,000 rows, 16 at once',
      count: 10_000,
      at: 16,
      ratio: 0.5,
      times: rounds,
    });
    await beside(bench, quick, {
      name: 'B2 100,000 rows, 16 at once',
      count: 100_000,
      at: 16,
      ratio: 1.0,
      times: Math.min(2, rounds),
      wrk: 0.22,
    });
    await floor(bench, quick, 'B2 100,000 rows, bare undici', 100_000, 16);
    await manyProcesses(bench, quick);
    await durable(bench, quick, 'B5 durable, no latency', 10_000, 16, 0.7);
    await memory(bench, quick);
  } finally {
    quick.stop();
  }
  const slow = await startServer(home, 50);
  rows.push(['the server of B4', slow.name, '-', '-', '-', '-', '-']);
  try {
    await latency(bench, slow);
    await durable(bench, slow, 'B5 durable, 50 ms', 2_000, 64, 0.97);
  } finally {
    slow.stop();
  }
  return rows;
}

// --- the figures ---

/** The complete run compared with curl --parallel, with the same requests and concurrency. */
async function beside(bench, service, { name, count, at, ratio, cpuGoal, times, wrk }) {
  if (!isInstalled('curl')) return leftOut(bench, name, 'curl');
  const peer = curlLine(bench, service, count, at);
  const pairs = await inTurn(times, [
    () => ours(bench, service, count, at),
    () => thePeer(bench, service, count, peer),
  ]);
  const requests = count * 2 + 1;
  add(bench, name, pairs, 'curl --parallel', requests, ratio);
  const cpu = median(pairs.map(([mine, other]) => mine.cpu / other.cpu));
  bench.rows.push([
    `${name.slice(0, 2)} CPU of a request`,
    micro(median(pairs.map(([mine]) => mine.cpu)) / requests),
    'curl --parallel',
    micro(median(pairs.map(([, other]) => other.cpu)) / requests),
    cpu.toFixed(2),
    ...(cpuGoal === undefined ? ['-', '-'] : [`<= ${cpuGoal}`, cpu <= cpuGoal ? 'met' : 'MISSED']),
  ]);
  if (wrk === undefined) return;
  if (!isInstalled('wrk')) return leftOut(bench, `${name.slice(0, 2)} beside wrk`, 'wrk');
  const top = median(await repeat(3, () => wrkRate(bench, service, at)));
  const mine = requests / median(pairs.map(([run]) => run.seconds));
  verdict(bench, `${name.slice(0, 2)} beside wrk`, mine, 'wrk', top, wrk);
}

/** The rate that undici alone leaves to any caller: not a target, but the limit of one. */
async function floor(bench, service, name, count, at) {
  if (!isInstalled('curl')) return leftOut(bench, name, 'curl');
  const peer = curlLine(bench, service, count, at);
  const bare = [process.execPath, bareClient, service.origin, idsFile(bench, count)];
  const pairs = await inTurn(Math.min(2, rounds), [
    () => thePeer(bench, service, count, [...bare, join(bench.home, 'bare.jsonl'), String(at)]),
    () => thePeer(bench, service, count, peer),
  ]);
  add(bench, name, pairs, 'curl --parallel', count * 2 + 1);
}

/** One process per request, as in a shell script. Fewer requests, because only the rate counts. */
async function manyProcesses(bench, service) {
  const count = 1_000;
  const urls = join(bench.home, 'urls');
  writeFileSync(
    urls,
    Array.from({ length: count }, (_, index) => `${recordUrl(service, index)}\n`).join(''),
  );
  const peers = [
    ['xargs -P8 curl', 'xargs', `xargs -P8 -n1 curl -s -o /dev/null <${urls}`, 30],
    [
      'GNU parallel --joblog',
      'parallel',
      `parallel --will-cite -j8 --joblog ${join(bench.home, 'log')} curl -s -o /dev/null {} <${urls}`,
      40,
    ],
  ];
  const mine =
    20_001 / median((await repeat(3, () => ours(bench, service, 10_000, 8))).map(secondsOf));
  for (const [name, program, line, goal] of peers) {
    if (!isInstalled(program)) {
      leftOut(bench, `B3 beside ${name}`, program);
      continue;
    }
    const runs = await repeat(2, () => timed(bench, ['sh', '-c', line]));
    verdict(bench, 'B3 10,000 rows', mine, name, count / median(runs.map(secondsOf)), goal);
  }
}

/** With 50 ms per response, latency dominates: how close the rate is to the maximum of 64 or 256 at once. */
async function latency(bench, service) {
  for (const [at, goal] of [
    [64, 0.92],
    [256, 0.8],
  ]) {
    const count = at * 100;
    const limit = at / 0.05;
    const runs = await repeat(2, () => ours(bench, service, count, at));
    const mine = (count * 2 + 1) / median(runs.map(secondsOf));
    verdict(bench, `B4 50 ms, ${at} at once`, mine, 'the limit of 50 ms', limit, goal);
  }
  await beside(bench, service, {
    name: 'B4 6,400 rows at 50 ms, 64 at once',
    count: 6_400,
    at: 64,
    ratio: 0.95,
    cpuGoal: 2.5,
    times: Math.min(3, rounds),
  });
}

/** The journal on a disk compared with one in memory, where a sync is free. */
async function durable(bench, service, name, count, at, goal) {
  if (!existsSync('/dev/shm')) return leftOut(bench, name, '/dev/shm');
  const inMemory = join('/dev/shm', `rosterctl-bench-${process.pid}`);
  try {
    const pairs = await inTurn(Math.min(3, rounds), [
      () => ours(bench, service, count, at),
      () => ours(bench, service, count, at, { ROSTERCTL_STATE_DIR: inMemory }),
    ]);
    add(bench, name, pairs, 'a journal in memory', count * 2 + 1, goal);
  } finally {
    rmSync(inMemory, { recursive: true, force: true });
  }
}

async function memory(bench, service) {
  const small = await peak(bench, service, 10_000);
  const large = await peak(bench, service, 100_000);
  const whole = await peak(bench, service, 200_000);
  const dry = await peak(bench, service, 200_000, true);
  bound(bench, 'B6 peak of 10,000 rows', small, 140);
  bound(bench, 'B6 peak of 100,000, beyond that', large - small, 30);
  bound(bench, 'B6 peak of 200,000 rows of a CSV', whole, 250);
  bound(bench, 'B6 the same as a dry run', dry, 250);
}

// --- runs ---

/** One bulk run over all records of the service, from a file of ids. */
async function ours(bench, service, count, at, more = {}) {
  await service.reset(count);
  rmSync(join(bench.home, '.local'), { recursive: true, force: true });
  return timed(bench, [...bench.tool, ...words(['--ids', idsFile(bench, count)], at)], {
    ...connection(service),
    ...more,
  });
}

function idsFile(bench, count) {
  const file = join(bench.home, `ids-${count}`);
  if (!existsSync(file))
    writeFileSync(file, Array.from({ length: count }, (_, index) => `app_${index}\n`).join(''));
  return file;
}

async function thePeer(bench, service, count, command) {
  await service.reset(count);
  return timed(bench, command);
}

async function peak(bench, service, count, dry = false) {
  await service.reset(count);
  rmSync(join(bench.home, '.local'), { recursive: true, force: true });
  const file = join(bench.home, `rows-${count}.csv`);
  const lines = Array.from({ length: count }, (_, index) => `app_${index},rejected\n`);
  writeFileSync(file, `id,status\n${lines.join('')}`);
  const mark = join(bench.home, 'peak');
  const preload = join(bench.home, 'peak.cjs');
  writeFileSync(
    preload,
    `const fs = require('node:fs'); process.on('exit', () => fs.writeFileSync(${JSON.stringify(mark)}, /VmHWM:\\s*(\\d+)/.exec(fs.readFileSync('/proc/self/status', 'utf8'))[1]));`,
  );
  const [node, ...launcher] = bench.tool;
  const line = words(['--csv', file], 16).filter((word) => word !== '--to' && word !== 'rejected');
  const flags = dry ? ['--dry-run'] : [];
  const command = [node, '--require', preload, ...launcher, ...line, ...flags];
  await timed(bench, command, connection(service));
  return Number(readFileSync(mark, 'utf8')) / 1024;
}

function words(source, at) {
  const line = ['tryouts', 'set-status', ...source, '--to', 'rejected', '--yes', '-o', 'ndjson'];
  return [...line, '--max-changes', '200000', '--concurrency', String(at)];
}

function connection({ origin }) {
  return {
    ROSTERCTL_BASE_URL: `${origin}/v1`,
    ROSTERCTL_ORG: 'org_7',
    ROSTERCTL_API_KEY: 'bench-key-0123456789',
  };
}

/** Returns the seconds from start to exit and the CPU seconds. Throws if the command fails. */
function timed({ home, env }, [command, ...rest], more = {}) {
  const usage = join(home, 'usage');
  // The shell's `times` reports the CPU time of its children.
  const script = '"$@" >/dev/null 2>/dev/null; code=$?; times >"$0"; exit $code';
  return new Promise((resolve, reject) => {
    const start = process.hrtime.bigint();
    const child = spawn('sh', ['-c', script, usage, command, ...rest], {
      env: { ...env, ...more },
      cwd: home,
      stdio: 'ignore',
    });
    child.on('error', reject);
    child.on('exit', (code) => {
      const seconds = Number(process.hrtime.bigint() - start) / 1e9;
      if (code !== 0) reject(new Error(`${command} ${rest.slice(0, 4).join(' ')} exits ${code}`));
      else resolve({ seconds, cpu: childSeconds(readFileSync(usage, 'utf8')) });
    });
  });
}

/** The second line of `times`: user and system time of the children, as `0m1.230s 0m0.450s`. */
function childSeconds(text) {
  const line = text.trim().split('\n').at(-1) ?? '';
  return [...line.matchAll(/(\d+)m([\d.]+)s/g)].reduce(
    (sum, [, minutes, seconds]) => sum + Number(minutes) * 60 + Number(seconds),
    0,
  );
}

function curlLine(bench, service, count, at) {
  const config = curlConfig(bench, service, count);
  return ['curl', '-s', '--parallel', '--parallel-max', String(at), '-K', config];
}

/** The requests for curl: the list, then a GET and a PATCH for each record. */
function curlConfig({ home }, service, count) {
  const file = join(home, `curl-${count}-${new URL(service.origin).port}`);
  if (existsSync(file)) return file;
  const all = `${service.origin}/v1/tryout-applications?organizationId=org_7`;
  const body = String.raw`{\"organizationId\":\"org_7\",\"status\":\"rejected\"}`;
  const sections = [curlGet(all)];
  for (let index = 0; index < count; index++) {
    const url = recordUrl(service, index);
    sections.push(curlGet(url));
    sections.push(
      `${curlGet(url)}request = "PATCH"\nheader = "content-type: application/json"\ndata = "${body}"\n`,
    );
  }
  writeFileSync(file, sections.join('next\n'));
  return file;
}

function curlGet(url) {
  return `url = "${url}"\nheader = "x-api-key: k"\noutput = "/dev/null"\n`;
}

/** The rate of wrk with one repeated PATCH. */
async function wrkRate({ home }, service, at) {
  const script = join(home, 'wrk.lua');
  writeFileSync(
    script,
    `wrk.method = "PATCH"\nwrk.body = '{"organizationId":"org_7","status":"rejected"}'\nwrk.headers["content-type"] = "application/json"\n`,
  );
  const url = recordUrl(service, 0);
  const ran = spawnSync('wrk', ['-t1', `-c${at}`, '-d3s', '-s', script, url], { encoding: 'utf8' });
  return Number(/Requests\/sec:\s*([\d.]+)/.exec(ran.stdout)?.[1]);
}

function recordUrl({ origin }, index) {
  return `${origin}/v1/tryout-applications/app_${index}?organizationId=org_7`;
}

/** nginx, which uses little CPU; if it is missing, a Node server, which uses as much as a client. */
async function startServer(home, latencyMs) {
  if (hasNginx(latencyMs))
    return { ...(await startNginx(home, latencyMs)), name: 'nginx, one worker' };
  const child = spawn(process.execPath, [server, String(latencyMs)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const origin = await new Promise((resolve) =>
    child.stdout.once('data', (chunk) => resolve(chunk.toString().trim())),
  );
  return {
    name: 'node:http (nginx or its module echo is not installed)',
    origin,
    reset: (count) => fetch(`${origin}/reset?n=${count}`, { method: 'POST' }).then((r) => r.text()),
    stop: () => child.kill(),
  };
}

// --- rows of the table ---

/** A ratio of rates; higher is better. */
function verdict({ rows }, name, mine, other, theirs, goal) {
  const ratio = mine / theirs;
  const met = ratio >= goal ? 'met' : 'MISSED';
  rows.push([name, rate(mine), other, rate(theirs), ratio.toFixed(2), `>= ${goal}`, met]);
}

function add({ rows }, name, pairs, other, requests, goal) {
  const ratio = median(pairs.map(([mine, theirs]) => theirs.seconds / mine.seconds));
  rows.push([
    name,
    rate(requests / median(pairs.map(([mine]) => mine.seconds))),
    other,
    rate(requests / median(pairs.map(([, theirs]) => theirs.seconds))),
    ratio.toFixed(2),
    goal === undefined ? '-' : `>= ${goal}`,
    goal === undefined ? '-' : ratio >= goal ? 'met' : 'MISSED',
  ]);
}

function bound({ rows }, ...figure) {
  rows.push(boundRow(...figure));
}

function leftOut({ rows }, name, program) {
  rows.push([name, '-', `${program} is not installed`, '-', '-', '-', 'left out']);
}

async function inTurn(times, [first, second]) {
  const pairs = [];
  for (let round = 0; round < times; round++) pairs.push([await first(), await second()]);
  return pairs;
}

async function repeat(times, action) {
  const found = [];
  for (let round = 0; round < times; round++) found.push(await action());
  return found;
}

function isInstalled(program) {
  return spawnSync('sh', ['-c', `command -v ${program}`]).status === 0;
}

function secondsOf({ seconds }) {
  return seconds;
}

function rate(value) {
  return `${Math.round(value).toLocaleString('en')} req/s`;
}

function micro(seconds) {
  return `${(seconds * 1e6).toFixed(0)} µs`;
}

// To run it alone: node bench/bulk.mjs
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { mkdtempSync } = await import('node:fs');
  const { tmpdir } = await import('node:os');
  const home = mkdtempSync(join(tmpdir(), 'rosterctl-bench-'));
  mkdirSync(home, { recursive: true });
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !name.startsWith('NODE_')),
  );
  const launcher = fileURLToPath(new URL('../bin/rosterctl', import.meta.url));
  const rows = await bulkFigures({
    tool: [process.execPath, launcher],
    home,
    env: { ...env, HOME: home, NO_COLOR: '1' },
  }).finally(() => rmSync(home, { recursive: true, force: true }));
  for (const cells of rows) console.log(`| ${cells.join(' | ')} |`);
}
