import * as fc from 'fast-check';

/**
 * A letter of any code point but the surrogates, as fast-check's unit `binary` draws it, without the table of
 * all of them that it makes, 100 MB in each worker.
 */
export const codePoint: fc.Arbitrary<string> = fc.nat({ max: 0x10_f7_ff }).map(
  (index) => String.fromCodePoint(index < 0xd800 ? index : index + 0x800),
  (letter) => {
    if (typeof letter !== 'string' || !letter.isWellFormed() || Array.from(letter).length !== 1)
      throw new Error('This is not one letter.');
    const point = letter.codePointAt(0) ?? 0;
    return point < 0xd800 ? point : point - 0x800;
  },
);
