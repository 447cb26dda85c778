import { appendFileSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openJournal, readJournal } from '../../src/runs/journal.js';
import { headOf, type RunHead, readPlan, writePlan } from '../../src/runs/plan.js';
import { writeReported } from '../../src/runs/store.js';
import { temporaryFolder } from '../support/run.js';

const options = { now: () => new Date(0), isOurs: () => true };
describe('a journal', () => {
  test.each([
    ['cut', '{"seq":4,"kind":"res'],
    [
      'whole, and was not on disk as a whole',
      '{"seq":4,"kind":"res\0\0\0,"sum":"0123456789abcdef"}\n',
    ],
  ])('is private to its owner and drops a torn end: the last line is %s', async (_, torn) => {
    const path = join(temporaryFolder(), 'journal.jsonl');
    const journal = await openJournal(path, options);
    await Promise.all([1, 2, 3].map((row) => journal.append({ kind: 'intent', row, id: 'x' })));
    await journal.close();
    expect(statSync(path).mode & 0o777).toBe(0o600);
    appendFileSync(path, torn);
    const next = await openJournal(path, options);
    expect(next.last).toBe(3);
    await next.append({ kind: 'end' });
    await next.close();
    const { records } = await readJournal(path);
    expect(records.map(({ seq }) => seq)).toEqual([1, 2, 3, 4]);
  });

  test('that is damaged in the middle is refused with the line number', async () => {
    const path = join(temporaryFolder(), 'journal.jsonl');
    const journal = await openJournal(path, options);
    for (const row of [1, 2, 3]) await journal.append({ kind: 'intent', row, id: `app_${row}` });
    await journal.close();
    const text = readFileSync(path, 'utf8').replace('app_2', 'app_9');
    writeFileSync(path, text);
    await expect(openJournal(path, options)).rejects.toThrow(/damaged in line 2/);
  });

  test('that another process took over is not written', async () => {
    const path = join(temporaryFolder(), 'journal.jsonl');
    let ours = true;
    const journal = await openJournal(path, { ...options, isOurs: () => ours });
    await journal.append({ kind: 'end' });
    ours = false;
    await expect(journal.append({ kind: 'end' })).rejects.toThrow(
      /was taken over by another process/,
    );
    // What the other wrote is unknown, even once it has let go.
    ours = true;
    await expect(journal.append({ kind: 'end' })).rejects.toThrow(
      /was taken over by another process/,
    );
    await journal.close();
    expect((await readJournal(path)).records).toHaveLength(1);
  });
});

test.each([
  ['players.delete', 'delete'],
  ['tryouts.convert', 'convert'],
  ['tryouts.set-status', 'update'],
  ['documents.replace', 'upload'],
  ['runs.undo', 'undo'],
  ['teams.constructor', 'update'],
])('the first record of version 0.1.0 has no verb: %s is to %s', (action, verb) => {
  expect(headOf({ kind: 'job', seq: 1, t: 0, run: 'r', action })).toMatchObject({ action, verb });
  const stored = { kind: 'job', seq: 1, t: 0, run: 'r', action, verb: 'convert' };
  expect(headOf(stored)).toMatchObject({ verb: 'convert' });
});

test('a plan of several megabytes is read back as it was written', async () => {
  const folder = temporaryFolder();
  const head = headOf({ kind: 'job', seq: 1, t: 0, run: 'r', action: 'tryouts.update' });
  const own = { note: 'x'.repeat(1_000) };
  const rows = Array.from({ length: 3_000 }, (_, at) => ({ row: at + 1, id: `app_${at}`, own }));
  const plan = { head: head as RunHead, job: {}, names: new Map<string, string>(), rows };
  await writePlan(folder, plan);
  expect(await readPlan(folder)).toEqual(plan);
});

test('a report that cannot be marked as printed says what the same command does then', async () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'told', 'in the way'), { recursive: true });
  await expect(writeReported(folder, 1)).rejects.toMatchObject({
    message: expect.stringContaining('told'),
    hint: expect.stringContaining('The same command then prints this report again'),
  });
});
