/** Manifests: a CSV that names the files of an upload, with the name, the tags and the content type of each document. */

import { safeParse } from 'zod/mini';
import { UploadContentType } from '../api/schemas.js';
import { readInputText } from '../cli/input.js';
import type { Context } from '../context.js';
import { resultColumns, unguard } from '../data/csv.js';
import { type ColumnRules, type Header, readHeader } from '../data/csv-columns.js';
import { type CsvRow, checkWidth, readCsv } from '../data/csv-reader.js';
import { InputErrors } from '../data/input-errors.js';
import { parseJson } from '../data/json.js';
import { InputError } from '../errors.js';
import type { OwnText } from './plan.js';

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

/** The columns beside the path. */
const rules: ColumnRules = {
  columns: [
    { name: 'name', read: (cell) => cell },
    { name: 'tags', aliases: ['tag'], read: tagsInCell },
    { name: 'contentType', aliases: ['type'], read: typeInCell },
  ],
  // Those of --results, so that its file is a manifest, too.
  exported: [...resultColumns, 'id'],
  open: false,
};

const key = { kind: 'path', names: ['path', 'file'] };
const hint = 'A manifest has the columns path, name, tags and contentType.';

type OwnValues = OwnText & Partial<Pick<ManifestLine, 'contentType'>>;

/**
 * Reads a manifest; `-` is stdin. Throws one InputError for all invalid lines: an unknown column, a
 * line without a path, a file that is named twice under one name.
 */
export async function readUploadManifest(
  context: Context,
  file: string,
): Promise<{ readonly header: readonly string[]; readonly lines: readonly ManifestLine[] }> {
  const [first, ...rows] = readCsv(await readInputText(file, context));
  const source = file === '-' ? 'stdin' : file;
  if (!first) throw new InputError(`${source} is empty: it has no header.`, { hint });
  const header = readManifestHeader(first, context.settings.csvRaw);
  const unused = new Set(header.unused);
  const kept = ({ cells }: Pick<ManifestLine, 'cells'>) =>
    cells.filter((_, index) => !unused.has(unguard(first.cells[index] ?? '').trim()));
  const errors = new InputErrors();
  const named = new Map<string, number>();
  const lines: ManifestLine[] = [];
  for (const row of rows) {
    if (row.cells.every((cell) => cell.trim() === '')) continue;
    errors.collect(() => {
      checkWidth(row, first.cells.length);
      const path = header.key(row);
      const { contentType, ...text }: OwnValues = header.own(row);
      if (path.trim() === '') throw new InputError(`Line ${row.line}: path is empty.`);
      const document = JSON.stringify([path, text.name ?? null]);
      const before = named.get(document);
      if (before !== undefined)
        throw new InputError(`${path} is named twice, on lines ${before} and ${row.line}.`);
      named.set(document, row.line);
      const isNamed = Object.keys(text).length > 0;
      const cells = kept(row);
      lines.push({ row: row.line, id: path, text: isNamed ? text : undefined, contentType, cells });
    });
  }
  errors.throwIfAny();
  if (lines.length === 0) throw new InputError(`${source} names no file.`, { hint });
  return { header: kept(first), lines };
}

function readManifestHeader(first: CsvRow, raw: boolean): Header {
  try {
    return readHeader(first, rules, { key, raw, map: [], ignoreUnknownColumns: false });
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    // Its own hint is about flags that only other commands have.
    throw new InputError(error.message, { hint, cause: error });
  }
}

function typeInCell(cell: string): UploadContentType {
  const { success, data } = safeParse(UploadContentType, cell.trim());
  if (success) return data;
  throw new InputError(`holds ${cell.trim()}, which is not an allowed content type.`, {
    hint: 'See the allowed types: rosterctl docs upload --help',
  });
}

/** The tags of a cell, as an export writes them: `a;b`, or a JSON list where one holds a semicolon. */
function tagsInCell(cell: string): readonly string[] {
  const text = cell.trim();
  const parts = text.startsWith('[') ? listIn(text) : text.split(';');
  return parts.map((tag) => tag.trim()).filter((tag) => tag !== '');
}

function listIn(text: string): readonly string[] {
  try {
    const list = parseJson(text);
    if (Array.isArray(list) && list.every((tag) => typeof tag === 'string')) return list;
  } catch {
    // Reported below.
  }
  throw new InputError(`is not a list: ${text}.`, { hint: 'Write tags as a;b' });
}
