/** One HTTP exchange: sends a request once, with deadlines, and reports how far it got. */
import { isUtf8 } from 'node:buffer';
import type { Socket } from 'node:net';
import type { RawHandler } from 'undici/lib/dispatcher/agent.js';
import { ageMs, Deadline, type Instant } from '../data/time.js';
import type { Delivery } from '../errors.js';
import { isEncoded } from './store/file-version.js';
import { type TransportError, transportErrorOf } from './transport-error.js';
import { type Agent, onHeadWritten } from './undici.js';
import { type Attempt, BodyStream, type Limits, type OpenReply, type Wire } from './wire.js';

/** Sends one request once, without redirects. Never throws: a failure says how far the request got. */
export function exchange(
  agent: Agent,
  wire: Wire,
  limits: Limits,
  signal: AbortSignal,
  instant: () => Instant,
): Promise<Attempt> {
  return new Promise((resolve) => {
    start(agent, wire, signal, new Exchange(limits, instant, resolve));
  });
}

/**
 * Sends one request once, like `exchange`, but resolves with a 2xx response as soon as its headers
 * are there; the body follows through its stream.
 */
export function openExchange(
  agent: Agent,
  wire: Wire,
  limits: Limits,
  signal: AbortSignal,
  instant: () => Instant,
): Promise<Attempt | { readonly open: OpenReply }> {
  return new Promise((resolve) => {
    start(agent, wire, signal, new Exchange(limits, instant, resolve, (open) => resolve({ open })));
  });
}

function start(agent: Agent, wire: Wire, signal: AbortSignal, running: Exchange): void {
  const onAbort = () =>
    running.stop('aborted', signal.reason instanceof Error ? signal.reason : new Error('aborted'));
  if (signal.aborted) return onAbort();
  if (signal !== neverAborts) {
    signal.addEventListener('abort', onAbort, { once: true });
    running.onFinished = () => signal.removeEventListener('abort', onAbort);
  }
  const { origin, method, path, headers, body = null } = wire;
  agent.dispatch({ origin, method, path, headers: headers as string[], body }, running);
}

/** The signal of an attempt that nothing aborts: thousands of listeners have a noticeable cost. */
export const neverAborts = new AbortController().signal;

/** How often a waiting exchange notes that the process is running, in milliseconds. */
const beatMs = 500;

/** How many idle checks make up one stall timeout. */
const stallChecks = 4;

class Exchange implements RawHandler {
  onFinished: (() => void) | undefined;
  private stream: BodyStream | undefined;
  private abort: ((reason?: Error) => void) | undefined;
  private socket: Socket | undefined;
  private bytesMoved = -1;
  private idleChecks = 0;
  private sent = false;
  private finished = false;
  private status: number | undefined;
  private at: Instant | undefined;
  private headers: { readonly [name: string]: string } = {};
  private readonly chunks: Buffer[] = [];
  private bytes = 0;
  private readonly firstByte = new Deadline();
  private readonly answer = new Deadline();
  private readonly quiet = new Deadline();
  private readonly attempt = new Deadline();
  private beatTimer: NodeJS.Timeout | undefined;
  /** When this process was last seen to run while it waited for the response. */
  private alive: Instant | undefined;
  /** When it was stopped (Ctrl-Z, SIGSTOP, a suspended machine) while it waited. */
  private stoppedAt: Instant | undefined;

  constructor(
    private readonly limits: Limits,
    private readonly instant: () => Instant,
    private readonly resolve: (attempt: Attempt) => void,
    /** If given, a 2xx body is not buffered; its stream is passed on with the headers. */
    private readonly onOpen?: (open: OpenReply) => void,
  ) {
    if (limits.attemptMs !== undefined)
      this.attempt.start(limits.attemptMs, () => this.stop('deadline'));
  }

  onConnect(abort: (reason?: Error) => void): void {
    if (this.finished) {
      abort();
      return;
    }
    this.abort = abort;
    onHeadWritten((socket) => this.requestWritten(socket));
  }

  onRequestSent(): void {
    if (this.finished) return;
    const { answerMs } = this.limits;
    if (answerMs !== undefined) this.answer.start(answerMs, this.answerTimedOut);
  }

  onHeaders(status: number, rawHeaders: Buffer[], resume: () => void): boolean {
    if (this.finished || status < 200) return true;
    this.firstByte.clear();
    this.status = status;
    this.at = this.arrival();
    this.headers = readHeaders(rawHeaders);
    if (isEncoded(this.headers) && !this.limits.anyEncoding) this.stop('encoding');
    else if (this.onOpen && status < 300) this.open(status, this.at, resume, this.onOpen);
    return true;
  }

  onData(chunk: Buffer): boolean {
    if (this.finished) return true;
    if (this.stream) return this.pass(this.stream, chunk);
    const room = this.limits.bodyBytes - this.bytes;
    if (chunk.length > room && !this.limits.cutBody) {
      this.stop('tooLarge');
      return true;
    }
    // undici's parser does not reuse the memory of a chunk, so it can be kept.
    if (room > 0) this.chunks.push(chunk.length > room ? chunk.subarray(0, room) : chunk);
    this.bytes += Math.min(chunk.length, Math.max(room, 0));
    return true;
  }

  onComplete(): void {
    this.finishWithReply();
  }

  onError(error: Error): void {
    this.fail(transportErrorOf(error, this.reached(), this.status));
  }

