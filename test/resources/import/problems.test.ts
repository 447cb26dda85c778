import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { converse } from '../../support/converse.js';
import { errorOf, temporaryFolder } from '../../support/run.js';
import { textRows, workbook } from '../../support/workbook.js';
import { newDesk } from './desk.js';

// Everything wrong with a file is said at once, and nothing is sent while anything is.

const line = 'players import ~/roster.csv --key email';

interface Problem {
  readonly what: string;
  readonly csv: string | Uint8Array;
  /** The whole message. */
  readonly says: string;
  readonly flags?: string;
}

const head = 'Name,E-Mail,Role,Team\n';
const problems: readonly Problem[] = [
  { what: 'an empty file', csv: '', says: '~/roster.csv is empty: it has no header.' },
  {
    what: 'no column for the key',
    csv: 'Name,Role\nMira,IGL\n',
    says: 'The file has no column for the key email. It has: Name, Role.',
  },
  {
    what: 'two columns for the key',
    csv: 'Mail,E-Mail address\na@example.org,b@example.org\n',
    says: 'The columns "Mail" and "E-Mail address" are both email.',
  },
  {
    what: 'an unknown column',
    csv: 'E-Mail,Rolle\na@example.org,IGL\n',
    says: 'Unknown column "Rolle". Did you mean role?',
  },
  {
    what: 'two columns for one field',
    csv: 'E-Mail,Role,role\na@example.org,IGL,Top\n',
    says: 'The columns "Role" and "role" are both role.',
  },
  {
    what: 'a renamed column that is not there',
    csv: `${head}Mira,a@example.org,IGL,\n`,
    flags: "--map 'Rolle=role'",
    says: '--map Rolle: the file has no such column.',
  },
  {
    what: 'an empty key',
    csv: `${head}Mira,,IGL,\n`,
    says: 'Line 2: E-Mail is empty, but it is the key.',
  },
  {
    what: 'a key on two lines, in another case',
    csv: `${head}Mira,mira@example.org,IGL,\n\nMira K,MIRA@example.org,IGL,\n`,
    says: 'Lines 2 and 4 have the same E-Mail: mira@example.org.',
  },
  {
    what: 'an unknown team',
    csv: `${head}Mira,a@example.org,IGL,Lanternfsh\n`,
    says: 'Line 2: Team holds "Lanternfsh", which is not a team. Did you mean Lanternfish (team_0002)?',
  },
  {
    what: 'an unknown id of a team',
    csv: `${head}Mira,a@example.org,IGL,id:team_9\n`,
    says: 'Line 2: Team holds "id:team_9", which is not a team.',
  },
  {
    what: 'a number that a spreadsheet shortened',
    csv: 'E-Mail,Discord ID\na@example.org,9.00E+18\n',
    says: 'Line 2: Discord ID holds 9.00E+18: a spreadsheet shortened a long number and lost its last digits.',
  },
  {
    what: 'an error of a spreadsheet',
    csv: `${head}Mira,a@example.org,#REF!,\n`,
    says: 'Line 2: Role holds the spreadsheet error #REF!.',
  },
  {
    what: 'a row with too few cells',
    csv: `${head}Mira,a@example.org\n`,
    says: 'Line 2 has 2 cells, but the header has 4.',
  },
  {
    what: 'a row with one cell',
    csv: `${head}Mira\n`,
    says: 'Line 2 has 1 cell, but the header has 4.',
  },
  {
    what: 'a row with too many cells',
    csv: `${head}Kite, Mira,a@example.org,IGL,\n`,
    says: 'Line 2 has 5 cells, but the header has 4.',
  },
  {
    what: 'the header again',
    csv: `${head}Mira,a@example.org,IGL,\n${head}`,
    says: 'Line 3 repeats the header.',
  },
  {
    what: 'a cell in a column without a name',
    csv: 'E-Mail,Role,\na@example.org,IGL,oops\n',
    says: 'Line 2: column 3 holds "oops", but it has no name.',
  },
  {
    what: 'a key that is cleared',
    csv: `${head}Mira,<clear>,IGL,\n`,
    says: 'Line 2: E-Mail is empty, but it is the key.',
  },
  {
    what: 'a cell of another type',
    csv: 'E-Mail,Role,shirt:int\na@example.org,IGL,ten\n',
    flags: "--map 'shirt:int=shirt:int'",
    says: 'Line 2: shirt:int holds "ten", which is not a whole number.',
  },
  {
    what: 'the type of another tool',
    csv: 'E-Mail,shirt:number\na@example.org,10\n',
    says: 'The column "shirt:number" has an unknown type: number.',
  },
  {
    what: 'another organization',
    csv: 'E-Mail,organizationId\na@example.org,org_other\n',
    says: 'Line 2: organizationId holds "org_other", but this profile is for org_demo.',
  },
  {
    what: 'an id whose e-mail was changed, which would make a second record',
    csv: 'id,E-Mail\nplayer_0001,new@example.org\n',
    says: 'Line 2: id holds "player_0001", whose email is different: nimbus.kite@example.com.',
  },
  {
    what: 'a Windows-1252 file',
    csv: Buffer.from('Name,E-Mail\nAnn,a@example.org\nJ\xfcrgen Wei\xdf,j@example.org\n', 'latin1'),
    says: '~/roster.csv is not UTF-8 text: line 3 reads "Jürgen" in Windows-1252, as some spreadsheets save a CSV.',
  },
  {
    what: 'a UTF-8 file called Windows-1252',
    csv: 'Name,E-Mail\nJürgen,j@example.org\n',
    flags: '--encoding windows-1252',
    says: '~/roster.csv is UTF-8 text, not Windows-1252.',
  },
  {
    what: 'a key that no record has',
    csv: 'emial\na@example.org\n',
    flags: '--key emial',
    says: '--key emial: no player has that field. Did you mean email?',
  },
  {
    what: 'an id that no record has',
    csv: 'id,role\nplayer_0909,IGL\n',
    flags: '--key id',
    says: 'Line 2: id holds "player_0909", but no player has that id. Did you mean player_0009?',
  },
];

