import { singleLine } from '../../terminal/safe-text.js';
import { pad, truncate, widestOf } from '../../terminal/width.js';

const widest = 80;
const widestLabel = 24;

/** One line a count: label, number and a bar; the longest bar fills what 80 columns leave. */
export function barLines(
  counts: Readonly<Record<string, number>>,
  columns: number,
): readonly string[] {
  const rows = Object.entries(counts).map(
    ([label, count]) => [truncate(singleLine(label), widestLabel), count] as const,
  );
  const labels = widestOf(rows.map(([label]) => label));
  const digits = widestOf(rows.map(([, count]) => String(count)));
  const room = Math.max(0, Math.min(columns, widest) - labels - digits - '    '.length - 2);
  const most = rows.reduce((greatest, [, count]) => Math.max(greatest, count), 1);
  return rows.map(([label, count]) => {
    const bar = '█'.repeat(count === 0 ? 0 : Math.max(1, Math.round((count / most) * room)));
    return `  ${pad(label, labels)}  ${String(count).padStart(digits)}  ${bar}`.trimEnd();
  });
}
