/** Orders and groups of records: `--sort`, the usual order of each resource, and comparing values by what they mean. */
import { isDeepStrictEqual } from 'node:util';
import { timeOf } from './dates.js';
import { isObject, type JsonObject, RawNumber } from './json.js';
import { lazy } from './lazy.js';
import { nameOfObject, plainText, valuesAt } from './path.js';
import { type ResourceName, resourceWords } from './resources.js';
import { withoutSignatures } from './signed-urls.js';
import { foldCase, stripTrailing } from './text.js';

/** A dotted field to sort by. */
export interface Sorting {
  readonly field: string;
  readonly descending: boolean;
}

/** An order of records. Those without a key come last, and ties are ordered by id. */
export interface RecordOrder {
  keyOf(record: JsonObject): SortKey | undefined;
  compare(a: SortKey, b: SortKey): number;
}

/** Returns the order of `--sort`: in both directions numbers by value, then times by instant, then other values as text, objects by their name. */
export function orderByField({ field, descending }: Sorting): RecordOrder {
  const direction = descending ? -1 : 1;
  return {
    keyOf: (record) => sortKey(valuesAt(record, field)?.find((value) => value !== null)),
    compare: (a, b) => a.rank - b.rank || direction * compareKeys(a, b),
  };
}

/**
 * Returns the order of a resource's table, by which `--limit` cuts everywhere: applications by the
 * time they were submitted, newest first; others by name, in lower case by code point.
 */
export function usualOrder(resource: ResourceName): RecordOrder {
  const { field, descending } = usualSorting(resource);
  if (descending)
    return {
      keyOf: (record) => timeKey(record[field]),
      compare: (a, b) => compareKeys(b, a),
    };
  return {
    keyOf: ({ [field]: name }) =>
      typeof name === 'string' ? { rank: 2, text: foldCase(name) } : undefined,
    compare: (a, b) => (a.rank === 2 && b.rank === 2 ? compareCodePoints(a.text, b.text) : 0),
  };
}

/** Returns the field of a resource's usual order; descending for a time, newest first. */
export function usualSorting(resource: ResourceName): Sorting {
  const { order } = resourceWords[resource];
  const descending = order.startsWith('-');
  return { field: descending ? order.slice(1) : order, descending };
}

/** The field that tells how old a record is: that of an order by time, else when it was made. */
export function ageField(resource: ResourceName): string {
  const { field, descending } = usualSorting(resource);
  return descending ? field : 'createdAt';
}

/** Returns records in the order of their resource's table. */
export function inUsualOrder(
  records: readonly JsonObject[],
  resource: ResourceName,
): readonly JsonObject[] {
  const ordered = new OrderedRecords(usualOrder(resource));
  for (const record of records) ordered.add(record);
  return ordered.first();
}

/** Collects records and returns the first of them in an order; holds little more than it returns. */
export class OrderedRecords {
  private entries: SortEntry[] = [];

  constructor(
    private readonly order: RecordOrder,
    private readonly limit = Infinity,
  ) {}

  add(record: JsonObject): void {
    const { id } = record;
    this.entries.push({ record, key: this.order.keyOf(record), id: plainText(id) });
    if (this.entries.length >= 2 * this.limit + spareEntries) this.cut();
  }

  first(): readonly JsonObject[] {
    this.cut();
    return this.entries.map(({ record }) => record);
  }

  private cut(): void {
    const { order, limit } = this;
    this.entries.sort((a, b) => {
      const byKey = a.key && b.key ? order.compare(a.key, b.key) : Number(!a.key) - Number(!b.key);
      return byKey || compareCodePoints(a.id, b.id);
    });
    if (this.entries.length > limit) this.entries.length = limit;
  }
}

/** How many records beyond twice the limit are collected before they are sorted and cut. */
const spareEntries = 1_000;

interface SortEntry {
  readonly record: JsonObject;
  readonly key: SortKey | undefined;
  readonly id: string;
}

