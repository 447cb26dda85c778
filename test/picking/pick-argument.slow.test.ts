import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { until } from '../bulk/user.js';
import { application, keep, steps } from '../commands/tryouts/service.js';
import { converse } from '../support/converse.js';
import { converseInside } from '../support/converse-inside.js';
import { forbidden, withoutColor } from '../support/hostile.js';
import { inProcess } from '../support/in-process.js';
import { rosterctl, startLine, temporaryFolder } from '../support/run.js';

const people = [
  application('app_1', { name: 'Nimbus Kolmarden', submittedAt: '2026-03-03T10:00:00Z' }),
  application('app_2', { name: 'Nimbus Vale', status: 'reviewing' }),
  application('app_3', { name: 'Zoë Brångdal', email: 'zoe@example.org' }),
];

const missing = { status: 404, json: { error: 'notFound' } };
const down = '\u001b[B';

/** A service with these applications and their list; an unknown id is not found. */
async function club(applications = people) {
  const service = await keep(applications, ({ method }, step) => {
    if (step === 'LIST') return { status: 200, json: [...service.kept.values()] };
    const id = step.split(' ')[1] ?? '';
    return method === 'GET' && !service.kept.has(id) ? missing : undefined;
  });
  return service;
}

function writes(service: Awaited<ReturnType<typeof club>>): readonly string[] {
  return steps(service).filter((step) => !/^(GET|LIST)/.test(step));
}

/** True if the terminal shows its cursor at the end. */
function showsCursor(shown: string): boolean {
  return shown.lastIndexOf('\u001b[?25h') >= shown.lastIndexOf('\u001b[?25l');
}

describe('a missing argument at a terminal', () => {
  test('opens a list, newest first, that typing narrows down', async () => {
    const { env } = await club();
    const { shown, code } = await converse(
      temporaryFolder(),
      ['tryouts', 'get', '--fields', 'id'],
      [
        [/app_1 {2}Nimbus Kolmarden[^]*app_3/, 'ZOE@'],
        [/ZOE@/, '\r'],
      ],
      env,
    );
    expect(shown).toContain('Which application?');
    expect(withoutColor(shown)).toMatch(/id +app_3/);
    expect(code).toBe(0);
  });

  test('of a change of many opens a list to mark several, before the usual preview', async () => {
    const service = await club();
    const { shown, code } = await converse(
      temporaryFolder(),
      ['tryouts', 'set-status', '--to', 'shortlisted'],
      [
        [/Which applications\?[^]*app_3/, ` ${down} \r`],
        [/Change 2 /, 'y\r'],
      ],
      service.env,
    );
    expect({ shown, code }).toMatchObject({ code: 0 });
    const marked = ['app_1', 'app_2', 'app_3'].filter(
      (id) => service.kept.get(id)?.status === 'shortlisted',
    );
    expect(marked).toHaveLength(2);
  });

  test('is asked for only if nothing else is missing', async () => {
    const service = await club();
    const line = ['tryouts', 'set-status'];
    const { shown, code } = await converseInside(temporaryFolder(), line, [], service.env);
    expect(code).toBe(2);
    expect(shown).toContain('--to');
    expect(steps(service)).toEqual([]);
  });

  test('of a conversion lists the accepted applications first, and no players', async () => {
    const { env } = await club([
      application('app_1'),
      application('app_2', { status: 'accepted' }),
      application('app_3', { status: 'accepted', convertedPlayerId: 'player_1' }),
    ]);
    const { shown } = await converse(
      temporaryFolder(),
      ['tryouts', 'convert'],
      [[/app_2[^]*app_1/, '\u001b']],
      env,
    );
    expect(shown).not.toContain('app_3');
  });
});

