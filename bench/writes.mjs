/**
 * The cost of a write (S7), the cost that stored runs add to it (H1), and how close a run comes to
 * the service's rate limit (P1).
 */
import { spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { application } from './application.mjs';
import { serve } from './serve.mjs';

const limited = fileURLToPath(new URL('limited.mjs', import.meta.url));
const endedRuns = 5_000;
const longRun = 100_000;

/** Runs the benchmarks. `compare` and `record` are those of bench.mjs; `home` is a working folder. */
export async function writeFigures({ tool, home, env, record, compare, rounds }) {
  const service = await startService();
  try {
    const update = [...tool, 'tryouts', 'update', 'app_1', '--status', 'rejected', '--yes'];
    const beside = [[...tool, 'tryouts', 'get', 'app_1', '--json'], 'one tryouts get', 1.45];
    await compare('S7 one tryouts update', update, ...beside, rounds, connection(service.origin));
    await besideThePast({ tool, home, env, compare, rounds, origin: service.origin });
  } finally {
    service.close();
  }
  for (const [model, idealSeconds, goal] of [
    ['token bucket', 59, 1.08],
    ['fixed window', 59, 1.25],
    ['no burst', 60, 1.3],
  ])
    record(await paced({ tool, home, env, model, idealSeconds, goal }));
}

/** One write with no finished run in the state folder, with many, and with one of many rows. */
async function besideThePast({ tool, home, env, compare, rounds, origin }) {
  const ids = Array.from({ length: 5 }, (_, index) => `app_${index}`);
  const line = [...tool, 'tryouts', 'set-status', ...ids, '--to', 'rejected', '--yes'];
  const none = mkdtempSync(join(home, 'none-'));
  const more = connection(origin);
  const at = (state) => ['env', `ROSTERCTL_STATE_DIR=${state}`, ...line];
  await exitOf(at(none), { ...env, ...more });
  const [template] = readdirSync(join(none, 'runs/ended'));
  const many = mkdtempSync(join(home, 'many-'));
  for (let index = 0; index < endedRuns; index++)
    copyRun({ from: none, template, to: many, index });
  const long = mkdtempSync(join(home, 'long-'));
  copyRun({ from: none, template, to: long, index: 0, rows: longRun });
  for (const [name, state] of [
    [`H1 5 rows, ${endedRuns} ended runs`, many],
    [`H1 5 rows, one ended run of ${longRun} rows`, long],
  ])
    await compare(name, at(state), at(none), 'no ended run', 1.1, rounds, more);
}

/** Copies a finished run under another name; `rows` extends its journal to that number of rows. */
function copyRun({ from, template, to, index, rows }) {
  const time = new Date(Date.now() - index * 60_000).toISOString().replaceAll(/[-:.Z]/g, '');
  const name = `${time}-${index.toString(16).padStart(6, '0')}`;
  const folder = join(to, 'runs/ended', name);
  cpSync(join(from, 'runs/ended', template), folder, { recursive: true });
  if (rows === undefined) return;
  const journal = join(folder, 'journal.jsonl');
  const lines = readFileSync(journal, 'utf8').split('\n');
  const middle = lines.slice(1, -2);
  const times = Math.ceil(rows / 5);
  writeFileSync(
    journal,
    [lines[0], ...Array.from({ length: times }, () => middle).flat(), ...lines.slice(-2)].join(
      '\n',
    ),
  );
}

/** 300 rows, each a read and a change, on a service that accepts 10 requests per second. */
async function paced({ tool, home, env, model, idealSeconds, goal }) {
  const child = spawn(process.execPath, [limited, model], { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    const origin = await new Promise((resolve) =>
      child.stdout.once('data', (chunk) => resolve(chunk.toString().trim())),
    );
    const ids = Array.from({ length: 300 }, (_, index) => `app_${index}`);
    const line = [
      'tryouts',
      'set-status',
      ...ids,
      '--to',
      'rejected',
      '--yes',
      '--max-changes',
      '300',
    ];
    const state = mkdtempSync(join(home, 'paced-'));
    const start = performance.now();
    const more = { ...env, ...connection(origin), ROSTERCTL_STATE_DIR: state };
    await exitOf([...tool, ...line], more);
    const seconds = (performance.now() - start) / 1000;
    const ratio = seconds / idealSeconds;
    const verdict = ratio <= goal ? 'met' : 'MISSED';
    const name = `P1 300 rows at 10 requests/s, ${model}`;
    const cells = [`${seconds.toFixed(1)} s`, 'the ideal', `${idealSeconds} s`, ratio.toFixed(2)];
    return [name, ...cells, `<= ${goal}`, verdict];
  } finally {
    child.kill();
  }
}

function exitOf([command, ...words], env) {
  return new Promise((resolve, reject) =>
    spawn(command, words, { env, stdio: 'ignore' }).on('exit', (code) =>
      code === 0 ? resolve() : reject(new Error(`${words.slice(1, 4).join(' ')} exits ${code}`)),
    ),
  );
}

/** A service whose applications always read as pending, and that acknowledges every change. */
function startService() {
  return serve((request, response) => {
    const id = /^\/v1\/tryout-applications\/([^/?]+)/.exec(request.url)?.[1];
    const status = request.method === 'PATCH' ? 'rejected' : 'pending';
    const type = { 'content-type': 'application/json' };
    request.resume().on('end', () => {
      response.writeHead(id ? 200 : 404, type).end(id ? application(id, status) : '{}');
    });
  });
}

function connection(origin) {
  return {
    ROSTERCTL_BASE_URL: `${origin}/v1`,
    ROSTERCTL_ORG: 'org_7',
    ROSTERCTL_API_KEY: 'bench-key-0123456789',
  };
}
