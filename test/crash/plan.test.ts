import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { inProcess } from '../support/in-process.js';
import { launcher, rosterctl } from '../support/run.js';
import { seeded } from '../support/seeded.js';
import { fate, runOnce, type Stage, setStage, statuses } from './stage.js';

// Kills (-9) the apply of a plan file repeatedly at random moments, while answers are lost or take
// effect late. The same line finishes it: each write is applied once, and a second apply is refused.

const rows = 28;
const seed = Number(process.env['CRASH_SEED'] ?? 20_260_301);
const rounds = Number(process.env['CRASH_KILLS'] ?? 20) / 10;

test(`${rounds} plans are applied once, however often the apply is killed`, {
  timeout: 600_000,
}, async () => {
  const random = seeded(seed);
  const stage = await setStage(rows, () => fate(random()), '0.5s');
  const { env, home, ids, relay } = stage;
  let kills = 0;
  for (let round = 0; round < rounds; round++) {
    const to = round % 2 === 0 ? 'shortlisted' : 'rejected';
    const file = join(home, `plan-${round}.json`);
    const words = ['tryouts', 'set-status', ...ids, '--to', to];
    const made = await rosterctl([...words, '--plan', file], { env, home });
    expect({ code: made.code, stderr: made.stderr }).toMatchObject({ code: 0 });
    const planned = idsIn(file);
    relay.clear();
    const apply = ['plan', 'apply', file, '--yes', '--json'];
    const done = await untilItEnds(stage, apply, random);
    kills += done.kills;
    // Late writes have arrived by now.
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(stage.unannounced).toEqual([]);
    const { summary } = JSON.parse(done.stdout) as { summary: Record<string, number> };
    expect([done.code, summary['total'], summary['changed']]).toEqual([
      0,
      planned.length,
      planned.length,
    ]);
    const applied = relay.arrivals.filter((arrival) => arrival.applied).map(({ id }) => id);
    expect(applied.toSorted()).toEqual(planned);
    expect(await statuses(env, ids)).toEqual(Object.fromEntries(ids.map((id) => [id, to])));
    relay.clear();
    let again = await inProcess(apply, { env, home });
    if (done.isKilled && again.code === 0) {
      // It was killed before it could note that its report was out, so the report comes once more.
      expect(JSON.parse(again.stdout)).toMatchObject({ summary });
      again = await inProcess(apply, { env, home });
    }
    expect([again.code, again.stderr]).toEqual([11, expect.stringContaining('was applied by run')]);
    expect(relay.arrivals).toEqual([]);
    rmSync(file);
  }
  console.info(`  killed: ${kills}`);
  expect(kills).toBeGreaterThan(rounds);
});

/** The records that a plan changes, sorted; those of the demo data that are there already are not in it. */
function idsIn(file: string): string[] {
  const plan = JSON.parse(readFileSync(file, 'utf8')) as { rows: { id: string }[] };
  expect(plan.rows.length).toBeGreaterThan(rows / 2);
  return plan.rows.map(({ id }) => id).toSorted();
}

/** Runs the line and kills it at a random moment, until one completes; then it is no longer killed. */
async function untilItEnds(stage: Stage, line: readonly string[], random: () => number) {
  for (let count = 0, kills = 0; ; count++) {
    let timer: NodeJS.Timeout | undefined;
    const done = await runOnce([process.execPath, launcher, ...line], stage, (child) => {
      if (count < 8) timer = setTimeout(() => child.kill('SIGKILL'), 100 + random() * 500);
    });
    clearTimeout(timer);
    if (done.code !== null) return { ...done, kills, isKilled: false };
    kills += 1;
    // Its whole report was out: the next line may say that the plan was applied.
    if (done.stdout.endsWith('\n')) return { ...done, code: 0, kills, isKilled: true };
  }
}