/** Compares two texts by code point; `<` compares UTF-16 units, which differ beyond U+FFFF. */
function compareCodePoints(a: string, b: string): number {
  if (a === b) return 0;
  let at = 0;
  while (at < a.length && a.charCodeAt(at) === b.charCodeAt(at)) at += 1;
  const left = a.charCodeAt(at);
  const right = b.charCodeAt(at);
  if (at >= a.length || at >= b.length) return a.length - b.length;
  // A surrogate is half of a code point above all others that a single unit can hold.
  return Number(isSurrogate(left)) - Number(isSurrogate(right)) || left - right;
}

function isSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdfff;
}

type SortKey =
  | { readonly rank: 0; readonly decimal: string }
  | { readonly rank: 1; readonly ms: number }
  | { readonly rank: 2; readonly text: string };

function sortKey(value: unknown): SortKey | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'number' || value instanceof RawNumber)
    return { rank: 0, decimal: String(value) };
  const name = isObject(value) ? nameOfObject(value) : undefined;
  const text = typeof value === 'string' ? value : (name ?? JSON.stringify(value));
  const ms = timeOf(text);
  return ms === undefined ? { rank: 2, text } : { rank: 1, ms };
}

// One fixed locale: the order must not depend on the machine. Made when first needed: it costs as
// much as a fifth of a start-up.
const collator = lazy(() => new Intl.Collator('en', { numeric: true, sensitivity: 'base' }));

function timeKey(value: unknown): SortKey | undefined {
  const ms = timeOf(value);
  return ms === undefined ? undefined : { rank: 1, ms };
}

function compareKeys(a: SortKey, b: SortKey): number {
  if (a.rank === 0 && b.rank === 0) return compareDecimals(a.decimal, b.decimal) ?? 0;
  if (a.rank === 1 && b.rank === 1) return a.ms - b.ms;
  if (a.rank === 2 && b.rank === 2) return collator().compare(a.text, b.text);
  return a.rank - b.rank;
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
  const sign = signOf(a);
  // Zero has many spellings: 0.0, -0 and 0e5.
  if (sign === 0 || sign !== signOf(b)) return sign - signOf(b);
  return sign < 0 ? compareMagnitudes(b, a) : compareMagnitudes(a, b);
}

/** True if two JSON values mean the same: 1.50 is 1.5, and of a 19-digit id every digit counts. */
export function isSameValue(one: unknown, other: unknown): boolean {
  // Most are texts; Node loads the comparison of objects when it is first used.
  if (typeof one !== 'object' && typeof other !== 'object') return one === other;
  return isDeepStrictEqual(one, other) || isDeepStrictEqual(comparable(one), comparable(other));
}

/**
 * True if two values are one number or one instant in different forms: 9.5 and "9.50", 10:00Z and
 * 12:00+02:00, false and 0. Of two texts without a decimal point, such as 07 and 7, every character counts.
 */
export function isSameMeaning(one: unknown, other: unknown): boolean {
  if (isSameValue(one, other)) return true;
  const texts = [formText(one), formText(other)] as const;
  const isCode =
    typeof one === 'string' && typeof other === 'string' && !texts.join('').includes('.');
  if (!isCode && compareDecimals(...texts) === 0) return true;
  const ms = timeOf(texts[0]);
  return ms !== undefined && ms === timeOf(texts[1]);
}

/** A database without booleans keeps 0 and 1. */
function formText(value: unknown): string {
  return plainText(typeof value === 'boolean' ? Number(value) : value);
}

/** True if a service shows the same value in two answers, whatever the signatures of its URLs. */
export function isUnchanged(one: unknown, other: unknown): boolean {
  return isSameValue(withoutSignatures(one), withoutSignatures(other));
}

/** Returns a value with each raw number as a double, if one holds it exactly, and without negative zeros. */
function comparable(value: unknown): unknown {
  if (value instanceof RawNumber) {
    const double = Number(value.text);
    return compareDecimals(value.text, String(double)) === 0 ? double + 0 : value;
  }
  if (typeof value === 'number') return value + 0;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(comparable);
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, comparable(item)]));
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
  if (a.exponent !== b.exponent) return a.exponent - b.exponent;
  if (a.digits === b.digits) return 0;
  return a.digits < b.digits ? -1 : 1;
}

/** Adds a value to the group of a key. */
export function addTo<K, V>(groups: Map<K, V[]>, key: K, value: V): void {
  const group = groups.get(key);
  if (group) group.push(value);
  else groups.set(key, [value]);
}
