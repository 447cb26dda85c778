import { settleMs } from '../api/settle.js';
import { sentAtLatest, settleLeft } from '../bulk/run-state.js';
import { isHere } from '../bulk/run-plan.js';
import { listUnfinishedRuns, storeOf, type StoredRun } from '../bulk/runs.js';
import type { SelectedRow } from '../bulk/work.js';
import type { Context } from '../context.js';
import { pause } from '../data/pause.js';
import { plural } from '../data/words.js';
import { ConfigError, OutputError } from '../errors.js';
import type { BulkPart } from './bulk-part.js';

/**
 * Waits for a write of an earlier run to this one record that may still take effect: what is read
 * before it does is behind. Where no runs can be read, none is waited for.
 */
export async function settleOne(
  context: Context,
  resource: BulkPart['resource'],
  id: string,
): Promise<void> {
  try {
    const runs = await listUnfinishedRuns(storeOf(context));
    const earlier = runs.filter((run) => isHere(context, run) && run.head.resource === resource);
    await settleEarlier(context, earlier, [{ row: 1, id }], []);
  } catch (error) {
    if (!(error instanceof ConfigError || error instanceof OutputError)) throw error;
  }
}

/**
 * Waits for writes of earlier runs that may still take effect: those to the rows about to be read,
 * and all of the runs in `whole`.
 */
export async function settleEarlier(
  context: Context,
  earlier: readonly StoredRun[],
  rows: readonly SelectedRow[],
  whole: readonly StoredRun[],
): Promise<void> {
  const ids = new Set(rows.map(({ id }) => id));
  const open = earlier.flatMap((run) =>
    [...run.state.open.values()].filter(({ id }) => ids.has(id) || whole.includes(run)),
  );
  const now = context.now();
  const writes = open.map((intent) => sentAtLatest(intent, now));
  const longest = settleLeft(writes, settleMs(context.env), now);
  if (longest === 0) return;
  context.note(
    `Waiting for ${plural(open.length, 'write')} of an earlier run that may still take effect.`,
  );
  await pause(longest, context.signal);
}
