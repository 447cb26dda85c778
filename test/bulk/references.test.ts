import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { application, keep, steps } from '../commands/tryouts/service.js';
import { inProcess } from '../support/in-process.js';
import { temporaryFolder } from '../support/run.js';
import { seeded } from '../support/seeded.js';
import { type Reply, recordingService, type Service } from '../support/service.js';
import { report, runsOf } from './user.js';

const people = [
  application('app_1', { name: 'Nilo Tsukiyo', email: 'nilo@example.org', status: 'rejected' }),
  application('app_2', { name: 'Nilo Tsukiyo', email: 'NILO@EXAMPLE.ORG' }),
  application('app_3', {
    name: 'Nimbus Kite',
    email: 'nimbus@example.org',
    discordUserId: '9000000000000100001',
    discordUsername: 'nimbusotter_demo',
    gamerTags: [{ id: 't', game: 'Valorant', gamerTag: 'NimbusOtter#DEMO' }],
  }),
  application('app_4', { name: 'nimbus kite', email: 'other@example.org' }),
];

const run = (service: Service, line: string, home = temporaryFolder()) =>
  inProcess(line, { env: { ...service.env, ROSTERCTL_RETRIES: '0' }, home });

const errorOf = ({ stderr }: { stderr: string }) =>
  (JSON.parse(stderr.trimEnd().split('\n').at(-1) ?? '{}') as { error: Record<string, unknown> })
    .error;

const writesOf = (service: Service) => steps(service).filter((step) => /^(PATCH|CONV)/.test(step));

