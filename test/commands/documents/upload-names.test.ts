import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { inProcess } from '../../support/in-process.js';
import { rosterctl, temporaryFolder } from '../../support/run.js';
import { recordingService } from '../../support/service.js';
import { grantsOf } from '../uploads/grants.js';

/** A folder with these files and a service that accepts them; returns the documents it created. */
async function desk(names: readonly string[], start: typeof rosterctl = inProcess) {
  const cwd = temporaryFolder();
  for (const name of names) writeFileSync(join(cwd, name), `this is ${name}`);
  const made: string[] = [];
  const api = await recordingService(({ method, url, body }) => {
    if (method === 'PUT') return { status: 200 };
    if (method === 'GET') return { status: 200, json: { documents: [] } };
    if (url === '/v1/uploads/document-file') return grant();
    const { name } = JSON.parse(body.toString()) as { name: string };
    made.push(name);
    return { status: 201, json: { document: { id: `doc_${made.length}`, name } } };
  });
  const grant = grantsOf(api);
  const run = (words: readonly string[]) =>
    start(['docs', 'upload', ...words], { env: api.env, home: cwd, cwd });
  return { made, api, run };
}

test('a file whose name looks like a pattern is one file, which prints the record, not a report', async () => {
  const { run, made } = await desk(['scan [final].txt'], rosterctl);
  const ran = await run(['scan [final].txt', '--json']);
  expect([ran.code, JSON.parse(ran.stdout)]).toMatchObject([0, { id: 'doc_1' }]);
  expect(made).toEqual(['scan [final].txt']);
});

test('--name is refused for several files of a pattern, and names its only file', async () => {
  const { run, made, api } = await desk(['a1.txt', 'a2.txt', 'b.txt']);
  expect((await run(['a*.txt', '--name', 'X'])).code).toBe(2);
  expect(api.requests).toEqual([]);
  expect((await run(['b*.txt', '--name', 'X'])).code).toBe(0);
  expect(made).toEqual(['X']);
});

test('a file that macOS named in decomposed letters becomes a document that is found as people type it', async () => {
  const typed = 'M\u00fcller.txt';
  const file = typed.normalize('NFD');
  const { run, made } = await desk([file]);
  const ran = await run([file, '--fields', 'name', '--json']);
  expect([ran.code, JSON.parse(ran.stdout)]).toEqual([0, { name: typed }]);
  expect(made).toEqual([typed]);
});

test('-r uploads all files below a folder in order, except hidden ones and links', async () => {
  const { run, made, api } = await desk([]);
  const tree = temporaryFolder();
  for (const dir of ['b', 'b/c', '.hid', 'empty']) mkdirSync(join(tree, dir));
  for (const name of ['z.txt', 'b/c/1.txt', 'b/a.txt', '.x.txt', '.hid/y.txt'])
    writeFileSync(join(tree, name), name);
  symlinkSync(join(tree, 'z.txt'), join(tree, 'link.txt'));
  symlinkSync(join(tree, 'b'), join(tree, 'linked'));
  expect((await run(['-r', tree, '--concurrency', '1'])).code).toBe(0);
  expect(made).toEqual(['a.txt', '1.txt', 'z.txt']);
  expect((await run(['-r', join(tree, 'empty')])).code).toBe(2);
  expect(api.requests).toHaveLength(10);
});
