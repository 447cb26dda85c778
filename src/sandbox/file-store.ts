/** The file store: a second origin that accepts signed URLs and no key (contract 2.5, 4.5). */

import { createHash } from 'node:crypto';
import { type IncomingMessage, type RequestListener, ServerResponse } from 'node:http';
import { answerWithFault, closeConnection } from './fault-answer.js';
import type { Fault, Faults } from './faults.js';
import { type SignedCall, verifySignedUrl } from './keys.js';
import type { Tables, Upload } from './records.js';
import { StoreRefusal } from './refusal.js';
import { requestTarget } from './request.js';
import type { State } from './state.js';
import type { FileBytes, StoredBytes } from './storage.js';

export interface FileStoreParts {
  readonly state: State;
  readonly bytes: FileBytes;
  /** Verifies the signed URLs. */
  readonly secret: string;
  readonly now: () => Date;
  readonly faults: Faults;
}

/** The request listener of the file store. */
export function newFileListener(parts: FileStoreParts): RequestListener {
  return (request, response) => {
    answer(parts, request, response).catch((error: unknown) => refuse(request, response, error));
  };
}

async function answer(
  parts: FileStoreParts,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { method = 'GET' } = request;
  const { record, fault } = parts.faults.register('store', method, requestTarget(request).path);
  if (fault) {
    record.applied = await answerFaultily(parts, fault, request, response);
    return;
  }
  try {
    await answerSigned(parts, request, response);
    record.applied = true;
  } catch (error) {
    record.applied = false;
    throw error;
  }
}

async function answerSigned(
  parts: FileStoreParts,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { path, query } = requestTarget(request);
  const call = verifySignedUrl(parts.secret, objectKey(path), query, parts.now());
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
  if (fault.kind === 'close-after') {
    // Carries the request out; the answer has no socket and is lost.
    await answerSigned(parts, request, new ServerResponse(request));
    closeConnection(response, fault.value);
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

function objectKey(path: string): string {
  try {
    return path.slice(1).split('/').map(decodeURIComponent).join('/');
  } catch {
    throw new StoreRefusal(400, 'InvalidURI', 'The path is not percent-encoded UTF-8.');
  }
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

/**
 * Step 2 of an upload (contract 4.5): exactly the announced type and number of bytes. The same bytes
 * may be sent again while the URL is valid, for a client that lost the answer; others are refused.
 */
async function receive(
  { state, bytes }: { readonly state: State; readonly bytes: FileBytes },
  call: SignedCall,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  checkHeaders(call, request);
  const target = bytes.newTarget(call.key);
  try {
    const hash = createHash('sha256');
    for await (const chunk of request as AsyncIterable<Buffer>) {
      hash.update(chunk);
      await target.write(chunk);
    }
    await target.finish();
    const sha256 = hash.digest('hex');
    await state.change((tables, steps) => {
      const upload = uploadOf(tables, call.key, sha256);
      if (upload.sha256 !== undefined) return;
      target.keep();
      steps.push(['upload', { ...upload, sha256 }]);
    });
    response.writeHead(200, { etag: `"${sha256}"`, 'content-length': 0 }).end();
  } finally {
    await target.discard();
  }
}

function checkHeaders(call: SignedCall, request: IncomingMessage): void {
  const length = request.headers['content-length'];
  if (length === undefined)
    throw new StoreRefusal(411, 'MissingContentLength', 'Content-Length is needed.');
  if (request.headers['content-type'] !== call.contentType)
    throw new StoreRefusal(
      403,
      'SignatureDoesNotMatch',
      `Content-Type was signed as ${call.contentType}.`,
    );
  const given = Number(length);
  if (given > call.sizeBytes)
    throw new StoreRefusal(400, 'EntityTooLarge', `${call.sizeBytes} bytes were announced.`);
  if (given < call.sizeBytes)
    throw new StoreRefusal(400, 'EntityTooSmall', `${call.sizeBytes} bytes were announced.`);
}

function uploadOf(tables: Tables, key: string, sha256: string): Upload {
  const upload = tables.uploads.get(key);
  if (!upload) throw new StoreRefusal(404, 'NoSuchUpload', 'There is no such upload.');
  if (upload.sha256 !== undefined && upload.sha256 !== sha256)
    throw new StoreRefusal(403, 'AccessDenied', 'The URL has been used for another file.');
  return upload;
}

/**
 * Answers a signed GET or HEAD with the whole file, or with the one range of the Range header unless
 * If-Range names another version of the file (RFC 9110 13.1.5).
 */
function serve(
  bytes: StoredBytes | undefined,
  etag: string,
  call: SignedCall,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  if (!bytes) throw new StoreRefusal(404, 'NoSuchKey', 'The specified key does not exist.');
  const { sizeBytes } = bytes;
  const ifRange = request.headers['if-range'];
  const hasChanged = ifRange !== undefined && ifRange !== etag;
  const part = hasChanged ? undefined : partOf(request.headers.range, sizeBytes);
  if (part === 'unsatisfiable')
    throw new StoreRefusal(416, 'InvalidRange', `The file has ${sizeBytes} bytes.`);
  const { first, last } = part ?? { first: 0, last: sizeBytes - 1 };
  response.writeHead(part ? 206 : 200, {
    'content-type': call.contentType,
    'content-length': last - first + 1,
    'accept-ranges': 'bytes',
    etag,
    'content-disposition': contentDisposition(call),
    'x-content-type-options': 'nosniff',
    ...(part && { 'content-range': `bytes ${first}-${last}/${sizeBytes}` }),
  });
  if (request.method === 'HEAD' || sizeBytes === 0) {
    response.end();
    return;
  }
  const source = bytes.open(first, last);
  source.on('error', () => response.destroy());
  response.on('close', () => source.destroy());
  source.pipe(response);
}

/** The one range of `bytes=a-b`, `bytes=a-` or `bytes=-n`; anything else means the whole file. */
function partOf(
  range: string | undefined,
  sizeBytes: number,
): { first: number; last: number } | 'unsatisfiable' | undefined {
  const [, from = '', to = ''] = /^bytes=(\d*)-(\d*)$/.exec(range ?? '') ?? [];
  if (from === '' && to === '') return undefined;
  const first = from === '' ? Math.max(0, sizeBytes - Number(to)) : Number(from);
  const last = from === '' || to === '' ? sizeBytes - 1 : Math.min(Number(to), sizeBytes - 1);
  if (first >= sizeBytes) return 'unsatisfiable';
  // RFC 9110 14.1.1: an end before the start is not a range at all.
  return last < first ? undefined : { first, last };
}

/** RFC 6266: an ASCII name for old clients, the real one percent-encoded. */
function contentDisposition({ disposition = 'attachment', fileName = 'file' }: SignedCall): string {
  const plain = fileName.replaceAll(/[^\u0020-\u007e]|["\\%]/g, '_');
  return `${disposition}; filename="${plain}"; filename*=UTF-8''${encodeValue(fileName)}`;
}

/** Also escapes `'`, `(`, `)` and `*`, as RFC 8187 demands. */
const encodeValue = (text: string) =>
  encodeURIComponent(text).replaceAll(
    /['()*]/g,
    (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`,
  );
