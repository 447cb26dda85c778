import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { editedNotes } from '../../../src/resources/notes.js';
import { inProcess } from '../../support/in-process.js';
import { errorOf, rosterctl, temporaryFolder } from '../../support/run.js';
import { organization } from '../../support/service.js';
import { application, cut, type Instead, keep, steps, written } from './service.js';

const forbidden = { status: 403, json: { error: 'forbidden' } };

async function update(
  words: string,
  fields: Record<string, unknown> = {},
  options: { instead?: Instead; stdin?: string; cwd?: string; command?: string } = {},
  run: typeof rosterctl = inProcess,
) {
  const service = await keep([application('app_1', fields)], options.instead);
  const ran = await run(`tryouts ${options.command ?? 'update'} app_1 ${words} --json`, {
    env: service.env,
    ...(options.stdin !== undefined && { stdin: options.stdin }),
    ...(options.cwd !== undefined && { cwd: options.cwd }),
  });
  return { service, ran };
}

test('an update says so if the service does not show the notes that were sent', async () => {
  const { internalNotes: _, ...shown } = application('app_1');
  const instead = () => ({ status: 200, json: shown });
  const { service, ran } = await update('--note Great', {}, { instead }, rosterctl);
  expect(ran.code).toBe(0);
  expect(written(service)).toEqual([{ organizationId: organization, internalNotes: 'Great' }]);
  expect(ran.stderr).toBe(
    'The service does not show internalNotes, so it is not known whether it was stored.\n',
  );
});

test.each([
  [{ convertedPlayerId: 'player_9' }, 'player_9'],
  [{ convertedPlayerId: 9 }, '9'],
  [{ convertedPlayer: { id: 'player_9', name: 'Ann' } }, 'player_9'],
])(
  'an accepted application with %j is a player already, of which a new status warns',
  async (fields, player) => {
    const { ran } = await update('--status rejected', { status: 'accepted', ...fields });
    expect([ran.code, ran.stderr]).toEqual([
      0,
      expect.stringContaining(`(app_1) is already a player: ${player}.\n`),
    ]);
  },
);

test('an answer that shows the old value proves no update if reading fails', async () => {
  let isSent = false;
  const instead: Instead = (request) => {
    if (request.method === 'GET') return isSent ? { status: 500 } : undefined;
    isSent = true;
    return { status: 200, json: application('app_1') };
  };
  const { ran } = await update('--status rejected', {}, { instead });
  expect([ran.code, errorOf(ran).code, ran.stdout]).toEqual([10, 'unknownOutcome', '']);
});

