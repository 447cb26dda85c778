import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runsOf, until } from '../../bulk/user.js';
import { errorOf, rosterctl, startLine, temporaryFolder } from '../../support/run.js';
import { type Reply, recordingService } from '../../support/service.js';
import { grantsOf } from './grants.js';

/** An upload of these files that is running and waits for the answer of the store to the last PUT it sent. */
async function running(names: readonly string[], answered: number) {
  const documents: { id: string; name: string }[] = [];
  const held: (() => void)[] = [];
  let puts = 0;
  const store = await recordingService((): Reply => {
    puts += 1;
    if (puts !== answered + 1) return { status: 200 };
    return (_, response) => void held.push(() => response.writeHead(200).end());
  });
  const grant = grantsOf(store);
  const api = await recordingService(({ method, url, body }): Reply => {
    if (method === 'GET') return { status: 200, json: { documents } };
    if (url === '/v1/uploads/document-file') return grant();
    const made = { id: `doc_${documents.length + 1}`, ...JSON.parse(body.toString()) };
    documents.push(made);
    return { status: 201, json: made };
  });
  const home = temporaryFolder();
  for (const name of names) writeFileSync(join(home, name), `this is ${name}`);
  const at = { home, cwd: home, env: api.env };
  const child = startLine(`docs upload ${names.join(' ')} --concurrency 1 --json`, at);
  await until(() => held.length === 1);
  const [name = ''] = readdirSync(join(runsOf(home), 'open'));
  const run = (line: string) => rosterctl(`${line} --json`, at);
  const end = () => {
    held[0]?.();
    return child.ended;
  };
  return { documents, api, run, id: (row: number) => `${name.slice(-6)}.${row}`, name, end };
}

test('a file of several is not finished while its run is still uploading', async () => {
  const { documents, api, run, id, name, end } = await running(['a.txt', 'b.txt', 'c.txt'], 1);
  const before = api.requests.length;
  const finished = await run(`uploads finish ${id(3)}`);
  expect(finished.code).toBe(11);
  expect(errorOf(finished)).toMatchObject({
    code: 'locked',
    hint: 'Wait for it, or add --wait-lock 10m.',
  });
  expect(errorOf(await run(`uploads finish ${id(3)} --wait-lock 100ms`))).toMatchObject({
    code: 'locked',
    hint: 'Wait for it, or raise --wait-lock.',
  });
  expect(api.requests.length).toBe(before);
  expect((await end()).code).toBe(0);
  expect(documents.map((made) => made.name)).toEqual(['a.txt', 'b.txt', 'c.txt']);
  expect((await run(`runs show ${name}`)).code).toBe(0);
});

test('a file is not forgotten while its run is still uploading', async () => {
  const { documents, run, id, name, end } = await running(['a.txt'], 0);
  const forgotten = await run(`uploads forget ${id(1)}`);
  expect(forgotten.code).toBe(11);
  // The command has no --wait-lock.
  expect(errorOf(forgotten)).toMatchObject({ code: 'locked', hint: 'Wait for it, or end it.' });
  expect((await end()).code).toBe(0);
  expect(documents).toHaveLength(1);
  expect((await run(`runs show ${name}`)).code).toBe(0);
});
