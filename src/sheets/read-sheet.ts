/** Reads one sheet of a workbook as the rows that a CSV would have, with what only a sheet can tell. */
import { type CellMark, type CsvRow, columnName } from '../data/csv-reader.js';
import { groupedNumber, plural } from '../data/text.js';
import { InputError } from '../errors.js';
import { damagedArchive } from './archive.js';
import {
  columnIndex,
  csvText,
  dateText,
  mostColumns,
  mostSheetRows,
  unescaped,
} from './cell-text.js';
import { openWorkbook, refuseOldWorkbook, richText, saysYes, type Workbook } from './workbook.js';
import { attributeOf, type XmlHandler } from './xml.js';

export { mostBytes, tooLarge } from './archive.js';

interface SheetOptions {
  /** The file's name, for messages. */
  readonly name: string;
  /** The sheet's name; default: the first that is not hidden. */
  readonly sheet?: string | undefined;
  /** Takes the values that formulas showed when the file was saved; otherwise such a cell cannot be used. */
  readonly takeFormulas: boolean;
  /** Receives what a person should know about the sheet. */
  readonly note: (line: string) => void;
}

const mostCells = 5_000_000;

/**
 * Yields the rows of a sheet, each with its number and its cells as CSV would hold them; a cell that
 * is not text has a mark. Rows without a value are left out. Throws InputError for a file that is no
 * plain .xlsx workbook, is damaged, or takes more than 64 MiB, 5,000,000 cells or 16,384 columns.
 */
export async function* sheetRows(
  file: Buffer,
  options: SheetOptions,
): AsyncGenerator<readonly CsvRow[]> {
  refuseOldWorkbook(file, options.name);
  const book = await openWorkbook(file, options.name, options.sheet);
  const cells = new Cells(book, options);
  for await (const _ of book.scan(book.sheet, cells)) yield cells.take();
  if (cells.hiddenRows > 0)
    options.note(
      `${plural(cells.hiddenRows, 'row is', 'rows are')} hidden in the sheet, by a filter or by hand, and ${cells.hiddenRows === 1 ? 'is' : 'are'} read too.`,
    );
  if (cells.merged !== undefined)
    options.note(
      `Merged cells, such as ${cells.merged}, hold a value only in their first row; the other rows are read as blank.`,
    );
}

const noMarks: ReadonlyMap<number, CellMark> = new Map();

interface OpenCell {
  readonly index: number;
  readonly type: string;
  readonly style: number;
  hasFormula: boolean;
  formula: string;
}

class Cells implements XmlHandler {
  hiddenRows = 0;
  /** The first range of which one value covers several rows. */
  merged: string | undefined;
  private rows: CsvRow[] = [];
  private isData = false;
  private line = 0;
  private isHidden = false;
  private texts: string[] = [];
  private marks: Map<number, CellMark> | undefined;
  private next = 0;
  private cell: OpenCell | undefined;
  /** The element of the cell whose text is read: its value, formula or inline text. */
  private part: 'v' | 'f' | 'is' | undefined;
  private value = '';
  private count = 0;
  private isHeader = true;
  private readonly rich = richText();

  constructor(
    private readonly book: Workbook,
    private readonly options: SheetOptions,
  ) {}

  /** Returns the rows that are complete. */
  take(): readonly CsvRow[] {
    const { rows } = this;
    this.rows = [];
    return rows;
  }

  open(name: string, attributes: string): void {
    if (name === 'sheetData') this.isData = true;
    if (name === 'mergeCell') this.merged ??= mergedRows(attributeOf(attributes, 'ref'));
    if (!this.isData) return;
    if (name === 'c') this.openCell(attributes);
    else if (name === 'row') this.openRow(attributes);
    else if (!this.cell) return;
    else if (name === 'v' || name === 'f' || name === 'is') {
      this.part = name;
      this.cell.hasFormula ||= name === 'f';
    } else if (this.part === 'is') this.rich.open(name);
  }

  text(text: string): void {
    if (this.part === 'v') this.value += text;
    else if (this.part === 'f' && this.cell) this.cell.formula += text;
    else if (this.part === 'is') this.rich.text(text);
  }

  close(name: string): void {
    if (!this.isData) return;
    if (name === this.part) this.part = undefined;
    else if (name === 'c') this.closeCell();
    else if (name === 'row') this.closeRow();
    else if (name === 'sheetData') this.isData = false;
    else if (this.part === 'is') this.rich.close(name);
  }

  private openRow(attributes: string): void {
    const line = Number(attributeOf(attributes, 'r') ?? this.line + 1);
    if (!(line > this.line) || line > mostSheetRows)
      throw damagedArchive(this.options.name, `row ${line} follows row ${this.line}`);
    this.line = line;
    this.isHidden = saysYes(attributeOf(attributes, 'hidden'));
    this.texts = [];
    this.marks = undefined;
    this.next = 0;
  }

