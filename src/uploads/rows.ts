/** Rows of an upload: expands its paths, inspects every file, and finds duplicates. */
import { createHash } from 'node:crypto';
import { dirname, resolve } from 'node:path';
import type { UploadContentType } from '../api/schemas.js';
import type { Context } from '../context.js';
import { mapConcurrently } from '../data/concurrency.js';
import { digestOf } from '../data/digest.js';
import { systemLimit } from '../data/system-errors.js';
import { nameFirstFew, plural } from '../data/text.js';
import type { Selection } from '../engine/operation.js';
import { Failure, UsageError } from '../errors.js';
import { inputBytes, unreadable } from '../files/input-file.js';
import type { SelectedRow } from '../runs/report.js';
import { inspectFile, type LocalFile } from './local-file.js';
import { type ManifestLine, readUploadManifest } from './manifest.js';
import { expandPaths } from './paths.js';
import { type BadFile, badFile, type InspectedFile, inspected, uploadRow } from './plan.js';

interface PathValues {
  readonly paths: readonly string[];
  readonly recursive: boolean;
  readonly name: string | undefined;
  readonly contentType: UploadContentType | undefined;
  readonly failFast: boolean;
}

/** How many files are inspected concurrently. */
export const filesAtOnce = 8;

/**
 * Inspects every file before anything is sent; a file named twice becomes one row. A file that cannot
 * be uploaded becomes a failing row; with --fail-fast, or if it is the only file, its InputError or
 * UsageError is thrown. Throws UsageError for --name with several files.
 */
export async function uploadRows(
  context: Context,
  { paths, recursive, name, contentType, failFast }: PathValues,
): Promise<Selection> {
  const names = await expandPaths(paths, { recursive });
  if (name !== undefined && names.length > 1) throw oneNameForMany();
  // If it is the only file, there is nothing else to upload.
  const isAlone = paths.length === 1 && names[0] === paths[0];
  const inspectPath = async (path: string): Promise<InspectedPath> => ({
    path,
    file: await inspect(context, path, contentType, failFast || isAlone),
  });
  const files = await Promise.all(mapConcurrently(names, filesAtOnce, inspectPath));
  const distinct = withoutDuplicates(context, files);
  const rows = await withSameFiles(
    context,
    distinct.map(({ path, file }, index) => uploadRow(index + 1, path, file)),
  );
  return { rows, header: ['path'], note: undefined, digest: filesDigest(rows) };
}

/**
 * Inspects the files that a manifest names before anything is sent, as `uploadRows` does. Throws
 * InputError for a manifest that cannot be used.
 */
export async function manifestRows(
  context: Context,
  manifest: string,
  { contentType, failFast }: Pick<PathValues, 'contentType' | 'failFast'>,
): Promise<Selection> {
  const { header, lines } = await readUploadManifest(context, manifest);
  const folder = manifest === '-' ? '.' : dirname(manifest);
  const inspectLine = async ({ row, path, text, contentType: own, cells }: ManifestLine) => {
    const file = await inspect(context, resolve(folder, path), own ?? contentType, failFast);
    return { ...uploadRow(row, path, { ...file, ...(text && { text }) }), cells };
  };
  const rows = await withSameFiles(
    context,
    await Promise.all(mapConcurrently(lines, filesAtOnce, inspectLine)),
  );
  return { rows, header, note: undefined, digest: filesDigest(rows) };
}

/**
 * Inspects the files of a retry's rows again, because none of them has arrived. Names and types stay as
 * given; stdin cannot be read again.
 */
export async function inspectAgain(
  context: Context,
  rows: readonly SelectedRow[],
): Promise<readonly SelectedRow[]> {
  const inspectRow = async (row: SelectedRow): Promise<SelectedRow> => {
    const bad = badFile(row);
    const { path, contentType } = bad ?? inspected(row);
    if (path === '-') return row;
    const file = await inspect(context, path, contentType ?? undefined, false);
    const isNamed = !bad && !('problem' in file);
    const { text } = bad ?? inspected(row);
    return {
      ...row,
      own: { ...file, ...(text && { text }), ...(isNamed && { name: inspected(row).name }) },
    };
  };
  return withSameFiles(context, await Promise.all(mapConcurrently(rows, filesAtOnce, inspectRow)));
}

/** The error for `--name` with several files. */
export function oneNameForMany(): UsageError {
  return new UsageError('--name works with one file, and you gave several.');
}

/** The part of a file that the plan stores until its upload is finished. */
export function toInspectedFile({
  path,
  name,
  contentType,
  sizeBytes,
  identity,
}: LocalFile): InspectedFile {
  return { path: path === '-' ? path : resolve(path), name, contentType, sizeBytes, identity };
}

