import { createHash } from 'node:crypto';
import { lookup } from 'node:dns';
import type { FileHandle } from 'node:fs/promises';
import { md5Of } from '../data/file-version.js';
import type { JsonObject } from '../data/json.js';
import type { Instant } from '../data/time.js';
import { BugError, InputError, ProtocolError } from '../errors.js';
import { exchange } from './exchange.js';
import { failureOfTransportError, retryPace } from './transport-error.js';
import type { ProxyChoice } from './proxy.js';
import { retry, type RetryPolicy, type AttemptOutcome, requestedWait } from './retry.js';
import { createUrlGuard, type ResolveAll } from './signed-url.js';
import { shortAnswerLimits, storeError, storeHeaders, storeDelivery } from './store-answers.js';
import { createStoreReader, type Download, type FilePart } from './store-download.js';
import { type Connections, openConnections } from './undici.js';
import type { Attempt, Wire } from './wire.js';

/** The store behind signed URLs: another origin, never the key, never a redirect on PUT (contract 4.5). */
export interface FileStore {
  /**
   * PUTs exactly `sizeBytes` bytes. `headers` is the upload answer's own object of that name, if it
   * has one. Throws StoreError, NetworkError, InputError (file changed), ProtocolError (unsafe URL,
   * or the store tells the MD5 of other bytes).
   */
  put(
    url: string,
    file: UploadSource,
    headers?: JsonObject,
  ): Promise<{ readonly status: number; readonly bytes: number }>;
  /**
   * Opens a signed URL for reading, whole or from a byte on. Throws StoreError, NetworkError,
   * ProtocolError (unsafe URL).
   */
  get(url: string, part?: FilePart): Promise<Download>;
  /** Throws UnsafeUrlError for a URL that `put` and `get` would not open; opens nothing. */
  check(url: string): Promise<void>;
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

export interface FileStoreOptions extends RetryPolicy {
  /** The service's own base URL: what may be opened depends on where it lives. */
  readonly baseUrl: string;
  readonly dryRun: boolean;
  readonly instant: () => Instant;
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

  const put = async (wire: Wire, file: UploadSource): Promise<AttemptOutcome<Put>> => {
    const { agent } = await connections();
    const limits = { stallMs, ...shortAnswerLimits(stallMs) };
    let handed = 0;
    const body = counted(file, (bytes) => (handed = bytes));
    const { signal, instant } = options;
    const attempt = await exchange(agent, { ...wire, body }, limits, signal, instant);
    // What was not sent yet the store cannot have, whatever it says.
    const isEarly = handed < file.sizeBytes;
    const value = { ...attempt, handed, isEarly };
    if ('transportError' in attempt) {
      const { transportError } = attempt;
      options.trace?.(`PUT ${wire.origin} (signed URL) -> no answer: ${transportError.why}`);
      const delivery =
        transportError.delivery === 'applied' && isEarly ? 'ambiguous' : transportError.delivery;
      return { value, delivery, pace: retryPace(transportError) };
    }
    const { status, headers, body: words } = attempt.reply;
    options.trace?.(`PUT ${wire.origin} (signed URL, ${handed} B) -> ${status}`);
    const delivery = isSuccess(status) && isEarly ? 'ambiguous' : storeDelivery(attempt.reply);
    const wait = delivery && requestedWait(headers, words, new Date(instant().wall));
    return { value, delivery, pace: 'always', wait };
  };

  const get = createStoreReader({ ...options, guard, connections, stallMs });

  return {
    async put(url, file, headers) {
      if (options.dryRun) throw new BugError('A dry run tried to upload a file.');
      const target = await guard.check(url);
      const wire: Wire = {
        origin: target.origin,
        method: 'PUT',
        path: `${target.pathname}${target.search}`,
        headers: Object.entries({
          ...storeHeaders(headers),
          'content-type': file.contentType,
          'content-length': String(file.sizeBytes),
        }).flat(),
      };
      const ending = await retry('put', options, () => put(wire, file));
      const { value, attempts, verdict, wait, isTooLong } = ending;
      if ('reply' in value) {
        const { status, headers: answered } = value.reply;
        if (!isSuccess(status))
          throw storeError('upload', value.reply, isTooLong ? wait : undefined);
        if (value.isEarly) throw earlyAnswer(status, value.handed, file);
        await checkArrived(file, answered);
        return { status, bytes: file.sizeBytes };
      }
      if (verdict === 'done') return { status: 200, bytes: file.sizeBytes };
      throw failureOfTransportError(value.transportError, { origin: target.origin, attempts });
    },
    get,
    async check(url) {
      await guard.check(url);
    },
    close() {
      void opened?.then(
        (set) => set.close(),
        () => undefined,
      );
    },
  };
}

/** What one PUT came to, how many bytes had been handed to the connection by then, and whether some had not. */
type Put = Attempt & { readonly handed: number; readonly isEarly: boolean };

function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}

/** Exactly the promised number of bytes, or InputError. */
async function* counted(
  file: UploadSource,
  hand: (bytes: number) => void,
): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const chunk of file.open()) {
    bytes += chunk.length;
    if (bytes > file.sizeBytes) throw anotherLength();
    hand(bytes);
    yield chunk;
    file.onProgress?.(bytes);
  }
  if (bytes !== file.sizeBytes) throw anotherLength();
}

/** Throws ProtocolError where the store tells another MD5 than that of the file. */
async function checkArrived(
  file: UploadSource,
  headers: Parameters<typeof md5Of>[0],
): Promise<void> {
  const wanted = md5Of(headers);
  if (wanted === undefined) return;
  // Read once more: few stores tell it, and hashing what is sent would slow all uploads down.
  const hash = createHash('md5');
  for await (const chunk of file.open()) hash.update(chunk);
  if (hash.digest('hex') === wanted) return;
  throw new ProtocolError('The bytes that the store has are not those that were sent (MD5).', {
    code: 'wrongHash',
    hint: 'No document was created. Upload it again.',
  });
}

function earlyAnswer(status: number, handed: number, { sizeBytes }: UploadSource): ProtocolError {
  return new ProtocolError(
    `The file store answered ${status} when only ${handed} of ${sizeBytes} bytes were on their way.`,
    { code: 'earlyAnswer', hint: 'No document was created. Upload it again.' },
  );
}

function anotherLength(): InputError {
  return new InputError('The file changed while uploading: it has another length now.', {
    hint: 'Wait until nothing writes to the file, then upload it again.',
  });
}

/** A file of which any part can be read; a short read means its end. */
export interface ReadableFile {
  readonly size: number;
  read(offset: number, length: number): Promise<Buffer>;
}

/** An open file, read by position. */
export function readableFile(handle: FileHandle, size: number): ReadableFile {
  return {
    size,
    async read(offset, length) {
      const bytes = Buffer.alloc(Math.max(0, Math.min(length, size - offset)));
      let done = 0;
      while (done < bytes.length) {
        const { bytesRead } = await handle.read(bytes, done, bytes.length - done, offset + done);
        if (bytesRead === 0) break;
        done += bytesRead;
      }
      return bytes.subarray(0, done);
    },
  };
}
