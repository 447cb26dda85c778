/** The queue of a review: a private file of decisions that were not sent yet, one for each organization at a service. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type Paths, requireFolder } from '../config/paths.js';
import { digestOf } from '../data/digest.js';
import type { JsonObject } from '../data/json.js';
import { Failure, GuardError } from '../errors.js';
import type { ThisProcess } from '../files/holder.js';
import { acquireLock, type HeldLock, LockedError, processOf } from '../files/lock.js';
import { ensurePrivateFolders, listStateFolder, tightenPrivateFile } from '../files/private.js';
import { openSyncedLines, parseLines, readBytes, type SyncedLines } from '../files/synced-lines.js';
import type { WorkPlace } from '../runs/unfinished.js';

/** A decision about an application: a new status, a line for its notes, or both. */
export interface Decision {
  readonly status?: string | undefined;
  readonly note?: { readonly text: string; readonly day: string } | undefined;
}

/** A decision with the name and the status that the person saw on the card. */
export interface Queued {
  readonly name: string;
  readonly seen: unknown;
  readonly decision: Decision;
}

/** The state that `undo` returns to: the application's earlier decision, if it had one. */
interface Earlier {
  readonly id: string;
  readonly before: Queued | undefined;
}

/** The decisions by id, in the order of the file, and their history, oldest first. */
export interface Decisions {
  readonly queued: ReadonlyMap<string, Queued>;
  readonly history: readonly Earlier[];
}

/** A change of the queue: a decision, one taken back, or an application that left the queue. */
export type QueueEntry =
  | {
      readonly kind: 'decision' | 'undo';
      readonly id: string;
      /** Undefined: nothing is decided about it any more. */
      readonly queued: Queued | undefined;
    }
  | { readonly kind: 'left'; readonly id: string };

/** Returns the decisions after one more entry. */
export function withEntry({ queued, history }: Decisions, entry: QueueEntry): Decisions {
  const { id } = entry;
  const next = new Map(queued);
  if (entry.kind === 'left') {
    next.delete(id);
    return { queued: next, history: history.filter((each) => each.id !== id) };
  }
  if (entry.queued) next.set(id, entry.queued);
  else next.delete(id);
  if (entry.kind === 'undo') return { queued: next, history: history.slice(0, -1) };
  return { queued: next, history: [...history, { id, before: queued.get(id) }] };
}

/** The service and organization of a queue, and the profile that began it. */
interface QueueHead {
  readonly service: string;
  readonly organization: string;
  readonly profile: string;
}

/** A queue that this process holds. */
export interface ReviewQueue {
  /** True if there was no file. */
  readonly isNew: boolean;
  /** Returns the decisions that are on disk. */
  present(): Decisions;
  /** Resolves once the entry is on disk. Throws OutputError. */
  append(entry: QueueEntry): Promise<void>;
  /** Deletes the file. */
  discard(): Promise<void>;
  /** Lets another review begin; a queue without a decision leaves no file. */
  close(): Promise<void>;
}

const none: Decisions = { queued: new Map(), history: [] };
const format = 1;
const suffix = '.jsonl';

/**
 * Opens the queue of an organization at a service. `discards`: it is about to be deleted, so that what
 * it holds need not be readable. Throws GuardError if another review is open, or if the file is damaged
 * or of another version; ConfigError or OutputError if it cannot be written.
 */
export async function openQueue(
  paths: Paths,
  head: QueueHead,
  { self, discards = false }: { readonly self: ThisProcess; readonly discards?: boolean },
): Promise<ReviewQueue> {
  const state = requireFolder(paths, 'state');
  const { owner } = paths;
  const folder = join(state.path, 'reviews');
  ensurePrivateFolders(state, [folder], owner);
  const name = digestOf([head.service, head.organization]).slice(0, 16);
  const path = join(folder, `${name}${suffix}`);
  const lock = await lockReview(folder, name, self);
  try {
    tightenPrivateFile(path, owner);
    const found = await readQueue(path).catch((error: unknown): FoundQueue => {
      if (!discards || !(error instanceof GuardError)) throw error;
      return { decisions: none, bytes: 0, isNew: false };
    });
    return openQueueFile(path, lock, head, found);
  } catch (error) {
    lock.release();
    throw error;
  }
}

/**
 * Returns the queues with a decision in a state folder, and how many each holds. A file that cannot be read
 * counts as none; `onUnread` receives why.
 */
