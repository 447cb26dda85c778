import { createHash, randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { expect } from 'vitest';
import { atEnd } from '../support/cleaning.js';
import { temporaryFolder } from '../support/run.js';
import { key } from '../support/service.js';
import { expectFailure, fault, unlessPossible } from './support/case.js';
import { certificates, type Pair } from './support/certificates.js';
import { missing } from './support/machine.js';
import { environmentFor, wireServer } from './support/wire.js';
import { hostileWorld } from './support/world.js';

const read = 'teams get team_1';
const noOpenssl = missing('openssl', 'version');
const pairOf = (choose: (all: ReturnType<typeof certificates>) => Pair) => choose(certificates());

fault('F016', 'a certificate of a known authority is fine', async (attack, context) => {
  unlessPossible(context, noOpenssl);
  const { good, authorityFile } = certificates();
  const world = await hostileWorld({ tls: good });
  const ran = await attack(read, { env: { ...world.env, NODE_EXTRA_CA_CERTS: authorityFile } });
  expect({ code: ran.code, stderr: ran.stderr }).toMatchObject({ code: 0 });
  expect(world.requests[0]?.headers['x-api-key']).toBe(key);
});

fault('F016', 'the bytes of an upload over TLS arrive as they are', async (attack, context) => {
  unlessPossible(context, noOpenssl);
  const { good, authorityFile } = certificates();
  const world = await hostileWorld({ tls: good, storeOptions: { tls: good } });
  const cwd = temporaryFolder('upload');
  // Longer than the alternating buffers, and not a multiple of them.
  const bytes = Buffer.concat([Buffer.from('%PDF-1.7\n'), randomBytes(13_000_003)]);
  writeFileSync(join(cwd, 'large.pdf'), bytes);
  const ran = await attack('docs upload large.pdf', {
    env: { ...world.env, NODE_EXTRA_CA_CERTS: authorityFile },
    cwd,
  });
  expect({ code: ran.code, stderr: ran.stderr }).toMatchObject({ code: 0 });
  const [put] = world.store.requests;
  expect(world.store.origin).toMatch(/^https:/);
  expect(put?.headers['x-api-key']).toBeUndefined();
  expect(sha256(put?.body ?? Buffer.alloc(0))).toBe(sha256(bytes));
});

// As Django names it behind a proxy that ends TLS.
fault('F065', 'a next page under http is read over https', async (attack, context) => {
  unlessPossible(context, noOpenssl);
  const { good, authorityFile } = certificates();
  const world = await hostileWorld({
    tls: good,
    api: ({ url }, { origin }) => {
      const isFirst = !url.includes('page=2');
      const next = `${origin.replace('https:', 'http:')}/v1/teams/org_7?page=2`;
      const results = [
        { id: isFirst ? 'team_1' : 'team_2', organizationId: 'org_7', name: 'Kite' },
      ];
      return { json: { count: 2, next: isFirst ? next : null, previous: null, results } };
    },
  });
  const ran = await attack('teams list -o ids', {
    env: { ...world.env, NODE_EXTRA_CA_CERTS: authorityFile },
  });
  expect(ran).toMatchObject({ code: 0, stdout: 'team_1\nteam_2\n', stderr: '' });
  expect(world.requests.map(({ url }) => url)).toEqual([
    '/v1/teams/org_7',
    '/v1/teams/org_7?page=2',
  ]);
});

const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

const bad = [
  ['F016', 'nobody knows', (all) => all.selfSigned, /DEPTH_ZERO_SELF_SIGNED_CERT/, /NODE_EXTRA_CA/],
  [
    'F017',
    'another host',
    (all) => all.wrongHost,
    /ERR_TLS_CERT_ALTNAME_INVALID/,
    /a host other than/,
  ],
  ['F018', 'long expired', (all) => all.expired, /CERT_HAS_EXPIRED/, /clock/],
  ['F023', 'not valid yet, by our clock', (all) => all.future, /CERT_NOT_YET_VALID/, /clock/],
] as const satisfies readonly (readonly [
  string,
  string,
  (all: ReturnType<typeof certificates>) => Pair,
  RegExp,
  RegExp,
])[];

for (const [id, title, choose, code, hint] of bad)
  for (const [where, env] of [
    ['', {}],
    [', verification switched off in the environment', { NODE_TLS_REJECT_UNAUTHORIZED: '0' }],
  ] as const)
    fault(where ? 'F022' : id, `a certificate: ${title}${where}`, async (attack, context) => {
      unlessPossible(context, noOpenssl);
      const { authorityFile } = certificates();
      const world = await hostileWorld({ tls: pairOf(choose) });
      const ran = await attack(read, {
        env: { ...world.env, NODE_EXTRA_CA_CERTS: authorityFile, ...env },
      });
      expect({ code: ran.code, stdout: ran.stdout }).toEqual({ code: 9, stdout: '' });
      expect(ran.stderr).toMatch(code);
      expect(ran.stderr).toMatch(hint);
      // Another authority fixes neither a name nor a date.
      if (!/EXTRA_CA/.test(hint.source)) expect(ran.stderr).not.toContain('NODE_EXTRA_CA_CERTS');
      expect(world.received()).not.toContain(key);
      expect(world.requests).toHaveLength(0);
      // A retry does not fix a certificate.
      expect(world.connections()).toBeLessThanOrEqual(1);
    });

fault('F019', 'a server that speaks TLS 1.1 only', async (attack, context) => {
  unlessPossible(context, noOpenssl);
  const { good, authorityFile } = certificates();
  const old = {
    minVersion: 'TLSv1',
    maxVersion: 'TLSv1.1',
    ciphers: 'DEFAULT:@SECLEVEL=0',
  } as const;
  const world = await hostileWorld({ tls: { ...good, ...old } });
  const ran = await attack(read, { env: { ...world.env, NODE_EXTRA_CA_CERTS: authorityFile } });
  expectFailure(ran, 9, /TLS.*(PROTOCOL|VERSION|protocol)/);
  expect(world.received()).not.toContain(key);
});

for (const version of ['TLSv1.2', 'TLSv1.3'] as const)
  for (const line of [read, 'teams create --name A'])
    fault(
      'F019',
      `${line}: a ${version} server that demands a client certificate`,
      async (attack, context) => {
        unlessPossible(context, noOpenssl);
        const { good, authorityFile } = certificates();
        const tls = { ...good, minVersion: version, maxVersion: version, requestCert: true };
        const world = await hostileWorld({ tls: { ...tls, rejectUnauthorized: true } });
        const ran = await attack(line, {
          env: { ...world.env, NODE_EXTRA_CA_CERTS: authorityFile },
        });
        expectFailure(ran, 9, /demand a client certificate|demands a client certificate/);
        expect(world.requests).toHaveLength(0);
        expect(ran.stderr).not.toContain('attempts');
      },
    );

fault('F020', 'https to a port that never says a word', async (attack) => {
  const server = createServer(() => undefined);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  atEnd(() => server.close());
  const { port } = server.address() as AddressInfo;
  const env = { ...environmentFor(`https://127.0.0.1:${port}/v1`), ROSTERCTL_RETRIES: '0' };
  const ran = await attack(read, { env });
  expectFailure(ran, 9, /in time/);
});

fault('F020', 'https to a plain http port', async (attack) => {
  const world = await hostileWorld();
  const env = { ...world.env, ROSTERCTL_BASE_URL: `https://127.0.0.1:${world.port}/v1` };
  const ran = await attack(read, { env });
  expect({ code: ran.code, stdout: ran.stdout }).toEqual({ code: 9, stdout: '' });
  expect(world.received()).not.toContain(key);
});

fault('F021', 'http to a TLS port', async (attack, context) => {
  unlessPossible(context, noOpenssl);
  const world = await wireServer(() => ({ status: 200 }), { tls: certificates().good });
  const env = { ...world.env, ROSTERCTL_BASE_URL: `http://127.0.0.1:${world.port}/v1` };
  const ran = await attack(read, { env });
  expect([1, 9]).toContain(ran.code);
  expect(ran.stdout).toBe('');
  expect(ran.stderr).toMatch(/https|with HTTP/);
});

fault('F021', 'http to a host that is not this machine is refused at once', async (attack) => {
  const ran = await attack(read, { env: environmentFor('http://api.test/v1') });
  expectFailure(ran, 2, /https/);
});
