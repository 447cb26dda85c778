import { createHash } from 'node:crypto';
import { printJson } from './json.js';

/** Stands for a value of plain JSON: SHA-256 of its text, in hex. Equal values have the same. */
export function digestOf(value: unknown): string {
  return createHash('sha256').update(printJson(value)).digest('hex');
}
