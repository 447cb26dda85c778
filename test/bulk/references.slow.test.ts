import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { inProcess } from '../support/in-process.js';
import { temporaryFolder } from '../support/run.js';
import { recordingService } from '../support/service.js';

test('200,000 references are resolved over one list', async () => {
  const count = 200_000;
  const all = Array.from({ length: count }, (_, at) => ({
    id: `player_${at}`,
    name: `Player ${at}`,
    email: `p${at}@x.org`,
  }));
  const body = JSON.stringify(all);
  const service = await recordingService(() => ({
    status: 200,
    text: body,
    headers: { 'content-type': 'application/json' },
  }));
  const csv = join(temporaryFolder(), 'in.csv');
  writeFileSync(csv, `email,name\n${all.map(({ email, name }) => `${email},${name}\n`).join('')}`);
  const ran = await inProcess(`players update --csv ${csv} --key email -n -o ids`, {
    env: service.env,
    home: temporaryFolder(),
  });
  expect(ran.stderr).toContain('Found 200,000 players by e-mail.');
  expect(ran.stdout.trimEnd().split('\n')).toHaveLength(count);
  // One list for the references, and one for the preview.
  expect(service.requests.map(({ url }) => url)).toEqual([
    '/v1/players/org_7',
    '/v1/players/org_7',
  ]);
});
