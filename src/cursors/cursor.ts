/** One use of a cursor, under its lock: what of any list of entries with ids is new since its name last succeeded. */
import { join } from 'node:path';
import { ValueWithExit } from '../cli/command-output.js';
import { type TypedLine, typedFlags } from '../cli/typed-line.js';
import type { Context, LocalContext } from '../context.js';
import { recordDigest } from '../data/digest.js';
import { nameKey } from '../data/file-names.js';
import { fileSystemError } from '../data/system-errors.js';
import { plural, shellQuote } from '../data/text.js';
import { GuardError, OutputError, UsageError } from '../errors.js';
import { acquireLock, type HeldLock, LockedError, processOf } from '../files/lock.js';
import {
  type CursorKey,
  type CursorState,
  cursorFolder,
  cursorPlace,
  ensureCursorFolder,
  readCursor,
  writeCursor,
} from './cursor-file.js';

interface CursorUse extends CursorKey {
  /** The filter as typed; another one than that of the first use is refused. */
  readonly filter: string;
  /** The field whose changes count, as typed. */
  readonly changed?: string | undefined;
  /** Prints everything at the first use instead of nothing. */
  readonly initial?: 'all' | undefined;
  /** Keeps what was printed as pending, for `cursors commit`. */
  readonly peek: boolean;
  /** The word for one entry, and for several. */
  readonly noun: string;
  readonly plural: string;
}

/** An entry of a list that matches the filter. */
interface CursorEntry {
  readonly id: string;
  /** The value of the watched field, if one is. */
  readonly watched?: unknown;
  /** When it was made, in milliseconds; read only at the first use after `cursors reset --at`. */
  readonly time?: (() => number | undefined) | undefined;
}

type CursorContext = Pick<
  Context,
  'settings' | 'paths' | 'signal' | 'now' | 'message' | 'expectSignal'
>;

/**
 * Opens a cursor for one use, before the first request: locks it until `close`, so that two commands
 * never print the same entries, and reads its state. Throws UsageError for another filter or field than
 * at its first use and for a filter that holds the key, GuardError (11) if it is in use (`locked`) or its file is damaged, ConfigError or
 * OutputError if the state cannot be kept.
 */
export async function openCursor(
  context: CursorContext & Pick<Context, 'api' | 'self'>,
  use: CursorUse,
): Promise<Cursor> {
  const { api, paths, settings } = context;
  if (api.isKey(use.filter))
    throw new UsageError('The filter holds the API key, and a cursor keeps its filter on disk.');
  const place = cursorPlace(api.service, api.organizationId);
  // A dry run leaves nothing behind.
  const folder = settings.dryRun ? cursorFolder(paths, place) : ensureCursorFolder(paths, place);
  const lock = settings.dryRun ? undefined : await lockCursor(folder ?? '', use, context);
  try {
    const state = folder === undefined ? undefined : readCursor(folder, use, paths.owner);
    if (state) checkUse(state, use);
    return new Cursor(context, use, state, { folder: folder ?? '', lock });
  } catch (error) {
    lock?.release();
    throw error;
  }
}

/** Flags that say how a cursor is used, or how much is printed, but not which entries are meant. */
const notFilters: ReadonlySet<string> = new Set([
  ...['sinceLast', 'changed', 'peek', 'initial', 'exitCode'],
  ...['limit', 'sort'],
]);

/**
 * Returns the filter flags of a line in one form, whatever their order: `--status pending --status
 * reviewing --where 'role~igl'`; an empty text without any.
 */
export function typedFilter(line: TypedLine): string {
  return typedFlags(
    line,
    (name) => !notFilters.has(name),
    (values) => [...new Set(values)].toSorted(),
  ).join(' ');
}

/** Throws UsageError if the cursor was first used with another filter or another watched field. */
function checkUse(state: CursorState, { name, filter, changed }: CursorUse): void {
  if (state.filter === undefined) return;
  if (state.filter === filter && state.changed === changed) return;
  throw new UsageError(
    `The cursor ${name} was first used with ${filterInWords(state.filter, state.changed)}, but this command has ${filterInWords(filter, changed)}.`,
    { hint: `Use another name, or start over: rosterctl cursors reset ${state.resource}/${name}` },
  );
}

function filterInWords(filter: string, changed: string | undefined): string {
  const words = [filter, ...(changed === undefined ? [] : [`--changed ${shellQuote(changed)}`])];
  return words.join(' ').trim() || 'no filter';
}

/** A cursor in use. */
export class Cursor {
  /** The entries that match, with the hash of what is watched. */
  private readonly matches = new Map<string, string>();
  /** The entries that were printed before this use. */
  private readonly known: Map<string, string>;
  /** True if this name was never used, or was reset. */
  readonly isFirst: boolean;
  private next: CursorState | undefined;
  private printed = 0;

  constructor(
    private readonly context: CursorContext,
    private readonly use: CursorUse,
    private readonly state: CursorState | undefined,
    private readonly at: { readonly folder: string; readonly lock: HeldLock | undefined },
  ) {
    this.known = new Map(state?.seen);
    this.isFirst = state?.filter === undefined;
  }

  /**
   * Takes note of an entry that matches the filter and returns true if it is new: not seen by this name
   * yet, or seen with another watched value.
   */
  isNew(entry: CursorEntry): boolean {
    const { id } = entry;
    const hash = this.use.changed === undefined ? '' : recordDigest(entry.watched).slice(0, 16);
    this.matches.set(id, hash);
    if (!this.isFirst) return this.known.get(id) !== hash;
    const isPrinted = this.isPrintedFirst(entry);
    if (!isPrinted) this.known.set(id, hash);
    return isPrinted;
  }

