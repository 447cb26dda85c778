/** The place of an invocation's run, and the lock under which it works. */
import type { Context } from '../context.js';
import type { Operation } from '../engine/operation.js';
import { ConfigError, Failure, OutputError } from '../errors.js';
import type { HeldLock } from '../files/lock.js';
import { lockRecord, lockRun, recordWaitMs } from '../runs/lock.js';
import type { RunHead } from '../runs/plan.js';
import { openRunStore, type RunStore } from '../runs/store.js';
import type { BulkValues, Invocation } from './invocation.js';

/**
 * Opens the run store; undefined if no run can be kept and a single update or delete proceeds without
 * one. Throws ConfigError if a run is required.
 */
export function storeFor(
  context: Context,
  { operation, isSingle }: Pick<Invocation, 'operation' | 'isSingle'>,
): RunStore | undefined {
  try {
    return openRunStore(context.paths);
  } catch (error) {
    return withoutRun(context, { operation, isSingle }, error);
  }
}

/** Acquires the lock of the run, or of the single record; undefined if no run can be kept. */
export async function lockFor(
  context: Context,
  invocation: Pick<Invocation, 'operation' | 'isSingle' | 'values'>,
  store: RunStore,
  head: Omit<RunHead, 'rows'>,
  id: string,
): Promise<HeldLock | undefined> {
  try {
    return await (invocation.isSingle
      ? lockOne(context, invocation, store, head, id)
      : lockResource(context, invocation.values, store, head));
  } catch (error) {
    if (error instanceof OutputError) return withoutRun(context, invocation, error);
    throw error;
  }
}

/** Acquires the lock of one record, held from its read to its result. Throws GuardError `locked`. */
export function lockOne(
  context: Context,
  { values: { waitLock = recordWaitMs } }: Pick<Invocation, 'values'>,
  store: RunStore,
  head: Omit<RunHead, 'rows'>,
  id: string,
): Promise<HeldLock> {
  return lockRecord(store, { ...head, id }, lockOptions(context, head, waitLock));
}

/** Returns the lock of a single write: its record's id, or the input digest if there is no record yet. */
export function lockedId(operation: Operation, head: Pick<RunHead, 'input'>, id: string): string {
  return operation.createsRow || operation.recovery ? head.input : id;
}

/** Acquires the lock for a run's resource, which allows one bulk write at a time. Throws GuardError `locked`. */
export function lockResource(
  context: Context,
  { waitLock = 0 }: Pick<Partial<BulkValues>, 'waitLock'>,
  store: RunStore,
  head: Omit<RunHead, 'rows'>,
): Promise<HeldLock> {
  return lockRun(store, head, lockOptions(context, head, waitLock));
}

function lockOptions(
  context: Context,
  { run, startedAt }: Pick<RunHead, 'run' | 'startedAt'>,
  waitMs: number,
) {
  const { self, signal } = context;
  return { self, run, startedAt, waitMs, signal, note: (line: string) => context.note(line) };
}

function withoutRun(
  context: Context,
  { operation, isSingle }: Pick<Invocation, 'operation' | 'isSingle'>,
  error: unknown,
): undefined {
  if (!(error instanceof Failure)) throw error;
  if (!isSingle || operation.requiresRun)
    throw error instanceof ConfigError
      ? error
      : new ConfigError(error.message, { cause: error, hint: error.hint });
  context.note(`${error.message} This change cannot be undone later.`);
  return undefined;
}
