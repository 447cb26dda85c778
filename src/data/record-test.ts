import { timeOf } from './dates.js';
import type { JsonObject } from './json.js';

/** A further filter of one resource: what a record must be. */
export interface RecordTest {
  holds(record: JsonObject): boolean;
  /** The field it reads, where one that no record has is a mistake and not an empty answer. */
  readonly field?: { readonly name: string; on(record: JsonObject): boolean };
}

/**
 * Records whose time in a field lies between two moments (milliseconds); both ends count, and a time
 * that cannot be read lies in no range. No test without either moment.
 */
export function withinTimes(
  field: string,
  from: number | undefined,
  to: number | undefined,
): readonly Pick<RecordTest, 'holds'>[] {
  if (from === undefined && to === undefined) return [];
  const holds = (record: JsonObject) => {
    const value = record[field];
    const ms = typeof value === 'string' ? timeOf(value) : undefined;
    return ms !== undefined && ms >= (from ?? -Infinity) && ms <= (to ?? Infinity);
  };
  return [{ holds }];
}
