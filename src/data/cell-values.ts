/** Values of CSV cells: a changed cell keeps the type of the record's value. */
import { InputError, UsageError } from '../errors.js';
import { type Field, newPath, setFields } from './assign.js';
import {
  bareNumber,
  checkDigits,
  checkNoError,
  clearWord,
  exportText,
  isExportOf,
  isShortened,
  notEscaped,
} from './csv.js';
import { isNumber, isObject, type JsonObject, jsonNumber, parseJson } from './json.js';
import { AbsentFields } from './nearest.js';
import { isNested, type Located, listText, locate, plainText } from './path.js';
import { compareDecimals } from './sorting.js';
import { shellQuote } from './text.js';
import { momentOf } from './time.js';
import { clearedValue } from './where.js';

const columnTypes = ['text', 'int', 'bool', 'json'] as const;
export type ColumnType = (typeof columnTypes)[number];

/** Names that other tools use for the types of a column. */
const otherTypes: ReadonlyMap<string, ColumnType> = new Map([
  ...['number', 'integer', 'num'].map((typeName) => [typeName, 'int'] as const),
  ['boolean', 'bool'],
  ...['object', 'array', 'list', 'null', 'float', 'double', 'decimal'].map(
    (typeName) => [typeName, 'json'] as const,
  ),
  ...['string', 'str'].map((typeName) => [typeName, 'text'] as const),
]);

const prefix = 'set.';

/** Returns the key, in a row's own values, of a cell that sets the field of its column's name. */
export function cellKey(header: string): string {
  return prefix + header;
}

/** A cell of a `--csv-raw` file with a special meaning, unless the record has exactly this text. */
export type RawCell = { readonly raw: string };

export function isRawCell(cell: unknown): cell is RawCell {
  return isObject(cell) && 'raw' in cell;
}

/** A cell of a sheet that sets a field: with its column, and its kind if it is not text. */
export type SheetCell = {
  readonly text: string;
  readonly column: string;
  readonly kind?: 'number' | 'boolean' | 'date' | undefined;
};

/** Parses a column name such as `age:int`. Throws InputError for a type name of another tool. */
export function readColumnName(header: string): { name: string; type?: ColumnType } {
  const [, name = header, typeName = ''] = /^(.+):(\w+)$/.exec(header) ?? [];
  const type = columnTypes.find((known) => known === typeName);
  if (type !== undefined) return { name, type };
  const suggestion = otherTypes.get(typeName.toLowerCase());
  if (suggestion === undefined) return { name: header };
  throw new InputError(`The column "${header}" has an unknown type: ${typeName}.`, {
    hint: `Did you mean ${name}:${suggestion}?`,
  });
}

/** Throws InputError, without the line number, for a cell that does not match its column's type. */
export function checkTypedCell(header: string, cell: string): void {
  const { type } = readColumnName(header);
  if (type) typedCell(cell, type);
}

/**
 * Returns the top-level fields that the cells of a row change, with their new values. A cell that
 * equals the exported text of the present value changes nothing. `own`: the row as read by the
 * header; `record`: undefined if there is none yet. Throws InputError naming line and column; without
 * a line, its message follows the name of the column.
 */
export function cellFields(
  own: JsonObject,
  record: JsonObject | undefined,
  line?: number,
): JsonObject {
  const base = record ?? {};
  const fields = Object.entries(own).flatMap(([key, cell]) =>
    key.startsWith(prefix) ? (fieldOfCell(key.slice(prefix.length), cell, base, line) ?? []) : [],
  );
  const changedKeys = new Set(fields.map(({ path }) => path[0] ?? ''));
  const row = Object.values(own).some(isSheetCell) ? 'Row' : 'Line';
  const changed = setAllFields(base, fields, line === undefined ? '' : `${row} ${line}: `);
  return Object.fromEntries([...changedKeys].map((key) => [key, changed[key]]));
}

/** Returns the top-level fields that the cells of a row may change, judging by the column names. */
export function cellFieldNames(own: JsonObject): readonly string[] {
  const names = Object.keys(own)
    .filter((key) => key.startsWith(prefix))
    .map((key) => readColumnName(key.slice(prefix.length)).name.split('.', 1)[0] ?? '');
  return [...new Set(names)];
}

/** The columns of a CSV that set fields. */
export class SeenColumns extends AbsentFields {
  constructor(rows: readonly { readonly own?: JsonObject | undefined }[]) {
    const keys = new Set<string>();
    for (const { own } of rows) for (const key in own) keys.add(key);
    super(new Set([...keys].map(untypedField).filter((field) => field !== undefined)));
  }

