import { describe, expect, test } from 'vitest';
import { forget, type Run, runCell } from './cell.js';
import { judge } from './judge.js';
import { tables } from './matrix.js';
import { listReads } from './reads.js';
import { commandsOf, faultsOf, resultOf, spread } from './run.js';
import { unseen } from './unseen.js';

// The whole matrix is `npm run shapes`; here is a sample of it, and the proof that it can fail.

describe.concurrent('a sample of the matrix', () => {
  for (const [shape, command] of spread(120))
    test(`${shape.table}: ${shape.name}: ${command.name}`, async () => {
      expect(faultsOf([await resultOf(shape, command)])).toEqual([]);
    });
});

const answer =
  (code: number, stdout: string): Run =>
  () =>
    Promise.resolve({ code, signal: null, stdout, stderr: '' });

describe('the matrix can fail', () => {
  test('a program that prints [] is silently wrong wherever something was asked', async () => {
    const right = [];
    // Where nothing is stored, or nothing was to be uploaded, doing nothing is right.
    const cells = spread(60).filter(
      ([shape, { name }]) => !shape.isEmpty && !name.endsWith('--if-exists skip'),
    );
    for (const [shape, command] of cells) {
      const { verdict } = await resultOf(shape, command, answer(0, '[]'));
      if (verdict !== 'wrong' && verdict !== 'unseen') right.push([shape.name, command.name]);
    }
    expect(right).toEqual([]);
  });

  test('a program that always says no breaks every promise', async () => {
    const cells = spread(200).filter(([shape]) => shape.promise === 'right');
    for (const [shape, command] of cells) {
      const { isBroken } = await resultOf(shape, command, answer(1, ''));
      expect([shape.name, command.name, isBroken]).toEqual([shape.name, command.name, true]);
    }
    expect(cells.length).toBeGreaterThan(40);
  });
});

test('a key elsewhere, a request too many and a crash are wrong, whatever was printed', async () => {
  const [list] = listReads;
  if (!list || typeof list.line !== 'string') throw new Error('no list');
  const shape = { table: 'none', name: 'plain', shapes: [] };
  const outcome = await runCell(shape, list.line);
  forget(outcome);
  const [request] = outcome.requests;
  if (!request) throw new Error('no request');
  const { requests, ran } = outcome;
  const verdicts = [
    outcome,
    { ...outcome, requests: [...requests, { ...request, server: 'store' as const }] },
    { ...outcome, requests: [...requests, ...requests, ...requests] },
    { ...outcome, requests: [...requests, { ...request, method: 'PATCH' }] },
    { ...outcome, ran: { ...ran, stderr: 'TypeError: x\n    at list (list.js:1:2)\n' } },
    { ...outcome, ran: { ...ran, code: null, signal: 'SIGSEGV' as const } },
  ].map(async (each) => (await judge(list, each)).verdict);
  expect(await Promise.all(verdicts)).toEqual(['right', ...Array(5).fill('wrong')]);
});

test('the tables hold what the matrix is for', () => {
  const sizes = Object.fromEntries(tables.map(({ name, shapes }) => [name, shapes.length]));
  const least = { envelopes: 40, paging: 60, decoys: 12, downloads: 20 };
  const writes = { create: 30, update: 30, delete: 30, convert: 30 };
  for (const [name, count] of Object.entries({ ...least, ...writes }))
    expect(sizes[name], name).toBeGreaterThanOrEqual(count);
});

test('every cell has a name of its own, and those that no client can see do not grow', () => {
  const cells = tables.flatMap((table) =>
    table.shapes.flatMap((shape) =>
      commandsOf(table, shape).map(({ name }) => `${table.name}: ${shape.name}: ${name}`),
    ),
  );
  expect(new Set(cells).size).toBe(cells.length);
  const listed = Object.entries(unseen).flatMap(([at, names]) =>
    names.map((name) => `${at}: ${name}`),
  );
  expect(listed.filter((cell) => !cells.includes(cell))).toEqual([]);
  expect(listed.length).toBeLessThanOrEqual(110);
});
