import { appendFileSync, closeSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { acquireLock, lockHolder, withLock } from '../../src/files/lock.js';
import { isAlive } from '../support/alive.js';

// Child process of the lock tests: `count DIR TIMES` adds to a counter, `hold DIR` holds the lock
// until killed, `exhaust DIR` releases it while too many files are open.
const [, , mode = '', dir = '', times = '0'] = process.argv;
const options = { self: { pid: process.pid, isAlive }, waitMs: 60_000 };
const journal = join(dir, 'journal');
const counter = join(dir, 'counter');

async function count(): Promise<void> {
  for (let turn = 0; turn < Number(times); turn += 1) {
    await withLock(dir, 'test', options, async () => {
      appendFileSync(journal, `enter ${process.pid}\n`);
      const before = Number(readFileSync(counter, 'utf8'));
      // A second holder would enter here.
      if (turn % 5 === 0) await new Promise((resolve) => setTimeout(resolve, 1));
      writeFileSync(counter, String(before + 1));
      appendFileSync(journal, `leave ${process.pid}\n`);
    });
  }
}

async function hold(): Promise<void> {
  await acquireLock(dir, 'test', { ...options, purpose: 'holding' });
  appendFileSync(journal, `enter ${process.pid}\n`);
  process.stdout.write('held\n');
  setInterval(() => {}, 1000);
}

async function exhaust(): Promise<void> {
  const lock = await acquireLock(dir, 'test', options);
  const opened: number[] = [];
  try {
    for (;;) opened.push(openSync('/dev/null', 'r'));
  } catch {
    lock.release();
    process.stdout.write('held on\n');
  }
  for (const descriptor of opened) closeSync(descriptor);
  while (lockHolder(dir, 'test', options.self))
    await new Promise((resolve) => setTimeout(resolve, 10));
}

const modes: Readonly<Record<string, () => Promise<void>>> = { count, hold, exhaust };
void modes[mode]?.();
