import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { Task } from '../../src/engine/operation.js';
import { runRows } from '../../src/engine/run-rows.js';
import { foldJournal, openJournal, parseJournal, readJournal } from '../../src/runs/journal.js';
import { isFinalRow } from '../../src/runs/report.js';
import { type Imagined, imagine, type Reaction, runOptions } from '../bulk/imagined.js';
import { temporaryFolder } from '../support/run.js';

const options = { now: () => new Date(0), isOurs: () => true };
const ids = Array.from({ length: 20 }, (_, index) => `app_${index + 1}`);
const previewed = [{ field: 'status', from: 'pending', to: 'accepted' }];
const allTasks: Task[] = ids.map((id, index) => ({ row: index + 1, id, previewed }));

/** Continues a journal as a new process would. */
async function goOn(imagined: Imagined, path: string) {
  const journal = await openJournal(path, options);
  const state = foldJournal((await readJournal(path)).records);
  const tasks = allTasks.flatMap((task): Task[] => {
    const result = state.results.get(task.row);
    const open = state.open.get(task.row);
    if (result && isFinalRow(result) && !open) return [];
    return [{ ...task, ...(open && { open }) }];
  });
  const finals = allTasks.length - tasks.length;
  const results: string[] = [];
  await runRows(tasks, {
    ...runOptions(imagined, journal),
    settleMs: 10,
    onResult: (row) => results.push(row.result),
  });
  await journal.close();
  return { results, finals };
}

/** Replaces thousands of syncs, which would take minutes on a busy disk and prove nothing more. */
function folderInMemory(): string {
  if (!existsSync('/dev/shm')) return temporaryFolder();
  const dir = mkdtempSync('/dev/shm/rosterctl-');
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

const lossy = (id: string, attempt: number): Reaction => {
  if (attempt > 1) return 'ok';
  return id.endsWith('3') ? 'lost' : id.endsWith('7') ? 'dropped' : 'ok';
};

test('a journal cut at any byte leads to the same result, and no write takes effect twice', async () => {
  const dir = folderInMemory();
  const path = join(dir, 'journal.jsonl');
  const first = imagine(ids, 'accepted', lossy);
  await goOn(first, path);
  const whole = readFileSync(path);
  expect(first.applied).toHaveLength(20);
  const { records } = parseJournal(whole, path);
  for (let cut = 0; cut <= whole.length; cut++) {
    const at = join(dir, 'cut.jsonl');
    writeFileSync(at, whole.subarray(0, cut));
    // The service's state when a process dies there: the write of each intent may be applied or not.
    const kept = foldJournal(parseJournal(whole.subarray(0, cut), at).records);
    const again = imagine(ids, 'accepted', lossy);
    for (const [row] of kept.results) again.status.set(`app_${row}`, 'accepted');
    for (const [row] of kept.open)
      if ((row + cut) % 2 === 0) again.status.set(`app_${row}`, 'accepted');
    const before = [...again.status].filter(([, status]) => status === 'accepted').length;
    const { results, finals } = await goOn(again, at);
    expect([...again.status.values()].every((status) => status === 'accepted')).toBe(true);
    expect(again.applied).toHaveLength(20 - before);
    expect(new Set(again.applied).size).toBe(again.applied.length);
    expect(results.length + finals).toBe(20);
    expect(results.every((result) => result === 'changed' || result === 'unchanged')).toBe(true);
  }
  expect(records.length).toBeGreaterThanOrEqual(40);
});