describe('a reference names a record', () => {
  test.each([
    ['email:NIMBUS@example.org', 'app_3'],
    ["'name:Nimbus Kite'", 'app_3'],
    ["'name:nimbus kite'", 'app_4'],
    ['discord:9000000000000100001', 'app_3'],
    ['discord:NimbusOtter_demo', 'app_3'],
    ['tag:nimbusotter#demo', 'app_3'],
  ])('%s is %s, found in one list and read again by its id', async (word, id) => {
    const service = await keep(people);
    const ran = await run(service, `tryouts get ${word} --json`);
    expect(ran.code).toBe(0);
    expect(JSON.parse(ran.stdout)).toMatchObject({ id });
    expect(steps(service)).toEqual(['LIST', `GET ${id}`]);
    expect(ran.stderr).toContain(`${word.replaceAll("'", '')} is ${id} (`);
  });

  test('two names that differ only in case are two references', async () => {
    const words = "'name:Nimbus Kite' 'name:nimbus kite'";
    const ran = await run(
      await keep(people),
      `tryouts set-status ${words} --to accepted -n -o ids`,
    );
    expect([ran.code, ran.stdout]).toEqual([0, 'app_3\napp_4\n']);
    const both = await run(
      await keep(people.slice(0, 3)),
      `tryouts set-status ${words} --to accepted -n --json`,
    );
    expect([both.code, errorOf(both)['message']]).toEqual([
      2,
      'name:Nimbus Kite and name:nimbus kite are the same application: app_3.',
    ]);
  });

  test('a bare word and id: are ids, for which nothing is listed', async () => {
    const service = await keep(people, (_, step) =>
      step === 'GET email%3Aodd' ? { status: 200, json: application('email:odd') } : undefined,
    );
    const ran = await run(service, 'tryouts get app_1 id:app_2 id:email:odd -o ids');
    expect(ran.stdout).toBe('app_1\napp_2\nid:email:odd\n');
    expect(steps(service)).not.toContain('LIST');
  });

  test('a write reports it, keeps it in its plan and its results', async () => {
    const service = await keep(people);
    const home = temporaryFolder();
    const file = join(home, 'out.csv');
    const line = `tryouts set-status tag:NimbusOtter#DEMO app_4 --to reviewing --yes --json --results ${file}`;
    const ran = await run(service, line, home);
    expect(ran.code).toBe(0);
    expect(report(ran).results).toMatchObject([
      { row: 1, id: 'app_3', ref: 'tag:NimbusOtter#DEMO', result: 'changed' },
      { row: 2, id: 'app_4', result: 'changed' },
    ]);
    expect(readFileSync(file, 'utf8').split('\r\n').slice(0, 3)).toEqual([
      'id,result,error_code,message,ref',
      'app_3,changed,,,tag:NimbusOtter#DEMO',
      'app_4,changed,,,',
    ]);
  });

  test('lines of --ids may hold references; ids in JSON and CSV are always ids', async () => {
    const service = await keep([...people, application('email:odd')]);
    const home = temporaryFolder();
    const file = (name: string, text: string) => {
      writeFileSync(join(home, name), text);
      return join(home, name);
    };
    const lines = file('a.txt', 'email:nimbus@example.org\nid:email:odd\n');
    const idsIn = async (path: string) =>
      report(
        await run(service, `tryouts set-status --ids ${path} --to reviewing --json -n`),
      ).results.map(({ id }) => id);
    expect(await idsIn(lines)).toEqual(['app_3', 'email:odd']);
    const before = steps(service).filter((step) => step === 'LIST').length;
    expect(await idsIn(file('b.json', '["email:odd"]'))).toEqual(['email:odd']);
    expect(await idsIn(file('b.ndjson', '{"id":"email:odd"}\n'))).toEqual(['email:odd']);
    expect(await idsIn(file('b.csv', 'id\nemail:odd\n'))).toEqual(['email:odd']);
    expect(steps(service).filter((step) => step === 'LIST')).toHaveLength(before);
  });

  test('--key names the column of a CSV, whose cells have no prefix', async () => {
    const service = await keep(people);
    const home = temporaryFolder();
    const csv = join(home, 'in.csv');
    const results = join(home, 'out.csv');
    writeFileSync(csv, 'email,status\nnimbus@example.org,accepted\nother@example.org,rejected\n');
    const ran = await run(
      service,
      `tryouts set-status --csv ${csv} --key email --yes --json --results ${results}`,
      home,
    );
    expect(ran.code).toBe(0);
    expect([service.kept.get('app_3'), service.kept.get('app_4')]).toMatchObject([
      { status: 'accepted' },
      { status: 'rejected' },
    ]);
    expect(readFileSync(results, 'utf8')).toContain(
      'email,status,result,error_code,message,id,ref\r\nnimbus@example.org,accepted,changed,,,app_3,email:nimbus@example.org',
    );
  });

  test.each([
    ['tag', 'gamerTag,status\nNimbusOtter#DEMO,accepted\n'],
    ['email', 'E-mail address,status\nnimbus@example.org,accepted\n'],
    ['name', 'Full name,status\nNimbus Kite,accepted\n'],
    ['discord', 'Discord name,status\nnimbusotter_demo,accepted\n'],
  ])('a column of --key %s may have another obvious name', async (key, text) => {
    const service = await keep(people);
    const csv = join(temporaryFolder(), 'in.csv');
    writeFileSync(csv, text);
    const ran = await run(service, `tryouts set-status --csv ${csv} --key ${key} -n -o ids`);
    expect([ran.code, ran.stdout]).toEqual([0, 'app_3\n']);
  });

  test.each([
    [
      'email,status\n,accepted\n\nA@x.org,accepted\na@x.org,rejected\n',
      /2 lines[^]*Line 2: the e-mail is empty[^]*email:a@x.org is given twice, on lines 4 and 5/,
    ],
    ['id,status\napp_1,accepted\n', /no column "email"/],
  ])(
    'every line whose key is empty or repeated is named, and nothing is read',
    async (text, message) => {
      const service = await keep(people);
      const csv = join(temporaryFolder(), 'in.csv');
      writeFileSync(csv, text);
      const ran = await run(service, `tryouts set-status --csv ${csv} --key email --yes --json`);
      expect(ran.code).toBe(2);
      expect(errorOf(ran)['message']).toMatch(message);
      expect(service.requests).toEqual([]);
    },
  );

  test('a line whose reference finds nothing is named', async () => {
    const service = await keep(people);
    const home = temporaryFolder();
    const csv = join(home, 'in.csv');
    writeFileSync(csv, 'email,status\nnimbus@example.org,accepted\nno.one@example.org,accepted\n');
    const ids = join(home, 'ids.txt');
    writeFileSync(ids, 'app_3\n\nname:No One\n');
    const ofCsv = await run(service, `tryouts set-status --csv ${csv} --key email --yes --json`);
    expect([ofCsv.code, errorOf(ofCsv)['message']]).toEqual([
      5,
      expect.stringContaining('Line 3: No application has the e-mail no.one@example.org.'),
    ]);
    writeFileSync(
      csv,
      'email,status\nnimbs@example.org,accepted\nemail:other@example.org,accepted\n',
    );
    const near = await run(service, `tryouts set-status --csv ${csv} --key email --yes --json`);
    expect(errorOf(near)['message']).toMatch(
      /Line 2: .* Did you mean nimbus@example\.org \(app_3\), .*\nLine 3: .* Did you mean other@example\.org \(app_4\)\?/,
    );
    const ofIds = await run(service, `tryouts set-status --ids ${ids} --to accepted --yes --json`);
    expect(errorOf(ofIds)['message']).toContain('Line 3: No application is named "No One".');
    const typed = await run(service, 'tryouts get tag:nobody --json');
    expect(errorOf(typed)['message']).toBe('No application has the gamer tag nobody.');
    expect(writesOf(service)).toEqual([]);
  });

  test('two words for one record are refused', async () => {
    const service = await keep(people);
    const line = 'tryouts set-status app_3 email:nimbus@example.org --to reviewing --yes --json';
    const ran = await run(service, line);
    expect([ran.code, errorOf(ran)['message']]).toEqual([
      2,
      'app_3 and email:nimbus@example.org are the same application: app_3.',
    ]);
    expect(writesOf(service)).toEqual([]);
  });
});

