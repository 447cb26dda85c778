/** The journal of a run: intents and outcomes in order, each synced to disk; and what to do with a damaged one. */
import { constants, promises as fs } from 'node:fs';
import { basename } from 'node:path';
import type { Context } from '../context.js';
import { digestOf } from '../data/digest.js';
import { isObject, type JsonObject, someText } from '../data/json.js';
import { mayHoldSignature, withoutSignatures } from '../data/signed-urls.js';
import { systemReason } from '../data/system-errors.js';
import { type Failure, GuardError, OutputError } from '../errors.js';
import { openSyncedLines, parseLines, readBytes, unsealLine } from '../files/synced-lines.js';
import {
  hasPlan,
  headOf,
  isSameScope,
  type PlannedRow,
  type RunHead,
  readPlan,
  type Scope,
} from './plan.js';
import type { SelectedRow } from './report.js';

/** One line of a journal. */
export interface JournalRecord {
  readonly seq: number;
  readonly kind: 'job' | 'resume' | 'step' | 'intent' | 'done' | 'result' | 'end';
  /** Milliseconds since 1970. */
  readonly t: number;
  readonly [key: string]: unknown;
}

/** A record without its number and time. */
export type Entry = { readonly kind: JournalRecord['kind'] } & JsonObject;

/** A journal open for writing. */
export interface Journal {
  /** The number of its last record that is certainly on disk; 0 for a new journal. */
  readonly last: number;
  /** Resolves when the record is on disk; concurrent records share one sync. Throws OutputError, GuardError. */
  append(entry: Entry): Promise<void>;
  close(): Promise<void>;
}

/** The journal of a run that cannot be kept: it writes nothing. */
export const noJournal: Journal = {
  last: 0,
  append: async () => {},
  close: async () => {},
};

export interface JournalOptions {
  readonly now: () => Date;
  /** False once another process has taken the run over while this one was suspended; called before each write. */
  readonly isOurs: () => boolean;
  /** True if a text holds the API key; absent if no record values are written. */
  readonly isKey?: (text: string) => boolean;
}

/**
 * Opens a journal, created with mode 0600 if missing, and drops a half-written last line. Throws
 * GuardError with the line number if an earlier line is damaged, OutputError if it cannot be written.
 */
export async function openJournal(
  path: string,
  { now, isOurs, isKey }: JournalOptions,
): Promise<Journal> {
  const { records, bytes } = await readJournal(path);
  const isSecret = (text: string) => isKey?.(text) === true || mayHoldSignature(text);
  let seq = records.length;
  const stamp = (entry: object) => ({ seq: ++seq, t: now().getTime(), ...entry });
  const file = await openSyncedLines(path, { what: 'The journal', bytes, isOurs, stamp });
  return {
    get last() {
      return records.length + file.synced;
    },
    // Nothing is sent after an intent that could not be stored, so none must be left behind.
    append: (entry) =>
      file.append(withoutSecretValues(entry, isSecret), { isRetractable: entry.kind === 'intent' }),
    close: () => file.close(),
  };
}

/** Reads the complete records of a journal and their size in bytes; none if there is no file. */
export async function readJournal(
  path: string,
): Promise<{ readonly records: readonly JournalRecord[]; readonly bytes: number }> {
  return parseJournal(await readBytes(path), path);
}

/** Reads the first record of a journal and nothing else of it; undefined if it cannot be read. */
export async function readFirstRecord(path: string): Promise<JournalRecord | undefined> {
  // Not blocked by a named pipe in its place.
  const file = await fs
    .open(path, constants.O_RDONLY | constants.O_NONBLOCK)
    .catch(() => undefined);
  if (!file) return undefined;
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(longestFirstLine));
    const text = buffer.toString('utf8', 0, bytesRead);
    return asJournalRecord(unsealLine(text.slice(0, Math.max(0, text.indexOf('\n')))), 1);
  } catch {
    return undefined;
  } finally {
    await file.close();
  }
}

/** The head of a run takes less than 1 KiB. */
const longestFirstLine = 64 * 1024;

/** Parses the bytes of a journal; only its last line may be torn. Throws GuardError with the line number. */
export function parseJournal(file: Buffer, path: string) {
  const { lines, bytes } = parseLines(file, `The journal ${path}`, asJournalRecord);
  return { records: lines, bytes };
}

const hashPrefix = 'sha256:';

/** The hash that a journal stores in place of a value. */
export function hashOf(value: unknown): string {
  return `${hashPrefix}${digestOf(withoutSignatures(value)).slice(0, 32)}`;
}

/** True for such a hash. */
export function isHash(value: unknown): boolean {
  return typeof value === 'string' && value.startsWith(hashPrefix);
}

