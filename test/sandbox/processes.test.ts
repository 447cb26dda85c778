import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bundleChild, killChildren, startChild } from '../support/child.js';
import { call, newSandbox, scratch, type TestSandbox } from './client.js';

let script = '';

beforeAll(async () => {
  script = await bundleChild(fileURLToPath(new URL('writer.ts', import.meta.url)));
});
afterAll(killChildren);

async function createdTeams(sandbox: Pick<TestSandbox, 'baseUrl' | 'apiKey'>) {
  const { json } = await call(sandbox as TestSandbox, 'GET /teams/org_demo');
  const teams = json['teams'] as { id: string; name: string }[];
  return teams.slice(6).map(({ id, name }) => `${id} ${name}`);
}

const answered = (text: string) => text.split('\n').filter((line) => line !== '');

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

test('a kill loses at most the request that it hit, and nobody else any', async () => {
  const stateDir = scratch();
  const survivor = startChild(script, ['write', stateDir, '60']);
  const victims = [];
  for (let round = 0; round < 10; round += 1) {
    const victim = startChild(script, ['write', stateDir, '100000']);
    victims.push(victim);
    await victim.says('team_');
    await new Promise((resolve) => setTimeout(resolve, round * 7));
    victim.kill('SIGKILL');
    expect(await victim.ended).toBe('SIGKILL');
  }
  expect(await survivor.ended).toBe(0);
  const kept = await createdTeams(await newSandbox({ stateDir }));
  for (const child of [survivor, ...victims]) {
    const own = kept.filter((line) => line.includes(` ${child.pid}-`));
    const told = answered(child.stdout());
    // The last line of a killed one may have been cut on its way to us.
    const sure = told.filter((line) => own.includes(line));
    expect(sure.length).toBeGreaterThanOrEqual(told.length - (child === survivor ? 0 : 1));
    expect(own.length - sure.length).toBeLessThanOrEqual(child === survivor ? 0 : 1);
  }
});

test('an embedded sandbox does not keep its process alive', async () => {
  const script2 = await bundleChild(fileURLToPath(new URL('forgetful.ts', import.meta.url)));
  const child = startChild(script2, [scratch()]);
  expect(await child.ended).toBe(0);
  expect(child.stdout()).toBe('open\n');
});
