/** The transfers of the file store: how it receives an upload and serves a file. */
import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FileBytes, StoredBytes } from './file-bytes.js';
import type { SignedCall } from './keys.js';
import type { Tables, Upload } from './records.js';
import { StoreRefusal } from './refusal.js';
import type { State } from './state.js';

/**
 * Step 2 of an upload (contract 4.5): exactly the announced type and number of bytes. The same bytes
 * may be sent again while the URL is valid, for a client that lost the answer; others are refused.
 */
export async function receive(
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
export function serve(
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
  // RFC 9110 14.1.1: an end before the start is no range at all.
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
