/** The operation of each command that makes runs, by the action that a run names. */
import type { Operation } from '../../bulk/operation.js';
import { jobOf } from '../../bulk/invocation.js';
import type { StoredRun } from '../../bulk/runs.js';
import type { Command } from '../../cli/define.js';
import { UsageError } from '../../errors.js';
import { undoOperation } from '../../resources/undo.js';

const commands: Readonly<Record<string, () => Promise<{ readonly default: Command }>>> = {
  'tryouts.set-status': () => import('../tryouts/set-status.js'),
  'tryouts.update': () => import('../tryouts/update.js'),
  'tryouts.convert': () => import('../tryouts/convert.js'),
  'teams.create': () => import('../teams/create.js'),
  'teams.update': () => import('../teams/update.js'),
  'teams.delete': () => import('../teams/delete.js'),
  'players.create': () => import('../players/create.js'),
  'players.update': () => import('../players/update.js'),
  'players.delete': () => import('../players/delete.js'),
  'documents.create': () => import('../documents/create.js'),
  'documents.upload': () => import('../documents/upload.js'),
  'documents.update': () => import('../documents/update.js'),
  'documents.delete': () => import('../documents/delete.js'),
};

/** An undo is an operation of the resource of the run that it takes back. */
export const undoAction = 'runs.undo';

/** The actions whose runs can be resumed. */
export const runActions: readonly string[] = [...Object.keys(commands), undoAction];

/** The operation that made a run. Throws UsageError for a run of a newer version. */
export async function operationOf({
  head: { action, resource, of = '' },
  plan,
}: Pick<StoredRun, 'head' | 'plan'>): Promise<Operation> {
  if (action === undoAction) {
    const kind = plan && jobOf(plan).job['kind'];
    return undoOperation(resource, { of, kind: kind === 'created' ? kind : 'fields' });
  }
  const command = (await commands[action]?.())?.default;
  if (command?.kind !== 'operation')
    throw new UsageError(`This version cannot continue a run of ${action}.`, {
      hint: 'Use the version that started it.',
    });
  return command.operation as Operation;
}
