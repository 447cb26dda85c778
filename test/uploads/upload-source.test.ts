import fs, { closeSync, openSync, readdirSync, readlinkSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { inspectFile } from '../../src/uploads/local-file.js';
import { openUpload } from '../../src/uploads/upload-source.js';
import { temporaryFolder } from '../support/run.js';

test('a file that cannot be read further is named, although the sender is busy when that is found', async () => {
  const path = join(temporaryFolder(), 'large.txt');
  writeFileSync(path, Buffer.alloc(7 * 1024 * 1024));
  const chunks = openUpload(path).open()[Symbol.asyncIterator]();
  await chunks.next();
  const open = readdirSync('/proc/self/fd').map(Number);
  const descriptor = open.find((each) => nameOf(each) === path) ?? -1;
  closeSync(descriptor);
  // The lowest number is free again: now a folder has it.
  while (openSync('/', 'r') !== descriptor);
  const rest = async () => {
    for (;;) {
      await wait(50);
      if ((await chunks.next()).done) return;
    }
  };
  await expect(rest()).rejects.toThrow(`${path} cannot be read: it is a folder (EISDIR).`);
});

test('a file whose content cannot be read is named', async () => {
  const path = join(temporaryFolder(), 'unreadable.txt');
  writeFileSync(path, 'text');
  const read = fs.readSync;
  fs.readSync = () => {
    throw Object.assign(new Error('EIO: i/o error, read'), { code: 'EIO', syscall: 'read' });
  };
  syncBuiltinESMExports();
  try {
    await expect(inspectFile(path)).rejects.toThrow(
      `${path} cannot be read: the device reports an error`,
    );
  } finally {
    fs.readSync = read;
    syncBuiltinESMExports();
  }
});

function nameOf(descriptor: number): string | undefined {
  try {
    return readlinkSync(`/proc/self/fd/${descriptor}`);
  } catch {
    return undefined;
  }
}
