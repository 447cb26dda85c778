/** The place of an invocation's run, and the lock under which it works. */
import type { Context } from '../context.js';
import { ConfigError, Failure, OutputError } from '../errors.js';
import type { HeldLock } from '../files/lock.js';
import { lockRecord, lockRun, recordWaitMs } from '../runs/lock.js';
import type { RunHead } from '../runs/plan.js';
import { openRunStore, type RunStore } from '../runs/store.js';
import type { Invocation } from './invocation.js';

type Head = Omit<RunHead, 'rows'>;

/**
 * Opens the run store; undefined if no run can be kept and a single update or delete proceeds without
 * one. Throws ConfigError if a run is required.
 */
export function storeFor(context: Context, invocation: Invocation): RunStore | undefined {
  try {
    return openRunStore(context.paths);
  } catch (error) {
    return withoutRun(context, invocation, error);
  }
}

/** Acquires the lock as `lockFor` does; undefined if no run can be kept. */
export async function lockIfKept(
  context: Context,
  invocation: Invocation,
  store: RunStore,
  head: Head,
  id: string,
): Promise<HeldLock | undefined> {
  try {
    return await lockFor(context, invocation, store, head, id);
  } catch (error) {
    if (error instanceof OutputError) return withoutRun(context, invocation, error);
    throw error;
  }
}

/**
 * Acquires the lock of an invocation: for a single write that of its record, or of its input if there
 * is no record yet; for others that of the resource, which allows one bulk write at a time. Throws
 * GuardError `locked`.
 */
export function lockFor(
  context: Context,
  { operation, values, isSingle }: Invocation,
  store: RunStore,
  head: Head,
  id: string,
): Promise<HeldLock> {
  const { createsRow, recovery } = operation;
  if (isSingle)
    return lockOne(context, values, store, head, createsRow || recovery ? head.input : id);
  return lockRun(store, head, lockOptions(context, head, values.waitLock ?? 0));
}

/** Acquires the lock of one record, held from its read to its result. Throws GuardError `locked`. */
export function lockOne(
  context: Context,
  { waitLock = recordWaitMs }: Pick<Invocation['values'], 'waitLock'>,
  store: RunStore,
  head: Head,
  id: string,
): Promise<HeldLock> {
  return lockRecord(store, { ...head, id }, lockOptions(context, head, waitLock));
}

function lockOptions(context: Context, { run, startedAt }: Head, waitMs: number) {
  const { self, signal } = context;
  return { self, run, startedAt, waitMs, signal, note: (line: string) => context.note(line) };
}

function withoutRun(
  context: Context,
  { operation, isSingle }: Invocation,
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
