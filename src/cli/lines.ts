import type { BulkReport } from '../bulk/report.js';
import { singleLine } from '../terminal/safe-text.js';
import type { DryRun } from './define.js';
import type { Canvas } from './views.js';

/** A dry run for a person: each request, then old → new. */
export function changeLines(value: DryRun, { paint }: Canvas): string[] {
  const { requests } = value;
  if (requests.length === 0 && value.changes.length === 0)
    return ['Nothing would change; nothing would be sent.'];
  return [
    ...(requests.length > 0 ? [paint.bold('Would send')] : [paint.bold('Would change here')]),
    ...requests.flatMap((request) => [
      `  ${request.method} ${singleLine(request.path)}${request.basis === 'assumed' ? paint.dim('  (assumed route)') : ''}`,
      ...(request.body === undefined ? [] : [`    ${singleLine(JSON.stringify(request.body))}`]),
    ]),
    ...(requests.length > 0 && value.changes.length > 0 ? [paint.bold('Would change')] : []),
    ...value.changes.map(
      (change) => `  ${change.field}: ${shownValue(change.from)} → ${shownValue(change.to)}`,
    ),
  ];
}

/** The bulk report for a person: one line a row, then the summary that adds up. */
export function reportLines(report: BulkReport, { paint }: Canvas): string[] {
  const width = report.results.reduce((most, { id }) => Math.max(most, id.length), 0);
  const rows = report.results.map((row) => {
    const error = row.error as { message?: string } | undefined;
    const moved = Object.keys(row.after ?? {}).map(
      (field) => `${field} ${shownValue(row.before?.[field])} → ${shownValue(row.after?.[field])}`,
    );
    const detail = error?.message ? singleLine(error.message) : moved.join(', ');
    return `${singleLine(row.id).padEnd(width)}  ${row.result.padEnd(13)}  ${detail}`.trimEnd();
  });
  return [...rows, paint.bold(summaryLine(report))];
}

/** `9 changed, 1 unchanged, 1 failed of 11`; zero counts are left out. */
export function summaryLine(report: BulkReport): string {
  const { total, ...counts } = report.summary;
  const words: Record<string, string> = {
    notAttempted: 'not attempted',
    wouldChange: 'would change',
  };
  const parts = Object.entries(counts)
    .filter(([, count]) => count > 0)
    .map(([name, count]) => `${count} ${words[name] ?? name}`);
  return `${parts.join(', ') || 'nothing done'} of ${total}`;
}

function shownValue(value: unknown): string {
  if (value === undefined) return '?';
  if (value === null) return '-';
  return singleLine(typeof value === 'string' ? value : JSON.stringify(value));
}
