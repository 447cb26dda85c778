import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { bundleChild, killChildren, startChild } from '../support/child.js';
import { call, newSandbox, scratch } from './client.js';

afterAll(killChildren);

test('two hundred writes from eight processes that open the sandbox for each anew lose nothing', async () => {
  const script = await bundleChild(fileURLToPath(new URL('writer.ts', import.meta.url)));
  const stateDir = scratch();
  const children = Array.from({ length: 8 }, () => startChild(script, ['reopen', stateDir, '25']));
  expect(await Promise.all(children.map(({ ended }) => ended))).toEqual(Array(8).fill(0));
  const lines = children.flatMap((child) => child.stdout().trimEnd().split('\n'));
  expect(lines).toHaveLength(200);
  const sandbox = await newSandbox({ stateDir });
  const { json } = await call(sandbox, 'GET /players/org_demo/player_0001');
  const marks = Object.keys(json).filter((name) => name.startsWith('mark_'));
  expect(marks).toHaveLength(96);
  const list = await call(sandbox, 'GET /teams/org_demo');
  const teams = (list.json['teams'] as { id: string; name: string }[]).slice(6);
  const made = teams.map(({ id, name }) => `${id} ${name}`);
  expect([...marks, ...made].toSorted()).toEqual(lines.toSorted());
});
