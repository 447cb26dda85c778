import type { Item } from './batches.js';
import {
  backslash,
  closeArray,
  closeObject,
  colon,
  comma,
  isBlank,
  isLetter,
  isSpace,
  minus,
  nine,
  openArray,
  openObject,
  plainEscapes,
  quote,
  smallE,
  StringSearch,
  zero,
} from './json-bytes.js';
import { countKeys, parseJson, printsUnchanged } from './json.js';

/** Whether the array at this path of object keys is the list; a bare array has the empty path. */
type ListChoice = (path: readonly string[]) => boolean;

/** What stands for the list's elements in the `envelope` of a splitter. */
export const elementsElsewhere = 'elements:elsewhere';

/** Numbers of fewer digits are exact as a double. */
const exactDigits = 15;
/** Fewer levels than `parseJson` refuses. */
const plainDepth = 100;

/** Keys of deeper envelopes are not looked at. */
const deepestKey = 2;
const longestKey = 200;

/**
 * Cuts the elements out of one array of a JSON text that comes in pieces, wherever the pieces are
 * cut. Each element is parsed for itself, so nothing large is ever alive; what stands around the
 * array is kept as the envelope. Throws SyntaxError, TooLargeError.
 */
export class ListSplitter {
  private place: 'before' | 'inside' | 'after' | 'nowhere' = 'before';
  private readonly around: Buffer[] = [];
  private aroundBytes = 0;
  /** A string was begun and its end has not come. */
  private inString = false;
  /** The first byte of the next piece belongs to an escape. */
  private escaping = false;
  /** Open lists and objects: those around the list, then those inside an element. */
  private depth = 0;
  private path: string[] = [];
  private readonly isObject: boolean[] = [];
  private keyDue = false;
  private key: number[] | undefined;
  private parts: Buffer[] = [];
  private partBytes = 0;
  private elements = 0;
  /** Digits of a number so far: it may be cut, too. */
  private digits = 0;
  /** Keys of the element so far, those of inner objects counted. */
  private keys = 0;
  /** The element so far is one that JSON.parse alone reads rightly. */
  private simple = true;
  /** The element's text so far is what printing it would give: no spaces, no odd numbers or escapes. */
  private same = true;

  constructor(
    private readonly chosen: ListChoice,
    private readonly maxBytes: number,
  ) {}

  /** The list was found and its end came. */
  get ended(): boolean {
    return this.place === 'after';
  }

  /** Takes the next piece and gives the elements that ended in it. */
  push(piece: Buffer): Item<unknown>[] {
    let at = 0;
    const found: Item<unknown>[] = [];
    if (this.place === 'before') at = this.seek(piece, at);
    if (this.place === 'inside') at = this.split(piece, at, found);
    if (!this.isInside()) this.keep(piece.subarray(at));
    return found;
  }

  /** The text around the list; one stand-in element, marked by `elementsElsewhere`, in it. */
  envelope(): Buffer {
    return Buffer.concat(this.around);
  }

  private isInside(): boolean {
    return this.place === 'inside';
  }

  private keep(bytes: Buffer): void {
    if (bytes.length === 0) return;
    this.aroundBytes += bytes.length;
    if (this.aroundBytes > this.maxBytes) throw new TooLargeError();
    this.around.push(bytes);
  }

  // --- the envelope ---

  /** Walks to the first byte of the list's first element; the rest of the piece if it is not there. */
  private seek(piece: Buffer, from: number): number {
    for (let at = from; at < piece.length; at++) {
      const byte = piece[at] ?? 0;
      if (this.inString) {
        this.seekInString(byte);
        continue;
      }
      if (byte !== openArray || !this.isList()) {
        this.step(byte);
        if (this.place === 'nowhere') return from;
        continue;
      }
      this.keep(piece.subarray(from, at + 1));
      this.place = 'inside';
      this.depth = 0;
      return at + 1;
    }
    return from;
  }

  private isList(): boolean {
    const { length } = this.isObject;
    if (length > deepestKey || length !== this.path.length || this.isObject.includes(false))
      return false;
    return this.chosen(this.path);
  }

  private seekInString(byte: number): void {
    if (this.escaping) this.escaping = false;
    else if (byte === backslash) this.escaping = true;
    else if (byte === quote) {
      this.inString = false;
      if (this.key) this.path[this.isObject.length - 1] = textOfKey(this.key);
      this.key = undefined;
      return;
    }
    if (this.key && this.key.length < longestKey) this.key.push(byte);
  }

