/** `rosterctl plan apply`: sends the changes of a plan file, exactly as they were reviewed. */
import * as z from 'zod/mini';
import { exactOperation } from '../../bulk/exact-operation.js';
import { type BulkValues, bulkFlags } from '../../bulk/invocation.js';
import { checkResults } from '../../bulk/results.js';
import { runSince } from '../../bulk/resume.js';
import { refuseOrganization, runSelected } from '../../bulk/run-operation.js';
import type { CommandOutput } from '../../cli/command-output.js';
import { defineRunCommand, flag, param } from '../../cli/define.js';
import { parsedBy } from '../../cli/schemas.js';
import type { Context } from '../../context.js';
import { longTimeOf } from '../../data/time.js';
import { GuardError, UsageError } from '../../errors.js';
import { shownRunName } from '../../runs/find-run.js';
import { isOfProfile, isSamePlace, placeOf } from '../../runs/plan.js';
import {
  isExpired,
  type PlanFile,
  readPlanFile,
  shortHash,
  shortHashLength,
} from '../../runs/plan-file.js';
import type { SelectedRow } from '../../runs/report.js';
import { storeOf } from '../../runs/store.js';
import { runsOfPlan, type StoredRun } from '../../runs/stored-run.js';
import { earlierRunCommand, operationOfPlan } from '../runs/shared.js';
import { planArgs } from './show.js';

export default defineRunCommand({
  summary: 'Apply a plan file: exactly what was reviewed, or nothing',
  about:
    'Reads every record before the first change. If one no longer matches the plan, nothing is sent ' +
    '(exit 11); with --allow-drift it is reported as a conflict, and the others are changed. A plan works ' +
    'only for the organization and service it was made for, until it expires, and once on each machine. ' +
    'If it is interrupted, run the same command again. The hash in the file detects damage, not ' +
    'tampering: anyone who edits the file can write a new hash. So ask the reviewer for the first eight ' +
    'characters that plan show prints, separately from the file, and pass them with --hash.',
  examples: [
    ['Preview it', 'changes.json --dry-run'],
    ['Only if it is the plan that was reviewed', 'changes.json --hash 1a2b3c4d'],
    ['From a script', 'changes.json --yes --expect 14'],
  ],
  asks: true,
  calls: earlierRunCommand.calls,
  args: planArgs,
  flags: {
    hash: param(
      z.optional(parsedBy(parseHash)),
      'apply only if the hash of the plan starts with this',
      { group: 'safety' },
    ),
    allowDrift: flag('leave out records that have changed since', { group: 'safety' }),
    ...earlierRunCommand.flags,
    results: bulkFlags.results,
  },
  view: earlierRunCommand.view,
  async run(context, values) {
    const { signal, table } = context;
    const plan = await readPlanFile(values.file, { signal, version: table.version });
    requireHash(plan, values.hash);
    requirePlace(context, plan);
    return applyPlan(context, plan, values);
  },
});

function parseHash(text: string): string {
  const hash = text.trim().toLowerCase();
  if (hash.length >= shortHashLength && /^[0-9a-f]{1,64}$/.test(hash)) return hash;
  throw new UsageError(`"${text}" is not the beginning of a hash.`, {
    hint: `It has at least ${shortHashLength} characters, 0-9 and a-f, as plan show prints it.`,
  });
}

/** Throws GuardError for a plan with another hash than the reviewer's. */
function requireHash({ hash }: PlanFile, expected: string | undefined): void {
  if (expected === undefined || hash.startsWith(expected)) return;
  throw new GuardError(
    `The hash of this plan is ${shortHash(hash)}, not ${shortHash(expected)}. Nothing was sent.`,
    { code: 'hash', hint: 'It is not the plan that was reviewed. Ask for the file again.' },
  );
}

/** Throws UsageError for a plan of another organization or service. */
function requirePlace(context: Context, file: PlanFile): void {
  const here = placeOf(context);
  if (isSamePlace(file, here)) return;
  const isOther = file.organization !== here.organization;
  throw new UsageError(
    isOther
      ? `This plan is for organization ${file.organization}, not for ${here.organization}. Nothing was sent.`
      : `This plan is for ${file.service}, not for ${here.service}. Nothing was sent.`,
    { hint: 'Choose the profile it is for with -p. See: rosterctl profile list' },
  );
}

/**
 * Sends the rows of a plan, or continues where an earlier process was interrupted. Throws
 * GuardError for a plan that has expired or was applied on this machine.
 */
async function applyPlan(
  context: Context,
  file: PlanFile,
  given: Partial<BulkValues> & { readonly allowDrift: boolean },
): Promise<CommandOutput> {
  const { hash, job, guards, action } = file;
  const values = given as BulkValues;
  const planned = await operationOfPlan(context, file);
  const runs = await runsOfPlan(storeOf(context), file);
  const ended = runs.find((run) => !continues(context, run));
  if (ended) throw alreadyApplied(context, ended);
  // A plan that was begun in time may be finished later.
  if (runs.length === 0) requireUnexpired(context, file);
  await checkResults(values);
  const rows = file.rows.map(({ row, id, ref, own }): SelectedRow => ({ row, id, ref, own }));
  refuseOrganization(context, planned, rows);
  const operation = exactOperation(planned, file, {
    allowDrift: given.allowDrift,
    async resolve() {
      // Another process may have applied it while this one waited for the lock, or it has expired.
      const [run] = await runsOfPlan(storeOf(context), file);
      if (run) throw alreadyApplied(context, run);
      requireUnexpired(context, file);
      return (await planned.files?.unseal(context, rows)) ?? rows;
    },
  });
  const selection = { rows, digest: `plan ${hash}` };
  return runSelected(context, {
    operation,
    action,
    values,
    job,
    guards,
    selection,
    source: 'ids',
    isSingle: false,
  });
}

/** Throws GuardError for a plan that has expired. */
function requireUnexpired({ now }: Context, file: PlanFile): void {
  if (!isExpired(file, now())) return;
  throw new GuardError(`This plan expired on ${longTimeOf(file.expiresAt)}. Nothing was sent.`, {
    code: 'expired',
    hint: 'Make a new one, which shows what has changed since.',
  });
}

/** True if the same command line continues this run: it is unfinished, or its report was not printed. */
function continues(
  { config, settings }: Context,
  { head, finished, reported }: StoredRun,
): boolean {
  if (finished) return !reported;
  return isOfProfile(head, settings.profile.name, config.config().profiles);
}

function alreadyApplied(context: Context, { head, finished }: StoredRun): GuardError {
  const store = storeOf(context);
  const run = runSince(context, store, head);
  const name = shownRunName(context, store, head.run);
  if (!finished)
    return new GuardError(`This plan is being applied by ${run}, which is unfinished.`, {
      code: 'applied',
      hint: `Resume it: rosterctl runs resume ${name}`,
    });
  return new GuardError(`This plan was applied by ${run}. Nothing was sent.`, {
    code: 'applied',
    hint: `See the result: rosterctl runs show ${name}`,
  });
}
