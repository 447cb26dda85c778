import type { IncomingMessage } from 'node:http';
import type { JsonObject } from '../data/json.js';
import { type BucketAccess, presign } from './presign.js';
import type { Tables } from './records.js';
import type { SignedCall, UrlSigner } from './signed-url.js';

/** What lies under a key. */
export interface StoredObject {
  readonly sizeBytes: number;
  readonly contentType: string;
}

/** A bucket of an S3-compatible store that takes the uploads instead of our own file store. */
export interface Bucket {
  /** How its objects are named among ourselves: `s3://bucket/`. */
  readonly prefix: string;
  readonly urls: UrlSigner;
  /** What lies under a key; undefined when nothing does. Throws Error when the store does not say. */
  look(key: string): Promise<StoredObject | undefined>;
}

const patienceMs = 10_000;

export function openBucket(access: BucketAccess, now: () => Date): Bucket {
  return {
    prefix: `s3://${access.bucket}/`,
    urls: {
      sign(call, expiresAt) {
        const at = now();
        const from = Math.floor(at.getTime() / 1000);
        // Whole seconds, never earlier than promised.
        const seconds = Math.ceil(expiresAt.getTime() / 1000) - from;
        return presign(access, presignedCall(call), { at, seconds });
      },
    },
    async look(key) {
      const url = presign(access, { method: 'HEAD', key }, { at: now(), seconds: 60 });
      const { statusCode = 0, headers } = await head(url);
      if (statusCode === 404) return undefined;
      if (statusCode !== 200)
        throw new Error(`${access.endpoint} answered ${statusCode} when asked for an upload`);
      return {
        sizeBytes: Number(headers['content-length']),
        contentType: headers['content-type'] ?? '',
      };
    },
  };
}

/** What the bucket holds under the `fileKey` of a document to be made, if it is one of its uploads. */
export async function lookForUpload(
  bucket: Bucket,
  { uploads }: Tables,
  { fileKey }: JsonObject,
): Promise<StoredObject | undefined> {
  const upload = typeof fileKey === 'string' ? uploads.get(fileKey) : undefined;
  return upload?.fileRef.startsWith(bucket.prefix) ? bucket.look(upload.key) : undefined;
}

function presignedCall(call: SignedCall) {
  const { method, key, contentType, sizeBytes, disposition = 'attachment', fileName = '' } = call;
  if (method === 'PUT')
    return {
      method,
      key,
      headers: { 'content-type': contentType, 'content-length': String(sizeBytes) },
    };
  // Plain letters only: stores differ in how they read others back when they check the signature.
  const name = fileName.replaceAll(/[^\w .-]/g, '_');
  return {
    method,
    key,
    query: { 'response-content-disposition': `${disposition}; filename="${name}"` },
  };
}

async function head(url: string): Promise<IncomingMessage> {
  const { request } = await (url.startsWith('https:') ? import('node:https') : import('node:http'));
  return new Promise((resolve, reject) => {
    const signal = AbortSignal.timeout(patienceMs);
    const sent = request(url, { method: 'HEAD', agent: false, signal }, (response) => {
      response.resume();
      resolve(response);
    });
    sent.on('error', (error) =>
      reject(new Error(`the store of the uploads was not reached: ${error.message}`)),
    );
    sent.end();
  });
}
