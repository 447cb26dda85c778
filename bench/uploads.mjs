/**
 * The upload figures (U1 to U5): rosterctl, in all three steps, and curl send one file of 2 GiB
 * alternately to the same store, and rosterctl transfers many small files. BENCH_UPLOAD_ROUNDS sets
 * the number of rounds, BENCH_UPLOAD_MIB the size.
 */
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { closeSync, ftruncateSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { boundRow, median, ratioRow } from './figures.mjs';
import { measured, startStore } from './measured.mjs';

const rounds = Number(process.env.BENCH_UPLOAD_ROUNDS ?? 7);
const mebibytes = Number(process.env.BENCH_UPLOAD_MIB ?? 2048);

/** Returns the rows of the result table for U1 to U5. `tool` starts rosterctl, `home` is a working folder. */
export async function uploadFigures({ tool, home, env }) {
  if (!isInstalled('curl'))
    return [['U1 upload', '-', 'curl is not installed', '-', '-', '-', 'left out']];
  const service = await startStore();
  const path = join(home, 'large.pdf');
  const bench = {
    service,
    path,
    env: { ...env, ROSTERCTL_BASE_URL: service.base },
    line: (...more) => [...tool, 'docs', 'upload', path, '--json', ...more],
  };
  try {
    fillFile(path, mebibytes);
    return [
      ...(await beside(bench)),
      ...(await hashing(bench)),
      ...(await progress(bench)),
      ...(await memory(bench, tool, home)),
      ...(await smallFiles(bench, tool, home)),
    ];
  } finally {
    rmSync(path, { force: true });
    service.stop();
  }
}

async function beside(bench) {
  const curl = [
    'curl',
    '-s',
    '-T',
    bench.path,
    '-H',
    'content-type: application/pdf',
    `${bench.service.store}/x`,
  ];
  const pairs = await inTurn(bench, bench.line(), curl);
  return [
    ratioRow(`U1 ${mebibytes} MiB`, pairs, 'curl -T', 'ms', 1 / 0.9),
    ratioRow(`U1 ${mebibytes} MiB, CPU`, pairs, 'curl -T', 'cpu', 1.3),
  ];
}

/**
 * An upload that hashes the file in the same pass. --verify would also download it again, but this
 * service offers no download, so the command ends there, and each one starts afresh instead of
 * resuming the one before.
 */
async function hashing(bench) {
  const ours = ['sh', '-c', 'rm -rf "$HOME/.local/state"; exec "$@"', 'sh'];
  const shell = `sha256sum '${bench.path}' >/dev/null && curl -s -T '${bench.path}' '${bench.service.store}/x'`;
  const pairs = await inTurn(bench, [...ours, ...bench.line('--verify')], ['sh', '-c', shell]);
  return [ratioRow('U3 with SHA-256 in the same pass', pairs, 'sha256sum; curl -T', 'ms', 0.5)];
}

/** In a terminal of 80 columns; `script` alone sets no width. */
function atTerminal(words) {
  const line = words.map((word) => `'${word}'`).join(' ');
  return ['script', '-qec', `stty cols 80 rows 24; ${line}`, '/dev/null'];
}

async function progress(bench) {
  if (!isInstalled('script'))
    return [['U4 progress', '-', 'script is not installed', '-', '-', '-', 'left out']];
  const loud = atTerminal(bench.line());
  const pairs = await inTurn(bench, loud, atTerminal(bench.line('--quiet')));
  return [ratioRow('U4 progress at a terminal', pairs, 'the same with --quiet', 'ms', 1.05)];
}

/** Peak memory for 64 MiB and 8 GiB; the large file is sparse and takes no space. */
async function memory(bench, tool, home) {
  const [few, many] = [join(home, 'few.pdf'), join(home, 'many.pdf')];
  try {
    fillFile(few, 64);
    sparseFile(many, 8192);
    const peak = async (path) =>
      (await measured([...tool, 'docs', 'upload', path, '--json'], bench.env)).peak / 1024;
    const [small, large] = [await peak(few), await peak(many)];
    return [
      boundRow('U2 peak of 8 GiB', large, 80),
      boundRow('U2 beyond that of 64 MiB', large - small, 15),
    ];
  } finally {
    rmSync(few, { force: true });
    rmSync(many, { force: true });
  }
}

/** Measures the upload and download of 1,000 files of 20 KiB: CPU time of the command per file. */
async function smallFiles(bench, tool, home) {
  const folder = mkdtempSync(join(home, 'small-'));
  const count = 1_000;
  for (let index = 0; index < count; index++) fillFile(join(folder, `${index}.pdf`), 20 / 1024);
  const some = ['--expect', String(count), '--yes'];
  const upload = [...tool, 'docs', 'upload', '-r', folder, ...some, '--json'];
  const download = () => [
    ...[...tool, 'docs', 'download', '--all', '--json'],
    ...['-D', mkdtempSync(join(home, 'fetched-'))],
  ];
  // A new state folder each time, because a completed upload is not repeated.
  const cpuOf = async (line) => {
    const state = mkdtempSync(join(home, 'state-'));
    const { cpu, code } = await measured(line, { ...bench.env, ROSTERCTL_STATE_DIR: state });
    if (code !== 0) throw new Error(`${line.slice(2, 4).join(' ')} exits ${code}`);
    return cpu / count;
  };
  const [sent, fetched] = [[], []];
  for (let round = 0; round < rounds; round++) {
    sent.push(await cpuOf(upload));
    fetched.push(await cpuOf(download()));
  }
  return [
    each('U5 upload of 1,000 files of 20 KiB, CPU each', median(sent), 3),
    each('U5 download of 1,000 files of 20 KiB, CPU each', median(fetched), 1.5),
  ];
}

// --- the work ---

async function inTurn(bench, ours, theirs) {
  const pairs = [];
  for (let round = 0; round < rounds; round++)
    pairs.push([await measured(ours, bench.env), await measured(theirs, bench.env)]);
  return pairs;
}

function fillFile(path, size) {
  const file = openSync(path, 'w');
  writeSync(file, '%PDF-1.7\n');
  const block = randomBytes(Math.min(size, 1) * 1024 * 1024);
  for (let at = 0; at < size; at++) writeSync(file, block);
  closeSync(file);
}

function sparseFile(path, size) {
  const file = openSync(path, 'w');
  writeSync(file, '%PDF-1.7\n');
  ftruncateSync(file, size * 1024 * 1024);
  closeSync(file);
}

function isInstalled(name) {
  return spawnSync('sh', ['-c', `command -v ${name} && command -v /usr/bin/time`]).status === 0;
}

// --- the table ---

function each(name, ms, goal) {
  const verdict = ms <= goal ? 'met' : 'MISSED';
  return [name, `${ms.toFixed(2)} ms`, '-', '-', '-', `<= ${goal} ms`, verdict];
}
