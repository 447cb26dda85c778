import { CancelledError, NetworkError, ProtocolError } from '../errors.js';
import { failureOfLoss, lossOf, lossPace, lossText } from './loss.js';
import { deliveryOfStatus, repeat, type RetryPolicy, type Tried } from './retry.js';
import type { UrlGuard } from './signed-url.js';
import { storeError } from './store-answers.js';
import { type Connections, loadRequest } from './undici.js';

/** A file on its way from the store. */
export interface Download {
  readonly status: number;
  readonly headers: { readonly [name: string]: string };
  readonly bytes: AsyncIterable<Uint8Array>;
  /** Reads no further. */
  drop(): void;
}

/** The rest of a file, from this byte on, as long as it is still the version of `ifRange`. */
export interface FilePart {
  readonly from: number;
  readonly ifRange?: string | undefined;
}

export interface ReaderOptions extends RetryPolicy {
  readonly guard: UrlGuard;
  readonly connections: () => Promise<Connections>;
  readonly trace?: ((line: string) => void) | undefined;
  readonly stallMs: number;
}

const maxHops = 3;

/**
 * Reads signed URLs, without the key: at most three redirects, each target checked anew. Throws
 * StoreError, NetworkError, ProtocolError (unsafe URL).
 */
export function createStoreReader(options: ReaderOptions) {
  const open = async (url: URL, part: FilePart | undefined): Promise<Tried<Opened>> => {
    const [{ agent }, request] = await Promise.all([options.connections(), loadRequest()]);
    try {
      const answer = await request.call(agent, {
        origin: url.origin,
        path: `${url.pathname}${url.search}`,
        method: 'GET',
        headers: part ? rangeHeaders(part) : [],
        signal: options.signal,
        headersTimeout: options.stallMs,
        bodyTimeout: options.stallMs,
      });
      options.trace?.(`GET ${url.origin} (signed URL) -> ${answer.statusCode}`);
      const delivery = deliveryOfStatus(answer.statusCode);
      if (delivery) drop(answer);
      return { value: { answer }, delivery, pace: 'always' };
    } catch (cause) {
      const error = asError(cause);
      const loss = options.signal.aborted
        ? ({ why: 'aborted', delivery: 'ambiguous', cause } as const)
        : lossOf(error, 'ambiguous', false);
      options.trace?.(`GET ${url.origin} (signed URL) -> no answer: ${loss.why}`);
      return { value: { loss }, delivery: loss.delivery, pace: lossPace(loss) };
    }
  };

  return async (url: string, part?: FilePart): Promise<Download> => {
    let target = await options.guard.check(url);
    for (let hop = 0; ; hop++) {
      const from = target;
      // oxlint-disable-next-line no-await-in-loop
      const { value, attempts } = await repeat('read', options, () => open(from, part));
      if ('loss' in value)
        throw failureOfLoss(value.loss, {
          origin: from.origin,
          attempts,
          firstByteMs: options.stallMs,
        });
      const { answer } = value;
      const { statusCode: status } = answer;
      const headers = headersOf(answer);
      if (status >= 200 && status < 300)
        return {
          status,
          headers,
          bytes: stream(answer, from.origin, options.signal),
          drop: () => drop(answer),
        };
      // oxlint-disable-next-line no-await-in-loop
      const reply = { status, headers, body: await beginning(answer) };
      const location = headers['location'];
      if (status < 300 || status >= 400 || location === undefined || hop === maxHops)
        throw storeError('download', reply);
      if (!URL.canParse(location, from.href)) throw unreadableTarget(from);
      // oxlint-disable-next-line no-await-in-loop
      target = await options.guard.check(new URL(location, from.href).href);
    }
  };
}

type Answer = Awaited<ReturnType<Awaited<ReturnType<typeof loadRequest>>>>;
type Opened = { readonly answer: Answer } | { readonly loss: ReturnType<typeof lossOf> };

function rangeHeaders({ from, ifRange }: FilePart): string[] {
  const range = ['range', `bytes=${from}-`];
  return ifRange === undefined ? range : [...range, 'if-range', ifRange];
}

function unreadableTarget(from: URL): ProtocolError {
  return new ProtocolError(`${from.origin} redirects to something that is no URL.`);
}

function headersOf(answer: Answer): Download['headers'] {
  return Object.fromEntries(
    Object.entries(answer.headers).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.join(', ') : String(value),
    ]),
  );
}

/** The bytes as they come; a break in the middle is a NetworkError, never a short end. */
async function* stream(
  answer: Answer,
  origin: string,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  try {
    yield* answer.body;
  } catch (cause) {
    if (signal.aborted) throw new CancelledError('Interrupted.', { cause });
    const loss = lossOf(asError(cause), 'applied', true);
    const stalled = loss.why === 'stalled';
    throw new NetworkError(
      stalled
        ? lossText(loss, { origin, attempts: 1 })
        : `The connection to ${origin} was lost during the download.`,
      { reason: stalled ? 'timeout' : 'lost', origin, cause },
    );
  }
}

function drop(answer: Answer): void {
  answer.body.on('error', () => undefined);
  answer.body.destroy();
}

function asError(cause: unknown): Error {
  return cause instanceof Error ? cause : new Error(String(cause));
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