describe('what an update sends', () => {
  test.each([
    ['--status reviewing', {}, { status: 'reviewing' }],
    ["--note '-promoted'", {}, { internalNotes: '-promoted' }],
    ['--clear-note', { internalNotes: 'old' }, { internalNotes: null }],
    [
      '--status pending --note new --yes',
      { status: 'pending', internalNotes: 'old' },
      { internalNotes: 'new' },
    ],
    [
      '--status rejected --note new --yes',
      { internalNotes: 'old' },
      { status: 'rejected', internalNotes: 'new' },
    ],
  ])('%s', async (words, fields, body) => {
    const { service, ran } = await update(words, fields);
    expect(ran).toMatchObject({ code: 0, stderr: '' });
    expect(written(service)).toEqual([{ organizationId: organization, ...body }]);
    expect(steps(service)).toEqual(['GET app_1', 'PATCH app_1']);
    expect(JSON.parse(ran.stdout)).toEqual(service.kept.get('app_1'));
  });

  test.each([
    ['--status pending', {}],
    ['--note same', { internalNotes: 'same' }],
    ['--clear-note', {}],
    ['--status pending --clear-note', {}],
  ])('nothing for %s if the application has it already', async (words, fields) => {
    const { service, ran } = await update(words, fields);
    expect(ran.code).toBe(0);
    expect(steps(service)).toEqual(['GET app_1']);
    expect(JSON.parse(ran.stdout)).toEqual(service.kept.get('app_1'));
  });

  test.each([
    ['update', '--status reviewing --fields id,statsu'],
    ['update', '--status pending --fields statsu'],
    ['convert', '--yes --fields convertedPlayer.nmae'],
  ])('nothing for a field that no record has: %s %s', async (command, words) => {
    const { service, ran } = await update(words, {}, { command });
    expect([ran.code, ran.stdout, steps(service)]).toEqual([2, '', ['GET app_1']]);
    expect(errorOf(ran)).toMatchObject({
      code: 'usage',
      message: expect.stringMatching(/^Unknown/),
    });
  });

  test('the record in fields by their label, deep ones and one that it has only afterwards', async () => {
    const words = '--clear-note --fields Submitted,formResponses.age,internalNotes';
    const { ran } = await update(words, { internalNotes: 'x', formResponses: { age: 7 } });
    expect([ran.code, Object.keys(JSON.parse(ran.stdout))]).toEqual([
      0,
      ['submittedAt', 'formResponses.age', 'internalNotes'],
    ]);
  });

  test('nothing in a dry run, which shows old and new values', async () => {
    const { service, ran } = await update('--status accepted --note hi -n', { internalNotes: 'a' });
    expect(ran.code).toBe(0);
    expect(written(service)).toEqual([]);
    expect(JSON.parse(ran.stdout)).toEqual({
      schema: 1,
      dryRun: true,
      requests: [
        {
          method: 'PATCH',
          path: '/tryout-applications/app_1',
          basis: 'stated',
          body: { organizationId: organization, status: 'accepted', internalNotes: 'hi' },
        },
      ],
      changes: [
        { id: 'app_1', field: 'status', from: 'pending', to: 'accepted' },
        { id: 'app_1', field: 'internalNotes', from: 'a', to: 'hi' },
      ],
    });
  });

  test('the text of a file or of stdin without the final line end', async () => {
    const cwd = temporaryFolder();
    writeFileSync(join(cwd, 'note.txt'), 'two\nlines\n');
    const fromFile = await update('--note-file note.txt', {}, { cwd });
    expect(written(fromFile.service)).toMatchObject([{ internalNotes: 'two\nlines' }]);
    const fromStdin = await update('--note-file -', {}, { stdin: 'piped\n' });
    expect(written(fromStdin.service)).toMatchObject([{ internalNotes: 'piped' }]);
  });

  test('an appended line with a date, once', async () => {
    const { service, ran } = await update('--append-note quiet', { internalNotes: 'Strong aim' });
    expect(ran.code).toBe(0);
    const [body] = written(service) as { internalNotes: string }[];
    expect(body?.internalNotes).toMatch(/^Strong aim\n\d{4}-\d\d-\d\d: quiet$/);
    const again = await inProcess('tryouts update app_1 --append-note quiet', { env: service.env });
    expect(again.code).toBe(0);
    expect(written(service)).toHaveLength(1);
  });
});

test('notes that the service stored in its own form are not sent again', async () => {
  const stored = { internalNotes: 'Strong aim\nlate twice' };
  const cwd = temporaryFolder();
  writeFileSync(join(cwd, 'note.txt'), '\nStrong aim\r\nlate twice \r\n');
  for (const words of ['--note-file note.txt', "--note 'Strong aim\nlate twice '"]) {
    const { service, ran } = await update(words, stored, { cwd });
    expect([ran.code, written(service)]).toEqual([0, []]);
  }
});

test.each([[''], [null], [[]]])(
  'notes that are %j already are not cleared again',
  async (present) => {
    const { service, ran } = await update('--clear-note', { internalNotes: present });
    expect([ran.code, written(service)]).toEqual([0, []]);
    expect(ran.stderr).toContain('has no notes; nothing was sent.');
  },
);

