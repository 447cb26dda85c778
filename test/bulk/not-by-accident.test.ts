import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { confirmChanges } from '../../src/bulk/confirm.js';
import { application, cut, keep, written } from '../commands/tryouts/service.js';
import { converse } from '../support/converse.js';
import { converseInside } from '../support/converse-inside.js';
import { inProcess } from '../support/in-process.js';
import { errorOf, rosterctl, temporaryFolder } from '../support/run.js';
import { type Reply, recordingService } from '../support/service.js';
import { fast, ids, report, several, userOf } from './user.js';

// Nothing is destroyed by accident: a loss has to be confirmed, and is reported when it happens.

type Fields = Record<string, unknown>;

/** Players that DELETE removes, and PUT replaces with the fields of its body named in `keeps`. */
async function players(
  all: readonly Fields[],
  { removes = true, keeps }: { removes?: boolean; keeps?: readonly string[] } = {},
) {
  const busy = new Set<string>();
  const kept = new Map(all.map((each) => [String(each['id']), each]));
  const service = await recordingService(({ method, url, body }): Reply => {
    const id = url.split('?')[0]?.split('/').at(-1) ?? '';
    const found = kept.get(id);
    if (method === 'GET' && !found && /^(players|org_7)$/.test(id))
      return { status: 200, json: { players: [...kept.values()] } };
    if (!found) return { status: 404, json: { error: 'notFound' } };
    if (method === 'GET') return { status: 200, json: found };
    if (method === 'DELETE') {
      if (busy.has(id)) return { status: 409, json: { error: 'busy' } };
      if (removes) kept.delete(id);
      return { status: 200, json: { success: true } };
    }
    const { organizationId: _, ...sent } = JSON.parse(body.toString()) as Fields;
    const fields = Object.entries(sent).filter(([name]) => keeps?.includes(name) ?? true);
    kept.set(id, { id, ...Object.fromEntries(fields) });
    return { status: 200, json: kept.get(id) };
  });
  const deletes = () => service.requests.filter(({ method }) => method === 'DELETE').length;
  return { ...service, kept, busy, deletes };
}

const three = ['p1', 'p2', 'p3'].map((id) => ({ id, name: `Ann ${id}` }));