export async function unsentReviews(
  statePath: string,
  onUnread: (reason: string) => void = () => {},
): Promise<readonly (QueueHead & { readonly count: number })[]> {
  const onFailure = (error: unknown) => {
    if (error instanceof Failure) onUnread(error.message);
  };
  const folder = join(statePath, 'reviews');
  const files = queueFiles(folder, onFailure);
  const all = await Promise.all(
    files.map(async (file) => {
      try {
        const { head, decisions } = await readQueue(join(folder, file));
        return head && { ...head, count: decisions.queued.size };
      } catch (error) {
        onFailure(error);
        return undefined;
      }
    }),
  );
  return all.filter((each) => each !== undefined).filter(({ count }) => count > 0);
}

function queueFiles(folder: string, onUnread: (error: unknown) => void): readonly string[] {
  try {
    return listStateFolder(folder, 'reviews').filter((file) => file.endsWith(suffix));
  } catch (error) {
    onUnread(error);
    return [];
  }
}

/** Returns how many decisions of a profile's reviews were not sent. */
export async function unsentDecisions(
  statePath: string,
  { name, organization, service }: Omit<WorkPlace, 'profiles'>,
  onUnread?: (reason: string) => void,
): Promise<number> {
  const all = await unsentReviews(statePath, onUnread);
  return all
    .filter((each) => each.organization === organization)
    .filter((each) => each.service === service || each.profile === name)
    .reduce((sum, { count }) => sum + count, 0);
}

/** Returns the line and the command for decisions that were not sent; none if there are none. */
export function describeUnsent(count: number) {
  if (count === 0) return [];
  const text = `review: ${count} ${count === 1 ? 'decision' : 'decisions'} not sent`;
  return [{ text, command: 'rosterctl tryouts review' }];
}

interface FoundQueue {
  readonly head?: QueueHead | undefined;
  readonly decisions: Decisions;
  /** The size of its complete lines. */
  readonly bytes: number;
  readonly isNew: boolean;
}

async function readQueue(path: string): Promise<FoundQueue> {
  const what = `The unsent review ${path}`;
  const hint = 'Look at the file, or discard it: rosterctl tryouts review --discard';
  const found = parseLines(
    await readBytes(path),
    what,
    (line) => (line['kind'] === 'review' || typeof line['id'] === 'string' ? line : undefined),
    hint,
  );
  const [first, ...rest] = found.lines;
  if (!first) return { decisions: none, bytes: 0, isNew: true };
  if (first['kind'] !== 'review' || first['format'] !== format)
    throw new GuardError(`${what} was written by another version.`, { code: 'format', hint });
  return {
    head: first as JsonObject & QueueHead,
    decisions: rest.reduce(
      (decisions, line) => withEntry(decisions, line as JsonObject & QueueEntry),
      none,
    ),
    bytes: found.bytes,
    isNew: false,
  };
}

function openQueueFile(
  path: string,
  lock: HeldLock,
  head: QueueHead,
  { head: known, decisions, bytes, isNew }: FoundQueue,
): ReviewQueue {
  let file: Promise<SyncedLines> | undefined;
  let present = decisions;
  let hasHead = !isNew;
  const write = async (values: readonly object[]) => {
    file ??= openSyncedLines(path, {
      what: 'The unsent review',
      bytes,
      isOurs: () => lock.isOurs(),
    });
    const lines = await file;
    await Promise.all(values.map((value) => lines.append(value)));
  };
  const remove = () => rm(path, { force: true });
  return {
    isNew,
    present: () => present,
    async append(entry) {
      const first = hasHead ? [] : [{ kind: 'review', format, ...head }];
      hasHead = true;
      await write([...first, entry]);
      present = withEntry(present, entry);
    },
    async discard() {
      present = none;
      await remove();
    },
    async close() {
      await (await file?.catch(() => undefined))?.close();
      // A queue that could not be read may hold decisions.
      const isEmpty = (isNew || known !== undefined) && present.queued.size === 0;
      // An empty file that stays is none.
      if (isEmpty && lock.isOurs()) await remove().catch(() => {});
      lock.release();
    },
  };
}

async function lockReview(folder: string, name: string, self: ThisProcess): Promise<HeldLock> {
  const options = { self, waitMs: 0, purpose: 'a review' };
  return acquireLock(folder, name, options).catch((error: unknown) => {
    if (!(error instanceof LockedError)) throw error;
    throw error.inWords(
      `Another review of this organization is open (${processOf(error.holder)}).`,
      'Finish it there, or leave it with q: its decisions are kept.',
    );
  });
}
