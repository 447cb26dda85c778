/** Manifests: a CSV that names the files of an upload, with the name, the tags and the content type of each document. */

import { safeParse } from 'zod/mini';
import { UploadContentType } from '../api/schemas.js';
import { readInputText } from '../cli/input.js';
import type { Context } from '../context.js';
import { spreadsheetError, unguard } from '../data/csv.js';
import { type CsvRow, readCsv } from '../data/csv-reader.js';
import { InputErrors } from '../data/input-errors.js';
import { parseJson } from '../data/json.js';
import { didYouMean } from '../data/nearest.js';
import { InputError } from '../errors.js';
import type { OwnText } from './plan.js';

/** A line of a manifest. */
interface ManifestLine {
  readonly row: number;
  /** The path as typed: relative to the folder of the manifest. */
  readonly id: string;
  readonly text: OwnText | undefined;
  /** Undefined: to be found out from the file. */
  readonly contentType: UploadContentType | undefined;
  /** The cells as read, for `--results`. */
  readonly cells: readonly string[];
}

/** The columns, and the other words for them. */
const columns = {
  path: ['path', 'file'],
  name: ['name'],
  tags: ['tags', 'tag'],
  contentType: ['contenttype', 'content type', 'type'],
} as const;
type ManifestColumn = keyof typeof columns;

/** Columns of `--results`, so that its file is a manifest, too. */
const ofResults = ['result', 'error_code', 'message', 'id'];

/**
 * Reads a manifest; `-` is stdin. Throws one InputError for all invalid lines: an unknown column, a
 * line without a path, a file that is named twice under one name.
 */
export async function readUploadManifest(
  context: Context,
  file: string,
): Promise<{ readonly header: readonly string[]; readonly lines: readonly ManifestLine[] }> {
  const [first, ...rows] = readCsv(await readInputText(file, context));
  const name = file === '-' ? 'stdin' : file;
  if (!first) throw new InputError(`${name} is empty: it has no header.`, { hint: headerHint });
  const header = readManifestHeader(first, name);
  const errors = new InputErrors();
  const named = new Map<string, number>();
  const lines: ManifestLine[] = [];
  for (const row of rows) {
    if (row.cells.every((cell) => cell.trim() === '')) continue;
    errors.collect(() => {
      const line = readManifestRow(row, header);
      const key = JSON.stringify([line.id, line.text?.name ?? null]);
      const before = named.get(key);
      if (before !== undefined)
        throw new InputError(`${line.id} is named twice, on lines ${before} and ${row.line}.`);
      named.set(key, row.line);
      lines.push(line);
    });
  }
  errors.throwIfAny();
  if (lines.length === 0) throw new InputError(`${name} names no file.`, { hint: headerHint });
  return { header: header.kept.map((index) => first.cells[index] ?? ''), lines };
}

const headerHint = 'Its first line names the columns: path,name,tags';

interface ManifestHeader {
  readonly indexes: ReadonlyMap<ManifestColumn, number>;
  /** The columns of the manifest itself, in order. */
  readonly kept: readonly number[];
  readonly width: number;
}

function readManifestHeader({ cells }: CsvRow, file: string): ManifestHeader {
  const indexes = new Map<ManifestColumn, number>();
  const kept: number[] = [];
  for (const [index, cell] of cells.entries()) {
    const name = unguard(cell).trim().toLowerCase();
    if (ofResults.includes(name)) continue;
    kept.push(index);
    if (name === '') continue;
    const found = Object.entries(columns).find(([, words]) => words.some((word) => word === name));
    const column = found?.[0] as ManifestColumn | undefined;
    if (!column)
      throw new InputError(
        `Unknown column "${cell.trim()}".${didYouMean(name, Object.keys(columns))}`,
        { hint: 'A manifest has the columns path, name, tags and contentType.' },
      );
    const before = indexes.get(column);
    if (before !== undefined)
      throw new InputError(`Columns ${before + 1} and ${index + 1} are both ${column}.`, {
        hint: 'Remove one of them from the file.',
      });
    indexes.set(column, index);
  }
  if (!indexes.has('path'))
    throw new InputError(`${file} has no column "path".`, { hint: headerHint });
  return { indexes, kept, width: cells.length };
}

function readManifestRow(
  { line, cells }: CsvRow,
  { indexes, kept, width }: ManifestHeader,
): ManifestLine {
  if (cells.length > width)
    throw new InputError(`Line ${line} has ${cells.length} cells, but the header has ${width}.`, {
      hint: 'Put a value that contains the delimiter in double quotes.',
    });
  const cellOf = (column: ManifestColumn) => {
    const index = indexes.get(column);
    const cell = index === undefined ? '' : (cells[index] ?? '');
    if (spreadsheetError.test(cell.trim()))
      throw new InputError(`Line ${line}: ${column} holds the spreadsheet error ${cell.trim()}.`);
    return unguard(cell);
  };
  const path = cellOf('path');
  if (path.trim() === '') throw new InputError(`Line ${line}: path is empty.`);
  const name = cellOf('name').trim();
  const tags = tagsInCell(cellOf('tags'), line);
  const text = { ...(name !== '' && { name }), ...(tags.length > 0 && { tags }) };
  return {
    row: line,
    id: path,
    text: name !== '' || tags.length > 0 ? text : undefined,
    contentType: typeIn(cellOf('contentType').trim(), line),
    cells: kept.map((index) => cells[index] ?? ''),
  };
}

function typeIn(cell: string, line: number): UploadContentType | undefined {
  if (cell === '') return undefined;
  const { success, data } = safeParse(UploadContentType, cell);
  if (success) return data;
  throw new InputError(`Line ${line}: ${cell} is not an allowed content type.`, {
    hint: 'See the allowed types: rosterctl docs upload --help',
  });
}

/** The tags of a cell, as an export writes them: `a;b`, or a JSON list where one holds a semicolon. */
function tagsInCell(cell: string, line: number): readonly string[] {
  const text = cell.trim();
  const parts = text.startsWith('[') ? listIn(text, line) : text.split(';');
  return parts.map((tag) => tag.trim()).filter((tag) => tag !== '');
}

function listIn(text: string, line: number): readonly string[] {
  try {
    const list = parseJson(text);
    if (Array.isArray(list) && list.every((tag) => typeof tag === 'string')) return list;
  } catch {
    // Reported below.
  }
  throw new InputError(`Line ${line}: tags is not a list: ${text}.`, { hint: 'Write tags as a;b' });
}
