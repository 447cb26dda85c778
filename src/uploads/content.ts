/** The content of files and documents: their hashes, and whether a document holds the bytes of a file. */
import { createHash } from 'node:crypto';
import type { Context } from '../context.js';
import type { JsonObject } from '../data/json.js';
import { isMissingFile, notVerified, UnverifiedError } from '../data/outcome-errors.js';
import { fetchDocument, hashedSink } from '../downloads/fetch.js';
import { Failure, ProtocolError, stoppedReading } from '../errors.js';
import type { FileFacts } from './store-file.js';
import type { UploadFile } from './upload-source.js';

/**
 * Returns the SHA-256 of a file, in hex. Throws InputError if it cannot be read or changes meanwhile, and
 * CancelledError after a signal.
 */
export async function hashOfUpload(
  file: Pick<UploadFile, 'open'>,
  path: string,
  signal: AbortSignal,
): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of file.open()) {
    if (signal.aborted) throw stoppedReading(path);
    hash.update(chunk);
  }
  return hash.digest('hex');
}

/** Downloads a document and returns whether it holds these bytes. Throws Failure. */
async function hasContent(
  context: Context,
  id: string,
  { sizeBytes }: Pick<FileFacts, 'sizeBytes'>,
  sha256: string,
): Promise<boolean> {
  const sink = hashedSink();
  try {
    await fetchDocument(context, id, sizeBytes, sink);
  } catch (error) {
    // The stored length or MD5 differs.
    const isOther =
      error instanceof ProtocolError && ['wrongSize', 'wrongHash'].includes(error.code);
    if (isOther) return false;
    throw error;
  }
  return sink.sha256() === sha256;
}

/** Returns whether a document still holds these bytes; it does not if the store lacks its file. Throws Failure. */
export async function stillHasContent(
  ...document: Parameters<typeof hasContent>
): Promise<boolean> {
  try {
    return await hasContent(...document);
  } catch (error) {
    if (isMissingFile(error)) return false;
    throw error;
  }
}

/**
 * Downloads a document and compares its bytes with those sent. Throws ProtocolError `notVerified` if
 * they differ, UnverifiedError if they cannot be read.
 */
export async function verifyUpload(
  context: Context,
  { id }: JsonObject,
  file: FileFacts,
  sha256: string,
): Promise<void> {
  if (typeof id !== 'string')
    throw new UnverifiedError(
      'The document was created but not verified: the service did not say which one it is.',
      undefined,
    );
  const isEqual = await hasContent(context, id, file, sha256).catch((error: unknown) => {
    if (!(error instanceof Failure)) throw error;
    throw new UnverifiedError(
      `The document ${id} was created but not verified: it could not be read again: ${error.message}`,
      error,
    );
  });
  if (isEqual) return;
  throw new ProtocolError(
    `The document ${id} was created, but does not hold the bytes that were sent.`,
    { code: notVerified, hint: 'Look at the document, delete it, and upload the file again.' },
  );
}
