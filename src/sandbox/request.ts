/** Requests to the API: receiving one, and the checks of its JSON body, its organization, its Host header. */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import * as z from 'zod/mini';
import type { Endpoint } from '../api/contract.js';
import { isLoopbackHost } from '../data/http.js';
import { checkDepth, isObject, type JsonObject, TooDeepError } from '../data/json.js';
import { personality } from './personality.js';
import { forbidden, invalid, Refusal } from './refusal.js';

/** The parts of a request that an answer depends on. */
export interface Received {
  readonly method: string;
  /** The target as it was sent: path and query. */
  readonly url: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** The largest JSON body, in bytes. */
const maxJsonBytes = 1024 * 1024;

/** The target of a request: its path and its query. */
export function requestTarget({
  url = '/',
}: IncomingMessage): Pick<Received, 'url' | 'path' | 'query'> {
  const [path = '', query = ''] = url.split(/\?(.*)/s);
  return { url, path, query: new URLSearchParams(query) };
}

/** Receives a request with its body, so that it can be carried out after its connection is gone. */
export async function receive(request: IncomingMessage): Promise<Received> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    // Reads and drops what exceeds the limit, so that the client gets to read the answer.
    if (length <= maxJsonBytes) chunks.push(chunk);
    length += chunk.length;
  }
  const { method = 'GET', headers } = request;
  return { method, ...requestTarget(request), headers, body: Buffer.concat(chunks) };
}

/** Reads the JSON object of a request. Throws 400 for anything else, 413 for one that is too long. */
export function readJsonBody({ headers, body }: Received): JsonObject {
  const type = headers['content-type'] ?? '';
  if (!/^application\/json\s*(;|$)/i.test(type))
    throw invalid('the body must be sent as application/json');
  if (body.length > maxJsonBytes)
    throw new Refusal(
      413,
      personality.codes.payloadTooLarge,
      `a body may have ${maxJsonBytes} bytes`,
    );
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
    checkDepth(value);
  } catch (error) {
    const isDeep = error instanceof TooDeepError;
    throw invalid(isDeep ? 'the body is nested too deeply' : 'the body is not JSON');
  }
  if (!isObject(value)) throw invalid('the body must be a JSON object');
  return value;
}

/**
 * Checks that the call names the key's organization where the contract demands it (4.6), and returns
 * the body without it. Elsewhere the body may name it too, but no other one.
 */
export function checkBodyOrganization(
  row: Endpoint,
  own: string,
  given: { params: Record<string, string>; query: URLSearchParams; body: JsonObject },
): JsonObject {
  const { organizationId: inBody, ...body } = given.body;
  if (row.org === 'path') refuseOther(given.params['organizationId'], own);
  if (row.org === 'query') refuseOther(onlyOne(given.query.getAll('organizationId')), own);
  if (row.org === 'body' || inBody !== undefined) refuseOther(inBody, own);
  return body;
}

function refuseOther(given: unknown, own: string): void {
  if (given === undefined || given === '' || given === null)
    throw invalid('organizationId is missing');
  if (typeof given !== 'string') throw invalid('organizationId must be a text');
  if (given !== own) throw forbidden('organizationId is not the organization of this key');
}

function onlyOne(values: readonly string[]): string | undefined {
  if (values.length > 1) throw invalid('organizationId is given more than once');
  return values[0];
}

/** Checks the body (without organizationId) by the row's schema. Throws 400 naming the first field. */
export function checkBody(row: Endpoint, body: JsonObject): void {
  if (!row.body) return;
  const checked = z.safeParse(row.body, body);
  if (checked.success) return;
  const issue = checked.error.issues[0];
  const field = issue?.path.join('.') ?? '';
  throw invalid(`${field === '' ? 'body' : field}: ${issue?.message ?? 'not allowed'}`);
}

/** True when the Host header names this machine; false for a web page whose DNS name leads here. */
export function isOwnHost(host = ''): boolean {
  return isLoopbackHost(host.toLowerCase().replace(/:\d{1,5}$/, ''));
}
