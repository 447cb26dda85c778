/** System errors in words, the limits of this machine, and missing files of the program. */
import { Failure, InputError, OutputError } from '../errors.js';

/**
 * Returns the reason of a system error, followed by its code: `permission denied (EACCES)`.
 * `specific` contains better words for some codes.
 */
export function systemReason(
  error: unknown,
  specific: Readonly<Record<string, string>> = {},
): string {
  const code = systemCode(error);
  if (code === undefined) return error instanceof Error ? error.message : 'unknown error';
  const words = specific[code] ?? reasons[code];
  return words === undefined ? code : `${words} (${code})`;
}

/** True for an error of a system call; ours carry it as their cause. */
export function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error;
}

/** The code of an error of the system or of Node, also of those that Node only numbers: of Linux and of macOS. */
export function systemCode(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const { code, errno } = error as NodeJS.ErrnoException;
  const isNumber = /^(UNKNOWN$|Unknown system error)/.test(code ?? '');
  return (isNumber ? unnamed[-(errno ?? 0)] : undefined) ?? code;
}

/** True if the disk did not keep what was written; any other refusal to sync means that it cannot be asked to. */
export function isDiskFailure(error: unknown): boolean {
  return ['EIO', 'ENOSPC', 'EDQUOT'].includes(systemCode(error) ?? '');
}

const unnamed: Readonly<Record<string, string>> = {
  69: 'EDQUOT',
  70: 'ESTALE',
  116: 'ESTALE',
  122: 'EDQUOT',
  126: 'ENOKEY',
};

const reasons: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EBUSY: 'it is in use',
  EDQUOT: 'the disk quota is used up',
  EFBIG: 'the file would be larger than allowed',
  EINVAL: 'its file system does not accept that',
  EIO: 'the device reports an error',
  EISDIR: 'it is a folder',
  ELOOP: 'its links form a loop',
  EMFILE: 'too many files are open',
  ENAMETOOLONG: 'the name is too long',
  ENFILE: 'too many files are open in the whole system',
  ENODEV: 'the device is gone',
  ENOENT: 'there is no such file',
  ENOKEY: 'its folder is encrypted and locked',
  ENOMEM: 'memory is used up',
  ENOSPC: 'the disk is full',
  ENOTCONN: 'its file system is no longer connected',
  ENOTDIR: 'a part of the path is not a folder',
  ENOTSUP: 'its file system cannot do that',
  ENXIO: 'it is a socket',
  EPERM: 'permission denied',
  ERR_FS_EISDIR: 'it is a folder',
  EROFS: 'the file system is read-only',
  ESTALE: 'the network file system no longer knows it',
};

/**
 * Returns what to report for an error of the file system that nothing else words, such as a disk that
 * fails in the middle; undefined for any other error.
 */
export function fileSystemError(error: unknown): InputError | OutputError | undefined {
  if (!(error instanceof Error)) return undefined;
  const { path, syscall } = error as NodeJS.ErrnoException;
  const code = systemCode(error);
  if (syscall === 'uv_cwd')
    return new InputError('The current folder was removed.', {
      hint: 'Change to another folder, then run the same command again.',
      cause: error,
    });
  const isOnFile = path !== undefined || fileCalls.test(syscall ?? '');
  if (code === undefined || !isOnFile || reasons[code] === undefined) return undefined;
  return new OutputError(`${path ?? 'A file'} cannot be read or written: ${systemReason(error)}.`, {
    hint: 'Check the disk and the permissions, then run the same command again.',
    cause: error,
  });
}

/** Calls on an open file; Node does not say which file it was. */
const fileCalls = /^(?:read|write|close|fsync|fdatasync|fstat|ftruncate|fchmod)$/;

/** This machine ran out of open files or memory, or lacks a file of the program. No input is wrong. */
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
  readonly code: 'openFiles' | 'memory' | 'installation';
  readonly message: string;
  readonly hint: string;
}

const processLimit: Limit = {
  code: 'openFiles',
  message: 'Too many files are open: this process has reached its limit.',
  hint: 'Raise the limit (ulimit -n 4096), or work on fewer at once (--concurrency 1).',
};
const systemFilesLimit: Limit = {
  code: 'openFiles',
  message: 'Too many files are open: the whole system has reached its limit.',
  hint: 'Close other programs, or work on fewer at once (--concurrency 1).',
};
const memoryLimit: Limit = {
  code: 'memory',
  message: 'There is not enough memory for this.',
  hint: 'Split the input, work on fewer at once (--concurrency 1), or raise the limit (ulimit -v, NODE_OPTIONS=--max-old-space-size=4096).',
};

/** The HTTP parser is WebAssembly, for which Node reserves 10 GiB of address space by default. */
const addressLimit: Limit = {
  code: 'memory',
  message: 'The limit of virtual memory is too low to open a connection.',
  hint: 'Raise it (ulimit -v 16777216), or set NODE_OPTIONS=--disable-wasm-trap-handler.',
};

const installation: Limit = {
  code: 'installation',
  message: 'The files of rosterctl are incomplete, or were replaced while it was running.',
  hint: 'Run the same command again. If that does not help, install rosterctl again.',
};

const byCode: Readonly<Record<string, Limit>> = {
  EMFILE: processLimit,
  ENFILE: systemFilesLimit,
  ENOMEM: memoryLimit,
  ERR_MEMORY_ALLOCATION_FAILED: memoryLimit,
  ERR_STRING_TOO_LONG: memoryLimit,
  ERR_BUFFER_TOO_LARGE: memoryLimit,
  ERR_FS_FILE_TOO_LARGE: memoryLimit,
  MODULE_NOT_FOUND: installation,
};

/** Returns the limit behind an error of Node or of ours; undefined if there is none. */
export function systemLimit(error: unknown): SystemLimitError | undefined {
  if (error instanceof SystemLimitError) return error;
  if (!(error instanceof Error)) return undefined;
  if (error instanceof Failure) return limitBehind(error);
  const code = systemCode(error);
  const limit =
    (code === undefined ? undefined : byCode[code]) ??
    (isMemoryError(error) ? memoryLimit : undefined) ??
    (isAddressError(error) ? addressLimit : undefined) ??
    (isOfCutFile(error) ? installation : undefined);
  return limit && new SystemLimitError(limit, error);
}

/** For other kinds of failure the outcome matters more, because something may have been done. */
function limitBehind({ kind, message, cause }: Failure): SystemLimitError | undefined {
  if (!['input', 'output', 'config', 'network'].includes(kind)) return undefined;
  const limit = systemLimit(cause);
  if (!limit || kind === 'network') return limit;
  // The messages of the other kinds name the file and the system's reason.
  return new SystemLimitError({ ...limit.limit, message }, cause);
}

/** V8's own errors carry no code. */
function isMemoryError(error: Error): boolean {
  return (
    error instanceof RangeError &&
    /^(Invalid (array|string) length|Array buffer allocation failed)/.test(error.message)
  );
}

function isAddressError({ message }: Error): boolean {
  return /^WebAssembly\.\w+\(\): (Out of memory|could not allocate memory)/.test(message);
}

/** True for a file of the program that ends too early. */
function isOfCutFile(error: Error): boolean {
  return error instanceof SyntaxError && /^\S.*\.cjs:\d+\n/.test(error.stack ?? '');
}
