/** Whole lists, and the records that answer to a key. */
import { hasId } from '../../api/records.js';
import type { KeyComparison } from '../../cli/column-aliases.js';
import type { Context } from '../../context.js';
import type { JsonObject } from '../../data/json.js';
import { plainText, valueAt } from '../../data/path.js';
import { type ResourceName, resourceWords } from '../../data/resources.js';
import { foldCase, isSameText } from '../../data/text.js';
import { GuardError } from '../../errors.js';

/**
 * Yields every record of a resource, read now. Throws GuardError at the end if the list may be
 * incomplete, and at a record without an id.
 */
export async function* wholeList(
  context: Context,
  resource: ResourceName,
): AsyncGenerator<JsonObject> {
  const list = context.api.list(resource, undefined, { checksCompleteness: true });
  for await (const record of list) {
    if (!hasId(record))
      throw new GuardError(
        `A ${resourceWords[resource].noun} in the list has no id. Nothing was sent.`,
        { code: 'incomplete', hint: `See: rosterctl ${resource} list -o json` },
      );
    yield record;
  }
  const completeness = list.completeness();
  if (completeness.state !== 'doubtful') return;
  throw new GuardError(
    `The list of ${resource} may be incomplete: ${completeness.reason}. Nothing was sent.`,
    {
      code: 'incomplete',
      ...(completeness.fixes && { hint: completeness.fixes.join('\n') }),
    },
  );
}

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
    if (text === '') return;
    const folded = foldKey(text, this.comparison);
    const same = this.byKey.get(folded);
    if (same) same.push(record);
    else this.byKey.set(folded, [record]);
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
