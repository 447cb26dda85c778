/** How the sandbox answers the endpoints of documents and uploads. */
import { extensionsOf } from '../api/schemas.js';
import type { JsonObject } from '../data/json.js';
import {
  checkName,
  deleteRecord,
  fileFields,
  type HandlerCall,
  type HandlerReply,
  type HandlersOf,
  listResponse,
  newRecord,
  ownRecord,
  ownRecords,
  updateRecord,
} from './handler.js';
import { personality } from './personality.js';
import type { StoredRecord, Upload } from './records.js';
import { invalid, Refusal } from './refusal.js';

/** Documents and uploads (contract 2.5, 4.2-4.5; update and delete are assumed). */
export const documentHandlers: HandlersOf<'documents'> = {
  listDocuments: (call) => listResponse(ownRecords(call, 'documents')),

  downloadDocument: (call) => link(call, 'download'),

  previewDocument: (call) => link(call, 'preview'),

  /** Step 1 of an upload (contract 4.2, 4.5). */
  requestUpload(call) {
    // The row's schema has checked their types.
    const { contentType, sizeBytes } = call.body as { contentType: string; sizeBytes: number };
    const { maxBytes, codes, uploadMs } = personality;
    if (sizeBytes === 0) throw invalid('sizeBytes must be at least 1');
    if (sizeBytes > maxBytes)
      throw new Refusal(413, codes.fileTooLarge, `the plan allows ${maxBytes} bytes a file`);
    const key = newKey(call, contentType);
    const { organizationId } = call;
    // A private reference, never an address that could be opened.
    const fileRef = `private://sandbox-files/${key}`;
    const upload: Upload = { key, organizationId, fileRef, contentType, sizeBytes };
    call.steps.push(['upload', upload]);
    const uploadUrl = call.signUrl(
      { method: 'PUT', key, contentType, sizeBytes },
      new Date(call.now.getTime() + uploadMs),
    );
    return { answer: 'upload', values: { key, fileRef, uploadUrl } };
  },

  createDocument(call) {
    checkName(call.body, 'optional');
    const upload = storedUpload(call);
    const document = newRecord(call, 'documents', {
      ...call.body,
      name: call.body['name'] ?? upload.key.slice(upload.key.lastIndexOf('/') + 1),
      fileUrl: documentRefOf(upload.key),
    });
    call.steps.push(
      ['put', 'documents', document],
      ['upload', { ...upload, documentId: document.id }],
    );
    return { answer: 'create', records: { record: document } };
  },

  updateDocument(call) {
    const old = ownRecord(call, 'documents', call.params.documentId);
    checkName(call.body, 'optional');
    checkTags(call.body);
    refuseOtherFile(call.body, old);
    return updateRecord(call, 'documents', old);
  },

  deleteDocument: (call) => deleteRecord(call, 'documents', call.params.documentId),
};

/** The private reference that replaces an upload's own in its document (contract 2.5). */
export function documentRefOf(key: string): string {
  return `private://sandbox-documents/${key}`;
}

/** Answers with a signed URL, the only access to a file (contract 2.5). */
function link(call: HandlerCall<'documentId'>, answer: 'download' | 'preview'): HandlerReply {
  const document = ownRecord(call, 'documents', call.params.documentId);
  const key = String(document['fileKey']);
  const expiresAt = new Date(call.now.getTime() + personality.linkMs);
  const url = call.signUrl(
    {
      method: 'GET',
      key,
      contentType: String(document['contentType']),
      sizeBytes: Number(document['sizeBytes']),
      disposition: answer === 'download' ? 'attachment' : 'inline',
      fileName: String(document['name']),
    },
    expiresAt,
  );
  const { pathname, search } = new URL(url);
  return {
    answer,
    records: { record: document },
    values: { url, path: pathname + search, expiresAt: expiresAt.toISOString() },
  };
}

/** Step 3 of an upload: the body must name an uploaded file, as it was announced (contract 4.5). */
function storedUpload(call: HandlerCall): Upload {
  const { fileKey, fileUrl, contentType, sizeBytes } = call.body;
  const upload = typeof fileKey === 'string' ? call.tables.uploads.get(fileKey) : undefined;
  if (!upload || upload.organizationId !== call.organizationId)
    throw invalid('fileKey is not the key of an upload of this organization');
  if (upload.fileRef !== fileUrl) throw invalid('fileUrl is not the fileRef of that upload');
  if (upload.contentType !== contentType) throw invalid(`contentType was ${upload.contentType}`);
  if (upload.sizeBytes !== sizeBytes) throw invalid(`sizeBytes was ${upload.sizeBytes}`);
  if (upload.sha256 === undefined) throw invalid('the file has not been uploaded yet');
  if (upload.documentId === undefined) return upload;
  const code = personality.codes.conflict;
  throw new Refusal(409, code, `the upload is already ${upload.documentId}`);
}

function checkTags({ tags }: JsonObject): void {
  if (tags === undefined) return;
  if (!Array.isArray(tags) || !tags.every((tag) => typeof tag === 'string'))
    throw invalid('tags must be a list of texts');
}

/** Refuses to change a document's file; its present values are accepted. */
function refuseOtherFile(body: JsonObject, document: StoredRecord): void {
  for (const field of fileFields) {
    if (body[field] !== undefined && body[field] !== document[field])
      throw invalid(`${field} of a document cannot be changed`);
  }
}

function newKey(call: HandlerCall, contentType: string): string {
  const number = String(call.tables.uploads.size + 1).padStart(4, '0');
  return `documents/${call.organizationId}/upload_${number}.${extensionsOf(contentType)[0] ?? 'bin'}`;
}
