import type { Socket } from 'node:net';
import type { RawHandler } from 'undici/lib/dispatcher/agent.js';
import type { Instant } from '../data/time.js';
import type { Delivery } from '../errors.js';
import { type TransportError, transportErrorOf } from './transport-error.js';
import { type Agent, onHeadWritten } from './undici.js';
import { type Attempt, BodyStream, type Limits, type OpenReply, type Wire } from './wire.js';

/** Sends one request once, follows nothing, and says how far it got if no answer came. Never throws. */
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

/** The same, but a 2xx answer is given when its head is there; the rest comes through its flow. */
export function openExchange(
  agent: Agent,
  wire: Wire,
  limits: Limits,
  signal: AbortSignal,
  instant: () => Instant,
): Promise<Attempt | { readonly open: OpenReply }> {
  return new Promise((resolve) => {
    const running = new Exchange(limits, instant, resolve);
    running.whenOpen = (open) => resolve({ open });
    start(agent, wire, signal, running);
  });
}

function start(agent: Agent, wire: Wire, signal: AbortSignal, running: Exchange): void {
  if (signal.aborted) {
    running.stop('aborted', abortReason(signal));
    return;
  }
  if (signal === neverAborts) {
    dispatch(agent, wire, running);
    return;
  }
  const onAbort = () => running.stop('aborted', abortReason(signal));
  signal.addEventListener('abort', onAbort, { once: true });
  running.whenSettled = () => signal.removeEventListener('abort', onAbort);
  dispatch(agent, wire, running);
}

/** For an attempt that no signal ends: listening costs more than it seems, thousands of times. */
export const neverAborts = new AbortController().signal;

function dispatch(agent: Agent, wire: Wire, running: Exchange): void {
  const { origin, method, path, headers, body = null } = wire;
  agent.dispatch({ origin, method, path, headers: headers as string[], body }, running);
}

function abortReason(signal: AbortSignal): Error {
  return signal.reason instanceof Error ? signal.reason : new Error('aborted');
}

/** How often a transfer is looked at before it counts as standing still. */
const stallLooks = 4;

class Exchange implements RawHandler {
  whenSettled: (() => void) | undefined;
  /** Set: a 2xx body is not gathered, its flow is handed out with the head. */
  whenOpen: ((open: OpenReply) => void) | undefined;
  private stream: BodyStream | undefined;
  private abort: ((reason?: Error) => void) | undefined;
  private socket: Socket | undefined;
  private moved = -1;
  private quietLooks = 0;
  private sent = false;
  private settled = false;
  private status: number | undefined;
  private at: Instant | undefined;
  private headers: { readonly [name: string]: string } = {};
  private readonly chunks: Buffer[] = [];
  private bytes = 0;
  private firstByteTimer: NodeJS.Timeout | undefined;
  private answerTimer: NodeJS.Timeout | undefined;
  private quietTimer: NodeJS.Timeout | undefined;
  private readonly attemptTimer: NodeJS.Timeout | undefined;

  constructor(
    private readonly limits: Limits,
    private readonly instant: () => Instant,
    private readonly resolve: (attempt: Attempt) => void,
  ) {
    if (limits.attemptMs !== undefined)
      this.attemptTimer = setTimeout(() => this.stop('deadline'), limits.attemptMs);
  }

  onConnect(abort: (reason?: Error) => void): void {
    if (this.settled) {
      abort();
      return;
    }
    this.abort = abort;
    onHeadWritten((socket) => this.departed(socket));
  }

  onRequestSent(): void {
    const { answerMs } = this.limits;
    if (answerMs !== undefined && !this.settled) this.answerTimer = setTimeout(this.late, answerMs);
  }

  onHeaders(status: number, rawHeaders: Buffer[], resume: () => void): boolean {
    if (this.settled || status < 200) return true;
    clearTimeout(this.firstByteTimer);
    this.status = status;
    this.at = this.instant();
    this.headers = readHeaders(rawHeaders);
    const encoding = this.headers['content-encoding'];
    const isPlain = !encoding || encoding === 'identity' || this.limits.anyEncoding;
    if (!isPlain) this.stop('encoding');
    else if (this.whenOpen && status < 300) this.open(status, this.at, resume, this.whenOpen);
    return true;
  }

  onData(chunk: Buffer): boolean {
    if (this.settled) return true;
    if (this.stream) return this.pass(this.stream, chunk);
    const room = this.limits.bodyBytes - this.bytes;
    if (chunk.length > room && !this.limits.cutBody) {
      this.stop('tooLarge');
      return true;
    }
    // undici's parser reuses nothing behind a chunk, so it may be kept.
    if (room > 0) this.chunks.push(chunk.length > room ? chunk.subarray(0, room) : chunk);
    this.bytes += Math.min(chunk.length, Math.max(room, 0));
    return true;
  }

