/** The plan of a run: what it is, what is wanted of its rows, and which formats this version continues. */
import { createHash, hash } from 'node:crypto';
import { statSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Context } from '../context.js';
import { isObject, type JsonObject, parseJson, printJson } from '../data/json.js';
import { systemReason } from '../data/system-errors.js';
import { GuardError, OutputError } from '../errors.js';
import { openAtomic } from '../files/atomic-write.js';
import { countsAsError, type ReportRow, type RowChange } from './report.js';

/** What a run is, without its rows and without anything secret: the journal's first record. */
export type RunHead = {
  /** Of the run's files; see `runFormat`. */
  readonly format: number;
  /** Of the program that wrote them. */
  readonly version: string;
  readonly run: string;
  /** `tryouts.set-status` */
  readonly action: string;
  readonly profile: string;
  readonly organization: string;
  /** scheme://host:port and the path of the base URL. */
  readonly service: string;
  readonly resource: string;
  /** SHA-256 of what was asked for; the same line has the same. */
  readonly input: string;
  readonly rows: number;
  readonly startedAt: string;
  /**
   * The same command typed again makes things again (an upload, a create): the run stays in `open/`
   * until its report was printed, so that a killed process is not repeated.
   */
  readonly addsEachTime?: boolean;
  /** The run that it takes back. */
  readonly of?: string;
  /** The route given with `--route`, by which `runs undo` goes back as well. */
  readonly route?: string;
};

/** What a run belongs to. */
export type Place = Pick<RunHead, 'organization' | 'service'>;

/** The one in force. */
export function placeOf({ api }: Pick<Context, 'api'>): Place {
  return { organization: api.organizationId, service: api.service };
}

/** Whether a run is of the organization and service in force. */
export function isHere(context: Pick<Context, 'api'>, { head }: { readonly head: Place }): boolean {
  return isSamePlace(head, placeOf(context));
}

/** Whether both are of one organization at one service, whatever the profiles are called. */
export function isSamePlace(a: Place, b: Place): boolean {
  return a.organization === b.organization && a.service === b.service;
}

/** One row of a plan: what is wanted and what the preview saw. */
export interface PlannedRow {
  readonly row: number;
  readonly id: string;
  readonly own?: JsonObject | undefined;
  readonly previewed?: readonly RowChange[] | undefined;
}

/** What going on with a run needs. */
export interface RunPlan {
  readonly head: RunHead;
  readonly job: JsonObject;
  readonly rows: readonly PlannedRow[];
}

/** Rows written at a time. */
const chunk = 2_000;

/** Puts a plan on disk, whole or not at all, with a checksum of it as its last line. Throws OutputError. */
export async function writePlan(folder: string, { head, job, rows }: RunPlan): Promise<void> {
  const file = await openAtomic(pathIn(folder));
  const sum = createHash('sha256');
  const write = (text: string) => {
    sum.update(text);
    return file.write(text);
  };
  try {
    await write(`${printJson({ head, job })}\n`);
    for (let at = 0; at < rows.length; at += chunk)
      await write(
        rows
          .slice(at, at + chunk)
          .map(({ row, id, own, previewed }) => `${printJson({ row, id, own, previewed })}\n`)
          .join(''),
      );
    await file.write(`${sum.digest('hex')}\n`);
    await file.commit();
  } finally {
    await file.discard();
  }
}

/**
 * The plan of a run's folder, undefined where there is none. Throws GuardError when it is damaged,
 * OutputError when it cannot be read.
 */
export async function readPlan(folder: string): Promise<RunPlan | undefined> {
  const path = pathIn(folder);
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw new OutputError(`The plan ${path} cannot be read: ${systemReason(error)}.`, {
      hint: 'Nothing of this run is done again before it can be read: mend its files or their modes.',
      cause: error,
    });
  });
  if (text === undefined) return undefined;
  try {
    const end = text.lastIndexOf('\n', text.length - 2) + 1;
    const body = text.slice(0, end);
    // A plan that was cut or edited says something else than what was confirmed.
    if (hash('sha256', body, 'hex') !== text.slice(end).trimEnd())
      throw new SyntaxError('another checksum');
    const [first = '', ...lines] = body.trimEnd().split('\n');
    const top = parseJson(first);
    if (!isObject(top)) throw new SyntaxError('no head');
    return {
      head: withFormat(top['head'] as RunHead),
      job: top['job'] as JsonObject,
      rows: lines.map((line) => parseJson(line) as PlannedRow),
    };
  } catch (error) {
    throw new GuardError(`The plan ${path} is damaged.`, {
      code: 'damaged',
      hint: 'Look at the records by hand.',
      cause: error,
    });
  }
}

/** What a run is, by its journal's first record. */
export function headOf(record: JsonObject | undefined): RunHead | undefined {
  if (!record || record['kind'] !== 'job') return undefined;
  const { seq: _, kind: __, t: ___, holder: ____, ...head } = record;
  return withFormat(head as RunHead);
}

/** Version 0.1.0 wrote neither number. */
function withFormat(head: RunHead): RunHead {
  return { ...head, format: head.format ?? 0, version: head.version ?? '0.1.0' };
}

/** Whether a run's folder has a plan, readable or not; where nobody can tell, it may have one. */
export function hasPlan(folder: string): boolean {
  try {
    statSync(pathIn(folder));
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ENOENT';
  }
}

/** Shortens the plan of an ended run to the rows that `runs retry` can begin from. Throws OutputError. */
export async function shortenPlan(
  folder: string,
  plan: RunPlan,
  results: Iterable<ReportRow>,
): Promise<void> {
  const bad = new Set<number>();
  for (const { row, result } of results) if (countsAsError(result)) bad.add(row);
  const rows = plan.rows.filter(({ row }) => bad.has(row));
  if (rows.length === 0) await dropPlan(folder);
  else await writePlan(folder, { ...plan, rows });
}

/** Removes what going on with a run, or retrying its rows, would need. */
async function dropPlan(folder: string): Promise<void> {
  await rm(pathIn(folder), { force: true });
}

function pathIn(folder: string): string {
  return join(folder, 'plan.jsonl');
}

/** The number that plans and journals of this version carry; those of 0.1.0 carry none, which is 0. */
export const runFormat = 1;

/** Guards that this version judges a row by. */
const knownGuards = ['ifStatus', 'conditions'];

/** What is kept of a run; the plan is absent once it is finished. */
interface Kept {
  readonly head: RunHead;
  readonly plan: RunPlan | undefined;
}

/** Whether this version continues such a run; any run can be listed and shown. */
function isContinuable({ head, plan }: Kept): boolean {
  const guards = plan?.job['guards'];
  const areKnown =
    !isObject(guards) || Object.keys(guards).every((name) => knownGuards.includes(name));
  return head.format === runFormat && areKnown;
}

/** Throws GuardError (exit 11) for a run that another version wrote in another format, or with a guard that this one lacks. */
export function requireContinuable(stored: Kept): void {
  if (isContinuable(stored)) return;
  const { head } = stored;
  throw new GuardError(
    `Run ${head.run} was written by version ${head.version}, in a format that this version does not continue. Nothing was sent.`,
    {
      code: 'runFormat',
      hint: `Start over: run the same command with --restart. Or delete the run: rosterctl runs prune ${head.run}`,
    },
  );
}