test.each(problems)('$what is refused', async ({ csv, says, flags = '' }) => {
  const desk = await newDesk();
  desk.file('roster.csv', csv);
  const key = flags.includes('--key') ? line.replace(' --key email', '') : line;
  const ran = await desk.run(`${key} --yes --json ${flags}`);
  expect([ran.code, errorOf(ran)['message']]).toEqual([2, says.replace('~', desk.home)]);
  expect(ran.stdout).toBe('');
  expect(desk.writes()).toEqual([]);
});

test('all problems of a file are said at once, each with its line and column', async () => {
  const desk = await newDesk();
  desk.file(
    'roster.csv',
    `${head}Mira,,IGL,Lanternfsh\nAnn,ann@example.org,#N/A,\nBo,bo@example.org,IGL,Falkenmoor\n`,
  );
  const ran = await desk.run(`${line} --yes --json`);
  expect(errorOf(ran)).toMatchObject({
    message: [
      '4 problems:',
      'Line 2: Team holds "Lanternfsh", which is not a team. Did you mean Lanternfish (team_0002)?',
      'Line 2: E-Mail is empty, but it is the key.',
      'Line 3: Role holds the spreadsheet error #N/A.',
      'Line 4: Team holds "Falkenmoor", which is not a team. Did you mean Falkenmoor Vanguard (team_0001)?',
    ].join('\n'),
    exitCode: 2,
  });
  expect(String(errorOf(ran)['hint'])).toContain('To import the other rows: --skip-invalid');
});

test.each([
  ['too many cells', 'b@example.org,Bo,IGL\n', 'Line 3 has 3 cells, but the header has 2.'],
  ['too few cells', 'b@example.org\n', 'Line 3 has 1 cell, but the header has 2.'],
  ['the header again', 'E-Mail,Name\n', 'Line 3 repeats the header.'],
])('a row with %s is refused before anything is sent', async (_, row, says) => {
  const desk = await newDesk();
  desk.file('roster.csv', `E-Mail,Name\na@example.org,Ann\n${row}`);
  expect(errorOf(await desk.run(`${line} --yes --json`))).toMatchObject({
    message: says,
    hint: expect.stringContaining('To import the other rows: --skip-invalid'),
    exitCode: 2,
  });
  expect(desk.requests()).toBe(0);
});

