import * as z from 'zod/mini';
import { ProtocolError } from '../errors.js';
import { fitsOf } from './shape-test.js';
import type { ApiNotes } from './types.js';

/** Tells where answers deviate from the contract: once per run and place, an error when strict. */
export interface Drift {
  /** Checks a value against the documented shape; the value itself stays as it came. */
  check(where: string, schema: z.core.$ZodType | undefined, value: unknown): void;
  /** One deviation in words. */
  report(where: string, what: string): void;
}

export function createDrift(notes: ApiNotes, strict: boolean): Drift {
  const told = new Set<string>();
  const report = (where: string, what: string) => {
    const message = `${where}: ${what}`;
    if (strict)
      throw new ProtocolError(`The answer is not as the contract says. ${message}`, {
        code: 'drift',
      });
    if (told.has(message)) return;
    told.add(message);
    notes.drift(message);
  };
  return {
    report,
    check(where, schema, value) {
      if (!schema || fitsOf(schema)(value)) return;
      const result = z.safeParse(schema, value);
      if (result.success) return;
      for (const { path, message } of result.error.issues)
        report(where, `${placeOf(path)}: ${message}`);
    },
  };
}

/** `gamerTags[].game`: the place without the row, so that a hundred rows are told once. */
function placeOf(path: readonly PropertyKey[]): string {
  const place = path.reduce<string>(
    (text, part) => (typeof part === 'number' ? `${text}[]` : `${text}.${String(part)}`),
    '',
  );
  return place.replace(/^\./, '') || 'the whole';
}
