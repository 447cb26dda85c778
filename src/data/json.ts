/** JSON without loss: parses and prints numbers, keys and texts exactly. */
import { escapedUnit, unsafeBeyondC0 } from './text.js';

/** A JSON object as the service sent it: unknown fields kept, order kept. */
export type JsonObject = { readonly [key: string]: unknown };

export function isObject(value: unknown): value is JsonObject {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    !(value instanceof RawNumber)
  );
}

/** Returns the JSON object in a text that this program wrote (`JSON.parse` is faster); else undefined. */
export function objectIn(
  text: string,
  parse: (text: string) => unknown = parseJson,
): JsonObject | undefined {
  try {
    const value = parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** A JSON number that a double loses or prints otherwise (19-digit chat ids, 1.50); kept as sent. */
export class RawNumber {
  constructor(readonly text: string) {}
  toString(): string {
    return this.text;
  }
  /** Called only by JSON.stringify, which cannot print the raw text; `printJson` does. */
  toJSON(): number {
    hasRawNumber = true;
    return Number(this.text);
  }
}

let hasRawNumber = false;

/** True for a JSON number, also one that is kept as sent. */
export function isNumber(value: unknown): boolean {
  return typeof value === 'number' || value instanceof RawNumber;
}

/** True for a text or a number: what an id or a label can be. */
export function isTextOrNumber(value: unknown): boolean {
  return typeof value === 'string' || isNumber(value);
}

/** The text that a JSON value is; undefined for any other value. */
export function stringOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** The number that a JSON value is, as a double; undefined for any other value. */
export function numberOf(value: unknown): number | undefined {
  if (value instanceof RawNumber) return Number(value.text);
  return typeof value === 'number' ? value : undefined;
}

/** The whole number, not negative, that a value is, also one written as text; undefined for any other. */
export function wholeNumberOf(value: unknown): number | undefined {
  const number = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : numberOf(value);
  return Number.isSafeInteger(number) && Number(number) >= 0 ? number : undefined;
}

/** True if any text within the value satisfies `is`. */
export function someText(value: unknown, is: (text: string) => boolean): boolean {
  if (typeof value === 'string') return is(value);
  if (Array.isArray(value)) return value.some((item) => someText(item, is));
  return isObject(value) && Object.values(value).some((item) => someText(item, is));
}

/** Returns a JSON value with every text in it changed, and every name as `nameOf` changes it. */
export function mapTexts(
  value: unknown,
  change: (text: string) => string,
  nameOf = (name: string) => name,
): unknown {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, change, nameOf));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [nameOf(name), mapTexts(item, change, nameOf)]),
  );
}

/** The deepest nesting of lists and objects, far beyond what any record needs. */
export const maxDepth = 200;

/**
 * Parses JSON without loss: numbers that a double would print otherwise become RawNumber, and a
 * `__proto__` key stays an own key. Drops a byte order mark. Throws SyntaxError for invalid JSON,
 * TooDeepError for excessive nesting.
 */
export function parseJson(text: string): unknown {
  const plain = text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
  const value = mayContainRisky(plain) ? parseKeepingNumbers(plain) : JSON.parse(plain);
  if (mayBeDeep(plain)) checkDepth(value);
  return value;
}

/** Returns the first key that an object of valid JSON has twice, of which a parser keeps only the last. */
export function repeatedKey(json: string): string | undefined {
  const open: Set<string>[] = [];
  for (const [token, text, colon] of json.matchAll(/("(?:[^"\\]|\\.)*")\s*(:?)|[{}]/g)) {
    if (token === '{') open.push(new Set());
    else if (token === '}') open.pop();
    else if (colon === ':') {
      const key = JSON.parse(text ?? '""') as string;
      if (open.at(-1)?.has(key)) return key;
      open.at(-1)?.add(key);
    }
  }
  return undefined;
}

/**
 * Prints a value as JSON: raw numbers unchanged, and characters that control a terminal (C1
 * controls, DEL, bidirectional controls, U+2028/2029, lone surrogates) escaped, so that it parses
 * to the same value. `indent` is the number of spaces; 0 prints one line. No newline at the end.
 */
export function printJson(value: unknown, { indent = 0 }: { indent?: number } = {}): string {
  hasRawNumber = false;
  const fastText = JSON.stringify(value, undefined, indent) as string | undefined;
  const text = hasRawNumber ? printSlowly(value, indent, '') : fastText;
  const printed = text ?? 'null';
  // As many characters as bytes means ASCII, of which only DEL needs an escape.
  const isAscii = printed.length === Buffer.byteLength(printed);
  const isSafe = isAscii ? !printed.includes('\u007f') : !unsafeInJson.test(printed);
  return isSafe ? printed : printed.replace(allUnsafe, escapedUnit);
}

// --- printing ---

/** Prints by the rules of JSON.stringify, with raw numbers; undefined for values that it omits. */
function printSlowly(value: unknown, indent: number, margin: string): string | undefined {
  if (value instanceof RawNumber) return value.text;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if ('toJSON' in value && typeof value.toJSON === 'function')
    return printSlowly(value.toJSON(), indent, margin);
  const inner = margin + ' '.repeat(indent);
  if (Array.isArray(value)) {
    const items = value.map((item) => printSlowly(item, indent, inner) ?? 'null');
    return enclose('[', items, ']', indent, margin);
  }
  const colon = indent > 0 ? ': ' : ':';
  const items = Object.entries(value).flatMap(([key, item]) => {
    const printed = printSlowly(item, indent, inner);
    return printed === undefined ? [] : [`${JSON.stringify(key)}${colon}${printed}`];
  });
  return enclose('{', items, '}', indent, margin);
}

