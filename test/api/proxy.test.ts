import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createProxyChoice } from '../../src/api/proxy.js';
import { ConfigError, NetworkError } from '../../src/errors.js';
import { makeCertificate, noOpenssl } from '../support/certificate.js';
import { atEnd } from '../support/cleaning.js';
import { rosterctl, temporaryFolder } from '../support/run.js';
import { key, organization, recordingService } from '../support/service.js';
import { tcpService } from '../support/tcp.js';
import { apiTo, later, storeFor, thrownBy, transportTo } from './wiring.js';

const get = { method: 'GET', path: '/teams/org_7', template: '/teams/{organizationId}' };

const chosen = (env: Record<string, string>, url = 'https://api.example.org/v1') =>
  createProxyChoice(env)(new URL(url))?.origin;

describe('which proxy', () => {
  test('lower-case names win, an empty value is none', () => {
    expect(chosen({ https_proxy: 'http://a:1', HTTPS_PROXY: 'http://b:1' })).toBe('http://a:1');
    expect(chosen({ https_proxy: '', HTTPS_PROXY: 'http://b:1' })).toBe('http://b:1');
    expect(chosen({ https_proxy: ' ', HTTPS_PROXY: '' })).toBeUndefined();
    expect(chosen({})).toBeUndefined();
  });

  test('depends on the scheme of the target', () => {
    expect(chosen({ http_proxy: 'http://a:1' })).toBeUndefined();
    expect(chosen({ http_proxy: 'http://a:1' }, 'http://files.example.org')).toBe('http://a:1');
    expect(chosen({ HTTPS_PROXY: 'proxy.example.org:3128' })).toBe('http://proxy.example.org:3128');
    expect(chosen({ HTTPS_PROXY: 'https://p.example.org' })).toBe('https://p.example.org');
    expect(chosen({ HTTPS_PROXY: 'http://:@p.example.org' })).toBe('http://p.example.org');
  });

  test.each([
    'http://127.0.0.1:8080',
    'http://127.8.9.1',
    'http://localhost:80',
    'https://localhost',
    'https://store.localhost',
    'https://[::1]:8443',
  ])('%s is reached directly whatever the environment says', (url) => {
    const env = { https_proxy: 'http://a:1', http_proxy: 'http://a:1', no_proxy: '' };
    expect(chosen(env, url)).toBeUndefined();
  });

  test.each<[string, string, boolean]>([
    ['*', 'https://api.example.org', true],
    ['example.org', 'https://api.example.org', true],
    ['.example.org', 'https://api.example.org', true],
    ['*.example.org', 'https://api.example.org', true],
    ['EXAMPLE.ORG.', 'https://example.org', true],
    ['other.org, example.org', 'https://example.org', true],
    ['other.org example.org:443', 'https://example.org', true],
    ['example.org:8443', 'https://example.org', false],
    ['example.org', 'https://notexample.org', false],
    ['ample.org', 'https://example.org', false],
    ['10.0.0.7', 'https://10.0.0.7', true],
    ['10.0.0.7', 'https://10.0.0.70', false],
    ['2001:db8::7', 'https://[2001:db8::7]', true],
    ['[2001:db8::7]:443', 'https://[2001:db8::7]', true],
    ['2001:DB8:0:0::7', 'https://[2001:db8::7]', true],
    ['2001:db8::7', 'https://[2001:db8::70]', false],
    ['fe80::7%eth0', 'https://[2001:db8::7]', false],
    ['example.org,10.0.0.0/8', 'https://10.20.30.40', true],
    ['10.0.0.0/8', 'https://11.0.0.1', false],
    ['10.0.0.0/8', 'https://10.example.org', false],
    ['2001:db8::/32', 'https://[2001:db8:1::7]:8443', true],
    ['2001:db8::/32', 'https://10.0.0.1', false],
    ['10.0.0.0/', 'https://10.0.0.0', false],
    [',,', 'https://example.org', false],
  ])('NO_PROXY=%j and %s: direct is %s', (no_proxy, url, direct) => {
    expect(chosen({ https_proxy: 'http://a:1', no_proxy }, url) === undefined).toBe(direct);
  });

  test('a user name goes into a header and nowhere else', () => {
    const lines: string[] = [];
    const env = { HTTPS_PROXY: 'http://ann:s%40crt@proxy.example.org:3128' };
    const choose = createProxyChoice(env, (line) => lines.push(line));
    const target = new URL('https://api.example.org/v1');
    expect(choose(target)).toEqual({
      variable: 'HTTPS_PROXY',
      origin: 'http://proxy.example.org:3128',
      authorization: `Basic ${Buffer.from('ann:s@crt').toString('base64')}`,
    });
    choose(target);
    expect(lines).toEqual([
      'https://api.example.org is reached through the proxy http://proxy.example.org:3128 (HTTPS_PROXY)',
    ]);
  });

  test.each([
    'socks5://ann:s3cret@a:1',
    'http://',
    'http://ann:s3cret@',
    'http://a b:1',
    'http://ann:12#s3cret@a:1',
    'http://ann:12/s3cret@a:1',
    '"http://ann:s3cret@a:1"',
  ])('%s is a configuration error and is not shown', (value) => {
    let error: unknown;
    try {
      chosen({ https_proxy: value });
    } catch (caught) {
      error = caught;
    }
    expect(error).toBeInstanceOf(ConfigError);
    expect(String(error)).not.toContain('s3cret');
  });
});

