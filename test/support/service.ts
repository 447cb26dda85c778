import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type ResourceName, resourceNames, resourceWords } from '../../src/data/resources.js';
import { atEnd } from './cleaning.js';

/** One request as it arrived. */
export interface Recorded {
  readonly method: string;
  /** Path and query, exactly as on the request line. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Header names in the order and spelling of the wire. */
  readonly headerNames: readonly string[];
  readonly body: Buffer;
  /** The other end of the connection that it came over. */
  readonly port: number | undefined;
}

/** What a handler answers: a status and a JSON value, or full control over the response. */
export type Reply =
  | {
      readonly status: number;
      readonly json?: unknown;
      readonly headers?: Record<string, string>;
      readonly text?: string;
    }
  | ((request: Recorded, response: ServerResponse) => void);

export interface Service {
  readonly origin: string;
  /** Ends in /v1. */
  readonly baseUrl: string;
  readonly requests: Recorded[];
  /** The environment that points the tool here. */
  readonly env: Record<string, string>;
  close(): Promise<void>;
}

export const organization = 'org_7';
export const key = 'key-canary-7f3a9c21d4';
/** Signs the URLs of a store; as secret as the key, and never in anything printed, kept or sent. */
export const storeSecret = 'store-canary+71/c0ffee/9e4b';

/** A real server on loopback that records every request and answers by `METHOD /path`. */
export async function recordingService(answer: (request: Recorded) => Reply): Promise<Service> {
  const requests: Recorded[] = [];
  const server = createServer((incoming, response) => {
    void readBody(incoming).then((body) => {
      const request: Recorded = {
        method: incoming.method ?? '',
        url: incoming.url ?? '',
        headers: incoming.headers,
        headerNames: incoming.rawHeaders.filter((_, index) => index % 2 === 0),
        body,
        port: incoming.socket.remotePort,
      };
      requests.push(request);
      const reply = answer(request);
      if (typeof reply === 'function') reply(request, response);
      else send(response, reply);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  atEnd(close);
  const baseUrl = `${origin}/v1`;
  const env = {
    ROSTERCTL_BASE_URL: baseUrl,
    ROSTERCTL_ORG: organization,
    ROSTERCTL_API_KEY: key,
    ROSTERCTL_SETTLE: '0.2s',
  };
  return { origin, baseUrl, requests, env, close };
}

function send(response: ServerResponse, reply: Exclude<Reply, (...words: never) => unknown>): void {
  const text = reply.text ?? (reply.json === undefined ? '' : JSON.stringify(reply.json));
  const type =
    reply.text === undefined && reply.json !== undefined
      ? { 'content-type': 'application/json' }
      : {};
  response.writeHead(reply.status, { ...type, ...reply.headers });
  response.end(text);
}

export async function readBody(incoming: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

/** The answer to a key that may not read something. */
export const refused: Reply = { status: 403, json: { error: 'forbidden' } };
/** The answer of a service that does not know a route. */
export const unknown: Reply = { status: 404, json: { error: 'notFound' } };

/** Lists by their resource; a Reply takes the place of a list. */
export type Lists = { readonly [R in ResourceName]?: unknown };

/** Starts a service with these lists. */
export function listService(lists: Lists): Promise<Service> {
  return recordingService(({ url }) => {
    const name = resourceNames.find((each) => url.includes(`/v1${resourceWords[each].path}`));
    const list = (name && lists[name]) ?? [];
    return Array.isArray(list) ? { status: 200, json: list } : (list as Reply);
  });
}
