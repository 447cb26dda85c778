/** Results for the user: the line that describes a single change, and the `--results` CSV of a bulk run. */
import { realpath } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { withConnectionFlags } from '../cli/connection-flags.js';
import type { Canvas } from '../cli/views.js';
import { refuseSpreadsheet } from '../config/parse.js';
import type { Context } from '../context.js';
import { csvLine, unguard } from '../data/csv.js';
import { isUtf8Locale } from '../data/environment.js';
import type { JsonObject } from '../data/json.js';
import { labelOf } from '../data/path.js';
import { Failure, OutputError, UsageError } from '../errors.js';
import type { ExitName } from '../exit-codes.js';
import { checkWritable, writeAtomically } from '../files/atomic-write.js';
import { isDelete, type ReportRow, type SelectedRow } from '../runs/report.js';
import { singleLine } from '../terminal/safe-text.js';
import type { BulkValues, Invocation } from './invocation.js';
import { headline, markOf } from './report-lines.js';
import { describeOne } from './words.js';

/** `✔ Nimbus Kolmarden (app_0064): reviewing → shortlisted.   Undo: rosterctl runs undo d181ba`, on two lines if one is too narrow. */
export function resultLines(
  { env, flags, table }: Pick<Context, 'env' | 'flags' | 'table'>,
  { words, operation }: Pick<Invocation, 'words' | 'operation'>,
  outcome: {
    readonly row: ReportRow;
    readonly record: JsonObject | undefined;
    /** The run as a person types it. */
    readonly run: string | undefined;
    /** Why nothing was sent, as a sentence. */
    readonly unsent: string | undefined;
  },
  canvas: Canvas,
): readonly string[] {
  const { row, record, run, unsent } = outcome;
  const mark = markOf(true, isUtf8Locale(env));
  if (unsent !== undefined) return headline(`${mark} ${singleLine(unsent)}`, undefined, canvas);
  const action = { action: words.join('.'), verb: operation.verb };
  const name = isDelete(action.action) ? Object.values(row.before ?? {})[0] : labelOf(record, '');
  const what = describeOne(row, action, {
    name: typeof name === 'string' && name !== '' ? name : undefined,
    record,
  });
  const undo =
    run === undefined || operation.undoes === false
      ? undefined
      : withConnectionFlags(`Undo: rosterctl runs undo ${run}`, flags, table);
  return headline(`${mark} ${singleLine(what)}.`, undo, canvas);
}

/**
 * Checks before anything is sent that `--results` can be written. Throws OutputError if it cannot,
 * UsageError if another flag of the same command line reads or writes that file.
 */
export async function checkResults(
  context: Context,
  {
    results,
    csv,
    idsFile,
    manifest,
    file,
  }: Pick<BulkValues, 'results' | 'csv' | 'idsFile'> & {
    readonly manifest?: unknown;
    readonly file?: unknown;
  },
): Promise<void> {
  if (results === undefined) return;
  if (results === '-')
    throw new UsageError('--results needs a file; the report itself goes to stdout.', {
      hint: 'For rows on stdout: -o csv',
    });
  refuseSpreadsheet('--results', results);
  const { out } = context.settings;
  const flags = { '--csv': csv, '--ids': idsFile, '--manifest': manifest, '--out': out };
  const others = { ...flags, FILE: file };
  const target = await realPathOf(results);
  for (const [flag, other] of Object.entries(others))
    if (typeof other === 'string' && other !== '-' && (await realPathOf(other)) === target)
      throw new UsageError(`--results and ${flag} name the same file.`, {
        hint: 'Give --results another file.',
      });
  await checkWritable(results).catch((error: unknown) => {
    if (!(error instanceof Failure)) throw error;
    throw new OutputError(`--results: ${error.message}`, { hint: error.hint });
  });
}

/** The path without links; its last part may be a file that does not exist yet. */
async function realPathOf(file: string): Promise<string> {
  const path = resolve(file);
  const inFolder = async () => join(await realpath(dirname(path)), basename(path));
  return realpath(path)
    .catch(inFolder)
    .catch(() => path);
}

/** Writes `--results` if given; returns the exit code, which reflects a failed write. */
export async function writeResultsFile(
  context: Context,
  { values, selection }: Pick<Invocation, 'values' | 'selection'>,
  results: readonly ReportRow[],
  exitName: ExitName,
): Promise<ExitName> {
  if (values.results === undefined) return exitName;
  const { header = ['id'], rows = [] } = selection ?? {};
  try {
    await writeResults(values.results, header, rows, results);
    return exitName;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    context.message(error.message);
    return exitName === 'unauthenticated' || exitName === 'forbidden' ? exitName : 'failed';
  }
}

/**
 * Writes each input row unchanged, followed by its result; then the id that the input does not hold (of
 * an uploaded document, or of the record that a key names), and the reference. Throws OutputError.
 */
async function writeResults(
  file: string,
  header: readonly string[],
  rows: readonly SelectedRow[],
  results: readonly ReportRow[],
): Promise<void> {
  const byRow = new Map(results.map((result) => [result.row, result]));
  const format = { delimiter: ',', raw: false } as const;
  const showsId = !header.includes('id');
  const isReferred = rows.some(({ ref }) => ref !== undefined);
  const added = [...(showsId ? ['id'] : []), ...(isReferred ? ['ref'] : [])];
  const lines = [csvLine([...header, 'result', 'error_code', 'message', ...added], format)];
  for (const { row, id, ref, cells } of rows) {
    const result = byRow.get(row);
    const error = (result?.error ?? {}) as { code?: unknown; message?: unknown };
    // Removes the formula guard of an export, so that the cell is not guarded twice.
    const input = cells?.map(unguard) ?? [id];
    const padded = header.map((_, index) => input[index] ?? '');
    const outcome = [result?.result ?? 'not_attempted', error.code, error.message];
    const shownId = ref === undefined ? result?.after?.['id'] : (result?.id ?? id);
    const more = [...(showsId ? [shownId] : []), ...(isReferred ? [ref] : [])];
    lines.push(csvLine([...padded, ...outcome, ...more], format));
  }
  await writeAtomically(file, lines.join(''));
}
