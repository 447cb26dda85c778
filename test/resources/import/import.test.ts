import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/data/json.js';
import { converse } from '../../support/converse.js';
import { inProcess } from '../../support/in-process.js';
import { errorOf, temporaryFolder } from '../../support/run.js';
import { listService } from '../../support/service.js';
import { type Desk, newDesk, type Row } from './desk.js';

const line = 'players import ~/roster.csv --key email --yes';

const roster = `Name,E-Mail,Role,Team,Discord ID
Mira Kite,mira@example.com,Support,Lanternfish,9000000000000000101
Jonas Vale,jonas@example.com,Top,LANTERNFISH,9000000000000000102
Nadja Beispiel,nadja@example.org,IGL,Cobalt Herons;id:team_0005,007
`;

const results = (rows: readonly Row[]) => rows.map(({ id, result }) => [id, result]);

function playerAt(desk: Desk, id: string): JsonObject {
  return desk.books('players').get(id) ?? {};
}

describe('a roster', () => {
  test('creates players with their teams by name, and texts that look like numbers stay texts', async () => {
    const desk = await newDesk();
    desk.file('roster.csv', roster);
    const { code, rows, stderr } = await desk.report(line);
    expect(code).toBe(0);
    expect(rows.map(({ row, id, ref, result }) => [row, id, ref, result])).toEqual([
      [2, 'player_0032', 'email:mira@example.com', 'changed'],
      [3, 'player_0033', 'email:jonas@example.com', 'changed'],
      [4, 'player_0034', 'email:nadja@example.org', 'changed'],
    ]);
    expect(playerAt(desk, 'player_0034')).toMatchObject({
      name: 'Nadja Beispiel',
      discordUserId: '007',
      teamIds: ['team_0003', 'team_0005'],
    });
    expect(stderr).toContain(
      [
        '3 rows of',
        `by email, to players of org_demo (profile default, ${new URL(String(desk.env.ROSTERCTL_BASE_URL)).host}):`,
        '  Name → name · E-Mail → email · Role → role · Team → teamIds (by name) · Discord ID → discordUserId',
        '  3 new',
        '    + Mira Kite <mira@example.com> → Lanternfish',
      ]
        .join('\n')
        .replace('of\n', `of ${desk.home}/roster.csv, `),
    );
    expect(stderr).toContain('"LANTERNFISH" is Lanternfish (team_0002).');
  });

  test('--map takes the aliases too, and the preview says which fields no record has', async () => {
    const desk = await newDesk();
    desk.file(
      'roster.csv',
      'Name;Mailadresse;Mannschaft;Bezahlt\nMira Kite;mira@example.com;Lanternfish;ja\n',
    );
    const maps = "--map 'Mailadresse=E-Mail' --map Mannschaft=Team --map Bezahlt=paid";
    const { code, stderr } = await desk.report(`${line} ${maps}`);
    expect(code).toBe(0);
    expect(playerAt(desk, 'player_0032')).toMatchObject({
      email: 'mira@example.com',
      teamIds: ['team_0002'],
      paid: 'ja',
    });
    expect(stderr).toContain(
      '  Name → name · Mailadresse → email · Mannschaft → teamIds (by name) · Bezahlt → paid (new field)\n',
    );
  });

  test('stores a key as it is compared, without the spaces around it', async () => {
    const desk = await newDesk();
    desk.file('roster.csv', 'Name,E-Mail\nMira Kite, mira@example.com \n');
    const { code, rows, stderr } = await desk.report(line);
    expect(code).toBe(0);
    expect(rows.map(({ ref, after }) => [ref, after])).toEqual([
      [
        'email:mira@example.com',
        { id: 'player_0032', name: 'Mira Kite', email: 'mira@example.com' },
      ],
    ]);
    expect(playerAt(desk, 'player_0032')).toMatchObject({ email: 'mira@example.com' });
    expect(stderr).toContain('+ Mira Kite <mira@example.com>\n');
  });

  test('says which new row has the Discord user of a player who is there', async () => {
    const desk = await newDesk();
    desk.file('roster.csv', roster);
    expect((await desk.report(line)).code).toBe(0);
    desk.file(
      'roster.csv',
      'Name,E-Mail,Discord ID\nMira K,mira.kite@example.com,9000000000000000101\nNew Vale,new@example.com,9\n',
    );
    const { stderr } = await desk.report(`${line} -n`);
    expect(stderr).toContain(
      'Mira K (line 2) and the player player_0032 (Mira Kite) have the same Discord user: the service may refuse it, or store one person twice.\n',
    );
    expect(stderr).not.toContain('New Vale (line 3) and');
  });

  test('of 25 imported again sends nothing, also with its rows and columns in another order', async () => {
    const desk = await newDesk();
    const people = Array.from({ length: 25 }, (_, at) => [`P ${at}`, `p${at}@example.org`, 'IGL']);
    desk.file('roster.csv', ['Name,E-Mail,Role', ...people.map((row) => row.join(','))].join('\n'));
    expect((await desk.report(line)).code).toBe(0);
    expect(desk.writes()).toHaveLength(25);
    const again = await desk.report(line);
    expect([again.code, new Set(again.rows.map(({ result }) => result))]).toEqual([
      0,
      new Set(['unchanged']),
    ]);
    const turned = people
      .toReversed()
      .map(([name, email = '', role]) => [role, email.toUpperCase(), name]);
    desk.file('roster.csv', ['role;Mail;Name', ...turned.map((row) => row.join(';'))].join('\r\n'));
    expect((await desk.report(line)).code).toBe(0);
    expect(desk.writes()).toEqual([]);
  });

  test('changes only what differs, and leaves blank cells and other records alone', async () => {
    const desk = await newDesk();
    const { email, name } = playerAt(desk, 'player_0002');
    desk.file('roster.csv', `E-Mail,Name,Role,legacyRef\n${String(email)},,Coach,<clear>\n`);
    const { rows } = await desk.report(line);
    expect(rows).toMatchObject([
      { id: 'player_0002', ref: `email:${String(email)}`, result: 'changed' },
    ]);
    expect(rows[0]?.after).toEqual({ role: 'Coach', legacyRef: null });
    expect(playerAt(desk, 'player_0002')['name']).toBe(name);
    expect(desk.writes()).toEqual(['PATCH /v1/players/player_0002']);
  });

  test('reads UTF-16, tabs, quoted cells, blank rows and the sep= line of Excel', async () => {
    const desk = await newDesk();
    const text =
      '\ufeffName\tE-Mail\r\n"Zoë\tB"\tzoe@example.org\r\n\t\r\n\r\nAnn\tann@example.org';
    desk.file('roster.csv', Buffer.from(text, 'utf16le'));
    expect(results((await desk.report(line)).rows)).toHaveLength(2);
    expect(playerAt(desk, 'player_0032')['name']).toBe('Zoë\tB');
    desk.file('roster.csv', 'sep=;\nName;E-Mail\nBo;bo@example.org\n');
    expect(results((await desk.report(line)).rows)).toEqual([['player_0034', 'changed']]);
  });

  test('reads Windows-1252 where that is said, with the signs beyond Latin-1', async () => {
    const desk = await newDesk();
    desk.file(
      'roster.csv',
      Buffer.from('Name,E-Mail\nJ\xfcrgen \x93X\x94 \x80,j@example.org\n', 'latin1'),
    );
    expect((await desk.report(`${line} --encoding windows-1252`)).code).toBe(0);
    expect(playerAt(desk, 'player_0032')['name']).toBe('Jürgen “X” €');
  });

  test('puts no text where the other records hold an object, unless the header says so', async () => {
    const desk = await newDesk();
    const players = desk.books('players');
    const noContact = new Set(['player_0001', 'player_0002']);
    for (const [id, player] of players)
      players.set(id, { ...player, contact: noContact.has(id) ? null : { phone: '12' } });
    const known = String(playerAt(desk, 'player_0002')['email']);
    const rows = `Ann,a@example.org,call\nBo,${known},call\n`;
    desk.file('roster.csv', `Name,E-Mail,contact\n${rows}`);
    const ran = await desk.run(`${line} --json`);
    expect([ran.code, errorOf(ran)['message']]).toEqual([
      2,
      '2 problems:\nLine 2: contact is an object, but the cell is text.\nLine 3: contact is an object, but the cell is text.',
    ]);
    desk.file('roster.csv', `Name,E-Mail,contact:text\n${rows}`);
    expect((await desk.report(line)).code).toBe(0);
    for (const id of ['player_0002', 'player_0032'])
      expect(playerAt(desk, id)['contact']).toBe('call');
    desk.file('roster.csv', 'Name,E-Mail,contact.phone\nCy,c@example.org,13\n');
    expect((await desk.report(line)).code).toBe(0);
    expect(playerAt(desk, 'player_0033')['contact']).toEqual({ phone: '13' });
  });

  test('takes the types of the records that are there, and those of the header', async () => {
    const desk = await newDesk();
    const players = desk.books('players');
    for (const [id, player] of players) players.set(id, { ...player, shirt: 7, active: true });
    desk.file(
      'roster.csv',
      'Name,E-Mail,Shirt,active,Kind,Age,gamerTags.0.game,gamerTags.0.gamerTag\n42,a@example.org,10,TRUE,42,20,Chess,Ann#1\n',
    );
    expect((await desk.report(`${line} --map Age=age:int`)).code).toBe(0);
    expect(playerAt(desk, 'player_0032')).toMatchObject({
      name: '42',
      shirt: 10,
      active: true,
      kind: '42',
      age: 20,
      gamerTags: [{ game: 'Chess', gamerTag: 'Ann#1' }],
    });
  });

  test('sets the fields of -F in every row, over a column of the same name', async () => {
    const desk = await newDesk();
    const { email } = playerAt(desk, 'player_0003');
    desk.file('roster.csv', `Name,E-Mail,Role\nAnn,a@example.org,Top\n,${String(email)},Top\n`);
    const { stderr } = await desk.report(`${line} -F role=Trial -F kind=player`);
    expect(stderr).toContain('Not used: Role, because -F sets it in every row');
    expect(playerAt(desk, 'player_0032')).toMatchObject({ role: 'Trial', kind: 'player' });
    expect(playerAt(desk, 'player_0003')).toMatchObject({ role: 'Trial', kind: 'player' });
  });

  test('sets an inner field of -F beside the columns of its neighbours', async () => {
    const { env, requests } = await listService({
      players: [{ id: 'p1', name: 'Ann', address: { city: 'Ulm', zip: '1', street: 'A' } }],
    });
    const home = temporaryFolder();
    writeFileSync(join(home, 'r.csv'), 'name,address.zip,address.city\nAnn,99,Bonn\n');
    const ran = await inProcess(
      `players import ${home}/r.csv --key name -F address.city=Berlin -n --json`,
      { env, home },
    );
    expect(ran.stderr).toContain('Not used: address.city, because -F sets it in every row');
    expect(JSON.parse(ran.stdout)).toMatchObject({
      results: [{ after: { address: { city: 'Berlin', zip: '99', street: 'A' } } }],
    });
    expect(requests.every(({ method }) => method === 'GET')).toBe(true);
  });

  test.each([
    ['name,address,address.city', 'Zed,Foo,Bar'],
    ['name,address.city,address', 'Zed,Bar,Foo'],
    ['name,address.city,address', 'Zed,Bar,<clear>'],
  ])('refuses a new record with a field as a whole and in part: %s', async (head, row) => {
    const { env } = await listService({});
    const home = temporaryFolder();
    writeFileSync(join(home, 'r.csv'), `${head}\n${row}\n`);
    const ran = await inProcess(`players import ${home}/r.csv --key name -n`, { env, home });
    expect(ran.code).toBe(2);
    expect(ran.stderr).toContain('Line 2: address is filled as a whole and in part.');
  });

  test.each([
    'players import ~/r.csv --key id',
    'players import ~/r.csv --key id --csv-raw',
    'players update --csv ~/r.csv',
  ])('sends nothing to clear what is empty already: %s', async (words) => {
    const desk = await newDesk();
    await desk.run('players update player_0002 -f nickname= -F badges[] -F shirt=null');
    desk.writes();
    desk.file('r.csv', 'id,nickname,badges,shirt\nplayer_0002,<clear>,<clear>,<clear>\n');
    expect((await desk.report(`${words} --yes`)).rows).toMatchObject([{ result: 'unchanged' }]);
    expect(desk.writes()).toEqual([]);
  });

  test('reads <clear> and the errors of a spreadsheet with --csv-raw as an update does', async () => {
    const { env } = await listService({
      players: [
        { id: 'p1', name: '#N/A', role: '<clear>' },
        { id: 'p2', name: 'Bob', role: 'Top' },
      ],
    });
    const home = temporaryFolder();
    const dryRun = async (csv: string, key: string) => {
      writeFileSync(join(home, 'r.csv'), csv);
      const raw = `players import ${home}/r.csv --key ${key} --csv-raw -n --json`;
      return inProcess(raw, { env, home });
    };
    const { stdout } = await dryRun('id,name,role\np1,#N/A,<clear>\np2,=Bob,<clear>\n', 'id');
    expect(JSON.parse(stdout)).toMatchObject({
      results: [{ result: 'unchanged' }, { after: { name: '=Bob', role: null } }],
    });
    const made = await dryRun('name,role\nZed,<clear>\n', 'name');
    expect(JSON.parse(made.stdout)).toMatchObject({ results: [{ after: { role: null } }] });
    for (const [csv, key] of [
      ['id,name\np2,#REF!\n', 'id'],
      ['name,role\nZed,#REF!\n', 'name'],
    ] as const)
      expect((await dryRun(csv, key)).stderr).toContain('holds the spreadsheet error #REF!.');
  });

  test('--create-only and --update-only skip the other rows', async () => {
    const desk = await newDesk();
    const { email } = playerAt(desk, 'player_0003');
    desk.file('roster.csv', `Name,E-Mail,Role\nAnn,a@example.org,Top\n,${String(email)},Top\n`);
    const updated = await desk.report(`${line} --update-only`);
    expect([updated.code, ...results(updated.rows)]).toEqual([
      0,
      ['email:a@example.org', 'skipped'],
      ['player_0003', 'changed'],
    ]);
    const created = await desk.report(`${line} --create-only`);
    expect([created.code, ...results(created.rows)]).toEqual([
      0,
      ['player_0032', 'changed'],
      ['player_0003', 'skipped'],
    ]);
  });

  test('a dry run shows both kinds and sends nothing; without --yes a script is refused', async () => {
    const desk = await newDesk();
    const { email } = playerAt(desk, 'player_0003');
    desk.file('roster.csv', `Name,E-Mail,Role\nAnn,a@example.org,Top\n,${String(email)},Top\n`);
    const dry = await desk.report('players import ~/roster.csv --key email -n --exit-code');
    expect(dry.code).toBe(12);
    expect(dry.stderr).toContain('  1 new, 1 changed (1 field)\n  New:\n    + Ann');
    const refused = await desk.run('players import ~/roster.csv --key email --json');
    expect([refused.code, errorOf(refused)['message']]).toEqual([
      2,
      expect.stringContaining('2 players would be imported.'),
    ]);
    expect(desk.writes()).toEqual([]);
  });

  test('a cell of another type is a wrong line, and the error says how to name a type', async () => {
    const desk = await newDesk();
    await desk.run('players create --name Ann -F email=a@example.org -F jersey=7');
    desk.file('roster.csv', 'Name,E-Mail,jersey\nBea,b@example.org,010\n');
    const refused = await desk.run('players import ~/roster.csv --key email --yes --json');
    expect([refused.code, errorOf(refused)]).toMatchObject([
      2,
      {
        message: 'Line 2: jersey holds "010", which is not a number.',
        hint: expect.stringContaining('name the column jersey:text, jersey:int,'),
      },
    ]);
  });

  test('a dry run at a terminal lists the rows in the words of the preview, with teams by name', async () => {
    const desk = await newDesk();
    const { email } = playerAt(desk, 'player_0003');
    desk.file(
      'roster.csv',
      `Name,E-Mail,Team\nAnn,a@example.org,Lanternfish\n,${String(email)},Paper Lions\n`,
    );
    const words = ['players', 'import', `${desk.home}/roster.csv`, '--key', 'email', '--dry-run'];
    const env = { ...desk.env, NO_COLOR: '1' };
    const { printed, code } = await converse(desk.home, words, [], env, 100);
    expect(code).toBe(0);
    const lines = printed.trimEnd().split(/\r*\n/);
    expect(lines.slice(-6)).toEqual([
      '  1 new, 1 changed (1 field)',
      '  New:',
      '    + Ann <a@example.org> → Lanternfish',
      '  Changed:',
      expect.stringMatching(/^ {4}player_0003 .* Teams \+Paper Lions -\S/),
      '2 would be imported. Nothing was sent.',
    ]);
    expect(desk.writes()).toEqual([]);
  });

  test('a team whose name holds a semicolon is one team', async () => {
    const desk = await newDesk();
    await desk.run("teams update team_0001 --name 'Owls; Paper Lions'");
    const { email } = playerAt(desk, 'player_0003');
    desk.file('roster.csv', `E-Mail;Team\n${String(email)};"owls; Paper Lions"\n`);
    expect(await desk.run(line)).toMatchObject({ code: 0 });
    expect(playerAt(desk, 'player_0003')).toMatchObject({ teamIds: ['team_0001'] });
  });

  test('[] takes a player out of all teams', async () => {
    const desk = await newDesk();
    const { email } = playerAt(desk, 'player_0003');
    desk.file('roster.csv', `E-Mail,Team\n${String(email)},[]\n`);
    expect(await desk.run(line)).toMatchObject({ code: 0 });
    expect(playerAt(desk, 'player_0003')).toMatchObject({ teamIds: [] });
  });

  test('[] beside a team contradicts it', async () => {
    const desk = await newDesk();
    const { email } = playerAt(desk, 'player_0003');
    desk.file('roster.csv', `E-Mail,Team\n${String(email)},Lanternfish;[]\n`);
    const ran = await desk.run(line);
    expect([ran.code, desk.writes()]).toEqual([2, []]);
    expect(ran.stderr).toContain('Line 2: Team holds "[]", which is not a team.');
  });

  test.each([
    ['roster.csv', 'email\n', 'x\n'],
    ['roster.ndjson', '', '{"email":"x"}\n'],
  ])('%s of more than 200,000 rows is refused', async (file, head, row) => {
    const desk = await newDesk();
    desk.file(file, head + row.repeat(200_001));
    const refused = await desk.run(`players import ~/${file} --key email --yes --json`);
    expect([refused.code, errorOf(refused)['message']]).toEqual([
      2,
      expect.stringMatching(/has more than 200,000 rows\.$/),
    ]);
  });

  test('more rows than --max-changes send nothing', async () => {
    const desk = await newDesk();
    desk.file('roster.csv', roster);
    expect((await desk.run(`${line} --max-changes 2`)).code).toBe(11);
    expect((await desk.run(`${line} --expect 4`)).code).toBe(11);
    expect(desk.writes()).toEqual([]);
  });
});

