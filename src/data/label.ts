/** What a person calls a record. */
import type { JsonObject } from './json.js';

/** Its name, else its id. */
export function labelOf(record: JsonObject | undefined, id: string): string {
  const name = record?.['name'];
  return typeof name === 'string' && name !== '' ? name : id;
}
