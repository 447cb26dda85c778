/** The limits of failed rows, --fail-fast and --max-errors: how many the preview used up, and how many stop a run. */
import { countsAsError, type ReportRow } from '../runs/report.js';
import type { BulkValues } from './invocation.js';

/** How much of the error budget the preview used up. */
interface ErrorsBefore {
  readonly errorCount: number;
  /** True if nothing may be sent. */
  readonly isTooMany: boolean;
  /** How many more rows may fail; undefined: unlimited. */
  readonly remaining: number | undefined;
}

type ErrorLimits = Pick<BulkValues, 'failFast' | 'maxErrors'>;

/** Checks the rows that failed or conflicted during the preview against --max-errors and --fail-fast. */
export function errorsBefore(limits: ErrorLimits, decided: readonly ReportRow[]): ErrorsBefore {
  const errorCount = decided.filter(({ result }) => countsAsError(result)).length;
  const limit = errorLimit(limits);
  if (limit === undefined) return { errorCount, isTooMany: false, remaining: undefined };
  return { errorCount, isTooMany: errorCount >= limit, remaining: limit - errorCount };
}

/** How many failed rows stop a run; undefined: unlimited. */
export function errorLimit({ failFast, maxErrors }: ErrorLimits): number | undefined {
  return failFast ? 1 : maxErrors;
}
