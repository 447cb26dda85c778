import { createHash } from 'node:crypto';
import { notVerified } from '../bulk/upload-state.js';
import type { Context } from '../context.js';
import type { JsonObject } from '../data/json.js';
import { Failure, ProtocolError } from '../errors.js';
import { callOf, documents } from './kinds.js';

/**
 * Downloads a document again and compares its bytes with those that were sent. Throws ProtocolError
 * `notVerified` when they differ or cannot be had.
 */
export async function checkStored(
  context: Context,
  { id }: JsonObject,
  sha256: string,
): Promise<void> {
  if (typeof id !== 'string') throw unverified('The service did not say which document was made.');
  const found = await hashOf(context, id).catch((error: unknown) => {
    if (!(error instanceof Failure)) throw error;
    throw unverified(`The document ${id} was made, but could not be read again: ${error.message}`);
  });
  if (found !== sha256)
    throw unverified(`The document ${id} was made, but it does not hold the bytes that were sent.`);
}

async function hashOf(context: Context, id: string): Promise<string> {
  const hash = createHash('sha256');
  const link = await context.api.link(callOf(documents, 'downloadDocument', id));
  if (link.kind === 'bytes') return hash.update(link.bytes).digest('hex');
  const files = await context.files();
  for await (const chunk of (await files.get(link.url)).bytes) hash.update(chunk);
  return hash.digest('hex');
}

function unverified(message: string): ProtocolError {
  return new ProtocolError(message, {
    code: notVerified,
    hint: 'Look at the document, delete it, and upload the file again.',
  });
}
