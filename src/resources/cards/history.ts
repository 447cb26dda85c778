/** The changes that this machine made to a record: read from the newest ended runs on disk, never written. */

import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { Context } from '../../context.js';
import { printJson } from '../../data/json.js';
import type { ResourceName } from '../../data/resources.js';
import { addTo } from '../../data/sorting.js';
import { namesIn, readOwnText } from '../../files/private.js';
import { parseJournal } from '../../runs/journal.js';
import { headOf, isHere, type RunHead } from '../../runs/plan.js';
import { isRunName, isSingleRun, journalIn, placeIn, runStore } from '../../runs/store.js';

/** One change of a record by a run. */
export interface PastChange {
  readonly at: Date;
  readonly head: RunHead;
  readonly before: { readonly [field: string]: unknown };
  readonly after: { readonly [field: string]: unknown };
  /** The outcome of the write could not be determined. */
  readonly isUnknown: boolean;
}

/** The changes of records, by id. */
export type PastChanges = ReadonlyMap<string, readonly PastChange[]>;

/** How many runs are opened: a card must not get slower with every run of a season. */
const maxRuns = 200;
/** How many are read in one turn of the event loop. */
const runsPerTurn = 20;
/** Journals above this, of tens of thousands of rows, are left out for the same reason. */
const maxJournalBytes = 4 * 1024 * 1024;
/** All journals together; the newest are read first. */
const maxBytes = 16 * 1024 * 1024;

/**
 * Returns the changes of each of these records by the newest ended runs, newest first. Files that
 * cannot be read count as none, because a card must not fail over them.
 */
export async function pastChanges(
  context: Context,
  resource: ResourceName,
  ids: readonly string[],
): Promise<PastChanges> {
  const changes = new Map<string, PastChange[]>();
  const { state } = context.paths;
  if (!state) return changes;
  const ended = placeIn(runStore(state.path), 'ended');
  const newest = namesIn(ended).toSorted().slice(-maxRuns).filter(isRunName).toReversed();
  const sought = { resource, ids: new Set(ids) };
  let bytes = 0;
  for (const [index, run] of newest.entries()) {
    // The reads are synchronous, because 200 in the thread pool take longer: requests go on in between.
    if (index % runsPerTurn === 0) await new Promise(setImmediate);
    const path = journalIn(join(ended, run));
    // The journal of a single record is short: the most frequent runs need no look at the size.
    const size = isSingleRun(run) ? 0 : (statSync(path, { throwIfNoEntry: false })?.size ?? 0);
    if (size > maxJournalBytes) continue;
    bytes += size;
    if (bytes > maxBytes) break;
    for (const [id, change] of changesIn(path, context, sought)) addTo(changes, id, change);
  }
  // A run may have been resumed after a later one began.
  for (const each of changes.values()) each.sort((a, b) => b.at.getTime() - a.at.getTime());
  return changes;
}

function changesIn(
  path: string,
  context: Context,
  { resource, ids }: { readonly resource: ResourceName; readonly ids: ReadonlySet<string> },
): readonly (readonly [id: string, change: PastChange])[] {
  try {
    const text = readOwnText(path);
    // Parsing checks a digest per line, so a journal that does not mention the only record is not parsed.
    const [only] = ids;
    if (ids.size === 1 && !text.includes(printJson(only))) return [];
    const { records } = parseJournal(Buffer.from(text), path);
    const head = headOf(records[0]);
    if (head?.resource !== resource || !isHere(context, { head })) return [];
    const results = records.filter(({ kind }) => kind === 'result');
    // A row that was resumed has several; the last one counts.
    const last = new Map(results.map((record) => [record['row'], record]));
    return [...last.values()]
      .filter(({ result }) => result === 'changed' || result === 'unknown')
      .map(({ t, id, before, after, result }): readonly [string, PastChange] => [
        // A row that creates a record has no id of its own; the new one is among its values.
        String(fieldsOf(after)['id'] ?? id),
        {
          at: new Date(t),
          head,
          before: fieldsOf(before),
          after: fieldsOf(after),
          isUnknown: result === 'unknown',
        },
      ])
      .filter(([id]) => ids.has(id))
      .toReversed();
  } catch {
    return [];
  }
}

function fieldsOf(value: unknown): { readonly [field: string]: unknown } {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}
