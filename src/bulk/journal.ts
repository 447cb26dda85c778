/** The journal of a run: what was about to be sent and what became of it, in order, each record synced. */
import { createHash } from 'node:crypto';
import { readFile, rename } from 'node:fs/promises';
import { basename } from 'node:path';
import type { Context } from '../context.js';
import { isObject, type JsonObject, parseJson, printJson, printPlain } from '../data/json.js';
import { systemReason } from '../data/system-errors.js';
import { type Failure, GuardError, OutputError } from '../errors.js';
import {
  openSyncedLines,
  parseLines,
  readBytes,
  sealLine,
  type SyncedLines,
  unsealLine,
} from '../files/synced-lines.js';
import { hasQuery, holds } from './before-images.js';
import type { SelectedRow } from './report.js';
import {
  hasPlan,
  headOf,
  isSamePlace,
  type PlannedRow,
  readPlan,
  type RunHead,
} from './run-plan.js';

/** One line of a journal: what happened, in order, with the time it was written. */
export interface JournalRecord {
  readonly seq: number;
  readonly kind: 'job' | 'resume' | 'step' | 'intent' | 'done' | 'result' | 'end';
  /** Milliseconds since 1970. */
  readonly t: number;
  readonly [key: string]: unknown;
}

/** What a record says besides its number and time. */
export type Entry = { readonly kind: JournalRecord['kind'] } & JsonObject;

/** A journal open for writing. */
export interface Journal {
  readonly records: readonly JournalRecord[];
  /** The number of its last record. */
  readonly last: number;
  /** Resolves when the record is on disk; records that wait together share one sync. Throws OutputError, GuardError. */
  append(entry: Entry): Promise<void>;
  close(): Promise<void>;
}

export interface JournalOptions {
  readonly now: () => Date;
  /** False when another process took the run over while this one slept; asked before each write. */
  readonly isOurs: () => boolean;
  /** Whether a text holds the API key; not where no values of records are written. */
  readonly isKey?: (text: string) => boolean;
}

/**
 * Opens a journal (made when missing, mode 0600): drops a half-written end. Throws GuardError with
 * the line for damage in the middle, OutputError where it cannot be written.
 */
export async function openJournal(path: string, options: JournalOptions): Promise<Journal> {
  const { records, bytes } = await readJournal(path);
  const { isOurs } = options;
  const file = await openSyncedLines(path, { what: 'The journal', bytes, isOurs });
  return new Writer(file, [...records], options);
}

/** The whole records of a journal and how many bytes they take; none where there is no file. */
export async function readJournal(
  path: string,
): Promise<{ readonly records: readonly JournalRecord[]; readonly bytes: number }> {
  return parseJournal(await readBytes(path), path);
}

/** Takes the bytes of a journal apart; only its end may be torn. Throws GuardError with the line. */
export function parseJournal(file: Buffer, path: string) {
  const { lines, bytes } = parseLines(file, `The journal ${path}`, parseRecord);
  return { records: lines, bytes };
}

/** One line of the file: the record with a checksum of itself at its end. */
export function recordLine(seq: number, t: number, entry: Entry): string {
  return sealLine(`{"seq":${seq},"t":${t},${(printPlain(entry) ?? printJson(entry)).slice(1)}`);
}

/**
 * What a damaged journal still tells: its first record, undefined where that cannot be read, and
 * whether it holds the record of its end (a report may be told after that).
 */
async function readDamaged(
  path: string,
): Promise<{ readonly first: JournalRecord | undefined; readonly hasEnded: boolean }> {
  const text = await readFile(path, 'utf8').catch(() => '');
  return {
    first: parseRecord(text.slice(0, Math.max(0, text.indexOf('\n'))), 1),
    hasEnded: text.includes('"kind":"end"'),
  };
}

/** The hash that a journal keeps in the place of a value. */
export function hashOf(value: unknown): string {
  return `sha256:${createHash('sha256').update(printJson(value)).digest('hex').slice(0, 32)}`;
}

/** An entry in which values that hold a secret are hashed. */
function withoutSecrets(entry: Entry, isSecret: (text: string) => boolean): Entry {
  if (!holds([entry['before'], entry['after']], isSecret)) return entry;
  const hashed = (fields: unknown) =>
    isObject(fields) &&
    Object.fromEntries(
      Object.entries(fields).map(([field, value]) => [
        field,
        holds(value, isSecret) ? hashOf(value) : value,
      ]),
    );
  const { before, after } = entry;
  return {
    ...entry,
    ...(before !== undefined && { before: hashed(before) }),
    ...(after !== undefined && { after: hashed(after) }),
  };
}

