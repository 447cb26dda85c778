/** Invocations that change records: their shared flags, and the rate, limits and session that they imply. */
import * as z from 'zod/mini';
import { flag, type Params, param, params, type ValuesOf } from '../cli/define.js';
import type { ListValues } from '../cli/filters.js';
import { nonEmptyText, parsedBy } from '../cli/schemas.js';
import type { TypedLine } from '../cli/typed-line.js';
import type { View } from '../cli/views.js';
import { namedKeys } from '../config/named-keys.js';
import { duration } from '../config/parse.js';
import type { Context } from '../context.js';
import type { JsonObject } from '../data/json.js';
import { answersTo, parseReference, referenceKinds, referenceValues } from '../data/references.js';
import type { ResourceName } from '../data/resources.js';
import { groupedNumber, orList, plural } from '../data/text.js';
import { parseDuration } from '../data/time.js';
import { parseCondition } from '../data/where.js';
import type { Guards } from '../engine/decide.js';
import type { Operation, RowPlan, Selection, Session, Source } from '../engine/operation.js';
import { GuardError, UsageError } from '../errors.js';
import type { RunPlan } from '../runs/plan.js';
import type { ReportRow, SelectedRow } from '../runs/report.js';
import type { Action } from '../runs/verb.js';

const anyText = z.optional(nonEmptyText);

/** A flag that only few need, which only the full help shows. */
const rare = (group: 'selection' | 'safety' | 'output') => ({ group, rare: true }) as const;

const count = (least: number) =>
  z.optional(
    z
      .pipe(
        z.string().check(z.regex(/^\d{1,9}$/, 'must be a whole number')),
        z.transform((text: string) => Number(text)),
      )
      .check(z.refine((number) => number >= least, `must be at least ${least}`)),
  );

const inputFile = { placeholder: 'FILE|-', group: 'selection', completes: 'file' } as const;

/** Ids from a file; `ids` is the name of the positional ids, so the value has another one. */
export const idsFileFlag = {
  idsFile: param(anyText, 'ids from a file: lines, NDJSON, JSON or CSV', {
    ...inputFile,
    word: '--ids',
  }),
};

/** Rows with their own values, from a CSV or a workbook. */
export const csvFlags = {
  csv: param(anyText, 'rows from a CSV or .xlsx: id and what to set', inputFile),
  key: param(
    z.optional(z.enum(referenceKinds)),
    `the column of the CSV that names the record: ${orList(referenceKinds.map((kind) => (kind === 'id' ? 'id (default)' : kind)))}`,
    { placeholder: 'COLUMN', ...rare('selection') },
  ),
  sheet: param(anyText, 'the sheet of the .xlsx file (default: the first)', {
    placeholder: 'NAME',
    ...rare('selection'),
  }),
  takeFormulas: flag('use the values that formulas in the .xlsx file show', rare('selection')),
  map: params(z.optional(z.array(parsedBy(parseMapping))), 'rename a column of the CSV', {
    placeholder: "'THEIRS=id'",
    ...rare('selection'),
  }),
  ignoreColumns: flag('ignore unknown columns', rare('selection')),
};

/** Selection flags beside the filters: every record, and accepting a list that may be incomplete. */
export const allFlags = {
  all: flag('every record of the list', { group: 'selection' }),
  allowPartial: flag('continue even if the list may be incomplete', rare('selection')),
};

/** Above this many changes a user has to type the number, and a script has to pass a flag. */
export const defaultMaxChanges = 100;

/** The help text of `--max-changes`; a typed `--expect` stands in for the default. */
function maxChangesText(would: string): string {
  return `stop if more than N would ${would} (default ${defaultMaxChanges})`;
}

/** The help text of `--concurrency`: `files at once (default 4)`. */
export function atOnceText(what: string): string {
  return `${what} at once (default ${namedKeys.concurrency.default})`;
}

/** The shortest and the longest time for which a plan is valid. */
const [leastValidMs, mostValidMs] = [60_000, 30 * 86_400_000];

