import { appendFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { sealLine } from '../../src/files/synced-lines.js';
import { converse } from '../support/converse.js';
import { converseInside } from '../support/converse-inside.js';
import { inProcess } from '../support/in-process.js';
import { rosterctl, temporaryFolder } from '../support/run.js';
import { recordingService } from '../support/service.js';
import { application, keep, steps } from './tryouts/service.js';

const terminal = { NO_COLOR: '1', LANG: 'C.UTF-8', CI: '1', ROSTERCTL_PAGER: 'cat' };

/** What a terminal of 80 columns shows, line by line. */
async function onTerminal(
  home: string,
  line: string,
  env: Readonly<Record<string, string>>,
  talk = converseInside,
) {
  const { shown, code } = await talk(home, line.split(' '), [], { ...env, ...terminal }, 80);
  return { code, lines: shown.trimEnd().split(/\r*\n/) };
}

const ended = (home: string) => join(home, '.local/state/rosterctl/runs/ended');

describe('get at a terminal', () => {
  test('draws a card, with the other application of the person from one list', async () => {
    const service = await keep([
      application('app_1', { email: 'kite@example.com' }),
      application('app_2', { email: 'Kite@Example.com', status: 'rejected' }),
    ]);
    const { code, lines } = await onTerminal(
      temporaryFolder(),
      'tryouts get app_1',
      service.env,
      converse,
    );
    expect(code).toBe(0);
    expect(lines[0]).toMatch(/^Applicant app_1 {20,}pending · \d+ (d|mo|y) ago$/);
    expect(lines.at(-1)).toMatch(/^Other {2}app_2 {2}rejected {2}\d+ .* ago {2}\(same e-mail\)$/);
    expect(steps(service)).toEqual(['GET app_1', 'LIST']);
  });

  test.each([
    ['tryouts get app_1', 'id\tapp_1\n'],
    ['tryouts get app_1 --json', '{"id":"app_1",'],
    ['tryouts get app_1 -o csv', 'id,organizationId,'],
  ])('but a pipe gets what it always got, by one request: %s', async (line, start) => {
    const service = await keep([application('app_1'), application('app_2')]);
    const ran = await rosterctl(line, { env: service.env });
    expect([ran.code, ran.stdout.slice(0, start.length)]).toEqual([0, start]);
    expect(steps(service)).toEqual(['GET app_1']);
  });

  test('with --json or --fields prints no card, and a missing record is an error', async () => {
    const service = await keep([application('app_1')]);
    const home = temporaryFolder();
    const json = await onTerminal(home, 'tryouts get app_1 --json', service.env);
    expect(json.lines.slice(0, 2)).toEqual(['{', '  "id": "app_1",']);
    const fields = await onTerminal(home, 'tryouts get app_1 --fields id,status', service.env);
    expect(fields.lines).toEqual(['id      app_1', 'status  pending']);
    expect((await onTerminal(home, 'tryouts get app_9', service.env)).code).toBe(5);
    expect(steps(service)).not.toContain('LIST');
  });

  test('of several, none of which exists, does not call the list empty', async () => {
    const service = await keep([application('app_1')]);
    const env = { ...service.env, ROSTERCTL_FORCE_TTY: '80' };
    const ran = await inProcess('tryouts get app_8 app_9', { env });
    expect(ran).toMatchObject({ code: 5, stdout: '' });
    expect(ran.stderr).toBe(
      'The application app_8 was not found.\nThe application app_9 was not found.\n',
    );
  });

  test('does not wait for a list that never ends', async () => {
    const service = await keep([application('app_1')], (_, step) =>
      step === 'LIST' ? (__, response) => void response.write('{"applications":[') : undefined,
    );
    const { code, lines } = await onTerminal(temporaryFolder(), 'tryouts get app_1', service.env);
    expect([code, lines.at(-1)]).toEqual([
      0,
      'Other applications were not looked for: the list takes too long.',
    ]);
  });
});

describe('what this machine did', () => {
  test('stands on the card with the id of its run, notes without their text', async () => {
    const service = await keep([application('app_1'), application('app_2')]);
    const home = temporaryFolder();
    const env = { ...service.env, HOME: home };
    await inProcess('tryouts set-status app_1 app_2 --to reviewing --yes', { env });
    await inProcess('tryouts update app_1 --status accepted --note secret', { env });
    const [first = '', second = ''] = readdirSync(ended(home)).toSorted();
    const { lines } = await onTerminal(home, 'tryouts get app_1', service.env);
    const [later, earlier] = lines.slice(-2);
    expect(later).toContain('reviewing → accepted');
    expect(later).toMatch(
      new RegExp(`^Here +\\d+ \\w+ \\d\\d:\\d\\d .*note added .*run ${second.slice(-6)}\\)$`),
    );
    expect(earlier).toMatch(new RegExp(`pending → reviewing +\\(run ${first.slice(-6)}\\)$`));
    expect(readFileSync(join(ended(home), second, 'undo.jsonl'), 'utf8')).toContain('secret');
    expect([later, earlier].join('\n')).not.toContain('secret');
  });

  test('is listed by its time, not by that of its run, which may have been resumed later', async () => {
    let isOver = false;
    const service = await keep([application('app_1'), application('app_2')], (_, step) =>
      step === 'PATCH app_2' && !isOver
        ? { status: 429, json: { error: 'slowDown' }, headers: { 'retry-after': '900' } }
        : undefined,
    );
    const home = temporaryFolder();
    const env = { ...service.env, HOME: home };
    const line = 'tryouts set-status app_1 app_2 --to reviewing --yes';
    expect((await inProcess(line, { env })).code).toBe(9);
    isOver = true;
    expect((await inProcess('tryouts update app_2 --note later', { env })).code).toBe(0);
    expect((await inProcess('runs resume last --yes', { env })).code).toBe(0);
    const { lines } = await onTerminal(home, 'tryouts get app_2', service.env);
    expect(lines.slice(-2).map((each) => /note|status|→/.exec(each)?.[0])).toEqual(['→', 'note']);
  });

  test('to a new player is that it made one', async () => {
    const home = temporaryFolder();
    const env = { HOME: home };
    const made = await inProcess('-p sandbox players create --name Mira --json', { env });
    const { id } = JSON.parse(made.stdout) as { id: string };
    const { lines } = await onTerminal(home, `-p sandbox players get ${id}`, {});
    expect(lines.at(-1)).toMatch(/^Here .* created {2}\(run [0-9a-f]{6}\)$/);
  });

  test('to the document of a replacement is that it uploaded one', async () => {
    const home = temporaryFolder();
    const env = { HOME: home };
    writeFileSync(join(home, 'new.pdf'), '%PDF-1.7 new');
    const line = `-p sandbox docs replace doc_0001 ${join(home, 'new.pdf')} --yes --json`;
    const { id } = JSON.parse((await inProcess(line, { env })).stdout) as { id: string };
    const { lines } = await onTerminal(home, `-p sandbox docs get ${id}`, {});
    expect(lines.at(-1)).toMatch(/^Here .* uploaded {2}\(run [0-9a-f]{6}\)$/);
  });

  test('elsewhere, in damaged runs and before the newest 200 is left out', async () => {
    const service = await recordingService(() => ({ status: 200, json: { id: 'player_1' } }));
    const home = temporaryFolder();
    const write = (at: number, organization: string, tail = '') => {
      const time = `20260301T${String(101500000 + at)}`;
      const folder = join(ended(home), `${time}-1-${String(at).padStart(6, '0')}`);
      mkdirSync(folder, { recursive: true });
      const head = { resource: 'players', organization, service: service.baseUrl, run: folder };
      const job = { seq: 1, kind: 'job', t: 0, action: 'players.update', ...head };
      const values = { before: { role: 'IGL' }, after: { role: `role ${at}` } };
      const row = { seq: 2, kind: 'result', t: 0, row: 1, id: 'player_1', result: 'changed' };
      const path = join(folder, 'journal.jsonl');
      writeFileSync(path, sealLine(job) + tail);
      appendFileSync(path, sealLine({ ...row, ...values }));
    };
    write(1, 'org_7');
    for (let at = 2; at <= 200; at++)
      write(at, at < 190 ? 'org_other' : 'org_7', at > 198 ? '{torn\n' : '');
    write(201, 'org_7');
    const { lines } = await onTerminal(home, 'players get player_1', service.env);
    const here = lines.slice(lines.findIndex((line) => line.startsWith('Here')));
    expect(here.map((line) => /role \d+|and .*/.exec(line)?.[0])).toEqual([
      'role 201',
      'role 198',
      'role 197',
      'role 196',
      'role 195',
      'and 5 earlier',
    ]);
  });
});
