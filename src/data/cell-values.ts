/** Values from CSV cells: a changed cell takes the type that the record's value has. */
import { type Field, setFields } from './assign.js';
import { clearWord, exportText, spreadsheetError } from './csv.js';
import { compareDecimals } from './sorting.js';
import { isObject, type JsonObject, parseJson, RawNumber } from './json.js';
import { bracketPath, isNested, listText, locate, type Located, plainText } from './path.js';
import { InputError, UsageError } from '../errors.js';

const columnTypes = ['text', 'int', 'bool', 'json'] as const;
type ColumnType = (typeof columnTypes)[number];

/** What others call the types of a column. */
const otherTypes: ReadonlyMap<string, ColumnType> = new Map([
  ...['number', 'integer', 'num'].map((word) => [word, 'int'] as const),
  ['boolean', 'bool'],
  ...['object', 'array', 'list', 'null', 'float', 'double', 'decimal'].map(
    (word) => [word, 'json'] as const,
  ),
  ...['string', 'str'].map((word) => [word, 'text'] as const),
]);

const prefix = 'set.';

/** Where a row's own values keep the cell of a column that sets the field of its name. */
export function cellKey(header: string): string {
  return prefix + header;
}

/** A cell of a `--csv-raw` file that means something else unless the record holds just this text. */
export interface RawCell {
  readonly raw: string;
}

/** The name and the type of a column such as `age:int`. Throws InputError for a type of another tool. */
export function readColumnName(header: string): { name: string; type?: ColumnType } {
  const [, name = header, word = ''] = /^(.+):(\w+)$/.exec(header) ?? [];
  const type = columnTypes.find((known) => known === word);
  if (type !== undefined) return { name, type };
  const meant = otherTypes.get(word.toLowerCase());
  if (meant === undefined) return { name: header };
  throw new InputError(`The column "${header}" has an unknown type: ${word}.`, {
    hint: `Did you mean ${name}:${meant}?`,
  });
}

/** Throws InputError, without the line, for a cell that does not fit the type in its column's name. */
export function checkTypedCell(header: string, cell: string): void {
  const { type } = readColumnName(header);
  if (type) typedValue(cell, type);
}

/**
 * The top-level fields that the cells of a row change, as they stand after the change; a cell that
 * says what the export writes for the present value changes nothing. `own` is what the header read of
 * the row, `record` undefined where nothing is there yet. Throws InputError naming the line.
 */
export function cellFields(
  own: JsonObject,
  record: JsonObject | undefined,
  line: number,
): JsonObject {
  const base = record ?? {};
  const fields: Field[] = [];
  for (const [key, cell] of Object.entries(own)) {
    if (!key.startsWith(prefix)) continue;
    const field = fieldOfCell(key.slice(prefix.length), cell, base, line);
    if (field) fields.push(field);
  }
  const touched = new Set(fields.map(({ path }) => path[0] ?? ''));
  const whole = setAll(base, fields, line);
  return Object.fromEntries([...touched].map((key) => [key, whole[key]]));
}

/** The top-level fields that the cells of a row may change, as far as their columns' names tell. */
export function cellFieldNames(own: JsonObject): readonly string[] {
  const names = Object.keys(own)
    .filter((key) => key.startsWith(prefix))
    .map((key) => readColumnName(key.slice(prefix.length)).name.split('.', 1)[0] ?? '');
  return [...new Set(names)];
}

function setAll(base: JsonObject, fields: readonly Field[], line: number): JsonObject {
  try {
    return setFields(base, fields);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    throw new InputError(`Line ${line}: ${error.message}`, {
      hint: 'For the whole value, name the column like tags:json.',
      cause: error,
    });
  }
}

function fieldOfCell(
  header: string,
  cell: unknown,
  record: JsonObject,
  line: number,
): Field | undefined {
  const exact = find(record, header);
  const { name, type } = exact ? { name: header } : readColumnName(header);
  const present = exact ?? find(record, name);
  try {
    const value = changedValue(cell, type, present?.value);
    if (value === undefined) return undefined;
    return { key: name, path: present?.path ?? newPath(record, name), list: false, value };
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    throw new InputError(`Line ${line}: ${name} ${error.message}`, {
      hint: `For another type, name the column ${name}:text, ${name}:int, ${name}:bool or ${name}:json.`,
      cause: error,
    });
  }
}