/** The flags of every bulk command that make a plan of it instead of sending. */
export const planFlags = {
  plan: param(anyText, 'write a plan for review to a new file, and send nothing', {
    placeholder: 'FILE',
    group: 'safety',
    completes: 'file',
  }),
  expires: param(
    z.optional(parsedBy(duration(leastValidMs, mostValidMs))),
    'how long the plan can be applied (default 24h)',
    { placeholder: '24h', ...rare('safety') },
  ),
};

/** Guards, caps, rate and report: the flags of every bulk command. */
export const bulkFlags = {
  ...planFlags,
  if: params(
    z.optional(z.array(parsedBy(parseCondition))),
    'change a row only while this is true',
    { placeholder: "'field=value'", completes: 'field', ...rare('safety') },
  ),
  expect: param(count(0), 'stop unless exactly N rows are selected', {
    placeholder: 'N',
    ...rare('safety'),
  }),
  maxChanges: param(count(0), maxChangesText('change'), { placeholder: 'N', group: 'safety' }),
  failFast: flag('stop at the first row that fails', rare('safety')),
  maxErrors: param(count(1), 'stop after N failed rows', { placeholder: 'N', ...rare('safety') }),
  concurrency: param(z.optional(parsedBy(namedKeys.concurrency.parse)), atOnceText('requests'), {
    placeholder: 'N',
    ...rare('safety'),
  }),
  rate: param(
    z.optional(parsedBy(namedKeys.rate.parse)),
    `requests per second (default ${namedKeys.rate.default})`,
    { placeholder: 'N/s', ...rare('safety') },
  ),
  restart: flag('start over instead of resuming an unfinished run', rare('safety')),
  waitLock: param(z.optional(parsedBy(parseDuration)), 'wait this long for another bulk change', {
    placeholder: '10m',
    ...rare('safety'),
  }),
  results: param(anyText, 'write a CSV with the result of each row', {
    placeholder: 'FILE.csv',
    completes: 'file',
    ...rare('output'),
  }),
  exitCode: flag('with --dry-run: exit 12 if something would change', rare('output')),
};

/** `--restart` of a create, for a record that an earlier run of the same command line may have created. */
export const restartCreateFlag = flag(
  'create it even if the same command may have done so already',
  rare('safety'),
);

/**
 * The flags of a bulk command in the order of its help: the sources of its rows, the command's own
 * selection flags and guards, and how the rows are sent.
 */
export function manyFlags<Own extends Params>(own: Own) {
  return { ...idsFileFlag, ...csvFlags, ...own, ...allFlags, ...bulkFlags };
}

/** Flags of `manyFlags` that mean something else where rows are deleted, and nothing is set. */
export const deletionFlags = {
  csv: { ...csvFlags.csv, text: 'the records to delete, from a CSV or .xlsx' },
  if: { ...bulkFlags.if, text: 'delete a record only while this is true' },
  maxChanges: { ...bulkFlags.maxChanges, text: maxChangesText('be deleted') },
};

/** The values of these flags; a command has only those that it spreads into its own. */
export type BulkValues = ValuesOf<typeof bulkFlags> &
  Partial<ValuesOf<typeof idsFileFlag & typeof csvFlags & typeof allFlags> & ListValues> & {
    readonly ids?: readonly string[];
    /** `--if-status` of applications. */
    readonly ifStatus?: readonly string[] | undefined;
    /** The name that a delete of one record asks for. */
    readonly confirm?: string | undefined;
    readonly [name: string]: unknown;
  };

function parseMapping(text: string): readonly [string, string] {
  const at = text.lastIndexOf('=');
  if (at > 0 && at < text.length - 1) return [text.slice(0, at).trim(), text.slice(at + 1).trim()];
  throw new UsageError('Write a renamed column as THEIRS=OURS.', {
    hint: 'For example: --map "Bewerber=id"',
  });
}

/** The part of an operation that defines its selection. */
export type Selecting = Pick<Operation, 'resource' | 'csv' | 'overrules' | 'filters'>;