  private openCell(attributes: string): void {
    const { name } = this.options;
    const reference = attributeOf(attributes, 'r');
    const [, letters, row] = /^([A-Z]{1,9})(\d{1,9})$/.exec(reference ?? '') ?? [];
    if (reference !== undefined && Number(row) !== this.line)
      throw damagedArchive(name, `the cell ${reference.slice(0, 20)} is in row ${this.line}`);
    const index = letters === undefined ? this.next : columnIndex(letters);
    if (index >= mostColumns)
      throw new InputError(
        `${name} has cells beyond the last column of a sheet, ${columnName(mostColumns - 1)}.`,
      );
    // The empty cells before it are counted too, since they take as much memory.
    this.count += Math.max(1, index + 1 - this.texts.length);
    if (this.count > mostCells)
      throw new InputError(`${name} has more than ${groupedNumber(mostCells)} cells.`, {
        hint: 'Split it into several files.',
      });
    if (this.texts[index] !== undefined)
      throw damagedArchive(
        name,
        `the cell ${columnName(index)}${this.line} appears twice or out of order`,
      );
    this.next = index + 1;
    this.value = '';
    this.cell = {
      index,
      type: attributeOf(attributes, 't') ?? 'n',
      style: Number(attributeOf(attributes, 's') ?? 0),
      hasFormula: false,
      formula: '',
    };
  }

  private closeCell(): void {
    const { cell } = this;
    this.cell = undefined;
    if (!cell) return;
    while (this.texts.length < cell.index) this.texts.push('');
    const { text, mark } = this.read(cell);
    this.texts[cell.index] = text;
    if (!mark) return;
    this.marks ??= new Map();
    this.marks.set(cell.index, mark);
  }

  private closeRow(): void {
    if (!this.texts.some((text) => text.trim() !== '')) return;
    if (this.isHidden && !this.isHeader) this.hiddenRows += 1;
    this.isHeader = false;
    this.rows.push({ line: this.line, cells: this.texts, marks: this.marks ?? noMarks });
  }

  private read(cell: OpenCell): { readonly text: string; readonly mark?: CellMark } {
    const { takeFormulas } = this.options;
    const truth = truthValues.get(cell.formula);
    if (truth !== undefined) return truthValue(truth);
    if (cell.hasFormula && !takeFormulas) return formula;
    if (cell.hasFormula && this.value === '' && cell.type !== 'str') return formulaWithoutValue;
    const { value } = this;
    if (cell.type === 'inlineStr') return { text: csvText(this.rich.take()) };
    if (value === '') return { text: '' };
    if (cell.type === 's') return { text: csvText(this.shared(value)) };
    if (cell.type === 'str') return { text: csvText(unescaped(value)) };
    if (cell.type === 'b') return truthValue(saysYes(value));
    if (cell.type === 'e') return errorCell(value);
    if (cell.type === 'd') return { text: isoDate(value), mark: { kind: 'date' } };
    return this.number(value, cell.style);
  }

  private shared(value: string): string {
    const text = /^\d{1,9}$/.test(value) ? this.book.strings.at(Number(value)) : undefined;
    if (text === undefined)
      throw damagedArchive(this.options.name, `a cell of row ${this.line} has no text`);
    return text;
  }

  private number(value: string, style: number): { readonly text: string; readonly mark: CellMark } {
    const number = Number(value);
    if (!Number.isFinite(number) || value.trim() === '')
      throw damagedArchive(
        this.options.name,
        `row ${this.line} holds the number ${value.slice(0, 20)}`,
      );
    const { isDate = false, digits = 0 } = this.book.formats[style] ?? {};
    const date = isDate ? dateText(number, this.book.is1904) : undefined;
    if (date !== undefined) return { text: date, mark: { kind: 'date' } };
    // A time of day. Other numbers of such a format are durations.
    if (isDate && number > 0 && number < 1) return { text: String(number), mark: { kind: 'date' } };
    if (Math.abs(number) >= 1e15)
      return { text: number.toExponential().toUpperCase(), mark: longNumber };
    const text = String(number);
    const shown = /^\d+$/.test(text) ? text.padStart(digits, '0') : text;
    return { text: shown, mark: { kind: 'number' } };
  }
}

/** Returns a date as `dateText` does from the form of a strict workbook, which names no time zone. */
function isoDate(value: string): string {
  const day = value.replace(/T00:00:00(?:\.0+)?$/, '');
  return /T[\d:.]+$/.test(day) ? `${day}Z` : day;
}

/** Returns a range that covers several rows. */
function mergedRows(range = ''): string | undefined {
  const [, first, last] = /^[A-Z]+(\d+):[A-Z]+(\d+)$/.exec(range) ?? [];
  return first === last ? undefined : range;
}

const longNumber: CellMark = {
  kind: 'refused',
  reason: 'holds a number of more than 15 digits, of which a spreadsheet keeps only the first 15.',
  hint: 'Format the column as text and type the number again, or empty the cell to leave the field as it is.',
};

/** How LibreOffice writes a boolean that no formula computed, in a cell of text as a number. */
const truthValues: ReadonlyMap<string, boolean> = new Map([
  ['TRUE()', true],
  ['FALSE()', false],
]);

function truthValue(is: boolean) {
  return { text: String(is), mark: { kind: 'boolean' } satisfies CellMark };
}

const takeHint = 'To use the values that formulas show, add --take-formulas.';
// As an error of the spreadsheet, which no reader of rows accepts.
const formula = {
  text: '#VALUE!',
  mark: { kind: 'refused', reason: 'holds a formula.', hint: takeHint } satisfies CellMark,
};
const formulaWithoutValue = {
  text: '#VALUE!',
  mark: {
    kind: 'refused',
    reason: 'holds a formula that was never calculated.',
    hint: 'Open the file in your spreadsheet program and save it again.',
  } satisfies CellMark,
};

function errorCell(value: string) {
  const reason = `holds the spreadsheet error ${value.slice(0, 20)}.`;
  const hint = 'Fix the cell, or empty it to leave the field as it is.';
  return { text: '#VALUE!', mark: { kind: 'refused', reason, hint } satisfies CellMark };
}
