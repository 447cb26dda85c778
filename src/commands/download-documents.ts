import { stat } from 'node:fs/promises';
import { parse, format } from 'node:path';
import * as z from 'zod/mini';
import type { Link } from '../api/links.js';
import { type DryRun, flag, Outcome, param } from '../cli/define.js';
import { changeLines } from '../cli/lines.js';
import { linesOf } from '../cli/views.js';
import type { Context } from '../context.js';
import { safeFileName } from '../data/file-names.js';
import type { JsonObject } from '../data/json.js';
import { plural } from '../data/words.js';
import {
  ApiError,
  Failure,
  GuardError,
  NotFoundError,
  OutputError,
  ProtocolError,
  StoreError,
  UsageError,
} from '../errors.js';
import type { ExitName } from '../exit-codes.js';
import { singleLine } from '../terminal/safe-text.js';
import { callOf, documents } from './kinds.js';
import { recordSource } from './read-records.js';
import {
  copyBytes,
  isTaken,
  pathFor,
  pathFromHeaders,
  saveDownload,
  type SaveOptions,
} from './save-file.js';

/** The flags of download and preview. */
export const downloadFlags = {
  file: param(z.optional(z.string().check(z.minLength(1))), 'write to this file; - is stdout', {
    short: 'O',
    placeholder: 'FILE|-',
    group: 'output',
    completes: 'file',
  }),
  dir: param(
    z.optional(z.string().check(z.minLength(1))),
    'write into this folder, made when missing',
    {
      short: 'D',
      placeholder: 'DIR',
      group: 'output',
      completes: 'directory',
    },
  ),
  skipExisting: flag('leave a file that is there, and do not download it', { group: 'safety' }),
  overwrite: flag('replace a file that is there', { group: 'safety' }),
  url: flag('print the signed URL instead; it is a secret while it is valid', { group: 'output' }),
} as const;

/** Flags of download and preview that say different things. */
export const downloadExcludes = [
  ['file', 'dir'],
  ['skipExisting', 'overwrite'],
  ['url', 'file'],
  ['url', 'dir'],
] as const;

export interface DownloadValues {
  readonly file: string | undefined;
  readonly dir: string | undefined;
  readonly skipExisting: boolean;
  readonly overwrite: boolean;
  readonly url: boolean;
}

const Saved = z.object({ id: z.string(), path: z.string(), bytes: z.number() });
const Signed = z.object({ id: z.string(), url: z.string(), expiresAt: z.nullable(z.string()) });
type Row = z.infer<typeof Saved> | z.infer<typeof Signed>;
type Result = Row | readonly Row[] | DryRun | undefined;

/** What a download or preview prints. */
export const downloadView = linesOf(
  z.union([Saved, Signed, z.array(z.union([Saved, Signed]))]),
  (value, canvas) => {
    const result = value as Result;
    if (result === undefined) return [];
    if ('dryRun' in result) return changeLines(result, canvas);
    const rows = Array.isArray(result) ? (result as readonly Row[]) : [result as Row];
    return rows.map((row) =>
      'url' in row ? singleLine(row.url) : `${singleLine(row.path)}  ${plural(row.bytes, 'byte')}`,
    );
  },
);

type DownloadCall = 'downloadDocument' | 'previewDocument';

/** Downloads the files of documents one after another, each under a name of its own. */
export async function downloadDocuments(
  context: Context,
  endpoint: DownloadCall,
  ids: readonly string[],
  values: DownloadValues,
): Promise<Result | Outcome<Result>> {
  if (values.file !== undefined && ids.length > 1)
    throw new UsageError('-O names one file, and there are several documents.', {
      hint: 'Use -D DIR: each file is named after its document.',
    });
  const targets = await targetsOf(context, ids, values);
  if (context.settings.dryRun && !values.url) return plannedDownloads(context, endpoint, targets);
  const work = (target: Target) =>
    values.url ? signedUrl(context, endpoint, target.id) : saveOne(context, endpoint, target);
  const [only] = targets;
  if (only && targets.length === 1) return work(only);
  const rows: Row[] = [];
  let failed: ExitName | undefined;
  for (const target of targets) {
    try {
      const row = await work(target);
      if (row) rows.push(row);
    } catch (error) {
      if (!(error instanceof Failure) || !concernsOne(error)) throw error;
      failed ??= error.exitName;
      context.tell(`${target.id}: ${error instanceof ApiError ? 'not found' : error.message}`);
    }
  }
  return failed === undefined ? rows : new Outcome(rows, failed);
}

/** Trouble with one document; anything else would meet the next one too. */
function concernsOne(error: Failure): boolean {
  if (error instanceof ApiError) return error.status === 404;
  return [NotFoundError, GuardError, StoreError, ProtocolError].some(
    (kind) => error instanceof kind,
  );
}

