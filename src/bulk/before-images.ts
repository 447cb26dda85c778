/** Before-images (`undo.jsonl` in a run's folder): what the records held before the run's writes, for `runs undo`. */
import { join } from 'node:path';
import { writeFileSync } from 'node:fs';
import { stat, unlink } from 'node:fs/promises';
import { isObject, type JsonObject, parseJson, printJson } from '../data/json.js';
import { runNameIn, newRunName, runFolder, runNames, type RunStore, startOf } from './run-store.js';
import {
  openSyncedLines,
  parseLines,
  readBytes,
  sealLine,
  unsealLine,
} from '../files/synced-lines.js';

/** What a write is about to change, or has made. */
export interface BeforeImageEntry {
  readonly row: number;
  readonly id: string;
  /** Of a row whose write takes several steps (`accept`). */
  readonly step?: string;
  /** The fields that are sent; the whole record of a delete; what a create made (its id in `id`). */
  readonly kind: 'fields' | 'record' | 'created';
  /** A field that the record did not have is there with the value undefined. */
  readonly before?: { readonly [field: string]: unknown };
  readonly after?: { readonly [field: string]: unknown };
}

/** A before-image as it is read back: what is in none of the lists can be restored as it was. */
export interface BeforeImage extends BeforeImageEntry {
  readonly before?: JsonObject;
  readonly after?: JsonObject;
  /** Fields that the record did not have, which is not the same as null. */
  readonly absent: readonly string[];
  /** Fields left out because they hold the API key. */
  readonly withheld: readonly string[];
  /** Fields with a URL that lost its query: what is kept is not what the record held. */
  readonly shortened: readonly string[];
}

/** The before-images of a run, open for appending. */
export interface BeforeImages {
  /** Resolves when the entry is on disk. Throws OutputError where it cannot be written: then its row is not sent. */
  append(entry: BeforeImageEntry): Promise<void>;
  close(): Promise<void>;
}

interface BeforeImageOptions {
  /** The setting `undo.keep` in milliseconds; undefined: no file is made. */
  readonly keepMs: number | undefined;
  /** Whether a text holds the API key. */
  readonly isKey: (text: string) => boolean;
  /** False when another process took the run over while this one slept. */
  readonly isOurs: () => boolean;
}

/** The file of before-images in a run's folder. */
export function beforeImagesIn(folder: string): string {
  return join(folder, 'undo.jsonl');
}

/** The before-images of the run in this folder; the file is made (mode 0600) by the first entry. */
export function openBeforeImages(
  folder: string,
  { keepMs, isKey, isOurs }: BeforeImageOptions,
): BeforeImages {
  if (keepMs === undefined) return { append: async () => {}, close: async () => {} };
  const path = beforeImagesIn(folder);
  const open = async () => {
    const { bytes } = parseLines(await readBytes(path), nameOf(path), parseEntry);
    return openSyncedLines(path, { what: 'The file of before-images', bytes, isOurs });
  };
  let file: ReturnType<typeof open> | undefined;
  return {
    async append(entry) {
      const line = sealLine(printJson(keptOf(entry, isKey)));
      file ??= open();
      await (await file).append(line);
    },
    async close() {
      await (await file?.catch(() => undefined))?.close();
    },
  };
}

/**
 * The before-images of a run, in the order of its rows; of each row and step the last one. None where
 * there is no file. Throws GuardError where it is damaged, OutputError where it cannot be read.
 */
export async function readBeforeImages(folder: string): Promise<readonly BeforeImage[]> {
  const path = beforeImagesIn(folder);
  const { lines } = parseLines(await readBytes(path), nameOf(path), parseEntry);
  const last = new Map(lines.map((entry) => [`${entry.row} ${entry.step ?? ''}`, entry]));
  return [...last.values()].toSorted((a, b) => a.row - b.row);
}

function nameOf(path: string): string {
  return `The file of before-images ${path}`;
}

function parseEntry(line: string): BeforeImage | undefined {
  const text = unsealLine(line);
  const value = text === undefined ? undefined : parseJson(text);
  if (!isObject(value)) return undefined;
  // The checksum says that this program wrote it.
  const entry = value as unknown as BeforeImage;
  const { absent = [], withheld = [], shortened = [] } = entry as Partial<BeforeImage>;
  return { ...entry, absent, withheld, shortened };
}

