import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { temporaryFolder } from '../support/run.js';
import { fault } from './support/case.js';
import { payloads } from './support/payloads.js';
import { application, file, hostileWorld, player, team } from './support/world.js';

fault('F130', 'no cell of an export is a formula', async (attack) => {
  const rows = payloads.map((name, at) => ({
    ...application,
    id: `app_${at}`,
    name,
    internalNotes: name,
    formResponses: { [name]: name },
    gamerTags: [{ id: 'g', game: name, gamerTag: name }],
  }));
  const world = await hostileWorld({ api: () => ({ json: { applications: rows } }) });
  for (const flags of [
    '',
    ' --bom',
    ' --delimiter ;',
    ' --delimiter tab',
    ' --fields name,internalNotes',
  ]) {
    const ran = await attack(`tryouts list -o csv${flags}`, { env: world.env });
    expect(ran.code).toBe(0);
    const mark = flags.includes(';') ? ';' : flags.includes('tab') ? '\t' : ',';
    const cells = cellsOf(ran.stdout.replace(/^\ufeff/, ''), mark);
    expect(cells.length).toBeGreaterThan(payloads.length * 2);
    expect(cells.filter(isFormula)).toEqual([]);
  }
  const raw = await attack('tryouts list -o csv --csv-raw', { env: world.env });
  // The checker finds them without guards.
  expect(cellsOf(raw.stdout, ',').filter(isFormula).length).toBeGreaterThan(20);
});

/** A record whose name, fields and nested values are formulas for a spreadsheet. */
function hostile(row: object, id: string, at: number): object {
  const payload = payloads[at] ?? '';
  const next = payloads[(at + 1) % payloads.length];
  return { ...row, id, name: payload, [payload]: payload, nested: { [payload]: [payload, next] } };
}

const listOf = (row: object, name: string) =>
  payloads.map((_, at) => hostile(row, `${name}_${at}`, at));

fault('F130', 'no cell of any other CSV view or file is a formula', async (attack) => {
  const lists: Record<string, readonly object[]> = {
    teams: listOf(team, 'team'),
    players: listOf(player, 'player'),
    documents: listOf(file, 'doc'),
    'tryout-applications': listOf(application, 'app').map((row, at) => ({
      ...row,
      gamerTags: [{ id: 'g', game: payloads[at], gamerTag: payloads[at] }],
    })),
  };
  const world = await hostileWorld({
    api: ({ method, url }) => {
      const [, , resource = '', ...rest] = url.split(/[/?]/);
      const list = lists[resource];
      const id = rest.find((word) => /^(?:team|player|doc|app)_\d+$/.test(word));
      if (!list) return undefined;
      if (id === undefined) return { json: list };
      const row = list.find((each) => 'id' in each && each.id === id);
      return method === 'GET'
        ? { json: row }
        : { status: 409, json: { error: '=1+1', message: '=HYPERLINK("http://evil.example")' } };
    },
  });
  const home = temporaryFolder('formulas');
  const input = join(home, 'input.csv');
  writeFileSync(input, 'id,=1+1,status\napp_0,@SUM(1),rejected\napp_1,-1+1,rejected\n');
  const selection = `--csv ${input} --ignore-columns --yes`;
  const views: readonly (readonly [line: string, cells: number])[] = [
    ['teams list', 100],
    ['players list', 100],
    ['docs list', 100],
    ['teams get team_3', 6],
    ['tryouts get app_1 app_2', 30],
    ['tryouts stats', 2],
    ['api /tryout-applications --param organizationId=org_7 --paginate', 100],
    ['tryouts list --fields name,nested,gamerTags', 50],
    [`tryouts set-status ${selection} --results ${join(home, 'results.csv')}`, 6],
    ['runs list', 6],
    ['config list', 10],
  ];
  await attack('config set pager "=cmd()"', { env: world.env, home });
  for (const [line, least] of views) {
    const ran = await attack(`${line} -o csv`, { env: world.env, home });
    const cells = cellsOf(ran.stdout, ',');
    expect(cells.length, `${line}: ${ran.stderr}`).toBeGreaterThanOrEqual(least);
    expect(cells.filter(isFormula), line).toEqual([]);
  }
  const results = cellsOf(readFileSync(join(home, 'results.csv'), 'utf8'), ',');
  expect(results).toContain("'=1+1");
  expect(results).toContain("'@SUM(1)");
  expect(results.filter(isFormula)).toEqual([]);
});

/** An independent RFC 4180 checker, not the program's reader and writer. */
function cellsOf(text: string, mark: string): string[] {
  const cells: string[] = [];
  let at = 0;
  while (at < text.length) {
    let cell = '';
    if (text[at] === '"') {
      at += 1;
      for (; at < text.length; at += 1) {
        if (text[at] !== '"') cell += text[at];
        else if (text[at + 1] === '"') {
          cell += '"';
          at += 1;
        } else break;
      }
      at += 1;
    } else {
      const start = at;
      while (at < text.length && text[at] !== mark && text[at] !== '\r' && text[at] !== '\n')
        at += 1;
      cell = text.slice(start, at);
    }
    cells.push(cell);
    if (text.startsWith('\r\n', at)) at += 2;
    else at += 1;
  }
  return cells;
}

/** What LibreOffice and Excel treat as a formula after leading blanks; not a plain number. */
function isFormula(cell: string): boolean {
  // oxlint-disable-next-line no-control-regex
  const bare = cell.replace(/^[\s\u0000\ufeff]+/u, '');
  return /^[=+\-@＝＋－＠]/u.test(bare) && !/^[+-]?\d+(\.\d+)?$/.test(bare);
}
