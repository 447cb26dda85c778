import { countsAsError, type ReportRow } from '../bulk/report.js';
import type { BulkValues } from './bulk-flags.js';

type ErrorLimits = Pick<BulkValues, 'failFast' | 'maxErrors'>;

/** What a preview leaves of the errors that a run may have. */
interface ErrorsBefore {
  readonly wrong: number;
  /** So many that nothing is sent. */
  readonly isTooMany: boolean;
  /** How many rows may still fail; undefined: any number. */
  readonly left: number | undefined;
}

/** Rows that failed or conflicted before anything was sent, held against `--max-errors`. */
export function errorsBefore(limits: ErrorLimits, decided: readonly ReportRow[]): ErrorsBefore {
  const wrong = decided.filter(({ result }) => countsAsError(result)).length;
  const most = mostErrors(limits);
  if (most === undefined) return { wrong, isTooMany: false, left: undefined };
  return { wrong, isTooMany: wrong >= most, left: most - wrong };
}

/** How many rows may fail before a run stops; undefined: any number. */
export function mostErrors({ failFast, maxErrors }: ErrorLimits): number | undefined {
  return failFast ? 1 : maxErrors;
}
