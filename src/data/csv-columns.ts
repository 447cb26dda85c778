/** CSV headers: which columns are used, and how the cells below them are read. */
import { InputError } from '../errors.js';
import {
  cellKey,
  checkTypedCell,
  type RawCell,
  readColumnName,
  type SheetCell,
} from './cell-values.js';
import {
  checkNoSpreadsheetError,
  checkNotShortened,
  clearWord,
  headerHints,
  reportedColumns,
  spreadsheetError,
  unguard,
} from './csv.js';
import { type CsvRow, columnName, normalized, rowPlace, sameName } from './csv-reader.js';
import type { JsonObject } from './json.js';
import { didYouMean, nearest } from './nearest.js';
import type { CsvKey } from './references.js';
import { firstOf, orList, shellQuote } from './text.js';

/** One column of a CSV. */
export interface Column {
  /** The documented name of the column: `internalNotes`. */
  readonly name: string;
  readonly aliases?: readonly string[];
  /** Reads a filled cell; `exported`: perhaps the service's own text. Throws a plain Error with the reason. */
  read(cell: string, exported: boolean): unknown;
  /** The key of the value in the row's own values; default: the column's name. */
  readonly as?: string;
  /** Allows `<clear>`, which means null. */
  readonly clears?: boolean;
  /** Sets the field of its name; the meaning of its cells depends on the record's value. */
  readonly setsField?: boolean;
}

/** The columns that a command accepts in a CSV. */
export interface ColumnRules {
  readonly columns: readonly Column[];
  /** Fields that an export writes and an import ignores. */
  readonly exported: readonly string[];
  /**
   * Any other column sets the field of its name (typed with `name:text`, `:int`, `:bool`, `:json`).
   * `ownFile`: except in an exported file, whose unknown columns belong to the service, and except
   * for a name that looks like a typo.
   */
  readonly open: boolean | 'ownFile';
  /** Columns whose values come from a flag instead, with that flag. */
  readonly overruled?: ReadonlyMap<string, string> | undefined;
}

export interface HeaderOptions {
  /** `--map "Bewerber=id"`, by the header text in the file. */
  readonly map: readonly (readonly [header: string, name: string])[];
  readonly ignoreUnknownColumns: boolean;
  /** The file was written with `--csv-raw`. */
  readonly raw: boolean;
  /** The column that names the record (`--key`) or the file, under its first name that the header has. */
  readonly key: Pick<CsvKey, 'names'> & { readonly kind: string };
  /** Further keys that `--key` may name, for a suggestion. */
  readonly otherKeys?: readonly CsvKey[] | undefined;
}

/** A parsed header: reads the rows below it. */
export interface Header {
  readonly unused: readonly string[];
  /** The names of the columns that are read, without the key. */
  readonly used: readonly string[];
  /** Columns, by their names in the file, with the flag that takes precedence over them. */
  readonly overruled: ReadonlyMap<string, string>;
  /** Returns the cell that names the record. */
  key(row: CsvRow): string;
  own(row: CsvRow): JsonObject;
  /** Returns the place of that cell of a row: `Line 12`, in a sheet `A12`. */
  keyPlace(row: CsvRow): string;
}

