import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { inProcess } from '../../support/in-process.js';
import { rosterctl, temporaryFolder } from '../../support/run.js';

test('three processes with eight changes each lose none', async () => {
  const home = temporaryFolder();
  const file = join(home, '.config', 'rosterctl', 'config.json');
  const all = ['teams', 'players'].flatMap((resource) => [
    `columns.${resource}`,
    `readOnly.${resource}`,
    `lists.${resource}.path`,
    `lists.${resource}.query`,
  ]);
  const profiles = ['one', 'two', 'three'];
  for (const name of profiles) {
    const line = `auth login -p ${name} --base-url https://a.example/v1 --org o --key-stdin --no-check`;
    await inProcess(line, { home, stdin: 'canary-key' });
  }
  const failed: string[] = [];
  await Promise.all(
    profiles.map(async (name) => {
      for (const key of all) {
        const value = key.endsWith('query') ? 'a=b' : 'name';
        const ran = await rosterctl(['-p', name, 'config', 'set', key, value], { home });
        if (ran.code !== 0) failed.push(`${name} ${key}: ${ran.stderr}`);
      }
    }),
  );
  expect(failed).toEqual([]);
  const { profiles: after } = JSON.parse(readFileSync(file, 'utf8')) as {
    profiles: Record<string, object>;
  };
  for (const name of profiles)
    expect(Object.keys(after[name] ?? {})).toEqual(expect.arrayContaining(all));
});
