/**
 * Why the system refused something, in words with its code behind them: `permission denied (EACCES)`.
 * `own` says better what a code means in that place.
 */
export function systemReason(error: unknown, own: Readonly<Record<string, string>> = {}): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === undefined) return message ?? 'unknown error';
  const words = own[code] ?? reasons[code];
  return words === undefined ? code : `${words} (${code})`;
}

const reasons: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EDQUOT: 'the disk quota is used up',
  EFBIG: 'the file would be larger than allowed',
  EIO: 'the device reports an error',
  EISDIR: 'it is a folder',
  ELOOP: 'its links lead in a circle',
  EMFILE: 'too many files are open',
  ENAMETOOLONG: 'the name is too long',
  ENFILE: 'too many files are open in the whole system',
  ENOENT: 'there is no such file',
  ENOMEM: 'memory is used up',
  ENOSPC: 'the disk is full',
  ENOTDIR: 'a part of the path is no folder',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
};
