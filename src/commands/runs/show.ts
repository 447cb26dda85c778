/** `rosterctl runs show`: prints the result of each row of a run. */
import {
  printSummary,
  type ReportStyle,
  recordIds,
  reportLines,
  reportView,
} from '../../bulk/report-view.js';
import { idOfRow } from '../../bulk/row-lines.js';
import { ValueWithExit } from '../../cli/command-output.js';
import { defineLocalCommand, flag, param } from '../../cli/define.js';
import { nonEmptyText } from '../../cli/schemas.js';
import { linesView, type View } from '../../cli/views.js';
import type { LocalContext } from '../../context.js';
import { type JsonObject, printJson } from '../../data/json.js';
import { longTimeOf } from '../../data/time.js';
import { readBeforeImages } from '../../runs/before-images.js';
import { createNameFinder, findRun, shownRunName, shownTeams } from '../../runs/find-run.js';
import { configuredPlace, isSamePlace } from '../../runs/plan.js';
import { shortHash } from '../../runs/plan-file.js';
import { type BulkReport, bulkReport, type ReportRow, wentWrong } from '../../runs/report.js';
import { runFolder, storeOf } from '../../runs/store.js';
import { resultsSoFar, type StoredRun, stateWord, summaryOf } from '../../runs/stored-run.js';

/** The run to work on; `last` is the newest one that fits the command. */
export const runArg = param(nonEmptyText, 'a run, the last six characters of its name, or last', {
  ifMissing: 'Which run? Give its name, or last.',
  completes: 'run',
});

export default defineLocalCommand({
  summary: 'Show the result of each row of a run',
  about: 'Notes are not stored: the report shows a hash of them.',
  examples: [
    ['The newest run', 'last'],
    ['Only what failed', 'last --failed'],
  ],
  args: { run: runArg },
  flags: {
    failed: flag('only rows that failed, conflicted or are unknown'),
    undoable: flag('the records that the run deleted, as NDJSON for import or create --input'),
  },
  excludes: [['failed', 'undoable']],
  view: reportView,
  async run(context, { run, failed, undoable }) {
    const place = configuredPlace(context);
    const stored = await findRun(
      storeOf(context),
      run,
      { matches: ({ head }) => place !== undefined && isSamePlace(head, place) },
      { matches: () => true },
    );
    if (undoable)
      return new ValueWithExit((await deletedRecords(context, stored)) as never, 'done', {
        view: deletedRecordsView,
      });
    const report = storedReport(stored, failed);
    printSummary(context, report);
    const words = await wordsOfRun(context, stored, report);
    if (context.isInteractive) {
      const name = shownRunName(context, storeOf(context), stored.head.run);
      context.message(`Run ${name}: ${describeRun(stored)}`);
    }
    const view: View<BulkReport> = {
      ...reportView,
      lines: (shown, canvas) => reportLines(shown, canvas, words),
      // The ids of the rows that went wrong, to select them by.
      ...(failed && { idRows: recordIds }),
    };
    return new ValueWithExit(report, 'done', { view });
  },
});

/** The words of a run's report: what it did, and for a person the names of its records, by id. */
export async function wordsOfRun(
  context: LocalContext,
  stored: StoredRun,
  report: BulkReport,
): Promise<Pick<ReportStyle, 'action' | 'names'>> {
  const { action, resource } = stored.head;
  if (!context.isInteractive) return { action: { action, resource } };
  const nameOf = await createNameFinder(context);
  const ids = report.results.map((row) => idOfRow(row, report));
  const names = new Map(ids.map((id) => [id, nameOf(stored, id) ?? '']));
  const teams = await shownTeams(context, stored.head);
  return { action: { action, resource, teams }, names };
}

/** The view of deleted records: NDJSON, unless another format is asked for. */
const deletedRecordsView = linesView((records: readonly JsonObject[]) =>
  records.map((record) => printJson(record)),
);

async function deletedRecords(context: LocalContext, stored: StoredRun): Promise<JsonObject[]> {
  const { run, verb } = stored.head;
  const images = await readBeforeImages(runFolder(storeOf(context), run));
  const results = resultsSoFar(stored);
  const records: JsonObject[] = [];
  for (const { row, kind, id, before, withheld, shortened } of images) {
    const { result, error } = results.get(row) ?? {};
    const isGone = error?.kind === 'notFound';
    // A delete that was refused has a before-image, too.
    if (kind !== 'record' || !before) continue;
    if (result !== 'changed' && result !== 'unknown' && !isGone) continue;
    records.push(before);
    if (isGone) context.message(`The service answered that ${id} was already gone.`);
    if (result === 'unknown') context.message(`It is not known whether ${id} was deleted.`);
    const inexact = [...withheld, ...shortened];
    if (inexact.length > 0)
      context.message(
        `${id}: ${inexact.join(', ')} ${inexact.length === 1 ? 'is' : 'are'} not complete, because API keys and the queries of URLs are not stored.`,
      );
  }
  if (records.length > 0) return records;
  // After the time of `undo.keep`, an `auth logout`, or in a run of 0.1.0.
  const isForgotten = verb === 'delete' && summaryOf(stored).changed > 0;
  context.note(
    isForgotten
      ? `The records that run ${run} deleted are not kept on this machine.`
      : `Run ${run} deleted no records.`,
  );
  return records;
}

function describeRun(stored: StoredRun): string {
  const { head } = stored;
  const action = head.action.replace('.', ' ');
  const plan = head.plan === undefined ? '' : ` (plan ${shortHash(head.plan)})`;
  const place = `in ${head.organization} (profile ${head.profile})`;
  return `${action}${plan} ${place}, started ${longTimeOf(head.startedAt)}, ${stateWord(stored)}`;
}

/** Returns the report of a run from its journal. */
export function storedReport(stored: StoredRun, onlyFailed = false): BulkReport {
  const { head, plan } = stored;
  const rows = new Map<number, ReportRow>(
    (plan?.rows ?? []).map(({ row, id }) => [row, { row, id, result: 'not_attempted' }]),
  );
  for (const [row, result] of resultsSoFar(stored))
    rows.set(row, { ...result, id: result.id || (rows.get(row)?.id ?? '') });
  const shown = [...rows.values()].filter(({ result }) => !onlyFailed || wentWrong(result));
  return bulkReport(head, shown, summaryOf(stored), false);
}
