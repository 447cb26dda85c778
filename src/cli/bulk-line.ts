import { lockRun } from '../bulk/lock-run.js';
import { placeOf } from '../bulk/run-plan.js';
import { newRunName, openRunStore, type RunHead, type RunStore } from '../bulk/runs.js';
import type { Context } from '../context.js';
import type { SelectedRow } from '../bulk/work.js';
import { digestOf } from '../data/digest.js';
import type { HeldLock } from '../files/lock.js';
import type { BulkValues } from './bulk-flags.js';
import type { BulkPart, Source } from './bulk-part.js';
import type { EndedRun, KeptJob, ReadyRun } from './bulk-run.js';

/** A command line that changes many things. */
export interface BulkLine {
  readonly part: BulkPart;
  readonly words: readonly string[];
  readonly values: BulkValues;
  readonly source: Source;
}

/** What a run begins with, once its lock is held. */
export interface Beginning {
  readonly store: RunStore;
  readonly head: Omit<RunHead, 'rows'>;
  readonly lock: HeldLock;
  readonly kept: KeptJob;
  readonly input: {
    readonly header: readonly string[];
    readonly rows: readonly SelectedRow[] | undefined;
  };
  /** One row is asked about as well: an earlier run chose it, not this command line. */
  readonly asksForOne?: boolean;
}

/** A run about to send, or the report where nothing is to be sent. */
export type Prepared = { readonly ready: ReadyRun } | EndedRun;

/** What a new run is called and belongs to; `input` is still to be filled in. */
export function headFor(
  context: Context,
  { part, words }: Pick<BulkLine, 'part' | 'words'>,
): Omit<RunHead, 'rows'> {
  return {
    run: newRunName(context.now()),
    action: words.join('.'),
    profile: context.settings.profile.name,
    ...placeOf(context),
    resource: part.resource,
    input: '',
    startedAt: context.now().toISOString(),
  };
}

/** From here on all requests go as fast as the line allows, and slow down together after a 429. */
export function limitPace(
  { api, settings }: Context,
  { rate }: Partial<Pick<BulkValues, 'rate'>>,
): void {
  api.limiter.limit({ rate: rate ?? settings.rate });
}

/** The lock that a run's head names. Throws GuardError `locked`. */
export function takeLock(
  context: Context,
  { waitLock = 0 }: Pick<Partial<BulkValues>, 'waitLock'>,
  store: RunStore,
  head: Omit<RunHead, 'rows'>,
): Promise<HeldLock> {
  return lockRun(store, head, {
    self: context.self,
    run: head.run,
    startedAt: head.startedAt,
    waitMs: waitLock,
    signal: context.signal,
    note: (line) => context.note(line),
  });
}

type Locked<T> = (store: RunStore, head: Omit<RunHead, 'rows'>, lock: HeldLock) => Promise<T>;

/** Takes the lock for as long as the action needs it; the action lets go when it is through. */
export async function withLock<T>(
  context: Context,
  { part, words, values }: Omit<BulkLine, 'source'>,
  action: Locked<T>,
): Promise<T> {
  const store = openRunStore(context.paths);
  const head = headFor(context, { part, words });
  const lock = await takeLock(context, values, store, head);
  try {
    return await action(store, head, lock);
  } catch (error) {
    lock.release();
    throw error;
  }
}

/** Stands for what is asked for, and where; the same line has the same. */
export function inputOf(
  { action, service, organization }: Omit<RunHead, 'rows'>,
  ...wanted: readonly unknown[]
): string {
  return digestOf([action, service, organization, ...wanted]);
}
