/** One command line that changes records: what its run is called, what it locks, how fast it goes. */
import * as z from 'zod/mini';
import { flag, param, params, type Params, type ValuesOf } from '../cli/define.js';
import { parsedBy } from '../cli/filters.js';
import type { View } from '../cli/views.js';
import { namedKeys } from '../config/keys.js';
import type { Context } from '../context.js';
import { digestOf } from '../data/digest.js';
import { parseDuration } from '../data/time.js';
import type { JsonObject } from '../data/json.js';
import { parseCondition } from '../data/where.js';
import { ConfigError, Failure, OutputError, UsageError } from '../errors.js';
import type { HeldLock } from '../files/lock.js';
import type { Guards } from './decide.js';
import { lockRecord, lockRun, recordWaitMs } from './lock-run.js';
import type { Operation, Source } from './operation.js';
import { placeOf, runFormat, type RunHead, type RunPlan } from './run-plan.js';
import { newRunName, openRunStore, type RunStore } from './run-store.js';

const file = (text: string, word?: string) =>
  param(z.optional(z.string().check(z.minLength(1, 'must not be empty'))), text, {
    placeholder: 'FILE|-',
    group: 'selection',
    completes: 'file',
    ...(word !== undefined && { word }),
  });

const count = (least: number) =>
  z.optional(
    z
      .pipe(
        z.string().check(z.regex(/^\d{1,9}$/, 'must be a whole number')),
        z.transform((text: string) => Number(text)),
      )
      .check(z.refine((number) => number >= least, `must be at least ${least}`)),
  );

/** Ids out of a file; the positional ids have the name already. */
export const idsFileFlag = {
  idsFile: file('ids from a file: lines, NDJSON, JSON or CSV', '--ids'),
};

/** Values of their own for each row. */
export const csvFlags = {
  csv: file('rows from a CSV: id and what to set'),
  map: params(z.optional(z.array(parsedBy(parseMapping))), 'rename a column of the CSV', {
    placeholder: "'THEIRS=id'",
    group: 'selection',
    rare: true,
  }),
  ignoreColumns: flag('pass over columns that nobody knows', { group: 'selection', rare: true }),
};

/** Besides filters: every record, and a list that may be incomplete. */
export const allFlags = {
  all: flag('every record of the list', { group: 'selection' }),
  allowPartial: flag('also when the list may be incomplete', { group: 'selection', rare: true }),
};

/** Beyond so many changes a person is asked for the number, a script for a flag. */
export const defaultMaxChanges = 100;

/** What `--concurrency` says of itself: `files at once (default 4)`. */
export function atOnceText(what: string): string {
  return `${what} at once (default ${namedKeys.concurrency.default})`;
}

/** Guards, caps, pace and report: what every command takes that changes many things. */
export const bulkFlags = {
  if: params(z.optional(z.array(parsedBy(parseCondition))), 'change a row only while this holds', {
    placeholder: "'field=value'",
    group: 'safety',
    completes: 'field',
    rare: true,
  }),
  expect: param(count(0), 'refuse unless exactly so many rows are selected', {
    placeholder: 'N',
    group: 'safety',
    rare: true,
  }),
  maxChanges: param(count(0), `refuse if more would change (default ${defaultMaxChanges})`, {
    placeholder: 'N',
    group: 'safety',
  }),
  failFast: flag('stop at the first row that fails', { group: 'safety', rare: true }),
  maxErrors: param(count(1), 'stop when so many rows failed', {
    placeholder: 'N',
    group: 'safety',
    rare: true,
  }),
  concurrency: param(z.optional(parsedBy(namedKeys.concurrency.parse)), atOnceText('requests'), {
    placeholder: 'N',
    group: 'safety',
    rare: true,
  }),
  rate: param(
    z.optional(parsedBy(namedKeys.rate.parse)),
    `requests a second (default ${namedKeys.rate.default})`,
    {
      placeholder: 'N/s',
      group: 'safety',
      rare: true,
    },
  ),
  restart: flag('begin anew although the same run is unfinished', { group: 'safety', rare: true }),
  waitLock: param(z.optional(parsedBy(parseDuration)), 'wait so long for another bulk write', {
    placeholder: '10m',
    group: 'safety',
    rare: true,
  }),
  results: param(
    z.optional(z.string().check(z.minLength(1, 'must not be empty'))),
    'a CSV of what became of each row',
    {
      placeholder: 'FILE.csv',
      group: 'output',
      completes: 'file',
      rare: true,
    },
  ),
  exitCode: flag('with --dry-run: exit 12 if something would change', {
    group: 'output',
    rare: true,
  }),
};

/** For what may have been created by the same command line before. */
export const restartCreateFlag = flag(
  'create it even if the same command may have done so already',
  {
    group: 'safety',
    rare: true,
  },
);

/**
 * What a command takes that changes many things, in the order of its help: where its rows come from
 * with the flags of its own that choose and guard them, and how they are sent.
 */
export function manyFlags<Own extends Params>(own: Own) {
  return { ...idsFileFlag, ...csvFlags, ...own, ...allFlags, ...bulkFlags };
}

/** The values of all of them; each command has those that it spreads into its flags. */
export type BulkValues = ValuesOf<typeof bulkFlags> &
  Partial<ValuesOf<typeof idsFileFlag & typeof csvFlags & typeof allFlags>> & {
    readonly ids?: readonly string[];
    readonly [name: string]: unknown;
  };

