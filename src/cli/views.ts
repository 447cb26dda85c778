/** Views: how a command's value is rendered. */
import type { JsonObject } from '../data/json.js';
import type { ResourceName } from '../data/resources.js';
import type { Paint } from '../terminal/paint.js';
import { wrapPageLine } from '../terminal/whole-words.js';

/** The terminal that lines are rendered for. */
export interface Canvas {
  readonly now: Date;
  readonly columns: number;
  /** True for a screen. In a file or pipe nothing is left out, because it would be shown nowhere else. */
  readonly isTerminal: boolean;
  /** False where bars, dots and arrows are drawn in ASCII: another locale than UTF-8, or TERM=dumb. */
  readonly isUtf8: boolean;
  readonly paint: Paint;
}

/** Observes the records of a list for the footer below it. */
export interface ListSummary {
  /** Called with each record and whether it passed the filters. */
  observe(record: JsonObject, matches: boolean): void;
  /** A word that all matching records share, `pending`, and whether all records with it match. */
  sharedWord?(): { readonly word: string; readonly isWhole: boolean } | undefined;
  /** A fact about the matching records: `oldest waits 56 d`. */
  facts?(now: Date): readonly string[];
  /** Sentences for a list without a match, if not the usual one, and whether a filter names a value that no record has. */
  none?(now?: Date): { readonly text: string; readonly isUnknown: boolean } | undefined;
}

/** Fields of a list's records, although those that are shown may lack them; complete once it was read. */
export interface ReadFields {
  /** Those typed fields, undocumented ones, that some record has. */
  readonly seen: ReadonlySet<string>;
  /** The first records, if a typed field is not documented. */
  readonly first: readonly JsonObject[];
}

/** A list with the numbers of its records, which are final once it was read. */
export interface CountedList {
  readonly listed?: ReadFields | undefined;
  readonly resource: ResourceName;
  readonly counts: { readonly read: number; readonly matched: number; readonly shown: number };
  readonly summary: Omit<ListSummary, 'observe'> | undefined;
}

/** How a command's value is rendered; its type is what `--json` prints. */
export interface View<T> {
  /** The resource of the records; decides columns, order on a terminal and the `--fields` that are always known. */
  readonly resource?: ResourceName | undefined;
  /** The columns (dotted paths), if known; otherwise they are chosen from the data. */
  readonly columns?: readonly string[] | undefined;
  /** The columns of a table on a terminal, each with a short header. */
  readonly interactiveColumns?: readonly (readonly [field: string, header: string])[] | undefined;
  /** Fields that a row may have, nested ones included; not every row has each. */
  readonly rowFields?: readonly string[] | undefined;
  /** The text for a person in place of an empty table. */
  readonly whenEmpty?: string | undefined;
  /** True for records that were named: each missing one was reported, so that an empty table needs no text. */
  readonly isNamed?: boolean | undefined;
  /** Further fields that may be named although no row has them. */
  readonly listed?: ReadFields | undefined;
  /** True to keep JSON on one line on a terminal too. */
  readonly oneLine?: boolean | undefined;
  /** True if the lines only say that something was done, or that there is nothing to do. */
  isSentence?(value: T): boolean;
  /** Returns the numbers of a list that was read, for its footer. */
  counted?(value: T): CountedList | undefined;
  /** Renders lines for a person, from sanitized text and colour. */
  lines?(value: T, canvas: Canvas): readonly string[];
  /** Returns the records inside the value, for ndjson, csv and ids; by default the value itself. */
  rows?(value: T): readonly JsonObject[];
  /** Returns the rows of csv, if not those of `rows`. */
  csvRows?(value: T): readonly JsonObject[];
  /** Returns the records whose ids `-o ids` prints, if not all of `rows`. */
  idRows?(value: T): readonly JsonObject[];
  /** Returns the last line of ndjson, such as the summary of a bulk report. */
  closing?(value: T): JsonObject;
}

type Records = AsyncIterable<JsonObject> | readonly JsonObject[];

/** Creates the view of a list of a resource's records. */
export function listView(resource: ResourceName): View<Records> {
  return {
    resource,
    counted: (list) => ('counts' in list ? (list as Records & CountedList) : undefined),
  };
}

/** Creates the view of one record of a resource. */
export function recordView(resource: ResourceName): View<JsonObject> {
  return { resource };
}

/** Creates the view of one record for one id, and of an array for several. */
export function oneOrManyView(resource: ResourceName): View<JsonObject | readonly JsonObject[]> {
  return { resource, isNamed: true };
}

/** Creates the view of a list of rows with known columns; `whenEmpty` replaces an empty table. */
export function rowsView<T>(columns: readonly string[], whenEmpty?: string): View<readonly T[]> {
  return { columns, whenEmpty };
}

/** Creates the view of a value that renders its own lines for a person. */
export function linesView<T>(lines: (value: T, canvas: Canvas) => readonly string[]): View<T> {
  return { lines };
}

/** Creates the view of what a command has done: wrapped sentences, which --quiet leaves out. */
export function sentencesView<T>(
  sentences: (value: T, canvas: Canvas) => readonly string[],
): View<T> {
  const lines = (value: T, canvas: Canvas) => {
    const { isTerminal, columns } = canvas;
    const texts = sentences(value, canvas);
    return isTerminal ? texts.flatMap((text) => wrapPageLine(text, columns)) : texts;
  };
  return { lines, isSentence: () => true };
}
