import * as z from 'zod/mini';
import { type BulkReport, rowResults } from '../bulk/report.js';
import type { ExitName } from '../exit-codes.js';
import { reportLines } from './lines.js';
import type { View } from './views.js';

/** A value, how it is shown, and the exit code it stands for once it was shown. */
export interface Shown {
  readonly value: unknown;
  readonly view: View<never>;
  readonly exitName: ExitName;
  /** Says what is to stand below the value. */
  readonly tellAfter?: () => void;
  /** What is written down once the value was written out. */
  readonly written?: (() => Promise<void>) | undefined;
  /** It tells what was done: when it cannot be written out, that is no good end, as it is for a list. */
  readonly isReport?: boolean;
  /** What runs after the value was shown; a signal ends it in the ordinary way. */
  readonly goOn?: () => Promise<void>;
}

const Row = z.looseObject({ row: z.number(), id: z.string(), result: z.enum(rowResults) });

/** The bulk report of docs, section 5. */
export const reportView: View<BulkReport> = {
  kind: 'lines',
  schema: z.looseObject({
    schema: z.literal(1),
    summary: z.record(z.string(), z.number()),
    results: z.array(Row),
  }),
  lines: reportLines,
  rows: ({ results }) => results,
  idRows: ({ results }) =>
    results
      .filter(({ result }) => ['changed', 'unchanged', 'would_change'].includes(result))
      // What was made has an id of its own; a row of files has only a path.
      .map(({ id, after }) => ({ id: after?.['id'] ?? id })),
  closing: ({ results: _rows, ...report }) => ({ type: 'summary', ...report }),
};
