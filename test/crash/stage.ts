import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { parseJournal } from '../../src/runs/journal.js';
import { runFolders, runsOf } from '../bulk/user.js';
import { atEnd } from '../support/cleaning.js';
import { inProcess } from '../support/in-process.js';
import { freshEnvironment, launcher, temporaryFolder } from '../support/run.js';
import { type Fate, type Relay, relayTo } from './relay.js';

/** From this id on, no applications share an e-mail or Discord user, so none of them is answered with 409. */
const firstId = 12;

/** A sandbox in its own process, a lossy relay in front of it, and a user. */
export interface Stage {
  readonly env: Record<string, string>;
  readonly home: string;
  readonly ids: readonly string[];
  readonly relay: Relay;
  /** Ids of writes that arrived before their intent or before-image was on disk (I1). */
  readonly unannounced: readonly string[];
  /** True if the present command records a before-image before each write. */
  keepsBefore: boolean;
  line(to: string): string[];
  /** Checks what must hold once a command ended by itself, and that running it again sends nothing. */
  check(to: string, done: { readonly code: number | null; readonly stdout: string }): Promise<void>;
}

/** Sets up the stage for this many rows; `fateOf` decides the fate of each write. */
export async function setStage(rows: number, fateOf: () => Fate, settle = '0.25s'): Promise<Stage> {
  const service = await startSandbox();
  const home = temporaryFolder();
  const unannounced: string[] = [];
  const kept = { keepsBefore: true };
  const relay = await relayTo(service.baseUrl, fateOf, ({ method, id }) => {
    const wanted = id || 'new';
    if (!intentsOf(home).includes(wanted)) unannounced.push(`${method} ${wanted}`);
    if (kept.keepsBefore && !hasBefore(home, id)) unannounced.push(`${method} ${id}: before`);
  });
  const env = {
    ROSTERCTL_BASE_URL: relay.baseUrl,
    ROSTERCTL_ORG: service.organizationId,
    ROSTERCTL_API_KEY: service.apiKey,
    ROSTERCTL_SETTLE: settle,
  };
  const ids = Array.from(
    { length: rows },
    (_, index) => `app_${String(firstId + index).padStart(4, '0')}`,
  );
  const line = (to: string) => ['tryouts', 'set-status', ...ids, '--to', to, '--yes', '--json'];
  return Object.assign(kept, {
    env,
    home,
    ids,
    relay,
    unannounced,
    line,
    async check(to: string, done: { readonly code: number | null; readonly stdout: string }) {
      // Late writes have arrived by now.
      await new Promise((resolve) => setTimeout(resolve, 200));
      expect(unannounced).toEqual([]);
      expect(done.code).toBe(0);
      const { summary } = JSON.parse(done.stdout) as { summary: Record<string, number> };
      // I2, I8: every row has one result, and the exit code is 0 only if all are done.
      expect(summary['total']).toBe(rows);
      expect((summary['changed'] ?? 0) + (summary['unchanged'] ?? 0)).toBe(rows);
      // I3: a service that emits an event for each write would have emitted one per row.
      const applied = relay.arrivals.filter((arrival) => arrival.applied).map(({ id }) => id);
      expect(applied.toSorted()).toEqual([...new Set(applied)].toSorted());
      // I4: the service's state matches the report.
      expect(await statuses(env, ids)).toEqual(Object.fromEntries(ids.map((id) => [id, to])));
      // I6: running it again sends nothing.
      relay.clear();
      const again = await inProcess(line(to), { env, home });
      expect(again.code).toBe(0);
      expect(relay.arrivals).toEqual([]);
      // I10: no file left behind holds the API key.
      expect(filesWith(home, service.apiKey)).toEqual([]);
    },
  });
}

/** Runs a program to its end; `onStart` may end it earlier. */
export async function runOnce(
  command: readonly string[],
  { env, home }: Pick<Stage, 'env' | 'home'>,
  onStart: (child: ChildProcess) => void = () => {},
) {
  const [file = '', ...words] = command;
  const child = spawn(file, words, {
    env: { ...freshEnvironment(home), ...env },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  atEnd(() => child.kill('SIGKILL'));
  let stdout = '';
  child.stdout?.on('data', (chunk: Buffer) => (stdout += chunk));
  const ended = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve) =>
    child.on('close', (code, signal) => resolve({ code, signal })),
  );
  onStart(child);
  return { ...(await ended), stdout };
}

/** The ids with an intent in the newest run, whatever its outcome. */
function intentsOf(home: string): string[] {
  const path = join(runFolders(runsOf(home)).at(-1) ?? '', 'journal.jsonl');
  const { records } = parseJournal(readIfThere(path), path);
  return records.flatMap((record) => (record.kind === 'intent' ? [String(record['id'])] : []));
}

/** True if the newest run has a before-image of a record. */
function hasBefore(home: string, id: string): boolean {
  const path = join(runFolders(runsOf(home)).at(-1) ?? '', 'undo.jsonl');
  return readIfThere(path).includes(`"id":"${id}"`);
}

/** The files below a home that contain a text. */
function filesWith(home: string, text: string): string[] {
  return readdirSync(home, { recursive: true, encoding: 'utf8' })
    .map((name) => join(home, name))
    .filter((path) => statSync(path).isFile() && readIfThere(path).includes(text));
}

/** The records of a list as the service has them, asked without the program. */
export async function recordsOf<T>(env: Record<string, string>, name: string): Promise<T[]> {
  const query = name === 'tryout-applications' ? '?organizationId=' : '/';
  const response = await fetch(
    `${env['ROSTERCTL_BASE_URL']}/${name}${query}${env['ROSTERCTL_ORG']}`,
    { headers: { 'x-api-key': env['ROSTERCTL_API_KEY'] ?? '' } },
  );
  const { total, ...list } = (await response.json()) as { total: number };
  const [records = []] = Object.values(list) as T[][];
  expect([name, records.length]).toEqual([name, total]);
  return records;
}

/** The status of each of these applications. */
export async function statuses(
  env: Record<string, string>,
  ids: readonly string[],
): Promise<Record<string, string>> {
  const list = await recordsOf<{ id: string; status: string }>(env, 'tryout-applications');
  return Object.fromEntries(
    list.filter(({ id }) => ids.includes(id)).map(({ id, status }) => [id, status]),
  );
}

/** Starts a sandbox in a process of its own. */
export async function startSandbox() {
  const data = temporaryFolder();
  const child = spawn(
    process.execPath,
    [launcher, 'sandbox', 'start', '--port', '0', '--data', data, '--json'],
    { env: freshEnvironment(data), stdio: ['ignore', 'pipe', 'inherit'] },
  );
  atEnd(() => child.kill('SIGKILL'));
  const text = await new Promise<string>((resolve) =>
    child.stdout.once('data', (chunk: Buffer) => resolve(chunk.toString())),
  );
  return JSON.parse(text) as { baseUrl: string; organizationId: string; apiKey: string };
}

/** The bytes of a file; none if it is not there. */
export function readIfThere(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch {
    return Buffer.alloc(0);
  }
}

/** A fate by chance: mostly delivered, sometimes lost. */
export function fate(chance: number): Fate {
  if (chance < 0.04) return 'answerLost';
  if (chance < 0.07) return 'late';
  return chance < 0.1 ? 'dropped' : 'through';
}
