import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bundleChild, killChildren, startChild } from '../support/child.js';
import { answered, createdTeams, newSandbox, scratch } from './client.js';

let script = '';

beforeAll(async () => {
  script = await bundleChild(fileURLToPath(new URL('writer.ts', import.meta.url)));
});
afterAll(killChildren);

test('two hundred writes from eight processes at once lose nothing', async () => {
  const stateDir = scratch();
  const children = Array.from({ length: 8 }, () => startChild(script, ['write', stateDir, '25']));
  expect(await Promise.all(children.map(({ ended }) => ended))).toEqual(Array(8).fill(0));
  const lines = children.flatMap((child) => answered(child.stdout()));
  expect(lines).toHaveLength(200);
  const sandbox = await newSandbox({ stateDir });
  expect((await createdTeams(sandbox)).toSorted()).toEqual(lines.toSorted());
  expect(new Set(lines.map((line) => line.split(' ')[0])).size).toBe(200);
});

test('an embedded sandbox does not keep its process alive', async () => {
  const script2 = await bundleChild(fileURLToPath(new URL('forgetful.ts', import.meta.url)));
  const child = startChild(script2, [scratch()]);
  expect(await child.ended).toBe(0);
  expect(child.stdout()).toBe('open\n');
});
