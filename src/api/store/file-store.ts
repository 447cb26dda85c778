/** The file store behind signed URLs: uploads and downloads, without the API key. */
import { createHash } from 'node:crypto';
import { lookup } from 'node:dns';
import type { JsonObject } from '../../data/json.js';
import { BugError, CancelledError, InputError, ProtocolError } from '../../errors.js';
import { exchange } from '../exchange.js';
import { type AttemptOutcome, type ClientOptions, requestedWait, retry } from '../retry.js';
import { failureOfTransportError, mayRetryAfter } from '../transport-error.js';
import { connectionPool } from '../undici.js';
import type { Attempt, Wire } from '../wire.js';
import {
  headersOfStore,
  shortAnswerLimits,
  storeDelivery,
  storeError,
  storeHeaders,
} from './answers.js';
import { createStoreReader, type Download, type FilePart } from './download.js';
import { md5Of } from './file-version.js';
import { createUrlGuard, type ResolveAll, type UrlGuard } from './signed-url.js';

/** The bytes to send. A retry calls `open` again. */
export interface UploadSource {
  readonly contentType: string;
  readonly sizeBytes: number;
  open(): AsyncIterable<Uint8Array>;
  /** Called with the number of bytes handed over so far. */
  readonly onProgress?: ((bytes: number) => void) | undefined;
}

export interface FileStoreOptions extends ClientOptions {
  /** The service's base URL: its address decides which URLs may be opened. */
  readonly baseUrl: string;
  /** Milliseconds without any byte moving before a transfer fails. */
  readonly stallMs?: number;
  /** Called with each signed URL, also that of a redirect, before anything is done with it. */
  readonly redactUrl?: ((url: string) => void) | undefined;
  /** Called at the start of an upload; returns a function to call at its end. */
  readonly waiting?: (text: () => string) => () => void;
  /** Resolves host names; default: the system's resolver. */
  readonly resolve?: ResolveAll;
}

/**
 * A store on another origin: never sends the key, never follows a redirect on PUT (contract 4.5).
 */
export class FileStore {
  /**
   * Opens a signed URL for reading, from the start or from a given byte. Throws StoreError,
   * NetworkError, ProtocolError (unsafe URL).
   */
  readonly get: (url: string, part?: FilePart) => Promise<Download>;
  private readonly stallMs: number;
  private readonly guard: UrlGuard;
  private readonly connections: ReturnType<typeof connectionPool>;

  constructor(private readonly options: FileStoreOptions) {
    this.stallMs = options.stallMs ?? 60_000;
    this.guard = createUrlGuard(options.baseUrl, options.resolve ?? lookup, options.redactUrl);
    this.connections = connectionPool({ ...options, lookup: this.guard.lookup });
    const { guard, connections, stallMs } = this;
    this.get = createStoreReader({ ...options, guard, connections, stallMs });
  }

  /**
   * PUTs exactly `sizeBytes` bytes. `headers` is the object of that name in the upload grant, if it
   * has one. Throws StoreError, NetworkError, InputError (file changed), ProtocolError (unsafe URL,
   * or the store reports the MD5 of other bytes).
   */
  put(url: string, file: UploadSource, headers?: JsonObject): Promise<PutResult> {
    const stopWaiting = this.options.waiting?.(() => `Sending to ${new URL(url).host}`);
    return this.putWithRetries(url, file, headers).finally(stopWaiting);
  }

  private async putWithRetries(
    url: string,
    file: UploadSource,
    headers: JsonObject | undefined,
  ): Promise<PutResult> {
    if (this.options.readsOnly) throw new BugError('Only reads are allowed here, not an upload.');
    const target = await this.guard.check(url);
    const wire: Wire = {
      origin: target.origin,
      method: 'PUT',
      path: `${target.pathname}${target.search}`,
      headers: Object.entries({
        ...headersOfStore(target),
        ...storeHeaders(headers),
        'content-type': file.contentType,
        'content-length': String(file.sizeBytes),
      }).flat(),
    };
    const result = await retry('put', this.options, () => this.putOnce(wire, file));
    const { value, attempts, outcome, retryAfter } = result;
    if ('reply' in value) {
      const { status, headers: responseHeaders } = value.reply;
      if (!isSuccess(status)) throw storeError('upload', value.reply, retryAfter);
      if (value.isEarly) throw earlyResponse(status, value.handed, file);
      await checkMd5(file, responseHeaders, this.options.signal);
      return { status, bytes: file.sizeBytes };
    }
    if (outcome === 'done') return { status: 200, bytes: file.sizeBytes };
    throw failureOfTransportError(value.transportError, { origin: target.origin, attempts });
  }

