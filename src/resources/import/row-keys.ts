/** Finds the record of an imported row by its key, and refuses keys that are empty, repeated or ambiguous. */

import { requireOwnRow } from '../../bulk/row-names.js';
import type { KeyComparison } from '../../cli/column-aliases.js';
import { spreadsheetForms } from '../../data/csv.js';
import { type CsvRow, rowPlace, rowWord } from '../../data/csv-reader.js';
import type { JsonObject } from '../../data/json.js';
import { didYouMean } from '../../data/nearest.js';
import { plainText, valueAt } from '../../data/path.js';
import { resourceWords } from '../../data/resources.js';
import { addTo } from '../../data/sorting.js';
import { foldCase, isSameText } from '../../data/text.js';
import { InputError } from '../../errors.js';
import { inputText } from './cells.js';
import type { FileColumn, Mapping } from './columns.js';
import type { ImportFile } from './file.js';
import type { Teams } from './teams.js';

/** The records and columns that rows are read against. */
export interface ImportWorld extends Omit<ImportFile, 'columns'> {
  readonly mapping: Mapping;
  readonly teams: Teams | undefined;
  readonly index: KeyIndex;
  readonly ids: ReadonlyMap<string, JsonObject>;
  readonly organizationId: string;
}

/** Returns the id of a row whose record does not exist yet: its key, in the form in which equal keys are equal. */
export function idOfNew({ key, comparison }: ImportFile['options'], text: string): string {
  return `${key}:${normalKey(text, comparison)}`;
}

/** Returns a text without the spaces around it and, if its case does not count, in lower case. */
export function normalKey(text: string, comparison: KeyComparison): string {
  return comparison === 'anyCase' ? foldKey(text, comparison) : text.trim();
}

/** The keys of the rows of a file. */
export class RowKeys {
  private readonly lines = new Map<string, { readonly text: string; readonly at: number[] }>();
  /** The records and new keys that earlier rows name, with their lines. */
  private readonly named = new Map<JsonObject | string, number>();

  constructor(private readonly world: ImportWorld) {
    for (const row of world.sheet.rows) {
      const text = this.textOf(row);
      if (text === '') continue;
      const folded = this.foldInFile(text);
      const lines = this.lines.get(folded);
      if (lines) lines.at.push(row.line);
      else this.lines.set(folded, { text, at: [row.line] });
    }
  }

  /** The record that the row names; undefined for a new one. Throws InputError. */
  match(row: CsvRow, key: string): JsonObject | undefined {
    const { options, index, ids, key: column } = this.world;
    const { noun, plural: many } = resourceWords[options.resource];
    const at = cellPlace(row, column);
    if (key === '') throw new InputError(`${at} is empty, but it is the key.`);
    const lines = this.lines.get(this.foldInFile(key));
    if (lines && lines.at.length > 1)
      throw new InputError(
        `${rowWord(row)}s ${listed(lines.at)} have the same ${columnWord(column)}: ${lines.text}.`,
        { hint: 'Each key may appear only once.' },
      );
    const [record, other] = options.key === 'id' ? [ids.get(key)] : index.find(key);
    if (other)
      throw new InputError(
        `${at} holds "${key}", which several ${many} have: ${index
          .find(key)
          .map((each) => String(each['id']))
          .join(', ')}.`,
        { hint: 'Name those by their id: --key id' },
      );
    const meant = record || this.isText(row) ? undefined : index.shortenedBySpreadsheet(key);
    if (meant)
      throw new InputError(
        `${at} holds "${key}", which is what spreadsheets make of ${keyText(meant, options.key)} (${String(meant['id'])}).`,
        { hint: `If you mean that, add :text to the column name: ${column.name}:text` },
      );
    if (!record && options.key === 'id')
      throw new InputError(
        `${at} holds "${key}", but no ${noun} has that id.${didYouMean(key, [...ids.keys()].slice(0, 1_000))}`,
      );
    this.checkService(row, record);
    return record;
  }

  /** True if the file says that the row's key is text, which no spreadsheet has changed. */
  private isText({ marks }: CsvRow): boolean {
    const { key, options } = this.world;
    return options.isTyped || key.type === 'text' || (marks !== undefined && !marks.has(key.index));
  }

