/** The header of a CSV: which of its columns count, and how the rows below it are read. */
import { InputError } from '../errors.js';
import { cellKey, checkTypedCell, type RawCell, readColumnName } from './cell-values.js';
import { clearWord, shortenedNumber, spreadsheetError, unguard } from './csv.js';
import type { JsonObject } from './json.js';
import { didYouMean, nearest } from './nearest.js';
import { firstOf, plural } from './text.js';

/** What one column of a CSV gives its row. */
export interface Column {
  /** The header as the page names it: `internalNotes`. */
  readonly name: string;
  readonly aliases?: readonly string[];
  /**
   * Reads a cell that holds something, `exported` where the service itself may have said it; throws a
   * plain Error with the reason.
   */
  read(cell: string, exported: boolean): unknown;
  /** The name under which the value stands in the row's own values; default the column's name. */
  readonly as?: string;
  /** Whether `<clear>` is allowed: null. */
  readonly clears?: boolean;
  /** Sets the field of its name; what its cells mean depends on what the record holds there. */
  readonly setsField?: boolean;
}

/** Which columns a command takes from a CSV. */
export interface ColumnRules {
  readonly columns: readonly Column[];
  /** Fields that an export writes and an import leaves alone. */
  readonly exported: readonly string[];
  /**
   * Any other column sets the field of its name (`name:text`, `:int`, `:bool`, `:json` type them). `ownFile`:
   * not in what an export wrote, whose unknown columns are the service's, nor one that looks like a slip.
   */
  readonly open: boolean | 'ownFile';
  /** Columns whose values the command line itself gives, by the flag that does. */
  readonly overruled?: ReadonlyMap<string, string> | undefined;
}

export interface HeaderOptions {
  /** `--map "Bewerber=id"`, by the header as it stands. */
  readonly map: readonly (readonly [header: string, name: string])[];
  readonly ignoreUnknownColumns: boolean;
  /** Cells were written by `--csv-raw`. */
  readonly raw: boolean;
}

/** A header understood: how to read the rows below it, and what is left aside. */
export interface Header {
  readonly unused: readonly string[];
  /** Columns as they are called in the file, by the flag that is heard instead. */
  readonly overruled: ReadonlyMap<string, string>;
  id(cells: readonly string[], line: number): string;
  own(cells: readonly string[], line: number): JsonObject;
}

/** Reads a header. Throws InputError for no id column, a name given twice, or one that nobody knows. */
export function readHeader(
  cells: readonly string[],
  rules: ColumnRules,
  options: HeaderOptions,
): Header {
  const exact = cells.map((cell) => (options.raw ? cell : unguard(cell)));
  const names = exact.map((cell) => mapped(cell.trim(), options));
  const all = new Set(names);
  for (const [from] of options.map)
    if (!exact.some((cell) => cell.trim() === from.trim()))
      throw new InputError(`--map names a column "${from}" that the CSV does not have.`, {
        hint: `It has: ${firstOf(exact)}.`,
      });
  const spellings = new Set(names.map(plain));
  const isExport = exportMarks.every((mark) => spellings.has(plain(mark)));
  const isOwn = !isExport && !options.ignoreUnknownColumns;
  const missing = rules.columns
    .map((column) => column.name)
    .filter((column) => !spellings.has(plain(column)));
  // A name close to a column that counts and is not there itself.
  const isSlip = (name: string) => nearest(name, missing) !== undefined;
  const isNamed = (name: string, wanted: string) =>
    name === wanted || (sameName(name, wanted) && !all.has(wanted));
  const used = new Map<string, number>();
  const readers: { readonly index: number; readonly column: Column }[] = [];
  const unused: string[] = [];
  const overruled = new Map<string, string>();
  let idIndex = -1;
  for (const [index, name] of names.entries()) {
    if (name === '') continue;
    const isId = isNamed(name, 'id');
    const known = rules.columns.find((column) =>
      [column.name, ...(column.aliases ?? [])].some((word) => isNamed(name, word)),
    );
    const isOpen =
      !isExported(name, rules) &&
      (rules.open === true || (rules.open === 'ownFile' && isOwn && !isSlip(name)));
    // A key of the record may end in a space, or like a type.
    const header = exact[index]?.trim() === name ? (exact[index] ?? name) : name;
    const column = known ?? (isOpen ? openColumn(header, isExport) : undefined);
    if (!isId && !column) {
      const passes = isExported(name, rules) || options.ignoreUnknownColumns;
      if (!passes && !(isExport && !isSlip(name))) throw stranger(name, rules);
      unused.push(name);
      continue;
    }
    const key = isId ? 'id' : (column?.as ?? column?.name ?? name);
    const before = used.get(key);
    if (before !== undefined)
      throw new InputError(
        `Columns ${before + 1} and ${index + 1} are both ${isId ? 'id' : column?.name}.`,
        {
          hint: 'Take one of them out of the file.',
        },
      );
    used.set(key, index);
    const flag = column && rules.overruled?.get(column.name);
    if (isId) idIndex = index;
    else if (flag !== undefined) overruled.set(name, flag);
    else if (column) readers.push({ index, column });
  }
  if (idIndex < 0)
    throw new InputError(`The CSV has no column "id". It has: ${firstOf(names)}.`, {
      hint: 'Name the column that holds the ids: --map "THEIR NAME=id"',
    });
  const reading = { ...options, isExport };
  return {
    unused,
    overruled,
    id(row, line) {
      const cell = row[idIndex] ?? '';
      if (!options.raw) checkNoError(cell, 'id', line);
      checkWhole(cell, 'id', line, options);
      // An id is what it is, spaces included.
      return options.raw ? cell : unguard(cell);
    },
    own: (row, line) => ownValues(row, line, readers, reading),
  };
}

