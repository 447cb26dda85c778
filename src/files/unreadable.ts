import { dirname } from 'node:path';
import { systemReason } from '../data/system-reason.js';
import { shellQuote } from '../data/words.js';
import { InputError } from '../errors.js';

/** What the file system said about an input file, in a sentence, with the next step where there is one. */
export function unreadable(path: string, error: unknown): InputError {
  const { code = '' } = error as NodeJS.ErrnoException;
  return new InputError(`${path} cannot be read: ${systemReason(error)}.`, {
    hint: nextSteps[code]?.(path),
    cause: error,
  });
}

const whoMay = (path: string) => `See who may read it: ls -ld ${shellQuote(path)}`;

const nextSteps: Readonly<Record<string, (path: string) => string>> = {
  EACCES: whoMay,
  EISDIR: () => 'Name a file in it.',
  ENOENT: (path) => `See what is there: ls ${shellQuote(dirname(path))}`,
  EPERM: whoMay,
};
