/** The bytes of JSON text that a walk through it has to know. */
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
export const minus = 0x2d;
export const smallE = 0x65;

/** What may follow a backslash and is printed the same way: `"`, `\\`, b, f, n, r, t. */
export const plainEscapes = new Set(Buffer.from('"\\\\bfnrt'));

/** Strings are mostly shorter than this; beyond it a native search is the quicker one. */
const shortString = 24;

export function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

export function isBlank(bytes: Buffer): boolean {
  return bytes.every(isSpace);
}

export function isLetter(byte: number): boolean {
  return byte >= 0x61 && byte <= 0x7a;
}

/** Finds where a part of a string ends: at its quote or at a backslash. */
export class StringSearch {
  // The first ones behind what was searched so far: each byte of a piece is searched once.
  private slash = -1;
  private quote = -1;

  constructor(private readonly piece: Buffer) {}

  endOfPart(from: number): number {
    const { piece } = this;
    const { length } = piece;
    const near = Math.min(from + shortString, length);
    let at = from;
    for (; at < near; at++) {
      const byte = piece[at];
      if (byte === quote || byte === backslash) return at;
    }
    if (at === length) return at;
    if (this.slash < at) this.slash = orEnd(piece.indexOf(backslash, at), length);
    if (this.quote < at) this.quote = orEnd(piece.indexOf(quote, at), length);
    return Math.min(this.slash, this.quote);
  }
}

function orEnd(at: number, end: number): number {
  return at < 0 ? end : at;
}
