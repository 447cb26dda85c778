/** `rosterctl uploads finish`: completes interrupted uploads. */

import * as z from 'zod/mini';
import { countErrors } from '../../bulk/confirm.js';
import { dryRunRows, previewedRows, previewMany } from '../../bulk/dry-run.js';
import { type EndedRun, executeRun } from '../../bulk/execute.js';
import { type BulkValues, bulkFlags, type Invocation, limitRate } from '../../bulk/invocation.js';
import {
  checkFields,
  printSummary,
  printWrongRows,
  reportViewFor,
} from '../../bulk/report-view.js';
import { finishedElsewhere, previewResume, resumeRun } from '../../bulk/resume.js';
import { showOne } from '../../bulk/show-one.js';
import { printEnd } from '../../bulk/show-run.js';
import type { CommandOutput } from '../../cli/command-output.js';
import { defineRunCommand, flag, param } from '../../cli/define.js';
import { nonEmptyText } from '../../cli/schemas.js';
import { type Canvas, recordView } from '../../cli/views.js';
import type { Context } from '../../context.js';
import { plural } from '../../data/text.js';
import { Failure } from '../../errors.js';
import { type ExitName, mostSevere } from '../../exit-codes.js';
import { isHere } from '../../runs/plan.js';
import { type BulkReport, failedRun, type ReportRow, reportOf } from '../../runs/report.js';
import { isSingleRun } from '../../runs/store.js';
import type { DamagedRun, StoredRun } from '../../runs/stored-run.js';
import {
  findUnfinishedUpload,
  isUploadRun,
  readUnfinishedUploads,
  type UnfinishedUpload,
} from '../../runs/unfinished.js';
import { markOf } from '../../terminal/paint.js';
import { uploadOperation } from '../../uploads/operation.js';
import { otherConnection } from '../runs/shared.js';

const { concurrency, waitLock } = bulkFlags;

export default defineRunCommand({
  summary: 'Finish uploads that were interrupted',
  about:
    'If the file has arrived, only its document is created, unless it already exists. ' +
    'Other files are sent again from the beginning, if they have not changed.',
  examples: [
    ['All of this organization', '--all'],
    ['See what would be sent', '--all --dry-run'],
  ],
  asks: false,
  calls: ['requestUpload', 'createDocument', 'listDocuments', 'downloadDocument'],
  args: {
    id: param(z.optional(nonEmptyText), 'an id from uploads list', {
      ifMissing: 'Which upload? Give an id from rosterctl uploads list, or --all.',
    }),
  },
  flags: {
    all: flag('every interrupted upload of this organization', { group: 'selection' }),
    concurrency,
    waitLock,
  },
  needsOneOf: [['id', 'all']],
  excludes: [['id', 'all']],
  view: recordView('documents'),
  async run(context, values) {
    const { id } = values;
    if (id === undefined) return finishAll(context, values);
    const upload = await findUnfinishedUpload(context, id);
    if (!isHere(context, upload.run))
      throw otherConnection(context, `upload ${id}`, upload.run.head);
    const invocation = { ...finishInvocation(values, true), view: recordView('documents') };
    const { run, row } = upload;
    const only = new Set([row.row]);
    if (!context.settings.dryRun)
      return showOne(context, await finishRows(context, invocation, run, only));
    const left = previewResume(context, invocation, run, only);
    return dryRunRows(context, left.invocation, left);
  },
});

/** The invocation that finishes uploads; their job is in the plan of their run. */
function finishInvocation(values: object, isSingle: boolean): Invocation {
  return {
    operation: uploadOperation(),
    action: 'documents.upload',
    values: values as BulkValues,
    source: 'ids',
    job: {},
    guards: {},
    isSingle,
  };
}

/** Finishes these rows of a run, ended or not. Throws as `resumeRun` does. */
async function finishRows(
  context: Context,
  invocation: Invocation,
  run: StoredRun,
  rows: ReadonlySet<number>,
): Promise<EndedRun> {
  limitRate(context, invocation.values);
  return executeRun(context, await resumeRun(context, invocation, run, rows));
}

