/** The `--results` CSV of a bulk run: checked before anything is sent, written at its end. */
import { refuseSpreadsheet } from '../config/parse.js';
import type { Settings } from '../config/settings.js';
import type { Context } from '../context.js';
import { filesOfFields } from '../data/assign.js';
import { asInInput, byteOrderMark, csvLine, forSpreadsheet, resultColumns } from '../data/csv.js';
import type { Selection } from '../engine/operation.js';
import { Failure, OutputError, UsageError } from '../errors.js';
import type { ExitName } from '../exit-codes.js';
import { checkWritable, writeAtomically } from '../files/atomic-write.js';
import { refuseSameFile } from '../files/same-file.js';
import type { ReportRow } from '../runs/report.js';
import type { BulkValues, Invocation } from './invocation.js';

/**
 * Checks before anything is sent that `--results` can be written. Throws OutputError if it cannot,
 * UsageError if the same command line reads that file.
 */
export async function checkResults(values: BulkValues): Promise<void> {
  const { results } = values;
  if (results === undefined) return;
  if (results === '-')
    throw new UsageError('--results needs a file; the report itself goes to stdout.', {
      hint: 'For rows on stdout: -o csv',
    });
  refuseSpreadsheet('--results', results);
  const read = {
    '--csv': values.csv,
    '--ids': values.idsFile,
    '--input': values.input,
    '--note-file': values.noteFile,
    '--manifest': values.manifest,
    FILE: values.file,
    PATH: values.paths,
    '-F': filesOfFields(values.set),
  };
  const others = Object.entries(read).map(([word, given]) => ({ word, given }));
  await refuseSameFile('--results', results, others);
  await checkWritable(results).catch((error: unknown) => {
    if (!(error instanceof Failure)) throw error;
    throw new OutputError(`--results: ${error.message}`, { hint: error.hint });
  });
}

/** Writes `--results` if given; returns the exit code, which reflects a failed write, and its error. */
export async function writeResultsFile(
  context: Context,
  { values, selection }: Pick<Invocation, 'values' | 'selection'>,
  results: readonly ReportRow[],
  exitName: ExitName,
): Promise<{ readonly exitName: ExitName; readonly error?: Failure }> {
  if (values.results === undefined) return { exitName };
  try {
    const lines = resultLines(selection, results, context.settings);
    await writeAtomically(values.results, lines, { signal: context.signal, isReport: true });
    return { exitName };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    context.message(error.message);
    const isWorse = exitName === 'unauthenticated' || exitName === 'forbidden';
    return isWorse ? { exitName } : { exitName: 'failed', error };
  }
}

/**
 * Returns each input row unchanged, followed by its result; then the id that the input does not hold (of an
 * uploaded document, or of the record that a key names), and the reference.
 */
function resultLines(
  { header = ['id'], rows = [], isPlainKey }: Partial<Selection> = {},
  results: readonly ReportRow[],
  { csvRaw: isRaw, bom, delimiter }: Pick<Settings, 'csvRaw' | 'bom' | 'delimiter'>,
): string {
  const byRow = new Map(results.map((result) => [result.row, result]));
  const format = { delimiter, raw: true } as const;
  // A file that is read without guards is written without them.
  const own = (cell: string) => (isRaw ? cell : asInInput(cell));
  // An id column may have another name (--map).
  const showsId = isPlainKey !== false && !header.some((name) => /^\s*id\s*$/i.test(name));
  const isReferred = rows.some(({ ref }) => ref !== undefined);
  const addedNames = [...(showsId ? ['id'] : []), ...(isReferred ? ['ref'] : [])];
  const lines = [csvLine([...header.map(own), ...resultColumns, ...addedNames], format)];
  for (const { row, id, ref, cells } of rows) {
    const result = byRow.get(row);
    const input = cells?.map(own) ?? [isRaw ? id : forSpreadsheet(id)];
    const padded = header.map((_, index) => input[index] ?? '');
    const outcome = [
      result?.result ?? 'not_attempted',
      result?.error?.code,
      result?.error?.message,
    ];
    const shownId = ref === undefined ? result?.after?.['id'] : (result?.id ?? id);
    const more = [...(showsId ? [shownId] : []), ...(isReferred ? [ref] : [])];
    const added = [...outcome, ...more].map((cell) =>
      typeof cell === 'string' ? forSpreadsheet(cell) : cell,
    );
    lines.push(csvLine([...padded, ...added], format));
  }
  return `${bom ? byteOrderMark : ''}${lines.join('')}`;
}
