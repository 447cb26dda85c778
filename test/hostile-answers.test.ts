import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { application, keep } from './commands/tryouts/service.js';
import { converse } from './support/converse.js';
import { converseInside } from './support/converse-inside.js';
import { inProcess } from './support/in-process.js';
import { errorOf, rosterctl, temporaryFolder } from './support/run.js';
import { key, recordingService } from './support/service.js';

// Hostile input from applicants and from a malicious service, and the harm that it must not do.

const noughts = `1${'0'.repeat(300_000)}1`;

test('a long number from an applicant does not slow the program down', async () => {
  const records = [
    application('app_1', { formResponses: { age: noughts } }),
    application('app_2', { formResponses: { age: '17' } }),
  ];
  const service = await keep(records);
  const line = `tryouts list --where 'formResponses.age>=18' -o ids`;
  const ran = await rosterctl(line, { env: service.env, hangMs: 10_000 });
  expect(ran).toMatchObject({ code: 0, stdout: 'app_1\n' });
});

test('a long number in a response does not slow the program down, and keeps its digits', async () => {
  const service = await recordingService(() => ({
    status: 200,
    text: `{"id":"p1","x":1.${noughts}}`,
  }));
  const ran = await rosterctl('players get p1 --json', { env: service.env, hangMs: 10_000 });
  expect(ran.stdout).toContain(noughts);
});

test('a name of many spaces does not slow a download down', async () => {
  const name = `a${' '.repeat(300_000)}b.txt`;
  const service = await recordingService(({ url }) =>
    url.endsWith('/download')
      ? { status: 200, json: { url: `${service.origin}/file?sig=1` } }
      : url.startsWith('/file')
        ? { status: 200, text: 'x' }
        : { status: 200, json: [{ id: 'd1', name, sizeBytes: 1 }] },
  );
  const ran = await rosterctl('docs download d1', { env: service.env, hangMs: 10_000 });
  expect(ran.code).toBe(0);
});

test('a file longer than its size is cut off and discarded', async () => {
  let sent = 0;
  const service = await recordingService(({ url }) => {
    if (url.endsWith('/download'))
      return { status: 200, json: { url: `${service.origin}/file?sig=1` } };
    if (!url.startsWith('/file'))
      return { status: 200, json: [{ id: 'd1', name: 'a.txt', sizeBytes: 10 }] };
    return (_, response) => {
      response.on('error', () => {});
      const more = () => {
        while (!response.destroyed && response.write(Buffer.alloc(65_536))) sent += 65_536;
      };
      response.on('drain', more);
      more();
    };
  });
  const home = temporaryFolder();
  const ran = await inProcess('docs download d1 --json', { env: service.env, home, cwd: home });
  expect([ran.code, errorOf(ran)]).toMatchObject([1, { code: 'wrongSize' }]);
  expect(readdirSync(home).filter((name) => name.startsWith('a.txt'))).toEqual([]);
  expect(sent).toBeLessThan(64 * 1024 * 1024);
});

const driving = '\u009b2J\u202e\u2066\u2028\u007f';

test('a JSON error contains no control characters', async () => {
  const service = await recordingService(() => ({
    status: 400,
    json: { error: `bad${driving}`, message: `worse${driving}` },
  }));
  const ran = await rosterctl('players create --name x --json', service);
  expect(ran.code).toBe(3);
  expect(ran.stderr).not.toMatch(/[\u007f-\u009f\u2028\u202e\u2066]/);
  expect(errorOf(ran)).toMatchObject({ code: `bad${driving}` });
});

test('text of the service is truncated to what a screen can show', async () => {
  const service = await recordingService(() => ({
    status: 400,
    json: { error: 'x'.repeat(100_000), message: 'y'.repeat(100_000) },
  }));
  const ran = await inProcess('players create --name x', service);
  expect(ran.stderr.length).toBeLessThan(3_000);
});