describe('teams', () => {
  test('are found by name in any case, and one is created', async () => {
    const desk = await newDesk();
    desk.file('teams.csv', 'Team,Short name,Game\nLANTERNFISH,LAN,\nNight Foxes,NFX,Valorant\n');
    const { code, rows } = await desk.report('teams import ~/teams.csv --key name --yes');
    expect([code, ...results(rows)]).toEqual([
      0,
      ['team_0002', 'changed'],
      ['team_0007', 'changed'],
    ]);
    expect(desk.books('teams').get('team_0002')).toMatchObject({
      name: 'Lanternfish',
      shortName: 'LAN',
    });
  });

  test('named like the id of another one are created', async () => {
    const desk = await newDesk();
    desk.file('teams.csv', 'Name,Game\nLanternfish,Valorant\nteam_0002,Valorant\n');
    const { code, rows } = await desk.report('teams import ~/teams.csv --key name --yes');
    expect([code, ...results(rows).map(([id]) => id)]).toEqual([0, 'team_0002', 'team_0007']);
  });

  test('two of one name are named and refused', async () => {
    const desk = await newDesk();
    const team = desk.books('teams').get('team_0003');
    if (team) desk.books('teams').set('team_0003', { ...team, name: 'Lanternfish' });
    desk.file('roster.csv', 'E-Mail,Team\na@example.org,lanternfish\n');
    expect(errorOf(await desk.run(`${line} --json`))['message']).toBe(
      'Line 2: Team holds "lanternfish", but several teams have that name: team_0002, team_0003.',
    );
  });

  test('go to a field that is typed where no player shows one', async () => {
    const desk = await newDesk();
    desk.books('players').clear();
    desk.file('roster.csv', 'name,E-Mail,Squad\nAnn,a@example.org,Lanternfish\n');
    const teams = `--team-column Squad --team-field 'teamIds[]'`;
    const { code, stderr } = await desk.report(`${line} ${teams}`);
    expect(code).toBe(0);
    expect(stderr).toContain(
      'There are no players yet, so the key and the fields could not be checked',
    );
    const [player] = desk.books('players').values();
    expect(player).toMatchObject({ name: 'Ann', email: 'a@example.org', teamIds: ['team_0002'] });
    expect((await desk.report(`${line} ${teams}`)).rows).toMatchObject([{ result: 'unchanged' }]);
  });
});

