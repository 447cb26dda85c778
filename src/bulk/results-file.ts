import { resolve } from 'node:path';
import type { ReportRow } from './report.js';
import type { SelectedRow } from './rows.js';
import { refuseSpreadsheet } from '../config/parse.js';
import type { Context } from '../context.js';
import { csvLine, unguard } from '../data/csv.js';
import { Failure, OutputError, UsageError } from '../errors.js';
import type { ExitName } from '../exit-codes.js';
import { checkWritable, writeAtomically } from '../files/atomic-write.js';
import type { BulkValues } from './flags.js';

/**
 * Whether `--results` can be written, before anything is sent. Throws OutputError where not,
 * UsageError for a file that something else of the same line is read from or written to.
 */
export async function checkResults(
  context: Context,
  { results, csv, idsFile }: Pick<BulkValues, 'results' | 'csv' | 'idsFile'>,
): Promise<void> {
  if (results === undefined) return;
  if (results === '-')
    throw new UsageError('--results needs a file; the report itself goes to stdout.', {
      hint: 'For rows on stdout: -o csv',
    });
  refuseSpreadsheet('--results', results);
  const others = { '--csv': csv, '--ids': idsFile, '--out': context.settings.out };
  for (const [flag, other] of Object.entries(others))
    if (other !== undefined && other !== '-' && resolve(other) === resolve(results))
      throw new UsageError(`--results and ${flag} name the same file.`, {
        hint: 'Give --results a file of its own.',
      });
  await checkWritable(results).catch((error: unknown) => {
    if (!(error instanceof Failure)) throw error;
    throw new OutputError(`--results: ${error.message}`, { hint: error.hint });
  });
}

/** Writes `--results` if it was asked for; the exit code of the run, or that it could not be written. */
export async function concludeResults(
  context: Context,
  file: string | undefined,
  input: { readonly header: readonly string[]; readonly rows: readonly SelectedRow[] },
  results: readonly ReportRow[],
  exitName: ExitName,
): Promise<ExitName> {
  if (file === undefined) return exitName;
  try {
    await writeResults(file, input.header, input.rows, results);
    return exitName;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    context.tell(error.message);
    return exitName === 'unauthenticated' || exitName === 'forbidden' ? exitName : 'failed';
  }
}

/** Each input row as it came, and what became of it. Throws OutputError. */
async function writeResults(
  file: string,
  header: readonly string[],
  rows: readonly SelectedRow[],
  results: readonly ReportRow[],
): Promise<void> {
  const byRow = new Map(results.map((result) => [result.row, result]));
  const look = { delimiter: ',', raw: false } as const;
  const lines = [csvLine([...header, 'result', 'error_code', 'message'], look)];
  for (const { row, id, cells } of rows) {
    const result = byRow.get(row);
    const error = (result?.error ?? {}) as { code?: unknown; message?: unknown };
    // A cell that an export guarded is not guarded once more.
    const input = cells?.map(unguard) ?? [id];
    const padded = header.map((_, index) => input[index] ?? '');
    lines.push(
      csvLine([...padded, result?.result ?? 'not_attempted', error.code, error.message], look),
    );
  }
  await writeAtomically(file, lines.join(''));
}