test.each(['tryouts list -o csv', 'tryouts get app_1 -o csv', 'docs download d1 -O -'])(
  '%s on a terminal prints no control characters',
  async (line) => {
    const record = application('app_1', { name: `Ann \u001b]0;title\u0007${driving}` });
    const service = await recordingService(({ url }) => {
      if (url.endsWith('/download'))
        return { status: 200, json: { url: `${service.origin}/file?sig=1` } };
      if (url.startsWith('/file')) return { status: 200, text: `Ann \u001b]0;title\u0007` };
      if (url.includes('documents')) return { status: 200, json: [{ id: 'd1', name: 'a.txt' }] };
      return { status: 200, json: url.includes('app_1') ? record : [record] };
    });
    const talk = line.endsWith('list -o csv') ? converseInside : converse;
    const { shown } = await talk(temporaryFolder(), line.split(' '), [], service.env);
    expect(shown).toContain('Ann ');
    // oxlint-disable-next-line no-control-regex
    expect(shown).not.toMatch(/\u001b\]|\u0007|[\u0080-\u009f\u202e\u2066]/);
  },
);

test('a suggested command has no side effects when pasted', async () => {
  const id = "x';touch pwned;'";
  const record = application(id);
  const service = await recordingService(({ url }) =>
    url.includes('%3Btouch') ? { status: 200, json: record } : { status: 200, json: [record] },
  );
  const ran = await inProcess('tryouts set-status --all --to accepted --yes --json', service);
  expect(ran.code).toBe(8);
  const [row] = JSON.parse(ran.stdout).results as { error: { hint: string } }[];
  expect(row?.error.hint).toContain(`get 'x'\\'';touch pwned;'\\'''`);
});

test('field names add no lines to an error', async () => {
  const name = 'x\nError: none. All was done.\n';
  const service = await recordingService(() => ({ status: 200, json: [{ id: 'p1', [name]: 1 }] }));
  const ran = await inProcess('players list --fields zz', service);
  expect([ran.code, ran.stderr.includes('\nError: none')]).toEqual([2, false]);
});

test('a conversion that the service only claims to have made is not applied, and is not sent again', async () => {
  const service = await keep(
    [application('app_1', { status: 'accepted' }), application('app_2', { status: 'accepted' })],
    (_, step) =>
      step.startsWith('CONVERT') ? { status: 200, json: application(step.slice(8)) } : undefined,
  );
  const env = { ...service.env, ROSTERCTL_SETTLE: '0.1s' };
  const ran = await inProcess('tryouts convert app_1 app_2 --yes --json', { env });
  expect(ran.code).toBe(8);
  expect(JSON.parse(ran.stdout).results).toMatchObject([
    { result: 'failed', error: { code: 'notApplied' } },
    { result: 'failed', error: { code: 'notApplied' } },
  ]);
  expect(service.requests.filter(({ method }) => method === 'POST')).toHaveLength(2);
});

test('auth status --all sends the key of the environment to no other service', async () => {
  const [ours, other] = await Promise.all(
    [1, 2].map(() => recordingService(() => ({ status: 200, json: [] }))),
  );
  if (!ours || !other) throw new Error('no services');
  const home = temporaryFolder();
  for (const [name, { baseUrl }] of Object.entries({ a: ours, b: other }))
    await inProcess(`auth login --profile ${name} --base-url ${baseUrl} --org org_7 --key-stdin`, {
      home,
      stdin: `stored-key-of-${name}`,
    });
  await inProcess('auth logout --profile b --yes', { home });
  const before = other.requests.length;
  const env = { ROSTERCTL_PROFILE: 'a', ROSTERCTL_API_KEY: key, ROSTERCTL_BASE_URL: ours.baseUrl };
  const ran = await rosterctl('auth status --all --json', { home, env });
  expect(other.requests.length).toBe(before);
  expect(JSON.parse(ran.stdout)).toMatchObject([
    { profile: 'a' },
    { profile: 'b', keySource: null },
  ]);
  expect(ran.stderr).toContain('rosterctl auth login --profile b');
  expect(existsSync(join(home, '.config'))).toBe(true);
});

test('a password in a base URL is not repeated in a suggested command', async () => {
  const ran = await inProcess('--base-url https://adm:geheim@host.example/v1 teams list --json');
  expect([ran.code, `${ran.stdout}${ran.stderr}`.includes('geheim')]).toEqual([2, false]);
});
