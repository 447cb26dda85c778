/** Digests of values, random names, and sharing of equal values. */
import type * as Crypto from 'node:crypto';
import { createRequire } from 'node:module';
import { isObject, printJson, RawNumber } from './json.js';
import { lazy } from './lazy.js';
import { withoutSignature } from './signed-urls.js';

// Loaded when first needed: that takes half as long as a start of Node itself.
const crypto = lazy(() => createRequire(import.meta.url)('node:crypto') as typeof Crypto);

/** Returns the SHA-256 of a text, in hex. */
export function textDigest(text: string): string {
  return crypto().hash('sha256', text, 'hex');
}

/** Returns the SHA-256 of text that is added in parts. */
export function startDigest(): Crypto.Hash {
  return crypto().createHash('sha256');
}

/** Returns this many random bytes, in hex. */
export function randomHex(bytes: number): string {
  return crypto().randomBytes(bytes).toString('hex');
}

/** Returns the SHA-256 of a plain JSON value, in hex. Equal values with their keys in one order have equal digests. */
export function digestOf(value: unknown): string {
  return textDigest(printJson(value));
}

/** Returns the digest of what the service sent, whatever the order of its keys and the signatures of its URLs. */
export function recordDigest(value: unknown): string {
  return digestOf(inKeyOrder(value));
}

function inKeyOrder(value: unknown): unknown {
  if (typeof value === 'string') return withoutSignature(value);
  if (Array.isArray(value)) return value.map(inKeyOrder);
  if (!isObject(value)) return value instanceof RawNumber ? value : (value ?? null);
  return Object.fromEntries(
    Object.keys(value)
      .toSorted()
      .map((key) => [key, inKeyOrder(value[key])]),
  );
}

const maxInterned = 1_000;
const maxLength = 200;

/**
 * Returns a function that maps equal small values to one shared object: 200,000 rows that all say
 * `accepted` need memory for one. Only for values that are never modified.
 */
export function intern<T extends object>(): (value: T) => T {
  const known = new Map<string, T>();
  return (value) => {
    const text = printJson(value);
    if (text.length > maxLength) return value;
    const existing = known.get(text);
    if (existing) return existing;
    if (known.size < maxInterned) known.set(text, value);
    return value;
  };
}
