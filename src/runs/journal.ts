/** The journal of a run: its records, each synced to disk in order; what they store of values; and the state that they prove. */
import { constants, promises as fs } from 'node:fs';
import { digestOf } from '../data/digest.js';
import { type JsonObject, printJson, someText } from '../data/json.js';
import { serviceSays } from '../data/refusal-words.js';
import { mayHoldSignature, withoutSignatures } from '../data/signed-urls.js';
import { holderOf, type LockHolder, setAheadSince, type ThisProcess } from '../files/holder.js';
import { openSyncedLines, parseLines, readBytes, unsealLine } from '../files/synced-lines.js';
import type { DoneStep, ReportRow, RowChange, RowError } from './report.js';

/** One line of a journal. */
interface JournalRecord {
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

function asJournalRecord(value: JsonObject | undefined, seq: number): JournalRecord | undefined {
  return value?.['seq'] === seq ? (value as JsonObject & JournalRecord) : undefined;
}

/** A write that was about to be sent and has no known outcome. */
export interface Intent {
  readonly id: string;
  readonly attempt: number;
  /** When it was recorded, or later if that is known, in milliseconds since 1970. */
  readonly t: number;
  /** The latest time at which it can have been sent, if a later record tells. */
  readonly goneBy?: number;
  /** The process that recorded it; undefined in runs of 0.1.0. */
  readonly holder?: LockHolder | undefined;
  readonly before: JsonObject;
  /** The row's step, if it has several. */
  readonly step?: string | undefined;
  /** Another step follows. */
  readonly more?: boolean | undefined;
  /** Digest of the entire record, if the write affects all of it. */
  readonly digest?: string | undefined;
  /** A success status was received, so it is never sent again. */
  readonly applied: boolean;
  /** The service said yes, but showed the old value: if a read does so too, the change was not made. */
  readonly notShown?: boolean;
}

/** The state of a run, according to its journal. */
export interface RunState {
  readonly results: ReadonlyMap<number, ReportRow>;
  /** The intents of rows whose last write has no outcome. */
  readonly open: ReadonlyMap<number, Intent>;
  /** The merged entries of the steps before each row's write; later values override earlier ones. */
  readonly steps: ReadonlyMap<number, JsonObject>;
  /** The finished first step of rows that have a second one. */
  readonly done: ReadonlyMap<number, DoneStep & { readonly id: string }>;
  /** When its last result was recorded, in milliseconds since 1970. */
  readonly wroteAt: number | undefined;
  /** The number of its end record; undefined if it has not ended. */
  readonly endedAt: number | undefined;
  /** The number of its last record. */
  readonly last: number;
  /** Another run replaced it. */
  readonly replaced: boolean;
  /** The process that last opened the journal to write; undefined in runs of 0.1.0. */
  readonly holder: LockHolder | undefined;
}

/** Reads the records in order: an intent reopens its row, a result closes it. */
export function foldJournal(records: readonly JournalRecord[]): RunState {
  const results = new Map<number, ReportRow>();
  const open = new Map<number, Intent>();
  const steps = new Map<number, JsonObject>();
  const done = new Map<number, DoneStep & { readonly id: string }>();
  let wroteAt: number | undefined;
  let endedAt: number | undefined;
  let replaced = false;
  let holder: LockHolder | undefined;
  for (const record of records) {
    const { seq, kind, t, ...entry } = record;
    const row = Number(entry['row']);
    if (kind === 'job' || kind === 'resume') holder = holderOf(entry['holder']);
    if (kind === 'step') {
      const { row: _, ...step } = entry;
      steps.set(row, { ...steps.get(row), ...step });
    }
    // The checksum of each line proves that this program wrote it.
    if (kind === 'done') {
      const { step, before, after, id = '' } = entry as JsonObject & DoneStep & { id?: string };
      done.set(row, { step, before, after, id });
      open.delete(row);
    }
    if (kind === 'intent') {
      const { id, attempt, before, step, digest, more } = entry as JsonObject & Intent;
      // The intent of a row taken over from another run keeps what that run knew of its answer.
      const applied = entry['applied'] === true;
      open.set(row, { id, attempt, t, before, step, digest, more, applied, holder });
      results.delete(row);
    }
    if (kind === 'result') {
      const { applied, notShown, ...result } = entry as JsonObject & ReportRow;
      results.set(row, result);
      wroteAt = t;
      const intent = open.get(row);
      // "unknown" leaves the intent open: a later read may verify it.
      if (result.result !== 'unknown') open.delete(row);
      else if (intent)
        open.set(row, {
          ...intent,
          ...(applied === true && { applied, notShown: notShown === true }),
          // A later process that only looked for it moves nothing.
          ...(intent.goneBy === undefined && { goneBy: t, holder }),
        });
    }
    if (kind === 'end') {
      endedAt = seq;
      replaced = entry['superseded'] === true;
    }
  }
  const last = records.length;
  return { results, open, steps, done, wroteAt, endedAt, last, replaced, holder };
}

/**
 * Milliseconds until none of these writes can still take effect, which is `ms` after each was sent; the
 * full `ms` if the clock went backwards.
 */
export function settleTimeLeft(
  writes: readonly Pick<Intent, 't'>[],
  ms: number,
  now: Date,
): number {
  const present = now.getTime();
  return writes.reduce((most, { t }) => Math.max(most, t > present ? ms : t + ms - present), 0);
}

/** How long after its intent a write may still be waiting for its turn, or as a 429 asked. */
const longestTurnMs = 3_600_000;

/**
 * The intent of an earlier process, with `t` set to the latest time at which it can have been sent, by the
 * clock as it is now.
 */
export function sentAtLatest(
  intent: Intent,
  now: Date,
  self: ThisProcess,
): Intent & { readonly since: number } {
  const { t, goneBy = t + longestTurnMs, holder } = intent;
  const aheadMs = holder ? setAheadSince(holder, self) : 0;
  return { ...intent, since: t, t: Math.min(now.getTime(), goneBy + aheadMs) };
}

/** The values before a write as the journal stores them: notes and long values only as hashes. */
export function redactedBefore(changes: readonly RowChange[]): JsonObject {
  return Object.fromEntries(changes.map(({ field, from }) => [field, redactValue(field, from)]));
}

/** The row without its old and new values, which are known elsewhere. */
export function withoutValues(row: ReportRow): ReportRow {
  const { before: _, after: __, ...rest } = row;
  return rest;
}

/**
 * A result as the journal stores it: notes and long values only as hashes, and of a refusal only the
 * message. `changes`: what the row sends, of which the service may repeat a note.
 */
export function redactRow(row: ReportRow, changes: readonly RowChange[] = []): ReportRow {
  const { before, after, error } = row;
  return {
    ...row,
    ...(before && { before: redactAll(before) }),
    ...(after && { after: redactAll(after) }),
    ...(error && { error: redactError(error, changes) }),
  };
}

/**
 * The error of a result without the body of the service's refusal, and without its words and a code
 * in prose if they may be those of a note: the row sends one, or they mention one.
 */
function redactError(whole: RowError, changes: readonly RowChange[]): RowError {
  const { service: _, ...error } = whole;
  const { message, code, kind } = error;
  const sendsNote = changes.some(({ field }) => isNote(field));
  const mayBeNote = (text: string) => sendsNote || /note/i.test(text);
  const at = message.indexOf(serviceSays);
  const own = at >= 0 && mayBeNote(message.slice(at)) ? message.slice(0, at).trimEnd() : message;
  if (/\s/.test(code) && mayBeNote(code))
    return { ...error, code: kind, message: own.replaceAll(` (${code})`, '') };
  return { ...error, message: own };
}

/** True for the field with the staff's internal notes, which are never stored in clear. */
export function isNote(field: string): boolean {
  return field === 'internalNotes';
}

const maxPlainLength = 200;

function redactValue(field: string, value: unknown): unknown {
  if (value === null || value === undefined) return null;
  return isNote(field) || printJson(value).length > maxPlainLength ? hashOf(value) : value;
}

function redactAll(values: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(values).map(([key, value]) => [key, redactValue(key, value)]),
  );
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
  const { before, after } = entry as { readonly before?: JsonObject; readonly after?: JsonObject };
  if (!someText([before, after], isSecret)) return entry;
  const hashed = (values: JsonObject | undefined) =>
    values &&
    Object.fromEntries(
      Object.entries(values).map(([field, value]) => [
        field,
        someText(value, isSecret) ? hashOf(value) : value,
      ]),
    );
  return { ...entry, before: hashed(before), after: hashed(after) };
}