describe('an ambiguous reference at a terminal', () => {
  const namesakes = [
    application('app_1', { name: 'Nilo Tsukiyo', email: 'nilo@example.org' }),
    application('app_2', { name: 'Orla Vale' }),
    application('app_3', { name: 'Nilo Tsukiyo', email: 'NILO@EXAMPLE.ORG' }),
  ];

  test('opens a list of all who answer to it, and only these', async () => {
    const service = await club(namesakes);
    const { shown, code } = await converseInside(
      temporaryFolder(),
      ['tryouts', 'update', 'email:nilo@example.org', '--status', 'reviewing'],
      [[/Which application\?[^]*app_[13][^]*app_[13]/, `${down}\r`]],
      service.env,
    );
    expect({ shown, code }).toMatchObject({ code: 0 });
    expect(shown).not.toContain('app_2');
    expect(writes(service)).toHaveLength(1);
  });

  test('is listed as an error where several words, --yes or a file name the records', async () => {
    const service = await club(namesakes);
    const line = ['tryouts', 'set-status', 'name:Nilo Tsukiyo', 'app_2', '--to', 'reviewing'];
    const { shown, code } = await converseInside(temporaryFolder(), line, [], service.env);
    expect([code, writes(service)]).toEqual([11, []]);
    expect(shown).toContain('name:Nilo Tsukiyo matches 2 applications:');
  });
});

describe('an unknown id, at a terminal', () => {
  test('is searched for, and a read takes a sole match and says which', async () => {
    const { env } = await club();
    const line = ['tryouts', 'get', 'kolmarden', '--fields', 'id'];
    const { shown, code } = await converseInside(temporaryFolder(), line, [], env);
    expect(shown).toContain('"kolmarden" is app_1 (Nimbus Kolmarden, pending).');
    expect(withoutColor(shown)).toMatch(/id +app_1/);
    expect(code).toBe(0);
  });

  test('opens a list before a write, also for a sole match', async () => {
    const service = await club();
    const { shown, code } = await converseInside(
      temporaryFolder(),
      ['tryouts', 'update', 'kolmarden', '--status', 'reviewing'],
      [[/Which application\?[^]*app_1/, '\r']],
      service.env,
    );
    expect({ shown, code }).toMatchObject({ code: 0 });
    expect(withoutColor(shown)).toContain('Which application? Nimbus Kolmarden (app_1)');
    expect(writes(service)).toEqual(['PATCH app_1']);
  });

  test('of a command that reports many is searched for as well', async () => {
    const service = await club();
    const { shown, code } = await converseInside(
      temporaryFolder(),
      ['tryouts', 'set-status', 'nimbus', '--to', 'shortlisted'],
      [[/Which application\?[^]*app_2/, '\r']],
      service.env,
    );
    expect({ shown, code }).toMatchObject({ code: 0 });
    expect(writes(service)).toEqual(['PATCH app_1']);
    const unknown = ['tryouts', 'set-status', 'nobody', '--to', 'shortlisted'];
    expect((await converseInside(temporaryFolder(), unknown, [], service.env)).code).toBe(5);
  });

  test('that matches nothing is reported as not found', async () => {
    const { env } = await club();
    const { shown, code } = await converseInside(
      temporaryFolder(),
      ['tryouts', 'get', 'nobody'],
      [],
      env,
    );
    expect(shown).toContain('Application nobody was not found');
    expect(code).toBe(5);
  });

  test('is not asked about if the write itself was answered with 404', async () => {
    const service = await keep(people, (_, step) => (step === 'PATCH app_1' ? missing : undefined));
    const line = ['tryouts', 'update', 'app_1', '--status', 'reviewing'];
    const { shown, code } = await converseInside(temporaryFolder(), line, [], service.env);
    expect(code).toBe(5);
    expect(shown).not.toContain('Which application?');
  });

  test('is searched for in the list of documents, which have no call for one', async () => {
    const line = ['-p', 'sandbox', 'docs', 'get', 'contract', '--fields', 'id'];
    const { shown, code } = await converseInside(temporaryFolder(), line, [
      [/Which document\?[^]*doc_0001[^]*doc_0002/, `${down}\r`],
    ]);
    expect(withoutColor(shown)).toMatch(/id +doc_0002/);
    expect(code).toBe(0);
  });
});

test('an unknown document to replace is searched for, and named before it is deleted', async () => {
  const home = temporaryFolder();
  writeFileSync(join(home, 'new.txt'), 'new\n');
  const line = ['-p', 'sandbox', 'docs', 'replace', 'contract', 'new.txt'];
  const { shown, code } = await converseInside(home, line, [
    [/Which document\?[^]*doc_0001[^]*doc_0002[^]*Esc/, `${down}\r`],
    [
      /Deletions cannot be undone\.\r\n[^]*Delete document "Player contract Tarn Ember\.pdf" \(doc_0002\)\?/,
      'n\r',
    ],
  ]);
  expect({ shown, code }).toMatchObject({ code: 130 });
  const without = await converseInside(home, [...line.slice(0, 4), 'doc_0001'], []);
  expect(without.shown).toContain('Which file?');
  expect(without.code).toBe(2);
});

