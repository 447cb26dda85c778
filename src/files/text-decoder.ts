/** Decodes the bytes of a text file as they arrive: UTF-8, UTF-16 by its byte order mark, or Windows-1252 where it is named. */
import { countLineEnds } from '../data/text.js';
import { InputError } from '../errors.js';

/** An encoding that a file cannot say itself. */
export const namedEncodings = ['windows-1252'] as const;
export type NamedEncoding = (typeof namedEncodings)[number];

/** Decodes the next piece of a text; undefined ends it. */
type Decode = (chunk: Uint8Array | undefined) => string;

/**
 * Returns a streaming decoder. It throws InputError rather than guess an encoding: for bytes that are
 * not UTF-8, with `offers` naming --encoding if they read as Windows-1252, and for UTF-8 or UTF-16 that
 * is called Windows-1252.
 */
export function textDecoder(name: string, encoding?: NamedEncoding, offers = false): Decode {
  return encoding === undefined ? unicodeDecoder(name, offers) : windowsDecoder(name);
}

function unicodeDecoder(name: string, offers: boolean): Decode {
  let text: InstanceType<typeof TextDecoder> | undefined;
  let line = 1;
  let begun: Uint8Array = new Uint8Array();
  return (chunk) => {
    if (!text && chunk && chunk.length > 0)
      text = new TextDecoder(utf16Mark(chunk) ?? 'utf-8', { fatal: true });
    try {
      const decoded = text ? text.decode(chunk, { stream: chunk !== undefined }) : '';
      line += countLineEnds(decoded);
      if (chunk) begun = begunCharacter(chunk);
      return decoded;
    } catch {
      const isUtf8 = text?.encoding === 'utf-8';
      const bytes = isUtf8 && chunk ? Buffer.concat([begun, chunk]) : undefined;
      throw notUnicode(name, bytes, { line, offers });
    }
  };
}

/** The last bytes of UTF-8 text, if the character that they begin ends in the next piece. */
function begunCharacter(piece: Uint8Array): Uint8Array {
  const end = piece.subarray(-3);
  const at = end.findLastIndex((byte) => byte > 0xbf);
  const lead = end[at] ?? 0;
  const length = lead > 0xef ? 4 : lead > 0xdf ? 3 : 2;
  return end.length - at < length ? end.subarray(at) : new Uint8Array();
}

/**
 * The error for bytes that are not UTF-8, with the first word that is not if it reads as Windows-1252;
 * `line`: that of their start; `offers`: the command has --encoding.
 */
export function notUnicode(
  name: string,
  bytes: Uint8Array | undefined,
  { line = 1, offers = false } = {},
): InputError {
  const foreign = foreignWord(bytes, line);
  if (!foreign) return new InputError(`${name} is not UTF-8 text.`, { hint: 'Save it as UTF-8.' });
  const found = `${name} is not UTF-8 text: line ${foreign.line} reads "${foreign.word}" in Windows-1252`;
  if (!offers)
    return new InputError(`${found}.`, {
      hint: 'Save it as UTF-8, or convert it: iconv -f windows-1252 -t utf-8',
    });
  return new InputError(`${found}, as some spreadsheets save a CSV.`, {
    hint: 'If that is right, add: --encoding windows-1252\nOr save it as "CSV UTF-8".',
  });
}

/** The first word of a piece that is not UTF-8; undefined if it is not text of Windows-1252 either. */
function foreignWord(chunk: Uint8Array | undefined, line: number) {
  if (!chunk) return undefined;
  const before = new TextDecoder('utf-8').decode(chunk).split('\ufffd', 1)[0] ?? '';
  const at = Buffer.byteLength(before);
  const from = chunk.subarray(0, at).findLastIndex(isSeparator) + 1;
  const rest = chunk.subarray(at).findIndex(isSeparator);
  const bytes = chunk.subarray(from, rest < 0 ? chunk.length : at + rest);
  const word = bytes.length > 40 ? undefined : windowsText(bytes);
  return word === undefined ? undefined : { word, line: line + countLineEnds(before) };
}

/** True for a byte that ends a word: a control character, a blank, or a delimiter. */
function isSeparator(byte: number): boolean {
  return byte <= 0x20 || byte === 0x22 || byte === 0x2c || byte === 0x3b;
}

function windowsDecoder(name: string): Decode {
  const check = new TextDecoder('utf-8', { fatal: true });
  let isUnicode = true;
  let hasMore = false;
  return (chunk) => {
    if (chunk && utf16Mark(chunk) && !hasMore) throw misnamed(name, 'UTF-16');
    try {
      if (isUnicode) check.decode(chunk, { stream: chunk !== undefined });
    } catch {
      isUnicode = false;
    }
    hasMore ||= chunk?.some((byte) => byte > 0x7f) ?? false;
    if (!chunk && isUnicode && hasMore) throw misnamed(name, 'UTF-8');
    const text = windowsText(chunk ?? new Uint8Array());
    if (text === undefined)
      throw new InputError(`${name} is not Windows-1252 text.`, {
        hint: 'Save it as CSV in UTF-8.',
      });
    return text;
  };
}

function misnamed(name: string, encoding: string): InputError {
  return new InputError(`${name} is ${encoding} text, not Windows-1252.`, {
    hint: 'Leave out --encoding.',
  });
}

function utf16Mark([a, b]: Uint8Array): 'utf-16le' | 'utf-16be' | undefined {
  if (a === 0xff && b === 0xfe) return 'utf-16le';
  return a === 0xfe && b === 0xff ? 'utf-16be' : undefined;
}

/** The characters of 0x80 to 0x9f; a blank stands for a byte without one. */
const upperControls = '€ ‚ƒ„…†‡ˆ‰Š‹Œ Ž  ‘’“”•–—˜™š›œ žŸ';

/**
 * Returns bytes as Windows-1252; undefined if one of them has no character. Not with TextDecoder, of
 * which several versions of Node decode 0x80 to 0x9f as Latin-1.
 */
function windowsText(bytes: Uint8Array): string | undefined {
  if (bytes.some((byte) => upperControl(byte) === ' ')) return undefined;
  return Buffer.from(bytes)
    .toString('latin1')
    .replace(/[\u0080-\u009f]/g, (control) => upperControl(control.charCodeAt(0)));
}

function upperControl(byte: number): string {
  return byte < 0x80 || byte > 0x9f ? '' : upperControls.charAt(byte - 0x80);
}