/** A command line that changes records, before its rows are known. */
export interface CommandLine {
  readonly operation: Operation;
  /** `tryouts.set-status` */
  readonly action: string;
  readonly values: BulkValues;
  /** The view of a single record's outcome. */
  readonly view?: View<never> | undefined;
  /** The line as typed, which a plan file names. */
  readonly typed?: TypedLine | undefined;
}

/** The change of each row: the part of an invocation that the run's plan keeps until it is finished. */
type KeptJob = {
  readonly job: JsonObject;
  readonly guards: Guards;
};

/** A change to make: a command line with its rows, or the run of an earlier one. */
export interface Invocation extends CommandLine, KeptJob {
  readonly source: Source;
  /** The command line names exactly one record: it locks that record only, and waits for no bulk run. */
  readonly isSingle: boolean;
  /** Its rows; undefined if a filter selects them, or a run holds them. */
  readonly selection?: (Pick<Selection, 'rows'> & Partial<Selection>) | undefined;
  /** The run whose failed rows it retries. */
  readonly retries?: string;
  /** The names of teams by id, for a person. */
  readonly teams?: Action['teams'];
}

/** The job of a plan, as `planRun` stored it; an empty one for a run that has no plan any more. */
export function jobOf(plan: Pick<RunPlan, 'job'> | undefined): KeptJob {
  return (plan?.job ?? { job: {}, guards: {} }) as KeptJob;
}

/** Limits all further requests to the invocation's rate; after a 429 they slow down together. */
export function limitRate(
  { api, settings }: Context,
  { rate }: Partial<Pick<BulkValues, 'rate'>>,
): void {
  api.limiter.limit({ rate: rate ?? settings.rate });
}

/** How many failed rows stop a run: --fail-fast, or --max-errors. */
export function errorLimit({ failFast, maxErrors = Infinity }: BulkValues): number {
  return failFast ? 1 : maxErrors;
}

/** Checks --expect against the number of selected rows. Throws GuardError. */
export function checkExpected(selected: number, { expect }: Pick<BulkValues, 'expect'>): void {
  if (expect === undefined || expect === selected) return;
  throw new GuardError(
    `${plural(selected, 'row is', 'rows are')} selected, but --expect says ${groupedNumber(expect)}. Nothing was changed.`,
    { code: 'expect', hint: 'Look at the rows first: run the same command with --dry-run.' },
  );
}

/**
 * Opens the session of an operation. A row that a reference named is a conflict once its record, as
 * read before a write, no longer answers to the reference. `finished`: the other rows of a run that is
 * resumed.
 */
export function openSession(
  context: Context,
  { operation, job }: Pick<Invocation, 'operation' | 'job'>,
  finished?: readonly ReportRow[],
): Session {
  const session = operation.open(context, job);
  if (finished) session.resumes?.(finished);
  // The sessions of an import check their own keys.
  if (session.forRow) return session;
  return {
    ...session,
    plan(row, state) {
      const planned = session.plan(row, state);
      const conflict = renamed(context, operation.resource, row, state.record);
      return conflict ? Promise.resolve(planned).then((plan) => ({ ...plan, conflict })) : planned;
    },
  };
}

/** The conflict of a record that no longer answers to the reference of its row. */
function renamed(
  { settings: { overrides } }: Context,
  resource: ResourceName,
  { ref, id }: SelectedRow,
  record: JsonObject | undefined,
): RowPlan['conflict'] {
  if (ref === undefined || !record) return undefined;
  const reference = parseReference(ref);
  if (answersTo(record, reference, resource, overrides)) return undefined;
  const { kind } = reference;
  const own = kind === 'id' ? [] : referenceValues(resource, kind, overrides)(record);
  const now = own?.[0] === undefined ? '' : ` It is now ${kind}:${own[0]}.`;
  return { field: kind, from: own?.[0], message: `${id} is no longer ${ref}.${now}` };
}
