/** Values as text for a person: table cells and detail views. */
import { extensionsOf } from '../api/schemas.js';
import { isObject, type JsonObject, printJson, RawNumber, wholeNumberOf } from '../data/json.js';
import { isNested, nameOfObject, plainText } from '../data/path.js';
import { binarySize, groupedNumber, yesOrNo } from '../data/text.js';
import { localTime, longTime, momentOf, relativeTime } from '../data/time.js';
import { multiLine, singleLine } from '../terminal/safe-text.js';

/** How values are rendered for a person. */
export interface CellOptions {
  readonly now: Date;
  readonly time: 'iso' | 'local' | 'relative' | undefined;
}

/** Returns a value as one table cell of sanitized text. */
export function tableCell(value: unknown, field: string, options: CellOptions): string {
  if (value === null || value === undefined || value === '') return '-';
  const bytes = bytesIn(value, field);
  if (bytes !== undefined) return binarySize(bytes);
  if (typeof value === 'string')
    return singleLine(shortType(value, field) ?? shortTimeOr(value, options));
  if (typeof value === 'boolean') return yesOrNo(value);
  if (typeof value === 'number') return String(value);
  if (value instanceof RawNumber) return singleLine(value.text);
  if (Array.isArray(value)) return listCell(value, field, options);
  return singleLine(nameOfObject(value as JsonObject) ?? fieldCount(value as JsonObject));
}

/** The file extension of a content type: `docx` instead of its 71 characters. */
function shortType(value: string, field: string): string | undefined {
  return /(?:^|\.)contentType$/.test(field) ? extensionsOf(value)[0] : undefined;
}

/** Returns a plain value as text of a detail view, possibly with several lines. */
export function detailOf(value: unknown, field: string, options: CellOptions): string {
  if (value === null || value === undefined) return '-';
  const bytes = bytesIn(value, field);
  if (bytes !== undefined && bytes >= 1024)
    return `${binarySize(bytes)} (${groupedNumber(bytes)} bytes)`;
  if (typeof value === 'string') return multiLine(longTimeOr(value, options));
  if (typeof value === 'boolean') return yesOrNo(value);
  if (Array.isArray(value))
    return value.length === 0
      ? '-'
      : value.map((item) => detailOf(item, field, options)).join(', ');
  return multiLine(plainText(value));
}

/** Every cell truncates longer texts; sanitizing all of 100 kB would be wasted work. */
const maxCellLength = 1000;

function shortTimeOr(text: string, { now, time }: CellOptions): string {
  const moment = time === 'iso' ? undefined : momentOf(text);
  if (!moment) return text.slice(0, maxCellLength);
  return time === 'local' ? localTime(moment) : relativeTime(moment, now);
}

/** Returns a time as `22 Nov 2026, 10:05 CET`, or as `--time` wants it; any other text as it is. */
export function longTimeOr(text: string, { now, time }: CellOptions): string {
  const moment = time === 'iso' ? undefined : momentOf(text);
  if (!moment) return text;
  return time === 'relative' ? relativeTime(moment, now) : longTime(moment);
}

function listCell(list: readonly unknown[], field: string, options: CellOptions): string {
  if (list.length === 0) return '-';
  if (!isNested(list))
    return list
      .slice(0, 50)
      .map((item) => tableCell(item, field, options))
      .join(', ');
  const games = gamesIn(list);
  if (games) return singleLine(games);
  if (list.length > 3) return `${list.length} items`;
  return singleLine(
    list.map((item) => (isObject(item) && nameOfObject(item)) || shortJson(item)).join(', '),
  );
}

/** The games of gamer tags: `Valorant, Overwatch 2 +1`. */
function gamesIn(list: readonly unknown[]): string | undefined {
  const games = list.map((item) => (isObject(item) ? item['game'] : undefined));
  if (!games.every((game) => typeof game === 'string')) return undefined;
  const [first = '', second, ...more] = new Set(games.filter((game) => game.trim() !== ''));
  if (second === undefined) return first;
  return `${first}, ${second}${more.length > 0 ? ` +${more.length}` : ''}`;
}

function fieldCount(value: JsonObject): string {
  const count = Object.keys(value).length;
  return count === 0 ? '-' : `${count} field${count === 1 ? '' : 's'}`;
}

function shortJson(value: unknown): string {
  return isObject(value) ? fieldCount(value) : printJson(value).slice(0, maxCellLength);
}

/** The bytes that a size counts, a number or a text; undefined for another value, or in another field. */
function bytesIn(value: unknown, field: string): number | undefined {
  const count = wholeNumberOf(value);
  return count !== undefined && isSize(field) ? count : undefined;
}

/** A field that is only called `size` may count anything, such as the members of a team. */
function isSize(field: string): boolean {
  return /(?:^|\.)(?:bytes|\w*(?:SizeBytes|sizeBytes|Bytes))$/.test(field);
}