/** The entry with values that hold a secret replaced by their hashes. */
function withoutSecretValues(entry: Entry, isSecret: (text: string) => boolean): Entry {
  if (!someText([entry['before'], entry['after']], isSecret)) return entry;
  const hashed = (fields: unknown) =>
    isObject(fields) &&
    Object.fromEntries(
      Object.entries(fields).map(([field, value]) => [
        field,
        someText(value, isSecret) ? hashOf(value) : value,
      ]),
    );
  const changed = ['before', 'after'].filter((name) => entry[name] !== undefined);
  return { ...entry, ...Object.fromEntries(changed.map((name) => [name, hashed(entry[name])])) };
}

function asJournalRecord(value: JsonObject | undefined, seq: number): JournalRecord | undefined {
  return value?.['seq'] === seq ? (value as JsonObject & JournalRecord) : undefined;
}

/** A run with an unreadable file, described as far as its other files allow. */
export interface DamagedRun {
  readonly run: string;
  readonly folder: string;
  /** Names the file, and for a journal the line. */
  readonly message: string;
  readonly head: RunHead | undefined;
  /** Undefined if the plan cannot be read. */
  readonly rows: readonly PlannedRow[] | undefined;
  /** It has not ended: what it sent can no longer be determined. */
  readonly isOpen: boolean;
}

/** True if an error from reading a run means that a file is damaged or unreadable. */
export function cannotBeUsed(error: unknown): error is GuardError | OutputError {
  return error instanceof GuardError || error instanceof OutputError;
}

/** Describes a run whose reading failed with such an error. */
export async function damagedRun(
  folder: string,
  journal: string,
  { message }: Failure,
): Promise<DamagedRun> {
  const plan = await readPlan(folder).catch((error: unknown) => {
    if (cannotBeUsed(error)) return undefined;
    throw error;
  });
  // Other records may follow the end.
  const text = await readBytes(journal).catch(() => '');
  const hasEnded = text.includes('"kind":"end"');
  return {
    run: basename(folder),
    folder,
    message,
    head: plan?.head ?? headOf(await readFirstRecord(journal)),
    rows: plan?.rows,
    // Without a plan there is nothing to resume.
    isOpen: hasPlan(folder) && !hasEnded,
  };
}

/** Renames the folder of a damaged run, which then no longer counts. Returns its path. Throws OutputError. */
export async function setAside({ folder }: DamagedRun): Promise<string> {
  const aside = `${folder}.damaged`;
  try {
    await fs.rename(folder, aside);
  } catch (error) {
    throw new OutputError(`${folder} cannot be set aside: ${systemReason(error)}.`, {
      hint: 'Move it away from there yourself, then run the same command again.',
      cause: error,
    });
  }
  return aside;
}

/** The run that is about to start. */
interface NewRun {
  readonly head: Scope;
  /** Returns the subject of a row; by default its id. */
  readonly subjectOf: ((row: SelectedRow) => string | undefined) | undefined;
  readonly rows: readonly SelectedRow[];
  readonly restart: boolean;
}

/**
 * Returns the damaged runs that the new run replaces. Throws GuardError `damaged` if one of them may
 * have written some of these rows, unless `restart`. Damaged runs unrelated to the rows are only reported.
 */
export function damagedBefore(
  context: Context,
  damaged: readonly DamagedRun[],
  { head, subjectOf = ({ id }) => id, rows, restart }: NewRun,
): readonly DamagedRun[] {
  const subjects = new Set(damaged.length === 0 ? [] : rows.map((row) => subjectOf(row)));
  const replaced = damaged.filter((run) => {
    // Runs of another organization, service or resource share no rows with this one.
    const { head: other = head } = run;
    if (!run.isOpen || !isSameScope(other, head)) return false;
    const rowSubjects = run.rows?.map((row) => subjectOf(row)) ?? [...subjects];
    return rowSubjects.some((each) => each !== undefined && subjects.has(each));
  });
  for (const run of damaged) if (!replaced.includes(run)) context.message(run.message);
  const [first] = replaced;
  if (first && !restart)
    throw new GuardError(`${first.message} It is unknown which of these rows that run changed.`, {
      code: 'damaged',
      hint: 'Check the records yourself. --restart starts over and sets this journal aside.',
    });
  return replaced;
}

/** Sets damaged runs aside and reports where they are kept; call it once the new run is on disk. Throws OutputError. */
export async function setAsideAll(context: Context, damaged: readonly DamagedRun[]): Promise<void> {
  for (const run of damaged) {
    const path = await setAside(run);
    context.message(`The damaged run is kept in ${path}.`);
  }
}
