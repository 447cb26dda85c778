/** `--plan FILE`: writes what a command would change to a plan file, and sends nothing. */

import { stat } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { isGiven } from '../cli/check.js';
import type { CommandOutput } from '../cli/command-output.js';
import { typedCommand } from '../cli/typed-line.js';
import { refuseSpreadsheet } from '../config/parse.js';
import type { Context } from '../context.js';
import type { JsonObject } from '../data/json.js';
import { labelOf } from '../data/path.js';
import { mayHoldSignature } from '../data/signed-urls.js';
import { fileCommands, plural, shellQuote } from '../data/text.js';
import { longTimeOf } from '../data/time.js';
import { digestIn } from '../engine/decide.js';
import type { RowPlan } from '../engine/operation.js';
import { GuardError, UsageError } from '../errors.js';
import { checkWritable } from '../files/atomic-write.js';
import { describeSelf } from '../files/holder.js';
import { placeOf } from '../runs/plan.js';
import { type PlanContent, shortHash, writePlanFile } from '../runs/plan-file.js';
import { endedWell, type ReportRow, type SelectedRow, summarize } from '../runs/report.js';
import { previewMany, previewOutput } from './dry-run.js';
import type { BulkValues, Invocation } from './invocation.js';
import type { Preview } from './preview.js';
import { reportViewFor } from './report-view.js';
import { redactedRows, requireNoSecret } from './secrets.js';
import type { FilteredRows } from './select-rows.js';

const defaultValidMs = 86_400_000;

/** Flags of the sending itself, which a plan does not hold; they go with `plan apply`. */
const sendingFlags = {
  results: '--results',
  failFast: '--fail-fast',
  maxErrors: '--max-errors',
  waitLock: '--wait-lock',
  restart: '--restart',
  exitCode: '--exit-code',
} as const satisfies Partial<Record<keyof BulkValues, string>>;

/** Checks --plan and --expires before anything is read. Throws UsageError, GuardError, OutputError. */
export async function checkPlanFlags(values: BulkValues): Promise<void> {
  const { plan: file } = values;
  if (file === undefined) throw new UsageError('--expires needs --plan FILE.');
  for (const [name, word] of Object.entries(sendingFlags))
    if (isGiven(values[name]))
      throw new UsageError(`${word} and --plan cannot be given together: a plan sends nothing.`, {
        hint: `Leave ${word} out here, and add it when you send the plan: rosterctl plan apply ${shellQuote(file)}`,
      });
  if (file === '-')
    throw new UsageError('--plan needs a file; the preview itself goes to stdout.', {
      hint: 'For example: --plan changes.json',
    });
  refuseSpreadsheet('--plan', file);
  const found = await stat(file).catch(() => undefined);
  if (found?.isFile())
    throw new GuardError(`${file} already exists. A plan never replaces a file.`, {
      code: 'exists',
      hint: `Name another file, or delete it first: ${fileCommands().remove} ${shellQuote(file)}`,
    });
  await checkWritable(file);
}

/**
 * Previews an invocation and writes the plan of its changes. Rows that fail or conflict cannot be
 * planned: then no file is written, and the report names them. Throws what the preview throws, UsageError
 * for what a plan cannot hold, GuardError for more changes than --max-changes.
 */
export async function planChanges(
  context: Context,
  invocation: Invocation,
  selected: FilteredRows,
): Promise<CommandOutput> {
  const { values } = invocation;
  const reading = { ...context, settings: { ...context.settings, dryRun: true } };
  const seen = new Map<number, Seen>();
  const previewed = await previewMany(reading, invocation, selected, ({ row }, record, plan) =>
    seen.set(row, seenOf(record, plan)),
  );
  const { preview, subject } = previewed;
  const { tasks, decided, names } = preview;
  const file = values.plan ?? '';
  const failing = decided.filter((row) => !endedWell(row));
  const { maxChanges = tasks.length } = values;
  if (failing.length === 0 && tasks.length > maxChanges)
    throw new GuardError(
      `${plural(tasks.length, 'row')} would change, more than --max-changes ${maxChanges}. No plan was written.`,
      { code: 'maxChanges', hint: 'Select fewer, or raise --max-changes.' },
    );
  const { quiet, dryRun } = context.settings;
  let written: { readonly plan: PlanContent; readonly hash: string } | undefined;
  if (failing.length > 0) context.message(`No plan was written: ${obstacle(failing)}`);
  else if (dryRun) context.note(`Without --dry-run the plan would be written to ${file}.`);
  else {
    const plan = await contentOf(context, invocation, preview, seen);
    written = { plan, hash: await writePlanFile(file, plan, context.signal) };
  }
  return {
    ...previewOutput(reading, invocation, previewed, { plan: written?.hash }),
    ...(quiet && { view: reportViewFor(context, { action: subject, names }) }),
    onlyReads: true,
    ...(written && { printAfter: () => notePlanWritten(context, file, written) }),
  };
}

