import { parseJson } from './json.js';

/** Whether the array at this path of object keys is the list; a bare array has the empty path. */
export type ListChoice = (path: readonly string[]) => boolean;

/** What stands for the list's elements in the `envelope` of a splitter. */
export const elementsElsewhere = 'elements:elsewhere';

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const colon = 0x3a;
const openArray = 0x5b;
const closeArray = 0x5d;
const openObject = 0x7b;
const closeObject = 0x7d;

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

  constructor(
    private readonly chosen: ListChoice,
    private readonly maxBytes: number,
  ) {}

  /** The list was found and its end came. */
  get ended(): boolean {
    return this.place === 'after';
  }

  /** Takes the next piece and gives the elements that ended in it. */
  push(piece: Buffer): unknown[] {
    let at = 0;
    const found: unknown[] = [];
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

  /** The hot loop: strings, depth, and where an element ends. */
  private split(piece: Buffer, from: number, found: unknown[]): number {
    const { length } = piece;
    let { inString, depth } = this;
    let start = from;
    let at = this.escaping ? from + 1 : from;
    this.escaping = false;
    for (; at < length; at++) {
      const byte = piece[at];
      if (inString) {
        // Most bytes stand in strings: a loop of their own for them.
        let inner = byte;
        while (inner !== quote && inner !== backslash && at < length) inner = piece[++at];
        if (at === length) break;
        if (inner === quote) inString = false;
        else at++;
      } else if (byte === quote) inString = true;
      else if (byte === openObject || byte === openArray) depth++;
      else if (depth > 0) {
        if (byte === closeObject || byte === closeArray) depth--;
      } else if (byte === comma) {
        found.push(this.element(piece, start, at));
        start = at + 1;
      } else if (byte === closeArray) {
        this.close(piece, start, at, found);
        return at;
      } else if (byte === closeObject) throw new SyntaxError('A list ends with a brace.');
    }
    this.inString = inString;
    this.depth = depth;
    this.escaping = at > length;
    this.partBytes += length - start;
    if (this.partBytes > this.maxBytes) throw new TooLargeError();
    this.parts.push(piece.subarray(start));
    return length;
  }

  private close(piece: Buffer, start: number, at: number, found: unknown[]): void {
    const text = this.textTo(piece, start, at);
    if (this.elements > 0 || text.trim() !== '') {
      found.push(parseJson(text));
      this.elements++;
    }
    this.place = 'after';
    if (this.elements > 0) this.keep(Buffer.from(`{"${elementsElsewhere}":true}`));
  }

  private element(piece: Buffer, start: number, end: number): unknown {
    this.elements++;
    return parseJson(this.textTo(piece, start, end));
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

function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
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
