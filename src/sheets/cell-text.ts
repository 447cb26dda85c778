/** Text in the cells of a workbook: what XML cannot hold, the names of columns, and numbers of days whose format makes them dates. */
import { clearWord, guard } from '../data/csv.js';

/** The most columns of a sheet, up to `XFD`, and characters of a cell: limits of the format. */
export const mostColumns = 16_384;
export const mostSheetRows = 1_048_576;
export const longestText = 32_767;

/** Returns the number of a column from its letters, counted from 0. */
export function columnIndex(letters: string): number {
  let index = 0;
  for (const letter of letters) index = index * 26 + letter.charCodeAt(0) - 64;
  return index - 1;
}

/**
 * Returns a text as a cell holds it: `<clear>` gets a mark, because typed into a cell it means null.
 * Everything else is written as it is, also what a CSV would have to guard.
 */
export function sheetText(text: string): string {
  return meansClear(text) ? `'${text}` : text;
}

/** Returns the text of a cell as a CSV cell, guarded, so that both files are read alike. */
export function csvText(text: string): string {
  if (text.trim() === clearWord) return text;
  return guard(text.startsWith("'") && meansClear(text.slice(1)) ? text.slice(1) : text);
}

function meansClear(text: string): boolean {
  return text.includes(clearWord) && text.replace(/^'+/, '').trim() === clearWord;
}

/** Escapes text for XML; what XML 1.0 cannot hold is written as `_x0001_`, as Excel does. */
export function xmlText(text: string): string {
  if (!special.test(text)) return text;
  return text
    .replace(/_(?=x[\da-f]{4}_)/gi, '_x005F_')
    .replace(unwritable, (unit) => code(unit.charCodeAt(0)))
    .replace(/[&<>"]/g, (sign) => names[sign] ?? sign);
}

const names: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
};

// A carriage return would become a line feed.
// oxlint-disable-next-line no-control-regex
const unwritable = /[\u0001-\u0008\u000b-\u001f\ufffe\uffff]/g;
// oxlint-disable-next-line no-control-regex
const special = /[&<>"_\u0001-\u0008\u000b-\u001f\ufffe\uffff]/;

function code(unit: number): string {
  return `_x${unit.toString(16).toUpperCase().padStart(4, '0')}_`;
}

/** Replaces `_x0001_` in the text of a cell; NUL stays as written, because no field may hold it. */
export function unescaped(text: string): string {
  if (!text.includes('_x')) return text;
  return text
    .replace(/_x([\da-f]{4})_/gi, (all, hex: string) =>
      hex === '0000' ? all : String.fromCharCode(Number.parseInt(hex, 16)),
    )
    .toWellFormed();
}

const dayMs = 86_400_000;
/** Days from the start of each calendar to 1970. A sheet of 1900 counts a 29 February that never was. */
const days1900 = 25_569;
const days1904 = 24_107;

/** Returns the number that a sheet shows as this time in UTC; undefined before March 1900 or after 9999. */
export function serialOf(moment: Date): number | undefined {
  const serial = moment.getTime() / dayMs + days1900;
  return serial >= 61 && serial < 2_958_466 ? serial : undefined;
}

/**
 * Returns a date cell as text in UTC: `2026-03-01`, or `2026-03-01T10:00:00.000Z` if it has a time;
 * undefined for a number that is not a date, such as a duration.
 */
export function dateText(serial: number, is1904: boolean): string | undefined {
  const least = is1904 ? 0 : 61;
  if (!(serial >= least && serial < 2_958_466)) return undefined;
  const ms = Math.round((serial - (is1904 ? days1904 : days1900)) * dayMs);
  const text = new Date(ms).toISOString();
  return ms % dayMs === 0 ? text.slice(0, 10) : text;
}

/** The numbers of formats that every program knows and that show a date or a time, by range. */
const dateFormats: readonly (readonly [first: number, last: number])[] = [
  [14, 22],
  [27, 36],
  [45, 47],
  [50, 58],
];

/** How a number format shows numbers. */
export interface NumberFormat {
  /** As a date or a time: `yyyy-mm-dd`, `[$-409]d. mmm`, not `0.00` or `"day" 0`. */
  readonly isDate: boolean;
  /** With zeros before it, up to so many digits: 5 for `00000`. */
  readonly digits: number;
}

/** Reads a number format; without its text, it is one that every program knows. */
export function numberFormat(id: number, format: string | undefined): NumberFormat {
  if (format === undefined)
    return { isDate: dateFormats.some(([first, last]) => id >= first && id <= last), digits: 0 };
  const [bare = ''] = format
    .replace(/"[^"]*"|\\.|_.|\*./g, '')
    .replace(/\[(?!h+\]|m+\]|s+\])[^[\]]*\]/gi, '')
    .split(';', 1);
  const isDate = /[ymdhs]/i.test(bare);
  return { isDate, digits: /^0+$/.test(bare) ? bare.length : 0 };
}

const pageBytes = 1024 * 1024;

/** A list of texts that only grows. */
export class PackedTexts {
  private readonly pages: Buffer[] = [];
  private used = pageBytes;
  private places = new Uint32Array(1024);
  private count = 0;

  /** Returns false for a text longer than a page, which it does not keep. */
  add(text: string): boolean {
    const bytes = Buffer.byteLength(text);
    if (bytes > pageBytes) return false;
    if (this.used + bytes > pageBytes) {
      this.pages.push(Buffer.allocUnsafe(pageBytes));
      this.used = 0;
    }
    const page = this.pages.length - 1;
    this.pages[page]?.write(text, this.used);
    if (this.count * 2 === this.places.length) {
      const more = new Uint32Array(this.places.length * 2);
      more.set(this.places);
      this.places = more;
    }
    this.places[this.count * 2] = page * pageBytes + this.used;
    this.places[this.count * 2 + 1] = bytes;
    this.used += bytes;
    this.count += 1;
    return true;
  }

  get length(): number {
    return this.count;
  }

  /** Returns a text by its number; undefined if there is none. */
  at(index: number): string | undefined {
    if (index >= this.count) return undefined;
    const place = this.places[index * 2] ?? 0;
    const start = place % pageBytes;
    const end = start + (this.places[index * 2 + 1] ?? 0);
    return this.pages[Math.floor(place / pageBytes)]?.toString('utf8', start, end);
  }
}
