import * as z from 'zod/mini';
import { type BulkReport, type ReportRow, wentWrong } from '../../bulk/report.js';
import { isSamePlace } from '../../bulk/run-plan.js';
import { findRun, storeOf, type StoredRun, summaryOf } from '../../bulk/runs.js';
import { defineLocalCommand, flag, param } from '../../cli/define.js';
import { reportView, tellSummary } from '../../cli/report-view.js';
import { configuredPlace } from './place.js';

/** Which run; `last` is the newest of this organization and service, or of those that can be meant. */
export const runArg = param(
  z._default(z.string().check(z.minLength(1, 'must not be empty')), 'last'),
  'a run, or last',
  {
    placeholder: 'RUN',
  },
);

export default defineLocalCommand({
  summary: 'Show what became of each row of a run',
  about: 'Notes are not kept: of them the report shows a hash.',
  examples: [
    ['The newest run', 'last'],
    ['Only what failed', 'last --failed'],
  ],
  calls: [],
  args: { run: runArg },
  flags: { failed: flag('only rows that failed, conflicted or are unknown') },
  view: reportView,
  async run(context, { run, failed }) {
    const place = configuredPlace(context);
    const stored = await findRun(
      storeOf(context),
      run,
      ({ head }) => place !== undefined && isSamePlace(head, place),
      () => true,
    );
    if (context.personReads) context.tell(aboutRun(stored));
    const report = storedReport(stored, failed);
    tellSummary(context, report);
    return report;
  },
});

function aboutRun({ head, finished }: StoredRun): string {
  const state = finished ? 'finished' : 'unfinished';
  const action = head.action.replace('.', ' ');
  return `${action} of ${head.startedAt}, profile ${head.profile}, organization ${head.organization}: ${state}`;
}

/** The report of a run as its journal tells it. */
export function storedReport(stored: StoredRun, onlyFailed = false): BulkReport {
  const { head, state, plan } = stored;
  const rows = new Map<number, ReportRow>(
    (plan?.rows ?? []).map(({ row, id }) => [row, { row, id, result: 'not_attempted' }]),
  );
  for (const [row, result] of state.results) rows.set(row, result);
  for (const [row, { id }] of state.open) rows.set(row, { row, id, result: 'unknown' });
  return {
    schema: 1,
    run: head.run,
    profile: head.profile,
    organization: head.organization,
    action: head.action,
    dryRun: false,
    summary: summaryOf(stored),
    results: [...rows.values()]
      .filter(({ result }) => !onlyFailed || wentWrong(result))
      .toSorted((a, b) => a.row - b.row),
  };
}
