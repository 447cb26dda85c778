import { lookup } from 'node:dns';
import type { JsonObject } from '../data/json.js';
import { BugError, InputError, NetworkError, ProtocolError } from '../errors.js';
import { type Attempt, exchange, type Wire } from './exchange.js';
import { failureOfLoss, lossOf, lossPace } from './loss.js';
import type { ProxyChoice } from './proxy.js';
import { repeat, type RetryPolicy, type Tried } from './retry.js';
import { createUrlGuard, type ResolveAll } from './signed-url.js';
import { storeError, storeHeaders, storePace } from './store-answers.js';
import { type Connections, loadRequest, openConnections } from './undici.js';

/** The store behind signed URLs: another origin, never the key, never a redirect on PUT (contract 4.5). */
export interface FileStore {
  /**
   * PUTs exactly `sizeBytes` bytes. `headers` is the upload answer's own object of that name, if it
   * has one. Throws StoreError, NetworkError, InputError (file changed), ProtocolError (unsafe URL).
   */
  put(
    url: string,
    file: UploadSource,
    headers?: JsonObject,
  ): Promise<{ readonly status: number; readonly bytes: number }>;
  /** Opens a signed URL for reading. Throws StoreError, NetworkError, ProtocolError (unsafe URL). */
  get(url: string): Promise<Download>;
  /** Leaves nothing open; the process can end at once. */
  close(): void;
}

/** The bytes to send; `open` may be called again for a retry. */
export interface UploadSource {
  readonly contentType: string;
  readonly sizeBytes: number;
  open(): AsyncIterable<Uint8Array>;
  /** Told the number of bytes handed over so far. */
  readonly onProgress?: ((bytes: number) => void) | undefined;
}

export interface Download {
  readonly status: number;
  readonly headers: { readonly [name: string]: string };
  readonly bytes: AsyncIterable<Uint8Array>;
}

export interface FileStoreOptions extends RetryPolicy {
  /** The service's own base URL: what may be opened depends on where it lives. */
  readonly baseUrl: string;
  readonly dryRun: boolean;
  readonly trace?: ((line: string) => void) | undefined;
  readonly nodeVersion: string;
  /** The proxy of each origin; without it every connection is direct. */
  readonly proxy?: ProxyChoice | undefined;
  /** Milliseconds without any byte moving. */
  readonly stallMs?: number;
  /** Milliseconds until a connection must stand. */
  readonly connectMs?: number;
  /** How names are resolved; the system's way unless given. */
  readonly resolve?: ResolveAll;
}

const maxHops = 3;

