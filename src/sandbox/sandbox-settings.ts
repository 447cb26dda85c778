/** The secret of a sandbox, which its API keys are made of: chosen at its first use and kept. */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isObject } from '../data/json.js';
import { writeAtomically } from '../files/atomic-write.js';
import { type ThisProcess, withLock } from '../files/lock.js';

/** Reads the secret of a folder, or chooses and writes one; its file is 0600. */
export async function loadSecret(dir: string, self: ThisProcess): Promise<string> {
  return (
    readSecret(dir) ??
    withLock(dir, 'settings', { self, waitMs: 10_000, purpose: 'sandbox' }, async () => {
      const kept = readSecret(dir);
      if (kept !== undefined) return kept;
      const secret = newSecret();
      await writeAtomically(pathOf(dir), `${JSON.stringify({ secret })}\n`);
      return secret;
    })
  );
}

export const newSecret = (): string => randomBytes(32).toString('hex');

/** Undefined when there is none, or none that is usable: then a new one is chosen. */
function readSecret(dir: string): string | undefined {
  try {
    const value: unknown = JSON.parse(readFileSync(pathOf(dir), 'utf8'));
    const secret = isObject(value) ? value['secret'] : undefined;
    return typeof secret === 'string' && secret.length >= 32 ? secret : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

const pathOf = (dir: string) => join(dir, 'settings.json');
