/** JSON text as bytes: the characters that a scanner needs, and a fast search in strings. */

export const quote = 0x22;
export const backslash = 0x5c;
export const comma = 0x2c;
export const colon = 0x3a;
export const openArray = 0x5b;
export const closeArray = 0x5d;
export const openObject = 0x7b;
export const closeObject = 0x7d;
export const zero = 0x30;
export const nine = 0x39;
export const smallE = 0x65;

/** Most strings are shorter than this; beyond it, a native search is faster. */
const shortString = 24;

export function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

export function areBlank(bytes: Buffer): boolean {
  return bytes.every(isSpace);
}

export function isLetter(byte: number): boolean {
  return byte >= 0x61 && byte <= 0x7a;
}

/** Finds the end of a string segment: its closing quote or a backslash. */
export class StringSearch {
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