const noNames = people.map((each) => ({ ...each, name: undefined }));
const forbidden: Reply = { status: 403, json: { error: 'forbidden' } };
const doubtful: Reply = { status: 200, json: { applications: people, total: 90 } };
const commands = [
  'tryouts get REF --json',
  'tryouts update REF --status accepted --json',
  'tryouts set-status REF --to accepted --yes --json',
  'tryouts set-status --ids - --to accepted --yes --json',
  'tryouts convert REF --yes --json',
  'tryouts update REF --status accepted -n --json',
];
const cases = [
  [
    'finds none',
    'name:Nilo.Tsukio',
    people,
    undefined,
    5,
    /Did you mean 'name:Nilo Tsukiyo' \(app_1\)/,
  ],
  ['finds several', 'name:Nilo.Tsukiyo', people, undefined, 11, /matches 2 applications/],
  ['has an incomplete list', 'name:Nobody', people, doubtful, 11, /may be incomplete/],
  ['has a forbidden list', 'name:Nobody', people, forbidden, 7, /Use the id/],
  ['has an empty list', 'name:Nobody', [], undefined, 5, /There are no applications/],
  ['has no such field', 'name:Nobody', noNames, undefined, 2, /config set refs.tryouts.name FIELD/],
] as const;

describe.each(cases)('a reference that %s', (_, word, records, list, code, message) => {
  test.each(commands.filter((line) => !line.includes('--ids')))(
    'ends `%s` before anything is sent',
    async (line) => {
      const service = await keep(records, (_request, step) => (step === 'LIST' ? list : undefined));
      const typed = line.replace('REF', `'${word.replace('.', ' ')}'`);
      const ran = await run(service, typed);
      expect(ran.code).toBe(code);
      expect(ran.stderr).toMatch(message);
      expect(steps(service)).toEqual(['LIST']);
    },
  );
});