  /** After `cursors reset --at`, what is not older; what has no time is printed rather than lost. */
  private isPrintedFirst({ time }: CursorEntry): boolean {
    const since = this.state?.since;
    return since === undefined ? this.use.initial === 'all' : (time?.() ?? Infinity) >= since;
  }

  /**
   * Sets what `commit` records, once the list was read to its end: these new entries are printed, and
   * what the complete list no longer holds is forgotten.
   */
  stage(printed: readonly string[], isListed: (id: string) => boolean): void {
    const { name, resource, filter, changed, peek } = this.use;
    const entries = new Map(printed.map((id) => [id, this.matches.get(id) ?? '']));
    this.printed = entries.size;
    // With a watched field, an entry that left the filter is new when it comes back.
    const stays = (id: string) => isListed(id) && (changed === undefined || this.matches.has(id));
    const seen = new Map([...this.known].filter(([id]) => stays(id)));
    if (!peek) for (const [id, hash] of entries) seen.set(id, hash);
    this.next = {
      name,
      resource,
      filter,
      changed,
      seen,
      since: undefined,
      lastAt: peek ? this.state?.lastAt : this.context.now().toISOString(),
      pending: peek ? entries : undefined,
    };
  }

  /**
   * Chooses the new ones of a whole list of entries and stages them. `isListed`: true for an id that
   * is not among them and not gone either.
   */
  choose<T extends CursorEntry>(
    entries: readonly T[],
    isListed: (id: string) => boolean,
  ): readonly T[] {
    const chosen = entries.filter((entry) => this.isNew(entry));
    this.stage(
      chosen.map(({ id }) => id),
      (id) => this.matches.has(id) || isListed(id),
    );
    return chosen;
  }

  /**
   * The output of a command that prints what is new: exit code 12 for new entries with `exitCode`. The
   * cursor is committed once everything was written, and closed in any case.
   */
  output<T>(value: T, { exitCode }: { readonly exitCode: boolean }): ValueWithExit<T> {
    return new ValueWithExit(value, exitCode && this.printed > 0 ? 'changesPending' : 'done', {
      onWritten: () => this.commit(),
      release: () => this.close(),
      ifPipeCloses: (cause) =>
        new OutputError('The new rows could not be written: the pipe was closed.', {
          cause,
          hint: 'Nothing was recorded: the next run prints them again.',
        }),
    });
  }

  /**
   * Records what was printed. Does nothing after a signal, and from here a signal no longer changes the
   * exit code. Throws OutputError if the state cannot be written, GuardError if another process took the
   * cursor over while this one was stopped: the entries come again.
   */
  async commit(): Promise<void> {
    const { next, context, at } = this;
    if (!next || context.signal.aborted) return;
    if (at.lock) await this.save(next, at.lock);
    if (this.isFirst) this.reportFirstUse();
  }

  private async save(next: CursorState, lock: HeldLock): Promise<void> {
    const { context, at, use } = this;
    context.expectSignal();
    try {
      if (!lock.isOurs())
        throw new GuardError(`Another command took over the cursor ${use.name} in the meantime.`, {
          code: 'locked',
          hint: 'Nothing was recorded: the next run prints the same rows again.',
        });
      await writeCursor(at.folder, next, context.paths.owner);
    } catch (error) {
      const cause = fileSystemError(error) ?? error;
      if (!(cause instanceof OutputError)) throw error;
      throw new OutputError(`The cursor ${use.name} could not be saved. ${cause.message}`, {
        cause: error,
        hint: 'The next run prints the same rows again. Make room, or set ROSTERCTL_STATE_DIR.',
      });
    }
  }

  /** Printed with --quiet too: a state folder that was lost must be noticed. */
  private reportFirstUse(): void {
    const { name, noun, plural: many } = this.use;
    if (this.state?.since !== undefined) return;
    const printed = this.printed > 0 ? plural(this.printed, noun, many) : 'none';
    const known = plural(this.known.size, noun, many);
    const rest = this.at.lock
      ? `${known} recorded, none printed. From now on, it prints what is new.`
      : `${known} would be recorded, none printed.`;
    this.context.message(
      `First use of the cursor ${name}: ${this.use.initial === 'all' ? `${printed} printed.` : rest}`,
    );
  }

  /** Lets the next command use the cursor. May be called twice. */
  close(): void {
    this.at.lock?.release();
  }
}

/**
 * Acquires the lock of a cursor, from before its state is read until it is recorded. Throws GuardError
 * (`locked`, 11) at once if another command holds it, OutputError if it cannot be written. The lock of a
 * killed process does not count.
 */
export async function lockCursor(
  folder: string,
  { name, resource }: CursorKey,
  { self, signal }: Pick<LocalContext, 'self' | 'signal'>,
): Promise<HeldLock> {
  const dir = join(folder, 'locks');
  // On a file system that ignores case, a lock of another case exists without being listed by this name.
  const lockName = nameKey(`${resource}.${name}`);
  try {
    return await acquireLock(dir, lockName, { self, signal, waitMs: 0 });
  } catch (error) {
    const cause = fileSystemError(error);
    if (cause instanceof OutputError)
      throw new OutputError(`The cursor ${name} cannot be locked. ${cause.message}`, {
        cause: error,
        hint: 'Make room, or set ROSTERCTL_STATE_DIR to a folder that you can write to.',
      });
    if (!(error instanceof LockedError)) throw error;
    throw error.inWords(
      `Another command is using the cursor ${name} (${processOf(error.holder)}).`,
      'Wait for it, then run the same command again.',
    );
  }
}
