import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { documentStore, flakyStore, sha256, stored } from '../support/document-store.js';
import { launcher, rosterctl, startLine, temporaryFolder } from '../support/run.js';
import { runOnce } from './stage.js';

// Kills (-9) a download of all documents repeatedly at random moments, from a store that also
// drops connections. A file with its final name is always complete, and a later run removes the
// others.

const kills = Number(process.env['CRASH_KILLS'] ?? 20);
const documents = Array.from({ length: 12 }, (_, index) =>
  stored(`doc_${index}`, randomBytes(400_000 + index)),
);

test(`${kills} kills leave no partial file under a final name`, { timeout: 600_000 }, async () => {
  const api = await documentStore({
    documents,
    store: flakyStore(0.3, 100_000, 10),
  });
  const cwd = temporaryFolder('kills');
  const out = join(cwd, 'out');
  mkdirSync(out);
  const line = ['docs', 'download', '--all', '-D', 'out', '--concurrency', '2'];
  for (let kill = 0; kill < kills; kill++) {
    const how = kill % 10 === 9 ? '--overwrite' : '--skip-existing';
    const child = startLine([...line, how], { env: api.env, home: cwd });
    await wait(60 + Math.random() * 300);
    child.kill('SIGKILL');
    await child.ended;
    for (const { record, bytes } of documents) {
      const path = join(out, `${record.id}.txt`);
      if (existsSync(path)) expect(sha256(readFileSync(path))).toBe(sha256(bytes));
    }
  }
  const longAgo = new Date(Date.now() - 2 * 3_600_000);
  for (const name of readdirSync(out)) utimesSync(join(out, name), longAgo, longAgo);
  const last = await rosterctl([...line, '--skip-existing'], { env: api.env, home: cwd, cwd });
  expect(last).toMatchObject({ code: 0 });
  const files = readdirSync(out).filter((name) => name !== '.rosterctl-downloads.json');
  expect(files.toSorted()).toEqual(documents.map(({ record }) => `${record.id}.txt`).toSorted());
  for (const { record, bytes } of documents)
    expect(sha256(readFileSync(join(out, `${record.id}.txt`)))).toBe(sha256(bytes));
});

test('a file that the disk does not show fails alone, and the other downloads are reported', async ({
  skip,
}) => {
  skip(spawnSync('strace', ['-o', '/dev/null', 'true']).status !== 0, 'strace is not installed');
  const api = await documentStore({ documents: documents.slice(0, 3) });
  const home = temporaryFolder();
  const out = join(home, 'out');
  mkdirSync(out);
  writeFileSync(join(out, 'doc_1.txt'), '');
  // Each thread counts its own calls: the first of the program's own thread finds nothing there.
  const failing = ['-P', join(out, 'doc_1.txt'), '-e', 'inject=statx:error=EIO:when=1'];
  const line = ['docs', 'download', '--all', '-D', out, '--skip-existing', '--json'];
  const ran = await runOnce(
    ['strace', '-f', '-qq', '-o', '/dev/null', ...failing, process.execPath, launcher, ...line],
    { home, env: api.env },
  );
  expect([ran.code, JSON.parse(ran.stdout).length]).toEqual([1, 2]);
  expect(readdirSync(out).filter((name) => name.endsWith('-tmp'))).toEqual([]);
});
