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

/** The private reference that replaces an upload's own in its document (contract 2.5). */
export function documentRefOf(key: string): string {
  return `private://sandbox-documents/${key}`;
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
    const { organizationId } = call;
    // A private reference, never an address that could be opened.
    const fileRef = `private://sandbox-files/${key}`;
    const upload: Upload = { key, organizationId, fileRef, contentType, sizeBytes };
    call.steps.push(['upload', upload]);
    const uploadUrl = call.urls.sign(
      { method: 'PUT', key, contentType, sizeBytes },
      new Date(call.now.getTime() + uploadMs),
    );
    return { status: 200, body: { key, fileRef, uploadUrl } };
  },
};

function newKey(call: HandlerCall, contentType: string): string {
  const number = String(call.tables.uploads.size + 1).padStart(4, '0');
  return `documents/${call.organizationId}/upload_${number}.${extensionOf(contentType)}`;
}
