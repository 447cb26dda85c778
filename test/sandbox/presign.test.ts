import { GetObjectCommand, HeadObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { UploadContentType } from '../../src/api/schemas.js';
import { type BucketAccess, presign } from '../../src/sandbox/presign.js';
import { awsClient, signedHeaders } from '../support/aws.js';

const access: BucketAccess = {
  endpoint: 'http://127.0.0.1:4568',
  bucket: 'roster-files',
  region: 'eu-central-1',
  accessKeyId: 'AKIDEXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
};

const client = awsClient(access);
const Bucket = access.bucket;

/** Texts that are UTF-8, with the characters that encoders treat differently more often than by chance. */
const text = fc.oneof(
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 }),
  fc.string({
    unit: fc.constantFrom(...Array.from(` !'()*~+%&=?#:;,@"\\$|<>[]{}^\`äß€😀a0-._`)),
    minLength: 1,
    maxLength: 40,
  }),
);
const key = fc
  .array(text, { minLength: 1, maxLength: 5 })
  .map((parts) => parts.join('/'))
  .filter((each) => each.isWellFormed());
const moment = fc.date({
  min: new Date('2000-01-01T00:00:00Z'),
  max: new Date('2099-12-31T23:59:59Z'),
  noInvalidDate: true,
});
const seconds = fc.integer({ min: 1, max: 604_800 });
const type = fc.oneof(
  fc.constantFrom(...UploadContentType.options),
  fc.string({
    unit: fc.constantFrom(...Array.from('abcXYZ019/+.;=- "')),
    minLength: 1,
    maxLength: 30,
  }),
);
const size = fc.oneof(
  fc.constantFrom(0, 1, 65_535, 65_536, 1_048_577, 2 ** 32 + 1, Number.MAX_SAFE_INTEGER),
  fc.nat(),
);

test('the URL of an upload is the one that the AWS library signs', async () => {
  await fc.assert(
    fc.asyncProperty(key, type, size, moment, seconds, async (Key, ContentType, length, at, s) => {
      const theirs = await getSignedUrl(
        client,
        new PutObjectCommand({ Bucket, Key, ContentType, ContentLength: length }),
        {
          expiresIn: s,
          signingDate: at,
          signableHeaders: signedHeaders,
        },
      );
      const headers = { 'content-type': ContentType, 'content-length': String(length) };
      const ours = presign(access, { method: 'PUT', key: Key, headers }, { at, seconds: s });
      expect(ours).toBe(theirs);
    }),
    { numRuns: 400 },
  );
});

test('the URLs of a download and of a look are the ones that the AWS library signs', async () => {
  await fc.assert(
    fc.asyncProperty(key, text, moment, seconds, async (Key, name, at, s) => {
      const disposition = `attachment; filename="${name}"`;
      const times = { expiresIn: s, signingDate: at };
      const get = new GetObjectCommand({ Bucket, Key, ResponseContentDisposition: disposition });
      const query = { 'response-content-disposition': disposition };
      expect(presign(access, { method: 'GET', key: Key, query }, { at, seconds: s })).toBe(
        await getSignedUrl(client, get, times),
      );
      expect(presign(access, { method: 'HEAD', key: Key }, { at, seconds: s })).toBe(
        await getSignedUrl(client, new HeadObjectCommand({ Bucket, Key }), times),
      );
    }),
    { numRuns: 300 },
  );
});

test('every endpoint, region and key pair signs as the AWS library does', async () => {
  const endpoint = fc.constantFrom(
    'http://127.0.0.1:9000',
    'http://localhost',
    'https://s3.us-east-1.amazonaws.com',
    'https://store.example.com:443',
    'https://store.example.com:8443/',
    'http://[::1]:9000',
    'https://store.example.com/s3',
  );
  const secret = fc.string({
    unit: fc.constantFrom(...Array.from('abcXYZ019/+=')),
    minLength: 1,
    maxLength: 60,
  });
  const bucket = fc.constantFrom('roster', 'roster.files', 'a-1');
  const region = fc.constantFrom('us-east-1', 'eu-central-1', 'auto', 'fr-par');
  await fc.assert(
    fc.asyncProperty(endpoint, bucket, region, secret, moment, async (...given) => {
      const [where, name, zone, secretAccessKey, at] = given;
      const other = { ...access, endpoint: where, bucket: name, region: zone, secretAccessKey };
      const Key = 'documents/org_7/a b.pdf';
      const theirs = await getSignedUrl(
        awsClient(other),
        new GetObjectCommand({ Bucket: name, Key }),
        { expiresIn: 300, signingDate: at },
      );
      expect(presign(other, { method: 'GET', key: Key }, { at, seconds: 300 })).toBe(theirs);
    }),
    { numRuns: 100 },
  );
});
