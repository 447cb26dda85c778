import * as z from 'zod/mini';
import type { ResourceName } from '../api/contract.js';
import { resources } from '../api/resources.js';
import type { JsonObject } from '../data/json.js';

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

/** How a command's value is shown; the schema says what `--json` prints. */
export interface View<T> {
  readonly schema: z.core.$ZodType;
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
  readonly forPeople?: readonly (readonly [field: string, header: string])[] | undefined;
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

/** The schema of one record of a resource: documented fields checked, the rest passed through. */
export function recordSchema(resource: ResourceName): z.core.$ZodType {
  return resources[resource].schema;
}

/** A list of a resource's records. */
export function listOf(resource: ResourceName): View<Records> {
  return { kind: 'records', schema: z.array(recordSchema(resource)), resource };
}

/** One record of a resource. */
export function recordOf(resource: ResourceName): View<JsonObject> {
  return { kind: 'record', schema: recordSchema(resource), resource };
}

/** One id: the record; several: an array. */
export function oneOrManyOf(resource: ResourceName): View<JsonObject | readonly JsonObject[]> {
  const one = recordSchema(resource);
  return { kind: 'either', schema: z.union([one, z.array(one)]), resource };
}

/** A list of our own rows with known columns. */
export function rowsOf<S extends z.core.$ZodType>(
  row: S,
  columns: readonly string[],
): View<readonly z.infer<S>[]> {
  return { kind: 'records', schema: z.array(row), columns };
}

/** A value with its own lines for a person. */
export function linesOf<S extends z.core.$ZodType>(
  schema: S,
  lines: (value: z.infer<S>, canvas: Canvas) => readonly string[],
): View<z.infer<S>> {
  return { kind: 'lines', schema, lines };
}
