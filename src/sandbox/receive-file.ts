import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FileBytes } from './file-bytes.js';
import type { Tables, Upload } from './records.js';
import type { SignedCall } from './signed-url.js';
import type { State } from './state.js';
import { StoreRefusal } from './store-refusal.js';

/**
 * Step 2 of an upload (contract 4.5): exactly the announced type and number of bytes. The same bytes
 * may come again while the URL lives, so that a lost answer can be made up for; others may not.
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
    throw new StoreRefusal(403, 'AccessDenied', 'The URL was used for another file already.');
  return upload;
}