  private step(byte: number): void {
    const open = this.isObject.length;
    if (byte === quote) {
      this.inString = true;
      if (this.keyDue && open <= deepestKey) this.key = [];
    } else if (byte === openObject || byte === openArray) {
      this.isObject.push(byte === openObject);
      this.keyDue = byte === openObject;
    } else if (byte === closeObject || byte === closeArray) {
      this.isObject.pop();
      this.path.length = Math.min(this.path.length, Math.max(0, open - 1));
      this.keyDue = false;
    } else if (byte === comma) this.keyDue = this.isObject[open - 1] === true;
    else if (byte === colon) this.keyDue = false;
    else if (open === 0 && !isSpace(byte) && !isMark(byte)) this.place = 'nowhere';
  }

  // --- the list ---

  /** The hot loop: strings, depth, where an element ends, and whether it is an ordinary one. */
  private split(piece: Buffer, from: number, found: Item<unknown>[]): number {
    const { length } = piece;
    let { inString, depth, digits, keys } = this;
    let start = from;
    let at = from;
    if (this.escaping && at < length) this.noteEscape(piece[at++]);
    const search = new StringSearch(piece);
    while (at < length) {
      if (inString) {
        at = search.endOfPart(at);
        if (at >= length) break;
        if (piece[at++] === quote) inString = false;
        else if (at === length) this.escaping = true;
        else this.noteEscape(piece[at++]);
        continue;
      }
      const byte = piece[at++] ?? 0;
      if (byte === quote) inString = true;
      else if (byte === colon) {
        digits = 0;
        keys++;
      } else if (byte === openObject || byte === openArray) {
        digits = 0;
        if (++depth > plainDepth) this.simple = false;
      } else if (depth > 0) {
        if (byte === comma) digits = 0;
        else if (byte === closeObject || byte === closeArray) depth--;
        else if (byte >= zero && byte <= nine) {
          if (++digits > exactDigits) this.simple = this.same = false;
        } else if (!isLetter(byte) || (byte === smallE && digits > 0)) this.noteOdd(byte);
      } else if (byte === comma) {
        this.keys = keys;
        found.push(this.element(piece, start, at - 1));
        start = at;
        keys = 0;
      } else if (byte === closeArray) {
        this.keys = keys;
        this.close(piece, start, at - 1, found);
        return at - 1;
      } else if (byte === closeObject) throw new SyntaxError('A list ends with a brace.');
      else if (!isSpace(byte)) this.simple = this.same = false;
    }
    this.inString = inString;
    this.depth = depth;
    this.digits = digits;
    this.keys = keys;
    this.partBytes += length - start;
    if (this.partBytes > this.maxBytes) throw new TooLargeError();
    this.parts.push(piece.subarray(start));
    return length;
  }

  private noteEscape(byte: number | undefined): void {
    this.escaping = false;
    if (!plainEscapes.has(byte ?? 0)) this.same = false;
  }

  /** What is neither a digit nor a word: a space, a sign, a fraction, an exponent, nonsense. */
  private noteOdd(byte: number): void {
    this.same = false;
    if (!isSpace(byte) && byte !== minus) this.simple = false;
  }

  private close(piece: Buffer, start: number, at: number, found: Item<unknown>[]): void {
    const isEmpty = this.elements === 0 && this.parts.every(isBlank);
    if (!isEmpty || !isBlank(piece.subarray(start, at))) found.push(this.element(piece, start, at));
    this.place = 'after';
    if (this.elements > 0) this.keep(Buffer.from(`{"${elementsElsewhere}":true}`));
  }

  private element(piece: Buffer, start: number, end: number): Item<unknown> {
    const { simple, same, keys } = this;
    const bytes = this.partBytes + end - start;
    const text = this.textTo(piece, start, end);
    this.elements++;
    this.simple = this.same = true;
    const value: unknown = simple ? JSON.parse(text) : parseJson(text);
    // Of a key that stands twice the last one counts, and only that is printed.
    const asItIs = same && printsUnchanged(text, bytes) && countKeys(value) === keys;
    if (!asItIs) return { value, text: undefined };
    return { value, text: text.trim() };
  }

  private textTo(piece: Buffer, start: number, end: number): string {
    if (this.parts.length === 0) return piece.toString('utf8', start, end);
    const whole = Buffer.concat([...this.parts, piece.subarray(start, end)]);
    this.parts = [];
    this.partBytes = 0;
    return whole.toString('utf8');
  }
}

/** One element, or what stands around the list, is larger than the bound. */
export class TooLargeError extends Error {
  override readonly name = 'TooLargeError';
}

/** A byte of the byte order mark; one in another place is found when the envelope is parsed. */
function isMark(byte: number): boolean {
  return byte === 0xef || byte === 0xbb || byte === 0xbf;
}

function textOfKey(bytes: readonly number[]): string {
  try {
    return String(JSON.parse(`"${Buffer.from(bytes).toString('utf8')}"`));
  } catch {
    return '';
  }
}
