import type { IncomingMessage, ServerResponse } from 'node:http';
import type { StoredBytes } from './file-bytes.js';
import type { SignedCall } from './signed-url.js';
import { StoreRefusal } from './store-refusal.js';

/**
 * Answers a signed GET or HEAD, whole or in the one part that a Range header asks for, unless
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
  const isOther = ifRange !== undefined && ifRange !== etag;
  const part = isOther ? undefined : partOf(request.headers.range, sizeBytes);
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

/** RFC 6266: an ASCII name for old readers, the real one percent-encoded. */
function contentDisposition({ disposition = 'attachment', fileName = 'file' }: SignedCall): string {
  const plain = fileName.replaceAll(/[^\u0020-\u007e]|["\\%]/g, '_');
  return `${disposition}; filename="${plain}"; filename*=UTF-8''${encodeValue(fileName)}`;
}

/** Also escapes what RFC 8187 does not let stand: `'`, `(`, `)` and `*`. */
const encodeValue = (text: string) =>
  encodeURIComponent(text).replaceAll(
    /['()*]/g,
    (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`,
  );