function parseRecord(line: string, seq?: number): JournalRecord | undefined {
  const text = unsealLine(line);
  if (text === undefined) return undefined;
  const value = parseJson(text);
  const isIt = isObject(value) && (seq === undefined || value['seq'] === seq);
  return isIt ? (value as unknown as JournalRecord) : undefined;
}

class Writer implements Journal {
  private seq: number;

  constructor(
    private readonly file: SyncedLines,
    readonly records: readonly JournalRecord[],
    private readonly options: JournalOptions,
  ) {
    this.seq = records.length;
  }

  get last(): number {
    return this.seq;
  }

  append(entry: Entry): Promise<void> {
    this.seq += 1;
    const { now, isKey } = this.options;
    const kept = withoutSecrets(entry, (text) => isKey?.(text) === true || hasQuery(text));
    return this.file.append(recordLine(this.seq, now().getTime(), kept));
  }

  close(): Promise<void> {
    return this.file.close();
  }
}

/** A run of which a file cannot be read, as far as the others still tell what it is. */
export interface DamagedRun {
  readonly run: string;
  readonly folder: string;
  /** Names the file, and of a journal the line. */
  readonly message: string;
  readonly head: RunHead | undefined;
  /** Undefined where the plan is what cannot be read. */
  readonly rows: readonly PlannedRow[] | undefined;
  /** It did not come to its end: what it sent is not known any more. */
  readonly isOpen: boolean;
}

/** Whether reading a run ended with a file that is damaged or cannot be read. */
export function cannotBeUsed(error: unknown): error is GuardError | OutputError {
  return error instanceof GuardError || error instanceof OutputError;
}

/** What is left of a run whose reading ended so. */
export async function damagedRun(
  folder: string,
  journal: string,
  { message }: Failure,
): Promise<DamagedRun> {
  const plan = await readPlan(folder).catch((error: unknown) => {
    if (cannotBeUsed(error)) return undefined;
    throw error;
  });
  const { first, hasEnded } = await readDamaged(journal);
  return {
    run: basename(folder),
    folder,
    message,
    head: plan?.head ?? headOf(first),
    rows: plan?.rows,
    // Without a plan nothing was left to go on with.
    isOpen: hasPlan(folder) && !hasEnded,
  };
}

/** Takes a damaged run out of the runs and keeps its files. Throws OutputError; gives where they are. */
export async function setAside({ folder }: DamagedRun): Promise<string> {
  const aside = `${folder}.damaged`;
  try {
    await rename(folder, aside);
  } catch (error) {
    throw new OutputError(`${folder} cannot be set aside: ${systemReason(error)}.`, {
      hint: 'Move it away from there yourself, then run the same line again.',
      cause: error,
    });
  }
  return aside;
}

/** What is about to be done. */
interface Wanted {
  readonly head: Pick<RunHead, 'organization' | 'service' | 'resource'>;
  /** What a row is about; by default its id. */
  readonly subjectOf: ((row: SelectedRow) => string | undefined) | undefined;
  readonly rows: readonly SelectedRow[];
  readonly restart: boolean;
}

/**
 * The damaged runs in whose place this one begins. Throws GuardError `damaged` where one may have
 * done some of these rows, unless `restart`; a run that has nothing to do with them is told.
 */
export function damagedBefore(
  context: Context,
  damaged: readonly DamagedRun[],
  { head, subjectOf = ({ id }) => id, rows, restart }: Wanted,
): readonly DamagedRun[] {
  const subjects = new Set(damaged.length === 0 ? [] : rows.map((row) => subjectOf(row)));
  const before = damaged.filter((run) => {
    // What another command wrote has rows of another kind.
    if (!run.isOpen || (run.head && !isSameKind(run.head, head))) return false;
    const held = run.rows?.map((row) => subjectOf(row)) ?? [...subjects];
    return held.some((each) => each !== undefined && subjects.has(each));
  });
  for (const run of damaged) if (!before.includes(run)) context.message(run.message);
  const [first] = before;
  if (first && !restart)
    throw new GuardError(`${first.message} What it did of these rows is not known.`, {
      code: 'damaged',
      hint: 'Look at the records by hand; --restart begins anew and sets this journal aside.',
    });
  return before;
}

/** Once the new run is on disk. Throws OutputError. */
export async function setAsideAll(context: Context, damaged: readonly DamagedRun[]): Promise<void> {
  for (const run of damaged) {
    const path = await setAside(run);
    context.message(`The damaged run is kept in ${path}.`);
  }
}

function isSameKind(a: Wanted['head'], b: Wanted['head']): boolean {
  return isSamePlace(a, b) && a.resource === b.resource;
}