/** Digest of the files in their present state. */
function filesDigest(rows: readonly SelectedRow[]): string {
  return digestOf(rows.map(({ own }) => own));
}

/** Throws UsageError for more bytes than `upload.maxBytes`; prints a note for an empty file. */
export function checkSize(context: Context, file: LocalFile): void {
  const most = Number(context.settings.overrides['upload.maxBytes'] ?? Number.POSITIVE_INFINITY);
  if (file.sizeBytes > most)
    throw new UsageError(
      `${file.path} has ${file.sizeBytes} bytes, more than upload.maxBytes (${most}) allows.`,
      { hint: 'If the service takes as many: rosterctl config set upload.maxBytes BYTES' },
    );
  if (file.sizeBytes === 0) context.note(`${file.path} is empty.`);
}

interface InspectedPath {
  /** As named on the command line. */
  readonly path: string;
  readonly file: InspectedFile | BadFile;
}

async function inspect(
  context: Context,
  path: string,
  contentType: UploadContentType | undefined,
  failFast: boolean,
): Promise<InspectedFile | BadFile> {
  try {
    const file = await inspectFile(path, contentType);
    checkSize(context, file);
    return toInspectedFile(file);
  } catch (error) {
    // A limit of this machine is not a problem of the file.
    if (!(error instanceof Failure) || failFast || systemLimit(error)) throw error;
    const { message, hint = null } = error;
    return { path: resolve(path), contentType: contentType ?? null, problem: message, hint };
  }
}

function withoutDuplicates(
  context: Context,
  files: readonly InspectedPath[],
): readonly InspectedPath[] {
  const used = new Set<string>();
  return files.filter(({ path }) => {
    const key = resolve(path);
    if (!used.has(key)) return used.add(key);
    context.note(`${path} is named twice; it is uploaded once.`);
    return false;
  });
}

/**
 * Sets `sameAs` on every file with the name and the content of an earlier one; refused files do not
 * count. Prints a note on files with the same bytes and different names, often a mistake: all of them
 * are uploaded.
 */
async function withSameFiles(
  context: Context,
  rows: readonly SelectedRow[],
): Promise<readonly SelectedRow[]> {
  const bySize = new Map<number, SelectedRow[]>();
  for (const row of rows) {
    if (badFile(row) || inspected(row).path === '-') continue;
    const { sizeBytes } = inspected(row);
    bySize.set(sizeBytes, [...(bySize.get(sizeBytes) ?? []), row]);
  }
  const hashed = async (row: SelectedRow) => ({
    row,
    hash: await fileHash(inspected(row).path, context.signal),
  });
  const sameAs = new Map<number, string>();
  const pairs: string[] = [];
  for (const group of [...bySize.values()].filter(({ length }) => length > 1)) {
    const byHash = new Map<string, SelectedRow[]>();
    // oxlint-disable-next-line no-await-in-loop
    for (const { row, hash } of await Promise.all(mapConcurrently(group, filesAtOnce, hashed))) {
      const others = byHash.get(hash) ?? [];
      const [first] = others;
      const { sizeBytes } = inspected(row);
      const twin = others.find((other) => nameOf(other) === nameOf(row));
      if (twin) sameAs.set(row.row, twin.id);
      else if (first && sizeBytes > 0) pairs.push(`${row.id} holds the same bytes as ${first.id}.`);
      byHash.set(hash, [...others, row]);
    }
  }
  for (const pair of pairs.slice(0, nameFirstFew)) context.note(pair);
  const more = pairs.length - nameFirstFew;
  if (more > 0) context.note(`… and ${plural(more, 'more pair')}.`);
  return rows.map((row) => {
    if (badFile(row)) return row;
    const { sameAs: _, ...own } = row.own ?? {};
    const twin = sameAs.get(row.row);
    return { ...row, own: { ...own, ...(twin !== undefined && { sameAs: twin }) } };
  });
}

/** The name of a row's document, unless --name replaces it. */
function nameOf(row: SelectedRow): string {
  const { name, text } = inspected(row);
  return text?.name ?? name;
}

/** Returns the SHA-256 of a file, in hex. Throws InputError, CancelledError. */
export async function fileHash(path: string, signal: AbortSignal): Promise<string> {
  const hash = createHash('sha256');
  try {
    for await (const chunk of inputBytes(path, { pieceBytes: 1024 * 1024, signal }))
      hash.update(chunk);
  } catch (error) {
    throw error instanceof Failure ? error : unreadable(path, error);
  }
  return hash.digest('hex');
}
