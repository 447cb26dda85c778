import { expect, test } from 'vitest';
import { launcher } from '../support/run.js';
import { seeded } from '../support/seeded.js';
import {
  convertOne,
  createOne,
  deleteOne,
  freeApplications,
  type Scenario,
  undoNewest,
  updateOne,
} from './single-writes.js';
import { fate, runOnce, type Stage, setStage, statuses } from './stage.js';

// Kills (-9) bulk changes, single changes and undos repeatedly at random moments, while answers are
// lost or take effect late. In every case each write is applied at most once and each row reaches
// its target.

const kills = Number(process.env['CRASH_KILLS'] ?? 40);
const seed = Number(process.env['CRASH_SEED'] ?? 20_260_301);
const rows = 28;

test(`${kills} kills lose no row and repeat no write`, { timeout: 900_000 }, async () => {
  const random = seeded(seed);
  const stage = await setStage(rows, () => fate(random()), '0.5s');
  const free = await freeApplications(stage);
  const killed = new Map<string, number>();
  const kill = async (line: readonly string[], isOverOnceReported = false) => {
    stage.relay.clear();
    const done = await untilItEnds(stage, line, { random, isOverOnceReported });
    const name = line.slice(0, 2).join(' ');
    killed.set(name, (killed.get(name) ?? 0) + done.kills);
    return done;
  };
  const runScenario = async (scenario: Scenario) => {
    stage.keepsBefore = scenario.keepsBefore;
    const done = await kill(scenario.line, scenario.isOverOnceReported);
    stage.keepsBefore = true;
    // Late writes have arrived by now.
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(stage.unannounced).toEqual([]);
    await scenario.check(done);
  };
  const all = () => [...killed.values()].reduce((sum, each) => sum + each, 0);
  // Each kind of command was killed at least once, too.
  const isMixed = () => killed.size === 6 && [...killed.values()].every((count) => count > 0);
  for (let round = 0; all() < kills || !isMixed(); round++) {
    const to = round % 2 === 0 ? 'shortlisted' : 'reviewing';
    const before = await statuses(stage.env, stage.ids);
    // Every third round at high concurrency, where rows wait with their intents already on disk.
    const pace = round % 3 === 2 ? ['--concurrency', '16'] : [];
    await stage.check(to, await kill([...stage.line(to), ...pace]));
    if (round % 4 === 1) await runScenario(undoNewest(stage, before));
    await runScenario(createOne(stage, `Team ${round}`));
    const [id = ''] = stage.ids;
    const { [id]: now } = await statuses(stage.env, [id]);
    await runScenario(updateOne(stage, id, now === 'rejected' ? 'pending' : 'rejected'));
    const person = free.pop();
    if (person === undefined) continue;
    let player = '';
    await runScenario(convertOne(stage, person, (made) => (player = made)));
    await runScenario(deleteOne(stage, player));
  }
  console.info(`  killed: ${[...killed].map(([name, count]) => `${name} ${count}`).join(', ')}`);
});

interface Killing {
  readonly random: () => number;
  readonly isOverOnceReported: boolean;
}

/** Runs a command and kills it at a random moment, until one run completes. */
async function untilItEnds(
  stage: Stage,
  line: readonly string[],
  { random, isOverOnceReported }: Killing,
) {
  // A single record takes little longer than the start, which is a tenth of a second at best.
  const [most, earliest, latest] = line.includes('set-status') ? [12, 100, 600] : [4, 20, 300];
  for (let count = 0, killed = 0; ; count++) {
    let timer: NodeJS.Timeout | undefined;
    const done = await runOnce([process.execPath, launcher, ...line], stage, (child) => {
      // After many kills it is no longer killed, so that a round always ends.
      const moment = earliest + random() * (latest - earliest);
      if (count < most) timer = setTimeout(() => child.kill('SIGKILL'), moment);
    });
    clearTimeout(timer);
    if (done.code === null) killed += 1;
    if (isOverOnceReported && done.stdout.endsWith('\n')) return { ...done, kills: killed };
    // At high concurrency five consecutive answers may be lost, which stops a run as if the service were down.
    const isAway = line.includes('--concurrency') && [9, 10].includes(Number(done.code));
    if (done.code !== null && !isAway) return { ...done, kills: killed };
  }
}