describe('a delete of several', () => {
  test.each([
    ['players delete --all', 2],
    ['players delete --all --yes', 2],
    ['players delete --all --expect 3', 2],
    ['players delete p1 p2 p3 --yes', 2],
    ['players delete --all --yes --max-changes 500', 2],
    ['players delete --all --yes --expect 2', 11],
    ['players delete --all --yes --expect 3 --max-changes 2', 11],
  ])('%s is refused with %i and sends nothing', async (line, code) => {
    const service = await players(three);
    const ran = await userOf(service, inProcess).run(`${line} --json`);
    expect([ran.code, ran.stdout, service.deletes()]).toEqual([code, '', 0]);
  });

  test('that failed for some names the command for those, which works as it stands', async () => {
    const service = await players(three);
    for (const id of ['p1', 'p2']) service.busy.add(id);
    const user = userOf(service, inProcess);
    const ran = await user.run('players delete p1 p2 p3 --yes --expect 3 --json');
    const { hint } = errorOf(ran);
    expect(hint).toBe(`rosterctl runs retry ${report(ran).run} --yes --expect 2`);
    expect(errorOf(await user.run('runs resume last --json')).hint).toBe(hint);
    service.busy.clear();
    expect((await user.run(String(hint).slice('rosterctl '.length))).code).toBe(0);
    expect(service.kept.size).toBe(0);
    // They were retried once, and no second time.
    const again = await user.run(`runs resume ${report(ran).run} --json`);
    expect([again.code, errorOf(again).hint]).toEqual([8, undefined]);
  });

  test('needs --yes --expect 3, and of one only --yes', async () => {
    const service = await players(three);
    const user = userOf(service);
    expect(await user.run('players delete p3 --yes')).toMatchObject({ code: 0 });
    expect(await user.run('players delete --all --yes --expect 2')).toMatchObject({ code: 0 });
    expect(service.kept.size).toBe(0);
  });

  test('is done by the line that its refusal suggests, also where a row is skipped', async () => {
    const service = await players(three);
    const user = userOf(service, inProcess);
    const line = "players delete p1 p2 p3 --if 'name!=Ann p3' --json";
    const refused = errorOf(await user.run(line));
    expect(refused['message']).toContain('2 players would be deleted');
    expect(refused['hint']).toContain('3 rows are selected.');
    const [suggested] = /--yes --expect \d+/.exec(String(refused['hint'])) ?? [];
    expect(await user.run(`${line} ${suggested}`)).toMatchObject({ code: 0 });
    expect([...service.kept.keys()]).toEqual(['p3']);
  });

  test.each(['p1', 'p1 p2'])(
    'of %s whose report was lost is reported by the same line, and is over then',
    async (named) => {
      const service = await players(three);
      const count = named.split(' ').length;
      const line = `players delete ${named} --yes --expect ${count}`;
      const at = { home: temporaryFolder(), env: { ...service.env, ...fast } };
      const lost = await rosterctl(line, { ...at, through: 'exec "$@" > /dev/full' });
      expect(lost.code).toBe(1);
      const again = await rosterctl(`${line} --results again.csv`, at);
      expect([again.code, service.deletes()]).toEqual([0, count]);
      expect(again.stderr).toContain('already did this; here is its result.');
      expect(readFileSync(join(at.home, 'again.csv'), 'utf8')).toContain('\np1,changed,');
      expect((await inProcess(line, at)).code).toBe(count === 1 ? 5 : 8);
    },
  );

  test.each([
    ['3', 0, 0],
    ['y', 130, 3],
    ['2', 130, 3],
  ])('at a terminal where %s is typed exits %i', async (typed, code, left) => {
    const service = await players(three);
    const line = ['players', 'delete', '--all'];
    const question = /Delete 3 players\? Type the number to confirm:/;
    const talk = typed === '3' ? converse : converseInside;
    const ran = await talk(temporaryFolder(), line, [[question, `${typed}\r`]], service.env);
    expect([ran.code, service.kept.size]).toEqual([code, left]);
  });
});

const withNotes = () => keep([application('app_1', { internalNotes: 'Old words' })]);

describe('--note over notes', () => {
  const line = "tryouts update app_1 --note 'New words'";

  test('needs --yes without a terminal, and suggests --append-note', async () => {
    const service = await withNotes();
    const user = userOf(service);
    const refused = await user.run(`${line} --json`);
    expect([refused.code, written(service)]).toEqual([2, []]);
    expect(errorOf(refused)['message']).toContain('has notes that --note would replace');
    expect(errorOf(refused)['hint']).toContain('--append-note');
    expect(await user.run(`${line} --yes`)).toMatchObject({ code: 0 });
    expect(service.kept.get('app_1')?.internalNotes).toBe('New words');
  });

  test.each([
    ['replace', '\u001b[B\r', 0, /^New words$/],
    ['append', '\r', 0, /^Old words\n\d{4}-\d\d-\d\d: New words$/],
    ['cancel', '\u001b[B\u001b[B\r', 130, /^Old words$/],
  ])('at a terminal: %s', async (name, typed, code, notes) => {
    const service = await withNotes();
    const words = ['tryouts', 'update', 'app_1', '--note', 'New words'];
    const talk = name === 'replace' ? converse : converseInside;
    const { shown, ...ran } = await talk(
      temporaryFolder(),
      words,
      [[/Replace or append\?[^]*cancel/, typed]],
      service.env,
    );
    expect(shown).toMatch(/- Old words\r\n.*\+ New words/);
    expect(ran.code).toBe(code);
    expect(service.kept.get('app_1')?.internalNotes).toMatch(notes);
  });

  test('that are empty or the same does not ask', async () => {
    for (const internalNotes of ['', ' ', null, 'New words']) {
      const service = await keep([application('app_1', { internalNotes })]);
      expect(await userOf(service, inProcess).run(line)).toMatchObject({ code: 0 });
    }
  });
});