/** Reads a header. Throws InputError for a missing id column, a duplicate name, or an unknown one. */
export function readHeader(head: CsvRow, given: ColumnRules, options: HeaderOptions): Header {
  for (const index of head.marks?.keys() ?? []) checkMark(head, index, 'the head of a column');
  const headers = head.cells.map((cell) => (options.raw ? cell : unguard(cell)));
  const names = mappedNames(headers, options);
  const rules = { ...given, exported: [...given.exported, ...reportedColumns(names)] };
  const header = headerFacts(names, rules);
  const keyName = options.key.names.find((known) =>
    names.some((name) => header.isNamed(name, known)),
  );
  if (keyName === undefined) throw noKeyColumn(names, head, options);
  const unused: string[] = [];
  const overruled = new Map<string, string>();
  const readers: { readonly index: number; readonly column: Column }[] = [];
  const taken = new Map<string, number>();
  let keyIndex = -1;
  for (const [index, name] of names.entries()) {
    if (name === '') continue;
    if (header.isNamed(name, keyName)) {
      take(taken, `--key ${keyName}`, keyName, index);
      keyIndex = index;
      continue;
    }
    const isOtherId = header.isNamed(name, 'id');
    // A key of the record may end in a space, or in what looks like a type.
    const exact = headers[index]?.trim() === name ? (headers[index] ?? name) : name;
    const column = isOtherId ? undefined : columnFor(name, exact, rules, header, options);
    if (!column) {
      const isKnown = isOtherId || options.ignoreUnknownColumns || isExported(name, rules);
      if (!isKnown && (!header.isExport || header.isTypo(name)))
        throw unknownColumn(name, options.key.kind, rules);
      unused.push(name);
      continue;
    }
    const target = column.setsField ? cellKey(column.name) : (column.as ?? column.name);
    take(taken, target, column.name, index);
    const flag = rules.overruled?.get(column.name);
    if (flag === undefined) readers.push({ index, column });
    else overruled.set(name, flag);
  }
  const reading = { ...options, isExport: header.isExport };
  return {
    unused,
    used: readers.map(({ column }) => column.name),
    overruled,
    keyPlace: (row) => rowPlace(row, keyIndex),
    key(row) {
      const cell = row.cells[keyIndex] ?? '';
      const place = rowPlace(row, keyIndex);
      checkMark(row, keyIndex, keyName);
      // An id is used verbatim, including spaces.
      if (options.raw) return cell;
      checkNoSpreadsheetError(cell, keyName, place);
      checkNotShortened(cell, keyName, place);
      return unguard(cell);
    },
    own: (row) => ownValues(row, readers, reading),
  };
}

/** The names of the columns, after --map. Throws InputError for a --map of a column that the file does not have. */
function mappedNames(headers: readonly string[], { map }: HeaderOptions): readonly string[] {
  for (const [from] of map)
    if (!headers.some((cell) => cell.trim() === from.trim()))
      throw new InputError(`--map "${from}": the file has no such column.`, {
        hint: `It has: ${firstOf(headers)}.`,
      });
  const nameOf = (cell: string) => map.find(([from]) => from.trim() === cell)?.[1] ?? cell;
  return headers.map((cell) => nameOf(cell.trim()));
}

/** Notes which column sets a target. Throws InputError if an earlier one sets it; `name`: how the error calls it. */
function take(taken: Map<string, number>, target: string, name: string, index: number): void {
  const earlier = taken.get(target);
  if (earlier !== undefined)
    throw new InputError(`Columns ${earlier + 1} and ${index + 1} are both ${name}.`, {
      hint: 'Remove one of them from the file.',
    });
  taken.set(target, index);
}

/** The columns that the names of a header stand for; a typo is a name close to a known column that is missing. */
function headerFacts(names: readonly string[], { columns }: ColumnRules) {
  const all = new Set(names);
  const normalizedNames = new Set(names.map(normalized));
  const known = columns.map((column) => column.name);
  const missing = known.filter((column) => !normalizedNames.has(normalized(column)));
  return {
    isExport: exportMarks.every((mark) => normalizedNames.has(normalized(mark))),
    isTypo: (name: string) => nearest(name, missing) !== undefined,
    /** True for the expected name, in any spelling if no column has exactly this one. */
    isNamed: (name: string, expected: string) =>
      name === expected || (sameName(name, expected) && !all.has(expected)),
  };
}

/** Returns the column that a name stands for; undefined if it is none that is used. */
function columnFor(
  name: string,
  exact: string,
  rules: ColumnRules,
  { isExport, isNamed, isTypo }: ReturnType<typeof headerFacts>,
  { ignoreUnknownColumns }: HeaderOptions,
): Column | undefined {
  const known = rules.columns.find((column) =>
    [column.name, ...(column.aliases ?? [])].some((alias) => isNamed(name, alias)),
  );
  if (known || isExported(name, rules)) return known;
  const isOwn = !isExport && !ignoreUnknownColumns && !isTypo(name);
  const isOpen = rules.open === true || (rules.open === 'ownFile' && isOwn);
  return isOpen ? openColumn(exact, isExport) : undefined;
}