  /** Throws InputError for a column that is probably misspelt. */
  check(): void {
    const [first] = this.misspelt();
    if (!first) return;
    const [column, near] = first;
    throw new InputError(`No record has the field "${column}". Did you mean ${near}?`, {
      hint: `Rename the column with --map ${shellQuote(`${column}=${near}`)}. If it is a new field, name its type: ${column}:text`,
    });
  }
}

/** Returns the field of a row's own value whose column names no type; undefined for any other value. */
function untypedField(key: string): string | undefined {
  if (!key.startsWith(prefix) || key.includes(':')) return undefined;
  return key.slice(prefix.length).split('.', 1)[0];
}

function setAllFields(base: JsonObject, fields: readonly Field[], place: string): JsonObject {
  try {
    return setFields(base, fields);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    throw new InputError(place + error.message, {
      hint: 'For the whole value, name the column like tags:json.',
      cause: error,
    });
  }
}

function fieldOfCell(
  header: string,
  cell: unknown,
  record: JsonObject,
  line: number | undefined,
): Field | undefined {
  const exact = findField(record, header);
  const { name, type } = exact ? { name: header } : readColumnName(header);
  const present = exact ?? findField(record, name);
  try {
    const value = changedValue(cell, type, present?.value);
    if (value === undefined) return undefined;
    return { key: name, path: present?.path ?? newPath(record, name), list: false, value };
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    const at = isSheetCell(cell) ? `${cell.column}${line}` : `Line ${line}`;
    const place = line === undefined ? '' : `${at}: ${name} `;
    throw new InputError(place + error.message, {
      hint: error.hint ?? typeHint(name),
      cause: error,
    });
  }
}

/** Says how the name of a column sets the type of its cells. */
export function typeHint(name: string): string {
  return `For another type, name the column ${name}:text, ${name}:int, ${name}:bool or ${name}:json.`;
}

/** Returns the new value; undefined if the cell changes nothing. */
function changedValue(cell: unknown, type: ColumnType | undefined, present: unknown): unknown {
  if (cell === null) return clearedValue(present);
  const sheet = isSheetCell(cell) ? cell : undefined;
  const isRaw = isRawCell(cell);
  const text = sheet?.text ?? (isRaw ? cell.raw : (cell as string));
  const keepsType = type === undefined || (type === 'text' && typeof present === 'string');
  if (keepsType && present !== undefined && isExportOf(text, present)) return undefined;
  // In a cell, a list of one value looks like that value.
  const sole: unknown = Array.isArray(present) && present.length === 1 ? present[0] : present;
  if (keepsType && sheet && isSameInSheet(sheet, sole)) return undefined;
  if (sheet?.kind === 'date' && type === undefined) return dateLike(present, text);
  if (isRaw && text.trim() === clearWord) return clearedValue(present);
  if (isRaw) checkNoError(text.trim());
  if (type !== undefined) return typedCell(text, type);
  if (isNumber(sole) && isShortened(plainText(sole), text.trim())) return undefined;
  if (!sheet) checkDigits(text, sole);
  return valueLike(present, text, sheet?.kind);
}

function isSheetCell(cell: unknown): cell is SheetCell {
  return isObject(cell) && 'column' in cell;
}

/** In milliseconds: what a sheet may lose of a time that it shows in seconds. */
const dateTolerance = 1000;

/** True if a sheet shows the same for a text that it converted: `42` for `0042`, TRUE for `true`. */
function isSameInSheet({ text, kind }: SheetCell, present: unknown): boolean {
  if (kind === undefined || typeof present !== 'string') return false;
  if (kind === 'boolean') return present.trim().toLowerCase() === text;
  if (kind === 'number') return compareDecimals(present, text) === 0;
  const moment = momentOf(present);
  const shown = momentOf(text.includes('T') ? text : `${text}T00:00:00Z`);
  if (!moment || !shown) return false;
  return Math.abs(moment.getTime() - shown.getTime()) < dateTolerance;
}

/** Returns a date only where the record has one; a time is only ever read, because it has no zone. */
export function dateLike(present: unknown, text: string): string {
  if (typeof present === 'string' && calendarDay.test(present) && calendarDay.test(text))
    return text;
  throw new InputError('holds a date, not text.', {
    hint: 'To write dates as text (2026-03-01), add :text to the column name (joinedAt:text). Or empty the cell to leave the field as it is.',
  });
}

/** A date in another form than `2026-03-01`, perhaps with a time, or its day number. */
const otherDate =
  /^(?!\d{4}-\d\d-\d\d)(?:\d{1,4}([./-])\d{1,2}\1\d{1,4}(?: \d{1,2}:.*)?|\d+(?:[.,]\d+)?)$/;
