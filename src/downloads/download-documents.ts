/** Downloads and previews of documents: their flags, selection, targets, and what they print. */

import * as z from 'zod/mini';
import { type BulkValues, limitRate, type Selecting } from '../bulk/invocation.js';
import { selectByFilter, selectLocally, sourceOf } from '../bulk/select-rows.js';
import { ValueWithExit } from '../cli/command-output.js';
import { type DryRun, flag, param } from '../cli/define.js';
import { fileLines } from '../cli/lines.js';
import { nonEmptyText } from '../cli/schemas.js';
import { refuseResultFlags } from '../cli/sink.js';
import { type Canvas, linesView } from '../cli/views.js';
import { fileOrStdout } from '../config/parse.js';
import type { Context } from '../context.js';
import { quotedId } from '../data/references.js';
import { binarySize, groupedNumber } from '../data/text.js';
import { ProtocolError, UsageError } from '../errors.js';
import { refuseSameFile } from '../files/same-file.js';
import { documentSelection } from '../resources/document-filters.js';
import { explained } from '../resources/list-command.js';
import { singleLine } from '../terminal/safe-text.js';
import { createDownloader, type SavedRow, wasSkipped } from './download-one.js';
import { DownloadRun, type DownloadWorker } from './download-run.js';
import type { PlannedDownloads } from './dry-run.js';
import { type DownloadCall, linkOf } from './fetch.js';
import type { Mirror } from './mirror.js';
import type { SaveOptions } from './target-file.js';
import {
  checkTargets,
  nameTargets,
  resolveDocuments,
  type Target,
  withRecords,
} from './target-names.js';

/** The flags shared by download and preview. */
export const downloadFlags = {
  file: param(z.optional(nonEmptyText), 'write to this file; - is stdout', {
    short: 'O',
    placeholder: 'FILE|-',
    group: 'output',
    completes: 'file',
  }),
  dir: param(z.optional(nonEmptyText), 'write into this folder; it is created if missing', {
    short: 'D',
    group: 'output',
    completes: 'directory',
  }),
  skipExisting: flag('keep a file that exists, and do not download it again', { group: 'safety' }),
  overwrite: flag('replace a file that exists', { group: 'safety' }),
  url: flag('print the signed URL instead; it is a secret while it is valid', { group: 'output' }),
} as const;

/** Flags of download and preview that exclude each other. */
export const downloadExcludes = [
  ['file', 'dir'],
  ['skipExisting', 'overwrite'],
  ['url', 'file'],
  ['url', 'dir'],
] as const;

interface DownloadValues {
  readonly file?: string | undefined;
  readonly dir?: string | undefined;
  readonly skipExisting?: boolean;
  readonly overwrite?: boolean;
  readonly url?: boolean;
  readonly concurrency?: number | undefined;
  readonly rate?: number | undefined;
  readonly all?: boolean | undefined;
  readonly limit?: number | undefined;
  readonly allowPartial?: boolean | undefined;
}

/** The result row of one document. */
export type DownloadRow = SavedRow | { id: string; url: string; expiresAt: string | null };
type Result =
  | DownloadRow
  | readonly DownloadRow[]
  | AsyncIterable<DownloadRow>
  | DryRun
  | undefined;

/** The view of a download or preview. */
export const downloadView = linesView((value: DownloadRow | DownloadRow[], canvas) => {
  const result = value as Exclude<Result, AsyncIterable<DownloadRow> | undefined>;
  if ('dryRun' in result) return fileLines(result, canvas);
  const rows = Array.isArray(result) ? (result as readonly DownloadRow[]) : [result as DownloadRow];
  const sum = canvas.isTerminal ? sumOf(rows) : undefined;
  // The summary counts for a person what a script gets as rows.
  const listed = sum === undefined ? rows : rows.filter((row) => !(wasSkipped in row));
  return [...listed.map((row) => lineOf(row, canvas)), ...(sum === undefined ? [] : [sum])];
});

