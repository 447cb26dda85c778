import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { application, keep } from '../../commands/tryouts/service.js';
import { inProcess } from '../../support/in-process.js';
import { errorOf, rosterctl, temporaryFolder } from '../../support/run.js';
import { key, recordingService } from '../../support/service.js';

const refusing = (json: unknown, status = 400) => recordingService(() => ({ status, json }));

test('a refused create shows what happened, why and the next command', async () => {
  const { env } = await refusing({
    error: 'invalidRequest',
    errors: [
      { field: 'email', message: 'taken' },
      { field: 'name', message: 'Required' },
    ],
  });
  const ran = await rosterctl('players create --name x', { env });
  expect([ran.code, ran.stderr.split('\n')]).toEqual([
    3,
    [
      'The service rejected the request: 400 (invalidRequest).',
      'The service says:',
      '  email: taken',
      '  name: Required',
      'See: rosterctl players create --help',
      '',
    ],
  ]);
});

test('-v and ROSTERCTL_VERBOSE show all that the service says', async () => {
  const errors = Array.from({ length: 15 }, (_, index) => `error ${index}`);
  const { env } = await refusing({ errors });
  const short = await inProcess('players create --name x', { env });
  expect(short.stderr).toContain('  error 9\n  … 5 more (-v shows all)\nSee:');
  for (const more of [['-v', {}] as const, ['', { ROSTERCTL_VERBOSE: '1' }] as const]) {
    const long = await inProcess(`players create --name x ${more[0]}`, {
      env: { ...env, ...more[1] },
    });
    expect(long.stderr).toContain('  error 14\nSee:');
  }
});

test('a write whose outcome a refusal leaves unknown shows what the service said', async () => {
  const body = { error: 'boom', message: 'Half done' };
  const { env } = await refusing(body, 500);
  const ran = await inProcess('players create --name x --retries 0', { env });
  expect(ran.code).toBe(10);
  expect(ran.stderr).toContain('may have taken effect.\nThe service says: Half done\n');
  const json = await inProcess('players create --name y --retries 0 --json', { env });
  expect(errorOf(json)).toMatchObject({ code: 'unknownOutcome', service: body });
});

test('a change without an answer names the record that it may have changed', async () => {
  const service = await keep([application('app_1')], (_, step) =>
    step.startsWith('PATCH') ? { status: 502 } : undefined,
  );
  const env = { ...service.env, ROSTERCTL_SETTLE: '0.1s', ROSTERCTL_RETRIES: '0' };
  const ran = await inProcess('tryouts update app_1 --status rejected', { env });
  expect(ran.code).toBe(10);
  expect(ran.stderr).toContain(
    'PATCH /tryout-applications/app_1 failed with 502 but may have taken effect.',
  );
});

test('a 404 of a list does not send the reader to the same list', async () => {
  const { env } = await refusing({ error: 'notFound' }, 404);
  const ran = await rosterctl('players list', { env });
  expect([ran.code, ran.stderr]).toEqual([
    5,
    'GET /players/{organizationId} was not found (notFound).\nAre the base URL and the organization id right?\nSee: rosterctl auth status\n',
  ]);
});

test('a 413 speaks of a file only where one is sent', async () => {
  const { env } = await refusing({ error: 'tooLarge' }, 413);
  const player = await inProcess('players create --name x', { env });
  expect(player.stderr).toContain('The request is too large for the service (tooLarge).');
  const upload = await inProcess('uploads create --content-type text/plain --size-bytes 9', {
    env,
  });
  expect(upload.stderr).toContain("The file is too large for the organization's plan (tooLarge).");
});

describe('a 400 on a list or a get names the organization as a possible cause', () => {
  const hint = 'Is the organization id right?\nSee: rosterctl auth status';

  test.each([
    ['teams list', hint],
    ['players list', hint],
    ['docs list', hint],
    ['tryouts list', hint],
    ['teams get team_1', hint],
    ['players get player_1', hint],
    ['docs get doc_1', hint],
    ['tryouts get app_1', hint],
    [
      'api tryout-applications/app_1',
      "Is the organization id right? If it is missing, add: --param 'organizationId={org}'\nSee: rosterctl auth status",
    ],
    ['players create --name x', 'See: rosterctl players create --help'],
  ])('%s', async (line, expected) => {
    for (const body of [{ error: 'invalidRequest' }, {}, 'nonsense']) {
      const { env } = await refusing(body);
      const ran = await inProcess(`${line} --json`, { env, home: temporaryFolder() });
      expect([ran.code, errorOf(ran)['hint']]).toEqual([3, expected]);
    }
  });

  test('unless the service names another', async () => {
    const { env } = await refusing({ error: 'badCursor' });
    const ran = await inProcess('teams list --json', { env });
    expect(errorOf(ran)['hint']).toBe('See: rosterctl teams list --help');
  });

  test('with the organization that was typed', async () => {
    const { env } = await refusing({});
    const ran = await inProcess('teams list --org org_8', { env });
    expect(ran.stderr).toContain('rosterctl --org org_8 auth status');
  });
});

