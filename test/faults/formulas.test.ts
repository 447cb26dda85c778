import { expect } from 'vitest';
import { fault } from './support/case.js';
import { payloads } from './support/payloads.js';
import { application, hostileWorld } from './support/world.js';

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
  // The checker sees them where nothing guards.
  expect(cellsOf(raw.stdout, ',').filter(isFormula).length).toBeGreaterThan(20);
});

/** A checker of its own: RFC 4180, independent of the program's reader and writer. */
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

/** What LibreOffice and Excel take for a formula once blanks before it are gone; a plain number is none. */
function isFormula(cell: string): boolean {
  // oxlint-disable-next-line no-control-regex
  const bare = cell.replace(/^[\s\u0000\ufeff]+/u, '');
  return /^[=+\-@＝＋－＠]/u.test(bare) && !/^[+-]?\d+(\.\d+)?$/.test(bare);
}
