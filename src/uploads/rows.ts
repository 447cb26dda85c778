/** Rows of an upload: expands its paths, inspects every file, finds duplicates, and puts files in plan files. */

import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { UploadContentType } from '../api/schemas.js';
import type { Context } from '../context.js';
import { digestOf } from '../data/digest.js';
import { lazy } from '../data/lazy.js';
import { addTo } from '../data/sorting.js';
import { systemLimit } from '../data/system-errors.js';
import { nameFirstFew, plural, upTo } from '../data/text.js';
import { eventLoopTurns, mapConcurrently } from '../data/workload.js';
import type { FileRows, Selection } from '../engine/operation.js';
import { Failure, InputError, stoppedReading, UsageError } from '../errors.js';
import { sha256OfFile, unreadable } from '../files/input-file.js';
import { refuseSameFile } from '../files/same-file.js';
import { isOpenedByShell } from '../files/writing.js';
import type { SelectedRow } from '../runs/report.js';
import { isSingleRun } from '../runs/store.js';
import { uploadId } from '../runs/unfinished.js';
import { inspectFile, type LocalFile } from './local-file.js';
import { readUploadManifest } from './manifest.js';
import { expandPaths } from './paths.js';
import { type BadFile, badFile, type InspectedFile, inspected, type UploadValues } from './plan.js';

interface PathValues {
  readonly paths: readonly string[];
  readonly recursive: boolean;
  readonly name: string | undefined;
  readonly contentType: UploadContentType | undefined;
  readonly failFast: boolean;
  readonly results?: string | undefined;
}

const filesAtOnce = 8;
/** How many steps of a long loop a file counts for. */
const stepsPerFile = 200;

/**
 * Inspects every file before anything is sent; a file named twice becomes one row. A file that cannot
 * be uploaded becomes a failing row; with --fail-fast, or if it is the only file, its InputError or
 * UsageError is thrown. Throws UsageError for --name with several files.
 */
export async function uploadRows(
  context: Context,
  { paths, recursive, name, contentType, failFast, results }: PathValues,
): Promise<Selection> {
  const names = await expandPaths(paths, { recursive });
  if (name !== undefined && names.length > 1) throw oneNameForMany();
  // If it is the only file, there is nothing else to upload.
  const isAlone = paths.length === 1 && names[0] === paths[0];
  const used = new Set<string>();
  const distinct = names.filter((path) => {
    if (used.size < used.add(resolve(path)).size) return true;
    context.note(`${path} is named twice; it is uploaded once.`);
    return false;
  });
  const rows = distinct.map((path, index) => ({ row: index + 1, id: path, cells: [path] }));
  const files = await inspectRows(context, rows, ({ id }) =>
    inspect(context, id, contentType, failFast || isAlone),
  );
  await keepFromReports(context, files, results);
  return { rows: files, header: ['path'], digest: filesDigest(files) };
}

/**
 * Inspects the files that a manifest names before anything is sent, as `uploadRows` does. Throws
 * InputError for a manifest that cannot be used.
 */
export async function manifestRows(
  context: Context,
  manifest: string,
  values: Pick<PathValues, 'contentType' | 'failFast' | 'results'> &
    Pick<UploadValues, 'ifExists' | 'tag'>,
): Promise<Selection> {
  const { contentType, failFast, results, ifExists, tag = [] } = values;
  const { header, lines } = await readUploadManifest(context, manifest);
  const folder = manifest === '-' || isOpenedByShell(manifest) ? '.' : dirname(manifest);
  const rows = await inspectRows(context, lines, async ({ id, text, contentType: own }) => {
    const file = await inspect(context, resolve(folder, id), own ?? contentType, failFast);
    return { ...file, ...(text && { text }) };
  });
  if (ifExists !== 'duplicate') noteLostTags(context, rows, tag);
  await keepFromReports(context, rows, results);
  return { rows, header, digest: filesDigest(rows) };
}

/**
 * Inspects the files of a retry's rows again, because none of them has arrived. Names and types stay as
 * given; stdin cannot be read again.
 */
async function inspectAgain(context: Context, rows: readonly SelectedRow[]) {
  return inspectRows(context, rows, async (row) => {
    const bad = badFile(row);
    const { path, contentType, text } = bad ?? inspected(row);
    if (path === '-') return inspected(row);
    const file = await inspect(context, path, contentType ?? undefined, false);
    if (bad || 'problem' in file) return { ...file, ...(text && { text }) };
    // The file with the same bytes may be in a row that is not retried.
    const { name, hasTwin } = inspected(row);
    return { ...file, ...(text && { text }), name, ...(hasTwin && { hasTwin }) };
  });
}

