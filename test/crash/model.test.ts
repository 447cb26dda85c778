import { expect, test } from 'vitest';
import { parseCondition } from '../../src/data/where.js';
import type { ReportRow } from '../../src/runs/report.js';
import { type Choose, explore } from './model/explore.js';
import { Process, type ProcessOptions } from './model/process.js';
import { type Budget, World } from './model/world.js';

// Explores every interleaving of crashes, lost and late answers, refusals, pauses and another writer:
// no write takes effect twice, nothing is reported as done that is not, and each row has one result.

const one: ProcessOptions = {
  name: 'run',
  ids: ['app_1'],
  to: 'accepted',
  guards: { conditions: [parseCondition('team=A')] },
};

/** A run, started again after each crash, and as long as it leaves something unfinished. */
async function typedUntilDone(
  choose: Choose,
  budget: Budget,
  seen: Set<string>,
  see: (world: World) => void,
) {
  const world = new World(choose, one.ids, budget);
  see(world);
  let process = new Process(world, one);
  for (let typed = 0; ; ) {
    if ((await world.run([process])) === 'crashed') {
      if (choose(2) === 1) world.pass({ wall: 20_000, mono: 20_000 });
      // This state was already explored, reached on another path.
      const ages = process.records.map((entry) => ({ ...entry, t: world.now.wall - entry.t }));
      const key = `${typed} ${world.key} ${JSON.stringify(ages)}`;
      if (seen.has(key)) return;
      seen.add(key);
    } else {
      check(world, process, one);
      const isLeft = resultsOf(process).some(({ result }) => reopened.has(result));
      if (!isLeft || typed === 1) return;
      typed += 1;
    }
    process = process.again();
  }
}

const reopened = new Set(['unknown', 'not_attempted']);
const untouched = new Set(['unchanged', 'skipped', 'not_attempted', 'failed']);

const resultsOf = (process: Process): ReportRow[] => [...process.state.results.values()];

function check(world: World, process: Process, { ids, name }: ProcessOptions): void {
  const results = resultsOf(process);
  expect(results.map(({ id }) => id).toSorted()).toEqual([...ids]);
  expect(new Set(process.rows.map(({ id }) => id)).size).toBe(process.rows.length);
  for (const { id, result } of results) {
    const own = world.events.filter((event) => event.id === id && event.by === name);
    const was = (status: string) => world.had.get(id)?.has(status) ?? false;
    expect(own.length).toBeLessThan(2);
    if (result === 'changed' || result === 'unchanged') expect(was(process.to)).toBe(true);
    if (untouched.has(result)) expect([own.length, world.isQuiet]).toEqual([0, true]);
    if (result === 'conflict') expect(world.hasOther).toBe(true);
  }
}

/** Explores all paths; an error names the events of its path. */
async function all(path: (choose: Choose, see: (world: World) => void) => Promise<void>) {
  let world: World | undefined;
  const began = performance.now();
  const paths = await explore((choose) =>
    path(choose, (made) => (world = made)).catch((error: unknown) => {
      throw new Error(`After: ${world?.happened.join(', ')}.`, { cause: error });
    }),
  );
  console.info(`  ${paths} paths, ${Math.round(performance.now() - began)} ms`);
  return paths;
}

test.each<[string, Budget]>([
  ['two crashes and lost answers', { crashes: 2, lost: 3, late: 1, swaps: 2 }],
  ['two crashes, lost answers and another admin', { crashes: 2, lost: 3, late: 1, others: 1 }],
  ['a crash, refusals and another admin', { crashes: 1, refused: 2, lost: 1, late: 1, others: 1 }],
  ['pauses with the read in hand and another admin', { pauses: 2, lost: 1, late: 1, others: 1 }],
  ['a refusal, a pause and another admin', { pauses: 1, refused: 1, lost: 1, others: 1 }],
  [
    'a crash, a suspended machine and another admin',
    { crashes: 1, pauses: 1, lost: 2, late: 1, others: 1 },
  ],
])('%s', async (_, budget) => {
  const seen = new Set<string>();
  const paths = await all((choose, see) => typedUntilDone(choose, budget, seen, see));
  expect(paths).toBeGreaterThan(100);
});

const bulk: ProcessOptions = { name: 'bulk', ids: ['app_1', 'app_2'], to: 'accepted' };

test('two locking terminals on one record: one effect', async () => {
  const single = { ...bulk, name: 'single', ids: ['app_1'], locks: 'all' } as const;
  const paths = await all((choose, see) =>
    twoTerminals(choose, see, { ...bulk, locks: 'rows' }, single, { lost: 2, late: 1 }, (world) => {
      expect(world.events.map(({ id }) => id).toSorted()).toEqual(['app_1', 'app_2']);
    }),
  );
  expect(paths).toBeGreaterThan(100);
});

test('two terminals on one record with two targets: like two admins', async () => {
  const single = { ...bulk, name: 'single', ids: ['app_1'], to: 'rejected' };
  const paths = await all((choose, see) =>
    twoTerminals(choose, see, { ...bulk, ids: ['app_1'] }, single, { pauses: 1 }),
  );
  expect(paths).toBeGreaterThan(100);
});

async function twoTerminals(
  choose: Choose,
  see: (world: World) => void,
  first: ProcessOptions,
  second: ProcessOptions,
  budget: Budget,
  more: (world: World) => void = () => {},
) {
  const world = new World(choose, first.ids, budget);
  world.hasOther = first.to !== second.to;
  see(world);
  const processes = [first, second].map((each) => new Process(world, each));
  await world.run(processes);
  for (const [at, process] of processes.entries())
    check(world, process, [first, second][at] ?? first);
  if (processes.every((process) => resultsOf(process).every(({ result }) => !reopened.has(result))))
    more(world);
}
