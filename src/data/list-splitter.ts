/** Splits a streamed JSON list into its elements, so that a long list is never all in memory. */
import { parseJson } from './json.js';

// The bytes of a JSON text that a splitter looks for.
const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const colon = 0x3a;
const openArray = 0x5b;
const closeArray = 0x5d;
const openObject = 0x7b;
const closeObject = 0x7d;
const zero = 0x30;
const nine = 0x39;
const smallE = 0x65;

/**
 * Decides if the array at this path of object keys is the list; a bare array has the empty path.
 */
type ListChoice = (path: readonly string[]) => boolean;

/** The placeholder for the list's elements in the `envelope` of a splitter. */
export const elementsElsewhere = 'elements:elsewhere';

/** Numbers with at most this many digits are exact as a double. */
const exactDigits = 15;
/** Fewer levels than `parseJson` refuses. */
const plainDepth = 100;

/** Ignore keys of deeper envelopes. */
const deepestKey = 2;
const longestKey = 200;

/**
 * Splits one array of a JSON text that arrives in chunks, wherever the chunks are cut. Parses each
 * element separately, so that nothing large is alive at once, and keeps the text around the array
 * as the envelope. Throws SyntaxError, TooLargeError.
 */
export class ListSplitter {
  private position: 'before' | 'inside' | 'after' | 'nowhere' = 'before';
  private readonly around: Buffer[] = [];
  private aroundBytes = 0;
  private inString = false;
  /** The first byte of the next chunk belongs to an escape. */
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
  /** Digits of the current number so far, which may also be cut. */
  private digits = 0;
  /** JSON.parse alone reads the current element correctly, so far. */
  private isSimple = true;

  constructor(
    private readonly isChosenList: ListChoice,
    private readonly maxBytes: number,
  ) {}

  /** True once the list was found and has ended. */
  get ended(): boolean {
    return this.position === 'after';
  }

  /** Reads the next chunk and returns the elements that end in it. */
  push(chunk: Buffer): unknown[] {
    let at = 0;
    const elements: unknown[] = [];
    if (this.position === 'before') at = this.seek(chunk, at);
    if (this.position === 'inside') at = this.split(chunk, at, elements);
    if (!this.isInside()) this.keep(chunk.subarray(at));
    return elements;
  }

  /**
   * Returns the text around the list, with one placeholder element marked by `elementsElsewhere`.
   */
  envelope(): Buffer {
    return Buffer.concat(this.around);
  }

  private isInside(): boolean {
    return this.position === 'inside';
  }

  private keep(bytes: Buffer): void {
    if (bytes.length === 0) return;
    this.aroundBytes += bytes.length;
    if (this.aroundBytes > this.maxBytes) throw new TooLargeError();
    this.around.push(bytes);
  }

  // --- the envelope ---

  /** Returns the position of the list's first element, or `from` if it is not in this chunk. */
  private seek(chunk: Buffer, from: number): number {
    for (let at = from; at < chunk.length; at++) {
      const byte = chunk[at] ?? 0;
      if (this.inString) {
        this.seekInString(byte);
        continue;
      }
      if (byte !== openArray || !this.isList()) {
        this.step(byte);
        if (this.position === 'nowhere') return from;
        continue;
      }
      this.keep(chunk.subarray(from, at + 1));
      this.position = 'inside';
      this.depth = 0;
      return at + 1;
    }
    return from;
  }

  private isList(): boolean {
    const { length } = this.isObject;
    if (length > deepestKey || length !== this.path.length || this.isObject.includes(false))
      return false;
    return this.isChosenList(this.path);
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
    else if (open === 0 && !isSpace(byte) && !isByteOrderMark(byte)) this.position = 'nowhere';
  }

  // --- the list ---