const calendarDay = /^\d{4}-\d\d-\d\d$/;
const dayOrTime = /^\d{4}-\d\d-\d\d(?:[T ]\d\d:[\d:.]+(?:Z|[+-][\d:]+)?)?$/;

/** Returns the value of a cell in a typed column. Throws InputError, which follows the column's name. */
export function typedCell(cell: string, type: ColumnType): unknown {
  const text = cell.trim();
  if (type === 'text') return cell;
  if (type === 'int') {
    if (/^-?\d{1,15}$/.test(text)) return Number(text);
    throw invalidCell(cell, 'a whole number');
  }
  if (type === 'bool') return booleanOf(cell);
  try {
    return parseJson(text);
  } catch {
    throw invalidCell(cell, 'valid JSON');
  }
}

/** Converts a cell to the type of the present value (`kind`: that of a sheet's cell). Throws InputError if it does not match. */
export function valueLike(present: unknown, cell: string, kind?: SheetCell['kind']): unknown {
  if (isNested(present))
    throw new InputError(
      `is ${Array.isArray(present) ? 'a list of objects' : 'an object'}, but the cell is text.`,
    );
  if (Array.isArray(present)) return listLike(present, cell, kind);
  if (typeof present === 'boolean') return booleanOf(cell);
  if (isNumber(present)) return numberLike(present, bareNumber(cell, kind));
  // A spreadsheet rewrites dates in the order of its country when it saves a CSV.
  if (dayOrTime.test(String(present)) && otherDate.test(cell.trim()))
    throw invalidCell(cell, `a date like ${String(present)}`);
  return notEscaped(cell, present);
}

/** PostgreSQL exports `t` and `f`. */
function booleanOf(cell: string): boolean {
  const text = cell.trim().toLowerCase();
  if (/^(?:t|true|f|false)$/.test(text)) return text.startsWith('t');
  throw invalidCell(cell, 'true or false');
}

function numberLike(present: unknown, cell: string): unknown {
  const text = cell.trim();
  if (!jsonNumber.test(text))
    throw invalidCell(cell, 'a number', /^[+-]?\d+,\d+$/.test(text) ? decimalPoint : undefined);
  // 7.0 and 7 are the same number.
  return compareDecimals(plainText(present), text) === 0 ? present : parseJson(text);
}

/**
 * Converts a cell to a list whose elements keep their types, also if the list grew or shrank. In
 * `a; b;` neither the space nor the end is meant, unless the list has such elements.
 */
function listLike(present: readonly unknown[], cell: string, kind: SheetCell['kind']): unknown {
  const list = jsonList(present, cell);
  if (list) return list;
  const texts = present.map((item) => exportText(item));
  const hasBlank = texts.some((text) => text.trim() === '');
  const isPadded = texts.some((text) => text.trim() !== '' && text.trim() !== text);
  const parts = cell.split(';').filter((part) => hasBlank || part.trim() !== '');
  const byText = new Map(
    parts.length === present.length ? [] : texts.map((text, index) => [text, present[index]]),
  );
  return parts.map((part, index) => {
    const own = present[index];
    if (index < present.length && isExportOf(part, own)) return own;
    if (byText.has(part)) return byText.get(part);
    const text = isPadded ? part : part.trim();
    return valueLike(index < present.length ? own : present[0], text, kind);
  });
}

/** Parses a list in JSON, as the export writes it if an element contains a `;`. */
function jsonList(present: readonly unknown[], cell: string): readonly unknown[] | undefined {
  if (!cell.trimStart().startsWith('[')) return undefined;
  try {
    const value = parseJson(cell);
    return Array.isArray(value) ? value : undefined;
  } catch {
    if (/^\s*\[\s*["[{]/.test(cell) || listText(present).startsWith('['))
      throw invalidCell(cell, 'a list in valid JSON');
    return undefined;
  }
}

const decimalPoint = 'Write decimals with a point, such as 0.5.';

function invalidCell(cell: string, expected: string, hint?: string): InputError {
  const text = cell.length > 60 ? `${cell.slice(0, 60)}…` : cell;
  return new InputError(`holds "${text}", which is not ${expected}.`, { hint });
}

/** Returns the field of a record that a column of its export shows; undefined if there is none. */
export function findField(record: JsonObject, name: string): Located | undefined {
  // Compare keys as exported only if the header contains replacement characters.
  const isKey = /[\u2400\ufffd]/.test(name)
    ? (key: string, spelling: string) => exportText(key) === spelling
    : undefined;
  const trimmed = name.trim();
  return (
    locate(record, name, isKey) ?? (trimmed === name ? undefined : locate(record, trimmed, isKey))
  );
}
