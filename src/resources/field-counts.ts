/** Counts of the values of one field, or of the answers to one question of the forms. */
import { fieldOf } from '../cli/record-fields.js';
import type { JsonObject } from '../data/json.js';
import { plainText, valuesAt } from '../data/path.js';
import { isEmptyValue, type RecordTest } from '../data/where.js';

/** How often each value occurs; records without a value count under the empty text. */
export type Counts = Readonly<Record<string, number>>;

/** The distinct values of one application, as texts: of the field, and of the question of that name. */
export interface ValuesOfTryout {
  readonly ofField: readonly string[];
  readonly ofQuestion: readonly string[];
}

/**
 * Counts applications by a field. Each element of a list counts, once per application. A name that no
 * record has as a field may be a question: `Main role` is then `formResponses.Main role`.
 */
export class FieldCounts {
  private readonly ofField = new Map<string, number>();
  private readonly ofQuestion = new Map<string, number>();
  private isAsked = false;
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

  /** Counts a record, and returns its values; the empty text for none. */
  add(record: JsonObject): ValuesOfTryout {
    this.isAsked ||= isAsked(record, this.field);
    const ofField = textsOf(valuesAt(record, this.field));
    const ofQuestion = textsOf(valuesAt(record, questionPath(this.field)));
    for (const text of ofField) this.ofField.set(text, (this.ofField.get(text) ?? 0) + 1);
    for (const text of ofQuestion) this.ofQuestion.set(text, (this.ofQuestion.get(text) ?? 0) + 1);
    return { ofField, ofQuestion };
  }

  /** The API's name of the field; known once every record was counted. */
  get name(): string {
    return this.isQuestion ? questionPath(this.field) : this.field;
  }

  /** Returns the counts, the most frequent value first. */
  counts(): Counts {
    const found = [...(this.isQuestion ? this.ofQuestion : this.ofField)];
    return Object.fromEntries(found.toSorted(([a, m], [b, n]) => n - m || (a < b ? -1 : 1)));
  }

  /** Returns those values of an application that were counted. */
  valuesIn({ ofField, ofQuestion }: ValuesOfTryout): readonly string[] {
    return this.isQuestion ? ofQuestion : ofField;
  }

  private get isQuestion(): boolean {
    return this.isAsked && ![...this.ofField.keys()].some((value) => value !== '');
  }
}

function questionPath(question: string): string {
  return `formResponses.${question}`;
}

function isAsked(record: JsonObject, question: string): boolean {
  return valuesAt(record, questionPath(question)) !== undefined;
}

function textsOf(values: readonly unknown[] = []): readonly string[] {
  const texts = new Set(values.filter((value) => !isEmptyValue(value)).map(plainText));
  return texts.size > 0 ? [...texts] : [''];
}
