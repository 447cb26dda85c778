/** Conditions on records: `--where`, `--if`, `--search`, and the tests of other filters. */
import { UsageError } from '../errors.js';
import { timeOf } from './dates.js';
import { isNumber, isObject, type JsonObject } from './json.js';
import { plainText, valuesAt } from './path.js';
import { compareDecimals } from './sorting.js';
import { foldCase, isSameText, shellQuote } from './text.js';

/** The operators of a condition; longer ones first, since `<` begins `<=`. */
export const operators = ['!=', '<=', '>=', '=', '~', '<', '>'] as const;
type Operator = (typeof operators)[number];

/** One `--where`: a field (dotted), an operator and the text to compare with. */
export interface Condition {
  readonly field: string;
  readonly operator: Operator;
  readonly value: string;
}

/**
 * Parses `status=pending`, `formResponses.age>=16`, `name~fox`. Throws UsageError, also for `=>`
 * and `=<`, which would otherwise compare with a text that starts with `>` or `<`.
 */
export function parseCondition(text: string): Condition {
  const at = text.search(/[=~<>]|!=/);
  const operator = operators.find((entry) => text.startsWith(entry, Math.max(at, 0)));
  if (at < 0 || !operator)
    throw new UsageError('A condition needs an operator.', {
      hint: "Write 'field=value', or one of != ~ < > <= >= between field and value.",
    });
  const left = text.slice(0, at);
  const [swapped] = /^=[<>]/.exec(text.slice(at)) ?? [];
  if (swapped)
    throw new UsageError(`"${swapped}" is not an operator. Did you mean ${swapped[1]}=?`, {
      hint: `To compare with a text that begins with ${swapped[1]}, write ==${swapped[1]} instead.`,
    });
  // Accept `==` for `=`, as in programming languages.
  const right = text.slice(text.startsWith('==', at) ? at + 2 : at + operator.length);
  // Spaces around the operator, as in `a = b`, are ignored; a space on one side belongs to the
  // value.
  const hasSpaces = /\s$/.test(left) && /^\s/.test(right);
  const field = left.trim();
  if (field === '') throw new UsageError(`The field before ${operator} is missing.`);
  return { field, operator, value: hasSpaces ? right.trim() : right };
}

/**
 * True if a record meets a condition. A list meets `=`, `~` and the comparisons if one element
 * does; `!=` is the opposite of `=`. A missing value is not a match, and `<`, `>`, `<=` and `>=` skip
 * an empty one. Throws UsageError if they cannot compare a value as a number with a number or as
 * a time with a time, and if `=` or `!=` would compare an object with a plain text.
 */
export function matchesCondition(condition: Condition, record: JsonObject): boolean {
  const values = valuesAt(record, condition.field) ?? [];
  switch (condition.operator) {
    case '=':
      return equalsText(values, condition, record);
    case '!=':
      return !equalsText(values, condition, record);
    case '~':
      return values.some((value) => contains(value, condition.value));
    default:
      return anyCompares(values, condition, record);
  }
}

/**
 * True if one of the values equals the text: numbers by value, everything else as text in any
 * Unicode normalization. `null` matches null, a missing value and the empty list.
 */
export function anyEquals(values: readonly unknown[], text: string): boolean {
  if (values.length === 0) return text === 'null';
  return values.some((value) => equals(value, text));
}

/** True if a value contains a text, at any depth and in any case. */
export function contains(value: unknown, text: string): boolean {
  return containsFolded(value, foldCase(text));
}

function containsFolded(value: unknown, folded: string): boolean {
  if (value === null || value === undefined) return false;
  if (typeof value === 'string') return foldCase(value).includes(folded);
  if (Array.isArray(value)) return value.some((element) => containsFolded(element, folded));
  if (isObject(value)) return Object.values(value).some((inner) => containsFolded(inner, folded));
  return foldCase(plainText(value)).includes(folded);
}

function equals(value: unknown, text: string): boolean {
  if (value === null || value === undefined) return text === 'null';
  const own = plainText(value);
  if (isSameText(own, text)) return true;
  return isNumber(value) && compareDecimals(own, text) === 0;
}