function lineOf(row: DownloadRow, { isTerminal }: Canvas): string {
  if ('url' in row) return singleLine(row.url);
  const mark = wasSkipped in row ? `  skipped (${row[wasSkipped]})` : '';
  const path = singleLine(row.path);
  // Each line is written as its file arrives, so sizes cannot be aligned in a column.
  if (isTerminal) return `${path} (${binarySize(row.bytes)})${mark}`;
  // In a pipe, a script reads the number.
  return `${path}  ${row.bytes} ${row.bytes === 1 ? 'byte' : 'bytes'}${mark}`;
}

/** The summary of several files, with why some were skipped; undefined for fewer than two, or for signed URLs. */
function sumOf(rows: readonly DownloadRow[]): string | undefined {
  if (rows.length < 2 || rows.some((row) => 'url' in row)) return undefined;
  const skipped = new Map<string, number>();
  for (const row of rows)
    if (wasSkipped in row) skipped.set(row[wasSkipped], (skipped.get(row[wasSkipped]) ?? 0) + 1);
  const rest = [...skipped].map(([why, count]) => `${groupedNumber(count)} skipped (${why})`);
  const downloaded = rows.filter((row) => !(wasSkipped in row)).length;
  return [`${groupedNumber(downloaded)} downloaded`, ...rest].join(', ');
}

const selecting: Selecting = {
  resource: 'documents',
  filters: explained('documents', documentSelection),
};

/**
 * Downloads the documents that positional ids, --ids, filters or --all select. Throws before any
 * document is requested: UsageError for no source or several, GuardError for a possibly incomplete list.
 */
export async function downloadSelection(
  context: Context,
  values: DownloadValues & Partial<BulkValues> & { readonly ids: readonly string[] },
): Promise<Result | ValueWithExit<Result>> {
  const source = sourceOf(values, selecting);
  if (values.file !== undefined && (source !== 'ids' || values.ids.length > 1))
    throw new UsageError('-O writes one file, but several documents may match.', {
      hint: 'Use -D DIR: each file is named after its document.',
    });
  const rows =
    source === 'filter'
      ? (await selectByFilter(context, values, selecting)).rows
      : await resolveDocuments(
          context,
          (await selectLocally(context, values, selecting, source)).rows,
        );
  const isOne = source === 'ids' && rows.length === 1;
  return downloadDocuments(context, 'download', rows, values, isOne);
}

/** Downloads the files of documents; `isOne`: exactly one was named on the command line. */
export async function downloadDocuments(
  context: Context,
  call: DownloadCall,
  rows: Parameters<typeof withRecords>[1],
  values: DownloadValues,
  isOne: boolean,
): Promise<Result | ValueWithExit<Result>> {
  const { dir: folder, skipExisting, overwrite } = values;
  await checkDownloadFields(context, values.url ? urlFields : fileFields);
  const file = fileOrStdout(values.file);
  const onExisting = skipExisting ? 'skip' : overwrite ? 'overwrite' : 'refuse';
  const save: SaveOptions = { file, folder, onExisting };
  if (file === '-' && !context.settings.dryRun)
    refuseResultFlags(context, '-O - writes the file', {
      hint: 'For the row with its id, path and bytes write to a file: -O FILE --json',
    });
  if (rows.length === 0) context.note('No document matches. Nothing to do.');
  // The list names the files; a dry run also looks there which documents exist.
  const needsList = !values.url && (file === undefined || context.settings.dryRun);
  const documents = needsList ? await withRecords(context, rows) : rows;
  const selected = { documents, save, isOne };
  // A preview may hold other bytes than its document.
  const isMirror = call === 'download' && skipExisting && !values.url;
  if (!isMirror || folder === undefined) return downloadNamed(context, call, selected, values);
  const { openMirror } = await import('./mirror.js');
  const mirror = await openMirror(context, folder);
  try {
    return await downloadNamed(context, call, { ...selected, mirror }, values);
  } catch (error) {
    mirror.release();
    throw error;
  }
}

interface Selected extends Omit<PlannedDownloads, 'targets'> {
  readonly mirror?: Mirror;
}