/** Throws UsageError if a report of this command would replace one of the files. */
async function keepFromReports(
  { settings }: Context,
  rows: readonly SelectedRow[],
  results: string | undefined,
): Promise<void> {
  const others = [
    { word: 'a file to upload', given: rows.map((row) => (badFile(row) ?? inspected(row)).path) },
  ];
  if (settings.out !== undefined) await refuseSameFile('--out', settings.out, others);
  if (results !== undefined) await refuseSameFile('--results', results, others);
}

/** Inspects the file of each row, several at a time, and finds those that are the same. */
async function inspectRows<R extends SelectedRow>(
  context: Context,
  rows: readonly R[],
  inspectRow: (row: R) => Promise<InspectedFile | BadFile>,
): Promise<readonly SelectedRow[]> {
  const turn = fileTurns(context.signal);
  const withFile = async (row: R): Promise<SelectedRow> => {
    await turn();
    const { row: number, id, ref, cells } = row;
    return { row: number, id, ref, cells, own: { ...(await inspectRow(row)) } };
  };
  return withSameFiles(context, await Promise.all(mapConcurrently(rows, filesAtOnce, withFile)));
}

/**
 * Returns what lets signals arrive between files, which are read without waiting if they are short. Throws
 * CancelledError after a signal.
 */
function fileTurns(signal: AbortSignal): () => Promise<void> {
  const stopped = lazy(() => stoppedReading('the files'));
  const turn = eventLoopTurns(signal, stopped);
  return async () => {
    await turn(stepsPerFile);
    if (signal.aborted) throw stopped();
  };
}

/** The error for `--name` with several files. */
export function oneNameForMany(hint?: string): UsageError {
  return new UsageError('--name works with one file, but you gave several.', { hint });
}

/**
 * The part of a file that the plan stores until its upload is finished; prints a note for an empty file.
 * Throws UsageError for more bytes than `upload.maxBytes`.
 */
export function toInspectedFile(
  context: Context,
  { path, name, contentType, sizeBytes, identity }: LocalFile,
): InspectedFile {
  const most = Number(context.settings.overrides['upload.maxBytes'] ?? Number.POSITIVE_INFINITY);
  if (sizeBytes > most)
    throw new UsageError(
      `${path} has ${sizeBytes} bytes, more than upload.maxBytes (${most}) allows.`,
      { hint: 'If the service allows more: rosterctl config set upload.maxBytes BYTES' },
    );
  if (sizeBytes === 0) context.note(`${path === '-' ? 'stdin' : path} is empty.`);
  return { path: path === '-' ? path : resolve(path), name, contentType, sizeBytes, identity };
}

/** Leaves out what earlier versions did not know of a file, so that the same line continues their runs. */
function filesDigest(rows: readonly SelectedRow[]): string {
  return digestOf(rows.map(({ own }) => ({ ...own, hasTwin: undefined })));
}

async function inspect(
  context: Context,
  path: string,
  contentType: UploadContentType | undefined,
  failFast: boolean,
): Promise<InspectedFile | BadFile> {
  try {
    return toInspectedFile(context, await inspectFile(path, contentType));
  } catch (error) {
    // A limit of this machine is not a problem of the file.
    if (!(error instanceof Failure) || failFast || systemLimit(error)) throw error;
    const { message, hint = null } = error;
    return { path: resolve(path), contentType: contentType ?? null, problem: message, hint };
  }
}

/**
 * Sets `sameAs` on every file with the name and the content of an earlier one, and `hasTwin` where only
 * the names differ; refused files do not count. Prints a note on files with the same bytes and different
 * names, often a mistake: all of them are uploaded.
 */
async function withSameFiles(context: Context, rows: readonly SelectedRow[]) {
  const bySize = new Map<number, SelectedRow[]>();
  for (const row of rows) {
    if (badFile(row) || inspected(row).path === '-') continue;
    addTo(bySize, inspected(row).sizeBytes, row);
  }
  const turn = fileTurns(context.signal);
  const hashed = async (row: SelectedRow) => {
    await turn();
    const hash = await hashOfPath(inspected(row).path, context.signal).catch((error: unknown) => {
      // A file that is gone by now fails at its turn, and the others are uploaded.
      if (error instanceof InputError) return undefined;
      throw error;
    });
    return { row, hash };
  };
  const same = new Map<number, Pick<InspectedFile, 'sameAs' | 'hasTwin'>>();
  const pairs: string[] = [];
  for (const group of [...bySize.values()].filter(({ length }) => length > 1)) {
    const byHash = new Map<string, SelectedRow[]>();
    for (const { row, hash } of await Promise.all(mapConcurrently(group, filesAtOnce, hashed))) {
      if (hash === undefined) continue;
      const others = byHash.get(hash) ?? [];
      const [first] = others;
      const { path, sizeBytes } = inspected(row);
      const sameNamed = others.find((other) => documentName(other) === documentName(row));
      if (sameNamed) same.set(row.row, { sameAs: sameNamed.id });
      else if (first) for (const each of [first, row]) same.set(each.row, { hasTwin: true });
      if (!sameNamed && first && sizeBytes > 0 && path !== inspected(first).path)
        pairs.push(`${row.id} holds the same bytes as ${first.id}.`);
      byHash.set(hash, [...others, row]);
    }
  }
  for (const line of upTo(nameFirstFew, pairs, (more) => `… and ${plural(more, 'more pair')}.`))
    context.note(line);
  return rows.map((row) => ({ ...row, own: { ...row.own, ...same.get(row.row) } }));
}

