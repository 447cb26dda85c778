import type { StoredRun } from '../../bulk/runs.js';
import type { BulkPart } from '../../cli/bulk-part.js';
import type { BulkValues } from '../../cli/bulk-flags.js';
import type { Command } from '../../cli/define.js';
import { UsageError } from '../../errors.js';

/** The commands whose runs can go on, by the action that a run names. */
const jobs: Readonly<Record<string, () => Promise<{ readonly default: Command }>>> = {
  'tryouts.set-status': () => import('../tryouts/set-status.js'),
  'tryouts.update': () => import('../tryouts/update.js'),
  'tryouts.convert': () => import('../tryouts/convert.js'),
  'teams.update': () => import('../teams/update.js'),
  'players.update': () => import('../players/update.js'),
  'players.delete': () => import('../players/delete.js'),
  'documents.upload': () => import('../documents/upload.js'),
  'documents.update': () => import('../documents/update.js'),
  'documents.delete': () => import('../documents/delete.js'),
};

/** The engine's part of the command that began a run. Throws UsageError for one of a newer version. */
export async function partOf(action: string): Promise<BulkPart> {
  const command = await jobs[action]?.();
  const part = command?.default.kind === 'write' ? command.default.bulk : undefined;
  if (part) return part;
  throw new UsageError(`This version cannot go on with ${action}.`, {
    hint: 'Go on with the version that began it.',
  });
}

/** A command line that has no flags of its own besides those of a run. */
export async function lineOf(run: StoredRun, values: Partial<BulkValues>) {
  return {
    part: await partOf(run.head.action),
    words: run.head.action.split('.'),
    values: values as BulkValues,
  };
}
