import type { Call, PlannedRequest } from '../api/types.js';

/** One field, old and new; `from` is undefined where the old value is not known. */
export interface Change {
  readonly id: string | null;
  readonly field: string;
  readonly from: unknown;
  readonly to: unknown;
}

/** What a write would do, found out by reads only. */
export interface Plan<S = unknown> {
  /** The requests in order; empty = there is nothing to change. */
  readonly calls: readonly Call[];
  readonly changes: readonly Change[];
  /** What a dry run shows instead of the calls, where these do not tell all (an upload's PUT). */
  readonly requests?: readonly PlannedRequest[];
  /** It turned out to change nothing (`api` with GET): a dry run sends it as any read. */
  readonly onlyReads?: boolean;
  /** In a run: why the row is left alone whatever it would change. */
  readonly skipped?: { readonly code: string; readonly message: string } | undefined;
  /** What `apply` needs besides the calls, typically the record as read. */
  readonly state: S;
}
