import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { errorOf, rosterctl } from '../../support/run.js';
import { desk } from '../../support/upload-desk.js';

test('a manifest names each document and its tags, and --results writes it again with the ids', async () => {
  const { home, upload, documents } = await desk({
    'a.txt': 'one',
    'b.txt': 'two',
    'papers.csv': '\ufeffPath;Name;Tags\r\na.txt;House rules;"legal;2026"\r\n\r\nb.txt;;\r\n',
  });
  const ran = await upload('--manifest papers.csv --tag all --results out.csv');
  expect([ran.code, JSON.parse(ran.stdout).results]).toMatchObject([
    0,
    [
      { row: 2, id: 'a.txt', after: { id: 'doc_1' } },
      { row: 4, id: 'b.txt', after: { id: 'doc_2' } },
    ],
  ]);
  expect(documents).toMatchObject([
    { name: 'House rules', tags: ['all', 'legal', '2026'] },
    { name: 'b.txt', tags: ['all'] },
  ]);
  const written = readFileSync(join(home, 'out.csv'), 'utf8');
  expect(written.split('\r\n')).toEqual([
    'Path,Name,Tags,result,error_code,message,id',
    'a.txt,House rules,legal;2026,changed,,,doc_1',
    'b.txt,,,changed,,,doc_2',
    '',
  ]);
  const again = await upload('--manifest out.csv --results out2.csv');
  expect([again.code, JSON.parse(again.stdout).summary]).toMatchObject([0, { skipped: 2 }]);
  expect(readFileSync(join(home, 'out2.csv'), 'utf8').split('\r\n')[0]).toBe(
    'Path,Name,Tags,result,error_code,message,id',
  );
});

test('paths are relative to the folder of the manifest', async () => {
  const { home, run, documents } = await desk({ 'a.txt': 'outer' });
  mkdirSync(join(home, 'in'));
  writeFileSync(join(home, 'in', 'a.txt'), 'inner');
  writeFileSync(join(home, 'in', 'm.csv'), 'file,tag\na.txt,"[""x;y"",""z""]"\n../a.txt,\n');
  expect((await run(`docs upload --manifest ${home}/in/m.csv`)).code).toBe(0);
  expect(documents).toMatchObject([
    { sizeBytes: 5, tags: ['x;y', 'z'] },
    { sizeBytes: 5, tags: [] },
  ]);
});

test.each(['/dev/fd/3 3< in/m.csv', '/dev/stdin < in/m.csv', '- < in/m.csv'])(
  'paths of a manifest that the shell opened are relative to the current folder: %s',
  async (opened) => {
    const { home, api, documents } = await desk({ 'a.txt': 'outer' });
    mkdirSync(join(home, 'in'));
    writeFileSync(join(home, 'in', 'm.csv'), 'path\na.txt\n');
    const through = `exec "$@" --manifest ${opened}`;
    const ran = await rosterctl('docs upload', { env: api.env, home, through });
    expect([ran.code, ran.stderr]).toEqual([0, expect.stringContaining('1 uploaded')]);
    expect(documents).toMatchObject([{ name: 'a.txt', sizeBytes: 5 }]);
  },
);

test.each([
  ['path,nmae\na.txt,x\n', 'Unknown column "nmae". Did you mean name?'],
  ['name,tags\nx,y\n', 'has no column "path"'],
  ['path,path\na.txt,b.txt\n', 'Columns 1 and 2 are both path.'],
  ['path,file\na.txt,b.txt\n', 'Unknown column "file".'],
  ['path\na.txt,b.txt\n', 'Line 2 has 2 cells, but the header has 1.'],
  ['path,name\na.txt,\na.txt,\n', 'a.txt is named twice, on lines 2 and 3.'],
  ['path,name\n,x\n#REF!,y\n', '2 lines cannot be used.'],
  [
    'path,type\na.txt,text/html\n',
    'Line 2: contentType holds text/html, which is not an allowed content type.',
  ],
  ['path,tags\na.txt,[x\n', 'Line 2: tags is not a list: [x.'],
  ['', 'is empty: it has no header.'],
  ['path\n', 'names no file.'],
])('a manifest with %j is refused before any request', async (text, says) => {
  const { api, upload } = await desk({ 'a.txt': 'one', 'm.csv': text });
  const ran = await upload('--manifest m.csv');
  expect([ran.code, api.requests.length]).toEqual([2, 0]);
  expect(errorOf(ran).message).toContain(says);
});

test('a file that a manifest names twice, under two names, does not wait for itself', async () => {
  const { upload, documents } = await desk({
    'a.txt': 'one',
    'm.csv': 'path,name\na.txt,House rules\na.txt,Rules of the house\n',
  });
  const ran = await upload('--manifest m.csv --wait-lock 0s');
  expect([ran.code, JSON.parse(ran.stdout).summary]).toMatchObject([0, { changed: 2 }]);
  expect(ran.stderr).not.toContain('a.txt');
  expect(documents.map(({ name }) => name).toSorted()).toEqual([
    'House rules',
    'Rules of the house',
  ]);
});

test('a file that is skipped as an earlier one of its manifest is noted with the tags that are lost', async () => {
  const files = { 'a.txt': 'one', 'b.txt': 'one', 'c.txt': 'one' };
  const { upload, documents, write } = await desk(files);
  write('m.csv', 'path,name,tags\na.txt,Same,legal\nb.txt,Same,legal;2026\nc.txt,Same,legal\n');
  const ran = await upload('--manifest m.csv');
  expect([ran.code, documents.map(({ tags }) => tags)]).toEqual([0, [['legal']]]);
  const says = 'b.txt is skipped: it has the name and content of a.txt. Tags not added: 2026.\n';
  expect(ran.stderr).toContain(says);
  expect(ran.stderr).not.toContain('c.txt has');
  const twice = await upload('--manifest m.csv --if-exists duplicate');
  expect([documents.length, twice.stderr]).toEqual([4, expect.not.stringContaining(says)]);
});

test('a missing file of a manifest fails its own line, and a retry keeps name and tags', async () => {
  const { upload, run, write, documents } = await desk({
    'a.txt': 'one',
    'm.csv': 'path,name,tags\ngone.txt,Late,x\na.txt,,\n',
  });
  const ran = await upload('--manifest m.csv');
  expect([ran.code, JSON.parse(ran.stdout).summary]).toMatchObject([8, { changed: 1, failed: 1 }]);
  write('gone.txt', 'here');
  expect((await run('runs retry last --yes')).code).toBe(0);
  expect(documents[1]).toMatchObject({ name: 'Late', tags: ['x'] });
});

test('a content type of a manifest counts for its file alone, which needs no extension then', async () => {
  const { upload, documents } = await desk({
    plain: 'one',
    'b.txt': 'two',
    'm.csv': 'path,name,contentType\nplain,House rules,text/plain\nb.txt,,\nplain,Other,\n',
  });
  const ran = await upload('--manifest m.csv');
  expect([ran.code, JSON.parse(ran.stdout).summary]).toMatchObject([8, { changed: 2, failed: 1 }]);
  expect(documents).toMatchObject([
    { name: 'House rules', contentType: 'text/plain' },
    { name: 'b.txt', contentType: 'text/plain' },
  ]);
});