test('a line is appended once, whatever the notes end with', () => {
  const line = { kind: 'append', text: 'hi', day: '2026-03-01' } as const;
  expect(editedNotes(line, null)).toBe('2026-03-01: hi');
  expect(editedNotes(line, '')).toBe('2026-03-01: hi');
  expect(editedNotes(line, 'a\n')).toBe('a\n2026-03-01: hi');
  expect(editedNotes(line, 'a\n2026-03-01: hi\n')).toBe('a\n2026-03-01: hi\n');
  expect(editedNotes(line, 'a\n2026-02-28: hi')).toBe('a\n2026-02-28: hi');
  expect(editedNotes(line, 'not 2026-03-01: hi')).toBe('not 2026-03-01: hi\n2026-03-01: hi');
  expect(editedNotes(line, '2026-03-01: hi\nb')).toBe('2026-03-01: hi\nb\n2026-03-01: hi');
  const once = { ...line, once: true } as const;
  expect(editedNotes(once, '2026-03-01: hi\nb')).toBe('2026-03-01: hi\nb');
  expect(editedNotes(once, '2026-02-28: hi\nb')).toBe('2026-02-28: hi\nb\n2026-03-01: hi');
});

/** Replaces the response to one step. */
const on =
  (step: string, reply: ReturnType<Instead>): Instead =>
  (_, asked) =>
    asked === step ? reply : undefined;

const unreadable = on('GET app_1', forbidden);

describe('notes that are not text', () => {
  const notes = { author: 'Ann', text: 'Strong aim' };
  const structured = { internalNotes: notes };

  test('get no line, because that would replace them', async () => {
    const { service, ran } = await update('--append-note hi', structured);
    expect(ran.code).toBe(2);
    expect(errorOf(ran)).toMatchObject({
      message: 'The notes of Applicant app_1 (app_1) are not text, so no line can be added.',
      hint: 'See them: rosterctl tryouts get app_1\nTo replace them: rosterctl tryouts update app_1 --note TEXT',
    });
    expect(written(service)).toEqual([]);
  });

  test('are replaced only with --yes, and their undo brings them back', async () => {
    const { service, ran } = await update('--note hi', structured);
    expect([ran.code, written(service)]).toEqual([2, []]);
    expect(errorOf(ran)['message']).toContain('has notes that --note would replace');
    const at = { env: service.env, home: temporaryFolder() };
    expect((await inProcess('tryouts update app_1 --note hi --yes', at)).code).toBe(0);
    expect((await inProcess('runs undo last', at)).code).toBe(0);
    expect(service.kept.get('app_1')?.internalNotes).toEqual(notes);
  });

  test('are said to be replaced in a preview, in a plan, and when they are brought back', async () => {
    const ids = ['app_1', 'app_2'];
    const service = await keep(ids.map((id) => application(id, structured)));
    const at = { env: service.env, home: temporaryFolder(), cwd: temporaryFolder() };
    const line = `tryouts update ${ids.join(' ')} --note hi --yes`;
    expect((await inProcess(`${line} --plan p.json`, at)).stderr).toContain('notes replaced: hi\n');
    const terminal = { ...at, env: { ...at.env, ROSTERCTL_FORCE_TTY: '80' } };
    const shown = (await inProcess('plan show p.json', terminal)).stdout;
    expect([shown.includes('Strong aim'), shown.includes('note added')]).toEqual([true, false]);
    await inProcess(line, at);
    const undone = await inProcess('runs undo last --yes', at);
    expect(undone.stderr).toMatch(/notes replaced: \{"author":"Ann","text":"Strong aim"\}/);
  });

  test('are removed, and a service that keeps them is noticed', async () => {
    const { service, ran } = await update('--clear-note', structured);
    expect([ran.code, service.kept.get('app_1')?.internalNotes]).toEqual([0, null]);
    const kept = { status: 200, json: application('app_1', structured) };
    const ignored = await update('--clear-note', structured, { instead: on('PATCH app_1', kept) });
    expect(errorOf(ignored.ran)).toMatchObject({ code: 'notApplied', exitCode: 1 });
  });
});

