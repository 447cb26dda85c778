import { timeOf } from './dates.js';
import { type JsonObject, RawNumber } from './json.js';
import { lazy } from './lazy.js';
import { valuesAt } from './path.js';
import { type ResourceName, resourceWords } from './resources.js';
import { stripTrailing } from './text.js';

/** A dotted field to sort by. */
export interface Sorting {
  readonly field: string;
  readonly descending: boolean;
}

/** Sorts records by a field, stably. Records without it come last in both directions. */
export function sortByField(
  records: readonly JsonObject[],
  sorting: Sorting,
): readonly JsonObject[] {
  const keyed = records.map((record) => ({
    record,
    key: keyOf(valuesAt(record, sorting.field)?.find((value) => value !== null)),
  }));
  const direction = sorting.descending ? -1 : 1;
  return keyed
    .toSorted((a, b) => {
      if (!a.key || !b.key) return Number(!a.key) - Number(!b.key);
      return direction * compareKeys(a.key, b.key);
    })
    .map(({ record }) => record);
}

type Key =
  | { readonly rank: 0; readonly decimal: string }
  | { readonly rank: 1; readonly ms: number }
  | { readonly rank: 2; readonly text: string };

function keyOf(value: unknown): Key | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'number' || value instanceof RawNumber)
    return { rank: 0, decimal: String(value) };
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const ms = timeOf(text);
  return ms === undefined ? { rank: 2, text } : { rank: 1, ms };
}

// One fixed locale: the order must not depend on the machine. Made when first needed: it costs as
// much as a fifth of a start-up.
const collator = lazy(() => new Intl.Collator('en', { numeric: true, sensitivity: 'base' }));

function compareTexts(a: string, b: string): number {
  return collator().compare(a, b);
}

function compareKeys(a: Key, b: Key): number {
  if (a.rank === 0 && b.rank === 0) return compareDecimals(a.decimal, b.decimal) ?? 0;
  if (a.rank === 1 && b.rank === 1) return a.ms - b.ms;
  if (a.rank === 2 && b.rank === 2) return compareTexts(a.text, b.text);
  return a.rank - b.rank;
}

/** Returns the default order of a resource's table. */
export function defaultSorting(resource: ResourceName): Sorting {
  const { order } = resourceWords[resource];
  const descending = order.startsWith('-');
  return { field: descending ? order.slice(1) : order, descending };
}

const decimalPattern = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,6}))?$/;

/** Zero has no digits; otherwise the value is sign × 0.digits × 10^exponent. */
interface Decimal {
  readonly sign: -1 | 1;
  readonly digits: string;
  readonly exponent: number;
}

/**
 * Compares two numbers by value from their text, so that 19-digit ids stay distinct. Returns a
 * negative number, zero or a positive number, or undefined if one of the texts is not a number.
 */
export function compareDecimals(left: string, right: string): number | undefined {
  const a = readDecimal(left);
  const b = readDecimal(right);
  if (!a || !b) return undefined;
  const signs = signOf(a) - signOf(b);
  if (signs !== 0) return signs;
  return a.sign < 0 ? compareMagnitudes(b, a) : compareMagnitudes(a, b);
}

function readDecimal(text: string): Decimal | undefined {
  const found = decimalPattern.exec(text.trim());
  const [, sign, whole = '', fraction = '', power = '0'] = found ?? [];
  if (whole + fraction === '') return undefined;
  const padded = whole + fraction;
  const digits = padded.replace(/^0+/, '');
  return {
    sign: sign === '-' ? -1 : 1,
    digits: stripTrailing(digits, '0'),
    exponent: whole.length + Number(power) - (padded.length - digits.length),
  };
}

function signOf(number: Decimal): -1 | 0 | 1 {
  return number.digits === '' ? 0 : number.sign;
}

function compareMagnitudes(a: Decimal, b: Decimal): number {
  if (a.digits === '' || a.exponent !== b.exponent) return a.exponent - b.exponent;
  if (a.digits === b.digits) return 0;
  return a.digits < b.digits ? -1 : 1;
}