async function finishAll(context: Context, values: object): Promise<CommandOutput> {
  const exits: ExitName[] = [];
  const uploads = await uploadsHere(context, ({ head, isOpen }) => {
    const isUpload = !head || (isUploadRun(head) && isHere(context, { head }));
    // The uploads of a damaged run can neither be completed nor be reported as complete.
    if (isOpen && isUpload) exits.push('guarded');
  });
  await checkFields(context);
  const { dryRun } = context.settings;
  const finished: FinishedRun[] = [];
  // One run after another: each has a lock of its own.
  for (const run of new Set(uploads.map((upload) => upload.run)))
    finished.push(await finishRun(context, values, run, uploads));
  const results = finished.flatMap(({ rows }) => rows);
  const rows = results.map((row, index) => ({ ...row, row: index + 1 }));
  exits.push(...finished.map(({ exitName }) => exitName));
  const report = reportOf(context, { action: 'uploads.finish', run: null }, rows);
  const names = new Map(uploads.map(({ id, row }) => [id, row.id]));
  const isNothing = rows.length === 0 && exits.length === 0;
  if (isNothing && !context.isInteractive) context.note(nothingToFinish);
  printWrongRows(context, report);
  if (dryRun && !isNothing) printSummary(context, report);
  const exitName = mostSevere(exits);
  const error = finished.find((run) => run.error?.exitName === exitName)?.error;
  return {
    value: report,
    view: { ...reportViewFor(context, { names }), ...(isNothing && nothingView) },
    isReport: true,
    exitName,
    failed: failedRun(report, exitName, error),
    async onWritten() {
      for (const { close } of finished) await close?.();
    },
  };
}

const nothingToFinish = 'No upload is unfinished.';

/** The view of a report without uploads: one sentence. */
const nothingView = {
  isSentence: () => true,
  lines: (_: BulkReport, { isUtf8 }: Canvas) => [`${markOf(true, isUtf8)} ${nothingToFinish}`],
};

/** The unfinished uploads of the organization and service in force; notes how many others there are. */
async function uploadsHere(
  context: Context,
  onDamaged: (run: DamagedRun) => void,
): Promise<readonly UnfinishedUpload[]> {
  const all = await readUnfinishedUploads(context, onDamaged);
  const here = all.filter(({ run }) => isHere(context, run));
  if (here.length < all.length)
    context.note(
      `${plural(all.length - here.length, 'upload')} of other organizations or services stay as they are.`,
    );
  return here;
}

interface FinishedRun {
  readonly rows: readonly ReportRow[];
  readonly exitName: ExitName;
  readonly close?: (() => Promise<void>) | undefined;
  readonly error?: Failure | undefined;
}

async function finishRun(
  context: Context,
  values: object,
  run: UnfinishedUpload['run'],
  all: readonly UnfinishedUpload[],
): Promise<FinishedRun> {
  const uploads = all.filter((upload) => upload.run === run);
  const rowsOf = (result: ReportRow['result']) =>
    uploads.map(({ row: { row }, id }) => ({ row, id, result }));
  if (context.signal.aborted) return { rows: rowsOf('not_attempted'), exitName: 'done' };
  const ids = new Map(uploads.map(({ row, id }) => [row.row, id]));
  const only = new Set(ids.keys());
  const invocation = finishInvocation(values, isSingleRun(run.head.run));
  const withId = (row: ReportRow) => {
    const id = ids.get(row.row);
    return id === undefined ? [] : { ...row, id };
  };
  try {
    if (context.settings.dryRun) {
      const left = previewResume(context, invocation, run, only);
      const { preview } = await previewMany(context, left.invocation, left);
      const rows = previewedRows(preview).flatMap(withId);
      return { rows, exitName: countErrors(preview.decided) > 0 ? 'rowsFailed' : 'done' };
    }
    const ended = await finishRows(context, invocation, run, only);
    printEnd(context, ended);
    const { report, exitName, onWritten, error } = ended;
    return { rows: report.results.flatMap(withId), exitName, close: onWritten, error };
  } catch (error) {
    // Continue, so that the results of the other runs are reported.
    if (!(error instanceof Failure)) throw error;
    context.message(error.message);
    if (error.code === finishedElsewhere) return { rows: rowsOf('unchanged'), exitName: 'done' };
    return { rows: rowsOf('not_attempted'), exitName: error.exitName, error };
  }
}
