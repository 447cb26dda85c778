import { expect, test } from 'vitest';
import { newDesk } from './desk.js';

const lines = (...records: readonly object[]) =>
  `${records.map((record) => JSON.stringify(record)).join('\n')}\n`;

/** What a service does not set itself. */
function bare(players: readonly object[]) {
  return players
    .map((each) => ({ ...each, id: '', createdAt: '', updatedAt: '', legacyRef: '' }))
    .map((each) => Object.fromEntries(Object.entries(each).filter(([, value]) => value !== null)))
    .toSorted((a, b) => String(a['email']).localeCompare(String(b['email'])));
}

test('records of an .ndjson are created with the types and values that they have', async () => {
  const desk = await newDesk();
  const all = JSON.parse((await desk.run('players list -o json')).stdout) as { id: string }[];
  desk.file('players.ndjson', lines(...all));
  const before = structuredClone([...desk.books('players').values()]);
  expect((await desk.run(`players delete --all --yes --expect ${all.length}`)).code).toBe(0);
  const { code, rows } = await desk.report('players import ~/players.ndjson --key email --yes');
  expect([code, new Set(rows.map(({ result }) => result))]).toEqual([0, new Set(['changed'])]);
  const made = [...desk.books('players').values()];
  expect(bare(made)).toEqual(bare(before));
});

test('the same file again sends nothing, and a later change is taken back', async () => {
  const desk = await newDesk();
  desk.file('players.ndjson', (await desk.run('players list -o ndjson')).stdout);
  desk.writes();
  const again = await desk.report('players import ~/players.ndjson --key email --yes');
  expect([again.code, desk.writes()]).toEqual([0, []]);
  await desk.run('players update player_0001 -F role=Coach -F rank=null');
  desk.writes();
  const back = await desk.report('players import ~/players.ndjson --key email --yes');
  expect(back.code).toBe(0);
  expect(back.rows.filter(({ result }) => result === 'changed')).toMatchObject([
    { id: 'player_0001', after: { role: 'Duelist' } },
  ]);
  expect(desk.writes()).toEqual(['PATCH /v1/players/player_0001']);
});

test('fields go by their own names, lists and objects are whole, and null empties a field', async () => {
  const desk = await newDesk();
  const email = 'nimbus.kite@example.com';
  const record = {
    email,
    Position: 'x',
    gamerTags: [],
    '007': '007',
    big: { list: [1.5, null] },
  };
  desk.file('one.ndjson', `${lines({ ...record, role: null })}\n`);
  const ran = await desk.run('players import ~/one.ndjson --key email --yes');
  expect([ran.code, ran.stderr]).toEqual([0, expect.stringContaining('1 changed')]);
  const stored = desk.books('players').get('player_0001');
  expect(stored).toMatchObject({ ...record, role: null });
});

test('every line that is no record is named', async () => {
  const desk = await newDesk();
  desk.file('bad.ndjson', '{"email":"a@example.org"}\n[1]\n\n{"email":\n');
  const ran = await desk.run('players import ~/bad.ndjson --key email --yes');
  expect([ran.code, desk.writes()]).toEqual([2, []]);
  expect(ran.stderr).toContain('Line 2 is not a JSON object.');
  expect(ran.stderr).toContain('Line 4 is not a JSON object.');
  desk.file('none.ndjson', '');
  expect((await desk.run('players import ~/none.ndjson --key email --yes')).code).toBe(2);
});

test('a JSON array is named as one', async () => {
  const desk = await newDesk();
  for (const text of ['[{"email":"a@example.org"}]', '\ufeff[\n  {\n']) {
    desk.file('array.json', text);
    const ran = await desk.run('players import ~/array.json --key email --yes');
    expect([ran.code, desk.writes()]).toEqual([2, []]);
    expect(ran.stderr).toContain('holds a JSON array, but an import reads one record per line.');
    expect(ran.stderr).toContain('-o ndjson');
  }
});

test('a flag for spreadsheets is refused', async () => {
  const desk = await newDesk();
  desk.file('players.ndjson', lines({ email: 'a@example.com' }));
  for (const flag of ['--sheet Roster', '--take-formulas', '--encoding windows-1252']) {
    const ran = await desk.run(`players import ~/players.ndjson --key email --yes ${flag}`);
    expect(ran.code).toBe(2);
    expect(ran.stderr).toContain(`holds NDJSON: ${flag.split(' ')[0]} is for spreadsheets.`);
  }
});