describe('an undo', () => {
  test('deletes what the import created and restores what it changed', async () => {
    const desk = await newDesk();
    const before = playerAt(desk, 'player_0003');
    desk.file(
      'roster.csv',
      `Name,E-Mail,Role\nAnn,a@example.org,Top\n,${String(before['email'])},Boss\n`,
    );
    await desk.report(line);
    const words = ['runs', 'undo', 'last', '-n'];
    const { shown } = await converse(desk.home, words, [], { ...desk.env, NO_COLOR: '1' }, 40);
    const lines = shown.trimEnd().split(/\r*\n/);
    expect(lines.filter((each) => each === '' || each.includes('would'))).toEqual([
      expect.stringMatching(/would be deleted$/),
      expect.stringMatching(/would change/),
      '2 would change. Nothing was sent.',
    ]);
    const asked = await desk.run('runs undo last --yes --json');
    expect(asked.code).toBe(2);
    const { code, rows, stderr } = await desk.report('runs undo last --yes --expect 2');
    expect([code, ...results(rows)]).toEqual([
      0,
      ['player_0032', 'changed'],
      ['player_0003', 'changed'],
    ]);
    expect(stderr).toContain(
      '1 created record will be deleted; 1 changed record will be restored.',
    );
    expect(desk.books('players').has('player_0032')).toBe(false);
    expect(playerAt(desk, 'player_0003')['role']).toBe(before['role']);
  });

  test('leaves a created record alone that somebody has changed', async () => {
    const desk = await newDesk();
    desk.file('roster.csv', 'Name,E-Mail\nAnn,a@example.org\n');
    const { run } = JSON.parse((await desk.run(`${line} --json`)).stdout) as { run: string };
    await desk.run('players update player_0032 -F role=IGL');
    const undone = await desk.report(`runs undo ${run} --yes`);
    expect([undone.code, ...results(undone.rows)]).toEqual([6, ['player_0032', 'conflict']]);
  });
});