describe('an application that may not be read', () => {
  test.each(['update', 'set-status'])(
    'is not changed by %s, and the hint names another way',
    async (command) => {
      const flag = command === 'update' ? '--status' : '--to';
      const options = { instead: unreadable, command };
      const { service, ran } = await update(`${flag} reviewing`, {}, options);
      expect(ran.code).toBe(7);
      expect(written(service)).toEqual([]);
      expect(errorOf(ran)['hint']).toContain('rosterctl api /tryout-applications/app_1 -X PATCH');
      const rows = command === 'update' ? [] : [{ id: 'app_1', result: 'not_attempted' }];
      expect(ran.stdout === '' ? [] : JSON.parse(ran.stdout).results).toMatchObject(rows);
    },
  );

  test('keeps its notes, because nothing is appended to unknown text', async () => {
    const { service, ran } = await update('--append-note hi', {}, { instead: unreadable });
    expect(ran).toMatchObject({ code: 7, stdout: '' });
    expect(written(service)).toEqual([]);
  });

  test('because of the plan is not changed', async () => {
    const noPlan = { status: 403, json: { error: 'featureNotAvailable' } };
    const { service, ran } = await update('--status reviewing', {}, { instead: () => noPlan });
    expect(ran.code).toBe(7);
    expect(written(service)).toEqual([]);
    // rosterctl api would be refused, too.
    expect(errorOf(ran)['hint']).toContain('a plan that includes API access');
  });
});

describe('an error response', () => {
  test.each([
    [400, 'invalidRequest', 3],
    [401, 'unauthorized', 4],
    [403, 'forbidden', 7],
    [404, 'notFound', 5],
    [409, 'conflict', 6],
  ])('with %i ends with its exit code', async (status, error, code) => {
    const instead = on('PATCH app_1', { status, json: { error } });
    const { ran } = await update('--status reviewing', {}, { instead });
    expect(ran).toMatchObject({ code, stdout: '' });
    expect(errorOf(ran)).toMatchObject({
      code: error,
      status,
      method: 'PATCH',
      path: '/tryout-applications/{applicationId}',
      exitCode: code,
    });
  });

  test('with 409 explains the rule', async () => {
    const instead = on('PATCH app_1', { status: 409, json: { error: 'conflict' } });
    const { ran } = await update('--status reviewing', {}, { instead });
    expect(errorOf(ran)['message']).toContain('used on another application for the same form');
  });
});

