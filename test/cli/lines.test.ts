import { expect, test } from 'vitest';
import { reportLines } from '../../src/bulk/report-view.js';
import { alignedRows } from '../../src/bulk/row-lines.js';
import { type BulkReport, type ReportRow, summarize } from '../../src/runs/report.js';
import { createPaint } from '../../src/terminal/paint.js';

const shown = (results: readonly ReportRow[]) =>
  reportLines(
    {
      action: 'tryouts.set-status',
      results,
      summary: summarize(results),
    } as BulkReport,
    { paint: createPaint(false), isUtf8: true, columns: 80 } as never,
  );

const rows = (count: number, result: ReportRow['result'], from = 1): ReportRow[] =>
  Array.from({ length: count }, (_, index) => ({
    row: from + index,
    id: `a${from + index}`,
    result,
  }));

const error = (message: string) => ({ code: 'http', kind: 'http', message });

test('failures come last, however many rows there are', () => {
  const failed: ReportRow = { row: 2, id: 'a2', result: 'failed', error: error('No.') };
  const unknown: ReportRow = { row: 4, id: 'a4', result: 'unknown' };
  const [one] = rows(1, 'changed');
  const lines = shown([
    one as ReportRow,
    failed,
    ...rows(1, 'skipped', 3),
    unknown,
    ...rows(1, 'changed', 5),
  ]);
  expect(lines).toEqual([
    'a1  changed',
    'a3  skipped',
    'a5  changed',
    'a2  failed   No.',
    'a4  unknown',
    '2 changed, 1 skipped, 1 failed, 1 unknown, of 5',
  ]);
});

test('the count of conflicts is a part of a sentence', () => {
  expect(shown([...rows(2, 'changed'), ...rows(1, 'conflict', 3)]).at(-1)).toBe(
    '2 changed, 1 in conflict, of 3',
  );
});

test('five of the rows not sent are named, and each one with a reason', () => {
  const reason: ReportRow = {
    row: 9,
    id: 'a9',
    result: 'not_attempted',
    error: error('No answer.'),
  };
  expect(shown([...rows(8, 'not_attempted'), reason])).toEqual([
    'a1  not sent',
    'a2  not sent',
    'a3  not sent',
    'a4  not sent',
    'a5  not sent',
    'a9  not sent  No answer.',
    '… and 3 more not sent',
    '9 not sent',
  ]);
  expect(shown(rows(5, 'not_attempted'))).toHaveLength(6);
});

test('200,000 rows are rendered in one pass', () => {
  expect(
    shown([...rows(100_000, 'changed'), ...rows(100_000, 'not_attempted', 100_001)]),
  ).toHaveLength(100_007);
});

test('a row without a detail that just fits is one line', () => {
  const given = [{ cells: ['app_1', 'Ann', 'changed'], detail: '' }] as const;
  for (const columns of [19, 20, 21])
    expect(alignedRows(given, { columns })).toEqual([['app_1  Ann  changed']]);
});

test('an empty selection is reported in words', () => {
  expect(shown([])).toEqual(['No application matches. Nothing to do.']);
});
