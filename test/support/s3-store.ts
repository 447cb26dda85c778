import { existsSync, readFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import S3rver from '@20minutes/s3rver';
import accounts from '@20minutes/s3rver/lib/models/account.js';
import { expect } from 'vitest';
import { temporaryFolder } from './run.js';
import { key as apiKey, storeSecret } from './service.js';

/** A bucket of an S3-compatible store, and the key pair that signs for it. */
export interface BucketAccess {
  /** The bucket is the first part of the path below it. */
  readonly endpoint: string;
  readonly bucket: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

/** One request as the store got it. */
export interface StoreRequest {
  readonly method: string;
  /** Path and query, as on the request line. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  /** What it was answered; 0 as long as it was not. */
  status: number;
}

/** A real S3-compatible store on loopback that checks signatures (version 4). */
export interface S3Store {
  readonly access: BucketAccess;
  /** Oldest first. */
  readonly requests: StoreRequest[];
  /** The uploads among them. */
  puts(): StoreRequest[];
  /** What it holds under a key, read from its own disk. */
  read(key: string): Buffer | undefined;
  close(): Promise<void>;
}

const bucket = 'roster-files';

const accessKeyId = 'AKIDROSTERCTL';

/** Starts one; the caller closes it. */
export async function s3Store(): Promise<S3Store> {
  accounts.DUMMY_ACCOUNT.createKeyPair(accessKeyId, storeSecret);
  const directory = temporaryFolder('s3');
  const store = new S3rver({
    silent: true,
    directory,
    vhostBuckets: false,
    configureBuckets: [{ name: bucket }],
  });
  await store.configureBuckets();
  const answer = store.callback();
  const requests: StoreRequest[] = [];
  const server = createServer((incoming, response) => {
    const { method = '', url = '', headers } = incoming;
    // The store itself adds to the headers that it was given.
    const request = { method, url, headers: { ...headers }, status: 0 };
    requests.push(request);
    response.on('finish', () => (request.status = response.statusCode));
    // This store lets everyone read and write who claims nothing; a private bucket does not.
    if (/[?&]X-Amz-Signature=/.test(url)) answer(incoming, response);
    else response.writeHead(403).end('<Error><Code>AccessDenied</Code></Error>');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    access: {
      endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      bucket,
      region: 'eu-central-1',
      accessKeyId,
      secretAccessKey: storeSecret,
    },
    requests,
    puts: () => requests.filter(({ method }) => method === 'PUT'),
    read(key) {
      const path = join(directory, bucket, `${key}._S3rver_object`);
      return existsSync(path) ? readFileSync(path) : undefined;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** The store's own record: it was asked, every upload said its length, and no key of ours came. */
export function expectNoKeyIn(requests: readonly StoreRequest[]): void {
  expect(requests.length).toBeGreaterThan(0);
  const carriers = requests.filter(({ url, headers }) => {
    const names = ['x-api-key', 'authorization', 'cookie'].filter((name) => name in headers);
    const text = `${url}\n${JSON.stringify(headers)}`;
    return names.length > 0 || text.includes(apiKey) || text.includes(storeSecret);
  });
  expect(carriers).toEqual([]);
  const unmeasured = requests
    .filter(({ method }) => method === 'PUT')
    .filter(({ headers }) => 'transfer-encoding' in headers || !headers['content-length']);
  expect(unmeasured).toEqual([]);
}
