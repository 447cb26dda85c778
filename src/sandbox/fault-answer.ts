/** Answers a request with a fault: closed connections, cut, slow and wrong answers. */
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { isObject } from '../data/json.js';
import { parseDuration } from '../data/time.js';
import type { Fault } from './faults.js';

/** An answer ready for the wire. */
export interface Rendered {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | number>>;
  /** Absent = no body. */
  readonly bytes?: Buffer | undefined;
}

interface FaultyRequest {
  readonly fault: Fault;
  readonly response: ServerResponse;
  /** Carries the request out and returns its ordinary answer. */
  readonly carryOut: () => Promise<Rendered>;
  /** An error answer of this server with a code. */
  readonly refuse: (status: number, code: string) => Rendered;
  readonly now: () => Date;
}

/** Answers as the fault says; true when the request was carried out. */
export async function answerWithFault(request: FaultyRequest): Promise<boolean> {
  const { fault, response, carryOut, refuse } = request;
  const { kind, value } = fault;
  const [status = '', code = ''] = value.split(':');
  switch (kind) {
    case undefined:
      send(request, await carryOut());
      return true;
    case 'close-before':
      closeConnection(response, value);
      return false;
    case 'close-after':
      await carryOut();
      closeConnection(response, value);
      return true;
    case 'late':
      closeConnection(response, '');
      await sleep(parseDuration(value));
      await carryOut();
      return true;
    case 'stall-headers':
      await carryOut();
      return true;
    case 'stall-body':
      await half(request, await carryOut());
      return true;
    case 'truncate':
      await half(request, await carryOut());
      closeConnection(response, value);
      return true;
    case 'wrong-length':
      await wrongLength(request, await carryOut(), Number(value));
      return true;
    case 'drip':
      await drip(request, await carryOut(), parseDuration(value));
      return true;
    case 'status':
      send(request, refuse(Number(status), code || codeForStatus(Number(status))));
      return false;
    case 'status-after':
      await carryOut();
      send(request, refuse(Number(status), code || codeForStatus(Number(status))));
      return true;
    case 'throttle':
      send(request, throttled(request, refuse(429, 'tooManyRequests')));
      return false;
    case 'redirect':
      send(request, redirect(value));
      return false;
    case 'html':
      send(request, page(Number(value || 200)));
      return false;
    case 'huge':
      await huge(request, Number(value));
      return false;
    case 'deep':
      send(request, jsonAnswer(`{"id":"deep","value":${nested(Number(value))}}`));
      return false;
    case 'other-record':
      send(request, swapRecord(await carryOut()));
      return true;
    default:
      return kind satisfies never;
  }
}

/** Closes the connection of an answer, politely or by a reset. */
export function closeConnection(response: ServerResponse, how: string): void {
  if (how === 'reset') response.socket?.resetAndDestroy();
  else response.destroy();
}

function codeForStatus(status: number): string {
  return status >= 500 ? 'internalError' : 'invalidRequest';
}

function headersOf(
  { fault, now }: FaultyRequest,
  { headers, bytes }: Rendered,
): Record<string, string | number> {
  const date = new Date(now().getTime() + fault.skewMs).toUTCString();
  const length = bytes ? { 'content-length': bytes.length } : {};
  return { ...headers, ...length, date, 'cache-control': 'no-store', ...fault.headers };
}

function send(request: FaultyRequest, rendered: Rendered): void {
  request.response.writeHead(rendered.status, headersOf(request, rendered)).end(rendered.bytes);
}

async function half(request: FaultyRequest, rendered: Rendered): Promise<void> {
  const { response } = request;
  response.writeHead(rendered.status, headersOf(request, rendered));
  response.flushHeaders();
  const bytes = rendered.bytes?.subarray(0, rendered.bytes.length >> 1) ?? Buffer.alloc(0);
  await new Promise<void>((resolve) => response.write(bytes, () => resolve()));
}

async function wrongLength(request: FaultyRequest, rendered: Rendered, off: number): Promise<void> {
  const { response } = request;
  const { bytes = Buffer.alloc(0) } = rendered;
  response.writeHead(rendered.status, {
    ...headersOf(request, rendered),
    'content-length': Math.max(0, bytes.length + off),
    connection: 'close',
  });
  await new Promise<void>((resolve) => response.write(bytes, () => resolve()));
  response.socket?.end();
}

async function drip(request: FaultyRequest, rendered: Rendered, everyMs: number): Promise<void> {
  const { response } = request;
  response.writeHead(rendered.status, headersOf(request, rendered));
  for (const byte of rendered.bytes ?? []) {
    if (response.destroyed) return;
    response.write(Buffer.of(byte));
    await sleep(everyMs);
  }
  response.end();
}

function throttled({ fault, now }: FaultyRequest, rendered: Rendered): Rendered {
  const { value, skewMs } = fault;
  if (value === '') return rendered;
  if (!value.startsWith('date'))
    return { ...rendered, headers: { ...rendered.headers, 'retry-after': value } };
  const ms = parseDuration(value.slice('date+'.length)) * (value[4] === '-' ? -1 : 1);
  const at = new Date(now().getTime() + skewMs + ms).toUTCString();
  return { ...rendered, headers: { ...rendered.headers, 'retry-after': at } };
}

function redirect(value: string): Rendered {
  const [, status = '307', location = ''] = /^(?:(30[12378]):)?(.*)$/.exec(value) ?? [];
  return { status: Number(status), headers: { location }, bytes: Buffer.alloc(0) };
}

function page(status: number): Rendered {
  const text = `<!doctype html><html><head><title>${status}</title></head><body><h1>Sign in to this network</h1></body></html>`;
  return { status, headers: { 'content-type': 'text/html' }, bytes: Buffer.from(text) };
}

export function jsonAnswer(text: string): Rendered {
  return {
    status: 200,
    headers: { 'content-type': 'application/json' },
    bytes: Buffer.from(text),
  };
}

function nested(depth: number): string {
  return '['.repeat(depth) + ']'.repeat(depth);
}

async function huge(request: FaultyRequest, bytes: number): Promise<void> {
  const { response } = request;
  response.writeHead(200, { ...headersOf(request, jsonAnswer('')), 'content-length': bytes });
  response.write('{"id":"huge","text":"');
  const chunk = Buffer.alloc(64 * 1024, 'a');
  for (let left = bytes - '{"id":"huge","text":"'.length - '"}'.length; left > 0; ) {
    if (response.destroyed) return;
    const piece = chunk.subarray(0, left);
    left -= piece.length;
    if (!response.write(piece)) await Promise.race([once(response, 'drain'), gone(response)]);
  }
  response.end('"}');
}

function gone(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => response.once('close', () => resolve()));
}

function swapRecord(rendered: Rendered): Rendered {
  const value: unknown = JSON.parse(rendered.bytes?.toString() || 'null');
  const bytes = Buffer.from(JSON.stringify(renamed(value, 2)));
  return { ...rendered, bytes };
}

/** Replaces every id on the outer levels. */
function renamed(value: unknown, levels: number): unknown {
  if (levels < 0) return value;
  if (Array.isArray(value)) return value.map((each) => renamed(each, levels - 1));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [
      name,
      name === 'id' && typeof each === 'string' ? `${each}_other` : renamed(each, levels - 1),
    ]),
  );
}