/** Whether a first line is a header with an id column, for `--ids`. */
export function hasIdColumn(cells: readonly string[], map: HeaderOptions['map']): boolean {
  return cells.some(
    (cell) =>
      sameName(cell.trim(), 'id') ||
      map.some(([from, to]) => from.trim() === cell.trim() && to === 'id'),
  );
}

function ownValues(
  row: readonly string[],
  line: number,
  readers: readonly { readonly index: number; readonly column: Column }[],
  options: HeaderOptions & { readonly isExport: boolean },
): JsonObject {
  const own: [string, unknown][] = [];
  for (const { index, column } of readers) {
    const cell = row[index] ?? '';
    if (cell.trim() === '') continue;
    own.push([column.as ?? column.name, readCell(cell, column, line, options)]);
  }
  return Object.fromEntries(own);
}

function readCell(
  cell: string,
  column: Column,
  line: number,
  options: HeaderOptions & { readonly isExport: boolean },
): unknown {
  const { name } = column;
  const word = cell.trim();
  // No guard tells a raw text from what it looks like, but the record that holds it does.
  if (options.raw && column.setsField && (word === clearWord || spreadsheetError.test(word)))
    return { raw: cell } satisfies RawCell;
  checkNoError(cell, name, line);
  checkWhole(cell, name, line, options);
  if (word === clearWord) {
    if (column.clears) return null;
    throw new InputError(`Line ${line}: ${name} cannot be cleared.`, {
      hint: 'Empty the cell to leave the field as it is.',
    });
  }
  try {
    return column.read(options.raw ? cell : unguard(cell), options.isExport);
  } catch (error) {
    throw new InputError(`Line ${line}: ${name} ${(error as Error).message}`, { cause: error });
  }
}

function checkNoError(cell: string, name: string, line: number): void {
  if (!spreadsheetError.test(cell.trim())) return;
  throw new InputError(`Line ${line}: ${name} holds the spreadsheet error ${cell.trim()}.`, {
    hint:
      name === 'id'
        ? 'Fix the cell, or take the line out; then save the CSV again.'
        : 'Fix the cell, or empty it to leave the field as it is; then save the CSV again.',
  });
}

/** A long number that a spreadsheet shortened has lost its digits. Throws InputError. */
function checkWhole(cell: string, name: string, line: number, { raw }: HeaderOptions): void {
  if (raw || !shortenedNumber.test(cell.trim())) return;
  throw new InputError(
    `Line ${line}: ${name} holds ${cell.trim()}, as a spreadsheet writes a long number whose last digits it lost.`,
    {
      hint: 'Import that column as text, or empty the cell to leave the field as it is. If the text is meant: --csv-raw',
    },
  );
}

/**
 * A column that sets the field of its name. In an export a name such as `rank:number` may be the
 * field's own: only the record tells.
 */
function openColumn(header: string, isExport: boolean): Column {
  const name = isExport ? header : readColumnName(header).name;
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

/** What every export has and nobody types: beside them unknown fields of the service are none of ours. */
const exportMarks = ['id', 'organizationId', 'createdAt', 'updatedAt'];

function isExported(name: string, { exported }: ColumnRules): boolean {
  const root = name.split('.', 1)[0] ?? '';
  return exported.some((field) => field === root || sameName(name, field));
}

function stranger(name: string, rules: ColumnRules): InputError {
  const known = ['id', ...rules.columns.map((column) => column.name)];
  return new InputError(
    `The column "${name}" is not known.${didYouMean(name, [...known, ...rules.exported])}`,
    {
      hint: `Columns: ${known.join(', ')}. Rename one with --map "${name}=NAME", or pass over strangers with --ignore-columns.`,
    },
  );
}

function mapped(header: string, { map }: HeaderOptions): string {
  return map.find(([from]) => from.trim() === header)?.[1] ?? header;
}

/** Case, spaces, `_` and `-` are spelling. */
function sameName(a: string, b: string): boolean {
  return plain(a) === plain(b);
}

function plain(name: string): string {
  return name.toLowerCase().replace(/[\s_-]/g, '');
}

/** More lines than this are only counted. */
const mostListed = 20;

/** What is wrong with an input, line by line; each error says in its message which line it is. */
export class InputErrors {
  private readonly listed: InputError[] = [];
  private count = 0;

  add(error: InputError): void {
    this.count += 1;
    if (this.listed.length < mostListed) this.listed.push(error);
  }

  /** Runs `work` and keeps an InputError that it throws; any other error passes. */
  collect(work: () => void): void {
    try {
      work();
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      this.add(error);
    }
  }

  /**
   * Throws one InputError for all that were added: the only one as it is, else one whose message has
   * the reasons of the first 20, each on a line of its own, and how many more there are.
   */
  throwIfAny(): void {
    const [only] = this.listed;
    if (!only) return;
    if (this.count === 1) throw only;
    const reasons = this.listed.map(({ message }) => message.replace(/\s*[\r\n]\s*/g, ' '));
    const more = this.count - this.listed.length;
    const hints = new Set(this.listed.flatMap(({ hint }) => hint ?? []));
    throw new InputError(
      [
        `${this.count} lines cannot be used.`,
        ...reasons,
        ...(more > 0 ? [`And ${plural(more, 'more line')}.`] : []),
      ].join('\n'),
      { hint: hints.size > 0 ? [...hints].slice(0, 3).join('\n') : undefined, cause: only },
    );
  }
}
