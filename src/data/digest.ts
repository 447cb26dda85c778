/** Digests of values, and sharing of equal values. */
import { createHash } from 'node:crypto';
import { isObject, printJson, RawNumber } from './json.js';

/** Returns the SHA-256 of a plain JSON value, in hex. Equal values with their keys in one order have equal digests. */
export function digestOf(value: unknown): string {
  return createHash('sha256').update(printJson(value)).digest('hex');
}

/** Returns the digest of what the service sent, whose objects may have their keys in any order. */
export function recordDigest(value: unknown): string {
  return digestOf(inKeyOrder(value));
}

function inKeyOrder(value: unknown): unknown {
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
