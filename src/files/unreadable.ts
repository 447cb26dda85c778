import { systemReason } from '../data/system-reason.js';
import { InputError } from '../errors.js';

/** What the file system said about an input file, in a sentence. */
export function unreadable(path: string, error: unknown): InputError {
  return new InputError(`${path} cannot be read: ${systemReason(error)}.`, { cause: error });
}
