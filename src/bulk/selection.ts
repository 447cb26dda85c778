/** Selects the rows of an input file: ids, or the lines of a CSV with their own values. */

import { byteText } from '../cli/input.js';
import type { Context } from '../context.js';
import {
  type ColumnRules,
  type Header,
  type HeaderOptions,
  readHeader,
} from '../data/csv-columns.js';
import {
  type CsvRow,
  checkWidth,
  delimiterLine,
  readCsv,
  rowPlace,
  rowWord,
  sameName,
} from '../data/csv-reader.js';
import { digestOf, intern } from '../data/digest.js';
import { InputErrors } from '../data/input-errors.js';
import type { JsonObject } from '../data/json.js';
import {
  type CsvKey,
  csvKeysOf,
  idKey,
  kindWords,
  referenceOf,
  rowOf,
} from '../data/references.js';
import { firstOf, orList } from '../data/text.js';
import { eventLoopTurns } from '../data/workload.js';
import type { Selection } from '../engine/operation.js';
import { InputError, stoppedReading, UsageError } from '../errors.js';
import type { SelectedRow } from '../runs/report.js';
import {
  type FileRowsOptions,
  fileRows,
  hashing,
  inputChunks,
  noteOpenWorkbook,
} from './file-rows.js';
import type { BulkValues, Selecting } from './invocation.js';
import {
  asId,
  type NamingInput,
  organizationColumn,
  ownText,
  RowNames,
  requireOwnRow,
  rowsOfIds,
} from './row-names.js';

export interface CsvInput extends HeaderOptions, FileRowsOptions, NamingInput {
  readonly rules: ColumnRules;
  readonly key: CsvKey;
  readonly keepsCells: boolean;
}

/** Selects the rows of a file, or of stdin. Throws UsageError, InputError. */
export async function selectFromFile(
  context: Context,
  values: Partial<BulkValues>,
  { resource, csv: rules = idsOnly, overrules }: Selecting,
  source: 'csv' | 'idsFile',
): Promise<Selection> {
  const { csv = '', idsFile = '', key = 'id' } = values;
  const isCsv = source === 'csv';
  const path = isCsv ? csv : idsFile;
  const keys = [idKey, ...csvKeysOf(resource, context.settings.overrides)];
  const named = keys.find(({ kind }) => kind === key);
  if (!named)
    throw new UsageError(
      `--key ${key} does not find ${resource}. Use ${orList(keys.map(({ kind }) => kind))}.`,
    );
  const input: CsvInput = {
    name: path === '-' ? 'stdin' : path,
    map: values.map ?? [],
    ignoreUnknownColumns: !isCsv || (values.ignoreColumns ?? false),
    raw: context.settings.csvRaw,
    rules: isCsv ? { ...rules, overruled: overrules?.(values) } : idsOnly,
    sheet: values.sheet,
    takeFormulas: values.takeFormulas,
    note: (line) => context.message(line),
    keepsCells: values.results !== undefined,
    resource,
    key: named,
    otherKeys: isCsv ? keys.slice(1) : undefined,
    organizationId: context.api.organizationId,
    signal: context.signal,
  };
  const chunks = inputChunks(context, path);
  if (isCsv && path !== '-') await noteOpenWorkbook(context, path);
  const selection = isCsv
    ? await selectCsv(chunks, input)
    : await selectFromText(await byteText(chunks, input.name), input);
  if (isCsv && selection.note) context.note(selection.note);
  if (selection.rows.length === 0) context.note(`${input.name} has no rows.`);
  return selection;
}

const idsOnly = { columns: [], exported: [], open: false };

/**
 * Parses a CSV, or a sheet of a workbook, with values for each row. Throws one InputError for all invalid lines (a
 * missing or repeated id, invalid cells), InputError for more than 200,000 rows, CancelledError after a
 * signal.
 */
export async function selectCsv(
  chunks: AsyncIterable<Uint8Array>,
  input: CsvInput,
): Promise<Selection> {
  const hashed = hashing(chunks, input.sheet);
  const rows = new CsvRows(input);
  const turn = eventLoopTurns(input.signal, () => stoppedReading(input.name));
  try {
    for await (const some of fileRows(hashed.chunks, input)) await rows.take(some, turn);
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    // The rest cannot be read, but errors in the lines before it are reported too.
    rows.errors.add(error);
    rows.errors.throwIfAny();
  }
  return { ...rows.selection(), digest: hashed.digest() };
}