  /** Throws UnsafeUrlError for a URL that `put` and `get` would refuse. Opens nothing. */
  async check(url: string): Promise<void> {
    await this.guard.check(url);
  }

  /** Closes all connections, so that the process can exit at once. */
  close(): void {
    this.connections.close();
  }

  private async putOnce(wire: Wire, file: UploadSource): Promise<AttemptOutcome<Put>> {
    const { signal, instant, trace } = this.options;
    const agent = await this.connections.agent(true);
    const limits = { stallMs: this.stallMs, ...shortAnswerLimits(this.stallMs) };
    let handed = 0;
    const body = countedBytes(file, (bytes) => (handed = bytes));
    const attempt = await exchange(agent, { ...wire, body }, limits, signal, instant);
    // The store cannot have bytes that were not sent yet, whatever it answers.
    const isEarly = handed < file.sizeBytes;
    const value = { ...attempt, handed, isEarly };
    if ('transportError' in attempt) {
      const { transportError } = attempt;
      trace?.(`PUT ${wire.origin} (signed URL) -> no answer: ${transportError.why}`);
      const delivery =
        transportError.delivery === 'applied' && isEarly ? 'ambiguous' : transportError.delivery;
      return { value, delivery, mayRetry: mayRetryAfter(transportError) };
    }
    const { status } = attempt.reply;
    trace?.(`PUT ${wire.origin} (signed URL, ${handed} B) -> ${status}`);
    const delivery = isSuccess(status) && isEarly ? 'ambiguous' : storeDelivery(attempt.reply);
    const wait = delivery && requestedWait(attempt.reply, new Date(instant().wall));
    return { value, delivery, mayRetry: 'always', wait };
  }
}

/** The status of the store's answer and the size of the file that it has now. */
interface PutResult {
  readonly status: number;
  readonly bytes: number;
}

/** The result of one PUT: bytes handed to the connection, and true if the response came earlier. */
type Put = Attempt & { readonly handed: number; readonly isEarly: boolean };

function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}

/** Yields exactly the promised number of bytes, or throws InputError. */
async function* countedBytes(
  file: UploadSource,
  onBytes: (bytes: number) => void,
): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const chunk of file.open()) {
    bytes += chunk.length;
    if (bytes > file.sizeBytes) throw lengthChanged();
    onBytes(bytes);
    yield chunk;
    file.onProgress?.(bytes);
  }
  if (bytes !== file.sizeBytes) throw lengthChanged();
}

/** Throws ProtocolError if the store reports an MD5 other than that of the file, CancelledError after a signal. */
async function checkMd5(
  file: UploadSource,
  headers: Parameters<typeof md5Of>[0],
  signal: AbortSignal,
): Promise<void> {
  const expected = md5Of(headers);
  if (expected === undefined) return;
  // Read the file a second time: few stores report an MD5, and hashing while sending would slow
  // down every upload.
  const hash = createHash('md5');
  for await (const chunk of file.open()) {
    if (signal.aborted) throw new CancelledError('Interrupted.');
    hash.update(chunk);
  }
  if (hash.digest('hex') === expected) return;
  throw new ProtocolError(
    'The checksum of the store does not match the bytes that were sent (MD5).',
    { code: 'wrongHash', hint: 'No document was created. Upload it again.' },
  );
}

function earlyResponse(status: number, handed: number, { sizeBytes }: UploadSource): ProtocolError {
  return new ProtocolError(
    `The file store answered ${status} after only ${handed} of ${sizeBytes} bytes had been sent.`,
    { code: 'earlyAnswer', hint: 'No document was created. Upload it again.' },
  );
}

function lengthChanged(): InputError {
  return new InputError('The file changed during the upload: its length is different now.', {
    hint: 'Wait until nothing writes to the file, then upload it again.',
  });
}