describe('an answer that is lost', () => {
  test('of a create is found by its key, and the create is not sent twice', async () => {
    const desk = await newDesk({
      faults: ['POST /players #1 close-after', 'POST /players #3 close-after'],
    });
    desk.file('roster.csv', roster);
    const { code, rows } = await desk.report(line);
    expect([code, ...results(rows)]).toEqual([
      0,
      ['player_0032', 'changed'],
      ['player_0033', 'changed'],
      ['player_0034', 'changed'],
    ]);
    expect(desk.writes()).toHaveLength(3);
  });

  test('of a create that was not done stays unknown, until --restart sends it again', async () => {
    const desk = await newDesk({ faults: ['POST /players #1 close-before'] });
    desk.file('roster.csv', 'Name,E-Mail\nMira,Mira@Example.com\n');
    expect((await desk.run(`${line} -n -o ids`)).stdout).toBe('');
    const first = await desk.report(line);
    expect([first.code, ...results(first.rows)]).toEqual([
      10,
      ['email:mira@example.com', 'unknown'],
    ]);
    expect(first.rows[0]?.error?.message).toContain(
      'No single player has the email "Mira@Example.com"',
    );
    const second = await desk.report(line);
    expect([second.code, ...results(second.rows)]).toEqual([
      10,
      ['email:mira@example.com', 'unknown'],
    ]);
    expect(second.stderr).toMatch(
      /If it was not created, add --restart\. If it was, delete the run: rosterctl runs prune \S+\n/,
    );
    expect(desk.writes()).toHaveLength(1);
    const third = await desk.report(`${line} --restart`);
    expect([third.code, ...results(third.rows)]).toEqual([0, ['player_0032', 'changed']]);
    expect(desk.writes()).toHaveLength(1);
  });

  test('of a create without a record in its answer is looked up by the key', async () => {
    const desk = await newDesk({ shapes: ['create.players=204'] });
    desk.file('roster.csv', roster);
    const { code, rows } = await desk.report(line);
    expect([code, rows.map(({ id }) => id)]).toEqual([
      0,
      ['player_0032', 'player_0033', 'player_0034'],
    ]);
  });
});

