/** The progress of a run in words and as a share: rows or bytes done, rate, and time left. */
import type { RateLimiter } from '../api/rate-limiter.js';
import { bytesMoved } from '../cli/cells.js';
import { plural } from '../data/text.js';
import type { Session } from '../engine/operation.js';
import type { SelectedRow } from '../runs/report.js';

/** The text of a progress line, and the share of the work that is done, from 0 to 1. */
interface RunProgress {
  readonly text: () => string;
  readonly share: () => number;
}

/**
 * The progress of a run. The text adds the remaining wait while the service asks for one, and the
 * learned rate once the service has throttled.
 */
export function runProgress(
  { tasks, session }: { readonly tasks: readonly SelectedRow[]; readonly session: Session },
  done: () => number,
  limiter: Pick<RateLimiter, 'heldMs' | 'learnedRate'>,
): RunProgress {
  const bytes = session.transfer?.bytes;
  const started = performance.now();
  const total = tasks.length;
  const allBytes = bytes ? tasks.reduce((sum, task) => sum + bytes.of(task), 0) : 0;
  const counted = () => {
    const seconds = Math.max((performance.now() - started) / 1000, 0.001);
    if (bytes)
      return `${done()} of ${plural(total, 'file')}, ${bytesMoved(bytes.done, allBytes, seconds)}`;
    if (done() === 0) return `0 of ${total}`;
    const rate = done() / seconds;
    return `${done()} of ${total}, ${rate.toFixed(rate < 10 ? 1 : 0)}/s, ${timeLeft(total - done(), rate)}`;
  };
  const text = () => {
    const waitSeconds = Math.ceil(limiter.heldMs / 1000);
    if (waitSeconds > 0) return `${counted()}; the service asks to wait ${waitSeconds} s`;
    const { learnedRate } = limiter;
    if (learnedRate === undefined) return counted();
    return `${counted()}; the service allows about ${learnedRate.toFixed(learnedRate < 10 ? 1 : 0)} requests a second`;
  };
  const share = () => (bytes && allBytes > 0 ? bytes.done / allBytes : done() / Math.max(1, total));
  return { text, share };
}

function timeLeft(rest: number, rate: number): string {
  const seconds = Math.ceil(Math.max(0, rest) / Math.max(rate, 0.001));
  return seconds < 600 ? `${seconds} s left` : `${Math.ceil(seconds / 60)} min left`;
}
