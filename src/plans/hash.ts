/** The hash of a plan file: over what it says, not over its bytes. */
import { createHash, type Hash } from 'node:crypto';
import { isObject, type JsonObject, printJson } from '../data/json.js';

/**
 * Returns the SHA-256 of a plan's members, in hex. Line ends, indentation and the order of members do
 * not count; every value does. It proves damage, not forgery: anybody who edits a plan can hash it again.
 */
export function hashOfPlan(members: JsonObject): string {
  const sum = createHash('sha256');
  feed(sum, members);
  return sum.digest('hex');
}

/** Feeds a value to the hash piece by piece, since a plan may have 200,000 rows. */
function feed(sum: Hash, value: unknown): void {
  if (Array.isArray(value)) {
    sum.update('[');
    for (const item of value) {
      feed(sum, item);
      sum.update(',');
    }
    sum.update(']');
  } else if (isObject(value)) {
    sum.update('{');
    for (const key of Object.keys(value).toSorted()) {
      // JSON has no undefined: such a member is not in the file.
      if (value[key] === undefined) continue;
      sum.update(`${printJson(key)}:`);
      feed(sum, value[key]);
      sum.update(',');
    }
    sum.update('}');
  } else sum.update(printJson(value));
}

/** How many characters of a hash a person reads, compares and types. */
export const shortHashLength = 8;

/** The first characters of a hash, for a person to pass on. */
export function shortHash(hash: string): string {
  return hash.slice(0, shortHashLength);
}
