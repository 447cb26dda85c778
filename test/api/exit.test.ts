import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer as createTlsServer } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeCertificate, noOpenssl } from '../support/certificate.js';
import { atEnd } from '../support/cleaning.js';
import { key, recordingService } from '../support/service.js';

// In a child process, because only there an open handle or an environment variable has its effect.
const folder = mkdtempSync(join(tmpdir(), 'rosterctl-exit-'));
const program = join(folder, 'request.cjs');
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const sourceOf = (name: string) =>
  fileURLToPath(new URL(`../../src/api/${name}.ts`, import.meta.url));

beforeAll(async () => {
  const entry = join(folder, 'request.ts');
  writeFileSync(
    entry,
    `import { RateLimiter } from ${JSON.stringify(sourceOf('rate-limiter'))};
    import { Transport } from ${JSON.stringify(sourceOf('transport'))};
    const [baseUrl, key, stopAfter] = process.argv.slice(2);
    const stop = new AbortController();
    if (stopAfter) setTimeout(() => stop.abort(), Number(stopAfter));
    const transport = new Transport({
      connection: { baseUrl, key }, timeoutMs: 5000, retries: 0, maxWaitMs: 1000, readsOnly: false,
      signal: stop.signal, instant: () => ({ wall: Date.now(), mono: performance.now() }), random: () => 0.5, sleep: async () => {},
      waiting: () => () => {}, proxy: () => undefined,
      limiter: new RateLimiter({ clock: () => performance.now(), sleep: async () => {}, maxWaitMs: 1000 }),
      userAgent: 'test', nodeVersion: process.versions.node,
    });
    transport.request({ method: 'GET', path: '/teams/o', template: '/teams' }).then(
      ({ status, wait }) => console.log(status, ...(wait === undefined ? [] : [wait])),
      (error) => console.log(error.name, JSON.stringify(error.details)),
    ).finally(() => { transport.close(); console.error(performance.now()); })
     .then(() => process.on('exit', () => console.error(performance.now())));`,
  );
  const bundle = await rolldown({
    input: entry,
    platform: 'node',
    cwd: fileURLToPath(new URL('../..', import.meta.url)),
    resolve: { modules: [fileURLToPath(new URL('../../node_modules', import.meta.url))] },
    logLevel: 'silent',
  });
  await bundle.write({ file: program, format: 'cjs', codeSplitting: false });
  await bundle.close();
});

/** Well below the ten seconds for which a pending connection would keep a process alive. */
const held = 5_000;

/** Returns the output, and the milliseconds between its last line and its exit. */
function run(
  words: readonly string[],
  env: Record<string, string> = {},
): Promise<{ out: string; lingered: number }> {
  return new Promise((resolve, reject) => {
    execFile(
      process.execPath,
      [program, ...words],
      { env: { PATH: process.env['PATH'] ?? '', ...env }, timeout: 30_000 },
      (error, stdout, stderr) => {
        if (error) reject(error);
        const [closed = 0, ended = Infinity] = stderr.trim().split('\n').map(Number);
        resolve({ out: stdout.trim(), lingered: ended - closed });
      },
    );
  });
}

test('the process ends at once although the connection could be kept alive', async () => {
  const service = await recordingService(() => ({ status: 200, json: {} }));
  const { out, lingered } = await run([service.baseUrl, key]);
  expect(out).toBe('200');
  expect(lingered).toBeLessThan(held);
});

test('an interrupt while a connection is still being made leaves nothing behind', async () => {
  // A listener with a full queue: further connections neither open nor fail.
  const server = createServer();
  await new Promise<void>((resolve) =>
    server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, resolve),
  );
  atEnd(() => server.close());
  const { port } = server.address() as AddressInfo;
  // TLS to a server that never speaks: the handshake hangs until the connect deadline.
  const { out, lingered } = await run([`https://127.0.0.1:${port}/v1`, key, '300']);
  expect(out).toContain('CancelledError');
  expect(lingered).toBeLessThan(held);
});

test('an untrusted certificate is refused although the environment says otherwise, and no key is sent', async ({
  skip,
}) => {
  skip(noOpenssl !== undefined, noOpenssl);
  const files = [join(folder, 'key.pem'), join(folder, 'cert.pem')] as const;
  makeCertificate('DNS:localhost', ...files);
  let received = '';
  const server = createTlsServer(
    { key: readFileSync(files[0]), cert: readFileSync(files[1]) },
    (socket) => socket.on('data', (chunk) => (received += chunk.toString())),
  );
  server.on('tlsClientError', () => undefined);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  atEnd(() => server.close());
  const { port } = server.address() as AddressInfo;
  const { out } = await run([`https://localhost:${port}/v1`, key], {
    NODE_TLS_REJECT_UNAUTHORIZED: '0',
  });
  expect(out).toContain('NetworkError');
  expect(out).toContain('"reason":"tls"');
  expect(out).toContain('"delivery":"not-sent"');
  expect(received).toBe('');
});

test('a Retry-After in the oldest form of a date, which names no zone, is meant in UTC', async () => {
  const asks = 'Sat Nov 21 13:00:10 2026';
  const service = await recordingService(({ url }) => ({
    status: 429,
    headers: {
      'retry-after': asks,
      date: url.includes('old') ? 'Sat Nov 21 13:00:00 2026' : 'Sat, 21 Nov 2026 13:00:00 GMT',
    },
  }));
  for (const baseUrl of [service.baseUrl, `${service.origin}/old/v1`]) {
    const { out } = await run([baseUrl, key], { TZ: 'America/New_York' });
    expect(out).toBe('429 10');
  }
});
