/** Before-images (`undo.jsonl` in a run's folder): what the records held before the run's writes, for `runs undo`. */

import { promises as fs, statSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { type JsonObject, someText } from '../data/json.js';
import { mayHoldSignature, withoutQueries } from '../data/signed-urls.js';
import { openSyncedLines, parseLines, readBytes, type SyncedLines } from '../files/synced-lines.js';
import {
  markRun,
  newRunName,
  type RunStore,
  runFolder,
  runNameIn,
  runNames,
  startOf,
} from './store.js';

/** The values that a write is about to change, or the record that it created. */
export type BeforeImageEntry = {
  readonly row: number;
  readonly id: string;
  /** Set for a row whose write takes several steps (`accepted`). */
  readonly step?: string | undefined;
  /** `fields`: those sent. `record`: the entire deleted record. `created`: the new `id`. */
  readonly kind: 'fields' | 'record' | 'created';
  /** A field that the record did not have is present with the value undefined. */
  readonly before?: JsonObject;
  readonly after?: JsonObject;
};

/** Fields in none of the three lists can be restored exactly. */
interface InexactFields {
  /** Fields that the record did not have, which differs from null. */
  readonly absent: readonly string[];
  /** Fields left out because they hold the API key. */
  readonly withheld: readonly string[];
  /** Fields with a URL stored without its query: not the value that the record held. */
  readonly shortened: readonly string[];
}

/** A before-image read back from disk. */
export type BeforeImage = BeforeImageEntry & InexactFields;

type AnyEntry = BeforeImageEntry & Partial<InexactFields>;

/** The before-images of a run, open for appending. */
export interface BeforeImages {
  /** Resolves when the entry is on disk. Throws OutputError if it cannot be written; its row is then not sent. */
  append(entry: AnyEntry): Promise<void>;
  close(): Promise<void>;
}

interface BeforeImageOptions {
  readonly isKey: (text: string) => boolean;
  /** False once another process has taken the run over while this one was suspended. */
  readonly isOurs: () => boolean;
}

/** Path of the before-images in a run's folder. */
export function beforeImagesIn(folder: string): string {
  return join(folder, 'undo.jsonl');
}

const startOver =
  'Without it, nothing in this run is sent. Start over: run its command again with --restart.';

/** Opens the before-images of the run in this folder; the first entry creates the file (mode 0600). */
export function openBeforeImages(
  folder: string,
  { isKey, isOurs }: BeforeImageOptions,
): BeforeImages {
  const path = beforeImagesIn(folder);
  const open = async () => {
    const { bytes } = parseLines(await readBytes(path), nameOf(path), parseEntry, startOver);
    return openSyncedLines(path, { what: 'The undo file', bytes, isOurs });
  };
  let file: Promise<SyncedLines> | undefined;
  return {
    async append(entry) {
      const stored = toStored(entry, isKey);
      file ??= open();
      await (await file).append(stored);
    },
    async close() {
      await (await file?.catch(() => undefined))?.close();
    },
  };
}

/**
 * Returns the before-images of a run in row order, the last one of each row and step; empty if there is
 * no file. Throws GuardError if the file is damaged, OutputError if it cannot be read.
 */
export async function readBeforeImages(folder: string): Promise<readonly BeforeImage[]> {
  const path = beforeImagesIn(folder);
  const { lines } = parseLines(await readBytes(path), nameOf(path), parseEntry);
  const last = new Map(lines.map((entry) => [`${entry.row} ${entry.step ?? ''}`, entry]));
  return [...last.values()].toSorted((a, b) => a.row - b.row);
}

function nameOf(path: string): string {
  return `The undo file ${path}`;
}

function parseEntry(value: JsonObject): BeforeImage {
  // The checksum proves that this program wrote the entry.
  const entry = value as JsonObject & BeforeImage;
  const { absent = [], withheld = [], shortened = [] } = entry as Partial<InexactFields>;
  return { ...entry, absent, withheld, shortened };
}

/** The entry as its line stores it, without the API key and URL queries; empty lists are omitted. */
function toStored(entry: AnyEntry, isKey: BeforeImageOptions['isKey']): object {
  const { row, id, step, kind, before, after } = entry;
  const isClean = !someText([before, after], (text) => isKey(text) || mayHoldSignature(text));
  // An image taken over from another run has some already.
  const absent = new Set(entry.absent);
  const withheld = new Set(entry.withheld);
  const shortened = new Set(entry.shortened);
  for (const field in before) if (before[field] === undefined) absent.add(field);
  const clean = (fields: JsonObject | undefined) =>
    fields &&
    Object.fromEntries(
      Object.entries(fields).flatMap(([field, value]) => {
        if (someText(value, isKey)) {
          withheld.add(field);
          return [];
        }
        if (someText(value, mayHoldSignature)) shortened.add(field);
        return [[field, withoutQueries(value)]];
      }),
    );
  return {
    row,
    id,
    step,
    kind,
    before: isClean ? before : clean(before),
    after: isClean ? after : clean(after),
    absent: filled(absent),
    withheld: filled(withheld),
    shortened: filled(shortened),
  };
}

function filled(fields: ReadonlySet<string>): readonly string[] | undefined {
  return fields.size > 0 ? [...fields] : undefined;
}

interface PruneOptions {
  /** How many runs one command inspects at most. */
  readonly most: number;
  /** True if a process is working on this run, which is in `open/`. */
  readonly isHeld: (run: string) => Promise<boolean>;
}

/**
 * Removes before-images older than `keepMs`. Lists `ended/` only once one of its runs is old enough, and
 * opens no file in it: a file beside it names the oldest run that has not been inspected. Leaves a file
 * that cannot be removed to the next command.
 */
export async function pruneBeforeImages(
  store: RunStore,
  keepMs: number,
  now: Date,
  { most, isHeld }: PruneOptions,
): Promise<void> {
  const isOld = (time: number) => now.getTime() - time >= keepMs;
  // Returns true if something is left.
  const prune = async (run: string, isFree: boolean): Promise<boolean> => {
    const path = beforeImagesIn(runFolder(store, run));
    const found = await fs.stat(path).catch(() => undefined);
    // A resumed run has younger before-images than its name suggests.
    if (!found) return false;
    if (!isOld(found.mtimeMs) || (!isFree && (await isHeld(run)))) return true;
    try {
      // Another process may have continued the run meanwhile, which made the file young again.
      if (!isOld(statSync(path).mtimeMs)) return true;
      unlinkSync(path);
      return false;
    } catch {
      return true;
    }
  };
  const old = (runs: readonly string[]) => runs.filter((run) => isOld(startOf(run).getTime()));
  const open = old(runNames(store, ['open'])).slice(0, most);
  await Promise.all(open.map((run) => prune(run, false)));
  const next = runNameIn(nextFile(store));
  if (next !== undefined && !isOld(startOf(next).getTime())) return;
  const ended = runNames(store, ['ended']).filter((run) => next === undefined || run >= next);
  const due = old(ended).slice(0, most - open.length);
  const kept = await Promise.all(due.map((run) => prune(run, true)));
  const firstKept = due.find((_, index) => kept[index]);
  markRun(nextFile(store), firstKept ?? ended[due.length] ?? newRunName(now));
}

/** Ensures that a run that ends after a younger one is not skipped: pruning inspects it next. */
export function pruneNext(store: RunStore, run: string): void {
  const next = runNameIn(nextFile(store));
  if (next !== undefined && run < next) markRun(nextFile(store), run);
}

/** The file that names the oldest ended run not yet inspected; without it, the next command lists `ended/` again. */
function nextFile({ dir }: RunStore): string {
  return join(dir, 'oldest-before-images');
}