function noKeyColumn(
  names: readonly string[],
  head: CsvRow,
  { key: { kind }, otherKeys = [] }: HeaderOptions,
): InputError {
  const fits = otherKeys.filter((other) =>
    other.names.some((known) => names.some((name) => sameName(name, known))),
  );
  const keys = orList(fits.map((other) => `--key ${other.kind}`));
  return new InputError(`The file has no column "${kind}". It has: ${firstOf(names)}.`, {
    hint: [
      ...(fits.length > 0 ? [`To match by another column, add ${keys}`] : []),
      `${fits.length > 0 ? 'Or name' : 'Name'} the ${kind} column: --map "THEIR NAME=${kind}"`,
      ...headerHints(head, fits.length > 0),
    ].join('\n'),
  });
}

function ownValues(
  row: CsvRow,
  readers: readonly { readonly index: number; readonly column: Column }[],
  options: HeaderOptions & { readonly isExport: boolean },
): JsonObject {
  const values: [string, unknown][] = [];
  for (const { index, column } of readers) {
    const cell = row.cells[index] ?? '';
    if (cell.trim() === '') continue;
    const mark = checkMark(row, index, column.name, column.setsField);
    const value = readCell(cell, column, rowPlace(row, index), options);
    const isOwn = row.marks !== undefined && column.setsField && typeof value === 'string';
    values.push([
      column.as ?? column.name,
      isOwn ? ({ text: value, column: columnName(index), kind: mark } satisfies SheetCell) : value,
    ]);
  }
  return Object.fromEntries(values);
}

/**
 * Returns what kind of value a cell of a sheet holds, if it is not text. Throws InputError for one that
 * cannot be used, and for a date in a column whose text is given.
 */
function checkMark(
  row: CsvRow,
  index: number,
  name: string,
  takesDates = false,
): SheetCell['kind'] {
  const mark = row.marks?.get(index);
  if (mark?.kind === 'refused')
    throw new InputError(`${rowPlace(row, index)}: ${name} ${mark.reason}`, { hint: mark.hint });
  if (mark?.kind === 'date' && !takesDates)
    throw new InputError(`${rowPlace(row, index)}: ${name} holds a date, not text.`, {
      hint: 'Format the column as text and type the value again, or remove the column.',
    });
  return mark?.kind;
}

function readCell(
  cell: string,
  column: Column,
  place: string,
  options: HeaderOptions & { readonly isExport: boolean },
): unknown {
  const { name } = column;
  const text = cell.trim();
  // Without guards, only the record can tell a literal text from a special one.
  if (options.raw && column.clears && (text === clearWord || spreadsheetError.test(text)))
    return { raw: cell } satisfies RawCell;
  checkNoSpreadsheetError(cell, name, place);
  if (!options.raw) checkNotShortened(cell, name, place);
  if (text === clearWord) {
    if (column.clears) return null;
    throw new InputError(`${place}: ${name} cannot be cleared.`, {
      hint: 'Empty the cell to leave the field as it is.',
    });
  }
  try {
    return column.read(options.raw ? cell : unguard(cell), options.isExport);
  } catch (error) {
    const { message, hint } = error as Error & Pick<InputError, 'hint'>;
    throw new InputError(`${place}: ${name} ${message}`, { hint, cause: error });
  }
}

/**
 * Returns a column that sets the field of its name. In an export, `rank:number` may be the complete
 * name of a field: only the record can tell.
 */
function openColumn(header: string, isExport: boolean): Column {
  const name = isExport ? header : readColumnName(header).name.trim();
  return {
    name,
    clears: true,
    setsField: true,
    as: cellKey(header),
    read(cell) {
      if (!isExport) checkTypedCell(header, cell);
      return cell;
    },
  };
}

/** Columns of every export, which nobody types: with them, unknown columns belong to the service. */
const exportMarks = ['id', 'organizationId', 'createdAt', 'updatedAt'];

function isExported(name: string, { exported }: ColumnRules): boolean {
  return exported.some((field) => field === name.split('.', 1)[0] || sameName(name, field));
}

function unknownColumn(name: string, key: string, { columns, exported }: ColumnRules) {
  const known = [key, ...columns.flatMap(({ name: own, aliases = [] }) => [own, ...aliases])];
  const all = [...known, ...exported];
  return new InputError(`Unknown column "${name}".${didYouMean(name, all)}`, {
    hint: `Columns: ${known.join(', ')}\nRename it with --map ${shellQuote(`${name}=${nearest(name, all) ?? 'NAME'}`)}, or skip unknown columns with --ignore-columns.`,
  });
}
