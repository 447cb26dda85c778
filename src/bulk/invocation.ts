/** One command line that changes records: what its run is called, what it locks, how fast it goes. */
import type { View } from '../cli/views.js';
import type { Context } from '../context.js';
import { digestOf } from '../data/digest.js';
import { ConfigError, Failure, OutputError } from '../errors.js';
import type { HeldLock } from '../files/lock.js';
import type { Guards } from './decide.js';
import type { BulkValues } from './flags.js';
import { lockRecord, lockRun, recordWaitMs } from './lock-run.js';
import type { JsonObject } from '../data/json.js';
import type { Operation, Source } from './operation.js';
import { placeOf, runFormat } from './run-plan.js';
import { newRunName, openRunStore, type RunHead, type RunPlan, type RunStore } from './runs.js';

/** A command line, parsed. */
export interface Invocation {
  readonly operation: Operation;
  /** ['tryouts', 'set-status'] */
  readonly words: readonly string[];
  readonly values: BulkValues;
  readonly source: Source;
  /** One thing typed on the command line: its lock is the record's own, and it waits for no other run. */
  readonly isSingle: boolean;
  /** How the outcome of one record is shown. */
  readonly view?: View<never> | undefined;
}

/** What is kept of a command line until its run is finished. */
export type KeptJob = {
  readonly job: JsonObject;
  readonly guards: Guards;
};

/** The job of a plan, as `planRun` put it there. */
export function jobOf({ job }: Pick<RunPlan, 'job'>): KeptJob {
  return job as KeptJob;
}

/** What a new run is called and belongs to; `input` is still to be filled in. */
export function headFor(
  context: Context,
  { operation, words, isSingle }: Pick<Invocation, 'operation' | 'words' | 'isSingle'>,
  { job: { route } }: Pick<KeptJob, 'job'>,
): Omit<RunHead, 'rows'> {
  const { addsEachTime, createsRow, of } = operation;
  return {
    format: runFormat,
    version: context.table.version,
    run: newRunName(context.now(), { single: isSingle }),
    action: words.join('.'),
    profile: context.settings.profile.name,
    ...placeOf(context),
    resource: operation.resource,
    input: '',
    startedAt: context.now().toISOString(),
    ...((addsEachTime || createsRow) && { addsEachTime: true }),
    ...(of !== undefined && { of }),
    ...(typeof route === 'string' && { route }),
  };
}

/** Stands for what is asked for, and where; the same command line has the same. */
export function inputDigest(
  { action, profile, service, organization }: Omit<RunHead, 'rows'>,
  operation: Operation,
  { job, guards }: KeptJob,
  ...wanted: readonly unknown[]
): string {
  const same = operation.identity?.(job) ?? job;
  return digestOf([action, profile, service, organization, { job: same, guards }, ...wanted]);
}

/** From here on all requests go as fast as the command line allows, and slow down together after a 429. */
export function limitRate(
  { api, settings }: Context,
  { rate }: Partial<Pick<BulkValues, 'rate'>>,
): void {
  api.limiter.limit({ rate: rate ?? settings.rate });
}

/**
 * The folder of runs; undefined where none can be kept and one update or delete goes on without.
 * Throws ConfigError where a run is needed.
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

/** Takes the lock of the run, or of the one record; undefined where no run can be kept. */
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
      : takeLock(context, invocation.values, store, head));
  } catch (error) {
    if (error instanceof OutputError) return withoutRun(context, invocation, error);
    throw error;
  }
}

/** The lock of one record, for the seconds from its read to its result. Throws GuardError `locked`. */
export function lockOne(
  context: Context,
  { values: { waitLock = recordWaitMs } }: Pick<Invocation, 'values'>,
  store: RunStore,
  head: Omit<RunHead, 'rows'>,
  id: string,
): Promise<HeldLock> {
  return lockRecord(store, { ...head, id }, lockOptions(context, head, waitLock));
}

/** What a single write locks: its record, or the command line where there is none to name. */
export function lockedId(operation: Operation, head: Pick<RunHead, 'input'>, id: string): string {
  return operation.createsRow || operation.recovery ? head.input : id;
}

/** The lock that a run's head names: one bulk write of a resource at a time. Throws GuardError `locked`. */
export function takeLock(
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
