import { InputError } from '../errors.js';

/** What the file system said about an input file, in a sentence. */
export function unreadable(path: string, error: unknown): InputError {
  const { code } = error as NodeJS.ErrnoException;
  const reason = reasons[code ?? ''] ?? code ?? 'unknown error';
  return new InputError(`${path} cannot be read: ${reason}.`, { cause: error });
}

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EISDIR: 'it is a folder',
  ENOTDIR: 'a part of the path is not a folder',
  ELOOP: 'its links lead in a circle',
  ENAMETOOLONG: 'the name is too long',
  EMFILE: 'too many files are open',
};
