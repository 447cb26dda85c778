/** The output of a command: its value and view, its exit code, and what runs once it has been printed. */
import { Failure } from '../errors.js';
import type { ExitName } from '../exit-codes.js';
import type { Canvas, View } from './views.js';

/** One of several things that failed. */
export interface FailedItem {
  /** The record; undefined if the failure is not that of one record. */
  readonly id?: string;
  readonly error: Failure;
  /** True if no line about it was printed yet. */
  readonly isUnreported?: boolean;
}

/** How the value of a command was printed. */
export interface PrintedHow {
  /** A person has read it. */
  readonly isShown: boolean;
  /** The failed rows are recorded elsewhere (a run, a file), from which they can be retried. */
  readonly isKept?: boolean;
}

/** A command's value, its view, and the exit code once it has been printed. */
export interface CommandOutput {
  readonly value: unknown;
  readonly view: View<never>;
  /** Text printed before the value, whatever its format. */
  readonly head?: string | undefined;
  readonly exitName: ExitName;
  /** In a dry run, the id of the record that is already there instead of the one to make. */
  readonly existingId?: unknown;
  /** True if nothing was changed, although the command could have. */
  readonly onlyReads?: boolean | undefined;
  /** True for a page to read, although the command may change something: it may go through the pager. */
  readonly isPage?: boolean;
  /** Prints what follows the value, or replaces it if it could not be printed. */
  readonly printAfter?: (how: PrintedHow) => void;
  /** Called once the value has been printed; records that on disk. */
  readonly onWritten?: (() => Promise<void>) | undefined;
  /** Called last, even if the value could not be printed or recorded. */
  readonly release?: (() => Promise<void> | void) | undefined;
  /** Returns the error for a value whose reader closed the pipe; if absent, a closed pipe is not a failure. */
  readonly ifPipeCloses?: ((cause: Error) => Failure) | undefined;
  /** The first of several failures; each was printed on its own line. */
  readonly failed?: FailedItem | undefined;
  /** True for a report of changes: unlike for a list, failing to print it is an error. */
  readonly isReport?: boolean;
  /** The run on disk that holds the report. */
  readonly keptIn?: string | undefined;
  /** Runs after the value has been printed, until a signal ends it normally. */
  readonly keepRunning?: () => Promise<void>;
}

/**
 * A value with more to say than the view of its command: an exit code or a rendering of its own, or
 * what runs once it has been printed.
 */
export class ValueWithExit<T> {
  constructor(
    readonly value: T,
    /** A function if the code is known only once the value has been printed. */
    private readonly exit: ExitName | (() => ExitName),
    readonly more: Partial<Omit<CommandOutput, 'failed'>> & {
      /** Returns the first of several failures, once the value has been printed. */
      readonly failed?: () => FailedItem | undefined;
      /** Renders the value for a person, instead of the view's `lines`. */
      readonly lines?: (canvas: Canvas) => readonly string[];
    } = {},
  ) {}

  get exitName(): ExitName {
    return typeof this.exit === 'function' ? this.exit() : this.exit;
  }
}

/**
 * Does what can be done of several things, one after the other, and prints the failure of each other one.
 * Returns the results, and the first failure.
 */
export async function attemptEach<T, R>(
  { message }: { readonly message: (line: string) => void },
  items: readonly T[],
  act: (item: T) => Promise<R>,
): Promise<{ readonly done: readonly R[]; readonly error: Failure | undefined }> {
  const done: R[] = [];
  let error: Failure | undefined;
  for (const item of items)
    try {
      done.push(await act(item));
    } catch (caught) {
      if (!(caught instanceof Failure)) throw caught;
      error ??= caught;
      message(caught.message);
    }
  return { done, error };
}

/** Returns the output of a command that returned this value; exit code and failure are read late. */
export function outputOf(result: unknown, view: View<never>): CommandOutput {
  if (!(result instanceof ValueWithExit)) return { value: result, view, exitName: 'done' };
  const { lines, failed, view: own = view, ...more } = result.more;
  return {
    ...more,
    value: result.value,
    view: lines ? { ...own, lines: (_, canvas) => lines(canvas) } : own,
    get exitName() {
      return result.exitName;
    },
    get failed() {
      return failed?.();
    },
  };
}
