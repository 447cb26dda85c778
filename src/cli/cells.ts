import { extensionsOf } from '../api/schemas.js';
import { isObject, type JsonObject, printJson, RawNumber } from '../data/json.js';
import { plainText } from '../data/path.js';
import { localTime, momentOf, relativeTime, zonedTime } from '../data/time.js';
import { cellText, multiLine } from '../terminal/safe-text.js';

/** How a person reads values. */
export interface CellOptions {
  readonly now: Date;
  readonly time: 'iso' | 'local' | 'relative' | undefined;
}

/** A value as one table cell of safe text. */
export function cellOf(value: unknown, field: string, reading: CellOptions): string {
  if (value === null || value === undefined) return '-';
  if (typeof value === 'string')
    return cellText(shortType(value, field) ?? timeOr(value, listTime, reading));
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'number') return isSize(field) ? binarySize(value) : String(value);
  if (value instanceof RawNumber) return cellText(value.text);
  if (Array.isArray(value)) return listCell(value, field, reading);
  return cellText(nameOf(value as JsonObject) ?? fieldCount(value as JsonObject));
}

/** `docx` says more to a person than its 71 characters of content type. */
function shortType(value: string, field: string): string | undefined {
  return /(?:^|\.)contentType$/.test(field) ? extensionsOf(value)[0] : undefined;
}

/** A plain value as text of a detail view, possibly of several lines. */
export function detailOf(value: unknown, field: string, reading: CellOptions): string {
  if (value === null || value === undefined) return '-';
  if (typeof value === 'string') return multiLine(timeOr(value, detailTime, reading));
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'number' && isSize(field) && value >= 1024)
    return `${binarySize(value)} (${value} bytes)`;
  if (Array.isArray(value))
    return value.length === 0
      ? '-'
      : value.map((item) => detailOf(item, field, reading)).join(', ');
  return multiLine(plainText(value));
}

/** `812 B`, `1.4 MiB`. */
export function binarySize(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let size = bytes;
  let unit = 0;
  while (Math.abs(size) >= 1024 && unit < units.length - 1) {
    size /= 1024;
    unit++;
  }
  return `${size.toFixed(unit === 0 ? 0 : 1)} ${units[unit]}`;
}

/** Longer texts are cut by every cell; making all of 100 kB safe would be wasted work. */
const longestCell = 1000;

function timeOr(
  text: string,
  show: (moment: Date, text: string, reading: CellOptions) => string,
  reading: CellOptions,
): string {
  const moment = momentOf(text);
  if (moment) return show(moment, text, reading);
  return show === listTime && text.length > longestCell ? text.slice(0, longestCell) : text;
}

function listTime(moment: Date, text: string, { now, time }: CellOptions): string {
  if (time === 'iso') return text;
  return time === 'local' ? localTime(moment) : relativeTime(moment, now);
}

function detailTime(moment: Date, text: string, { now, time }: CellOptions): string {
  if (time === 'iso') return text;
  return time === 'relative' ? relativeTime(moment, now) : zonedTime(moment);
}

function listCell(list: readonly unknown[], field: string, reading: CellOptions): string {
  if (list.length === 0) return '-';
  if (!list.some((item) => typeof item === 'object' && item !== null))
    return list
      .slice(0, 50)
      .map((item) => cellOf(item, field, reading))
      .join(', ');
  if (list.length > 3) return `${list.length} items`;
  return cellText(
    list.map((item) => (isObject(item) && nameOf(item)) || shortJson(item)).join(', '),
  );
}

/** What a record would be called: `valorant: Foxy#EU1` for a gamer tag, else its name. */
function nameOf(value: JsonObject): string | undefined {
  if (typeof value['gamerTag'] === 'string')
    return typeof value['game'] === 'string'
      ? `${value['game']}: ${value['gamerTag']}`
      : value['gamerTag'];
  for (const key of ['name', 'title', 'displayName', 'label', 'id']) {
    const name = Object.hasOwn(value, key) ? value[key] : undefined;
    if (typeof name === 'string' && name !== '') return name;
  }
  return undefined;
}

function fieldCount(value: JsonObject): string {
  const count = Object.keys(value).length;
  return count === 0 ? '-' : `${count} field${count === 1 ? '' : 's'}`;
}

function shortJson(value: unknown): string {
  return isObject(value) ? fieldCount(value) : printJson(value).slice(0, longestCell);
}

function isSize(field: string): boolean {
  return /(?:^|\.)(?:size|bytes|\w*(?:SizeBytes|sizeBytes|Bytes))$/.test(field);
}

/** `12.3 MiB of 40 MiB, 5.1 MiB/s, 6 s left`: how far a transfer is after so many seconds. */
export function bytesMoved(done: number, total: number, seconds: number): string {
  const rate = done / Math.max(seconds, 0.001);
  const left = Math.ceil(Math.max(0, total - done) / Math.max(rate, 1));
  return `${binarySize(done)} of ${binarySize(total)}, ${binarySize(rate)}/s, ${left} s left`;
}
