/** The dry run of downloads: the requests that would be sent, the files written, and the documents that are missing. */

import { callFor } from '../api/resources.js';
import { ValueWithExit } from '../cli/command-output.js';
import type { DryRun } from '../cli/define.js';
import type { Context } from '../context.js';
import { plural } from '../data/text.js';
import type { DownloadCall } from './fetch.js';
import { type SaveOptions, skipsTarget } from './target-file.js';
import type { NamedDocument, Target } from './target-names.js';

/** The documents of a download, and where each is saved. */
export interface PlannedDownloads {
  readonly documents: readonly NamedDocument[];
  readonly targets: readonly Target[];
  readonly save: SaveOptions;
  /** Exactly one document was named on the command line. */
  readonly isOne: boolean;
}

/**
 * Returns what a download would do. Documents that do not exist are reported on stderr and decide the
 * exit code, as in the download itself; one that was named alone throws NotFoundError.
 */
export function planDownloads(
  context: Context,
  call: DownloadCall,
  { documents, targets, save, isOne }: PlannedDownloads,
): DryRun | ValueWithExit<DryRun> {
  const missing = documents.flatMap(({ id, missing: error }) => (error ? [{ id, error }] : []));
  const [first] = missing;
  if (isOne && first) throw first.error;
  for (const { error } of missing) context.message(error.message);
  const missingIds = new Set(missing.map(({ id }) => id));
  const there = targets.filter(({ id }) => !missingIds.has(id));
  const planned = there.filter(
    ({ path, replaces }) =>
      path === undefined || path === '-' || replaces || !skipsTarget(path, save),
  );
  const skipped = there.length - planned.length;
  if (skipped > 0) context.note(`${plural(skipped, 'file')} would be left as they are.`);
  const plan: DryRun = {
    schema: 1,
    dryRun: true,
    requests: planned.map(({ id }) => context.api.describe(callFor('documents', call, id))),
    changes: planned.flatMap(({ id, path = '(named by the store)' }) =>
      path === '-' ? [] : { id, field: 'file', from: null, to: path },
    ),
  };
  return first ? new ValueWithExit(plan, first.error.exitName, { failed: () => first }) : plan;
}
