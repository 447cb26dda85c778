import { singleLine } from '../../terminal/safe-text.js';
import { displayWidth, pad, truncate } from '../../terminal/width.js';

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
  const labels = Math.max(0, ...rows.map(([label]) => displayWidth(label)));
  const digits = Math.max(0, ...rows.map(([, count]) => String(count).length));
  const room = Math.max(0, Math.min(columns, widest) - labels - digits - '    '.length - 2);
  const most = Math.max(1, ...rows.map(([, count]) => count));
  return rows.map(([label, count]) => {
    const bar = '█'.repeat(count === 0 ? 0 : Math.max(1, Math.round((count / most) * room)));
    return `  ${pad(label, labels)}  ${String(count).padStart(digits)}  ${bar}`.trimEnd();
  });
}