interface Target {
  readonly id: string;
  readonly record: JsonObject | undefined;
  /** Undefined where only the store's answer can name it. */
  readonly path: string | undefined;
  readonly save: SaveOptions;
}

async function targetsOf(
  context: Context,
  ids: readonly string[],
  { file, dir, skipExisting, overwrite, url }: DownloadValues,
): Promise<readonly Target[]> {
  const whenThere = skipExisting ? 'skip' : overwrite ? 'overwrite' : 'refuse';
  const save: SaveOptions = { file, folder: dir, whenThere };
  // A name or a size is wanted from the list only where nothing else names the file.
  const records = url || file !== undefined ? new Map() : await recordsOf(context, ids);
  const taken = new Set<string>();
  return ids.map((id) => {
    const record = records.get(id) as JsonObject | undefined;
    const path = distinct(pathFor(save, record), id, taken);
    return { id, record, path, save };
  });
}

/** Two documents of one name do not become one file. */
function distinct(path: string | undefined, id: string, taken: Set<string>): string | undefined {
  if (path === undefined) return undefined;
  const { dir, name, ext } = parse(path);
  const base = taken.has(path) ? (safeFileName(`${name}-${id}${ext}`) ?? path) : undefined;
  const own = base === undefined ? path : format({ dir, base });
  taken.add(own);
  return own;
}

/** The records for their names; a key that may not list can still download. */
async function recordsOf(
  context: Context,
  ids: readonly string[],
): Promise<ReadonlyMap<string, JsonObject>> {
  const source = recordSource(context, documents);
  const records = new Map<string, JsonObject>();
  for (const id of new Set(ids)) {
    try {
      records.set(id, await source.read(id));
    } catch (error) {
      if (error instanceof NotFoundError) continue;
      if (!(error instanceof ApiError) || error.status !== 403) throw error;
      context.note('This key may not list documents; the files are named by the store.');
      return records;
    }
  }
  return records;
}

async function saveOne(
  context: Context,
  endpoint: DownloadCall,
  { id, record, path, save }: Target,
): Promise<Row | undefined> {
  const size = record?.['sizeBytes'];
  const expected = typeof size === 'number' ? size : undefined;
  if (path !== undefined && path !== '-' && (await isTaken(path, save)))
    return kept(context, id, path);
  const download = await openDownload(context, endpoint, id);
  if (path === '-') {
    const write = (chunk: Uint8Array) => context.streams.stdout.write(chunk);
    await copyBytes(context, download, expected, write);
    return undefined;
  }
  const target = path ?? pathFromHeaders(save, download.headers, id);
  if (path === undefined && (await isTaken(target, save))) return kept(context, id, target);
  const bytes = await saveDownload(context, download, target, save, expected);
  return { id, path: target, bytes };
}

async function kept(context: Context, id: string, path: string): Promise<Row> {
  const { size } = await stat(path).catch((error: unknown) => {
    throw new OutputError(`${path} cannot be looked at.`, { cause: error });
  });
  context.note(`${path} exists already; it was left as it is.`);
  return { id, path, bytes: size };
}

async function openDownload(context: Context, endpoint: DownloadCall, id: string) {
  const link = await linkOf(context, endpoint, id);
  if (link.kind === 'bytes') return { headers: link.headers, bytes: once(link.bytes) };
  const files = await context.files();
  try {
    return await files.get(link.url);
  } catch (error) {
    // It may have run out on the way: a fresh one is asked for once.
    if (!(error instanceof StoreError) || error.status !== 403) throw error;
  }
  const fresh = await linkOf(context, endpoint, id);
  if (fresh.kind === 'bytes') return { headers: fresh.headers, bytes: once(fresh.bytes) };
  return files.get(fresh.url);
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

function linkOf(context: Context, endpoint: DownloadCall, id: string): Promise<Link> {
  return context.api.link(callOf(documents, endpoint, id));
}

async function signedUrl(context: Context, endpoint: DownloadCall, id: string): Promise<Row> {
  const link = await linkOf(context, endpoint, id);
  if (link.kind === 'url') return { id, url: link.url, expiresAt: link.expiresAt ?? null };
  throw new ProtocolError('The service sends the file itself; there is no signed URL.', {
    hint: `Download it: rosterctl docs download ${id}`,
  });
}

function plannedDownloads(
  context: Context,
  endpoint: DownloadCall,
  targets: readonly Target[],
): DryRun {
  return {
    schema: 1,
    dryRun: true,
    requests: targets.map(({ id }) => context.api.describe(callOf(documents, endpoint, id))),
    changes: targets.map(({ id, path }) => ({
      id,
      field: 'file',
      from: null,
      to: path ?? '(named by the store)',
    })),
  };
}
