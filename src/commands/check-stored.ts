import { createHash } from 'node:crypto';
import { notVerified } from '../bulk/upload-state.js';
import type { Context } from '../context.js';
import type { JsonObject } from '../data/json.js';
import { Failure, ProtocolError } from '../errors.js';
import { fetchDocument } from './download-one.js';
import type { FileFacts } from './upload-file.js';

/**
 * Downloads a document again and compares its bytes with those that were sent. Throws ProtocolError
 * `notVerified` when they differ or cannot be had.
 */
export async function checkStored(
  context: Context,
  { id }: JsonObject,
  { sizeBytes }: FileFacts,
  sha256: string,
): Promise<void> {
  if (typeof id !== 'string') throw unverified('The service did not say which document was made.');
  const found = await hashOf(context, id, sizeBytes).catch((error: unknown) => {
    if (!(error instanceof Failure)) throw error;
    throw unverified(`The document ${id} was made, but could not be read again: ${error.message}`);
  });
  if (found !== sha256)
    throw unverified(`The document ${id} was made, but it does not hold the bytes that were sent.`);
}

async function hashOf(context: Context, id: string, size: number): Promise<string> {
  let hash = createHash('sha256');
  await fetchDocument(context, 'downloadDocument', id, size, {
    at: 0,
    version: {},
    rewinds: true,
    async begin(_, at) {
      // The store began anew: what came before counts no more.
      if (at === 0) hash = createHash('sha256');
    },
    async write(chunk) {
      hash.update(chunk);
    },
  });
  return hash.digest('hex');
}

function unverified(message: string): ProtocolError {
  return new ProtocolError(message, {
    code: notVerified,
    hint: 'Look at the document, delete it, and upload the file again.',
  });
}