/** An entry as its line holds it; lists that are empty are left out. */
function keptOf(
  { before, after, ...rest }: BeforeImageEntry,
  isKey: BeforeImageOptions['isKey'],
): JsonObject {
  const withheld = new Set<string>();
  const shortened = new Set<string>();
  const clean = (fields: { readonly [field: string]: unknown }): JsonObject => {
    const kept: [string, unknown][] = [];
    for (const [field, value] of Object.entries(fields)) {
      if (value === undefined) continue;
      if (holds(value, isKey)) withheld.add(field);
      else {
        if (holds(value, hasQuery)) shortened.add(field);
        kept.push([field, withoutQueries(value)]);
      }
    }
    return Object.fromEntries(kept);
  };
  const absent = Object.keys(before ?? {}).filter((field) => before?.[field] === undefined);
  const cleaned = {
    ...(before && { before: clean(before) }),
    ...(after && { after: clean(after) }),
  };
  const lists = { absent, withheld: [...withheld], shortened: [...shortened] };
  const filled = Object.entries(lists).filter(([, fields]) => fields.length > 0);
  return { ...rest, ...cleaned, ...Object.fromEntries(filled) };
}

/** Whether a text for which `is` holds stands anywhere in a value. */
export function holds(value: unknown, is: (text: string) => boolean): boolean {
  if (typeof value === 'string') return is(value);
  if (Array.isArray(value)) return value.some((item) => holds(item, is));
  return isObject(value) && Object.values(value).some((item) => holds(item, is));
}

/** Whether a text is a URL with a query, which may hold a signature. */
export function hasQuery(text: string): boolean {
  return /^[a-z][a-z0-9+.-]*:\/\/[^?\s]*\?/i.test(text);
}

/** A query may hold a signature, and what stands behind it is part of nothing that is kept. */
function withoutQueries(value: unknown): unknown {
  if (typeof value === 'string')
    return hasQuery(value) ? value.slice(0, value.indexOf('?')) : value;
  if (Array.isArray(value)) return value.map(withoutQueries);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, withoutQueries(item)]),
  );
}

interface PruneOptions {
  /** Runs that one command looks at. */
  readonly most: number;
  /** Whether a process is at this run now; asked of runs in `open/`, since nobody is at an ended one. */
  readonly isHeld: (run: string) => Promise<boolean>;
}

/**
 * Removes the before-images of runs older than `keepMs`; gives how many. `ended/` is listed only once
 * one of its runs is old enough, and nothing below it is opened: the oldest that was not looked at
 * stands in a file beside it. Never throws for what cannot be removed; the next command tries it again.
 */
export async function pruneBeforeImages(
  store: RunStore,
  keepMs: number,
  now: Date,
  { most, isHeld }: PruneOptions,
): Promise<number> {
  const isOld = (time: number) => now.getTime() - time >= keepMs;
  const removeOld = async (run: string, isFree: boolean) => {
    const path = beforeImagesIn(runFolder(store, run));
    const found = await stat(path).catch(() => undefined);
    // A run that was resumed has younger ones than its name says.
    if (!found) return 'none';
    if (!isOld(found.mtimeMs) || (!isFree && (await isHeld(run)))) return 'kept';
    return unlink(path).then(
      () => 'removed',
      () => 'kept',
    );
  };
  const old = (runs: readonly string[]) => runs.filter((run) => isOld(startOf(run).getTime()));
  const open = old(await runNames(store, ['open'])).slice(0, most);
  const outcomes = await Promise.all(open.map((run) => removeOld(run, false)));
  const next = readNext(store);
  if (next !== undefined && !isOld(startOf(next).getTime())) return removedOf(outcomes);
  const ended = (await runNames(store, ['ended'])).filter(
    (run) => next === undefined || run >= next,
  );
  const due = old(ended).slice(0, most - open.length);
  const ofEnded = await Promise.all(due.map((run) => removeOld(run, true)));
  const kept = due.find((_, index) => ofEnded[index] === 'kept');
  writeNext(store, kept ?? ended[due.length] ?? newRunName(now));
  return removedOf([...outcomes, ...ofEnded]);
}

/** A run that ends later than a younger one is not passed over: it is looked at next. */
export function pruneNext(store: RunStore, run: string): void {
  const next = readNext(store);
  if (next !== undefined && run < next) writeNext(store, run);
}

function removedOf(outcomes: readonly string[]): number {
  return outcomes.filter((outcome) => outcome === 'removed').length;
}

/** The oldest ended run that was not looked at; undefined where nobody knows. */
function readNext(store: RunStore): string | undefined {
  return runNameIn(nextFile(store));
}

/** Without it `ended/` is listed once more, so a write that fails or is torn does no harm. */
function writeNext(store: RunStore, run: string): void {
  try {
    writeFileSync(nextFile(store), `${run}\n`, { mode: 0o600 });
  } catch {
    // The next command lists the folder again.
  }
}

function nextFile({ dir }: RunStore): string {
  return join(dir, 'oldest-before-images');
}
