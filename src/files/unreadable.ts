import { dirname } from 'node:path';
import { systemLimit } from '../data/system-limit.js';
import { systemReason } from '../data/system-reason.js';
import { shellQuote } from '../data/words.js';
import { type Failure, InputError } from '../errors.js';

/**
 * What the file system said about an input file, in a sentence, with the next step where there is one:
 * InputError, or SystemLimitError where the fault is not the file's.
 */
export function unreadable(path: string, error: unknown): Failure {
  const { code = '' } = error as NodeJS.ErrnoException;
  const refused = new InputError(`${path} cannot be read: ${systemReason(error)}.`, {
    hint: nextSteps[code]?.(path),
    cause: error,
  });
  return systemLimit(refused) ?? refused;
}

const whoMay = (path: string) => `See who may read it: ls -ld ${shellQuote(path)}`;

const nextSteps: Readonly<Record<string, (path: string) => string>> = {
  EACCES: whoMay,
  EISDIR: () => 'Name a file in it.',
  ENOENT: (path) => `See what is there: ls ${shellQuote(dirname(path))}`,
  EPERM: whoMay,
};
