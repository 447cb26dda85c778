import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { Context } from '../../src/context.js';
import type { LocalFile } from '../../src/uploads/local-file.js';
import { storeFile } from '../../src/uploads/store-file.js';
import { apiTo, noWait, storeFor } from '../api/wiring.js';
import { grantsOf } from '../commands/uploads/grants.js';
import { sha256 } from '../support/document-store.js';
import { recordingService } from '../support/service.js';
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
  const { baseUrl } = await recordingService(grantsOf(store));
  const files = storeFor(baseUrl, { retries: 1, ...noWait() });
  const context = { api: apiTo(baseUrl).api, files: async () => files, detail: () => {} };
  const stored = await storeFile(context as unknown as Context, file, {
    step: async () => {},
    onBytes: () => {},
    hashes: true,
    earlier: [],
  });
  expect([store.connections(), stored.sha256]).toEqual([2, sha256(Buffer.concat(parts))]);
});