describe('a person', () => {
  const line = ['-p', 'sandbox', 'person'];

  test('is found by a bare e-mail address, although it stands on several records', async () => {
    const ids = [...line, 'nilo.tsukiyo@example.org', '-o', 'ids'];
    const { shown, code } = await converseInside(temporaryFolder(), ids);
    expect(shown).toMatch(/"nilo\.tsukiyo@example\.org" is \w+ \(Nilo Tsukiyo\)\./);
    expect(shown).toContain('app_0002\r\napp_0041');
    expect(code).toBe(0);
  });

  test('is picked among applications and players by a part of the name, each once', async () => {
    const { shown, code } = await converse(
      temporaryFolder(),
      [...line, 'nimbus', '-o', 'ids'],
      [[/Which person\?[^]*Nimbus Kite +player[^]*Nimbus Marrowby +application[^]*Esc/, '\r']],
    );
    expect(withoutColor(shown)).toMatch(
      /player_0029 +Nimbus Fjellgaard[^]*app_0004\r\nplayer_0029/,
    );
    expect(shown.slice(0, shown.indexOf('Esc'))).not.toContain('app_0004');
    expect(code).toBe(0);
  });

  test('that nobody matches is not asked for', async () => {
    const { shown, code } = await converseInside(temporaryFolder(), [...line, 'nobody']);
    expect(shown).toContain('No application or player matches nobody.');
    expect(code).toBe(5);
  });
});

test('namesakes are told apart by their e-mail, role and team', async () => {
  const home = temporaryFolder();
  for (const role of ['Captain', 'Coach']) {
    const fields = `-F role=${role} -F email=nimbus.${role}@example.org -F teamIds[]=team_0002`;
    await inProcess(`-p sandbox players create --name Nimbus ${fields}`, { home });
  }
  const line = ['-p', 'sandbox', 'players', 'get', 'name:Nimbus'];
  const { shown } = await converseInside(home, line, [
    [/Which player\?[^]*Coach[^]*Esc/, '\u001b'],
  ]);
  expect(shown).toMatch(/Nimbus +nimbus\.Captain@example\.org +Captain +Lanternfish/);
  expect(shown).toMatch(/Nimbus +nimbus\.Coach@example\.org +Coach +Lanternfish/);
  const found = await converseInside(
    home,
    ['-p', 'sandbox', 'players', 'get'],
    [
      [/Which player\?[^]*Esc/, 'cobalt herons'],
      [/6 of 33/, '\u001b'],
    ],
  );
  expect(found.shown).toContain('Amaru Eastmere');
});

test.each([
  ['Escape', '\u001b'],
  ['Ctrl-C', '\u0003'],
  ['Ctrl-D', '\u0004'],
])('%s in a list ends with 130, sends nothing and restores the terminal', async (_, key) => {
  const service = await club();
  for (const line of [
    ['tryouts', 'update', 'nimbus', '--status', 'accepted'],
    ['tryouts', 'set-status', '--to', 'accepted'],
  ]) {
    const { shown, code } = await converse(
      temporaryFolder(),
      line,
      [[/Which application[^]*Esc/, key]],
      service.env,
    );
    expect(code).toBe(130);
    expect(showsCursor(shown)).toBe(true);
  }
  expect(writes(service)).toEqual([]);
});