test('the dry run of an interrupted import shows the rows that are left', async () => {
  const desk = await newDesk({ faults: ['POST /players #2 throttle'] });
  desk.file('roster.csv', roster);
  expect((await desk.run(`${line} --retries 0 --concurrency 1`)).code).toBe(9);
  const dry = await desk.run(`${line} -n`);
  expect(dry.stderr).toMatch(/1 player to import in [^]+ E-mail - → \S+@/);
});

test('an import that the service stopped is resumed without the file, and refused rows are retried', async () => {
  const desk = await newDesk({
    faults: ['POST /players #2 throttle', 'POST /players #3 status=400:invalidRequest'],
  });
  desk.file('roster.csv', roster);
  const first = await desk.report(`${line} --retries 0 --concurrency 1`);
  expect([first.code, first.rows.map(({ result }) => result)]).toEqual([
    9,
    ['changed', 'not_attempted', 'failed'],
  ]);
  desk.file('roster.csv', '');
  const resumed = await desk.report('runs resume last --yes');
  expect([resumed.code, resumed.rows.map(({ result }) => result)]).toEqual([
    8,
    ['changed', 'changed', 'failed'],
  ]);
  const retried = await desk.report('runs retry last --yes');
  expect([retried.code, ...results(retried.rows)]).toEqual([0, ['player_0034', 'changed']]);
  expect(
    new Set(
      ['mira', 'jonas', 'nadja'].map(
        (name) =>
          [...desk.books('players').values()].filter(({ name: own }) =>
            String(own).toLowerCase().startsWith(name),
          ).length,
      ),
    ),
  ).toEqual(new Set([1]));
});

