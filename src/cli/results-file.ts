import type { ReportRow } from '../bulk/report.js';
import type { SelectedRow } from '../bulk/work.js';
import { csvLine } from '../data/csv.js';
import { writeAtomically } from '../files/atomic-write.js';

/** Writes `--results`: each input row as it came, and what became of it. Throws OutputError. */
export async function writeResults(
  file: string,
  header: readonly string[],
  rows: readonly SelectedRow[],
  results: readonly ReportRow[],
): Promise<void> {
  const byRow = new Map(results.map((result) => [result.row, result]));
  const look = { delimiter: ',', raw: false } as const;
  const lines = [csvLine([...header, 'result', 'error_code', 'message'], look)];
  for (const { row, id, cells = [id] } of rows) {
    const result = byRow.get(row);
    const error = (result?.error ?? {}) as { code?: unknown; message?: unknown };
    const padded = header.map((_, index) => cells[index] ?? '');
    lines.push(
      csvLine([...padded, result?.result ?? 'not_attempted', error.code, error.message], look),
    );
  }
  await writeAtomically(file, lines.join(''));
}