  /** The hot loop: tracks strings and depth, ends elements, and notes if they are ordinary. */
  private split(chunk: Buffer, from: number, elements: unknown[]): number {
    const { length } = chunk;
    let { inString, depth, digits } = this;
    let start = from;
    let at = from;
    if (this.escaping && at < length) {
      this.escaping = false;
      at++;
    }
    const search = new StringSearch(chunk);
    while (at < length) {
      if (inString) {
        at = search.endOfPart(at);
        if (at >= length) break;
        if (chunk[at++] === quote) inString = false;
        else if (at === length) this.escaping = true;
        else at++;
        continue;
      }
      const byte = chunk[at++] ?? 0;
      if (byte === quote) inString = true;
      else if (byte === colon) digits = 0;
      else if (byte === openObject || byte === openArray) {
        digits = 0;
        if (++depth > plainDepth) this.isSimple = false;
      } else if (depth > 0) {
        if (byte === comma) digits = 0;
        else if (byte === closeObject || byte === closeArray) depth--;
        else if (byte >= zero && byte <= nine) {
          if (++digits > exactDigits) this.isSimple = false;
        } else if (isLetter(byte) ? byte === smallE && digits > 0 : !isSpace(byte))
          this.isSimple = false;
      } else if (byte === comma) {
        elements.push(this.element(chunk, start, at - 1));
        start = at;
      } else if (byte === closeArray) {
        this.close(chunk, start, at - 1, elements);
        return at - 1;
      } else if (byte === closeObject) throw new SyntaxError('A list ends with a brace.');
      else if (!isSpace(byte)) this.isSimple = false;
    }
    this.inString = inString;
    this.depth = depth;
    this.digits = digits;
    this.partBytes += length - start;
    if (this.partBytes > this.maxBytes) throw new TooLargeError();
    this.parts.push(chunk.subarray(start));
    return length;
  }

  private close(chunk: Buffer, start: number, at: number, elements: unknown[]): void {
    const isEmpty = this.elements === 0 && this.parts.every(areBlank);
    if (!isEmpty || !areBlank(chunk.subarray(start, at)))
      elements.push(this.element(chunk, start, at));
    this.position = 'after';
    if (this.elements > 0) this.keep(Buffer.from(`{"${elementsElsewhere}":true}`));
  }

  private element(chunk: Buffer, start: number, end: number): unknown {
    const { isSimple } = this;
    const text = this.textTo(chunk, start, end);
    this.elements++;
    this.isSimple = true;
    return isSimple ? JSON.parse(text) : parseJson(text);
  }

  private textTo(chunk: Buffer, start: number, end: number): string {
    if (this.parts.length === 0) return chunk.toString('utf8', start, end);
    const complete = Buffer.concat([...this.parts, chunk.subarray(start, end)]);
    this.parts = [];
    this.partBytes = 0;
    return complete.toString('utf8');
  }
}

/** One element, or the text around the list, exceeds the limit. */
export class TooLargeError extends Error {
  override readonly name = 'TooLargeError';
}

/** True for a byte of a byte order mark. A misplaced one is found when the envelope is parsed. */
function isByteOrderMark(byte: number): boolean {
  return byte === 0xef || byte === 0xbb || byte === 0xbf;
}

function textOfKey(bytes: readonly number[]): string {
  try {
    return String(JSON.parse(`"${Buffer.from(bytes).toString('utf8')}"`));
  } catch {
    return '';
  }
}

/** Most strings are shorter than this; beyond it, a native search is faster. */
const shortString = 24;

function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

function areBlank(bytes: Buffer): boolean {
  return bytes.every(isSpace);
}

function isLetter(byte: number): boolean {
  return byte >= 0x61 && byte <= 0x7a;
}

/** Finds the end of a string segment: its closing quote or a backslash. */
class StringSearch {
  // The first ones after the searched range, so that each byte of a chunk is searched once.
  private slash = -1;
  private quote = -1;

  constructor(private readonly chunk: Buffer) {}

  endOfPart(from: number): number {
    const { chunk } = this;
    const { length } = chunk;
    const shortEnd = Math.min(from + shortString, length);
    let at = from;
    for (; at < shortEnd; at++) {
      const byte = chunk[at];
      if (byte === quote || byte === backslash) return at;
    }
    if (at === length) return at;
    if (this.slash < at) this.slash = orEnd(chunk.indexOf(backslash, at), length);
    if (this.quote < at) this.quote = orEnd(chunk.indexOf(quote, at), length);
    return Math.min(this.slash, this.quote);
  }
}

function orEnd(at: number, end: number): number {
  return at < 0 ? end : at;
}