test.each([
  ['update p1 --name Paper Lions', "--name 'Paper Lions'"],
  ['update p1 -F role=In game leader p2', "--set 'role=In game leader'"],
  ['update p1 nobody --name Paper', undefined],
])('players %s: words that belong to a value are told from ids', async (line, meant) => {
  const { env } = await players([{ id: 'p1' }, { id: 'p2' }]);
  const ran = await inProcess(`players ${line}`, { env, home: temporaryFolder() });
  expect([ran.code, ran.stderr.match(/will not be changed:/g)]).toMatchObject([2, { length: 1 }]);
  expect(/^ {2}Did you mean: (.*)$/m.exec(ran.stderr)?.[1]).toBe(meant);
});

test.each([['--yes'], ['--dry-run']])(
  'at a terminal, %s suggests quotes for words that belong to a value',
  async (flag) => {
    const { env } = await players([{ id: 'p1' }]);
    const line = ['players', 'update', 'p1', '--name', 'Paper', 'Lions', flag];
    const { shown } = await converseInside(temporaryFolder(), line, [], env);
    expect(shown.match(/Did you mean: --name 'Paper Lions'/g)).toHaveLength(1);
  },
);

test('a delete answered with 200 that leaves the record is not applied: exit 1 for one, 8 for several', async () => {
  const service = await players(three, { removes: false });
  const user = userOf(service, inProcess);
  const one = await user.run('players delete p1 --yes --json');
  expect([one.code, one.stdout, errorOf(one)['code']]).toEqual([1, '', 'notApplied']);
  expect(errorOf(one)['message']).toContain('it is still there');
  const many = await user.run('players delete p1 p2 --yes --expect 2 --json');
  expect(many.code).toBe(8);
  const row = { result: 'failed', error: { code: 'notApplied' } };
  expect(report(many).results).toMatchObject([row, row]);
});

test('fields that vanish because the route replaces the record are named on stderr and in the report', async () => {
  const all = ['p1', 'p2'].map((id) => ({ id, name: `Ann ${id}`, role: 'Sub', joinedBy: 'form' }));
  const service = await players(all, { keeps: ['name', 'role'] });
  const user = userOf(service, inProcess);
  await user.run("config set endpoints.players.update 'PUT /players/{id}'");
  await user.run('config set endpoints.players.update.semantics replace');
  const one = await user.run('players update p1 -F role=IGL --json');
  expect(one.code).toBe(0);
  expect(one.stderr).toContain('p1: the service no longer shows joinedBy');
  const many = await user.run('players update p2 --ids - -F role=IGL --yes --json', '');
  expect(many.code).toBe(2);
  const listed = await user.run('players update --ids - -F role=IGL --yes --json', 'p2\n');
  expect(listed.code).toBe(0);
  expect(report(listed).results).toMatchObject([{ result: 'changed', vanished: ['joinedBy'] }]);
  expect(listed.stderr).toContain('p2: the service no longer shows joinedBy');
});

test.each([
  ['a setting', ["config set endpoints.players.update 'PUT /players/{id}'"], ''],
  [
    'a setting that calls it a merge',
    [
      "config set endpoints.players.update 'PUT /players/{id}'",
      'config set endpoints.players.update.semantics merge',
    ],
    '',
  ],
  ['--route', [], "--route 'PUT /players/{id}'"],
])(
  'a PUT by %s that replaces the record names the fields that vanished',
  async (_, before, flags) => {
    const all = ['p1', 'p2'].map((id) => ({ id, name: `Ann ${id}`, role: 'Sub' }));
    const user = userOf(await players(all), inProcess);
    for (const line of before) await user.run(line);
    const one = await user.run(`players update p1 -F role=IGL ${flags} --json`);
    expect([one.code, JSON.parse(one.stdout)]).toEqual([0, { id: 'p1', role: 'IGL' }]);
    expect(one.stderr).toContain('p1: the service no longer shows name');
    if (flags !== '') expect(one.stderr).toContain('A PUT may replace the whole record.');
    const two = await user.run(`players update p1 p2 -F role=Captain ${flags} --yes --json`);
    expect(report(two).results).toMatchObject([
      { id: 'p1', result: 'changed' },
      { id: 'p2', result: 'changed', vanished: ['name'] },
    ]);
  },
);