describe('a key that the service does not keep', () => {
  const shapes = ['record.players={"id":"$id"}'];

  test('stops the import after the first create, and repeating the line sends nothing', async () => {
    const desk = await newDesk({ shapes });
    desk.books('players').clear();
    desk.file('roster.csv', roster.replaceAll(/,[^,\n]*,[^,\n]*$/gm, ''));
    const first = await desk.report(line);
    expect(first.code).toBe(11);
    expect(first.rows.map(({ result }) => result)).toEqual([
      'failed',
      'not_attempted',
      'not_attempted',
    ]);
    expect(first.rows[0]).toMatchObject({
      step: 'created',
      after: { id: 'player_0032' },
      error: {
        code: 'keyLost',
        message: expect.stringContaining(
          'player_0032 was created, but does not show the email "mira@example.com"',
        ) as string,
      },
    });
    expect(first.rows[0]?.error?.message).toContain('Not shown: name, email, Role.');
    expect(first.stderr).toContain('choose another --key: rosterctl players delete player_0032');
    expect(first.stderr).not.toContain('runs resume');
    expect(desk.writes()).toEqual(['POST /v1/players']);
    const again = await desk.report(line);
    const resumed = await desk.report('runs resume last --yes');
    expect([again.code, resumed.code, desk.writes()]).toEqual([11, 11, []]);
  });
});

