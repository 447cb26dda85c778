import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parseJournal } from '../../src/runs/journal.js';
import { runFolders, runsOf } from '../bulk/user.js';
import { inProcess } from '../support/in-process.js';
import { launcher, rosterctl, temporaryFolder } from '../support/run.js';
import { seeded } from '../support/seeded.js';
import { type Fate, relayTo } from './relay.js';
import { fate, readIfThere, recordsOf, runOnce, startSandbox } from './stage.js';

// Kills (-9) an import of 200 rows repeatedly at random moments, while answers are lost or take effect
// late and requests are dropped. No key ever gets two records, and every row that may or may not have
// been created is reported as unknown.

const rows = 200;
const seed = Number(process.env['CRASH_SEED'] ?? 20_260_301);
const rounds = Number(process.env['CRASH_KILLS'] ?? 20) / 20;

interface Report {
  readonly summary: Readonly<Record<string, number>>;
  readonly results: readonly { readonly ref: string; readonly result: string }[];
}

test.each(Array.from({ length: rounds }, (_, round) => seed + round))(
  'an import that is killed again and again makes one record a key (seed %i)',
  { timeout: 300_000 },
  async (start) => {
    const random = seeded(start);
    const service = await startSandbox();
    const home = temporaryFolder();
    const hasLosses = { now: true };
    const early: string[] = [];
    const relay = await relayTo(
      service.baseUrl,
      (): Fate => (hasLosses.now ? fate(random()) : 'through'),
      ({ method }) => {
        const creates = relay.arrivals.filter((each) => each.method === 'POST').length;
        if (method === 'POST' && intents(home) <= creates) early.push(`create ${creates}`);
      },
    );
    const env = {
      ROSTERCTL_BASE_URL: relay.baseUrl,
      ROSTERCTL_ORG: service.organizationId,
      ROSTERCTL_API_KEY: service.apiKey,
      ROSTERCTL_SETTLE: '0.5s',
    };
    const keys = Array.from({ length: rows }, (_, at) => `p${at}@example.org`);
    const file = join(home, 'roster.csv');
    writeFileSync(file, ['Name,E-Mail', ...keys.map((key, at) => `P ${at},${key}`)].join('\n'));
    const words = ['players', 'import', file, '--key', 'email', '--yes', '--json'];
    const line = [...words, '--max-changes', '200'];
    const countByKey = async () => {
      const players = await recordsOf<{ readonly email?: string }>(env, 'players');
      const counts = new Map(keys.map((key) => [key, 0]));
      for (const { email = '' } of players)
        if (counts.has(email)) counts.set(email, (counts.get(email) ?? 0) + 1);
      return counts;
    };

    const creates = () => relay.arrivals.filter(({ method }) => method === 'POST').length;
    const { report, killed } = await untilItEnds(line, { env, home }, creates, random);
    // Late writes have arrived by now.
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(killed).toBeGreaterThan(1);
    expect(early).toEqual([]);
    expect(report.summary['total']).toBe(rows);
    const counts = await countByKey();
    for (const { ref, result } of report.results) {
      const count = counts.get(ref.replace('email:', ''));
      // What was dropped is unknown; nothing else is missing, and nothing is there twice.
      expect([ref, result, count]).toEqual([ref, result, result === 'unknown' ? 0 : 1]);
    }

    // Sent again where that is asked for, and nothing once all is there.
    hasLosses.now = false;
    const restarted = await inProcess([...line, '--restart'], { env, home });
    expect(restarted.code).toBe(0);
    expect(new Set((await countByKey()).values())).toEqual(new Set([1]));
    relay.clear();
    expect((await inProcess(line, { env, home })).code).toBe(0);
    expect(relay.arrivals).toEqual([]);
  },
);

test('a kill leaves no more rows unknown than were sent at once', async () => {
  const service = await startSandbox();
  const home = temporaryFolder();
  const relay = await relayTo(
    service.baseUrl,
    () => 'through',
    () => {},
  );
  const env = {
    ROSTERCTL_BASE_URL: relay.baseUrl,
    ROSTERCTL_ORG: service.organizationId,
    ROSTERCTL_API_KEY: service.apiKey,
    ROSTERCTL_SETTLE: '0.5s',
  };
  const file = join(home, 'roster.csv');
  const keys = Array.from({ length: 100 }, (_, at) => `p${at}@example.org`);
  writeFileSync(file, ['Name,E-Mail', ...keys.map((key, at) => `P ${at},${key}`)].join('\n'));
  const line = `players import ${file} --key email --yes --json --concurrency 8`.split(' ');
  await runOnce([process.execPath, launcher, ...line], { env, home }, (child) => {
    const timer = setInterval(() => {
      if (relay.arrivals.length < 30 && child.exitCode === null) return;
      clearInterval(timer);
      child.kill('SIGKILL');
    }, 1);
  });
  const ran = await rosterctl(line, { env, home });
  const { summary } = JSON.parse(ran.stdout) as Report;
  expect(summary['unknown']).toBeLessThanOrEqual(8);
  expect((summary['changed'] ?? 0) + (summary['unknown'] ?? 0)).toBe(100);
});

/** The creates with an intent on disk, over all runs. */
function intents(home: string): number {
  const ids = runFolders(runsOf(home)).flatMap((folder) => {
    const path = join(folder, 'journal.jsonl');
    const { records } = parseJournal(readIfThere(path), path);
    return records.flatMap((each) => (each.kind === 'intent' ? [String(each['id'])] : []));
  });
  return ids.length;
}

/**
 * Runs the line and kills it until a run reports every row as done or unknown: twice within 40 creates,
 * later at any moment, also before the first create.
 */
async function untilItEnds(
  line: readonly string[],
  world: { readonly env: Record<string, string>; readonly home: string },
  creates: () => number,
  random: () => number,
) {
  for (let count = 0, killed = 0; ; count++) {
    let timer: NodeJS.Timeout | undefined;
    const done = await runOnce([process.execPath, launcher, ...line], world, (child) => {
      if (count >= 20) return;
      const kill = () => void child.kill('SIGKILL');
      const last = creates() + 1 + random() * 40;
      if (count < 2) timer = setInterval(() => creates() > last && kill(), 2);
      else timer = setTimeout(kill, 200 + random() * 600);
    });
    clearInterval(timer);
    if (done.code === null) killed += 1;
    if (done.code !== 0 && done.code !== 10) continue;
    const report = JSON.parse(done.stdout) as Report;
    if (report.summary['notAttempted'] === 0) return { report, killed };
  }
}
