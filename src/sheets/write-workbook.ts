/** Writes records as a workbook: a sheet with a header row, a filter and drop-downs, and the sheet About. */
import { exportText, safeDigits } from '../data/csv.js';
import { columnName } from '../data/csv-reader.js';
import { groupedNumber, plural } from '../data/text.js';
import { momentOf } from '../data/time.js';
import { OutputError } from '../errors.js';
import { mostBytes } from './archive.js';
import {
  longestText,
  mostColumns,
  mostSheetRows,
  serialOf,
  sheetText,
  xmlText,
} from './cell-text.js';
import { frameParts, SharedTexts, sheetStart, styles } from './workbook-parts.js';
import { archiveWriter } from './write-archive.js';

/** A sheet to write: its rows are read twice, first for the kinds and widths of its columns. */
interface SheetContent {
  readonly name: string;
  readonly columns: readonly string[];
  readonly rowCount: number;
  rows(): AsyncIterable<readonly unknown[]>;
  /** The values that a column may have; undefined for any. */
  choicesOf(column: string): readonly string[] | undefined;
  /** Names a record in messages, by its row from 0. */
  labelOf(row: number): string;
  /** The lines of the second sheet, each a label and a text. */
  readonly about: readonly (readonly [label: string, text: string])[];
}

/**
 * Writes a workbook. Returns whether it takes more than our own reader accepts. Throws OutputError
 * for more columns, rows or text in a cell than the format can hold.
 */
export async function writeWorkbook(
  content: SheetContent,
  write: (bytes: Uint8Array) => Promise<void>,
): Promise<{ readonly isTooLargeToRead: boolean }> {
  checkSize(content);
  const columns = await surveyed(content);
  const texts = new SharedTexts();
  const archive = archiveWriter(write);
  const last = `${columnName(Math.max(0, columns.length - 1))}$${content.rowCount + 1}`;
  const filter = columns.length > 0 ? `$A$1:$${last}` : undefined;
  const sheets = [{ name: content.name, filter }, { name: aboutName }];
  for (const [path, text] of frameParts(sheets)) await archive.add(path, [text]);
  await archive.add('xl/worksheets/sheet1.xml', batched(recordSheet(content, columns, texts)));
  await archive.add('xl/worksheets/sheet2.xml', aboutSheet(content.about, texts));
  await archive.add('xl/sharedStrings.xml', batched(texts.part()));
  return { isTooLargeToRead: (await archive.end()) > mostBytes };
}

const aboutName = 'About';

function checkSize({ columns, rowCount }: SheetContent): void {
  const hint = 'Use -o csv, or fewer records (--limit) or fields (--fields).';
  if (columns.length > mostColumns)
    throw new OutputError(
      `A sheet has at most ${groupedNumber(mostColumns)} columns; these records have ${groupedNumber(columns.length)}.`,
      { hint },
    );
  if (rowCount >= mostSheetRows)
    throw new OutputError(
      `A sheet has at most ${groupedNumber(mostSheetRows)} rows; there are ${groupedNumber(rowCount)} records.`,
      { hint },
    );
}

interface SheetColumn {
  readonly name: string;
  /** The style of its empty cells, into which somebody may type. */
  readonly style: number;
  readonly width: number;
}

/** Columns whose text a later import needs exactly as it was sent. */
const exactColumns: ReadonlySet<string> = new Set(['id', 'updatedAt']);

const widest = 60;
const narrowest = 8;
const timeWidth = 20;

async function surveyed(content: SheetContent): Promise<readonly SheetColumn[]> {
  const { columns } = content;
  const found = columns.map((name) => ({
    width: name.length + 4,
    isTimes: name.endsWith('At') && !exactColumns.has(name),
    isPlain: true,
    isEmpty: true,
  }));
  for await (const cells of content.rows())
    for (const [index, column] of found.entries()) {
      const value = cells[index];
      const text = exportText(value);
      if (text === '') continue;
      column.isEmpty = false;
      column.width = Math.max(column.width, Math.min(text.length, widest) + 1);
      if (column.isTimes && timeSerial(value) === undefined) column.isTimes = false;
      if (column.isPlain && plainCell(value) === undefined) column.isPlain = false;
    }
  return columns.map((name, index) => {
    const { width, isTimes, isPlain, isEmpty } = found[index] ?? {};
    const style = exactColumns.has(name)
      ? styles.exact
      : isTimes && !isEmpty
        ? styles.time
        : isPlain && !isEmpty
          ? styles.plain
          : styles.text;
    const shown = style === styles.time ? timeWidth : (width ?? narrowest);
    return { name, style, width: Math.min(widest, Math.max(narrowest, shown)) };
  });
}

function timeSerial(value: unknown): number | undefined {
  const moment = typeof value === 'string' ? momentOf(value) : undefined;
  return moment && serialOf(moment);
}

/** Returns the inside of a cell for a number that survives every spreadsheet, or for a truth value. */
function plainCell(value: unknown): string | undefined {
  // In a column of text, LibreOffice would show it as 1.
  if (typeof value === 'boolean') return ` s="${styles.plain}" t="b"><v>${value ? 1 : 0}</v></c>`;
  if (typeof value !== 'number') return undefined;
  const text = String(value);
  const digits = text.replace(/^-?0?\.?0*|\./g, '');
  return /^-?\d+(?:\.\d+)?$/.test(text) && digits.length <= safeDigits
    ? `><v>${text}</v></c>`
    : undefined;
}

