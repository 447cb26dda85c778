import { once } from 'node:events';
import type { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { tcpService } from '../support/tcp.js';
import { transportTo } from './wiring.js';

test('an unused connection is closed within seconds, although the service offers an hour', async () => {
  const head = 'content-type: application/json\r\ncontent-length: 2\r\nkeep-alive: timeout=3600';
  const sockets: Socket[] = [];
  const service = await tcpService((socket) => {
    sockets.push(socket);
    socket.once('data', () => socket.write(`HTTP/1.1 200 OK\r\n${head}\r\n\r\n[]`));
  });
  const get = { method: 'GET', path: '/teams/org_7', template: '/teams/{organizationId}' };
  await transportTo(`${service.origin}/v1`).request(get);
  const [socket] = sockets;
  expect(socket?.closed).toBe(false);
  if (socket) await once(socket, 'close', { signal: AbortSignal.timeout(30_000) });
});
