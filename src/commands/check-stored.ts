import { createHash } from 'node:crypto';
import type { Context } from '../context.js';
import type { JsonObject } from '../data/json.js';
import { Failure, notVerified, ProtocolError, UnverifiedError } from '../errors.js';
import { fetchDocument } from './download-one.js';
import type { FileFacts } from './upload-file.js';

/**
 * Downloads a document again and compares its bytes with those that were sent. Throws ProtocolError
 * `notVerified` when they differ, UnverifiedError when they cannot be had.
 */
export async function checkStored(
  context: Context,
  { id }: JsonObject,
  { sizeBytes }: FileFacts,
  sha256: string,
): Promise<void> {
  if (typeof id !== 'string')
    throw new UnverifiedError(
      'The document was made; not verified: the service did not say which one it is.',
      undefined,
    );
  const found = await hashOf(context, id, sizeBytes).catch((error: unknown) => {
    if (!(error instanceof Failure)) throw error;
    if (saysOtherBytes(error)) return undefined;
    throw new UnverifiedError(
      `The document ${id} was made; not verified: it could not be read again: ${error.message}`,
      error,
    );
  });
  if (found === sha256) return;
  throw new ProtocolError(
    `The document ${id} was made, but it does not hold the bytes that were sent.`,
    { code: notVerified, hint: 'Look at the document, delete it, and upload the file again.' },
  );
}

/** It was read, and has another length or another MD5 than was sent. */
function saysOtherBytes(error: Failure): boolean {
  return error instanceof ProtocolError && ['wrongSize', 'wrongHash'].includes(error.code);
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
