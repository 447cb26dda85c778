import { withoutLast } from './words.js';

const shape = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,6}))?$/;

/** Zero has no digits; otherwise the value is sign × 0.digits × 10^exponent. */
interface Decimal {
  readonly sign: -1 | 1;
  readonly digits: string;
  readonly exponent: number;
}

/**
 * Compares two numbers by value as they are written, so that 19-digit ids stay apart: negative,
 * zero or positive, or undefined when one of the texts is no number.
 */
export function compareDecimals(left: string, right: string): number | undefined {
  const a = readDecimal(left);
  const b = readDecimal(right);
  if (!a || !b) return undefined;
  const signs = signOf(a) - signOf(b);
  if (signs !== 0) return signs;
  return a.sign < 0 ? compareSizes(b, a) : compareSizes(a, b);
}

function readDecimal(text: string): Decimal | undefined {
  const found = shape.exec(text.trim());
  const [, sign, whole = '', fraction = '', power = '0'] = found ?? [];
  if (whole + fraction === '') return undefined;
  const padded = whole + fraction;
  const digits = padded.replace(/^0+/, '');
  return {
    sign: sign === '-' ? -1 : 1,
    digits: withoutLast(digits, '0'),
    exponent: whole.length + Number(power) - (padded.length - digits.length),
  };
}

function signOf(number: Decimal): -1 | 0 | 1 {
  return number.digits === '' ? 0 : number.sign;
}

function compareSizes(a: Decimal, b: Decimal): number {
  if (a.digits === '' || a.exponent !== b.exponent) return a.exponent - b.exponent;
  if (a.digits === b.digits) return 0;
  return a.digits < b.digits ? -1 : 1;
}
