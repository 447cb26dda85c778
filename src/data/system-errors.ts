import { Failure } from '../errors.js';

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

/** What this machine refused for want of open files or memory; nothing of it says that an input is wrong. */
export class SystemLimitError extends Failure {
  readonly kind = 'limit';
  readonly exitName = 'failed';
  readonly code: string;
  constructor(
    readonly limit: Limit,
    cause: unknown,
  ) {
    super(limit.message, { hint: limit.hint, cause });
    this.code = limit.code;
  }
}

interface Limit {
  readonly code: 'openFiles' | 'memory';
  readonly message: string;
  readonly hint: string;
}

const own: Limit = {
  code: 'openFiles',
  message: 'Too many files are open: this process has reached its limit.',
  hint: 'Raise the limit (ulimit -n 4096), or work on fewer at once (--concurrency 1).',
};
const system: Limit = {
  code: 'openFiles',
  message: 'Too many files are open: the whole system has reached its limit.',
  hint: 'Close other programs, or work on fewer at once (--concurrency 1).',
};
const memory: Limit = {
  code: 'memory',
  message: 'There is not enough memory for this.',
  hint: 'Split the input, work on fewer at once (--concurrency 1), or raise the limit (ulimit -v, NODE_OPTIONS=--max-old-space-size=4096).',
};

const byCode: Readonly<Record<string, Limit>> = {
  EMFILE: own,
  ENFILE: system,
  ENOMEM: memory,
  ERR_MEMORY_ALLOCATION_FAILED: memory,
  ERR_STRING_TOO_LONG: memory,
  ERR_BUFFER_TOO_LARGE: memory,
  ERR_FS_FILE_TOO_LARGE: memory,
};

/** The limit behind an error of Node, or behind our own error about one; undefined where there is none. */
export function systemLimit(error: unknown): SystemLimitError | undefined {
  if (error instanceof SystemLimitError) return error;
  if (!(error instanceof Error)) return undefined;
  if (error instanceof Failure) return limitBehind(error);
  const { code } = error as NodeJS.ErrnoException;
  const limit =
    (code === undefined ? undefined : byCode[code]) ?? (isMemory(error) ? memory : undefined);
  return limit && new SystemLimitError(limit, error);
}

/** Of other kinds of failure the outcome matters more: something may have been done. */
function limitBehind({ kind, message, cause }: Failure): SystemLimitError | undefined {
  if (!['input', 'output', 'config', 'network'].includes(kind)) return undefined;
  const limit = systemLimit(cause);
  if (!limit || kind === 'network') return limit;
  // The others name the file and the system's reason.
  return new SystemLimitError({ ...limit.limit, message }, cause);
}

/** V8's own errors carry no code. */
function isMemory(error: Error): boolean {
  return (
    error instanceof RangeError &&
    /^(Invalid (array|string) length|Array buffer allocation failed)/.test(error.message)
  );
}