/** Undefined where the cell changes nothing. */
function changedValue(cell: unknown, type: ColumnType | undefined, present: unknown): unknown {
  if (cell === null) return null;
  const text = isObject(cell) ? (cell as unknown as RawCell).raw : (cell as string);
  const keepsType = type === undefined || (type === 'text' && typeof present === 'string');
  if (keepsType && present !== undefined && text === exportText(present)) return undefined;
  if (isObject(cell)) {
    if (text.trim() === clearWord) return null;
    if (spreadsheetError.test(text.trim()))
      throw new InputError(`holds the spreadsheet error ${text.trim()}.`);
  }
  return type === undefined ? valueLike(present, text) : typedValue(text, type);
}

function typedValue(cell: string, type: ColumnType): unknown {
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

/** The cell as a value of the type that is there now. Throws InputError where it does not fit. */
function valueLike(present: unknown, cell: string): unknown {
  if (isNested(present))
    throw new InputError(
      `is ${Array.isArray(present) ? 'a list of objects' : 'an object'}, and the cell is text.`,
    );
  if (Array.isArray(present)) return listLike(present, cell);
  if (typeof present === 'boolean') return booleanOf(cell);
  const isNumber = typeof present === 'number' || present instanceof RawNumber;
  return isNumber ? numberLike(present, cell) : cell;
}

function booleanOf(cell: string): boolean {
  const word = cell.trim().toLowerCase();
  if (word === 'true' || word === 'false') return word === 'true';
  throw invalidCell(cell, 'true or false');
}

const jsonNumber = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

function numberLike(present: unknown, cell: string): unknown {
  const text = cell.trim();
  if (!jsonNumber.test(text)) throw invalidCell(cell, 'a number');
  // 7.0 is another spelling of 7.
  return compareDecimals(plainText(present), text) === 0 ? present : parseJson(text);
}

/** Elements keep the type they have; of a list that grew or shrank those that are still there keep theirs. */
function listLike(present: readonly unknown[], cell: string): unknown {
  const list = jsonList(present, cell);
  if (list) return list;
  const parts = cell.split(';');
  const moved =
    parts.length === present.length
      ? new Map<string, unknown>()
      : new Map(present.map((item) => [exportText(item), item]));
  return parts.map((part, index) => {
    const own = present[index];
    if (index < present.length && part === exportText(own)) return own;
    if (moved.has(part)) return moved.get(part);
    return valueLike(index < present.length ? own : present[0], part);
  });
}

/** A list in JSON, as the export writes it where an element holds a `;`. */
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

function invalidCell(cell: string, wanted: string): InputError {
  const shown = cell.length > 60 ? `${cell.slice(0, 60)}…` : cell;
  return new InputError(`holds "${shown}", which is not ${wanted}.`);
}

function find(record: JsonObject, name: string): Located | undefined {
  // Keys are compared as the header shows them only where it cannot show all.
  const isKey = /[\u2400\ufffd]/.test(name)
    ? (key: string, spelling: string) => exportText(key) === spelling
    : undefined;
  const trimmed = name.trim();
  return (
    locate(record, name, isKey) ?? (trimmed === name ? undefined : locate(record, trimmed, isKey))
  );
}

/**
 * Where a field that the record lacks belongs: in the object that is there under the longest keys.
 * What is left are nested fields if all are plain words, else one key: a question may hold dots.
 */
function newPath(record: JsonObject, name: string): readonly string[] {
  const brackets = bracketPath(name);
  if (brackets && isContainer(record[brackets[0] ?? ''])) return brackets;
  const path: string[] = [];
  let place: unknown = record;
  let rest = name.trim().split('.');
  for (let key = containerKey(place, rest); key !== undefined; key = containerKey(place, rest)) {
    path.push(key);
    place = (place as JsonObject)[key];
    rest = rest.slice(key.split('.').length);
  }
  if (Array.isArray(place)) return [...path, ...rest];
  if (path.length === 0 && isPlainWord(rest[0])) path.push(...rest.splice(0, 1));
  return [...path, ...(rest.every(isPlainWord) ? rest : [rest.join('.')])];
}

function containerKey(place: unknown, words: readonly string[]): string | undefined {
  for (let length = words.length - 1; length > 0; length--) {
    const key = words.slice(0, length).join('.');
    if (Object.hasOwn(place as object, key) && isContainer((place as JsonObject)[key])) return key;
  }
  return undefined;
}

function isContainer(value: unknown): boolean {
  return Array.isArray(value) || isObject(value);
}

function isPlainWord(word: string | undefined): boolean {
  return /^[\p{L}\p{N}_-]+$/u.test(word ?? '');
}
