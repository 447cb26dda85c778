import type { Failure } from '../errors.js';
import type { Entry } from './journal.js';
import type { ReportRow } from './report.js';
import type { Intent } from './run-state.js';
import type { RowWork, SelectedRow } from './work.js';

/** A row that is still to be done. */
export interface Task extends SelectedRow {
  /** A write of an earlier process whose outcome nobody knows. */
  readonly open?: Intent | undefined;
}

/** A write whose outcome reading has to settle. */
export interface Doubt extends Intent {
  readonly task: Task;
  /** When the write was written down. */
  readonly since: number;
  readonly error: Failure | undefined;
}

export interface RunOptions<P> {
  readonly work: RowWork<P>;
  /** Resolves when the entry is on disk. */
  readonly journal: { append(entry: Entry): Promise<void> };
  readonly concurrency: number;
  /** After how long a write that was lost counts as never applied, in milliseconds. */
  readonly settleMs: number;
  readonly maxErrors: number | undefined;
  /** Whether nothing was heard of the service for so long that it counts as dead. */
  readonly isSilent: () => boolean;
  readonly now: () => Date;
  /** Resolves after the time, or early when the signal fires. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly signal: AbortSignal;
  onResult(row: ReportRow): void;
  /** Nothing more is to be sent but what settles. */
  onStop?(): void;
}

const manyAtOnce = 8;
/** As many cover the time of a sync also where the disk or the machine is busy; more gain nothing. */
const onTheWayToDisk = 112;

/**
 * While a record of a row goes to disk the row asks nothing; where many requests at once are wanted,
 * more rows keep the connections busy and share the syncs. Who wants few wants little begun when
 * something goes wrong, and a file on its way is one of those wanted.
 */
export function rowsAtOnce({
  concurrency,
  work,
}: Pick<RunOptions<never>, 'concurrency'> & { readonly work: { readonly prepare?: unknown } }) {
  return concurrency < manyAtOnce || work.prepare ? concurrency : concurrency + onTheWayToDisk;
}