/** Notes the tags of files that are skipped as an earlier one of the same command, which does not have them. */
function noteLostTags(
  context: Context,
  rows: readonly SelectedRow[],
  tag: readonly string[],
): void {
  const tagsById = new Map<string, readonly string[]>();
  const lines = rows.flatMap((row) => {
    if (badFile(row)) return [];
    const { sameAs, text: { tags = [] } = {} } = inspected(row);
    const held = sameAs === undefined ? tags : [...tag, ...(tagsById.get(sameAs) ?? [])];
    if (sameAs === undefined && !tagsById.has(row.id)) tagsById.set(row.id, tags);
    const lost = tags.filter((name) => !held.includes(name)).join(', ');
    const why = `it has the name and content of ${sameAs}`;
    return lost === '' ? [] : [`${row.id} is skipped: ${why}. Tags not added: ${lost}.`];
  });
  for (const line of upTo(nameFirstFew, lines, (more) => `… and ${plural(more, 'more file')}.`))
    context.note(line);
}

/** The name of a row's document, unless --name replaces it. */
function documentName(row: SelectedRow): string {
  const { name, text } = inspected(row);
  return text?.name ?? name;
}

/** Returns the SHA-256 of a file, in hex. Throws InputError, CancelledError. */
function hashOfPath(path: string, signal: AbortSignal): Promise<string> {
  return sha256OfFile(path, signal).catch((error: unknown) => {
    throw unreadable(path, error);
  });
}

/** The files of an upload's rows: inspected again for a retry, in a plan file with their hashes. */
export const localFiles: FileRows = {
  finishCommand: ({ run }) =>
    isSingleRun(run) ? `uploads finish ${uploadId(run, 1)}` : 'uploads finish --all',
  forgetCommand: ({ run }) => `uploads forget ${isSingleRun(run) ? uploadId(run, 1) : 'ID'}`,
  subjectOf(row) {
    const { path, name } = inspected(row);
    // stdin can be read only once.
    if (path === '-') return undefined;
    // A manifest may upload a file under several names.
    const given = documentName(row);
    return given === name ? path : `${path} as ${given}`;
  },
  inspectAgain,
  async seal({ signal }, rows) {
    const seal = async (row: SelectedRow): Promise<SelectedRow> => {
      const { identity: _, ...file } = inspected(row);
      if (file.path === '-')
        throw new UsageError(
          'A file from stdin cannot be planned, because it cannot be read again. Nothing was sent.',
          { hint: 'Save it to a file first.' },
        );
      return { ...row, own: { ...file, sha256: await hashOfPath(file.path, signal) } };
    };
    return Promise.all(mapConcurrently(rows, filesAtOnce, seal));
  },
  async unseal(context, rows) {
    const again = await inspectAgain(context, rows.map(findFile));
    const hashes = new Map(rows.map(({ row, own }) => [row, own?.['sha256']]));
    return Promise.all(
      mapConcurrently(again, filesAtOnce, (row) => compareHash(context, row, hashes.get(row.row))),
    );
  },
};

/** The row with the path where its file is: as it was, or as typed, from the current folder. */
function findFile(row: SelectedRow): SelectedRow {
  const { path } = inspected(row);
  return existsSync(path) ? row : { ...row, own: { ...row.own, path: resolve(row.id) } };
}

/** Marks a file as bad if its content is not what was planned. */
async function compareHash({ signal }: Context, row: SelectedRow, planned: unknown) {
  if (badFile(row)) return row;
  const { path, contentType } = inspected(row);
  if ((await hashOfPath(path, signal)) === planned) return row;
  const problem = `${path} has changed since it was planned.`;
  return { ...row, own: { path, contentType, problem, hint: null } };
}
