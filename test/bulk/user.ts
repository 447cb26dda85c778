import { hash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { sealLine } from '../../src/files/synced-lines.js';
import { application } from '../commands/tryouts/service.js';
import { inProcess } from '../support/in-process.js';
import { type Ran, rosterctl, startRosterctl, temporaryFolder } from '../support/run.js';
import type { Service } from '../support/service.js';

export const ids = (count: number) =>
  Array.from({ length: count }, (_, index) => `app_${index + 1}`);
export const several = (count: number) => ids(count).map((id) => application(id));

/** A short settle time, and no retries. */
export const fast = { ROSTERCTL_SETTLE: '0.1s', ROSTERCTL_RETRIES: '0' };

/** The folder of runs in a home. */
export const runsOf = (home: string) => join(home, '.local/state/rosterctl/runs');

/** The folders of all runs, ended ones included, oldest first. */
export function runFolders(runs: string): string[] {
  const named = (place: string) => {
    const folder = join(runs, place);
    return existsSync(folder) ? readdirSync(folder).map((run) => join(folder, run)) : [];
  };
  return [...named('open'), ...named('ended')].toSorted((a, b) =>
    basename(a).localeCompare(basename(b)),
  );
}

/** Runs a line, in a process of its own or in this one. */
export type Run = (
  line: string | readonly string[],
  options: { home: string; stdin: string; env: Readonly<Record<string, string>> },
) => Promise<Ran>;

/** `inProcess` for lines that name files of the home, one line at a time. */
export const inProcessAtHome: Run = (line, options) =>
  inProcess(line, { ...options, cwd: options.home });

/** A user with a private home, whose runs persist between commands; `inProcess` needs no process for a line. */
export function userOf(service: Service, run: Run = rosterctl) {
  const home = temporaryFolder();
  const env = { ...service.env, ...fast };
  return {
    home,
    runs: runsOf(home),
    run: (line: string | readonly string[], stdin = '') => run(line, { home, stdin, env }),
    /** Starts a command and leaves its process to the test. */
    start: (line: string, more: Record<string, string> = {}) =>
      startRosterctl(line, { home, env: { ...env, ...more } }),
  };
}

/** The same user, whose lines run in the process of the test. */
export const userInside = (service: Service) => userOf(service, inProcessAtHome);

export const report = (ran: { stdout: string }) =>
  JSON.parse(ran.stdout) as {
    run: string | null;
    summary: Record<string, number>;
    results: { id: string; row: number; result: string }[];
  };

/** Damages a line of the oldest run's journal, so that its checksum fails; returns the run. */
export function damageJournal(runs: string, line: number): string {
  const [folder = ''] = runFolders(runs);
  const journal = join(folder, 'journal.jsonl');
  const text = readFileSync(journal, 'utf8');
  writeFileSync(journal, text.replace(`"seq":${line}`, '"seq":7'));
  return basename(folder);
}

/**
 * Turns a run into one as version 0.1.0 wrote it and returns its name: no format, no version, no process,
 * all runs in one folder.
 */
export function makeLegacy(runs: string, folder: string): string {
  const run = basename(folder);
  const journal = join(folder, 'journal.jsonl');
  const lines = readFileSync(journal, 'utf8').trimEnd().split('\n');
  const text = lines.map((each, at) => {
    const {
      seq: _,
      t,
      sum: __,
      format: ___,
      version: ____,
      verb: _____,
      holder: ______,
      ...entry
    } = JSON.parse(each) as { t: number; kind: 'job' } & Record<string, unknown>;
    return sealLine({ seq: at + 1, t, ...entry });
  });
  writeFileSync(journal, text.join(''));
  const plan = join(folder, 'plan.jsonl');
  const [first = '', ...rest] = readFileSync(plan, 'utf8').trimEnd().split('\n').slice(0, -1);
  const top = JSON.parse(first) as { head: Record<string, unknown> };
  delete top.head['format'];
  delete top.head['version'];
  delete top.head['verb'];
  const body = `${[JSON.stringify(top), ...rest].join('\n')}\n`;
  writeFileSync(plan, `${body}${hash('sha256', body, 'hex')}\n`);
  renameSync(folder, join(runs, run));
  return run;
}

/** Waits until the condition holds; otherwise the test ends by its own timeout. */
export async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 20));
}
