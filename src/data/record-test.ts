import type { JsonObject } from './json.js';

/** A further filter of one resource: what a record must be. */
export interface RecordTest {
  holds(record: JsonObject): boolean;
  /** The field it reads, where one that no record has is a mistake and not an empty answer. */
  readonly field?: { readonly name: string; on(record: JsonObject): boolean };
}
