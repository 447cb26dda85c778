/** The sandbox's secrets: API keys and what each permits (contract section 5), and the signatures of file store URLs. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { demoOrganization } from '../config/profiles.js';
import { StoreRefusal } from './refusal.js';

export interface Grant {
  readonly organizationId: string;
  /** True if the organization's plan includes API access (5.3). */
  readonly hasPlan: boolean;
  readonly allows: (permission: string) => boolean;
}

const full: Grant = { organizationId: demoOrganization, hasPlan: true, allows: () => true };

const grants = {
  full,
  read_only: { ...full, allows: (permission) => permission.endsWith(':read') },
  no_documents: { ...full, allows: (permission) => !permission.startsWith('document:') },
  no_plan: { ...full, hasPlan: false },
  other_org: { ...full, organizationId: 'org_other' },
} as const satisfies Record<string, Grant>;

export type KeyName = keyof typeof grants;

/** The keys by name, the same as long as the secret is kept. */
export function issuedKeys(secret: string): { readonly [N in KeyName]: string } {
  const ending = createHmac('sha256', secret).update('keys').digest('hex').slice(0, 16);
  const entries = Object.keys(grants).map((name) => [name, `sandbox_${name}_${ending}`]);
  return Object.fromEntries(entries) as { [N in KeyName]: string };
}

/** Looks up what a key permits; undefined for an unknown key. */
export function newKeyRing(secret: string): (key: string) => Grant | undefined {
  const known = new Map<string, Grant>();
  for (const [name, key] of Object.entries(issuedKeys(secret)))
    known.set(key, grants[name as KeyName]);
  return (key) => known.get(key);
}

/** Compares two texts in constant time. */
export function isSameSecret(given: string, expected: string): boolean {
  const [left, right] = [Buffer.from(given), Buffer.from(expected)];
  return left.length === right.length && timingSafeEqual(left, right);
}

/** The one request that a signed URL allows. */
export interface SignedCall {
  readonly method: 'GET' | 'PUT';
  readonly key: string;
  readonly contentType: string;
  readonly sizeBytes: number;
  /** For GET: how the answer presents the file. */
  readonly disposition?: 'attachment' | 'inline';
  readonly fileName?: string;
}

export type SignUrl = (call: SignedCall, expiresAt: Date) => string;

/** Signs URLs of the file store at `origin`. */
export function newSigner(secret: string, origin: string): SignUrl {
  return (call, expiresAt) => {
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
  };
}

/** Returns the call that a URL was signed for, by its decoded path, without the first slash, and its query. Throws StoreRefusal. */
export function verifySignedUrl(
  secret: string,
  key: string,
  query: URLSearchParams,
  now: Date,
): SignedCall {
  const signature = query.get('signature');
  if (signature === null)
    throw new StoreRefusal(403, 'AccessDenied', 'Access denied: the URL is not signed');
  if (!isSameSecret(signature, signatureOf(secret, key, query)))
    throw new StoreRefusal(403, 'SignatureDoesNotMatch', 'The signature does not match the URL.');
  if (now.getTime() >= Number(query.get('expires')) * 1000)
    throw new StoreRefusal(403, 'AccessDenied', 'Request has expired');
  const disposition = query.get('disposition');
  const fileName = query.get('name');
  return {
    method: query.get('method') === 'PUT' ? 'PUT' : 'GET',
    key,
    contentType: query.get('type') ?? '',
    sizeBytes: Number(query.get('length')),
    ...(disposition !== null && {
      disposition: disposition === 'inline' ? 'inline' : 'attachment',
    }),
    ...(fileName !== null && { fileName }),
  };
}

/** Covers the key and every other parameter in its order, so that none can be added or changed. */
function signatureOf(secret: string, key: string, query: URLSearchParams): string {
  const others = [...query].filter(([name]) => name !== 'signature');
  return createHmac('sha256', secret)
    .update(JSON.stringify([key, others]))
    .digest('hex');
}
