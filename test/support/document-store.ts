import { createHash } from 'node:crypto';
import { type Recorded, type Reply, recordingService, type Service } from './service.js';

/** A document of the service; its bytes are in the store. */
export interface Stored {
  readonly record: Readonly<Record<string, unknown>> & { readonly id: string };
  readonly bytes: Buffer;
}

export interface DocumentStoreOptions {
  readonly documents: readonly Stored[];
  /** A special answer of the API; undefined = the good one. */
  readonly api?: ((request: Recorded) => Reply | undefined) | undefined;
  /** A special answer of the store to the n-th request for a document, counted from 1. */
  readonly store?:
    | ((request: Recorded, file: Stored, time: number) => Reply | undefined)
    | undefined;
}

export interface DocumentStore extends Service {
  readonly store: Service;
  /**
   * What the store was asked for, e.g. `doc_1` or `doc_1 bytes=5-`, sorted: downloads run side by
   * side, and the first to ask is not always the first in the list.
   */
  asked(): string[];
}

/** A service with documents and a store that gives out their files, whole or in part. */
export async function documentStore(options: DocumentStoreOptions): Promise<DocumentStore> {
  const { documents } = options;
  const times = new Map<string, number>();
  const find = (id: string | undefined) => documents.find(({ record }) => record.id === id);
  const store = await recordingService((request) => {
    const file = find(idIn(request));
    if (!file) return { status: 404 };
    const time = (times.get(file.record.id) ?? 0) + 1;
    times.set(file.record.id, time);
    return options.store?.(request, file, time) ?? fileReply(request, file.bytes);
  });
  const api = await recordingService((request) => {
    const special = options.api?.(request);
    if (special) return special;
    if (request.url === '/v1/documents/org_7') return { status: 200, json: listOf(documents) };
    const id = /^\/v1\/documents\/([^/]+)\/(?:download|preview)$/.exec(request.url)?.[1];
    if (!find(id)) return { status: 404, json: { error: 'notFound' } };
    return { status: 200, json: { url: `${store.origin}/files/${id}?sig=canary-signature` } };
  });
  return {
    ...api,
    store,
    asked: () =>
      store.requests
        .map((request) => [idIn(request), request.headers['range']].filter(Boolean).join(' '))
        .toSorted(),
  };
}

/** A document whose record tells its size. */
export function stored(id: string, bytes: Buffer, more: Record<string, unknown> = {}): Stored {
  return {
    record: {
      id,
      organizationId: 'org_7',
      name: `${id}.txt`,
      contentType: 'text/plain',
      sizeBytes: bytes.length,
      tags: [],
      ...more,
    },
    bytes,
  };
}

export const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

export const tagOf = (bytes: Uint8Array) => `"${sha256(bytes).slice(0, 20)}"`;

export interface FileReplyOptions {
  /** So many bytes of the body, then the connection is gone. */
  readonly cutAfter?: number;
  /** False: the whole file whatever was asked for. */
  readonly ranges?: boolean;
  readonly headers?: Record<string, string>;
  /** Neither tag nor date. */
  readonly untold?: boolean;
}

/** A slow store that breaks off so many of its answers (0 to 1), each after at most `most` bytes. */
export function flakyStore(
  broken: number,
  most: number,
  delayMs: number,
  onCut: (request: Recorded) => void = () => {},
): NonNullable<DocumentStoreOptions['store']> {
  return (request, { bytes }) =>
    (_, response) => {
      const cutAfter = Math.random() < broken ? Math.floor(Math.random() * most) : undefined;
      if (cutAfter !== undefined) onCut(request);
      const reply = fileReply(request, bytes, cutAfter === undefined ? {} : { cutAfter });
      setTimeout(() => typeof reply === 'function' && reply(request, response), delayMs);
    };
}

/** The file as a store with ranges gives it out (RFC 9110 14). */
export function fileReply(
  request: Recorded,
  bytes: Buffer,
  { cutAfter, ranges = true, headers = {}, untold = false }: FileReplyOptions = {},
): Reply {
  return (_, response) => {
    const etag = tagOf(bytes);
    const ifRange = request.headers['if-range'];
    const from = /^bytes=(\d+)-$/.exec(String(request.headers['range']))?.[1];
    const isPart = ranges && from !== undefined && (ifRange === undefined || ifRange === etag);
    const first = isPart ? Number(from) : 0;
    if (first >= bytes.length && isPart) {
      response.writeHead(416, { 'content-range': `bytes */${bytes.length}` }).end();
      return;
    }
    const body = bytes.subarray(first);
    response.writeHead(isPart ? 206 : 200, {
      'content-type': 'text/plain',
      'content-length': body.length,
      ...(!untold && { etag }),
      ...(isPart && { 'content-range': `bytes ${first}-${bytes.length - 1}/${bytes.length}` }),
      ...headers,
    });
    if (cutAfter === undefined) {
      response.end(body);
      return;
    }
    response.flushHeaders();
    // The bytes have to be on the way before the connection is gone.
    response.write(body.subarray(0, cutAfter), () => setTimeout(() => response.destroy(), 30));
    if (cutAfter === 0) setTimeout(() => response.destroy(), 30);
  };
}

/** Where the parts began that the store was asked for. */
export function partsOf(requests: readonly Recorded[]): number[] {
  return requests.map(({ headers }) =>
    Number(/^bytes=(\d+)-$/.exec(String(headers['range']))?.[1] ?? 0),
  );
}

/** With its total, for a round number of records alone would leave it open whether there are more. */
function listOf(documents: readonly Stored[]) {
  return { documents: documents.map(({ record }) => record), total: documents.length };
}

function idIn({ url }: Recorded): string | undefined {
  return /^\/files\/([^?]+)/.exec(url)?.[1];
}
