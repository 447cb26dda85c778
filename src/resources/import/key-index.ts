/** The keys of an import: what records hold in one field, and those that answer to it. */

import type { KeyComparison } from '../../cli/column-aliases.js';
import type { JsonObject } from '../../data/json.js';
import { plainText, valueAt } from '../../data/path.js';
import { addTo } from '../../data/sorting.js';
import { foldCase, isSameText } from '../../data/text.js';

/** The consequence of a list that may not be whole for an import; a service without records may answer without a list. */
export const importDoubt = { so: 'so nothing was sent', mayBeEmpty: true } as const;

/** The text by which a record answers to a key; empty if it holds none. */
export function keyText(record: JsonObject, field: string): string {
  return plainText(valueAt(record, field)).trim();
}

/** Returns the form in which equal keys are equal. */
export function foldKey(text: string, comparison: KeyComparison): string {
  return comparison === 'exact' ? text.trim().normalize('NFC') : foldCase(text.trim());
}

/** Records by what they hold in one field. */
export class KeyIndex {
  private readonly byKey = new Map<string, JsonObject[]>();

  constructor(
    private readonly field: string,
    private readonly comparison: KeyComparison,
  ) {}

  add(record: JsonObject): void {
    const text = keyText(record, this.field);
    if (text !== '') addTo(this.byKey, foldKey(text, this.comparison), record);
  }

  /** The records that answer; where the spelling counts, only those in this one if there are any. */
  find(text: string): readonly JsonObject[] {
    const found = this.byKey.get(foldKey(text, this.comparison)) ?? [];
    if (this.comparison !== 'sameCaseFirst') return found;
    const exact = found.filter((record) => isSameText(keyText(record, this.field), text.trim()));
    return exact.length > 0 ? exact : found;
  }
}

/** True if a record still holds this key. */
export function holdsKey(
  record: JsonObject,
  field: string,
  text: string,
  comparison: KeyComparison,
): boolean {
  return foldKey(keyText(record, field), comparison) === foldKey(text, comparison);
}
