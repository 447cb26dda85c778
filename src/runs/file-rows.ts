/** Runs whose rows are local files: how interrupted ones are resumed, and how a plan file holds their rows. */
import type { Context } from '../context.js';
import type { RunHead } from './plan.js';
import type { SelectedRow } from './report.js';

/** The hooks that only operations on files need. */
export interface FileRows {
  /** The command that finishes an unfinished run, without the program's name. */
  finishCommand(run: Pick<RunHead, 'run'>): string;
  /** The subject of a row, since its id is only the text typed; undefined: no earlier run can have had the same. */
  readonly subjectOf: (row: SelectedRow) => string | undefined;
  /** Inspects the files of a retry's rows again. */
  inspectAgain(context: Context, rows: readonly SelectedRow[]): Promise<readonly SelectedRow[]>;
  /**
   * Adds to each row of a plan file the hash of its file, and drops what only this machine knows. Throws
   * UsageError for a file that cannot be read again (stdin), InputError.
   */
  seal(context: Context, rows: readonly SelectedRow[]): Promise<readonly SelectedRow[]>;
  /**
   * Finds the files of sealed rows again, perhaps on another machine. A row whose file is missing or has
   * another content gets that as its problem, so that its plan throws InputError.
   */
  unseal(context: Context, rows: readonly SelectedRow[]): Promise<readonly SelectedRow[]>;
}