  onComplete(): void {
    this.answer();
  }

  onError(error: Error): void {
    this.fail(transportErrorOf(error, this.reached(), this.status !== undefined));
  }

  /** Ends the attempt for a reason of ours. */
  stop(why: TransportError['why'], cause?: Error): void {
    this.fail({ why, delivery: this.reached(), cause });
    this.abort?.(cause);
  }

  private departed(socket: Socket): void {
    this.sent = true;
    const { firstByteMs, stallMs } = this.limits;
    if (firstByteMs !== undefined)
      this.firstByteTimer = setTimeout(() => this.stop('firstByte'), firstByteMs);
    if (stallMs === undefined) return;
    this.socket = socket;
    socket.on('timeout', this.lookForStall);
    socket.setTimeout(stallMs / stallLooks);
  }

  /**
   * Node's own idle timer knows what the kernel has taken; handed-over bytes alone are no progress.
   * It calls after each quiet stretch, but skips the first one when a write is under way; so there are
   * several short ones, or the whole could last twice as long.
   */
  private readonly lookForStall = (): void => {
    const { socket } = this;
    const { stallMs } = this.limits;
    if (!socket || stallMs === undefined) return;
    const moved = socket.bytesRead + socket.bytesWritten - socket.writableLength;
    this.quietLooks = moved === this.moved ? this.quietLooks + 1 : 1;
    this.moved = moved;
    if (this.quietLooks >= stallLooks) this.stalled();
    else socket.setTimeout(stallMs / stallLooks);
  };

  private open(
    status: number,
    at: Instant,
    resume: () => void,
    tell: (open: OpenReply) => void,
  ): void {
    clearTimeout(this.answerTimer);
    this.stream = new BodyStream({
      resume: () => {
        this.watch();
        resume();
      },
      abandon: () => this.stop('aborted', new Error('read no further')),
      lift: () => clearTimeout(this.attemptTimer),
    });
    this.watch();
    tell({ status, headers: this.headers, stream: this.stream, at });
  }

  private pass(stream: BodyStream, chunk: Buffer): boolean {
    const more = stream.put(chunk);
    // A reader that takes its time is no fault of the service.
    if (more) this.watch();
    else clearTimeout(this.quietTimer);
    return more;
  }

  private watch(): void {
    clearTimeout(this.quietTimer);
    if (this.settled || this.limits.quietMs === undefined) return;
    this.quietTimer = setTimeout(this.stalled, this.limits.quietMs);
  }

  private readonly stalled = (): void => this.stop('stalled');

  /** What is handed over may still wait for a slow line. */
  private readonly late = (): void => {
    if (this.socket && this.socket.writableLength > 0) this.onRequestSent();
    else this.stalled();
  };

  /** A body that breaks after a refusal leaves the refusal standing: the status says all. */
  private fail(transportError: TransportError): void {
    if (this.stream) this.settle({ transportError });
    else if (this.status !== undefined && this.status >= 300 && transportError.why !== 'aborted')
      this.answer();
    else this.settle({ transportError });
  }

  private answer(): void {
    const { chunks, headers, status = 0, at = this.instant() } = this;
    const body = chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks);
    this.settle({ reply: { status, headers, body, at } });
  }

  private settle(attempt: Attempt): void {
    if (this.settled) return;
    this.settled = true;
    clearTimeout(this.attemptTimer);
    clearTimeout(this.firstByteTimer);
    clearTimeout(this.quietTimer);
    clearTimeout(this.answerTimer);
    this.socket?.setTimeout(0);
    this.socket?.off('timeout', this.lookForStall);
    this.whenSettled?.();
    if (this.stream)
      this.stream.finish(
        this.instant(),
        'transportError' in attempt ? attempt.transportError : undefined,
      );
    else this.resolve(attempt);
  }

  private reached(): Delivery {
    if (!this.sent) return 'not-sent';
    return this.status !== undefined && this.status < 300 ? 'applied' : 'ambiguous';
  }
}

/** Lower-case names; a repeated header is joined as HTTP says. */
function readHeaders(raw: readonly Buffer[]): { readonly [name: string]: string } {
  const headers: { [name: string]: string } = {};
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const name = (raw[at] as Buffer).toString('latin1').toLowerCase();
    const value = (raw[at + 1] as Buffer).toString('latin1');
    headers[name] = Object.hasOwn(headers, name) ? `${headers[name]}, ${value}` : value;
  }
  return headers;
}
