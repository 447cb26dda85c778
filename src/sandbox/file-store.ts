import { type IncomingMessage, ServerResponse } from 'node:http';
import { answerWithFault, close } from './fault-answer.js';
import type { Fault } from './fault-rule.js';
import type { Faults } from './faults.js';
import type { FileBytes } from './file-bytes.js';
import { receive, serve } from './file-transfer.js';
import { type Judged, judge } from './signed-url.js';
import type { State } from './state.js';
import { StoreRefusal } from './refusal.js';

export interface FileStoreParts {
  readonly state: State;
  readonly bytes: FileBytes;
  readonly secret: string;
  readonly now: () => Date;
  readonly faults: Faults;
}

/** The listener of the file port: a second origin that knows signed URLs and no key (contract 2.5, 4.5). */
export function newFileListener(
  parts: FileStoreParts,
): (request: IncomingMessage, response: ServerResponse) => void {
  return (request, response) => {
    answer(parts, request, response).catch((error: unknown) => refuse(request, response, error));
  };
}

async function answer(
  parts: FileStoreParts,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const target = request.url ?? '/';
  const end = target.includes('?') ? target.indexOf('?') : target.length;
  const path = target.slice(0, end);
  const query = new URLSearchParams(target.slice(end + 1));
  const met = parts.faults.arrive('store', request.method ?? 'GET', path);
  if (met.fault) {
    met.record.applied = await answerFaultily(parts, met.fault, request, response);
    return;
  }
  await answerSigned(parts, path, query, request, response);
  met.record.applied = true;
}

async function answerSigned(
  parts: FileStoreParts,
  path: string,
  query: URLSearchParams,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const judged = judge(parts.secret, keyOf(path), query, parts.now());
  if (judged.verdict !== 'good') throw notAllowed(judged.verdict);
  const { call } = judged;
  const wanted = request.method === 'HEAD' ? 'GET' : request.method;
  if (wanted !== 'GET' && wanted !== 'PUT')
    throw new StoreRefusal(405, 'MethodNotAllowed', 'The store knows GET, HEAD and PUT.');
  if (wanted !== call.method)
    throw new StoreRefusal(403, 'SignatureDoesNotMatch', 'The URL was signed for another method.');
  if (wanted === 'PUT') await receive(parts, call, request, response);
  else {
    const bytes = parts.bytes.find(call.key);
    const sha256 = parts.state.read().uploads.get(call.key)?.sha256 ?? bytes?.sha256;
    serve(bytes, `"${sha256}"`, call, request, response);
  }
}

/** True when the request was carried out. */
async function answerFaultily(
  parts: FileStoreParts,
  fault: Fault,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<boolean> {
  const [path = '', search = ''] = (request.url ?? '/').split(/\?(.*)/s);
  if (fault.kind === 'close-after') {
    // An answer that nobody takes: it is written for no socket.
    await answerSigned(
      parts,
      path,
      new URLSearchParams(search),
      request,
      new ServerResponse(request),
    );
    close(response, fault.value);
    return true;
  }
  // What is still coming is read and dropped, so that the sender gets to see the answer.
  request.resume();
  if (fault.kind === 'stall-headers') return false;
  return answerWithFault({
    fault,
    response,
    carryOut: () => Promise.reject(new Error('this fault does not carry out')),
    refuse(status, code) {
      const bytes = Buffer.from(
        new StoreRefusal(status, code, 'a fault that was asked for').toXml(),
      );
      return { status, headers: { 'content-type': 'application/xml' }, bytes };
    },
    now: parts.now,
  });
}

function keyOf(path: string): string {
  try {
    return path.slice(1).split('/').map(decodeURIComponent).join('/');
  } catch {
    throw new StoreRefusal(400, 'InvalidURI', 'The path is not percent-encoded UTF-8.');
  }
}

function notAllowed(verdict: Exclude<Judged['verdict'], 'good'>): StoreRefusal {
  if (verdict === 'tampered')
    return new StoreRefusal(403, 'SignatureDoesNotMatch', 'The signature does not match the URL.');
  const why =
    verdict === 'expired' ? 'Request has expired' : 'Access denied: the URL is not signed';
  return new StoreRefusal(403, 'AccessDenied', why);
}

function refuse(request: IncomingMessage, response: ServerResponse, error: unknown): void {
  // The sender went away in the middle: there is nobody left to answer.
  if (request.destroyed && !request.complete) {
    response.destroy();
    return;
  }
  const refusal =
    error instanceof StoreRefusal
      ? error
      : new StoreRefusal(500, 'InternalError', error instanceof Error ? error.message : 'unknown');
  const body = Buffer.from(refusal.toXml());
  // What is still coming is read and dropped, so that the sender gets to see the answer.
  request.resume();
  response
    .writeHead(refusal.status, { 'content-type': 'application/xml', 'content-length': body.length })
    .end(request.method === 'HEAD' ? undefined : body);
}
