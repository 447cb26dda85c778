import * as z from 'zod/mini';
import { type BulkReport, rowResults } from '../bulk/report.js';
import type { ExitName } from '../exit-codes.js';
import type { FailedOne } from './failure.js';
import type { Context } from '../context.js';
import { reportLines, summaryLine } from './lines.js';
import type { View } from './views.js';

/** A value, how it is shown, and the exit code it stands for once it was shown. */
export interface Shown {
  readonly value: unknown;
  readonly view: View<never>;
  /** What stands before the value, whatever its format. */
  readonly head?: string | undefined;
  readonly exitName: ExitName;
  /** Nothing was changed, though the command could have. */
  readonly onlyReads?: boolean | undefined;
  /** Says what is to stand below the value, or instead of it where it could not be written out. */
  readonly tellAfter?: (how: { readonly isShown: boolean }) => void;
  /** What is written down once the value was written out. */
  readonly written?: (() => Promise<void>) | undefined;
  /** The first of several things that failed; each was told by a line of its own. */
  readonly failed?: FailedOne | undefined;
  /** It tells what was done: when it cannot be written out, that is no good end, as it is for a list. */
  readonly isReport?: boolean;
  /** What runs after the value was shown; a signal ends it in the ordinary way. */
  readonly goOn?: () => Promise<void>;
  /** Ends what was begun, also where the value could not be written out. */
  readonly stop?: () => Promise<void>;
}

const Row = z.looseObject({
  row: z.number(),
  id: z.string(),
  result: z.enum(rowResults),
  before: z.optional(z.record(z.string(), z.unknown())),
  after: z.optional(z.record(z.string(), z.unknown())),
  error: z.optional(z.unknown()),
});

const Report = z.looseObject({
  schema: z.literal(1),
  run: z.nullable(z.string()),
  profile: z.string(),
  organization: z.string(),
  action: z.string(),
  dryRun: z.boolean(),
  summary: z.record(z.string(), z.number()),
  results: z.array(Row),
});

/** The names of what stands in a report itself, beside its rows. */
export const reportFields: ReadonlySet<string | undefined> = new Set(Object.keys(Report.shape));

/** The bulk report of docs, section 5. */
export const reportView: View<BulkReport> = {
  kind: 'lines',
  schema: Report,
  lines: reportLines,
  rows: ({ results }) => results,
  rowFields: Object.keys(Row.shape),
  idRows: ({ results }) =>
    results
      .filter(({ result }) => ['changed', 'unchanged', 'would_change'].includes(result))
      // What was made has an id of its own, if anybody said it; a row of files has only a path.
      .map(({ id, after }) => ({ id: after?.['id'] === undefined ? id : after['id'] }))
      .filter(({ id }) => id !== null),
  closing: ({ results: _rows, ...report }) => ({ type: 'summary', ...report }),
};

/** Rows for a program do not add up by themselves; JSON and a person's report hold the sum. */
export function tellSummary(
  context: Pick<Context, 'settings' | 'personReads' | 'tell'>,
  report: BulkReport,
): void {
  const { output } = context.settings;
  if (context.personReads || output === 'json' || output === 'ndjson') return;
  context.tell(summaryLine(report));
}
