import { S3Client } from '@aws-sdk/client-s3';
import type { BucketAccess } from './s3-store.js';

/** The AWS library's own client, which signs URLs as a service would that is built on it. */
export function awsClient(access: BucketAccess): S3Client {
  const { endpoint, region, accessKeyId, secretAccessKey } = access;
  return new S3Client({
    endpoint,
    region,
    forcePathStyle: true,
    credentials: { accessKeyId, secretAccessKey },
    // Else a presigned URL carries the checksum of no bytes.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  });
}

/** What the signature of an upload covers (contract 4.5). */
export const signedHeaders = new Set(['content-type', 'content-length', 'host']);
