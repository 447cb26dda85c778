/**
 * A bare service of N applications for the bulk benchmarks, in its own process and the same for
 * every client. `node applications.mjs LATENCY_MS` prints its origin; POST /reset?n=N resets it.
 */
import { createServer } from 'node:http';
import { application } from './application.mjs';

const latency = Number(process.argv[2] ?? 0);
let changed = new Map();
let count = 0;
let list;

const server = createServer((request, response) => {
  if (request.method === 'GET') {
    later(() => answerGet(request.url, response));
    return;
  }
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => later(() => answerWrite(request.url, chunks, response)));
});
server.keepAliveTimeout = 60_000;
server.listen({ port: 0, host: '127.0.0.1', backlog: 1024 }, () =>
  process.stdout.write(`http://127.0.0.1:${server.address().port}\n`),
);

function later(work) {
  if (latency > 0) setTimeout(() => work(), latency);
  else work();
}

function answerGet(url, response) {
  const id = /^\/v1\/tryout-applications\/([^/?]+)/.exec(url)?.[1];
  if (id !== undefined) return send(response, record(id));
  list ??= `[${Array.from({ length: count }, (_, index) => record(`app_${index}`)).join(',')}]`;
  // With a total, so that a round count does not look like a truncated list.
  send(response, list, { 'x-total-count': String(count) });
}

function answerWrite(url, chunks, response) {
  const reset = /^\/reset\?n=(\d+)/.exec(url)?.[1];
  if (reset !== undefined) {
    changed = new Map();
    count = Number(reset);
    list = undefined;
    return send(response, '{}');
  }
  const id = /^\/v1\/tryout-applications\/([^/?]+)/.exec(url)?.[1] ?? '';
  changed.set(id, JSON.parse(Buffer.concat(chunks).toString()).status);
  list = undefined;
  send(response, record(id));
}

function send(response, text, headers) {
  response.writeHead(200, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
    ...headers,
  });
  response.end(text);
}

function record(id) {
  return application(id, changed.get(id));
}
