import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { lockRun } from '../../src/bulk/lock-run.js';
import { OutputError } from '../../src/errors.js';
import { isAlive } from '../support/alive.js';
import { temporaryFolder } from '../support/run.js';

test('a lock that the disk does not take is told with its folder, and is no bug', async () => {
  const dir = temporaryFolder();
  const locks = join(dir, 'locks');
  writeFileSync(locks, 'no folder');
  const key = { service: 's', organization: 'o', resource: 'documents', input: '1' };
  const taken = lockRun({ dir, locks }, key, {
    self: { pid: process.pid, isAlive },
    run: 'r',
    startedAt: 'now',
    waitMs: 0,
    signal: new AbortController().signal,
    note: () => {},
  });
  const error: unknown = await taken.catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(OutputError);
  expect((error as OutputError).message).toContain(locks);
});