async function downloadNamed(
  context: Context,
  call: DownloadCall,
  { documents, save, isOne, mirror }: Selected,
  values: DownloadValues,
): Promise<Result | ValueWithExit<Result>> {
  const named = nameTargets(documents, save);
  const naming = mirror ? { ...named, targets: await mirror.place(named.targets) } : named;
  const { targets } = naming;
  if (mirror && isEveryDocument(values))
    await mirror.noteVanished(new Set(documents.map(({ id }) => id)));
  if (!isOne) limitRate(context, values);
  if (!values.url) {
    checkTargets(context, targets, save);
    const { out } = context.settings;
    const others = [{ word: 'a file to download', given: targets.map(({ path }) => path) }];
    if (out !== undefined) await refuseSameFile('--out', out, others);
    if (context.settings.dryRun) {
      const { planDownloads } = await import('./dry-run.js');
      return planDownloads(context, call, { documents, targets, save, isOne });
    }
  }
  const worker = values.url
    ? signer(context, call)
    : await createDownloader(context, call, naming, save, { isOne, mirror });
  const [only] = targets;
  if (isOne && only) {
    try {
      const row = await worker.work(only);
      return row && shown(context, [row])[0];
    } finally {
      await worker.close();
    }
  }
  const concurrency = values.concurrency ?? context.settings.concurrency;
  const run = new DownloadRun(context, targets, concurrency, worker);
  const exitName = () => run.exitName();
  const outcome = (value: Result) =>
    new ValueWithExit(value, exitName, {
      view: { ...downloadView, rowFields: values.url ? urlFields : fileFields },
      failed: () => run.failed(),
    });
  if (context.settings.output === 'ndjson') return outcome(run.rows());
  const done: DownloadRow[] = [];
  for await (const row of run.rows()) done.push(row);
  // At a terminal the view prints the summary; a pipe gets one line per file and nothing else.
  const sum = sumOf(done);
  if (sum !== undefined && context.settings.output === 'table' && !context.isInteractive)
    context.note(`${sum}.`);
  return outcome(shown(context, done));
}

/** The rows to print: with --quiet a table holds only URLs, because a saved file is not a result. */
function shown(
  { settings: { output, quiet } }: Context,
  rows: readonly DownloadRow[],
): readonly DownloadRow[] {
  return quiet && output === 'table' ? rows.filter((row) => 'url' in row) : rows;
}

/** True if every document of a complete list is selected. */
function isEveryDocument({ all, limit, allowPartial }: DownloadValues): boolean {
  return all === true && limit === undefined && !allowPartial;
}

const fileFields = ['id', 'path', 'bytes'];
const urlFields = ['id', 'url', 'expiresAt'];

/** Checks `--fields` and `--template` before anything is downloaded. Throws UsageError. */
async function checkDownloadFields(
  { settings }: Pick<Context, 'settings'>,
  rowFields: readonly string[],
): Promise<void> {
  if (settings.dryRun || (settings.fields ?? settings.template) === undefined) return;
  const { checkRowFields } = await import('../cli/chosen-fields.js');
  const { chosenFields } = await import('../cli/lists/template.js');
  checkRowFields(chosenFields(settings), { rowFields });
}

function signer(context: Context, call: DownloadCall): DownloadWorker<DownloadRow> {
  const { urlNote } = context.api;
  let isNoted = false;
  const work = async ({ id }: Target): Promise<DownloadRow> => {
    const link = await linkOf(context, call, id);
    if (link.kind === 'url') {
      if (urlNote !== undefined && !isNoted) context.message(urlNote);
      isNoted = true;
      return { id, url: link.url, expiresAt: link.expiresAt ?? null };
    }
    throw new ProtocolError('The service sends the file itself; there is no signed URL.', {
      hint: `Download it: rosterctl docs download ${quotedId(id)}`,
    });
  };
  return {
    work,
    printBeside: (say) => say(),
    continueHint: 'For the others, run the same command again.',
    close: async () => {},
  };
}
