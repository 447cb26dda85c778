/** The lock of a cursor: one command uses it at a time. */
import { join } from 'node:path';
import type { LocalContext } from '../context.js';
import { systemReason } from '../data/system-errors.js';
import { GuardError, OutputError } from '../errors.js';
import { acquireLock, type HeldLock, lockHolder, removalHint } from '../files/lock.js';
import type { CursorKey } from './cursor-file.js';

/**
 * Acquires the lock of a cursor, from before its state is read until it is recorded. Throws GuardError
 * (`locked`, 11) at once if another command holds it, OutputError if the lock cannot be written. The
 * lock of a killed process does not count.
 */
export async function lockCursor(
  folder: string,
  { name, resource }: CursorKey,
  { self, signal }: Pick<LocalContext, 'self' | 'signal'>,
): Promise<HeldLock> {
  const dir = join(folder, 'locks');
  const lockName = `${resource}.${name}`;
  try {
    return await acquireLock(dir, lockName, { self, signal, waitMs: 0 });
  } catch (error) {
    if (error instanceof Error && 'syscall' in error)
      throw new OutputError(`A lock cannot be written in ${dir}: ${systemReason(error)}.`, {
        cause: error,
        hint: 'Make room, or set ROSTERCTL_STATE_DIR to a folder that can be written.',
      });
    if (!(error instanceof GuardError)) throw error;
    const holder = lockHolder(dir, lockName, self);
    const who = holder && ` (process ${holder.pid} on host ${holder.host})`;
    throw new GuardError(`Another command is using the cursor ${name}${who ?? ''}.`, {
      code: 'locked',
      cause: error,
      hint: [
        'Wait for it, then run the same command again.',
        ...(holder ? removalHint(dir, lockName, holder, self) : []),
      ].join(' '),
    });
  }
}