  /** Ends the attempt for a reason on our side. */
  stop(why: TransportError['why'], cause?: Error): void {
    this.fail({ why, delivery: this.reached(), cause });
    this.abort?.(cause);
  }

  private requestWritten(socket: Socket): void {
    this.sent = true;
    // From here on, not from the end of the write: the process may be stopped within it.
    clearInterval(this.beatTimer);
    this.alive = this.instant();
    this.beatTimer = setInterval(this.beat, beatMs);
    const { firstByteMs, stallMs } = this.limits;
    if (firstByteMs !== undefined) this.firstByte.start(firstByteMs, () => this.stop('firstByte'));
    if (stallMs === undefined) return;
    this.socket = socket;
    socket.on('timeout', this.checkForStall);
    socket.setTimeout(stallMs / stallChecks);
  }

  /**
   * Uses Node's idle timer, which knows what the kernel has accepted: bytes handed over are not yet
   * progress. The timer skips its first period while a write is under way, so one long period could
   * take twice as long; hence several short ones.
   */
  private readonly checkForStall = (): void => {
    const { socket } = this;
    const { stallMs } = this.limits;
    if (!socket || stallMs === undefined) return;
    const bytesMoved = socket.bytesRead + socket.bytesWritten - socket.writableLength;
    this.idleChecks = bytesMoved === this.bytesMoved ? this.idleChecks + 1 : 1;
    this.bytesMoved = bytesMoved;
    if (this.idleChecks >= stallChecks) this.stalled();
    else socket.setTimeout(stallMs / stallChecks);
  };

  private open(
    status: number,
    at: Instant,
    resume: () => void,
    onOpen: (open: OpenReply) => void,
  ): void {
    this.answer.clear();
    this.stream = new BodyStream({
      resume: () => {
        this.watchIdle();
        resume();
      },
      abandon: () => this.stop('aborted', new Error('read no further')),
      lift: () => this.attempt.clear(),
    });
    this.watchIdle();
    onOpen({ status, headers: this.headers, stream: this.stream, at });
  }

  private pass(stream: BodyStream, chunk: Buffer): boolean {
    const more = stream.put(chunk);
    // A slow reader is not the service's fault.
    if (more) this.watchIdle();
    else this.quiet.clear();
    return more;
  }

  private watchIdle(): void {
    this.quiet.clear();
    if (this.finished || this.limits.quietMs === undefined) return;
    this.quiet.start(this.limits.quietMs, this.stalled);
  }

  private readonly stalled = (): void => this.stop('stalled');

  /** Bytes that were handed over may still be waiting for a slow connection. */
  private readonly answerTimedOut = (): void => {
    if (this.socket && this.socket.writableLength > 0) this.onRequestSent();
    else this.stalled();
  };

  /** At the next regular beat, whatever arrived while the process was stopped has been seen. */
  private readonly beat = (): void => {
    if (!this.noticeStop()) this.stoppedAt = undefined;
  };

  /** When what is seen now arrived: at the earliest when the process was stopped, long before it was seen. */
  private arrival(): Instant {
    this.noticeStop();
    return this.stoppedAt ?? this.instant();
  }

  private noticeStop(): boolean {
    const now = this.instant();
    const wasStopped = this.alive !== undefined && ageMs(this.alive, now) > 2 * beatMs;
    if (wasStopped) this.stoppedAt ??= this.alive;
    this.alive = now;
    return wasStopped;
  }

  /** If the body of an error response breaks off, the status alone is the response. */
  private fail(transportError: TransportError): void {
    const isError = !this.stream && this.status !== undefined && this.status >= 300;
    if (isError && transportError.why !== 'aborted') this.finishWithReply();
    else this.finish({ transportError });
  }

  private finishWithReply(): void {
    const { chunks, headers, status = 0, at = this.instant() } = this;
    const body = chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks);
    this.finish({ reply: { status, headers, body, at } });
  }

  private finish(attempt: Attempt): void {
    if (this.finished) return;
    this.finished = true;
    this.attempt.clear();
    this.firstByte.clear();
    this.quiet.clear();
    this.answer.clear();
    clearInterval(this.beatTimer);
    this.socket?.setTimeout(0);
    this.socket?.off('timeout', this.checkForStall);
    this.onFinished?.();
    if (this.stream)
      this.stream.finish(
        this.arrival(),
        'transportError' in attempt ? attempt.transportError : undefined,
      );
    else this.resolve(attempt);
  }

  private reached(): Delivery {
    if (!this.sent) return 'not-sent';
    return this.status !== undefined && this.status < 300 ? 'applied' : 'ambiguous';
  }
}

/** Lower-cases header names and joins repeated headers with commas (RFC 9110 5.3). */
function readHeaders(raw: readonly Buffer[]): { readonly [name: string]: string } {
  const headers: { [name: string]: string } = {};
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const name = (raw[at] as Buffer).toString('latin1').toLowerCase();
    const bytes = raw[at + 1] as Buffer;
    // Many programs write addresses and file names in UTF-8. A tag is sent back as it came.
    const value = bytes.toString(name !== 'etag' && isUtf8(bytes) ? 'utf8' : 'latin1');
    headers[name] = Object.hasOwn(headers, name) ? `${headers[name]}, ${value}` : value;
  }
  return headers;
}
