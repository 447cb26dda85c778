import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bundleChild, killChildren, startChild } from '../support/child.js';
import { answered, createdTeams, newSandbox, scratch } from './client.js';

let script = '';

beforeAll(async () => {
  script = await bundleChild(fileURLToPath(new URL('writer.ts', import.meta.url)));
});
afterAll(killChildren);

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
