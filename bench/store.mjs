/**
 * A service with a file store for the upload figures: it issues upload URLs, counts and drops the
 * bytes, and records documents. It runs in its own process, so that it slows no measurement.
 */
import { createServer } from 'node:http';
import { createServer as createSocketServer } from 'node:net';

const store = createSocketServer((socket) => {
  let left = -1;
  let head = Buffer.alloc(0);
  socket.on('error', () => {});
  socket.on('data', (chunk) => {
    if (left < 0) {
      head = Buffer.concat([head, chunk]);
      const end = head.indexOf('\r\n\r\n');
      if (end < 0) return;
      const text = head.subarray(0, end).toString();
      left = Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0) - (head.length - end - 4);
      if (/expect: 100/i.test(text)) socket.write('HTTP/1.1 100 Continue\r\n\r\n');
    } else left -= chunk.length;
    if (left > 0) return;
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n');
    left = -1;
    head = Buffer.alloc(0);
  });
});

store.listen(0, '127.0.0.1', () => {
  const origin = `http://127.0.0.1:${store.address().port}`;
  let count = 0;
  const service = createServer((request, response) => {
    const chunks = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      const key = `files/${++count}`;
      const answer = request.url.endsWith('/document-file')
        ? { key, fileRef: `ref:${key}`, uploadUrl: `${origin}/${key}?sig=1` }
        : { id: `doc_${count}`, ...JSON.parse(Buffer.concat(chunks).toString() || '{}') };
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
    });
  });
  service.listen(0, '127.0.0.1', () => {
    const base = `http://127.0.0.1:${service.address().port}/v1`;
    process.stdout.write(`${JSON.stringify({ base, store: origin })}\n`);
  });
});
