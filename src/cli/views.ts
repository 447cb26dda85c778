import type { Call, PlannedRequest } from '../api/types.js';
import type { JsonObject } from '../data/json.js';
import type { ResourceName } from '../data/resources.js';

/** What a person's lines may depend on. */
export interface Canvas {
  readonly now: Date;
  readonly columns: number;
  /** A screen, and no file or pipe: what is left out there is seen nowhere. */
  readonly isTerminal: boolean;
  /** Bold, dim, colours; each returns the text unchanged where colour is off. */
  readonly paint: {
    bold(text: string): string;
    dim(text: string): string;
    status(text: string): string;
  };
}

/** How a command's value is shown; its type is what `--json` prints. */
export interface View<T> {
  /**
   * `records`: many, streamed as they come; `record`: one; `either`: an array or one object, as the
   * value is; `lines`: a person gets `lines()`, a machine the value.
   */
  readonly kind: 'records' | 'record' | 'either' | 'lines';
  /** Whose records they are: columns, order on a terminal, `--fields` that are always known. */
  readonly resource?: ResourceName | undefined;
  /** Columns (dotted paths) where they are known; without them they come from the data. */
  readonly columns?: readonly string[] | undefined;
  /** For a person's table: its columns, each with a short header. */
  readonly interactiveColumns?: readonly (readonly [field: string, header: string])[] | undefined;
  /** Fields that its rows may have, with all that stands below them; a row need not have each. */
  readonly rowFields?: readonly string[] | undefined;
  /** JSON stays on one line in a terminal too. */
  readonly oneLine?: boolean | undefined;
  /** Lines for a person, already composed of safe text and paint. */
  lines?(value: T, canvas: Canvas): readonly string[];
  /** The records inside the value, for ndjson, csv and ids; without it the value itself. */
  rows?(value: T): readonly JsonObject[];
  /** The records whose ids `-o ids` prints, where they are not all of `rows`. */
  idRows?(value: T): readonly JsonObject[];
  /** A last line of ndjson, such as the summary of a bulk report. */
  closing?(value: T): JsonObject;
}

export type Records = AsyncIterable<JsonObject> | readonly JsonObject[];

/** A list of a resource's records. */
export function listOf(resource: ResourceName): View<Records> {
  return { kind: 'records', resource };
}

/** One record of a resource. */
export function recordOf(resource: ResourceName): View<JsonObject> {
  return { kind: 'record', resource };
}

/** One id: the record; several: an array. */
export function oneOrManyOf(resource: ResourceName): View<JsonObject | readonly JsonObject[]> {
  return { kind: 'either', resource };
}

/** A list of our own rows with known columns. */
export function rowsOf<T>(columns: readonly string[]): View<readonly T[]> {
  return { kind: 'records', columns };
}

/** A value with its own lines for a person. */
export function linesOf<T>(lines: (value: T, canvas: Canvas) => readonly string[]): View<T> {
  return { kind: 'lines', lines };
}

/** One field, old and new; `from` is undefined where the old value is not known. */
export interface Change {
  readonly id: string | null;
  readonly field: string;
  readonly from: unknown;
  readonly to: unknown;
}

/** What a write would do, found out by reads only. */
export interface Plan<S = unknown> {
  /** The requests in order; empty = there is nothing to change. */
  readonly calls: readonly Call[];
  readonly changes: readonly Change[];
  /** What a dry run shows instead of the calls, where these do not tell all (an upload's PUT). */
  readonly requests?: readonly PlannedRequest[];
  /** It turned out to change nothing (`api` with GET): a dry run sends it as any read. */
  readonly onlyReads?: boolean;
  /** In a run: why the row is left alone whatever it would change. */
  readonly skipped?: { readonly code: string; readonly message: string } | undefined;
  /** What `apply` needs besides the calls, typically the record as read. */
  readonly state: S;
}
