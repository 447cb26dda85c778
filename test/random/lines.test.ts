import { spawnSync } from 'node:child_process';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { exit, exitCodes } from '../../src/exit-codes.js';
import { type Books, changedIds, type Desk, newDesk, type Told } from './desk.js';
import { type RandomLine, randomLine } from './lines.js';

// More lines, and others: RANDOM_LINES=5000 RANDOM_SEED=2 npx vitest run test/random

const numRuns = Number(process.env['RANDOM_LINES'] ?? 100);
const seed = Number(process.env['RANDOM_SEED'] ?? 1);

/** What a line did, with all there was before and after it. */
interface Done {
  readonly line: RandomLine;
  readonly told: Told;
  readonly key: string;
  readonly before: State;
  readonly after: State;
}

interface State {
  readonly books: Books;
  readonly files: ReadonlyMap<string, string>;
}

const has = ({ flags }: RandomLine, ...names: readonly string[]) =>
  names.some((name) => flags.includes(name));
const named = ({ command }: RandomLine, ...names: readonly string[]) =>
  names.includes(command.words.join(' '));

/** What every line promises: each returns true if it is kept. */
const promises: Readonly<Record<string, (done: Done) => boolean>> = {
  'it ends with a code that help exit-codes lists': ({ told }) =>
    Object.values(exitCodes).some(({ code }) => code === told.code && code < exit.hungUp),

  'nothing that it prints looks like a bug': ({ told, line }) =>
    traces(told.stdout + told.stderr).every((trace) => line.words.join(' ').includes(trace)),

  'no control characters in its output, except in the cells of a csv, a file or a typed template':
    ({ told, line }) =>
      !control.test(told.stderr) &&
      (line.words.join(' ').includes('csv') ||
        has(line, '--file') ||
        (has(line, '--template') && control.test(line.words.join(' '))) ||
        !control.test(told.stdout)),

  'the key is neither printed nor kept': ({ told, key, after }) =>
    ![told.stdout, told.stderr, ...after.files.values()].some((text) => text.includes(key)),

  'with --json, stdout is empty or JSON': ({ told, line }) =>
    !has(line, '--json') ||
    has(line, '--file', '--html', '--md') ||
    named(line, 'api') ||
    told.stdout === '' ||
    parsed(told.stdout) !== undefined,

  'with --json, a failure is JSON with its exit code': ({ told, line }) =>
    !has(line, '--json') ||
    ([exit.done, exit.changesPending] as (number | null)[]).includes(told.code) ||
    told.stdout !== '' ||
    errorIn(told)?.['exitCode'] === told.code,

  'a command that reads, a dry run and invalid usage change nothing at the service': ({
    told,
    line,
    before,
    after,
  }) => {
    const reads = !line.command.writes || has(line, '--dry-run') || told.code === exit.usage;
    const isWrite = told.sent.some((method) => method !== 'GET');
    return !reads || (!isWrite && changedIds(before.books, after.books).length === 0);
  },

  'a dry run writes no file, but for the one that holds it': ({ line, before, after }) =>
    !has(line, '--dry-run') ||
    [...after.files].every(
      ([name, text]) =>
        before.files.get(name) === text ||
        name.startsWith('.cache') ||
        /^desk\/(?:new\/)?out/.test(name),
    ),

  'its report and the books agree': ({ told, line, before, after }) => {
    const report = parsed(told.stdout) as Report | undefined;
    if (!line.command.writes || report?.dryRun !== false || !report.results) return true;
    const changed = changedIds(before.books, after.books);
    const { results, summary } = report;
    const count = (result: string) => results.filter((row) => row.result === result).length;
    return (
      summary['changed'] === count('changed') &&
      summary['failed'] === count('failed') &&
      summary['total'] === results.length &&
      (told.code !== exit.done || count('failed') + count('conflict') + count('unknown') === 0) &&
      (count('changed') > 0 || changed.length === 0) &&
      results.every(({ id, result }) => result !== 'unchanged' || !changed.includes(id))
    );
  },
};

interface Report {
  readonly dryRun: boolean;
  readonly summary: Readonly<Record<string, number>>;
  /** Absent in the summary of NDJSON. */
  readonly results?: readonly { readonly id: string; readonly result: string }[];
}

// oxlint-disable-next-line no-control-regex
const control = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/;

/** What a template that misses a value prints, and what Node.js prints of an error. */
function traces(text: string): readonly string[] {
  return (
    text.match(
      /\n {4}at |\bnode:\w+|\[object \w+\]|\bundefined\b|\bNaN\b|\b(?:Type|Range|Reference)Error\b/g,
    ) ?? []
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function errorIn({ stderr }: Told): Record<string, unknown> | undefined {
  const last = parsed(stderr.trimEnd().split('\n').at(-1) ?? '');
  return (last as { error?: Record<string, unknown> } | undefined)?.error;
}

/** The lines to copy that an answer ends with, read as a shell does; those with a placeholder are left out. */
function suggestions(told: Told, cwd: string): readonly (readonly string[])[] {
  const { message = '', hint = '' } = errorIn(told) ?? { hint: told.stderr };
  return `${String(message)}\n${String(hint)}`
    .split('\n')
    .map((row) => /(?:^|: )(rosterctl .*[^.)])$/.exec(row)?.[1] ?? '')
    .filter((text) => text !== '' && !/\b[A-Z]{2,}\b|<|…|sandbox start|auth login| -o /.test(text))
    .map((text) => {
      const script = `rosterctl() { printf '%s\\n' "$@"; }; ${text}`;
      const { stdout } = spawnSync('sh', ['-c', script], { cwd, encoding: 'utf8' });
      return stdout.split('\n').slice(0, -1);
    });
}

/** True if the line can be repeated and then prints the same. */
function isRepeatable(line: RandomLine): boolean {
  return (
    !line.command.writes &&
    !has(line, '--since-last', '--out', '--url', '--dir', '--file', '--html', '--md') &&
    !named(line, 'doctor', 'api', 'backup create', 'auth status') &&
    !/^documents (?:download|preview|open)$/.test(line.command.words.join(' '))
  );
}

async function brokenPromises(line: RandomLine, desk: Desk): Promise<readonly string[]> {
  const state = () => ({ books: desk.books(), files: desk.files() });
  if (line.command.words[0] === 'backup') await desk.run('backup create backups --no-files');
  const before = state();
  const told = await desk.run(line.words);
  const done: Done = { line, told, key: desk.key, before, after: state() };
  const broken = Object.keys(promises).filter((promise) => !promises[promise]?.(done));
  if (isRepeatable(line)) {
    const again = await desk.run(line.otherwise);
    if (again.stdout !== told.stdout || again.code !== told.code)
      broken.push(`spelt otherwise, it does the same: ${line.otherwise.join(' ')}`);
  }
  for (const words of suggestions(told, desk.cwd)) {
    const tried = await desk.run([...words, '--dry-run', '--json']);
    if (errorIn(tried)?.['code'] === 'usage')
      broken.push(`a line that it suggests is right: ${words.join(' ')}`);
  }
  if (desk.files().has('desk/pwned')) broken.push('no shell runs a part of it');
  return broken;
}

test(`${numRuns} random lines keep what every line promises`, async () => {
  await fc.assert(
    fc.asyncProperty(randomLine, async (line) => {
      const desk = await newDesk();
      try {
        expect([line.words, await brokenPromises(line, desk)]).toEqual([line.words, []]);
      } finally {
        await desk.close();
      }
    }),
    { numRuns, seed },
  );
}, 3_600_000);
