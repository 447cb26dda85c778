/** Turns the cells of an imported row into values: of a new record, or of one that is there. */
import { setKey } from '../../data/assign.js';
import {
  type ColumnType,
  cellFields,
  cellKey,
  dateLike,
  findField,
  type RawCell,
  type SheetCell,
  typedCell,
  typeHint,
  valueLike,
} from '../../data/cell-values.js';
import { checkNoError, clearWord, shortenedNumber, unguard } from '../../data/csv.js';
import type { CsvRow } from '../../data/csv-reader.js';
import { isObject, type JsonObject, printJson } from '../../data/json.js';
import { isIndex } from '../../data/path.js';
import { InputError } from '../../errors.js';
import type { SelectedRow } from '../../runs/report.js';
import type { SeenField } from './seen-fields.js';

/** The values of an imported row, in the run's plan. */
export type ImportedRow = JsonObject & {
  /** The row's key as in the file. */
  readonly key: string;
  /** The record to create; absent for one that is there, whose fields are set as an update sets them. */
  readonly body?: JsonObject;
  /** Why the row cannot be used. */
  readonly problem?: string;
  /** Why its record is left alone: it is there, or it is missing. */
  readonly skipped?: string;
};

/** The values of a row of an import. */
export function importedRow({ own = {} }: SelectedRow): ImportedRow {
  return own as ImportedRow;
}

/** The field of a column. */
export interface FieldTarget {
  readonly field: string;
  readonly type?: ColumnType | undefined;
  readonly seen?: SeenField | undefined;
}

/** A value for a field: typed, or the text of a cell whose type the present value decides. */
export type FieldValue =
  | {
      readonly target: FieldTarget;
      readonly text: string;
      /** In a workbook: the cell's column, and its kind if it is not text. */
      readonly inSheet?: Pick<SheetCell, 'column' | 'kind'> | undefined;
      /** Only the record can tell whether a text such as `<clear>` is meant as it stands. */
      readonly isRaw?: boolean;
    }
  | { readonly target: FieldTarget; readonly value: unknown };

/**
 * Returns the text of a cell; undefined for a blank one, null for `<clear>`. Throws InputError, whose
 * message follows the name of the column, for what a spreadsheet broke.
 */
export function inputText(
  cell: string,
  { raw }: { readonly raw: boolean },
): string | null | undefined {
  const text = cell.trim();
  if (text === '') return undefined;
  if (raw) return cell;
  checkNoError(text);
  if (shortenedNumber.test(text))
    throw new InputError(
      `holds ${text}: a spreadsheet shortened a long number and lost its last digits.`,
      { hint: 'Enter that column as text, or empty the cell. If you mean that text: --csv-raw' },
    );
  return text === clearWord ? null : unguard(cell);
}

/**
 * Returns what kind of value a cell of a workbook holds, if it is not text. Throws InputError as
 * `inputText` does for one that cannot be used.
 */
export function sheetKind({ marks }: CsvRow, index: number): SheetCell['kind'] {
  const mark = marks?.get(index);
  if (mark?.kind === 'refused') throw new InputError(mark.reason, { hint: mark.hint });
  return mark?.kind;
}

/** Returns the value of a cell for a new record. Throws InputError as `inputText` does. */
export function newValue(given: FieldValue): unknown {
  if ('value' in given) return given.value;
  const { target, text, inSheet, isRaw } = given;
  const { field, type, seen } = target;
  const kind = inSheet?.kind;
  if (isRaw) checkNoError(text.trim());
  if (isRaw && text.trim() === clearWord) return null;
  try {
    if (kind === 'date' && type === undefined) return dateLike(seen?.sample, text);
    return type === undefined ? valueLike(seen?.sample, text, kind) : typedCell(text, type);
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    throw new InputError(error.message, { hint: error.hint ?? typeHint(field), cause: error });
  }
}

/**
 * Returns the row's own value that sets a field of a present record, as an update reads it: the cell,
 * or typed JSON where the record holds nothing that tells the type. Throws InputError as `inputText` does.
 */
export function ownCell(
  given: FieldValue,
  record: JsonObject,
): readonly [key: string, value: unknown] | undefined {
  // What is empty already need not be cleared, also where the service does not show the field.
  const isCleared = 'value' in given && given.value === null;
  if (isCleared && (findField(record, given.target.field)?.value ?? null) === null)
    return undefined;
  const [key, cell] = cellFor(given, record);
  return Object.keys(cellFields({ [key]: cell }, record)).length > 0 ? [key, cell] : undefined;
}

function cellFor(given: FieldValue, record: JsonObject): readonly [key: string, cell: unknown] {
  const { field, type, seen } = given.target;
  const asJson = (value: unknown) => [cellKey(`${field}:json`), printJson(value)] as const;
  if ('value' in given) return given.value === null ? [cellKey(field), null] : asJson(given.value);
  const { text, inSheet, isRaw } = given;
  const plain = isRaw ? ({ raw: text } satisfies RawCell) : text;
  const cell = inSheet ? ({ text, ...inSheet } satisfies SheetCell) : plain;
  if (type !== undefined) return [cellKey(`${field}:${type}`), cell];
  const present = findField(record, field)?.value ?? undefined;
  const sample = seen?.sample;
  if (present !== undefined || sample === undefined || typeof sample === 'string')
    return [cellKey(field), cell];
  return asJson(newValue(given));
}

type Draft = { [key: string]: unknown } | unknown[];

/**
 * Builds a new record. Throws InputError for a field that is filled as a whole and in part, and for an
 * element of a list whose predecessor is missing.
 */
export function recordFrom(
  values: readonly (readonly [target: FieldTarget, value: unknown])[],
): JsonObject {
  const record: { [key: string]: unknown } = {};
  for (const [{ field, seen }, value] of values) {
    const path = seen?.path ?? field.split('.');
    let container: Draft = record;
    for (const [depth, key] of path.entries()) {
      const isThere = Object.hasOwn(container, key);
      const present: unknown = isThere ? (container as { [key: string]: unknown })[key] : undefined;
      const isLast = depth === path.length - 1;
      if (isThere && (isLast || !isDraft(present)))
        throw new InputError(
          `${path.slice(0, depth + 1).join('.')} is filled as a whole and in part.`,
        );
      if (isLast) {
        setKey(container, key, value);
        break;
      }
      const isInList: boolean = seen
        ? (seen.inList[depth + 1] ?? false)
        : isIndex(path[depth + 1] ?? '');
      const inner: Draft = isDraft(present) ? present : isInList ? [] : {};
      setKey(container, key, inner);
      container = inner;
    }
  }
  checkLists(record, '');
  return record;
}

function isDraft(value: unknown): value is Draft {
  return isObject(value) || Array.isArray(value);
}

function checkLists(value: unknown, name: string): void {
  if (Array.isArray(value)) {
    const hole = Array.from(value, (_, index) => index in value).indexOf(false);
    if (hole >= 0)
      throw new InputError(`${name}.${hole} is empty, but ${name}.${hole + 1} is not.`);
  }
  if (!isDraft(value)) return;
  for (const [key, inner] of Object.entries(value))
    checkLists(inner, name === '' ? key : `${name}.${key}`);
}