function obstacle(failing: readonly ReportRow[]): string {
  const rows = plural(failing.length, 'row');
  if (failing.some(({ result }) => result === 'not_attempted'))
    return `${rows} could not be read. Run the same command again.`;
  const them = failing.length === 1 ? 'it' : 'them';
  return `${rows} cannot be changed. Leave ${them} out, and run the command again.`;
}

/** A record as the preview saw it, beside its changes. */
interface Seen {
  readonly name: string;
  /** Its version, which shows later whether it has changed, if the write affects all of it. */
  readonly version: JsonObject | undefined;
}

/** A preview keeps the names of the first rows only. */
function seenOf(record: JsonObject, plan: RowPlan): Seen {
  const digest = digestIn(plan);
  const name = labelOf(record, '');
  const { updatedAt } = record;
  const version = typeof updatedAt === 'string' ? { updatedAt } : { digest };
  return {
    name: mayHoldSignature(name) ? '' : name,
    version: digest === undefined ? undefined : version,
  };
}

async function contentOf(
  context: Context,
  { operation, action, typed, values, job, guards: { ifStatus, conditions } }: Invocation,
  preview: Preview,
  seen: ReadonlyMap<number, Seen>,
): Promise<PlanContent> {
  const { settings, now, self, table } = context;
  const { organization, service } = placeOf(context);
  const planned = redactedRows(context, preview.tasks, preview, { isRun: false }).rows;
  const sealed = (await operation.files?.seal(context, planned)) ?? planned;
  const madeAt = now();
  const { unchanged, skipped } = summarize(preview.decided);
  const content: PlanContent = {
    version: table.version,
    madeAt: madeAt.toISOString(),
    expiresAt: new Date(madeAt.getTime() + (values.expires ?? defaultValidMs)).toISOString(),
    madeBy: { user: userName(), host: describeSelf(self, undefined).host },
    action,
    resource: operation.resource,
    profile: settings.profile.name,
    organization,
    service,
    command: typed ? typedCommand(typed, (name) => name !== 'plan' && name !== 'expires') : '',
    leftOut: { unchanged, skipped },
    job,
    guards: {
      ...(ifStatus && { ifStatus: [...ifStatus] }),
      ...(conditions && { conditions: [...conditions] }),
    },
    rows: sealed.map((row) => fileRow(row, seen.get(row.row))),
  };
  requireNoSecret(content, (text) => context.api.isKey(text));
  return content;
}

function fileRow(
  { row, id, ref, own, previewed = [] }: SelectedRow,
  { name = '', version }: Partial<Seen> = {},
): PlanContent['rows'][number] {
  const values = version ? { ...own, ...version } : own;
  return {
    row,
    id,
    ...(ref !== undefined && { ref }),
    ...(name !== '' && { name }),
    ...(values && { own: values }),
    changes: [...previewed],
  };
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    // A container may run without a user of that number.
    return 'unknown';
  }
}

function notePlanWritten(
  context: Context,
  file: string,
  { plan: { rows, expiresAt }, hash }: { readonly plan: PlanContent; readonly hash: string },
): void {
  const quoted = shellQuote(file);
  context.note(
    `Plan of ${plural(rows.length, 'change')} written to ${file}; hash ${shortHash(hash)}. Valid until ${longTimeOf(expiresAt)}.`,
  );
  context.note(`Review it: rosterctl plan show ${quoted}`);
  context.note(`Apply it: rosterctl plan apply ${quoted} --hash ${shortHash(hash)}`);
}
