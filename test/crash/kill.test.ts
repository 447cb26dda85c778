import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { parseJournal } from '../../src/bulk/journal.js';
import { freshEnvironment, launcher, rosterctl, temporaryFolder } from '../support/run.js';
import { seeded } from '../support/seeded.js';
import { type Fate, relayTo } from './relay.js';

// A bulk change is killed (-9) again and again, at random moments, while answers get lost or their
// effect comes late. Whatever happens, each row is written at most once and ends at its target.

const kills = Number(process.env['CRASH_KILLS'] ?? 100);
const seed = Number(process.env['CRASH_SEED'] ?? 20_260_301);
/** Applications that share no e-mail or Discord user with another: none of them is ever a 409. */
const firstId = 12;
const rows = 28;
const settle = '0.25s';

const children = new Set<ChildProcess>();
afterAll(() => {
  for (const child of children) child.kill('SIGKILL');
});

test(`${kills} kills lose no row and repeat no write`, { timeout: 600_000 }, async () => {
  const random = seeded(seed);
  const service = await startSandbox();
  const home = temporaryFolder();
  // I1: what reaches the service has its intent on disk before; of each arrival is kept whether it had.
  const unannounced: string[] = [];
  const relay = await relayTo(
    service.baseUrl,
    () => fate(random()),
    (id) => {
      if (!intentsOf(home).includes(id)) unannounced.push(id);
    },
  );
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
  let killed = 0;
  for (let round = 0; killed < kills; round++) {
    const to = round % 2 === 0 ? 'shortlisted' : 'reviewing';
    const line = ['tryouts', 'set-status', ...ids, '--to', to, '--yes', '--json'];
    relay.clear();
    const done = await untilItEnds(line, { env, home, random });
    killed += done.kills;
    // Whatever was late has arrived by now.
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(unannounced).toEqual([]);
    expect(done.code).toBe(0);
    const summary = (JSON.parse(done.stdout) as { summary: Record<string, number> }).summary;
    // I2, I8: every row in one result, and 0 only when all are done.
    expect(summary['total']).toBe(rows);
    expect((summary['changed'] ?? 0) + (summary['unchanged'] ?? 0)).toBe(rows);
    // I3: a service that emits an event for each write would have emitted one a row.
    const applied = relay.arrivals.filter((arrival) => arrival.applied).map(({ id }) => id);
    expect(applied.toSorted()).toEqual([...new Set(applied)].toSorted());
    // I4: the service holds what the report says.
    expect(await statuses(env, home)).toEqual(Object.fromEntries(ids.map((id) => [id, to])));
    // I6: once more sends nothing.
    relay.clear();
    const again = await rosterctl(line, { env, home });
    expect(again.code).toBe(0);
    expect(relay.arrivals).toEqual([]);
  }
  expect(killed).toBeGreaterThanOrEqual(kills);
});

/** The ids with an open or settled intent in the newest run. */
function intentsOf(home: string): string[] {
  const dir = join(home, '.local/state/rosterctl/runs');
  const newest = readdirSync(dir).toSorted().at(-1) ?? '';
  const path = join(dir, newest, 'journal.jsonl');
  const { records } = parseJournal(readIfThere(path), path);
  return records.flatMap((record) => (record.kind === 'intent' ? [String(record['id'])] : []));
}

interface Killing {
  readonly env: Record<string, string>;
  readonly home: string;
  readonly random: () => number;
}

/** Runs a line and kills it at a random moment, until one run comes to its own end. */
async function untilItEnds(line: readonly string[], { env, home, random }: Killing) {
  for (let count = 0; ; count++) {
    const child = spawn(process.execPath, [launcher, ...line], {
      env: { ...freshEnvironment(home), ...env },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    children.add(child);
    let stdout = '';
    child.stdout.on('data', (chunk: Buffer) => (stdout += chunk));
    const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
    // After many kills it is left alone, so that a round always ends.
    const timer =
      count < 12 ? setTimeout(() => child.kill('SIGKILL'), 120 + random() * 500) : undefined;
    const code = await ended;
    clearTimeout(timer);
    children.delete(child);
    if (code !== null) return { code, stdout, kills: count };
  }
}

async function statuses(env: Record<string, string>, home: string) {
  const ran = await rosterctl('tryouts list --json', { env, home });
  const list = JSON.parse(ran.stdout) as { id: string; status: string }[];
  return Object.fromEntries(
    list
      .filter(({ id }) => Number(id.slice(4)) >= firstId && Number(id.slice(4)) < firstId + rows)
      .map(({ id, status }) => [id, status]),
  );
}

async function startSandbox() {
  const data = temporaryFolder();
  const child = spawn(
    process.execPath,
    [launcher, 'sandbox', 'start', '--port', '0', '--data', data, '--json'],
    { env: freshEnvironment(data), stdio: ['ignore', 'pipe', 'inherit'] },
  );
  children.add(child);
  const text = await new Promise<string>((resolve) =>
    child.stdout.once('data', (chunk: Buffer) => resolve(chunk.toString())),
  );
  return JSON.parse(text) as { baseUrl: string; organizationId: string; apiKey: string };
}

function fate(chance: number): Fate {
  if (chance < 0.04) return 'answerLost';
  if (chance < 0.07) return 'late';
  return chance < 0.1 ? 'dropped' : 'through';
}

function readIfThere(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch {
    return Buffer.alloc(0);
  }
}
