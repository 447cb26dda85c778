import { GetObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import type { JsonObject } from '../../src/data/json.js';
import { awsClient, signedHeaders } from './aws.js';
import type { S3Store } from './s3-store.js';
import { organization, type Recorded, recordingService, type Service } from './service.js';

/** How a signed URL is made otherwise than it should be. */
export interface Spoilt {
  readonly contentType?: string;
  readonly sizeBytes?: number;
  readonly signingDate?: Date;
  /** Changes the finished URL. */
  readonly change?: (url: string) => string;
}

/** Which URL is asked for: the first or a later one of its kind. */
export interface Asked {
  readonly method: 'PUT' | 'GET';
  readonly nth: number;
}

export interface S3Service extends Service {
  /** What was recorded, oldest first. */
  readonly documents: JsonObject[];
  /** How many upload URLs were handed out. */
  grants(): number;
}

/** Seconds that a URL works. */
const lives = 300;

/**
 * A service that keeps its files in a store and hands out URLs that the AWS library signed, with
 * content type and length in the signature. Its keys hold characters that every encoder must know.
 */
export async function s3Service(
  store: S3Store,
  spoil: (asked: Asked) => Spoilt = () => ({}),
): Promise<S3Service> {
  const client = awsClient(store.access);
  const { bucket: Bucket } = store.access;
  const documents: JsonObject[] = [];
  const counts = { PUT: 0, GET: 0 };
  const spoiltFor = (method: Asked['method']) => spoil({ method, nth: ++counts[method] });

  const grant = async ({ contentType, sizeBytes }: JsonObject) => {
    const spoilt = spoiltFor('PUT');
    const key = `documents/${organization}/Verträge + 100 %/upload (${counts.PUT}).bin`;
    const command = new PutObjectCommand({
      Bucket,
      Key: key,
      ContentType: spoilt.contentType ?? String(contentType),
      ContentLength: spoilt.sizeBytes ?? Number(sizeBytes),
    });
    const times = { ...timesOf(spoilt), signableHeaders: signedHeaders };
    const url = await getSignedUrl(client, command, times);
    return { key, fileRef: `s3://${Bucket}/${key}`, uploadUrl: spoilt.change?.(url) ?? url };
  };

  const link = async (id: string) => {
    const spoilt = spoiltFor('GET');
    const Key = String(documents.find((each) => each['id'] === id)?.['fileKey']);
    const url = await getSignedUrl(client, new GetObjectCommand({ Bucket, Key }), timesOf(spoilt));
    return { url: spoilt.change?.(url) ?? url };
  };

  const answer = async ({ method, url, body }: Recorded): Promise<[number, unknown]> => {
    const sent = body.length > 0 ? (JSON.parse(body.toString()) as JsonObject) : {};
    const [, id] = /^\/v1\/documents\/(\w+)\/(?:download|preview)$/.exec(url) ?? [];
    if (method === 'GET' && id !== undefined) return [200, await link(id)];
    switch (`${method} ${url}`) {
      case 'POST /v1/uploads/document-file':
        return [200, await grant(sent)];
      case 'POST /v1/documents':
        documents.push({ ...sent, id: `doc_${documents.length + 1}` });
        return [201, documents.at(-1)];
      case `GET /v1/documents/${organization}`:
        return [200, { documents }];
      default:
        return [404, { error: 'notFound' }];
    }
  };

  const service = await recordingService((request) => (_, response) => {
    void answer(request).then(([status, json]) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(json)),
    );
  });
  return { ...service, documents, grants: () => counts.PUT };
}

const timesOf = ({ signingDate = new Date() }: Spoilt) => ({ expiresIn: lives, signingDate });

/** A URL of another signature, just as long. */
export const otherSignature = (url: string): string =>
  url.replace(
    /(X-Amz-Signature=)(.)/,
    (_, name: string, first: string) => `${name}${first === '0' ? '1' : '0'}`,
  );

/** A moment at which a URL was signed that has run out by now. */
export const longAgo = (): Date => new Date(Date.now() - 2 * lives * 1000);
