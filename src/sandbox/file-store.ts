/** The file store: a second origin that accepts signed URLs and no key (contract 2.5, 4.5). */
import { type IncomingMessage, ServerResponse } from 'node:http';
import { answerWithFault, close } from './fault-answer.js';
import type { Fault } from './fault-rule.js';
import type { Faults } from './faults.js';
import type { FileBytes } from './file-bytes.js';
import { receive, serve } from './file-transfer.js';
import { type SignatureCheck, verifySignedUrl } from './keys.js';
import { StoreRefusal } from './refusal.js';
import type { State } from './state.js';

interface FileStoreParts {
  readonly state: State;
  readonly bytes: FileBytes;
  /** Verifies the signed URLs. */
  readonly secret: string;
  readonly now: () => Date;
  readonly faults: Faults;
}

/** The request listener of the file store. */
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
  const { record, fault } = parts.faults.register('store', request.method ?? 'GET', path);
  if (fault) {
    record.applied = await answerFaultily(parts, fault, request, response);
    return;
  }
  await answerSigned(parts, path, query, request, response);
  record.applied = true;
}

async function answerSigned(
  parts: FileStoreParts,
  path: string,
  query: URLSearchParams,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const verified = verifySignedUrl(parts.secret, keyOf(path), query, parts.now());
  if (verified.result !== 'valid') throw accessRefusal(verified.result);
  const { call } = verified;
  const method = request.method === 'HEAD' ? 'GET' : request.method;
  if (method !== 'GET' && method !== 'PUT')
    throw new StoreRefusal(405, 'MethodNotAllowed', 'The store accepts GET, HEAD and PUT.');
  if (method !== call.method)
    throw new StoreRefusal(403, 'SignatureDoesNotMatch', 'The URL was signed for another method.');
  if (method === 'PUT') await receive(parts, call, request, response);
  else {
    const bytes = parts.bytes.find(call.key);
    const sha256 = parts.state.read().uploads.get(call.key)?.sha256 ?? bytes?.sha256;
    serve(bytes, `"${sha256}"`, call, request, response);
  }
}

/** Answers as the fault says; true when the request was carried out. */
async function answerFaultily(
  parts: FileStoreParts,
  fault: Fault,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<boolean> {
  const [path = '', search = ''] = (request.url ?? '/').split(/\?(.*)/s);
  if (fault.kind === 'close-after') {
    // Carries the request out; the answer has no socket and is lost.
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
  // Reads and drops the rest of the body, so that the client gets to read the answer.
  request.resume();
  if (fault.kind === 'stall-headers') return false;
  return answerWithFault({
    fault,
    response,
    carryOut: () => Promise.reject(new Error('this fault does not carry out')),
    refuse(status, code) {
      const bytes = Buffer.from(new StoreRefusal(status, code, 'an injected fault').toXml());
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

function accessRefusal(result: Exclude<SignatureCheck['result'], 'valid'>): StoreRefusal {
  if (result === 'tampered')
    return new StoreRefusal(403, 'SignatureDoesNotMatch', 'The signature does not match the URL.');
  const why = result === 'expired' ? 'Request has expired' : 'Access denied: the URL is not signed';
  return new StoreRefusal(403, 'AccessDenied', why);
}

function refuse(request: IncomingMessage, response: ServerResponse, error: unknown): void {
  // The client closed the connection before it had sent its request.
  if (request.destroyed && !request.complete) {
    response.destroy();
    return;
  }
  const refusal =
    error instanceof StoreRefusal
      ? error
      : new StoreRefusal(500, 'InternalError', error instanceof Error ? error.message : 'unknown');
  const body = Buffer.from(refusal.toXml());
  // Reads and drops the rest of the body, so that the client gets to read the answer.
  request.resume();
  response
    .writeHead(refusal.status, { 'content-type': 'application/xml', 'content-length': body.length })
    .end(request.method === 'HEAD' ? undefined : body);
}