test('hostile names are harmless in a list, and a narrow terminal cuts them', async () => {
  const name = 'Eve \u001b]0;title\u0007\u001b[2J\u202e\nsecond line';
  const { env } = await club([application('app_1', { name }), application('app_2', { name })]);
  const { shown, code } = await converse(
    temporaryFolder(),
    ['tryouts', 'get', 'eve'],
    [[/Which application[^]*app_2[^]*Esc/, '\u0003']],
    env,
    30,
  );
  expect(code).toBe(130);
  expect(shown).not.toContain('\u001b]0;');
  expect(shown).not.toContain('\u001b[2J');
  // oxlint-disable-next-line no-control-regex
  expect(withoutColor(shown).replaceAll(/\u001b\[\??[\d;]*[A-Za-z]|\r/g, '')).not.toMatch(
    forbidden,
  );
});

describe('nothing is asked', () => {
  test.each([
    ['with --yes', ['--yes'], {}],
    ['with --no-input', ['--no-input'], {}],
    ['in CI', [], { CI: '1' }],
    ['for several words', ['app_1'], {}],
  ] as const)('%s', async (_, more, own) => {
    const service = await club();
    const line = ['tryouts', 'get', 'nimbus', ...more];
    const { shown, code } = await converseInside(temporaryFolder(), line, [], {
      ...service.env,
      ...own,
    });
    expect(code).toBe(5);
    expect(shown).not.toContain('Which application?');
    expect(steps(service)).not.toContain('LIST');
  });

  test('in a pipe', async () => {
    const service = await club();
    const unknown = await rosterctl('tryouts get nimbus', { env: service.env });
    const none = await rosterctl('tryouts get', { env: service.env });
    const rows = await rosterctl('tryouts set-status --to accepted', { env: service.env });
    expect([unknown.code, none.code, rows.code]).toEqual([5, 2, 2]);
    expect(steps(service)).toEqual(['GET nimbus']);
  });
});

describe('profiles', () => {
  const connection = { baseUrl: 'https://api.example.com/v1', organization: 'org_1' };

  function homeWith(profiles: Readonly<Record<string, typeof connection>>): string {
    const home = temporaryFolder();
    const folder = join(home, '.config', 'rosterctl');
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeFileSync(join(folder, 'config.json'), JSON.stringify({ profiles }), { mode: 0o600 });
    return home;
  }

  test('profile use alone lists them with organization and service', async () => {
    const home = homeWith({ club: connection, second: { ...connection, organization: 'org_2' } });
    const { shown, code } = await converse(
      home,
      ['profile', 'use'],
      [[/club +org_1 +api\.example\.com\/v1[^]*second +org_2/, `${down}\r`]],
    );
    expect(shown).toContain('Profile second is active.');
    expect(code).toBe(0);
  });

  test('profile use alone takes the only one and says which', async () => {
    const { shown, code } = await converseInside(homeWith({ club: connection }), [
      'profile',
      'use',
    ]);
    expect(shown).toContain('The only profile: club (org_1)');
    expect(shown).toContain('Profile club is active.');
    expect(code).toBe(0);
  });

  test('an unknown profile is searched for, and in a script refused', async () => {
    const home = homeWith({ 'club-eu': connection, 'club-us': connection, other: connection });
    const { shown, code } = await converseInside(
      home,
      ['profile', 'use', 'club'],
      [[/Which profile\?[^]*club-eu[^]*club-us[^]*Esc/, `${down}\r`]],
    );
    expect(shown).not.toContain('other');
    expect(shown).toContain('Profile club-us is active.');
    expect(code).toBe(0);
    const piped = await inProcess('profile use club', { home });
    expect(piped).toMatchObject({ code: 2, stdout: '' });
    expect(piped.stderr).toContain('Unknown profile club.');
    // The word of another flag is not picked.
    const elsewhere = await converseInside(home, ['-p', 'nope', 'tryouts', 'get', 'nope'], []);
    expect(elsewhere.code).toBe(2);
    expect(elsewhere.shown).toContain('Unknown profile nope.');
  });
});

/** Two runs that changed something, of which the older failed in one row. */
async function twoRuns() {
  const service = await keep(
    ['app_1', 'app_2', 'app_3'].map((id) => application(id)),
    (_, step) => (step === 'PATCH app_2' ? { status: 400, json: { error: 'no' } } : undefined),
  );
  const at = { home: temporaryFolder(), env: service.env };
  const failed = 'tryouts set-status app_1 app_2 --to accepted --yes';
  expect((await inProcess(failed, at)).code).toBe(8);
  expect((await inProcess('tryouts update app_3 --status rejected', at)).code).toBe(0);
  return { service, ...at };
}

describe('runs', () => {
  const both =
    /Which run\?[^]*tryouts update +\w[^]*tryouts set-status +1 changed, 1 failed[^]*Esc/;

  test('runs show and undo alone list the runs, newest first, and undo asks for a sole one', async () => {
    const { home, env, service } = await twoRuns();
    const shown = await converseInside(home, ['runs', 'show'], [[both, `${down}\r`]], env);
    expect(shown.shown).toContain('1 changed, 1 failed');
    expect(shown.code).toBe(0);
    const undone = await converseInside(
      home,
      ['runs', 'undo', 'update'],
      [
        [/Which run\?[^]*tryouts update[^]*Esc/, '\r'],
        [/\(y\/N/, 'y\r'],
      ],
      env,
    );
    expect(undone).toMatchObject({ code: 0 });
    expect(service.kept.get('app_3')?.status).toBe('pending');
  });

  test('runs retry alone lists the runs with failed rows only', async () => {
    const { home, env } = await twoRuns();
    const { shown, code } = await converseInside(
      home,
      ['runs', 'retry'],
      [[/Which run\?[^]*1 changed, 1 failed[^]*Esc/, '\u001b']],
      env,
    );
    expect(shown).not.toContain('tryouts update');
    expect(code).toBe(130);
  });

  test('in a script a run has to be named, so that an empty variable undoes nothing', async () => {
    const at = await twoRuns();
    for (const verb of ['show', 'undo', 'retry']) {
      const ran = await inProcess(`runs ${verb} --yes`, at);
      expect(ran).toMatchObject({ code: 2, stdout: '' });
      expect(ran.stderr).toContain('Which run? Give its name, or last.');
    }
    const newest = await inProcess('runs show last --json', at);
    expect(newest.stdout).toContain('"action":"tryouts.update"');
    for (const verb of ['show', 'undo', 'retry', 'resume']) {
      const { code, stderr } = await inProcess(`runs ${verb} nope --yes`, at);
      expect([code, stderr]).toEqual([2, expect.stringContaining('Unknown run "nope".')]);
    }
  });
});

test('runs resume alone takes the only unfinished run, and lists several', async () => {
  const ids = ['app_1', 'app_2', 'app_3'];
  let isSlow = true;
  const service = await keep(
    ids.map((id) => application(id)),
    (_, step) => (isSlow && /^PATCH app_[12]$/.test(step) ? () => {} : undefined),
  );
  const home = temporaryFolder();
  const at = { env: { ...service.env, ROSTERCTL_SETTLE: '0s' }, home };
  const stop = async (line: string, step: string) => {
    const child = startLine(`tryouts set-status ${line} --yes --concurrency 1`, at);
    await until(() => steps(service).includes(step));
    child.kill('SIGTERM');
    return (await child.ended).code;
  };
  expect(await stop('app_1 app_3 --to reviewing', 'PATCH app_1')).toBe(143);
  const only = await converse(home, ['runs', 'resume'], [[/Change|change/, '\u001b']], at.env);
  expect(only.shown).toMatch(/The only run: \w{6} \(tryouts set-status, 2 of 2 rows left\)/);
  expect(only.shown).toMatch(/Continuing run \w{6}, started /);
  expect(await stop('app_2 app_3 --to rejected', 'PATCH app_2')).toBe(143);
  isSlow = false;
  const { shown, code } = await converse(
    home,
    ['runs', 'resume'],
    [
      [/Which run\?[^]*tryouts set-status[^]*tryouts set-status[^]*Esc/, `${down}\r`],
      [/\(y\/N/, 'y\r'],
    ],
    at.env,
  );
  expect({ shown, code }).toMatchObject({ code: 0 });
  expect(service.kept.get('app_1')?.status).toBe('reviewing');
  expect(service.kept.get('app_2')?.status).toBe('pending');
});

test('an unknown id is what the error is about, also where the list to pick from is refused', async () => {
  const { env } = await keep(people, (_, step) =>
    step === 'LIST' ? { status: 403, json: { error: 'forbidden' } } : missing,
  );
  const { printed, code } = await converseInside(
    temporaryFolder(),
    ['tryouts', 'get', 'app_9'],
    [],
    env,
  );
  expect([code, withoutColor(printed)]).toEqual([
    5,
    expect.stringContaining('Application app_9 was not found'),
  ]);
});
