import { lockRecord } from '../../src/runs/lock.js';
import { runStore } from '../../src/runs/store.js';
import { isAlive } from '../support/alive.js';

// Child process for the lock tests: `DIR hold ID` holds a record until killed; `DIR turns N` acquires
// the locks of ten records in turn, N times in all.
const [, , dir = '', mode = '', what = ''] = process.argv;
const store = runStore(dir);
const world = {
  self: { pid: process.pid, isAlive },
  signal: new AbortController().signal,
  note: () => {},
};
const place = { service: 's', organization: 'o', resource: 'documents' };
const lock = (id: string) =>
  lockRecord(world, store, { ...place, run: 'child', startedAt: 'now' }, id, 60_000);

async function turns(): Promise<void> {
  for (let turn = 0; turn < Number(what); turn += 1) (await lock(`app_${turn % 10}`)).release();
  process.stdout.write(`${what} turns\n`);
}

async function hold(): Promise<void> {
  await lock(what);
  process.stdout.write('held\n');
  setInterval(() => {}, 1000);
}

void (mode === 'turns' ? turns() : hold());