/** Two applications, of which the second is refused with this body. */
const start = (json: unknown) =>
  keep([application('app_1'), application('app_2')], ({ method }, step) =>
    method === 'PATCH' && step.endsWith('app_2') ? { status: 400, json } : undefined,
  );

/** What all journals of this user hold. */
const journals = (home: string) =>
  readdirSync(home, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name === 'journal.jsonl')
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'))
    .join('\n');

describe('a bulk report', () => {
  const note = 'Grandmother is ill';
  const body = {
    error: 'invalidRequest',
    message: `Bad request with the key ${key}`,
    errors: { status: ['not now', 'not so'] },
  };
  const line = 'tryouts set-status app_1 app_2 --to accepted --yes';

  test('holds what the service said in the row, redacted, and its journal only the message', async () => {
    const { env } = await start(body);
    const home = temporaryFolder();
    const ran = await rosterctl(`${line} --json`, { env, home });
    expect([ran.code, ran.stdout.includes('key-canary')]).toEqual([8, false]);
    const report = JSON.parse(ran.stdout) as { run: string; results: Row[] };
    expect(report.results[1]?.error).toMatchObject({
      code: 'invalidRequest',
      message:
        'The service rejected the request: 400 (invalidRequest). The service says: Bad request with the key [redacted]; status: not now; status: not so',
      service: { ...body, message: 'Bad request with the key [redacted]' },
    });
    const kept = journals(home);
    expect(kept).toContain('status: not now');
    expect(kept).not.toMatch(/"service":\{|key-canary/);
    const shown = await rosterctl(`runs show ${report.run} --json`, { env, home });
    const again = (JSON.parse(shown.stdout) as { results: Row[] }).results[1]?.error;
    const { service: _, ...known } = report.results[1]?.error ?? {};
    expect(again).toEqual(known);
  });

  test('streams it in ndjson, and has one line for the row otherwise', async () => {
    const { env } = await start(body);
    const streamed = await inProcess(`${line} -o ndjson`, { env });
    const rows = streamed.stdout.trimEnd().split('\n');
    expect(rows.map((row) => (JSON.parse(row) as Row).error?.['service'])).toContainEqual({
      ...body,
      message: 'Bad request with the key [redacted]',
    });
    const { env: other } = await start(body);
    const piped = await inProcess(line, { env: other });
    expect(piped.stdout.trimEnd().split('\n')).toHaveLength(3);
  });

  test('holds a bounded part of a long body', async () => {
    const { env } = await start({ error: 'x', message: 'y'.repeat(100_000) });
    const ran = await inProcess(`${line} --json`, { env });
    expect(ran.stdout).toContain('"service":"{');
    expect(ran.stdout.length).toBeLessThan(7_000);
  });

  test.each([
    ['the note that was sent', `${line} --note '${note}'`, { message: `Cannot store: ${note}` }],
    ['the note in a code', `${line} --note '${note}'`, { error: `Cannot store: ${note}` }],
    ['the note of a record', line, { errors: { internalNotes: [`is ${note}`] } }],
    ['a record with its note', line, { error: 'x', current: { id: 'a', internalNotes: note } }],
  ])('never has %s in its journal, though the service repeats it', async (_, words, said) => {
    const { env } = await start(said);
    const home = temporaryFolder();
    const ran = await inProcess(`${words} --json`, { env, home });
    expect([ran.code, ran.stdout.includes(note)]).toEqual([8, true]);
    const kept = journals(home);
    expect(kept).toContain('The service rejected the request');
    expect(kept).not.toContain(note);
  });
});

interface Row {
  readonly error?: Readonly<Record<string, unknown>>;
}