function equalsText(values: readonly unknown[], condition: Condition, record: JsonObject): boolean {
  const { field, operator, value } = condition;
  if (anyEquals(values, value)) return true;
  // An object equals nothing but its JSON text, so that `!=` would hold for every record.
  const object = /^\s*(?:[[{].*|null)?$/s.test(value) ? undefined : values.find(isObject);
  const keys = Object.keys(object ?? {});
  const [key] = [...keys.filter((name) => name !== 'id'), ...keys];
  if (key === undefined) return false;
  throw new UsageError(
    `${field}${ownerOf(record)} holds ${values.length > 1 ? 'objects' : 'an object'}, which cannot be compared with "${value}".`,
    {
      hint: `Name a field of it, e.g. ${shellQuote(`${field}.${key}${operator}${value}`)}, or search all of it: ${shellQuote(`${field}~${value}`)}`,
    },
  );
}

function ownerOf({ id }: JsonObject): string {
  return typeof id === 'string' ? ` of ${id}` : '';
}

function anyCompares(
  values: readonly unknown[],
  condition: Condition,
  record: JsonObject,
): boolean {
  let incomparable: unknown;
  for (const value of values) {
    if (isEmptyValue(value)) continue;
    const order = orderOf(plainText(value), condition);
    if (order === undefined) incomparable = value;
    else if (ordered[condition.operator]?.(order)) return true;
  }
  if (incomparable === undefined) return false;
  const { field, operator, value } = condition;
  throw new UsageError(
    `${field}${ownerOf(record)} is "${plainText(incomparable).slice(0, 80)}", which cannot be compared with "${value}".`,
    {
      hint:
        timeOf(incomparable) === undefined
          ? `${operator} compares numbers with numbers and times with times; = != ~ compare text.`
          : 'Write a time as 2026-11-28 or 2026-11-28T18:00:00Z.',
    },
  );
}

/** A bare date is an entire day: `<=` and `>` use its end, `<` and `>=` its local midnight. */
function orderOf(text: string, { operator, value }: Condition): number | undefined {
  const numbers = compareDecimals(text, value);
  if (numbers !== undefined) return numbers;
  const own = timeOf(text);
  const other = timeOf(value, operator === '<=' || operator === '>' ? 'end' : 'start');
  return own === undefined || other === undefined ? undefined : own - other;
}

const ordered: { readonly [O in Operator]?: (order: number) => boolean } = {
  '<': (order) => order < 0,
  '>': (order) => order > 0,
  '<=': (order) => order <= 0,
  '>=': (order) => order >= 0,
};

/** A filter of one resource. */
export interface RecordTest {
  holds(record: JsonObject): boolean;
  /** The field it reads, if a field that no record has is an error rather than an empty result. */
  readonly field?: TestField;
  /** Called after a list in which it held for no record: throws a Failure if it never can. */
  readonly heldForNone?: () => Promise<void>;
  /** How many of the records that it was asked about show nothing that it can read. */
  readonly unreadable?: () => number;
}

/** The field that a test reads. */
export interface TestField {
  readonly name: string;
  /** True for a record whose field the test can read. */
  on(record: JsonObject): boolean;
  /** The flag that reads the field, if it cannot read every type. */
  readonly flag?: string;
  /** Set if the field is a question of a form: returns the flag that asks this question. */
  readonly asking?: (question: string) => string;
  /** The names under which a record has the field; by default its own name. */
  keysIn?(record: JsonObject): readonly string[];
}

/** Returns the field of a flag that reads some types only. An empty value says nothing about the type. */
export function typedField(
  flag: string,
  name: string,
  canRead: (value: unknown) => boolean,
  keysIn = (record: JsonObject): readonly string[] => (Object.hasOwn(record, name) ? [name] : []),
): TestField {
  const on = (record: JsonObject) =>
    keysIn(record).some((key) => !isEmptyValue(record[key]) && canRead(record[key]));
  return { name, flag, on, keysIn };
}

/** True for null, the empty text, list and object. */
export function isEmptyValue(value: unknown): boolean {
  if (value === null || value === undefined || value === '') return true;
  return Array.isArray(value)
    ? value.length === 0
    : isObject(value) && Object.keys(value).length === 0;
}

/**
 * Returns the value of a field that is cleared: null, and undefined for one that is empty already, because a
 * service may store what is cleared as an empty text or list.
 */
export function clearedValue(present: unknown): null | undefined {
  return present !== undefined && isEmptyValue(present) ? undefined : null;
}

/**
 * Returns a test for records whose time in a field is between two times (milliseconds, inclusive).
 * A time that cannot be parsed is in no range, and is counted. Returns no test if both are undefined.
 */
export function withinTimes(
  flag: string,
  field: string,
  from: number | undefined,
  to: number | undefined,
): readonly RecordTest[] {
  if (from === undefined && to === undefined) return [];
  let unreadable = 0;
  const holds = (record: JsonObject) => {
    const ms = timeOf(record[field]);
    if (ms === undefined) unreadable += 1;
    return ms !== undefined && ms >= (from ?? -Infinity) && ms <= (to ?? Infinity);
  };
  const read = typedField(flag, field, (value) => timeOf(value) !== undefined);
  return [{ holds, field: read, unreadable: () => unreadable }];
}