/** A user whose state folder is a file. */
async function withoutState() {
  let isLosing = false;
  const kept = await keep(several(3), (_, step) =>
    isLosing && step.startsWith('PATCH') ? cut : undefined,
  );
  const service = { ...kept, lose: () => (isLosing = true) };
  const home = temporaryFolder();
  const state = join(home, 'state');
  writeFileSync(state, 'no folder\n');
  writeFileSync(join(home, 'one.txt'), 'one');
  const env = { ...service.env, ...fast, ROSTERCTL_STATE_DIR: state };
  return { service, run: (line: string) => inProcess(line, { home, cwd: home, env }) };
}

describe('where no run can be kept', () => {
  test.each([
    `tryouts set-status ${ids(2).join(' ')} --to rejected --yes`,
    'tryouts update app_1 app_2 --status rejected --yes',
    'tryouts convert app_1 --yes',
    'players delete p1 p2 --yes --expect 2',
    'players create --name Ann',
    'teams create --name Foxes',
    'docs upload one.txt',
    'docs replace doc_1 one.txt --yes',
    'tryouts convert name:Ann --yes',
    'tryouts set-status name:Ann app_2 --to rejected --yes',
    'docs create --file-key k --file-ref private://k --content-type text/plain --size-bytes 3',
  ])('%s is refused with no request', async (line) => {
    const { service, run } = await withoutState();
    const ran = await run(`${line} --json`);
    expect([ran.code, ran.stdout, service.requests.length]).toEqual([2, '', 0]);
  });

  test('a single update names no run that could be shown or resumed', async () => {
    const { service, run } = await withoutState();
    const line = 'tryouts set-status app_1 --to rejected --json';
    expect(report(await run(line)).run).toBe(null);
    service.lose();
    const lost = await run(line.replace('app_1', 'app_2'));
    expect([lost.code, report(lost).run]).toEqual([10, null]);
    expect(lost.stderr).not.toContain('runs resume');
  });

  test('a single update proceeds, with a note', async () => {
    const { service, run } = await withoutState();
    const ran = await run('tryouts update app_1 --status rejected --json');
    expect(ran.code).toBe(0);
    expect(ran.stderr.trimEnd().split('\n')).toHaveLength(1);
    expect(ran.stderr).toContain('cannot be undone');
    expect(service.kept.get('app_1')?.status).toBe('rejected');
  });

  test('a single delete proceeds, with a note, and reads are unaffected', async () => {
    const service = await players(three);
    const home = temporaryFolder();
    writeFileSync(join(home, 'state'), '');
    const env = { ...service.env, ...fast, ROSTERCTL_STATE_DIR: join(home, 'state') };
    const at = (line: string, by: typeof rosterctl | typeof inProcess = inProcess) =>
      by(line, { home, env });
    const ran = await at(
      'players delete p1 --yes --json --route "DELETE /players/{id}"',
      rosterctl,
    );
    expect([ran.code, service.deletes()]).toEqual([0, 1]);
    expect(ran.stderr.trimEnd().split('\n')).toHaveLength(1);
    expect(await at('players list --json')).toMatchObject({ code: 0, stderr: '' });
    expect(await at('players delete p2 p3 -n --json')).toMatchObject({ code: 0 });
  });
});

test.each([
  ['1200', 'confirmed'],
  ['1,200', 'confirmed'],
  ['1,20', 'The number is 1,200. Nothing was done.'],
])('the number of the question may be typed as it is written: %s', async (typed, expected) => {
  const asked: string[] = [];
  const text = async (question: string) => {
    asked.push(question);
    return typed;
  };
  const message = (line: string) => asked.push(line);
  const context = { settings: { yes: false }, prompts: { unavailable: undefined, text }, message };
  const invocation = { operation: { confirm: 'count', resource: 'players' }, values: {} };
  const subject = { action: 'players.delete', verb: 'delete' };
  const pending = { subject, preview: { tasks: Array.from({ length: 1200 }) } };
  const confirmed = confirmChanges(context as never, invocation as never, pending as never);
  const outcome = await confirmed.then(
    () => 'confirmed',
    (error: Error) => error.message,
  );
  expect(outcome).toBe(expected);
  expect(asked).toEqual([
    'Deletions cannot be undone.',
    'Delete 1,200 players? Type the number to confirm:',
  ]);
});
