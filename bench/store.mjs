/**
 * A service with a file store for the upload figures: it issues upload URLs, counts and drops the
 * bytes, records documents, and serves 1,000 small ones for download. It also lists 1,000 players, ten
 * teams, and as many applications as the organization's name says (org_10000). It runs in its own
 * process, so that it slows no measurement.
 */
import { createServer } from 'node:http';
import { createServer as createSocketServer } from 'node:net';
import { application } from './application.mjs';

/** The content of each document, and the number of documents. */
const small = Buffer.alloc(20 * 1024, '%PDF-1.7\n');
const documents = 1_000;

// Otherwise the second write of a response waits 40 ms for the acknowledgement of the first.
const store = createSocketServer({ noDelay: true }, (socket) => {
  let left = -1;
  let head = Buffer.alloc(0);
  socket.on('error', () => {});
  socket.on('data', (chunk) => {
    if (left < 0) {
      head = Buffer.concat([head, chunk]);
      const end = head.indexOf('\r\n\r\n');
      if (end < 0) return;
      const text = head.subarray(0, end).toString();
      if (text.startsWith('GET ')) {
        head = Buffer.alloc(0);
        socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${small.length}\r\n\r\n`);
        socket.write(small);
        return;
      }
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
  const answerTo = ({ method, url }, body) => {
    const key = `files/${++count}`;
    if (url.endsWith('/document-file'))
      return { key, fileRef: `ref:${key}`, uploadUrl: `${origin}/${key}?sig=1` };
    if (url.endsWith('/download')) return { url: `${origin}/${key}?sig=1` };
    if (method === 'GET') return listOf(url);
    return { id: `doc_${count}`, ...JSON.parse(body || '{}') };
  };
  const service = createServer((request, response) => {
    const chunks = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      const answer = answerTo(request, Buffer.concat(chunks).toString());
      // With a total, so that a round count does not look like a truncated list.
      const total = Array.isArray(answer) ? { 'x-total-count': String(answer.length) } : {};
      const type = { 'content-type': 'application/json', ...total };
      response.writeHead(200, type).end(JSON.stringify(answer));
    });
  });
  service.listen(0, '127.0.0.1', () => {
    const base = `http://127.0.0.1:${service.address().port}/v1`;
    process.stdout.write(`${JSON.stringify({ base, store: origin })}\n`);
  });
});

function listOf(url) {
  if (url.includes('/tryout-applications'))
    return Array.from({ length: Number(/org_(\d+)/.exec(url)?.[1] ?? 0) }, (_, index) =>
      JSON.parse(application(`app_${index}`)),
    );
  if (url.includes('/players')) return named(1_000, 'player');
  if (url.includes('/teams')) return named(10, 'team');
  return named(documents, 'doc').map((record, index) => ({
    ...record,
    name: `${index}.pdf`,
    contentType: 'application/pdf',
    sizeBytes: small.length,
  }));
}

function named(length, noun) {
  return Array.from({ length }, (_, index) => ({
    id: `${noun}_${index}`,
    name: `${noun} ${index}`,
    email: `${noun}${index}@example.org`,
    updatedAt: '2026-11-01T10:00:00Z',
  }));
}
