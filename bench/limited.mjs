/**
 * The service of applications.mjs with a rate limit of 10 requests per second, in one of three
 * models, and a latency of 120 ms: `node limited.mjs MODEL` prints its origin.
 */
import { createServer } from 'node:http';
import { application } from './application.mjs';

const perSecond = 10;
const latencyMs = 120;
const count = 300;
const list = `[${Array.from({ length: count }, (_, index) => application(`app_${index}`)).join(',')}]`;

/** Each model returns 0 for an accepted request, else the seconds after which to retry. */
const models = {
  'token bucket'() {
    let tokens = perSecond;
    let last = performance.now();
    return () => {
      const now = performance.now();
      tokens = Math.min(perSecond, tokens + ((now - last) / 1000) * perSecond);
      last = now;
      if (tokens < 1) return Math.ceil((1 - tokens) / perSecond);
      tokens -= 1;
      return 0;
    };
  },
  'fixed window'() {
    let window = -1;
    let taken = 0;
    return () => {
      const current = Math.floor(performance.now() / 1000);
      if (current !== window) taken = 0;
      window = current;
      taken += 1;
      return taken <= perSecond ? 0 : 1;
    };
  },
  'no burst'() {
    let next = 0;
    return () => {
      const now = performance.now();
      if (now < next) return 1;
      next = now + 1000 / perSecond;
      return 0;
    };
  },
};

const waitOf = models[process.argv[2]]();
const server = createServer((request, response) => {
  const wait = waitOf();
  request.resume().on('end', () => setTimeout(() => answer(request, response, wait), latencyMs));
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () =>
  process.stdout.write(`http://127.0.0.1:${server.address().port}\n`),
);

function answer({ method, url }, response, wait) {
  const type = { 'content-type': 'application/json' };
  if (wait > 0) {
    response
      .writeHead(429, { ...type, 'retry-after': String(wait) })
      .end('{"error":"rateLimited"}');
    return;
  }
  const id = /^\/v1\/tryout-applications\/([^/?]+)/.exec(url)?.[1];
  const status = method === 'PATCH' ? 'rejected' : 'pending';
  response.writeHead(200, { ...type, 'x-total-count': String(count) });
  response.end(id === undefined ? list : application(id, status));
}