function enclose(
  open: string,
  items: readonly string[],
  close: string,
  indent: number,
  margin: string,
): string {
  if (items.length === 0) return open + close;
  if (indent === 0) return open + items.join(',') + close;
  const inner = margin + ' '.repeat(indent);
  return `${open}\n${inner}${items.join(`,\n${inner}`)}\n${margin}${close}`;
}

// --- parsing ---

/** True if a text may contain a number that a double prints otherwise; also true for some strings. */
function mayContainRisky(text: string): boolean {
  const mayBe =
    longDigits.test(text) || exponent.test(text) || lastZero.test(text) || text.includes('.000000');
  return (mayBe && riskyNumber.test(text)) || minusZero.test(text);
}

/** Sixteen digits and dots, an exponent, a last zero of a fraction or six first ones, where a number may begin. */
const riskyNumber = /(?:^|[:,[\s])-?(?:\d[\d.]{15}|[\d.]+[eE]|\d+\.\d*0(?:[,}\]\s]|$)|0\.0{6})/;
// Written out, V8 checks only every eighth character: a quarter of the total time.
const longDigits = new RegExp('[\\d.]'.repeat(16));
const exponent = /[\d.][eE][+-]?\d/;
const lastZero = /\.\d*0(?:[,}\]\s]|$)/;
const minusZero = /(?:^|[:,[\s])-0(?:[,}\]\s]|$)/;
/** A number as JSON writes it. */
export const jsonNumber = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** Random, so that no text of a service begins with it, however its letters are escaped. */
const mark = `number:${Math.random()}:`;

/** Turns such numbers into marked strings, parses, and converts the marked strings to RawNumber. */
function parseKeepingNumbers(text: string): unknown {
  const marked = outsideStrings(text, (part) =>
    part.replace(/-?\d[\d.eE+-]*/g, (number) =>
      jsonNumber.test(number) && !printsAlike(number) ? `"${mark}${number}"` : number,
    ),
  );
  if (marked === text) return JSON.parse(text);
  try {
    return unmark(JSON.parse(marked), 0);
  } catch (error) {
    // Parse the original text again, so that the message names a position in it.
    if (!(error instanceof TooDeepError)) JSON.parse(text);
    throw error;
  }
}

/** Applies `change` to everything between the strings of a JSON text. */
function outsideStrings(text: string, change: (part: string) => string): string {
  const parts: string[] = [];
  let from = 0;
  while (from < text.length) {
    const quote = text.indexOf('"', from);
    if (quote < 0) break;
    const end = endOfString(text, quote);
    parts.push(change(text.slice(from, quote)), text.slice(quote, end));
    from = end;
  }
  parts.push(change(text.slice(from)));
  return parts.join('');
}

function endOfString(text: string, quote: number): number {
  for (let end = text.indexOf('"', quote + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let slashes = 0;
    while (text[end - 1 - slashes] === '\\') slashes++;
    if (slashes % 2 === 0) return end + 1;
  }
  return text.length;
}

/** True if a double prints as this number: 1.5 yes; 1.50, 1e2 and a 19-digit id no. */
function printsAlike(text: string): boolean {
  return String(Number(text)) === text;
}

function unmark(value: unknown, depth: number): unknown {
  if (typeof value === 'string')
    return value.startsWith(mark) ? new RawNumber(value.slice(mark.length)) : value;
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= maxDepth) throw new TooDeepError();
  if (Array.isArray(value)) return value.map((item) => unmark(item, depth + 1));
  // fromEntries defines keys, so that a `__proto__` stays a key and sets nothing.
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => {
      if (key.startsWith(mark)) throw new SyntaxError('A number cannot be a key.');
      return [key, unmark(item, depth + 1)];
    }),
  );
}

// --- depth ---

/** JSON nested too deep: no service means that, and recursive code may fail on it. */
export class TooDeepError extends SyntaxError {
  override readonly name = 'TooDeepError';
  constructor() {
    super(`The JSON is nested too deeply (more than ${maxDepth} levels)`);
  }
}

/** Cheap pre-check: with no more opening brackets than levels, a text cannot be too deep. */
function mayBeDeep(text: string): boolean {
  let openers = 0;
  for (const opener of ['{', '['])
    for (let at = text.indexOf(opener); at >= 0; at = text.indexOf(opener, at + 1))
      if (++openers > maxDepth) return true;
  return false;
}

/** Throws TooDeepError for a value that is nested deeper than any record. */
export function checkDepth(value: unknown, depth = 0): void {
  if (typeof value !== 'object' || value === null) return;
  if (depth >= maxDepth) throw new TooDeepError();
  if (Array.isArray(value)) for (const item of value) checkDepth(item, depth + 1);
  else for (const key in value) checkDepth((value as { [key: string]: unknown })[key], depth + 1);
}

// JSON.stringify escapes C0 and lone surrogates itself; the rest can only occur inside strings.
const allUnsafe = new RegExp(`[${unsafeBeyondC0}]`, 'g');

/** Matches characters in JSON that control a terminal. */
const unsafeInJson: RegExp = new RegExp(allUnsafe, '');
