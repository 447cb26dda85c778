/** Counts of the values of one field, or of the answers to one question of the forms. */
import { fieldOf } from '../cli/record-fields.js';
import type { JsonObject } from '../data/json.js';
import { plainText, valuesAt } from '../data/path.js';
import { isEmptyValue, type RecordTest } from '../data/where.js';

/** How often each value occurs; records without a value count under the empty text. */
export type Counts = Readonly<Record<string, number>>;

/**
 * Counts applications by a field. Each element of a list counts, once per application. A name that no
 * record has as a field may be a question: `Main role` is then `formResponses.Main role`.
 */
export class FieldCounts {
  private readonly ofField = new Map<string, number>();
  private readonly ofQuestion = new Map<string, number>();
  private isQuestion = false;
  /** The API's name of the field, which differs from the one typed if that is a label. */
  private field: string;

  constructor(typed: string) {
    this.field = typed;
  }

  /** A test that every record passes; it makes a field that no record has an error. */
  test(): RecordTest {
    const { field } = fieldOf(this.field, 'tryouts');
    const on = (record: JsonObject) => field?.on(record) || isAsked(record, this.field);
    return { holds: () => true, ...(field && { field: { ...field, on } }) };
  }

  /** Translates the name typed, if it is a label; called before the first record is counted. */
  rename(nameOf: (field: string) => string): void {
    this.field = nameOf(this.field);
  }

  add(record: JsonObject): void {
    count(this.ofField, valuesAt(record, this.field));
    if (!isAsked(record, this.field)) return count(this.ofQuestion, undefined);
    this.isQuestion = true;
    count(this.ofQuestion, valuesAt(record, questionPath(this.field)));
  }

  /** Returns the API's name of the field, and the counts, the most frequent value first. */
  counts(): readonly [field: string, counts: Counts] {
    const hasField = [...this.ofField.keys()].some((value) => value !== '');
    const isQuestion = this.isQuestion && !hasField;
    const found = [...(isQuestion ? this.ofQuestion : this.ofField)];
    const sorted = found.toSorted(([a, m], [b, n]) => n - m || (a < b ? -1 : 1));
    return [isQuestion ? questionPath(this.field) : this.field, Object.fromEntries(sorted)];
  }
}

function questionPath(question: string): string {
  return `formResponses.${question}`;
}

function isAsked(record: JsonObject, question: string): boolean {
  return valuesAt(record, questionPath(question)) !== undefined;
}

function count(counts: Map<string, number>, values: readonly unknown[] = []): void {
  const texts = new Set(values.filter((value) => !isEmptyValue(value)).map(plainText));
  for (const text of texts.size > 0 ? texts : ['']) counts.set(text, (counts.get(text) ?? 0) + 1);
}