test('a template is a table that import takes', async () => {
  const desk = await newDesk();
  const { stdout } = await desk.run('players template -o csv');
  expect(stdout.split('\r\n')[0]).toBe(
    'name,email,discordUserId,discordUsername,gamerTags.0.game,gamerTags.0.gamerTag,Team,role,kind,legacyRef',
  );
  desk.file(
    'roster.csv',
    `${stdout}Ann,a@example.org,1,ann,Chess,A#1,Lanternfish,IGL,player,P-1\r\n`,
  );
  expect(results((await desk.report(line)).rows)).toEqual([['player_0032', 'changed']]);
});

test('a template of records with other types says what each column takes, and one of none has a name', async () => {
  const players = [
    { id: 'p1', name: 'Ann', paid: true, level: 3, teamId: 't1' },
    { id: 'p2', name: 'Ben', paid: false, level: 4, teamId: 't2' },
  ];
  const teams = ['t1', 't2'].map((id) => ({ id, name: `Team ${id}` }));
  const { env } = await listService({ players, teams, documents: [], tryouts: [] });
  const shown = await inProcess('players template', { env, home: temporaryFolder() });
  expect(shown.stdout.trimEnd().split('\n')).toEqual([
    'column\tfield\ttype',
    'name\tname\ttext',
    'paid\tpaid\ttrue or false',
    'level\tlevel\tnumber',
    'Team\tteamId\tname of a team',
  ]);
  const empty = await listService({ players: [], teams, documents: [], tryouts: [] });
  const none = await inProcess('players template -o csv', {
    env: empty.env,
    home: temporaryFolder(),
  });
  expect([none.stdout, none.stderr]).toEqual([
    expect.stringMatching(/^name\r\n/),
    expect.stringContaining('There are no players yet, so their fields are not known.'),
  ]);
});