describe.concurrent('an ambiguous response', () => {
  test('counts as done if a read shows the change', async () => {
    const instead: Instead = (request, step) =>
      step === 'PATCH app_1'
        ? (_, response) => {
            service.kept.set('app_1', application('app_1', { status: 'reviewing' }));
            cut(request, response);
          }
        : undefined;
    const service = await keep([application('app_1')], instead);
    const ran = await inProcess('tryouts update app_1 --status reviewing --json --retries 0', {
      env: service.env,
    });
    expect(ran.code).toBe(0);
    expect(JSON.parse(ran.stdout)).toMatchObject({ status: 'reviewing' });
    expect(written(service)).toHaveLength(1);
  });

  test('stays unknown if a read shows the old value', async () => {
    const instead = on('PATCH app_1', cut);
    const { ran } = await update('--status reviewing --retries 0', {}, { instead });
    expect(ran).toMatchObject({ code: 10, stdout: '' });
  });

  test('of 200 with another status does not count as done', async () => {
    const instead = on('PATCH app_1', { status: 200, json: application('app_1') });
    const { ran } = await update('--status reviewing', {}, { instead });
    expect(ran).toMatchObject({ code: 1, stdout: '' });
    expect(errorOf(ran)['message']).toContain('still shows the old status');
  });

  test('of 200 with the former notes is a failure, alone and in a run', async () => {
    const before = { internalNotes: 'theirs' };
    const instead: Instead = (_, step) =>
      step.startsWith('PATCH') ? { status: 200, json: application('app_1', before) } : undefined;
    const service = await keep([application('app_1', before)], instead);
    const alone = await inProcess('tryouts update app_1 --note ours --yes --json', {
      env: service.env,
    });
    expect(alone).toMatchObject({ code: 1, stderr: expect.stringContaining('the old notes') });
    const line = 'tryouts update --ids - --note ours --yes --json';
    const run = await inProcess(line, { env: service.env, stdin: 'app_1\n' });
    expect(run.code).toBe(8);
    expect(JSON.parse(run.stdout).results).toMatchObject([
      { result: 'failed', error: { code: 'notApplied' } },
    ]);
  });

  test('of 200 with notes as the service normalizes them counts as done', async () => {
    const instead: Instead = (_, step) => {
      if (step !== 'PATCH app_1') return undefined;
      service.kept.set('app_1', application('app_1', { internalNotes: 'ours' }));
      return { status: 200, json: service.kept.get('app_1') };
    };
    const service = await keep([application('app_1', { internalNotes: 'theirs' })], instead);
    const line = 'tryouts update --ids - --note "ours " --yes --json';
    const run = await inProcess(line, { env: service.env, stdin: 'app_1\n' });
    expect([run.code, JSON.parse(run.stdout).summary]).toMatchObject([0, { changed: 1 }]);
  });

  test.each([
    ['alone', 'tryouts update app_1 --status reviewing --json', { status: 'reviewing' }],
    ['in a run', 'tryouts update --ids - --status reviewing --yes --json', {}],
  ])('of 202 without a record, %s, counts as done once it takes effect', async (_, line, seen) => {
    const instead: Instead = (_request, step) => {
      if (step !== 'PATCH app_1') return undefined;
      setTimeout(
        () => service.kept.set('app_1', application('app_1', { status: 'reviewing' })),
        1_500,
      );
      return { status: 202, json: {} };
    };
    const service = await keep([application('app_1')], instead);
    const env = { ...service.env, ROSTERCTL_SETTLE: '10s' };
    const ran = await inProcess(line, { env, stdin: 'app_1\n' });
    expect([ran.code, JSON.parse(ran.stdout)]).toMatchObject([0, seen]);
    expect(written(service)).toHaveLength(1);
  });

  test('of 200 with the new status and the former notes reports which of them was set', async () => {
    const before = { internalNotes: 'theirs' };
    const instead: Instead = (_, step) => {
      if (step !== 'PATCH app_1') return undefined;
      service.kept.set('app_1', application('app_1', { ...before, status: 'rejected' }));
      return { status: 200, json: service.kept.get('app_1') };
    };
    const service = await keep([application('app_1', before)], instead);
    const line = 'tryouts update --ids - --status rejected --note mine --yes --json';
    const run = await inProcess(line, { env: service.env, stdin: 'app_1\n' });
    expect([run.code, JSON.parse(run.stdout).results[0].result]).toEqual([8, 'failed']);
    expect(run.stdout).toContain('still shows the old notes. The status was set.');
  });

  test('of 204 is completed by reading', async () => {
    const instead: Instead = (_, step) => {
      if (step !== 'PATCH app_1') return undefined;
      service.kept.set('app_1', application('app_1', { status: 'reviewing' }));
      return { status: 204 };
    };
    const service = await keep([application('app_1')], instead);
    const ran = await inProcess('tryouts update app_1 --status reviewing --json', {
      env: service.env,
    });
    expect(ran.code).toBe(0);
    expect(JSON.parse(ran.stdout)).toMatchObject({ id: 'app_1', status: 'reviewing' });
  });
});

