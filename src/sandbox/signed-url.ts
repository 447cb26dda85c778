/** Signs the URLs of the file store, and verifies the signature of the URLs that it is asked for. */
import { createHmac } from 'node:crypto';
import { isSameSecret } from './keys.js';

/** What a signed URL allows, and nothing else. */
export interface SignedCall {
  readonly method: 'GET' | 'PUT';
  readonly key: string;
  readonly contentType: string;
  readonly sizeBytes: number;
  /** For GET: how the answer presents the file. */
  readonly disposition?: 'attachment' | 'inline';
  readonly fileName?: string;
}

export interface UrlSigner {
  sign(call: SignedCall, expiresAt: Date): string;
}

export type Verification =
  | { readonly result: 'valid'; readonly call: SignedCall }
  | { readonly result: 'unsigned' | 'tampered' | 'expired' };

/** Signs URLs of the file store at `origin`. */
export function newSigner(secret: string, origin: string): UrlSigner {
  return {
    sign(call, expiresAt) {
      // Whole seconds, never earlier than promised.
      const expires = String(Math.ceil(expiresAt.getTime() / 1000));
      const query = new URLSearchParams({
        method: call.method,
        type: call.contentType,
        length: String(call.sizeBytes),
        ...(call.disposition && { disposition: call.disposition }),
        ...(call.fileName !== undefined && { name: call.fileName.toWellFormed() }),
        expires,
      });
      query.set('signature', signatureOf(secret, call.key, query));
      const path = call.key.split('/').map(encodeURIComponent).join('/');
      return `${origin}/${path}?${query.toString()}`;
    },
  };
}

/** Verifies a request by its decoded path, without the first slash, and its query. */
export function verifySignedUrl(
  secret: string,
  key: string,
  query: URLSearchParams,
  now: Date,
): Verification {
  const signature = query.get('signature');
  if (signature === null) return { result: 'unsigned' };
  if (!isSameSecret(signature, signatureOf(secret, key, query))) return { result: 'tampered' };
  if (now.getTime() >= Number(query.get('expires')) * 1000) return { result: 'expired' };
  const disposition = query.get('disposition');
  const fileName = query.get('name');
  return {
    result: 'valid',
    call: {
      method: query.get('method') === 'PUT' ? 'PUT' : 'GET',
      key,
      contentType: query.get('type') ?? '',
      sizeBytes: Number(query.get('length')),
      ...(disposition !== null && {
        disposition: disposition === 'inline' ? 'inline' : 'attachment',
      }),
      ...(fileName !== null && { fileName }),
    },
  };
}

/** Covers the key and every other parameter in its order, so that none can be added or changed. */
function signatureOf(secret: string, key: string, query: URLSearchParams): string {
  const others = [...query].filter(([name]) => name !== 'signature');
  return createHmac('sha256', secret)
    .update(JSON.stringify([key, others]))
    .digest('hex');
}