test('a template has a column for a key that is a number, which import takes', async () => {
  const desk = await newDesk();
  for (const record of desk.books('players').values())
    Object.assign(record, { ratings: { 2025: 3, 2026: 4 }, seats: [{ row: 1 }, { row: 2 }] });
  const { stdout } = await desk.run('teams template -o csv');
  expect(stdout).not.toContain('ratings');
  const shown = await desk.run('players template -o csv');
  const columns = shown.stdout.trimEnd().split('\r\n')[0]?.split(',') ?? [];
  expect(columns.slice(-3)).toEqual(['ratings.2025', 'ratings.2026', 'seats.0.row']);
  desk.file('roster.csv', 'name,email,ratings.2025\nAnn,ann@example.org,9\n');
  const { rows } = await desk.report(line);
  expect(rows[0]?.after).toMatchObject({ ratings: { 2025: 9 } });
});

test('a template written to a file says how to import it', async () => {
  const desk = await newDesk();
  const written = await converse(desk.home, ['players', 'template', '--out', 'my roster.csv'], [], {
    ...desk.env,
    NO_COLOR: '1',
  });
  expect([written.code, written.shown.replaceAll('\r', '')]).toEqual([
    0,
    expect.stringContaining(
      "Wrote my roster.csv.\nFill it in, then import it: rosterctl players import 'my roster.csv' --key email",
    ),
  ]);
  expect((await desk.run('teams template --out ~/teams.csv')).stderr).toBe('');
});

test.each([
  ['this key cannot list', { faults: ['GET /teams/{id} status=403:forbidden'] }],
  ['may be incomplete', { shapes: ['list.teams={"teams":"$rows","total":999}'] }],
  ['came as no content', { shapes: ['list.teams=204'] }],
])('a template does without the names of teams whose list %s', async (_, options) => {
  const desk = await newDesk(options);
  const { code, stdout, stderr } = await desk.run('players template -o csv');
  expect([code, stdout.split('\r\n')[0]]).toEqual([
    0,
    'name,email,discordUserId,discordUsername,gamerTags.0.game,gamerTags.0.gamerTag,teamIds,role,kind,legacyRef',
  ]);
  expect(stderr).toContain('so a column of teams takes their ids.');
});

test('where ids are numbers, teams by name are sent as numbers, to the field that holds nothing else', async () => {
  const desk = await newDesk({ shapes: ['ids=number'] });
  for (const [index, record] of [...desk.books('players').values()].entries())
    Object.assign(record, { jersey: index });
  desk.file('roster.csv', 'email,name,Team\nann@example.org,Ann,Lanternfish\n');
  const { code, rows } = await desk.report(line);
  expect([code, rows[0]?.after?.['teamIds']]).toEqual([0, [2]]);
  expect((await desk.report(line)).rows[0]?.result).toBe('unchanged');
});

describe('a list that was exported', () => {
  test.each(['csv', 'xlsx'])('as %s and imported again changes nothing', async (format) => {
    const desk = await newDesk();
    await desk.run(`players list -o ${format} --out ~/players.${format}`);
    await desk.run(`teams list -o ${format} --out ~/teams.${format}`);
    const players = await desk.report(
      `players import ~/players.${format} --key email --expect 31 --yes`,
    );
    const teams = await desk.report(`teams import ~/teams.${format} --key name --yes`);
    expect([players.code, teams.code]).toEqual([0, 0]);
    const all = [...players.rows, ...teams.rows].map(({ result }) => result);
    expect([all.length, new Set(all)]).toEqual([37, new Set(['unchanged'])]);
    expect(desk.writes()).toEqual([]);
  });

  test('names the cells of a workbook that are wrong', async () => {
    const desk = await newDesk();
    await desk.run('players list --limit 3 -o xlsx --out ~/players.xlsx');
    const [id = ''] = (await desk.run('players list --limit 3 -o ids')).stdout.split('\n');
    const player = desk.books('players').get(id);
    if (player) desk.books('players').set(id, { ...player, email: 'x@example.org' });
    const ran = await desk.run('players import ~/players.xlsx --key email --yes --json');
    expect([ran.code, errorOf(ran)['message']]).toEqual([
      2,
      `A2: id holds "${id}", whose email is different: x@example.org.`,
    ]);
  });
});