  /** Compares the columns of fields that the service sets with the record. Throws InputError. */
  private checkService(row: CsvRow, record: JsonObject | undefined): void {
    const { mapping, ids, options, organizationId } = this.world;
    const organization = mapping.service.get('organizationId');
    if (organization)
      requireOwnRow(row.cells[organization.index] ?? '', cellPlace(row, organization), {
        organizationId,
        raw: options.raw,
      });
    const column = mapping.service.get('id');
    const id = column && row.cells[column.index]?.trim();
    const named = id ? ids.get(id) : undefined;
    if (options.key === 'id' || !column || !named || named === record) return;
    const { key } = options;
    throw new InputError(
      record
        ? `${cellPlace(row, column)} holds "${id}", but the ${key} is that of ${String(record['id'])}.`
        : `${cellPlace(row, column)} holds "${id}", whose ${key} is different: ${keyText(named, key) || 'none'}.`,
      { hint: `To change the ${key} of a record: --key id` },
    );
  }

  /** Refuses a second row for a record, which two spellings of a name may find. Throws InputError. */
  checkOnce(row: CsvRow, key: string, record: JsonObject | undefined): void {
    const { options, key: column } = this.world;
    const name = record ?? foldKey(key, options.comparison);
    const other = this.named.get(name);
    if (other !== undefined)
      throw new InputError(
        `${rowWord(row)}s ${other} and ${row.line}: ${columnWord(column)} names the same ${resourceWords[options.resource].noun}.`,
        { hint: 'Each key may appear only once.' },
      );
    this.named.set(name, row.line);
  }

  /** The text of a row's key; empty if it has none. */
  textOf({ cells }: CsvRow): string {
    const { key, options } = this.world;
    try {
      return inputText(cells[key.index] ?? '', options)?.trim() ?? '';
    } catch (error) {
      if (error instanceof InputError) return cells[key.index]?.trim() ?? '';
      throw error;
    }
  }

  private foldInFile(text: string): string {
    const { comparison } = this.world.options;
    return foldKey(text, comparison === 'sameCaseFirst' ? 'exact' : comparison);
  }
}

/** Names a cell of a row for a message: `Line 9: Team`, in a workbook `F9: Team`. */
export function cellPlace(row: CsvRow, column: FileColumn): string {
  return `${rowPlace(row, column.index)}: ${columnWord(column)}`;
}

function columnWord({ head, index }: FileColumn): string {
  return head === '' ? `column ${index + 1}` : head;
}

/** `4 and 9`, `4, 9 and 12`, of many the first ones. */
function listed(lines: readonly number[]): string {
  const shown = lines.length > mostLines ? [...lines.slice(0, mostLines), '…'] : lines;
  return `${shown.slice(0, -1).join(', ')} and ${shown.at(-1) ?? ''}`;
}

const mostLines = 5;

/** The consequence of a list that may not be whole for an import; a service without records may answer without a list. */
export const importDoubt = {
  so: 'so nothing was sent',
  mayBeEmpty: true,
  isForCreate: true,
} as const;

/** The text by which a record answers to a key; empty if it holds none. */
export function keyText(record: JsonObject, field: string): string {
  return plainText(valueAt(record, field)).trim();
}

/** Returns the form in which equal keys are equal. */
export function foldKey(text: string, comparison: KeyComparison): string {
  return comparison === 'exact' ? text.trim().normalize('NFC') : foldCase(text.trim());
}

/** Records by what they hold in one field. */
export class KeyIndex {
  private readonly byKey = new Map<string, JsonObject[]>();
  private readonly byForm = new Map<string, JsonObject>();

  constructor(
    private readonly field: string,
    private readonly comparison: KeyComparison,
  ) {}

  add(record: JsonObject): void {
    const text = keyText(record, this.field);
    if (text !== '') addTo(this.byKey, foldKey(text, this.comparison), record);
    for (const form of spreadsheetForms(text)) this.byForm.set(form, record);
  }

  /** A record whose key has become this text in a spreadsheet. */
  shortenedBySpreadsheet(text: string): JsonObject | undefined {
    return this.byForm.get(text);
  }

  /** The records that answer; where the spelling counts, only those in this one if there are any. */
  find(text: string): readonly JsonObject[] {
    const found = this.byKey.get(foldKey(text, this.comparison)) ?? [];
    if (this.comparison !== 'sameCaseFirst') return found;
    const exact = found.filter((record) => isSameText(keyText(record, this.field), text.trim()));
    return exact.length > 0 ? exact : found;
  }
}

/** True if a record still holds this key. */
export function holdsKey(
  record: JsonObject,
  field: string,
  text: string,
  comparison: KeyComparison,
): boolean {
  return foldKey(keyText(record, field), comparison) === foldKey(text, comparison);
}
