import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';
import { atEnd } from '../../support/cleaning.js';
import { key, organization } from '../../support/service.js';

/** One request, parsed from its bytes. */
export interface WireRequest {
  readonly method: string;
  /** Path and query. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** Counted from 1, over all requests with the same method. */
  readonly nth: number;
  /** Milliseconds on the monotonic clock. */
  readonly at: number;
  /** Counted from 1, in the order of arrival. */
  readonly connection: number;
}

/** What is done to one request. */
export type Action =
  | {
      readonly status?: number;
      readonly json?: unknown;
      readonly text?: string | Buffer;
      readonly headers?: Readonly<Record<string, string>>;
    }
  | ((socket: Socket, request: WireRequest) => void);

export interface WireServer {
  readonly port: number;
  readonly origin: string;
  readonly baseUrl: string;
  readonly requests: WireRequest[];
  /** Every byte received, after TLS decryption. */
  received(): string;
  /** Over TLS, also those whose client did not trust the certificate. */
  connections(): number;
  readonly env: Record<string, string>;
  /** Requests of a method. */
  count(method?: string): number;
  close(): void;
}

export interface WireOptions {
  readonly tls?: TlsOptions;
  readonly host?: string;
  readonly port?: number;
  /** Called first with each connection; returns true if it has handled it. */
  readonly onConnection?: (socket: Socket, nth: number) => boolean;
  /** Answers a request when its headers are complete, without waiting for the body. */
  readonly early?: (request: WireRequest) => Action | undefined;
}

/** A server on raw sockets, which can violate HTTP. */
export async function wireServer(
  onRequest: (request: WireRequest) => Action,
  options: WireOptions = {},
): Promise<WireServer> {
  const requests: WireRequest[] = [];
  const received: Buffer[] = [];
  const sockets = new Set<Socket>();
  let connections = 0;
  let accepted = 0;
  const onSocket = (socket: Socket) => {
    const connection = ++connections;
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
    if (options.onConnection?.(socket, connection)) return;
    let bytes: Buffer = Buffer.alloc(0);
    let waiting: Buffer[] = [];
    let needed = 0;
    let taken = false;
    socket.on('data', (chunk: Buffer) => {
      if (received.length < 10_000) received.push(chunk.subarray(0, 4096));
      waiting.push(chunk);
      // A large body is concatenated once, not for each chunk.
      needed -= chunk.length;
      if (needed > 0) return;
      bytes = Buffer.concat([bytes, ...waiting]);
      waiting = [];
      for (;;) {
        const head = headOf(bytes);
        if (!head) return;
        const nth = requests.filter(({ method }) => method === head.method).length + 1;
        const at = performance.now();
        const known = { ...head, nth, at, connection };
        const early = taken ? undefined : options.early?.({ ...known, body: Buffer.alloc(0) });
        if (early) {
          taken = true;
          const request = { ...known, body: Buffer.alloc(0) };
          requests.push(request);
          act(socket, request, early);
        }
        needed = head.bodyStart + head.length - bytes.length;
        if (needed > 0) return;
        const body = bytes.subarray(head.bodyStart, head.bodyStart + head.length);
        bytes = bytes.subarray(head.bodyStart + head.length);
        if (taken) {
          taken = false;
          continue;
        }
        const request = { ...known, body };
        requests.push(request);
        act(socket, request, onRequest(request));
      }
    });
  };
  const server: Server = options.tls
    ? createTlsServer({ ...options.tls, allowHalfOpen: true }, onSocket)
    : createServer({ allowHalfOpen: true }, onSocket);
  server.on('connection', () => (accepted += 1));
  server.on('tlsClientError', () => undefined);
  const { host = '127.0.0.1' } = options;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port ?? 0, host, () => resolve());
  });
  const { port } = server.address() as AddressInfo;
  const close = () => {
    for (const socket of sockets) socket.destroy();
    server.close();
  };
  atEnd(close);
  const origin = `${options.tls ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${port}`;
  return {
    port,
    origin,
    baseUrl: `${origin}/v1`,
    requests,
    received: () => Buffer.concat(received).toString('latin1'),
    connections: () => accepted,
    env: environmentFor(`${origin}/v1`),
    count: (method) => requests.filter((each) => !method || each.method === method).length,
    close,
  };
}

/** The environment that points the program at a base URL, with short waits. */
export function environmentFor(baseUrl: string): Record<string, string> {
  return {
    ROSTERCTL_BASE_URL: baseUrl,
    ROSTERCTL_ORG: organization,
    ROSTERCTL_API_KEY: key,
    ROSTERCTL_RETRIES: '1',
    ROSTERCTL_SETTLE: '0.2s',
  };
}

function headOf(bytes: Buffer) {
  const end = bytes.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  const [first = '', ...lines] = bytes.subarray(0, end).toString('latin1').split('\r\n');
  const [method = '', url = ''] = first.split(' ');
  const headers = Object.fromEntries(
    lines.map((line) => {
      const at = line.indexOf(':');
      return [line.slice(0, at).toLowerCase(), line.slice(at + 1).trim()] as const;
    }),
  );
  return {
    method,
    url,
    headers,
    bodyStart: end + 4,
    length: Number(headers['content-length'] ?? 0),
  };
}

function act(socket: Socket, request: WireRequest, action: Action): void {
  if (typeof action === 'function') action(socket, request);
  else socket.write(httpAnswer(action));
}

/** Returns an ordinary response as bytes. */
export function httpAnswer({
  status = 200,
  json,
  text,
  headers = {},
}: Exclude<Action, (...words: never) => unknown>): Buffer {
  const body = Buffer.from(text ?? (json === undefined ? '' : JSON.stringify(json)));
  const type =
    json === undefined || text !== undefined ? {} : { 'content-type': 'application/json' };
  const bare = status === 204 || status === 304;
  const all = { ...type, ...(!bare && { 'content-length': String(body.length) }), ...headers };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.concat([
    Buffer.from(`HTTP/1.1 ${status} X\r\n${lines.join('')}\r\n`, 'latin1'),
    bare ? Buffer.alloc(0) : body,
  ]);
}

/** Writes these bytes and leaves the connection open. */
export const bytes =
  (text: string): Action =>
  (socket) =>
    void socket.write(text, 'latin1');

/** Writes these bytes and closes gracefully. */
export const bytesThenEnd =
  (text: string): Action =>
  (socket) =>
    void socket.end(text, 'latin1');

/** Writes these bytes, waits until they are sent, then resets. */
export const bytesThenReset =
  (text: string): Action =>
  (socket) =>
    void socket.write(text, 'latin1', () => setTimeout(() => socket.resetAndDestroy(), 50));

export const end: Action = (socket) => void socket.end();
export const reset: Action = (socket) => void socket.resetAndDestroy();
export const silence: Action = () => undefined;
