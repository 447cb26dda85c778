import { randomBytes } from 'node:crypto';
import type { HandlerCall, Handlers } from './handler.js';
import type { Upload } from './records.js';
import { invalid, Refusal } from './refusal.js';

/** The file extension of an object key, by content type (contract 2.4). */
const extensions: Readonly<Record<string, string>> = {
  'application/pdf': 'pdf',
  'application/msword': 'doc',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': 'docx',
  'application/vnd.ms-excel': 'xls',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': 'xlsx',
  'text/plain': 'txt',
  'image/jpeg': 'jpg',
  'image/png': 'png',
  'image/webp': 'webp',
  'image/gif': 'gif',
};

/** `pdf` for application/pdf. */
function extensionOf(contentType: string): string {
  return extensions[contentType] ?? 'bin';
}

/** The private reference that stands for an object; never an address that one could open. */
function fileRefOf(key: string): string {
  return `${ownPrefix}${key}`;
}

/** The private reference that replaces an upload's own in its document (contract 2.5). */
export function documentRefOf(key: string): string {
  return `private://sandbox-documents/${key}`;
}

const ownPrefix = 'private://sandbox-files/';

/** Whether an upload goes to our own file store, and not to a bucket elsewhere. */
export function isOurs({ fileRef }: Upload): boolean {
  return fileRef.startsWith(ownPrefix);
}

/** Step 1 of an upload (contract 4.2, 4.5). */
export const uploadHandlers: Pick<Handlers, 'requestUpload'> = {
  requestUpload(call) {
    // The row's schema has checked their types.
    const { contentType, sizeBytes } = call.body as { contentType: string; sizeBytes: number };
    const { maxBytes, codes, uploadMs } = call.personality;
    if (sizeBytes === 0) throw invalid('sizeBytes must be at least 1');
    if (sizeBytes > maxBytes)
      throw new Refusal(413, codes.fileTooLarge, `the plan allows ${maxBytes} bytes a file`);
    const key = newKey(call, contentType);
    const { organizationId, bucket } = call;
    const fileRef = bucket ? `${bucket.prefix}${key}` : fileRefOf(key);
    const upload: Upload = { key, organizationId, fileRef, contentType, sizeBytes };
    call.steps.push(['upload', upload]);
    const uploadUrl = (bucket?.urls ?? call.urls).sign(
      { method: 'PUT', key, contentType, sizeBytes },
      new Date(call.now.getTime() + uploadMs),
    );
    return { status: 200, body: { key, fileRef: upload.fileRef, uploadUrl } };
  },
};

function newKey(call: HandlerCall, contentType: string): string {
  const number = String(call.tables.uploads.size + 1).padStart(4, '0');
  // A bucket outlives a reset and may serve several sandboxes: no key of it is given twice.
  const mark = call.bucket ? `_${randomBytes(8).toString('hex')}` : '';
  return `documents/${call.organizationId}/upload_${number}${mark}.${extensionOf(contentType)}`;
}
