/** The command to run next: it finishes a run or retries its failed rows, with the flags that it needs. */

import { readFirst } from '../api/response.js';
import { rateText } from '../config/parse.js';
import type { Context } from '../context.js';
import { isForbidden } from '../data/outcome-errors.js';
import { resourceWords } from '../data/resources.js';
import { groupedNumber } from '../data/text.js';
import { type Failure, UnknownOutcomeError } from '../errors.js';
import { shownRunName } from '../runs/find-run.js';
import type { RunPlan } from '../runs/plan.js';
import type { ReportRow } from '../runs/report.js';
import { type RunStore, storeOf } from '../runs/store.js';
import { verbOf } from '../runs/verb.js';
import type { Invocation } from './invocation.js';

interface UnfinishedRun {
  readonly store: RunStore | undefined;
  readonly invocation: Invocation;
  readonly plan: RunPlan;
}

/** Returns how to resume an unfinished run from its rows that have not ended; `error`: what stopped it. */
export function unfinishedLine(
  context: Context,
  { store, invocation, plan: { head, rows } }: UnfinishedRun,
  unended: readonly ReportRow[],
  error?: Failure,
): string {
  const { operation, source, retries, typed } = invocation;
  const { files, resource, verb } = operation;
  const remaining = unended.length;
  const where =
    rows.length > 1
      ? `Stopped after ${groupedNumber(rows.length - remaining)} of ${groupedNumber(rows.length)}.`
      : 'Not finished.';
  const run = store ? shownRunName(context, store, head.run) : head.run;
  if (verb === 'create' && unended.some(({ result }) => result === 'unknown'))
    return `If it was not created, run the ${typed ? 'same' : 'original'} command again with --restart. If it was, delete the run: rosterctl runs prune ${run}`;
  // The create of an import is never sent twice; its record is still named by its key.
  if (verb === 'import' && unended.every((row) => row.result === 'unknown' && row.id === row.ref)) {
    const was = remaining === 1 ? 'it was' : 'they were';
    return `${where} Run the same command again to check once more. If ${was} not created, add --restart. If ${was}, delete the run: rosterctl runs prune ${run}`;
  }
  const finish = nextCommand(context, invocation, head.run, 'resume', remaining);
  // stdin can be read only once: the same command line would not mean the same input.
  const isOnce = files && rows.every((row) => files.subjectOf(row) === undefined);
  // With filters, the same command selects again (`interface.md` 4); a second retry is refused.
  const isOther = isOnce || source === 'filter' || retries !== undefined;
  const again = isOther ? 'Finish it with' : 'Run the same command again, or';
  // With this key it would be refused again.
  const isRefused = isForbidden(error);
  const { ask } = verbOf({ action: head.action, verb });
  const how = isRefused
    ? `With a key that may ${ask.toLowerCase()} ${resourceWords[resource].plural}`
    : again;
  // No command can settle it where the list shows no keys of files.
  const isLost = files && unended.every(({ result }) => result === 'unknown');
  const forget = isLost
    ? `rosterctl ${files.forgetCommand(head)} (if its document is there), or: `
    : '';
  return `${where} ${how}: ${forget}${finish}`;
}

/** Returns the command that finishes a run, or retries its failed rows; `count`: how many rows it takes. */
export function nextCommand(
  context: Context,
  { operation: { files, confirm }, values: { rate } }: Invocation,
  run: string,
  how: 'resume' | 'retry',
  count: number,
): string {
  if (files && how === 'resume') return `rosterctl ${files.finishCommand({ run })}`;
  const name = shownRunName(context, storeOf(context), run);
  // A rate spares the service in the second half, too.
  const pace = rate === undefined ? '' : ` --rate ${rateText(rate)}`;
  // On a terminal the command will ask; a script must confirm with flags.
  const expect = confirm === 'count' && count > 1 ? ` --expect ${count}` : '';
  const yes = context.prompts.unavailable === undefined ? '' : ` --yes${expect}`;
  return `rosterctl runs ${how} ${name}${pace}${yes}`;
}

/** Returns an unknown outcome with another advice than to check it by hand; any other error as it is. */
export function withAdvice(error: Failure, advice: string): Failure {
  if (!(error instanceof UnknownOutcomeError)) return error;
  const { message, call, hint = readFirst, cause, delivery, wait } = error;
  return new UnknownOutcomeError(message, call, {
    hint: hint.replace(readFirst, () => advice),
    cause,
    delivery,
    wait,
  });
}