test('several unknown columns need one line of advice, and a near one is mapped in it', async () => {
  const desk = await newDesk();
  desk.file('roster.csv', 'E-Mail,Spieler,Geburtstag,Rolle\na@example.org,Mira,2008,IGL\n');
  const ran = await desk.run(`${line} --yes --json`);
  expect(errorOf(ran)['hint']).toBe(
    'Map them: --map Rolle=role --map COLUMN=FIELD. Or skip unknown columns: --ignore-columns\nThe fields: rosterctl players template',
  );
});

test('the advice on a column can be pasted whatever the column is called', async () => {
  const desk = await newDesk();
  desk.file('roster.csv', 'E-Mail,ro`le\na@example.org,IGL\n');
  const ran = await desk.run(`${line} --yes --json`);
  expect(errorOf(ran)['hint']).toBe(
    "Map it: --map 'ro`le=role'. Or skip unknown columns: --ignore-columns",
  );
});

test.each([
  [
    'Club roster 2026\n\nE-Mail,Role\na@example.org,IGL\n',
    "Name the column: --map 'THEIR NAME=email'\nIf the first row is a title, delete the rows above the column names.",
  ],
  [
    'E-Mail|Role\na@example.org|IGL\n',
    "Name the column: --map 'THEIR NAME=email'\nSeparate the columns by commas, semicolons or tabs.",
  ],
  [
    'E-Mail;rating\na@example.org;0,75\n',
    'Write decimals with a point, such as 0.5.\nNothing was sent. To import the other rows: --skip-invalid',
  ],
])('a file as spreadsheets save it is answered with what to do: %j', async (csv, hint) => {
  const desk = await newDesk();
  const players = desk.books('players');
  for (const [id, player] of players) players.set(id, { ...player, rating: 1.5 });
  desk.file('roster.csv', csv);
  expect(errorOf(await desk.run(`${line} --yes --json`))['hint']).toBe(hint);
  expect(desk.writes()).toEqual([]);
});

test('of many problems the first 20 are listed and the rest counted', async () => {
  const desk = await newDesk();
  const rows = Array.from({ length: 30 }, (_, at) => `p${at}@example.org,#REF!`);
  desk.file('roster.csv', ['E-Mail,Role', ...rows].join('\n'));
  const message = String(errorOf(await desk.run(`${line} --yes --json`))['message']).split('\n');
  expect(message).toHaveLength(22);
  expect([message[0], message.at(-1)]).toEqual(['30 problems:', 'And 10 more problems.']);
});

test('--skip-invalid imports the other rows and exits 8', async () => {
  const desk = await newDesk();
  desk.file('roster.csv', `${head}Mira,,IGL,\nAnn,ann@example.org,IGL,Lanternfish\n`);
  const { code, rows } = await desk.report(`${line} --yes --skip-invalid`);
  expect(code).toBe(8);
  expect(rows).toMatchObject([
    {
      row: 2,
      id: 'line 2',
      result: 'failed',
      error: { message: 'Line 2: E-Mail is empty, but it is the key.' },
    },
    { row: 3, id: 'player_0032', result: 'changed' },
  ]);
  expect(desk.writes()).toEqual(['POST /v1/players']);
});

test('a file with a header and no rows is nothing to do', async () => {
  const desk = await newDesk();
  desk.file('roster.csv', 'Name,E-Mail\n');
  const ran = await desk.run(line);
  expect([ran.code, ran.stderr]).toEqual([
    0,
    `${desk.home}/roster.csv has no rows.\nNothing to do.\n`,
  ]);
});

test('a key on two lines is listed once in the preview, and counts for both', async () => {
  const desk = await newDesk();
  const rows = ['Ann,ann@example.org', 'Bea,ANN@example.org', 'Cem,cem@example.org'];
  desk.file('roster.csv', ['Name,E-Mail', ...rows].join('\n'));
  const { stderr } = await desk.report(`${line} --yes --skip-invalid`);
  expect(stderr).toContain('1 new, 2 invalid\n');
  expect(stderr.match(/Lines 2 and 3 have the same E-Mail/g)).toHaveLength(1);
});

