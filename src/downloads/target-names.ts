/** Target names of downloads: chooses a distinct path for each document, and checks them before anything is requested. */

import { join } from 'node:path';
import type { Download } from '../api/store/download.js';
import type { Context } from '../context.js';
import { nameKey, withId } from '../data/file-names.js';
import type { JsonObject } from '../data/json.js';
import { isForbidden, isUnreadableList, lacksList } from '../data/outcome-errors.js';
import { parseReference, rowOf } from '../data/references.js';
import { groupedNumber, nameFirstFew, plural, upperFirst, upTo } from '../data/text.js';
import { GuardError, NotFoundError } from '../errors.js';
import { recordReader } from '../resources/read.js';
import type { SelectedRow } from '../runs/report.js';
import { nameFor, nameFromHeaders, type SaveOptions, skipsTarget } from './target-file.js';

/** One document and the path of its file. */
export interface Target {
  readonly id: string;
  readonly record: JsonObject | undefined;
  /** Undefined if only the store's answer can name the file. */
  readonly path: string | undefined;
  /** The file is there and unchanged, as an earlier download recorded. */
  readonly isUnchanged?: boolean;
  /** The file there is this document's own, of an earlier time. */
  readonly replaces?: boolean;
  /** The path that it would have if another file were not there. */
  readonly beside?: string;
}

/** The names of a run, which are distinct on every file system. */
export interface Naming {
  readonly targets: readonly Target[];
  /** The path for a record without a name. */
  pathFromHeaders(headers: Download['headers'], id: string): string;
}

/**
 * Chooses a name for each document. All documents that share a name get their ids appended, so that
 * names do not depend on the order of the list and a second run with --skip-existing finds the same
 * files.
 */
export function nameTargets(
  rows: readonly Pick<SelectedRow, 'id' | 'record'>[],
  { file, folder = '' }: SaveOptions,
): Naming {
  const named = rows.map(({ id, record }) => ({ id, record, name: nameFor(record) }));
  const counts = new Map<string, number>();
  for (const { name } of named)
    if (name !== undefined) counts.set(nameKey(name), (counts.get(nameKey(name)) ?? 0) + 1);
  const isShared = (name: string) => (counts.get(nameKey(name)) ?? 0) > 1;
  const used = new Set([...counts.keys()]);
  const unusedName = (name: string, id: string): string => {
    let own = name;
    for (let again = 1; used.has(nameKey(own)); again++) own = withId(name, id, again);
    used.add(nameKey(own));
    return own;
  };
  return {
    targets: named.map(({ id, record, name }) => {
      if (file !== undefined) return { id, record, path: file };
      if (name === undefined) return { id, record, path: undefined };
      return { id, record, path: join(folder, isShared(name) ? unusedName(name, id) : name) };
    }),
    pathFromHeaders: (headers, id) => join(folder, unusedName(nameFromHeaders(headers, id), id)),
  };
}

/** Returns the documents that words name, with their records if a name needed the list. */
export async function documentsNamed(
  context: Context,
  words: readonly string[],
): Promise<readonly SelectedRow[]> {
  const rows = words.map((word, index) => rowOf(parseReference(word), index + 1));
  return resolveDocuments(context, rows);
}

/** Fills in the ids of rows that are named by references, and the records from the list that was read for them. */
export async function resolveDocuments(
  context: Context,
  rows: readonly SelectedRow[],
): Promise<readonly SelectedRow[]> {
  if (rows.every(({ ref }) => ref === undefined)) return rows;
  const { resolveRows } = await import('../bulk/references.js');
  const records = new Map<string, JsonObject>();
  const onRecord = (record: JsonObject) => records.set(String(record['id']), record);
  const resolved = await resolveRows(context, 'documents', rows, { see: onRecord });
  return resolved.map((row) => ({ ...row, record: records.get(row.id) }));
}

/** A document by its id; `missing`: a complete list was read that does not have it. */
export interface NamedDocument extends Pick<SelectedRow, 'id' | 'record'> {
  readonly missing?: NotFoundError | undefined;
}

/** Adds the records, for names and sizes, from one list; none if the key or the service has no such list. */
export async function withRecords(
  context: Context,
  rows: readonly SelectedRow[],
): Promise<readonly NamedDocument[]> {
  if (rows.every(({ record }) => record !== undefined)) return rows;
  const reader = recordReader(context, 'documents');
  const results: NamedDocument[] = [];
  for (const { id } of rows) {
    try {
      results.push({ id, record: (await reader.read(id, 'list')).record ?? {} });
    } catch (error) {
      if (isUnreadableList(error)) {
        const why = isForbidden(error)
          ? 'This key cannot list documents'
          : upperFirst(lacksList('documents', error));
        context.note(`${why}; the files are named by the store.`);
        return rows.map((row) => ({ id: row.id, record: undefined }));
      }
      if (!(error instanceof NotFoundError)) throw error;
      results.push({ id, record: undefined, missing: error.isProven ? error : undefined });
    }
  }
  return results;
}

/** Throws GuardError, before anything is requested, if existing files may not be replaced or skipped. */
export function checkTargets(
  context: Context,
  targets: readonly Target[],
  options: SaveOptions,
): void {
  const refused: GuardError[] = [];
  for (const { path } of targets) {
    if (path === undefined || path === '-') continue;
    try {
      skipsTarget(path, options);
    } catch (error) {
      if (!(error instanceof GuardError)) throw error;
      refused.push(error);
    }
  }
  const [first] = refused;
  if (!first) return;
  if (targets.length === 1) throw first;
  const messages = refused.map(({ message }) => message);
  for (const line of upTo(nameFirstFew, messages, (more) => `and ${more} more`))
    context.message(line);
  const what =
    options.onExisting === 'refuse' ? 'already exist' : 'cannot be written where they belong';
  throw new GuardError(
    `${groupedNumber(refused.length)} of ${plural(targets.length, 'file')} ${what}; nothing was downloaded.`,
    {
      code: 'exists',
      hint: 'Keep what is there: --skip-existing. Replace it: --overwrite. Write elsewhere: -D DIR.',
    },
  );
}
