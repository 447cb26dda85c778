import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { inProcess } from '../../support/in-process.js';
import { rosterctl, temporaryFolder } from '../../support/run.js';
import { type Reply, recordingService } from '../../support/service.js';
import { grantsOf } from './grants.js';

/**
 * An upload of these files that the service stopped at the step 3 of the second one; `isLost`: without an
 * answer, and what it refused is the read that should tell whether that made the document.
 */
async function stopped(
  contents: readonly string[],
  isLost = false,
  start: typeof rosterctl = inProcess,
) {
  const documents: { id: string; name: string }[] = [];
  let isRevoked = true;
  let isRefusing = false;
  const grant = grantsOf(await recordingService(() => ({ status: 200 })));
  const api = await recordingService(({ method, url, body }): Reply => {
    if (method === 'GET' && isRefusing) return { status: 401, json: { error: 'invalidApiKey' } };
    if (method === 'GET') return { status: 200, json: { documents } };
    if (url === '/v1/uploads/document-file') return grant();
    if (isLost && isRevoked && documents.length === 1) {
      isRefusing = true;
      return (_, response) => response.destroy();
    }
    if (isRevoked && documents.length === 1)
      return { status: 401, json: { error: 'invalidApiKey' } };
    const made = { id: `doc_${documents.length + 1}`, ...JSON.parse(body.toString()) };
    documents.push(made);
    return { status: 201, json: made };
  });
  const home = temporaryFolder();
  const names = contents.map((content, index) => {
    writeFileSync(join(home, `f${index}.txt`), content);
    return `f${index}.txt`;
  });
  const env = { ...api.env, ROSTERCTL_SETTLE: '0.2s' };
  const run = (line: string) => start(line, { home, cwd: home, env });
  const line = `docs upload ${names.join(' ')} --concurrency 1`;
  expect((await run(line)).code).toBe(isLost ? 10 : 4);
  isRevoked = isRefusing = false;
  return { documents, home, run, line };
}

test.each(['uploads finish --all', 'runs resume 1 --yes'])(
  '%s uploads nothing that another run has uploaded meanwhile',
  async (finish) => {
    const { documents, run } = await stopped(['one', 'two', 'three']);
    const [{ run: name }] = JSON.parse((await run('runs list --json')).stdout);
    expect((await run('docs upload f1.txt f2.txt')).code).toBe(0);
    const line = `${finish.replace('1', name)} --json`;
    const finished = await run(line);
    const results = JSON.parse(finished.stdout).results.slice(-2);
    expect([finished.code, results]).toMatchObject([
      0,
      [{ result: 'skipped' }, { result: 'skipped' }],
    ]);
    expect(results[0].error.message).toBe('uploaded before as doc_2 (same content)');
    expect(documents.map(({ name: own }) => own)).toEqual(['f0.txt', 'f1.txt', 'f2.txt']);
  },
);

test.each(['uploads finish --all', 'the same line'])(
  '%s sends no step 3 again of a file that another run has uploaded meanwhile',
  async (finish) => {
    const { documents, run, line } = await stopped(['one', 'two', 'three'], true);
    expect((await run('docs upload f1.txt')).code).toBe(0);
    const finished = await run(`${finish === 'the same line' ? line : finish} --json`);
    const results = JSON.parse(finished.stdout).results.slice(-2);
    expect([finished.code, results]).toMatchObject([
      0,
      [{ result: 'skipped' }, { result: 'changed' }],
    ]);
    expect(documents.map(({ name: own }) => own)).toEqual(['f0.txt', 'f1.txt', 'f2.txt']);
  },
);

test('the dry run says of an interrupted upload what another run has uploaded meanwhile', async () => {
  const { run, line } = await stopped(['one', 'two', 'three']);
  await run('docs upload f1.txt');
  const dry = JSON.parse((await run(`${line} -n --json`)).stdout);
  expect(dry.results.map(({ result }: { result: string }) => result)).toEqual([
    'skipped',
    'would_change',
  ]);
});

test('the dry run of uploads finish skips what another run has uploaded meanwhile', async () => {
  const { run } = await stopped(['one', 'two', 'three']);
  await run('docs upload f1.txt');
  const dry = JSON.parse((await run('uploads finish --all -n --json')).stdout);
  const [left] = JSON.parse((await run('uploads list --json')).stdout);
  expect(dry.results).toMatchObject([
    { row: 1, id: left.id, result: 'skipped', after: { id: 'doc_2' } },
    { row: 2, result: 'would_change' },
  ]);
  const one = await run(`uploads finish ${left.id} -n --json`);
  expect([one.code, JSON.parse(one.stdout).requests]).toEqual([0, []]);
  expect((await run(`uploads finish ${left.id} --json`)).code).toBe(0);
});

test('the dry run of uploads finish fails for a file that has changed, as the run does', async () => {
  const { run, home } = await stopped(['one', 'two', 'three']);
  writeFileSync(join(home, 'f2.txt'), 'other');
  for (const line of ['uploads finish --all -n --json', 'uploads finish --all --json']) {
    const ran = await run(line);
    const { results } = JSON.parse(ran.stdout);
    expect([ran.code, results.at(-1)]).toMatchObject([8, { result: 'failed' }]);
  }
});

test('an interrupted upload of files with one content uploads each of them', async () => {
  const { documents, run, line } = await stopped(['same', 'same', 'same'], false, rosterctl);
  expect((await run(line)).code).toBe(0);
  expect(documents).toHaveLength(3);
});
