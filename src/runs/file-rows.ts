/** Runs whose rows are local files: how interrupted ones are resumed, and how a plan file holds their rows. */
import type { Context } from '../context.js';
import type { RunHead } from './plan.js';
import type { SelectedRow } from './report.js';
import type { StoredRun } from './stored-run.js';

/** How interrupted runs of files are resumed; runs of records need none of it. */
export interface Recovery {
  /** True if the run, once ended, leaves something that only its journal knows of. */
  readonly hasLeftovers: (stored: StoredRun) => boolean;
  /** The rows of a run, ended or not, that can still be finished. */
  unfinishedRows(stored: StoredRun): readonly number[];
  /** The command that finishes an unfinished run, without the program's name. */
  finishCommand(run: Pick<RunHead, 'run'>): string;
  /** The subject of a row, since its id is only the text typed; undefined: no earlier run can have had the same. */
  readonly subjectOf: (row: SelectedRow) => string | undefined;
  /** Inspects the files of a retry's rows again. */
  inspectAgain(context: Context, rows: readonly SelectedRow[]): Promise<readonly SelectedRow[]>;
}

/** How rows of files go into a plan file, which another machine may apply. */
export interface PlanFileRows {
  /**
   * Adds to each row the hash of its file, and drops what only this machine knows. Throws UsageError for
   * a file that cannot be read again (stdin), InputError.
   */
  seal(context: Context, rows: readonly SelectedRow[]): Promise<readonly SelectedRow[]>;
  /**
   * Finds the files of sealed rows again. A row whose file is missing or has another content gets that as
   * its problem, so that its plan throws InputError.
   */
  unseal(context: Context, rows: readonly SelectedRow[]): Promise<readonly SelectedRow[]>;
}