function parseMapping(text: string): readonly [string, string] {
  const at = text.lastIndexOf('=');
  if (at > 0 && at < text.length - 1) return [text.slice(0, at).trim(), text.slice(at + 1).trim()];
  throw new UsageError('A renamed column is written as THEIRS=OURS.', {
    hint: 'e.g. "Bewerber=id"',
  });
}

/** A command line, parsed. */
export interface Invocation {
  readonly operation: Operation;
  /** ['tryouts', 'set-status'] */
  readonly words: readonly string[];
  readonly values: BulkValues;
  readonly source: Source;
  /** One thing typed on the command line: its lock is the record's own, and it waits for no other run. */
  readonly isSingle: boolean;
  /** How the outcome of one record is shown. */
  readonly view?: View<never> | undefined;
}

/** What is kept of a command line until its run is finished. */
export type KeptJob = {
  readonly job: JsonObject;
  readonly guards: Guards;
};

/** The job of a plan, as `planRun` put it there. */
export function jobOf({ job }: Pick<RunPlan, 'job'>): KeptJob {
  return job as KeptJob;
}

/** What a new run is called and belongs to; `input` is still to be filled in. */
export function headFor(
  context: Context,
  { operation, words, isSingle }: Pick<Invocation, 'operation' | 'words' | 'isSingle'>,
  { job: { route } }: Pick<KeptJob, 'job'>,
): Omit<RunHead, 'rows'> {
  const { addsEachTime, createsRow, of } = operation;
  return {
    format: runFormat,
    version: context.table.version,
    run: newRunName(context.now(), { single: isSingle }),
    action: words.join('.'),
    profile: context.settings.profile.name,
    ...placeOf(context),
    resource: operation.resource,
    input: '',
    startedAt: context.now().toISOString(),
    ...((addsEachTime || createsRow) && { addsEachTime: true }),
    ...(of !== undefined && { of }),
    ...(typeof route === 'string' && { route }),
  };
}

/** Stands for what is asked for, and where; the same command line has the same. */
export function inputDigest(
  { action, profile, service, organization }: Omit<RunHead, 'rows'>,
  operation: Operation,
  { job, guards }: KeptJob,
  ...wanted: readonly unknown[]
): string {
  const same = operation.identity?.(job) ?? job;
  return digestOf([action, profile, service, organization, { job: same, guards }, ...wanted]);
}

/** From here on all requests go as fast as the command line allows, and slow down together after a 429. */
export function limitRate(
  { api, settings }: Context,
  { rate }: Partial<Pick<BulkValues, 'rate'>>,
): void {
  api.limiter.limit({ rate: rate ?? settings.rate });
}

/**
 * The folder of runs; undefined where none can be kept and one update or delete goes on without.
 * Throws ConfigError where a run is needed.
 */
export function storeFor(
  context: Context,
  { operation, isSingle }: Pick<Invocation, 'operation' | 'isSingle'>,
): RunStore | undefined {
  try {
    return openRunStore(context.paths);
  } catch (error) {
    return withoutRun(context, { operation, isSingle }, error);
  }
}

/** Takes the lock of the run, or of the one record; undefined where no run can be kept. */
export async function lockFor(
  context: Context,
  invocation: Pick<Invocation, 'operation' | 'isSingle' | 'values'>,
  store: RunStore,
  head: Omit<RunHead, 'rows'>,
  id: string,
): Promise<HeldLock | undefined> {
  try {
    return await (invocation.isSingle
      ? lockOne(context, invocation, store, head, id)
      : takeLock(context, invocation.values, store, head));
  } catch (error) {
    if (error instanceof OutputError) return withoutRun(context, invocation, error);
    throw error;
  }
}

/** The lock of one record, for the seconds from its read to its result. Throws GuardError `locked`. */
export function lockOne(
  context: Context,
  { values: { waitLock = recordWaitMs } }: Pick<Invocation, 'values'>,
  store: RunStore,
  head: Omit<RunHead, 'rows'>,
  id: string,
): Promise<HeldLock> {
  return lockRecord(store, { ...head, id }, lockOptions(context, head, waitLock));
}

/** What a single write locks: its record, or the command line where there is none to name. */
export function lockedId(operation: Operation, head: Pick<RunHead, 'input'>, id: string): string {
  return operation.createsRow || operation.recovery ? head.input : id;
}

/** The lock that a run's head names: one bulk write of a resource at a time. Throws GuardError `locked`. */
export function takeLock(
  context: Context,
  { waitLock = 0 }: Pick<Partial<BulkValues>, 'waitLock'>,
  store: RunStore,
  head: Omit<RunHead, 'rows'>,
): Promise<HeldLock> {
  return lockRun(store, head, lockOptions(context, head, waitLock));
}

function lockOptions(
  context: Context,
  { run, startedAt }: Pick<RunHead, 'run' | 'startedAt'>,
  waitMs: number,
) {
  const { self, signal } = context;
  return { self, run, startedAt, waitMs, signal, note: (line: string) => context.note(line) };
}

function withoutRun(
  context: Context,
  { operation, isSingle }: Pick<Invocation, 'operation' | 'isSingle'>,
  error: unknown,
): undefined {
  if (!(error instanceof Failure)) throw error;
  if (!isSingle || operation.requiresRun)
    throw error instanceof ConfigError
      ? error
      : new ConfigError(error.message, { cause: error, hint: error.hint });
  context.note(`${error.message} This change cannot be undone later.`);
  return undefined;
}