test('candidates are told as data, and every failing reference at once', async () => {
  const service = await keep(people);
  const one = await run(service, "tryouts get 'name:Nilo Tsukiyo' --json");
  expect(errorOf(one)).toMatchObject({
    code: 'ambiguous',
    exitCode: 11,
    candidates: [
      { id: 'app_1', name: 'Nilo Tsukiyo', email: 'nilo@example.org', status: 'rejected' },
      { id: 'app_2', name: 'Nilo Tsukiyo', email: 'NILO@EXAMPLE.ORG', status: 'pending' },
    ],
  });
  const many = Array.from({ length: 30 }, (_, index) => `email:no${index}@x.org`).join(' ');
  const all = await run(service, `tryouts get app_1 ${many} --json`);
  const message = String(errorOf(all)['message']);
  expect(message.split('\n')).toHaveLength(22);
  expect(message).toMatch(/^30 references [^]*And 10 more references\.$/);
});

test('what TAB remembers never decides: a stale memory can only miss', async () => {
  const service = await keep(people);
  const home = temporaryFolder();
  expect((await run(service, 'tryouts list -o ids', home)).code).toBe(0);
  const cached = readdirSync(join(home, '.cache/rosterctl'), { recursive: true });
  expect(cached.some((name) => String(name).endsWith('references.json'))).toBe(true);
  for (const [id, record] of service.kept)
    service.kept.set(id, {
      ...record,
      email: id === 'app_4' ? 'nimbus@example.org' : `now-${record.email}`,
    });
  const ran = await run(service, 'tryouts get email:nimbus@example.org -o ids', home);
  expect(ran.stdout).toBe('app_4\n');
  expect((await run(service, 'tryouts get email:nilo@example.org', home)).code).toBe(5);
});

test('a setting names the field of a reference', async () => {
  const service = await keep([application('app_1', { contact: { mail: 'a@x.org' } })]);
  const home = temporaryFolder();
  const env = { ...service.env };
  await inProcess('config set refs.tryouts.email contact.mail', { env, home });
  const ran = await inProcess('tryouts get email:A@x.org --json', { env, home });
  expect(ran.code).toBe(0);
});

/** The service where somebody changes the address of app_3 at that step. */
const moved = (when: (step: string) => boolean) => {
  let isMoved = false;
  return keep(people, (_, step) => {
    isMoved ||= when(step);
    const [verb, id] = step.split(' ');
    if (!isMoved || verb !== 'GET' || id !== 'app_3') return undefined;
    return { status: 200, json: { ...people[2], email: 'moved@example.org' } };
  });
};

describe('a record that no longer answers to its reference', () => {
  test('is a conflict and is not written', async () => {
    const service = await moved((step) => step.startsWith('GET'));
    const line = 'tryouts update email:nimbus@example.org --status accepted --json';
    const ran = await run(service, line);
    expect(ran.code).toBe(6);
    expect(errorOf(ran)['message']).toMatch(/^app_3 is no longer email:nimbus@example\.org\./);
    expect(writesOf(service)).toEqual([]);
  });

  test('is a conflict in a dry run as well', async () => {
    const service = await moved((step) => step.startsWith('GET'));
    const line = 'tryouts update email:nimbus@example.org --status accepted -n';
    for (const output of ['', '--json']) {
      const ran = await run(service, `${line} ${output}`);
      expect([ran.code, ran.stdout]).toEqual([6, '']);
      expect(ran.stderr).toContain('app_3 is no longer email:nimbus@example.org. It is now');
    }
  });

  test('is a conflict on resume as well', async () => {
    let isDown = true;
    const service = await keep(people, (_, step) => {
      if (step.startsWith('PATCH') && isDown) return { status: 429 };
      if (isDown || step !== 'GET app_3') return undefined;
      return { status: 200, json: { ...people[2], email: 'moved@example.org' } };
    });
    const home = temporaryFolder();
    const line = 'tryouts set-status email:nimbus@example.org app_4 --to accepted --yes --json';
    expect((await run(service, line, home)).code).toBe(9);
    const plan = join(runsOf(home), 'open');
    const [folder = ''] = readdirSync(plan);
    expect(readFileSync(join(plan, folder, 'plan.jsonl'), 'utf8')).toContain(
      '"ref":"email:nimbus@example.org"',
    );
    isDown = false;
    const ran = await run(service, line, home);
    expect(report(ran).results).toMatchObject([
      { id: 'app_3', ref: 'email:nimbus@example.org', result: 'conflict' },
      { id: 'app_4', result: 'changed' },
    ]);
    expect(service.kept.get('app_3')?.status).toBe('pending');
  });
});

