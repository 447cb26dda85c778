// Limits of the system and of this process: open files and memory that ran out while a command worked.
import { Failure } from '../errors.js';

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
