import { describe, expect, test } from 'vitest';
import { createUrlGuard, type ResolveAll } from '../../src/api/store/signed-url.js';
import { ProtocolError } from '../../src/errors.js';
import { recordingService } from '../support/service.js';
import { storeFor, thrownBy } from './wiring.js';

const service = 'https://api.example.com/v1';

/** Addresses as an attacker's name server could return them. */
const resolve: ResolveAll = (hostname, _, done) => {
  const known: Record<string, string> = {
    'mixed.example.com': '203.0.113.8 127.0.0.1',
    'inside.example.com': '127.0.0.1',
    'metadata.example.com': '169.254.169.254',
    'six.example.com': '::1',
    'lan.example.com': '192.168.1.20',
    'api.internal.example': '10.1.2.3',
    'files.internal.example': '10.1.2.4',
    'api.example.com': '203.0.113.7',
    'files.example.com': '203.0.113.8',
    localhost: '127.0.0.1',
  };
  const addresses = known[hostname]?.split(' ');
  if (addresses) done(null, addresses.map(withFamily));
  else done(Object.assign(new Error('unknown'), { code: 'ENOTFOUND' }), []);
};

function withFamily(address: string) {
  return { address, family: address.includes(':') ? 6 : 4 };
}

describe('signed URLs that are not opened', () => {
  const listener = recordingService(() => ({ status: 200, text: 'secret' }));
  test.each([
    'http://127.0.0.1:PORT/',
    'https://127.0.0.1:PORT/',
    'https://127.1:PORT/',
    'https://2130706433:PORT/',
    'https://0x7f000001:PORT/',
    'https://0177.0.0.1:PORT/',
    'https://0x7f.0.0.0x1:PORT/',
    'https://127.0.0.1.:PORT/',
    'https://0.0.0.0:PORT/',
    'https://0:PORT/',
    'https://localhost:PORT/',
    'https://LOCALHOST:PORT/',
    'https://localhost.:PORT/',
    'https://app.localhost:PORT/',
    'https://[::1]:PORT/',
    'https://[::]:PORT/',
    'https://[0:0:0:0:0:0:0:1]:PORT/',
    'https://[::ffff:127.0.0.1]:PORT/',
    'https://[::ffff:7f00:1]:PORT/',
    'https://[::127.0.0.1]:PORT/',
    'https://[::7f00:1]:PORT/',
    'https://[::169.254.169.254]/latest/meta-data/',
    'https://[::ffff:0:127.0.0.1]:PORT/',
    'https://[64:ff9b::7f00:1]:PORT/',
    'https://[64:ff9b:1::7f00:1]:PORT/',
    'https://[64:ff9b::192.168.1.20]:PORT/',
    'https://[2002:7f00:1::]:PORT/',
    'https://[2002:c0a8:114::1]:PORT/',
    'https://[2002:7f00:1:1:1:1:1:1]:PORT/',
    'https://[2001:0:7f00:1::80ff:fffe]:PORT/',
    'https://１２７.0.0.1:PORT/',
    'https://169.254.169.254/latest/meta-data/',
    'https://100.100.100.200/',
    'https://168.63.129.16/',
    'https://10.0.0.1/',
    'https://172.16.5.5/',
    'https://192.168.0.1/',
    'https://100.64.0.1/',
    'https://[fe80::1]/',
    'https://[fd00:ec2::254]/',
    'https://224.0.0.1/',
    'https://inside.example.com:PORT/',
    'https://metadata.example.com/',
    'https://six.example.com:PORT/',
    'https://lan.example.com/',
    'https://user:pass@files.example.com/',
    'https://user@files.example.com/',
    'https://:pass@files.example.com/',
    'https://mixed.example.com:PORT/',
    'http://files.example.com/',
    'file:///etc/passwd',
    'ftp://files.example.com/x',
    'data:text/plain,x',
    'javascript:alert(1)',
    '//files.example.com/x',
    '/etc/passwd',
    'https:\\\\127.0.0.1:PORT\\x',
    ' https://127.0.0.1:PORT/',
    'https://127.0.0.1:PORT /',
    'https://a b@files.example.com/',
    'https://127.0.0.1:PORT/\r\nx: y',
    '',
  ])('%j', async (template) => {
    const { origin, requests } = await listener;
    const url = template.replace('PORT', new URL(origin).port);
    const store = storeFor(service, { resolve });
    const file = { contentType: 'text/plain', sizeBytes: 1, open: async function* () {} };
    for (const call of [store.get(url), store.put(url, file)]) {
      const error = await thrownBy(call);
      expect(error).toBeInstanceOf(ProtocolError);
      expect(error).toMatchObject({ code: 'unsafeUrl' });
    }
    expect(requests).toHaveLength(0);
  });
});

const lookedUp = (baseUrl: string, name: string, all: boolean) =>
  new Promise((settle) =>
    createUrlGuard(baseUrl, resolve).lookup(name, { all }, (error, address) =>
      settle(error ? error.constructor.name : address),
    ),
  );

describe('signed URLs that are opened', () => {
  test.each([
    [service, 'https://files.example.com/d?sig=1'],
    [service, 'https://203.0.113.9/d'],
    [service, 'https://[2001:db8::1]/d'],
    [service, 'https://[64:ff9b::cb00:7109]/d'],
    [service, 'https://[2002:cb00:7109::]/d'],
    ['http://127.0.0.1:8080/v1', 'http://127.0.0.1:8081/d'],
    ['http://localhost:8080/v1', 'http://localhost:8081/d'],
    ['https://192.168.1.10/v1', 'https://192.168.1.20/d'],
    ['https://api.internal.example/v1', 'https://10.1.2.4/d'],
  ])('with the service at %s: %s', async (baseUrl, url) => {
    expect((await createUrlGuard(baseUrl, resolve).check(url)).href).toBe(url);
  });

  test('a space in the name of a file is encoded, as browsers do', async () => {
    const url = await createUrlGuard(service, resolve).check('https://files.example.com/a b?sig=1');
    expect(url.href).toBe('https://files.example.com/a%20b?sig=1');
  });

  test('plain http needs a service on loopback itself, not only a private one', async () => {
    const check = createUrlGuard('https://192.168.1.10/v1', resolve).check('http://192.168.1.20/');
    expect(await thrownBy(check)).toBeInstanceOf(ProtocolError);
  });
  test('names are checked by what they resolve to', async () => {
    expect(await lookedUp(service, 'files.example.com', false)).toBe('203.0.113.8');
    expect(await lookedUp(service, 'files.example.com', true)).toEqual([
      { address: '203.0.113.8', family: 4 },
    ]);
    expect(await lookedUp(service, 'lan.example.com', true)).toBe('UnsafeUrlError');
    expect(await lookedUp(service, 'nowhere.example.com', true)).toBe('Error');
    const inside = 'https://api.internal.example/v1';
    expect(await lookedUp(inside, 'files.internal.example', false)).toBe('10.1.2.4');
  });

  test('a bucket named in front of localhost is on this machine, whatever the resolver knows', async () => {
    expect(await lookedUp('http://localhost:8080/v1', 'club.s3.localhost', false)).toBe(
      '127.0.0.1',
    );
    expect(await lookedUp(service, 'club.s3.localhost', false)).toBe('UnsafeUrlError');
  });
});
