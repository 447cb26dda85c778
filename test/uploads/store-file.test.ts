import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { Context } from '../../src/context.js';
import type { JsonObject } from '../../src/data/json.js';
import { inspectFile, type LocalFile } from '../../src/uploads/local-file.js';
import { storeFile } from '../../src/uploads/store-file.js';
import { apiTo, noWait, storeFor } from '../api/wiring.js';
import { grantsOf } from '../commands/uploads/grants.js';
import { sha256 } from '../support/document-store.js';
import { temporaryFolder } from '../support/run.js';
import { recordingService, type Service } from '../support/service.js';
import { tcpService } from '../support/tcp.js';

test('the hash is that of the bytes that arrived, although an attempt that was refused early still reads', async () => {
  const parts = [Buffer.alloc(100_000, 'a'), Buffer.alloc(100_000, 'b')] as const;
  const store = await tcpService((socket, count) => {
    let bytes = 0;
    socket.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (count === 1) socket.end('HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n');
      else if (bytes > 200_000) socket.end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
    });
  });
  let slowRead: (() => void) | undefined;
  let opened = 0;
  const file = {
    path: 'slow.txt',
    name: 'slow.txt',
    contentType: 'text/plain',
    sizeBytes: 200_000,
    async *open() {
      opened += 1;
      if (opened === 1) {
        yield parts[0];
        await new Promise<void>((resolve) => (slowRead = resolve));
      } else {
        slowRead?.();
        await wait(20);
        yield parts[0];
      }
      yield parts[1];
    },
    verify: () => {},
  } as unknown as LocalFile;
  const { stored } = await storing(store, file);
  expect([store.connections(), stored.sha256]).toEqual([2, sha256(Buffer.concat(parts))]);
});

test('a key that a lost attempt has filled already is replaced by a new one, and named', async () => {
  let count = 0;
  const store = await recordingService(() => {
    count += 1;
    if (count === 1) return (_, response) => void response.destroy();
    return { status: count === 2 ? 412 : 200 };
  });
  const path = join(temporaryFolder(), 'a.txt');
  writeFileSync(path, 'hello');
  const { stored, steps } = await storing(store, await inspectFile(path));
  expect([stored.fileKey, store.requests.length]).toEqual(['files/2', 3]);
  expect(steps).toContainEqual(
    expect.objectContaining({ fileKey: 'files/2', earlier: ['files/1'] }),
  );
});

/** Sends a file to a store, with one retry; `steps`: what the journal gets. */
async function storing(store: Pick<Service, 'origin'>, file: LocalFile) {
  const { baseUrl } = await recordingService(grantsOf(store));
  const files = storeFor(baseUrl, { retries: 1, ...noWait() });
  const context = { api: apiTo(baseUrl).api, files: async () => files, detail: () => {} };
  const steps: JsonObject[] = [];
  const stored = await storeFile(context as unknown as Context, file, {
    step: async (entry) => void steps.push(entry),
    onBytes: () => {},
    hashes: true,
    earlier: [],
    ownerOf: () => undefined,
  });
  return { stored, steps };
}
