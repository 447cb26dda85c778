import { createHash, createHmac } from 'node:crypto';

/** A bucket of an S3-compatible store, and the key pair that signs for it. */
export interface BucketAccess {
  /** `https://s3.eu-central-1.amazonaws.com`; the bucket is the first part of the path below it. */
  readonly endpoint: string;
  readonly bucket: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

/** One request that a presigned URL allows. */
export interface PresignedCall {
  readonly method: 'GET' | 'HEAD' | 'PUT';
  readonly key: string;
  /** Headers that the request must carry exactly so, in lower case. */
  readonly headers?: { readonly [name: string]: string };
  /** Parameters that the store acts on, such as `response-content-disposition`. */
  readonly query?: { readonly [name: string]: string };
}

const algorithm = 'AWS4-HMAC-SHA256';

/** What the AWS library says besides of the operations that it names in the query. */
const operations: { readonly [method: string]: string } = { GET: 'GetObject', PUT: 'PutObject' };

/**
 * A URL that allows one call from the second of `at` on for so many whole `seconds`: AWS Signature
 * Version 4 in the query, character by character what the AWS library makes.
 */
export function presign(
  access: BucketAccess,
  { method, key, headers = {}, query = {} }: PresignedCall,
  { at, seconds }: { readonly at: Date; readonly seconds: number },
): string {
  const { origin, host, pathname } = new URL(access.endpoint);
  const path = `${pathname.replace(/\/$/, '')}/${escape(access.bucket)}/${key.split('/').map(escape).join('/')}`;
  const time = at.toISOString().replaceAll(/[-:]|\.\d+/g, '');
  const scope = `${time.slice(0, 8)}/${access.region}/s3/aws4_request`;
  const signed = byName({ ...headers, host });
  const operation = operations[method];
  const parameters = {
    ...query,
    ...(operation !== undefined && { 'x-id': operation }),
    'X-Amz-Algorithm': algorithm,
    'X-Amz-Content-Sha256': 'UNSIGNED-PAYLOAD',
    'X-Amz-Credential': `${access.accessKeyId}/${scope}`,
    'X-Amz-Date': time,
    'X-Amz-Expires': String(seconds),
    'X-Amz-SignedHeaders': signed.map(([name]) => name).join(';'),
  };
  const request = [
    method,
    path,
    queryOf(parameters),
    ...signed.map(([name, value]) => `${name}:${value.trim().replaceAll(/\s+/g, ' ')}`),
    '',
    parameters['X-Amz-SignedHeaders'],
    'UNSIGNED-PAYLOAD',
  ].join('\n');
  const digest = createHash('sha256').update(request).digest('hex');
  const signature = hmac(signingKey(access, scope), [algorithm, time, scope, digest].join('\n'));
  const all = { ...parameters, 'X-Amz-Signature': signature.toString('hex') };
  return `${origin}${path}?${queryOf(all)}`;
}

/** The key of one day, region and service, so that a leaked one is worth little. */
function signingKey({ secretAccessKey }: BucketAccess, scope: string): Buffer {
  return scope.split('/').reduce<Buffer>(hmac, Buffer.from(`AWS4${secretAccessKey}`));
}

const hmac = (key: Buffer, text: string) => createHmac('sha256', key).update(text).digest();

const queryOf = (parameters: { readonly [name: string]: string }) =>
  byName(parameters)
    .map(([name, value]) => `${escape(name)}=${escape(value)}`)
    .join('&');

const byName = (values: { readonly [name: string]: string }) =>
  Object.entries(values).toSorted(([left], [right]) => (left < right ? -1 : 1));

/** RFC 3986: nothing but letters, digits and `-._~` stands for itself. */
const escape = (text: string) =>
  encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`,
  );