export function createFileStore(options: FileStoreOptions): FileStore {
  const stallMs = options.stallMs ?? 60_000;
  const guard = createUrlGuard(options.baseUrl, options.resolve ?? lookup);
  let opened: Promise<Connections> | undefined;
  const connections = () =>
    (opened ??= openConnections(options.nodeVersion, {
      connectMs: options.connectMs ?? 10_000,
      keepAlive: true,
      lookup: guard.lookup,
      proxy: options.proxy,
    }));

  const put = async (wire: Wire, file: UploadSource): Promise<Tried<Attempt>> => {
    const { agent } = await connections();
    // The store's answer is short; of a long one the beginning is enough.
    const limits = { stallMs, bodyBytes: 64 * 1024, cutBody: true };
    const value = await exchange(agent, { ...wire, body: counted(file) }, limits, options.signal);
    if ('loss' in value) {
      const { loss } = value;
      options.trace?.(`PUT ${wire.origin} (signed URL) -> no answer: ${loss.why}`);
      return { value, delivery: loss.delivery, pace: lossPace(loss) };
    }
    const { status } = value.reply;
    options.trace?.(`PUT ${wire.origin} (signed URL, ${file.sizeBytes} B) -> ${status}`);
    return { value, delivery: storePace(value.reply), pace: 'always' };
  };

  const open = async (url: URL): Promise<Tried<Opened>> => {
    const [{ agent }, request] = await Promise.all([connections(), loadRequest()]);
    try {
      const answer = await request.call(agent, {
        origin: url.origin,
        path: `${url.pathname}${url.search}`,
        method: 'GET',
        headers: [],
        signal: options.signal,
        headersTimeout: stallMs,
        bodyTimeout: stallMs,
      });
      options.trace?.(`GET ${url.origin} (signed URL) -> ${answer.statusCode}`);
      const delivery = answer.statusCode < 500 ? undefined : 'ambiguous';
      if (delivery) {
        answer.body.on('error', () => undefined);
        answer.body.destroy();
      }
      return { value: { answer }, delivery, pace: 'always' };
    } catch (cause) {
      const error = cause instanceof Error ? cause : new Error(String(cause));
      const loss = options.signal.aborted
        ? ({ why: 'aborted', delivery: 'ambiguous', cause } as const)
        : lossOf(error, 'ambiguous', false);
      options.trace?.(`GET ${url.origin} (signed URL) -> no answer: ${loss.why}`);
      return { value: { loss }, delivery: loss.delivery, pace: lossPace(loss) };
    }
  };

  return {
    async put(url, file, headers) {
      if (options.dryRun) throw new BugError('A dry run tried to upload a file.');
      const target = await guard.check(url);
      const wire: Wire = {
        origin: target.origin,
        method: 'PUT',
        path: `${target.pathname}${target.search}`,
        headers: {
          ...storeHeaders(headers),
          'content-type': file.contentType,
          'content-length': String(file.sizeBytes),
        },
      };
      const ending = await repeat('put', options, () => put(wire, file));
      const { value, attempts, verdict } = ending;
      if ('reply' in value) {
        if (value.reply.status >= 200 && value.reply.status < 300)
          return { status: value.reply.status, bytes: file.sizeBytes };
        throw storeError('upload', value.reply);
      }
      if (verdict === 'done') return { status: 200, bytes: file.sizeBytes };
      throw failureOfLoss(value.loss, { origin: target.origin, attempts });
    },
    async get(url) {
      let target = await guard.check(url);
      for (let hop = 0; ; hop++) {
        const from = target;
        // oxlint-disable-next-line no-await-in-loop
        const { value, attempts } = await repeat('read', options, () => open(from));
        if ('loss' in value) throw failureOfLoss(value.loss, { origin: from.origin, attempts });
        const download = toDownload(value.answer, from.origin);
        const { status, headers } = download;
        if (status >= 200 && status < 300) return download;
        // oxlint-disable-next-line no-await-in-loop
        const reply = { status, headers, body: await beginning(value.answer) };
        const location = headers['location'];
        if (status < 300 || status >= 400 || location === undefined || hop === maxHops)
          throw storeError('download', reply);
        if (!URL.canParse(location, from.href)) throw unreadableTarget(from);
        // oxlint-disable-next-line no-await-in-loop
        target = await guard.check(new URL(location, from.href).href);
      }
    },
    close() {
      void opened?.then(
        (set) => set.close(),
        () => undefined,
      );
    },
  };
}

type Answer = Awaited<ReturnType<Awaited<ReturnType<typeof loadRequest>>>>;
type Opened = { readonly answer: Answer } | { readonly loss: ReturnType<typeof lossOf> };

function unreadableTarget(from: URL): ProtocolError {
  return new ProtocolError(`${from.origin} redirects to something that is no URL.`);
}

/** Exactly the promised number of bytes, or InputError. */
async function* counted(file: UploadSource): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const chunk of file.open()) {
    bytes += chunk.length;
    if (bytes > file.sizeBytes) throw anotherLength();
    yield chunk;
    file.onProgress?.(bytes);
  }
  if (bytes !== file.sizeBytes) throw anotherLength();
}

function anotherLength(): InputError {
  return new InputError('The file changed while uploading: it has another length now.', {
    hint: 'Wait until nothing writes to the file, then upload it again.',
  });
}

function toDownload(answer: Answer, origin: string): Download {
  const headers = Object.fromEntries(
    Object.entries(answer.headers).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.join(', ') : String(value),
    ]),
  );
  return { status: answer.statusCode, headers, bytes: stream(answer, origin) };
}

/** The bytes as they come; a break in the middle is a NetworkError, never a short end. */
async function* stream(answer: Answer, origin: string): AsyncGenerator<Uint8Array> {
  try {
    yield* answer.body;
  } catch (cause) {
    throw new NetworkError(`The connection to ${origin} was lost during the download.`, {
      reason: 'lost',
      origin,
      cause,
    });
  }
}

/** The first bytes of an error answer; the rest is dropped. */
async function beginning(answer: Answer): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of answer.body) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes > 64 * 1024) break;
    }
  } catch {
    // The status is known; a broken explanation changes nothing.
  }
  return Buffer.concat(chunks);
}
