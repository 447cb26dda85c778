/** Shows how far a run has got (rows or bytes, rate, time left), and that it waits after Ctrl-C. */

import type { RateLimiter } from '../api/rate-limiter.js';
import { rowError } from '../cli/failure.js';
import { isJsonFormat } from '../config/choices.js';
import type { Context } from '../context.js';
import { printJson } from '../data/json.js';
import { binarySize, bytesMoved, groupedNumber, plural } from '../data/text.js';
import type { Session } from '../engine/operation.js';
import { CancelledError } from '../errors.js';
import type { SelectedRow } from '../runs/report.js';
import { type Action, verbOf } from '../runs/verb.js';

/** If no row ends for this long, a rate and the time left would only hide it. */
const silenceMs = 8_000;

/**
 * The progress of a run, in words and as a share from 0 to 1, undefined while a bar would say nothing.
 * The text adds the remaining wait while the service asks for one, and the learned rate once the
 * service has throttled. `checkMs`: the wait before the outcome of unanswered requests is read; the run
 * does nothing else meanwhile.
 */
export function runProgress(
  {
    tasks,
    session,
    plan: { head },
  }: {
    readonly tasks: readonly SelectedRow[];
    readonly session: Session;
    readonly plan: { readonly head: Action };
  },
  done: () => number,
  limiter: Pick<RateLimiter, 'heldMs' | 'learnedRate'>,
  { clock, checkMs }: { readonly clock: () => number; readonly checkMs: () => number },
) {
  const bytes = session.transfer?.bytes;
  const started = clock();
  const total = tasks.length;
  const allBytes = bytes ? tasks.reduce((sum, task) => sum + bytes.of(task), 0) : 0;
  let latest = { done: 0, at: started };
  const counted = () => {
    if (done() !== latest.done) latest = { done: done(), at: clock() };
    const seconds = Math.max((clock() - started) / 1000, 0.001);
    if (bytes) {
      const files = `${groupedNumber(done())} of ${plural(total, 'file')}`;
      // All bytes are sent; documents are still being created and verified.
      if (bytes.done >= allBytes)
        return allBytes > 0 ? `${files}, ${binarySize(allBytes)} sent` : files;
      return `${files}, ${bytesMoved(bytes.done, allBytes, seconds)}`;
    }
    if (done() === 0) return `0 of ${groupedNumber(total)} ${verbOf(head).done} so far`;
    const idleMs = clock() - latest.at;
    if (idleMs >= silenceMs)
      return `${groupedNumber(done())} of ${groupedNumber(total)}, none in the last ${Math.round(idleMs / 1000)} s`;
    const rate = done() / seconds;
    return `${groupedNumber(done())} of ${groupedNumber(total)}, ${rate.toFixed(rate < 10 ? 1 : 0)}/s, ${timeLeft(total - done(), rate)}`;
  };
  const text = () => {
    const checkSeconds = Math.ceil(checkMs() / 1000);
    if (checkSeconds > 0)
      return `${groupedNumber(done())} of ${groupedNumber(total)}; checking unanswered changes in ${checkSeconds} s`;
    const waitSeconds = Math.ceil(limiter.heldMs / 1000);
    if (waitSeconds > 0) return `${counted()}; the service asks you to wait ${waitSeconds} s`;
    const { learnedRate } = limiter;
    if (learnedRate === undefined) return counted();
    return `${counted()}; the service allows about ${learnedRate.toFixed(learnedRate < 10 ? 1 : 0)} requests per second`;
  };
  const share = () => {
    if (bytes && bytes.done < allBytes) return bytes.done / allBytes;
    return total > 1 ? done() / total : undefined;
  };
  return { text, share };
}

function timeLeft(rest: number, rate: number): string {
  const seconds = Math.ceil(Math.max(0, rest) / Math.max(rate, 0.001));
  return seconds < 600 ? `${seconds} s left` : `${Math.ceil(seconds / 60)} min left`;
}

/** An answer that comes this soon after Ctrl-C needs no explanation. */
const announceAfterMs = 300;

/**
 * Tells a person after the first Ctrl-C why the command is still running, and everyone after the second what
 * is not known. Call the returned function at its end.
 */
export function announceInterrupt(context: Context): () => void {
  const { signal, streams, settings } = context;
  let timer: NodeJS.Timeout | undefined;
  let isAnnounced = false;
  const onAbort = () => {
    if (!streams.stderr.isTerminal) return;
    timer = setTimeout(() => {
      isAnnounced = true;
      context.message(
        'Stopping: waiting for answers to requests already sent. Press Ctrl-C again to quit now, then check with: rosterctl runs resume last',
      );
    }, announceAfterMs);
  };
  signal.addEventListener('abort', onAbort);
  const offQuit = context.onQuit((exitCode) => {
    const quit = 'Quit before all answers arrived: requests already sent may have taken effect.';
    const hint = 'Check with: rosterctl runs resume last';
    if (isJsonFormat(settings.output)) {
      const error = rowError(context, [], new CancelledError(quit, { hint }), '');
      void streams.stderr.write(`${printJson({ error: { ...error, exitCode } })}\n`);
    } else if (!isAnnounced) context.message(`${quit} ${hint}`);
  });
  return () => {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
    offQuit();
  };
}