test('no reference is ever written to a record that does not answer to it, however the list changes', async () => {
  const random = seeded(21);
  const pick = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)] as T;
  const names = ['ann', 'ben', 'cleo'];
  for (let round = 0; round < 40; round += 1) {
    const kept = ['app_1', 'app_2', 'app_3', 'app_4'].map((id) => ({
      ...application(id),
      email: `${pick(names)}@x.org`,
    }));
    const service = await keep(kept, ({ method }) => {
      // Somebody edits an address between any two requests.
      const id = pick(kept).id;
      const held = service.kept.get(id);
      if (held && random() < 0.5 && method === 'GET')
        service.kept.set(id, { ...held, email: `${pick(names)}@x.org` });
      return undefined;
    });
    const wanted = pick(names);
    const before = new Map(service.kept);
    const ran = await run(
      service,
      `tryouts set-status email:${wanted}@x.org --to accepted --yes --json`,
    );
    for (const [id, { status }] of service.kept)
      if (status === 'accepted') {
        const read = service.requests
          .map(({ url }, index) => ({ url, index }))
          .findLast(({ url }) => url.includes(id));
        expect(read, `${ran.stderr} ${before.size}`).toBeDefined();
        expect(service.kept.get(id)?.email).toBe(`${wanted}@x.org`);
      }
    await service.close();
  }
});

const club = (players: readonly object[]) =>
  recordingService(({ url }) => {
    const teams = [
      { id: 'team_1', name: 'Lanternfish' },
      { id: 'team_2', name: 'Herons' },
    ];
    if (url.endsWith('/teams/org_7')) return { status: 200, json: teams };
    if (url.endsWith('/players/org_7')) return { status: 200, json: players };
    return { status: 404, json: { error: 'notFound' } };
  });

describe('a team', () => {
  const players = [
    { id: 'player_1', name: 'Ann', teamIds: ['team_1'] },
    { id: 'player_2', name: 'Ben', teamIds: ['team_2'] },
  ];

  test('is named by its name in --team, of lists and of selections', async () => {
    const service = await club(players);
    const listed = await run(service, 'players list --team name:Lanternfish -o ids');
    expect(listed.stdout).toBe('player_1\n');
    const line = 'players update --team name:herons -F role=IGL -n --json';
    expect(report(await run(service, line)).results).toMatchObject([{ id: 'player_2' }]);
  });

  test('that does not exist is exit 5, never an empty list', async () => {
    const service = await club(players);
    const ran = await run(service, 'players list --team name:Lantern --json');
    expect(ran.code).toBe(5);
    expect(ran.stderr).toContain('Did you mean name:Lanternfish (team_1)?');
  });
});

test.each(['download', 'update --name x'])(
  'documents know no tags of players, and docs %s names the list that knows theirs',
  async (rest) => {
    const service = await recordingService(() => ({ status: 200, json: [] }));
    const [verb = '', ...flags] = rest.split(' ');
    const ran = await run(service, `docs ${verb} tag:contract ${flags.join(' ')} --json`);
    const hint = 'To find them: rosterctl documents list --tag contract';
    expect([ran.code, errorOf(ran)['hint']]).toEqual([2, hint]);
    expect(service.requests).toEqual([]);
  },
);
