import { expect, test } from 'vitest';
import { launcher } from '../support/run.js';
import { seeded } from '../support/seeded.js';
import { fate, runOnce, setStage, type Stage } from './stage.js';

// A bulk change is killed (-9) again and again, at random moments, while answers get lost or their
// effect comes late. Whatever happens, each row is written at most once and ends at its target.

const kills = Number(process.env['CRASH_KILLS'] ?? 100);
const seed = Number(process.env['CRASH_SEED'] ?? 20_260_301);
const rows = 28;

test(`${kills} kills lose no row and repeat no write`, { timeout: 900_000 }, async () => {
  const random = seeded(seed);
  const stage = await setStage(rows, () => fate(random()));
  let killed = 0;
  for (let round = 0; killed < kills; round++) {
    const to = round % 2 === 0 ? 'shortlisted' : 'reviewing';
    stage.relay.clear();
    // Every third round with many at once: then rows wait with their intents on disk already.
    const pace = round % 3 === 2 ? ['--concurrency', '16'] : [];
    const done = await untilItEnds(stage, [...stage.line(to), ...pace], random);
    killed += done.kills;
    await stage.check(to, done);
  }
  expect(killed).toBeGreaterThanOrEqual(kills);
});

/** Runs a line and kills it at a random moment, until one run has done all. */
async function untilItEnds(stage: Stage, line: readonly string[], random: () => number) {
  for (let count = 0, killed = 0; ; count++) {
    let timer: NodeJS.Timeout | undefined;
    // oxlint-disable-next-line no-await-in-loop
    const done = await runOnce([process.execPath, launcher, ...line], stage, (child) => {
      // After many kills it is left alone, so that a round always ends.
      if (count < 12) timer = setTimeout(() => child.kill('SIGKILL'), 120 + random() * 500);
    });
    clearTimeout(timer);
    if (done.code === null) killed += 1;
    // Of many at once five may be lost in a row, which ends a run as if the service were away.
    const isAway = line.includes('--concurrency') && [9, 10].includes(Number(done.code));
    if (done.code !== null && !isAway) return { ...done, kills: killed };
  }
}
