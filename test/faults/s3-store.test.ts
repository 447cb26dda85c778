import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect } from 'vitest';
import { temporaryFolder } from '../support/run.js';
import { longAgo, otherSignature, type Spoilt, s3Service } from '../support/s3-service.js';
import { expectNoKeyIn, type S3Store, s3Store } from '../support/s3-store.js';
import { type Attacked, expectFailure, fault } from './support/case.js';

// A store that checks signatures, with URLs from the AWS library, some of them corrupted.
const stores: S3Store[] = [];
afterAll(async () => {
  // For every case of this file: no key in any request, and no upload without its length.
  expectNoKeyIn(stores.flatMap(({ requests }) => requests));
  await Promise.all(stores.map((store) => store.close()));
});

const content = 'hello from the club\n';
const upload = 'docs upload rules.txt';

/** A service that corrupts the nth URL for a method in this way. */
async function spoiltService(spoil: Parameters<typeof s3Service>[1]) {
  const store = await s3Store();
  stores.push(store);
  const cwd = temporaryFolder('s3');
  writeFileSync(join(cwd, 'rules.txt'), content);
  const service = await s3Service(store, spoil);
  return { store, service, cwd, env: { ...service.env, ROSTERCTL_RETRIES: '1' } };
}

const envelope = (ran: Attacked) =>
  (JSON.parse(ran.stderr.trimEnd().split('\n').at(-1) ?? '') as { error: object }).error;

const refusedSignature = { status: 403, code: 'SignatureDoesNotMatch', exitCode: 1 };

describe('the store checks signatures', () => {
  const wrong: readonly (readonly [string, Spoilt])[] = [
    ['another type', { contentType: 'application/pdf' }],
    ['a type with a charset', { contentType: 'text/plain; charset=utf-8' }],
    ['a smaller length', { sizeBytes: content.length - 1 }],
    ['a greater length', { sizeBytes: content.length + 1 }],
    ['another signature', { change: otherSignature }],
    ['another key', { change: (url) => url.replace('/upload', '/other') }],
    ['a longer life', { change: (url) => url.replace('Expires=300', 'Expires=3000') }],
  ];
  for (const [what, spoilt] of wrong)
    fault(
      'F097',
      `the URL was made for ${what}: refused once, nothing is recorded`,
      async (attack) => {
        const { store, service, cwd, env } = await spoiltService(() => spoilt);
        const ran = await attack(upload, { env, cwd });
        expectFailure(ran, 1, /403 SignatureDoesNotMatch[^]*headers differ from the signed ones/);
        expect(store.puts().map(({ status }) => status)).toEqual([403]);
        expect(service.grants()).toBe(1);
        expect(service.documents).toEqual([]);
        const json = await attack(`${upload} --json --debug`, { env, cwd });
        expect([json.code, json.stdout]).toEqual([1, '']);
        expect(envelope(json)).toMatchObject(refusedSignature);
      },
    );

  fault('F096', 'the URL had run out: a new one, and the file is stored once', async (attack) => {
    const { store, service, cwd, env } = await spoiltService(({ nth }) =>
      nth === 1 ? { signingDate: longAgo() } : {},
    );
    const ran = await attack(`${upload} --json`, { env, cwd });
    expect({ code: ran.code, stderr: ran.stderr }).toMatchObject({ code: 0 });
    expect(store.puts().map(({ status }) => status)).toEqual([403, 200]);
    expect(service.grants()).toBe(2);
    expect(service.documents).toHaveLength(1);
    expect(store.read(String(service.documents[0]?.['fileKey']))?.toString()).toBe(content);
  });

  fault('F096', 'every URL has run out: at most two renewals, then it ends', async (attack) => {
    const { store, service, cwd, env } = await spoiltService(() => ({ signingDate: longAgo() }));
    const ran = await attack(upload, { env, cwd });
    expectFailure(ran, 1, /403 AccessDenied: Request has expired/);
    expect(service.grants()).toBeGreaterThanOrEqual(2);
    expect(service.grants()).toBeLessThanOrEqual(3);
    expect(store.puts()).toHaveLength(service.grants());
    expect(service.documents).toEqual([]);
    const json = await attack(`${upload} --json`, { env, cwd });
    expect([json.code, json.stdout]).toEqual([1, '']);
    expect(envelope(json)).toMatchObject({ status: 403, code: 'AccessDenied', exitCode: 1 });
  });

  fault('F098', 'the length stands in the request, from a file and from stdin', async (attack) => {
    const { store, service, cwd, env } = await spoiltService(() => ({}));
    const stdin = Buffer.alloc(3_000_001, 'ä');
    expect((await attack(upload, { env, cwd })).code).toBe(0);
    const line = 'docs upload - --name x.txt --content-type text/plain';
    expect((await attack(line, { env, cwd, stdin })).code).toBe(0);
    expect(store.puts().map(({ headers }) => headers['content-length'])).toEqual([
      String(content.length),
      String(stdin.length),
    ]);
    expect(store.puts().map(({ headers }) => headers['transfer-encoding'])).toEqual([
      undefined,
      undefined,
    ]);
    const [, second] = service.documents;
    expect(store.read(String(second?.['fileKey']))?.equals(stdin)).toBe(true);
  });
});

describe('downloads from a store that checks signatures', () => {
  for (const [what, spoilt, code] of [
    ['had run out', { signingDate: longAgo() }, 'AccessDenied'],
    ['has another signature', { change: otherSignature }, 'SignatureDoesNotMatch'],
    ['is not signed', { change: (url) => url.split('?')[0] ?? '' }, 'AccessDenied'],
  ] as const satisfies readonly (readonly [string, Spoilt, string])[])
    fault('F097', `the URL of a download ${what}: no file is left`, async (attack) => {
      const { service, cwd, env } = await spoiltService(({ method }) =>
        method === 'GET' ? spoilt : {},
      );
      expect((await attack(upload, { env, cwd })).code).toBe(0);
      const ran = await attack('docs download doc_1 -O back.txt --json', { env, cwd });
      expect([ran.code, ran.stdout]).toEqual([1, '']);
      expect(envelope(ran)).toMatchObject({ status: 403, exitCode: 1, code });
      // One full stop, and no advice for an upload.
      const { message, hint } = envelope(ran) as Record<string, string>;
      expect(message).toMatch(/[^.]\.$/);
      expect(hint).toMatch(code === 'AccessDenied' ? /may have expired/ : /tell the operator/);
      expect(existsSync(join(cwd, 'back.txt'))).toBe(false);
      expect(readdirSync(cwd)).toEqual(['rules.txt']);
      expect(service.documents).toHaveLength(1);
    });
});