describe('a mistake is rejected before any request', () => {
  test.each([
    ['update app_1', '--status'],
    ['update', 'Nothing to change'],
    ['update --status accepted', 'Which applications? Give ids'],
    ['update app_1 accepted', 'Did you mean: --status accepted'],
    ['update app_1 accepted --clear-note', 'Did you mean: --status accepted'],
    ['update app_1 --status acepted', 'accepted'],
    ['update app_1 --note ""', '--clear-note'],
    ['update app_1 --note x --clear-note', 'together'],
    ['update app_1 --append-note " "', 'empty'],
    ['update app_1 --note-file none.txt', 'none.txt'],
    ['update app_1 --note-file -', 'holds no text'],
    [`update ${organization} --status accepted`, "organization's id"],
    ['update .. --status accepted', '".." is not an id'],
    ['update app_1 app_1 --status accepted --yes', 'twice'],
    ['set-status app_1', '--to'],
    ['set-status --to accepted', 'ids'],
    ['set-status app_1 accepted', 'To set it: --to accepted'],
    ['set-status accepted app_1 --to accepted', 'To set it: --to accepted'],
    [`set-status ${organization} --to accepted`, "organization's id"],
    ['set-status app_1 --to done', 'one of'],
    ['convert', 'ids'],
    [`convert ${organization}`, "organization's id"],
    ['convert app_1 -F name', 'key=value'],
  ])('tryouts %s', async (words, sentence) => {
    const service = await keep([application('app_1')]);
    const ran = await inProcess(`tryouts ${words} --json`, { env: service.env });
    expect(ran).toMatchObject({ code: 2, stdout: '' });
    expect(errorOf(ran)).toMatchObject({ exitCode: 2 });
    expect(errorOf(ran)['message'] + String(errorOf(ran)['hint'])).toContain(sentence);
    expect(service.requests).toEqual([]);
  });
});

const three = () => [
  application('app_1'),
  application('app_2', { status: 'rejected' }),
  application('app_3', { status: 'reviewing' }),
];

describe('several ids', () => {
  test('print a result each, and set-status does so for one id too', async () => {
    const service = await keep(three());
    const ran = await rosterctl('tryouts set-status app_1 app_2 app_3 --to rejected --yes --json', {
      env: service.env,
    });
    expect(ran.code).toBe(0);
    expect(JSON.parse(ran.stdout)).toMatchObject({
      schema: 1,
      action: 'tryouts.set-status',
      organization,
      dryRun: false,
      summary: { total: 3, changed: 2, unchanged: 1, failed: 0 },
      results: [
        {
          row: 1,
          id: 'app_1',
          result: 'changed',
          before: { status: 'pending' },
          after: { status: 'rejected' },
        },
        { row: 2, id: 'app_2', result: 'unchanged' },
        { row: 3, id: 'app_3', result: 'changed' },
      ],
    });
    expect(ran.stderr).toContain('1 pending → rejected');
    const one = await inProcess('tryouts set-status app_1 --to pending --json', {
      env: service.env,
    });
    expect(one.code).toBe(0);
    expect(JSON.parse(one.stdout)).toMatchObject({ summary: { total: 1, changed: 1 } });
  });

  test('of which one fails exit 8, with the others done', async () => {
    const service = await keep(three());
    const ran = await inProcess('tryouts set-status app_1 nobody app_3 --to accepted -y --json', {
      env: service.env,
    });
    expect(ran.code).toBe(8);
    expect(JSON.parse(ran.stdout)).toMatchObject({
      summary: { total: 3, changed: 2, failed: 1 },
      results: [{}, { id: 'nobody', result: 'failed', error: { status: 404 } }, {}],
    });
  });

  test('without --yes and without a terminal send nothing', async () => {
    const service = await keep(three());
    const ran = await inProcess('tryouts update app_1 app_3 --status rejected --json', {
      env: service.env,
    });
    expect(ran).toMatchObject({ code: 2, stdout: '' });
    expect(written(service)).toEqual([]);
  });

  test('set a note from stdin on each', async () => {
    const service = await keep(three());
    const ran = await rosterctl('tryouts update app_1 app_2 --note-file - --yes --json', {
      env: service.env,
      stdin: 'same for both',
    });
    expect(ran.code).toBe(0);
    expect(written(service)).toMatchObject([
      { internalNotes: 'same for both' },
      { internalNotes: 'same for both' },
    ]);
  });
});