/**
 * Parses ids from a file: one per line, which may be a reference, NDJSON, a JSON array, or a CSV with
 * an id column. Throws InputError, CancelledError after a signal.
 */
export async function selectFromText(text: string, input: CsvInput): Promise<Selection> {
  const digest = digestOf(text);
  const bare = text.replace(/^\ufeff/, '');
  if (!/^\s*[[{]/.test(bare)) {
    const [first = '', second = ''] = bare.replace(/^[\r\n]+/, '').split(/[\r\n]+/, 2);
    const head = delimiterLine.test(first) ? second : first;
    const header = readCsv(`${head.replaceAll('"', '')}\n`)[0]?.cells ?? [];
    if (hasIdColumn(header, input.map)) return selectCsv(once(Buffer.from(text)), input);
  }
  return { ...(await rowsOfIds(bare, input)), digest };
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

function hasIdColumn(cells: readonly string[], map: HeaderOptions['map']): boolean {
  return cells.some(
    (cell) =>
      sameName(cell.trim(), 'id') ||
      map.some(([from, to]) => from.trim() === cell.trim() && to === 'id'),
  );
}

class CsvRows {
  private header: Header | undefined;
  private headerCells: readonly string[] = [];
  private word = rowWord({});
  private readonly rows: SelectedRow[] = [];
  private readonly same = intern<JsonObject>();
  private readonly ids: RowNames;
  readonly errors = new InputErrors();

  constructor(private readonly input: CsvInput) {
    this.ids = new RowNames(input);
  }

  async take(rows: Iterable<CsvRow>, turn: ReturnType<typeof eventLoopTurns>): Promise<void> {
    for (const row of rows) {
      const { header } = this;
      if (!header) {
        // A sheet tells text from formulas and errors by itself; nothing in it is guarded.
        const raw = this.input.raw && row.marks === undefined;
        this.header = readHeader(row, this.input.rules, { ...this.input, raw });
        this.headerCells = row.cells;
        this.word = rowWord(row);
      } else if (row.cells.some((cell) => cell.trim() !== '')) {
        this.ids.checkRoom();
        this.errors.collect(() => this.add(row, header));
      }
      const waiting = turn(row.cells.length);
      if (waiting) await waiting;
    }
  }

  selection() {
    if (!this.header) throw new InputError(`${this.input.name} is empty: it has no header.`);
    this.errors.throwIfAny();
    const { unused, used: columns } = this.header;
    // For nested fields, the name of the parent is enough.
    const names = [...new Set(unused.map((name) => name.split('.', 1)[0] ?? name))];
    const sentences = [
      ...[...this.header.overruled].map(
        ([name, word]) => `The column ${name} is not used: ${word} sets it for every row.`,
      ),
      ...(names.length > 0 ? [`Columns that are not sent: ${firstOf(names)}.`] : []),
    ];
    const note = sentences.length > 0 ? sentences.join(' ') : undefined;
    const isPlainKey = this.input.key.kind !== 'id';
    const { rows, headerCells: header, word } = this;
    return { rows, header, columns, rowWord: word, isPlainKey, note };
  }

  private add(row: CsvRow, header: Header): void {
    const { line, cells } = row;
    checkWidth(row, this.headerCells.length);
    this.checkOrganization(row);
    const key = ownText(header.key(row));
    const { kind } = this.input.key;
    const reference = kind === 'id' ? asId(key) : referenceOf(kind, key);
    if (reference.kind !== 'id' && reference.value === '')
      throw new InputError(`${header.keyPlace(row)}: the ${kindWords[reference.kind]} is empty.`);
    this.ids.add(reference, line, header.keyPlace(row));
    const own = header.own(row);
    const { id, ref } = rowOf(reference, line);
    this.rows.push({
      row: line,
      id,
      ref,
      own: Object.keys(own).length > 0 ? this.same(own) : undefined,
      cells: this.input.keepsCells ? cells : undefined,
    });
  }

  private checkOrganization(row: CsvRow): void {
    const index = this.headerCells.indexOf(organizationColumn);
    const place = `${rowPlace(row, index)}: ${organizationColumn}`;
    requireOwnRow(row.cells[index] ?? '', place, this.input);
  }
}
