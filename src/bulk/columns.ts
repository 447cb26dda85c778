import { clearWord, shortenedNumber, spreadsheetError, unguard } from '../data/csv.js';
import { type JsonObject, parseJson } from '../data/json.js';
import { didYouMean, nearest } from '../data/nearest.js';
import { InputError } from '../errors.js';

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
}

/** Which columns a command takes from a CSV. */
export interface ColumnRules {
  readonly columns: readonly Column[];
  /** Fields that an export writes and an import leaves alone. */
  readonly exported: readonly string[];
  /**
   * Any other column sets the field of its name (`name:int`, `:bool`, `:json` type them). `ownFile`:
   * not in what an export wrote, whose unknown columns are the service's, nor one that looks like a slip.
   */
  readonly open: boolean | 'ownFile';
  /** Columns whose values the command line itself gives, by the flag that does. */
  readonly overruled?: ReadonlyMap<string, string> | undefined;
}

export interface HeaderOptions {
  /** `--map "Bewerber=id"`, by the header as it stands. */
  readonly map: readonly (readonly [header: string, name: string])[];
  readonly ignoreStrangers: boolean;
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
  const names = cells.map((cell) => mapped(clean(cell, options), options));
  for (const [from] of options.map)
    if (!cells.some((cell) => clean(cell, options) === from.trim()))
      throw new InputError(`--map names a column "${from}" that the CSV does not have.`, {
        hint: `It has: ${cells.join(', ')}.`,
      });
  const isExport = exportMarks.every((mark) => names.some((name) => sameName(name, mark)));
  const isOwn = !isExport && !options.ignoreStrangers;
  const used = new Map<string, number>();
  const readers: { readonly index: number; readonly column: Column }[] = [];
  const unused: string[] = [];
  const overruled = new Map<string, string>();
  let idIndex = -1;
  for (const [index, name] of names.entries()) {
    const open =
      rules.open === true || (rules.open === 'ownFile' && isOwn && !isSlip(name, names, rules));
    const column = name === '' ? undefined : columnOf(name, { ...rules, open });
    const isId = sameName(name, 'id');
    if (!isId && !column) {
      const passes = isExported(name, rules) || options.ignoreStrangers;
      if (name !== '' && !passes && !(isExport && !isSlip(name, names, rules)))
        throw stranger(name, rules);
      if (name !== '') unused.push(name);
      continue;
    }
    const key = isId ? 'id' : (column?.name ?? name);
    const before = used.get(key);
    if (before !== undefined)
      throw new InputError(`Columns ${before + 1} and ${index + 1} are both ${key}.`, {
        hint: 'Take one of them out of the file.',
      });
    used.set(key, index);
    const flag = column && rules.overruled?.get(column.name);
    if (isId) idIndex = index;
    else if (flag !== undefined) overruled.set(name, flag);
    else if (column) readers.push({ index, column });
  }
  if (idIndex < 0)
    throw new InputError(`The CSV has no column "id". It has: ${names.join(', ')}.`, {
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
export function namesAnId(cells: readonly string[], map: HeaderOptions['map']): boolean {
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
    const name = column.as ?? column.name;
    checkNoError(cell, column.name, line);
    checkWhole(cell, column.name, line, options);
    if (cell.trim() === clearWord) {
      if (!column.clears)
        throw new InputError(`Line ${line}: ${column.name} cannot be cleared.`, {
          hint: 'Empty the cell to leave the field as it is.',
        });
      own.push([name, null]);
      continue;
    }
    try {
      own.push([name, column.read(options.raw ? cell : unguard(cell), options.isExport)]);
    } catch (error) {
      throw new InputError(`Line ${line}: ${column.name} ${(error as Error).message}`, {
        cause: error,
      });
    }
  }
  return Object.fromEntries(own);
}

function checkNoError(cell: string, name: string, line: number): void {
  if (!spreadsheetError.test(cell.trim())) return;
  throw new InputError(`Line ${line}: ${name} holds the spreadsheet error ${cell.trim()}.`, {
    hint:
      name === 'id'
        ? 'Mend the cell, or take the line out; then save the CSV again.'
        : 'Mend the cell, or empty it to leave the field as it is; then save the CSV again.',
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

function columnOf(name: string, rules: ColumnRules): Column | undefined {
  const known = rules.columns.find((column) =>
    [column.name, ...(column.aliases ?? [])].some((word) => sameName(name, word)),
  );
  if (known) return known;
  if (!rules.open || isExported(name, rules)) return undefined;
  return openColumn(name);
}

function openColumn(header: string): Column {
  const [, bare = header, word = ''] = /^(.+):(\w+)$/.exec(header) ?? [];
  const type = columnTypes.find((known) => known === word);
  const meant = otherTypes.get(word.toLowerCase());
  if (type === undefined && meant !== undefined)
    throw new InputError(`The column "${header}" has a type that is not known: ${word}.`, {
      hint: meant === '' ? `Text needs no type: ${bare}` : `Did you mean ${bare}:${meant}?`,
    });
  const name = type === undefined ? header : bare;
  return { name, clears: true, as: `set.${name}`, read: (cell) => typed(cell, type) };
}

const columnTypes = ['int', 'bool', 'json'] as const;

/** What others call the types of a column; text has none. */
const otherTypes = new Map<string, (typeof columnTypes)[number] | ''>([
  ...['number', 'integer', 'num'].map((word) => [word, 'int'] as const),
  ['boolean', 'bool'],
  ...['object', 'array', 'list', 'null', 'float', 'double', 'decimal'].map(
    (word) => [word, 'json'] as const,
  ),
  ...['string', 'text', 'str'].map((word) => [word, ''] as const),
]);

function typed(cell: string, type: (typeof columnTypes)[number] | undefined): unknown {
  const text = cell.trim();
  if (type === undefined) return { text: cell };
  if (type === 'int') {
    if (/^-?\d{1,15}$/.test(text)) return { value: Number(text) };
    throw new Error(`"${text}" is no whole number.`);
  }
  if (type === 'bool') {
    if (/^(true|false)$/i.test(text)) return { value: text.toLowerCase() === 'true' };
    throw new Error(`"${text}" is neither true nor false.`);
  }
  try {
    return { value: parseJson(text) };
  } catch {
    throw new Error('is no valid JSON.');
  }
}

/** What every export has and nobody types: beside them unknown fields of the service are none of ours. */
const exportMarks = ['id', 'organizationId', 'createdAt', 'updatedAt'];

/** A name close to a column that counts and is not there itself. */
function isSlip(name: string, names: readonly string[], { columns }: ColumnRules): boolean {
  const missing = columns
    .map((column) => column.name)
    .filter((column) => !names.some((other) => sameName(other, column)));
  return nearest(name, missing) !== undefined;
}

function isExported(name: string, rules: ColumnRules): boolean {
  return rules.exported.some((field) => sameName(name, field) || name.startsWith(`${field}.`));
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

function clean(cell: string, { raw }: HeaderOptions): string {
  return (raw ? cell : unguard(cell)).trim();
}

/** Case, spaces, `_` and `-` are spelling. */
function sameName(a: string, b: string): boolean {
  return plain(a) === plain(b);
}

function plain(name: string): string {
  return name.toLowerCase().replace(/[\s_-]/g, '');
}
