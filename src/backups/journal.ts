/** The journal of an unfinished snapshot: which documents were fetched already, so that a killed backup continues. */
import { join } from 'node:path';
import type { JsonObject } from '../data/json.js';
import type { RecordVersion } from '../downloads/mirror-file.js';
import { openSyncedLines, parseLines, readBytes, type SyncedLines } from '../files/synced-lines.js';
import type { Place } from '../runs/plan.js';
import { journalFile } from './layout.js';

/** A file that was fetched, and the state of its document's record then. */
export interface FetchedFile extends RecordVersion {
  readonly id: string;
  readonly bytes: number;
  readonly sha256: string;
}

/** The content of a journal. */
export interface JournalContent {
  /** The organization and service that it belongs to; undefined if it was cut before it said so. */
  readonly place: Place | undefined;
  readonly fetched: readonly FetchedFile[];
  readonly bytes: number;
}

/** Reads the journal of an unfinished snapshot; an absent one is empty. Throws GuardError, OutputError. */
export async function readFetchJournal(path: string): Promise<JournalContent> {
  const file = join(path, journalFile);
  const { lines, bytes } = parseLines(await readBytes(file), file, (line) => line);
  const [head, ...fetched] = lines;
  return { place: head && placeOfJournal(head), fetched: fetched.flatMap(fetchedIn), bytes };
}

function placeOfJournal({ service, organization }: JsonObject): Place {
  return { service: String(service), organization: String(organization) };
}

function fetchedIn({ id, bytes, sha256, updatedAt, record }: JsonObject): readonly FetchedFile[] {
  if (typeof id !== 'string' || typeof bytes !== 'number' || typeof sha256 !== 'string') return [];
  return [
    { id, bytes, sha256, updatedAt: textOrNothing(updatedAt), record: textOrNothing(record) },
  ];
}

function textOrNothing(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** Opens the journal to append to it, and begins it if it is new. Throws OutputError. */
export async function openFetchJournal(
  path: string,
  { bytes }: Pick<JournalContent, 'bytes'>,
  place: Place,
  isOurs: () => boolean,
): Promise<SyncedLines> {
  const file = join(path, journalFile);
  const journal = await openSyncedLines(file, { what: 'The journal', bytes, isOurs });
  if (bytes === 0) await journal.append(place);
  return journal;
}
