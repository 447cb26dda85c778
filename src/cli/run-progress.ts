import type { RowWork, SelectedRow } from '../bulk/work.js';
import { plural } from '../data/words.js';
import { bytesMoved } from './byte-progress.js';

/**
 * What a run's progress line says: a counter with rate and time left; where bytes are moved, theirs.
 * `heldMs`: until when nothing is sent because the service asked for that.
 */
export function progressText(
  {
    tasks,
    work: { bytes },
  }: { readonly tasks: readonly SelectedRow[]; readonly work: Pick<RowWork<never>, 'bytes'> },
  done: () => number,
  heldMs: () => number,
): () => string {
  const started = performance.now();
  const total = tasks.length;
  const allBytes = bytes ? tasks.reduce((sum, task) => sum + bytes.of(task), 0) : 0;
  const counted = () => {
    const seconds = Math.max((performance.now() - started) / 1000, 0.001);
    if (bytes)
      return `${done()} of ${plural(total, 'file')}, ${bytesMoved(bytes.done, allBytes, seconds)}`;
    if (done() === 0) return `0 of ${plural(total, 'record')}`;
    const rate = done() / seconds;
    return `${done()} of ${total}, ${rate.toFixed(rate < 10 ? 1 : 0)}/s, ${timeLeft(total - done(), rate)}`;
  };
  return () => {
    const held = Math.ceil(heldMs() / 1000);
    return held === 0 ? counted() : `${counted()}; the service asks to wait ${held} s`;
  };
}

function timeLeft(rest: number, rate: number): string {
  const seconds = Math.ceil(Math.max(0, rest) / Math.max(rate, 0.001));
  return seconds < 600 ? `${seconds} s left` : `${Math.ceil(seconds / 60)} min left`;
}