// --- real proxies ---

interface Asked {
  readonly place: string;
  readonly headers: IncomingHttpHeaders;
}

/** A proxy that connects every tunnel to one local port, or answers with a status. */
async function proxyTo(port: number, status = 200, tls?: { key: Buffer; cert: Buffer }) {
  const asked: Asked[] = [];
  const server = tls ? createTlsServer(tls) : createServer();
  server.on('request', (_, response: ServerResponse) => response.writeHead(405).end());
  server.on('connect', (request, socket: Socket) => {
    asked.push({ place: request.url ?? '', headers: request.headers });
    socket.on('error', () => undefined);
    if (status !== 200) {
      socket.end(`HTTP/1.1 ${status} No\r\ncontent-type: text/html\r\n\r\n<h1>canary page</h1>`);
      return;
    }
    const onward = connect(port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      onward.pipe(socket).pipe(onward);
    });
    onward.on('error', () => socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  atEnd(() => {
    server.close();
    server.closeAllConnections();
  });
  const scheme = tls ? 'https' : 'http';
  return { url: `${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

const far = 'https://api.example.test/v1';
const through = (url: string) => ({ proxy: createProxyChoice({ https_proxy: url }) });

describe('an unusable proxy is named, not the service', () => {
  test.each<[number, number, string]>([
    [407, 1, 'answered 407'],
    [403, 1, 'refuses connections to api.example.test:443: it answered 403'],
    [404, 1, 'answered 404'],
    [502, 2, 'cannot connect to api.example.test:443: it answered 502'],
  ])('an answer of %i', async (status, tries, problem) => {
    const proxy = await proxyTo(0, status);
    const transport = transportTo(far, { ...through(proxy.url), retries: 1, random: () => 0 });
    const error = (await thrownBy(transport.request(get))) as NetworkError;
    expect(error).toBeInstanceOf(NetworkError);
    expect(error.details.reason).toBe('proxy');
    const told = tries > 1 ? ` (${tries} attempts)` : '';
    expect(error.message).toContain(`The proxy ${proxy.url} ${problem}${told}.`);
    expect(`${error.message}${error.hint}`).not.toContain('canary');
    expect(proxy.asked).toHaveLength(tries);
  });

  test('refused', async () => {
    const gone = await tcpService(() => undefined);
    const url = gone.origin.replace(/:\d+$/, ':1');
    const error = (await thrownBy(transportTo(far, through(url)).request(get))) as NetworkError;
    expect(error.message).toContain(`The proxy ${url} cannot be used: ECONNREFUSED`);
    expect(error.hint).toContain('NO_PROXY');
  });

  test('one that hangs up at once is not retried endlessly', async () => {
    const proxy = await tcpService((socket) => socket.destroy());
    const transport = transportTo(far, { ...through(proxy.origin), retries: 1, random: () => 0 });
    const error = (await thrownBy(transport.request(get))) as NetworkError;
    expect(error.details.reason).toBe('proxy');
    expect(proxy.connections()).toBe(2);
  });

  test('one that does not respond', async () => {
    const proxy = await tcpService(() => undefined);
    const options = { ...through(proxy.origin), bounds: { connectMs: 200 } };
    const error = (await thrownBy(transportTo(far, options).request(get))) as NetworkError;
    expect(error.message).toContain('did not open a connection in time');
  });

  test('a write that was not sent is retried', async () => {
    const proxy = await proxyTo(0, 503);
    const transport = transportTo(far, { ...through(proxy.url), retries: 2, random: () => 0 });
    const post = { method: 'POST', path: '/teams', template: '/teams', body: '{}' };
    expect(await thrownBy(transport.request(post))).toBeInstanceOf(NetworkError);
    expect(proxy.asked).toHaveLength(3);
  });

  test('closing the transport drops a tunnel that is being opened', async () => {
    const { promise: hungUp, resolve } = later();
    const proxy = await tcpService((socket) => socket.on('close', resolve).resume());
    const transport = transportTo(far, through(proxy.origin));
    const error = thrownBy(transport.request(get));
    while (proxy.connections() === 0) await new Promise((done) => setTimeout(done, 5));
    transport.close();
    await hungUp;
    expect(await error).toBeInstanceOf(Error);
  });

  test('the file store uses the same proxy', async () => {
    const proxy = await proxyTo(0, 407);
    const store = storeFor(far, through(proxy.url));
    const error = (await thrownBy(store.get('https://files.example.test/x?sig=1'))) as NetworkError;
    expect(error.message).toContain('answered 407');
    expect(proxy.asked.map(({ place }) => place)).toEqual(['files.example.test:443']);
  });

  test('a store without TLS is reached through the proxy of its scheme', async () => {
    const store = await recordingService(() => ({ status: 200, text: 'file' }));
    const proxy = await proxyTo(Number(new URL(store.origin).port));
    const { bytes } = await storeFor('http://127.0.0.1:9/v1', {
      proxy: createProxyChoice({ http_proxy: proxy.url }),
    }).get('http://203.0.113.9/x?sig=1');
    const parts: Uint8Array[] = [];
    for await (const part of bytes) parts.push(part);
    expect(Buffer.concat(parts).toString()).toBe('file');
    expect(proxy.asked.map(({ place }) => place)).toEqual(['203.0.113.9:80']);
    expect(store.requests.map(({ url }) => url)).toEqual(['/x?sig=1']);
  });

  test('an address of IPv6 is named to it in brackets', async () => {
    const proxy = await proxyTo(0, 407);
    const transport = transportTo('https://[2001:db8::7]/v1', through(proxy.url));
    await thrownBy(transport.request(get));
    expect(proxy.asked.map(({ place }) => place)).toEqual(['[2001:db8::7]:443']);
  });

  test('loopback never uses it', async () => {
    const proxy = await proxyTo(0, 407);
    const service = await recordingService(() => ({ status: 200, json: [] }));
    const env = { http_proxy: proxy.url, https_proxy: proxy.url };
    const { api } = apiTo(service.baseUrl, { proxy: createProxyChoice(env) });
    for await (const record of api.list('teams')) expect(record).toBeUndefined();
    expect(service.requests).toHaveLength(1);
    expect(proxy.asked).toHaveLength(0);
  });
});

describe('TLS through a proxy', () => {
  const folder = temporaryFolder();
  const certificate = join(folder, 'cert.pem');
  const proxyCertificate = join(folder, 'proxy.pem');
  const both = join(folder, 'both.pem');
  const seen: { url: string; key: unknown }[] = [];
  let port = 0;

  const named = join(folder, 'named.pem');

  const proxyPair = () => ({
    key: readFileSync(join(folder, 'proxy.key')),
    cert: readFileSync(proxyCertificate),
  });

  beforeEach(({ skip }) => skip(noOpenssl !== undefined, noOpenssl));

  beforeAll(async () => {
    if (noOpenssl !== undefined) return;
    const keyFile = join(folder, 'key.pem');
    makeCertificate('DNS:api.example.test', keyFile, certificate);
    makeCertificate('IP:127.0.0.1', join(folder, 'proxy.key'), proxyCertificate);
    makeCertificate('DNS:localhost', join(folder, 'named.key'), named);
    writeFileSync(both, [certificate, proxyCertificate].map((file) => readFileSync(file)).join(''));
    const server = createTlsServer(
      { key: readFileSync(keyFile), cert: readFileSync(certificate) },
      (request, response) => {
        seen.push({ url: request.url ?? '', key: request.headers['x-api-key'] });
        response.setHeader('content-type', 'application/json');
        response.end(JSON.stringify([{ id: 'team_1', name: 'Foxes' }]));
      },
    );
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    atEnd(() => {
      server.close();
      server.closeAllConnections();
    });
    port = (server.address() as AddressInfo).port;
  });

  const environment = {
    ROSTERCTL_BASE_URL: far,
    ROSTERCTL_ORG: organization,
    ROSTERCTL_API_KEY: key,
    NODE_EXTRA_CA_CERTS: certificate,
  };

  test('the program reaches the service and says so, and the proxy never sees the key', async () => {
    const proxy = await proxyTo(port);
    const https_proxy = proxy.url.replace('http://', 'http://ann:s3cret@');
    const env = { ...environment, https_proxy };
    const { code, stdout, stderr } = await rosterctl('teams list -o ids --debug', { env });
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'team_1\n' });
    expect(seen.at(-1)).toEqual({ url: '/v1/teams/org_7', key });
    expect(stderr).toContain(
      `https://api.example.test is reached through the proxy ${proxy.url} (https_proxy)`,
    );
    expect(stderr).not.toContain('s3cret');
    const [asked] = proxy.asked;
    expect(asked?.place).toBe('api.example.test:443');
    expect(asked?.headers['proxy-authorization']).toBe(
      `Basic ${Buffer.from('ann:s3cret').toString('base64')}`,
    );
    expect(JSON.stringify(proxy.asked)).not.toContain(key);
  });

  test('doctor names the proxy, without its user', async () => {
    const proxy = await proxyTo(port);
    const https_proxy = proxy.url.replace('http://', 'http://ann:s3cret@');
    const { stdout } = await rosterctl('doctor', { env: { ...environment, https_proxy } });
    expect(stdout).toContain(
      `api.example.test, certificate verified, through the proxy ${proxy.url} (https_proxy)`,
    );
    expect(stdout).not.toContain('s3cret');
  });

  test('a proxy that is itself behind TLS works too', async () => {
    const proxy = await proxyTo(port, 200, proxyPair());
    const HTTPS_PROXY = proxy.url.replace('https://', 'https://ann:s3cret@');
    const env = { ...environment, NODE_EXTRA_CA_CERTS: both, HTTPS_PROXY };
    const { code, stdout, stderr } = await rosterctl('teams list -o ids --debug', { env });
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'team_1\n' });
    expect(seen.at(-1)).toEqual({ url: '/v1/teams/org_7', key });
    expect(stderr).toContain(`is reached through the proxy ${proxy.url} (HTTPS_PROXY)`);
    expect(stderr).not.toContain('s3cret');
    expect(proxy.asked.map(({ place }) => place)).toEqual(['api.example.test:443']);
    expect(proxy.asked[0]?.headers['proxy-authorization']).toMatch(/^Basic /);
    expect(JSON.stringify(proxy.asked)).not.toContain(key);
  });

  test('a user that the proxy refuses is not asked for as if there were none', async () => {
    const proxy = await proxyTo(port, 407);
    const HTTPS_PROXY = proxy.url.replace('http://', 'http://ann:wrong@');
    const { stderr } = await rosterctl('teams list', { env: { ...environment, HTTPS_PROXY } });
    expect(stderr).toContain(
      'Correct the user name or the password in HTTPS_PROXY, which the proxy refused.',
    );
  });

  test.each([
    [403, 'refuses connections to', 'Ask its operator to allow that host, or name it in NO_PROXY.'],
    [503, 'cannot connect to', 'Check that host. If it needs no proxy, name it in NO_PROXY.'],
  ])(
    'a proxy that answers %i works, so the host is named and not the variable',
    async (status, verb, hint) => {
      const proxy = await proxyTo(port, status);
      const env = { ...environment, HTTPS_PROXY: proxy.url };
      const { code, stderr } = await rosterctl('teams list --retries 0', { env });
      expect(code).toBe(9);
      expect(stderr).toBe(
        `The proxy ${proxy.url} ${verb} api.example.test:443: it answered ${status}.\n${hint}\n`,
      );
    },
  );

  test('a TLS proxy has to prove its own name, not that of the service', async () => {
    const pair = { key: readFileSync(join(folder, 'named.key')), cert: readFileSync(named) };
    const proxy = await proxyTo(port, 407, pair);
    const HTTPS_PROXY = proxy.url.replace('127.0.0.1', 'localhost');
    const env = { ...environment, NODE_EXTRA_CA_CERTS: named, HTTPS_PROXY };
    const { stderr } = await rosterctl('teams list --retries 0', { env });
    expect(stderr).toContain(`The proxy ${HTTPS_PROXY} answered 407`);
  });

  test.each([
    ['nobody vouches for', { NODE_TLS_REJECT_UNAUTHORIZED: '1' }],
    [
      'is not trusted, with checks disabled by the environment',
      { NODE_TLS_REJECT_UNAUTHORIZED: '0' },
    ],
  ])('a TLS proxy whose certificate %s receives nothing', async (_, more) => {
    const proxy = await proxyTo(port, 200, proxyPair());
    const before = seen.length;
    const HTTPS_PROXY = proxy.url.replace('https://', 'https://ann:s3cret@');
    const env = { ...environment, HTTPS_PROXY, ...more };
    const { code, stdout, stderr } = await rosterctl('teams list --retries 0', { env });
    expect({ code, stdout }).toEqual({ code: 9, stdout: '' });
    expect(stderr).toContain(`The proxy ${proxy.url} cannot be used: DEPTH_ZERO_SELF_SIGNED_CERT`);
    expect(stderr).not.toContain('s3cret');
    expect(proxy.asked).toEqual([]);
    expect(seen).toHaveLength(before);
  });

  test('an untrusted certificate ends the connection before the key is sent', async () => {
    const proxy = await proxyTo(port);
    const before = seen.length;
    const error = (await thrownBy(
      transportTo(far, { ...through(proxy.url), retries: 2 }).request(get),
    )) as NetworkError;
    expect(error.details.reason).toBe('tls');
    expect(proxy.asked).toHaveLength(1);
    expect(seen).toHaveLength(before);
  });

  test('a dead proxy exits 9 and is named', async () => {
    const env = { ...environment, https_proxy: 'http://ann:s3cret@127.0.0.1:1' };
    const { code, stdout, stderr } = await rosterctl('teams list --retries 0', { env });
    expect({ code, stdout }).toEqual({ code: 9, stdout: '' });
    expect(stderr).toContain('The proxy http://127.0.0.1:1 cannot be used: ECONNREFUSED');
    expect(stderr).toContain('Check https_proxy, or name');
    expect(stderr).not.toContain('s3cret');
  });
});