test('two spellings of a name that find one record are a problem of both lines', async () => {
  const desk = await newDesk();
  desk.file('teams.csv', 'Name,game\nLANTERNFISH,Chess\nlanternfish,Go\nPaper Lions,Go\n');
  const ran = await desk.run('teams import ~/teams.csv --key name --yes --json');
  expect([ran.code, errorOf(ran)['message']]).toEqual([
    2,
    'Lines 2 and 3: Name names the same team.',
  ]);
  expect(desk.writes()).toEqual([]);
});

test('an import whose wrong lines were skipped asks to fix them, not to retry them', async () => {
  const home = temporaryFolder();
  writeFileSync(
    join(home, 'roster.csv'),
    `${head}Mira,,IGL,\nAnn,ann@example.org,IGL,Lanternfish\n`,
  );
  const words = `-p sandbox ${line.replace('~/', '')} --yes --skip-invalid`.split(' ');
  const { shown, code } = await converse(home, words, [], { NO_COLOR: '1' });
  expect(code).toBe(8);
  expect(shown).toContain('Fix these lines, then import the file again.');
  expect(shown).not.toContain('runs retry');
});

test('a key that several records have names their ids', async () => {
  const desk = await newDesk();
  const players = desk.books('players');
  for (const id of ['player_0004', 'player_0009']) {
    const player = players.get(id);
    if (player) players.set(id, { ...player, email: 'Two@example.org' });
  }
  desk.file('roster.csv', 'E-Mail,Role\ntwo@example.org,IGL\n');
  expect(errorOf(await desk.run(`${line} --yes --json`))['message']).toBe(
    'Line 2: E-Mail holds "two@example.org", which several players have: player_0004, player_0009.',
  );
});

/** A workbook whose key is 42 in a cell of these attributes. */
function keyed(attributes: string): Buffer {
  const cells = `<c ${attributes}><v>42</v></c><c t="str"><v>Zoe</v></c>`;
  return workbook({ rows: `${textRows([['legacyRef', 'Name']])}<row r="2">${cells}</row>` });
}

test('a key that a spreadsheet shortened creates no second record', async () => {
  const desk = await newDesk();
  const players = desk.books('players');
  const refs = { player_0004: '0042', player_0009: '123456789012345678' };
  for (const [id, legacyRef] of Object.entries(refs)) {
    const player = players.get(id);
    if (player) players.set(id, { ...player, legacyRef });
  }
  const byRef = 'players import ~/roster.csv --key legacyRef --yes --json';
  const rows = 'Name\n42,Zoe\n123456789012345000,Bo\n';
  desk.file('roster.csv', `legacyRef,${rows}`);
  expect(errorOf(await desk.run(byRef))['message']).toBe(
    [
      '2 problems:',
      'Line 2: legacyRef holds "42", which is what spreadsheets make of 0042 (player_0004).',
      'Line 3: legacyRef holds "123456789012345000", which is what spreadsheets make of 123456789012345678 (player_0009).',
    ].join('\n'),
  );
  desk.file('roster.csv', keyed(''));
  expect(errorOf(await desk.run(byRef))['message']).toContain('A2: legacyRef holds "42", which is');
  expect(desk.writes()).toEqual([]);
  // What is said to be text means what it says.
  desk.file('roster.csv', keyed('t="str"'));
  expect((await desk.run(byRef)).code).toBe(0);
  desk.file('roster.csv', `legacyRef:text,${rows.replace('42', '43')}`);
  expect((await desk.run(byRef)).code).toBe(0);
  expect(desk.writes()).toHaveLength(3);
});

test('a list that may be incomplete is refused', async () => {
  const desk = await newDesk({ shapes: ['list.players={"players":"$rows","total":999}'] });
  desk.file('roster.csv', 'E-Mail,Role\ntwo@example.org,IGL\n');
  const ran = await desk.run(`${line} --yes --json`);
  expect([ran.code, errorOf(ran)['code']]).toEqual([11, 'incomplete']);
});