async function* recordSheet(
  content: SheetContent,
  columns: readonly SheetColumn[],
  texts: SharedTexts,
): AsyncGenerator<string> {
  const letters = columns.map((_, index) => columnName(index));
  const range = `A1:${letters.at(-1) ?? 'A'}${content.rowCount + 1}`;
  const textCell = (place: string, style: number, text: string) =>
    `<c r="${place}" s="${style}" t="s"><v>${texts.numberOf(text)}</v></c>`;
  yield `${sheetStart}<dimension ref="${range}"/><sheetViews><sheetView tabSelected="1" workbookViewId="0"><pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/><selection pane="bottomLeft" activeCell="A2" sqref="A2"/></sheetView></sheetViews><sheetFormatPr defaultRowHeight="15"/>`;
  yield columnWidths(columns);
  yield '<sheetData>';
  if (columns.length > 0) {
    const heads = columns.map(({ name }, index) =>
      textCell(`${letters[index]}1`, styles.head, fitting(exportText(name), 'The name of a field')),
    );
    yield `<row r="1">${heads.join('')}</row>`;
  }
  let row = 0;
  for await (const values of content.rows()) {
    row += 1;
    let line = `<row r="${row + 1}">`;
    for (let index = 0; index < columns.length; index++) {
      const value = values[index];
      const { style = styles.text, name = '' } = columns[index] ?? {};
      const place = `${letters[index]}${row + 1}`;
      const plain = plainCell(value);
      const serial = style === styles.time ? timeSerial(value) : undefined;
      if (plain !== undefined) line += `<c r="${place}"${plain}`;
      else if (serial !== undefined) line += `<c r="${place}" s="${style}"><v>${serial}</v></c>`;
      else {
        const text = exportText(value);
        if (text === '') continue;
        const textStyle = style === styles.exact ? style : styles.text;
        const record = row - 1;
        line += textCell(
          place,
          textStyle,
          fitting(sheetText(text), () => `${name} of ${content.labelOf(record)}`),
        );
      }
    }
    yield `${line}</row>`;
  }
  yield '</sheetData>';
  if (columns.length > 0) yield `<autoFilter ref="${range}"/>`;
  yield choices(content, letters);
  // Excel would mark every id as a number that is stored as text.
  if (row > 0)
    yield `<ignoredErrors><ignoredError sqref="${range}" numberStoredAsText="1"/></ignoredErrors>`;
  yield '</worksheet>';
}

function columnWidths(columns: readonly SheetColumn[]): string {
  if (columns.length === 0) return '';
  const each = columns.map(
    ({ style, width }, index) =>
      `<col min="${index + 1}" max="${index + 1}" width="${width}" style="${style}" customWidth="1"/>`,
  );
  return `<cols>${each.join('')}</cols>`;
}

/** Returns the drop-downs of columns whose values are known. */
function choices(content: SheetContent, letters: readonly string[]): string {
  const lists = content.columns.flatMap((column, index) => {
    const words = content.choicesOf(column);
    if (!words || content.rowCount === 0) return [];
    const range = `${letters[index]}2:${letters[index]}${content.rowCount + 1}`;
    return `<dataValidation type="list" errorStyle="stop" allowBlank="1" showErrorMessage="1" errorTitle="${xmlText(`Unknown ${column}`)}" error="${xmlText(`Choose one of: ${words.join(', ')}`)}" sqref="${range}"><formula1>"${xmlText(words.join(','))}"</formula1></dataValidation>`;
  });
  return lists.length === 0
    ? ''
    : `<dataValidations count="${lists.length}">${lists.join('')}</dataValidations>`;
}

function fitting(text: string, what: string | (() => string)): string {
  if (text.length <= longestText) return text;
  const name = typeof what === 'string' ? what : what();
  throw new OutputError(
    `${name} has ${plural(text.length, 'character')}; a cell holds at most ${groupedNumber(longestText)}.`,
    { hint: 'Use -o csv, or leave it out: name the other fields with --fields.' },
  );
}

function* aboutSheet(about: SheetContent['about'], texts: SharedTexts): Generator<string> {
  yield `${sheetStart}<sheetFormatPr defaultRowHeight="15"/><cols><col min="1" max="1" width="16" customWidth="1"/><col min="2" max="2" width="90" customWidth="1"/></cols><sheetData>`;
  for (const [index, [label, text]] of about.entries()) {
    const row = index + 1;
    const shown = text.slice(0, longestText);
    yield `<row r="${row}"><c r="A${row}" s="${styles.label}" t="s"><v>${texts.numberOf(label)}</v></c><c r="B${row}" s="${styles.wrapped}" t="s"><v>${texts.numberOf(shown)}</v></c></row>`;
  }
  yield '</sheetData></worksheet>';
}

const pieceLength = 64 * 1024;

/** Joins short pieces, because each call of the compressor costs time. */
async function* batched(pieces: AsyncIterable<string> | Iterable<string>): AsyncGenerator<string> {
  let waiting = '';
  for await (const piece of pieces) {
    waiting += piece;
    if (waiting.length < pieceLength) continue;
    yield waiting;
    waiting = '';
  }
  yield waiting;
}
