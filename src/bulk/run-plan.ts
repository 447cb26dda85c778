import { createHash, hash } from 'node:crypto';
import { statSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Context } from '../context.js';
import { isObject, type JsonObject, parseJson, printJson } from '../data/json.js';
import { systemReason } from '../data/system-reason.js';
import { GuardError, OutputError } from '../errors.js';
import { openAtomic } from '../files/atomic-write.js';
import type { RowChange } from './work.js';

/** What a run is, without its rows and without anything secret: the journal's first record. */
export type RunHead = {
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
  /** One thing beside which others of its resource may go on: a single upload. */
  readonly alone?: boolean;
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
      head: top['head'] as RunHead,
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
  const { seq: _, kind: __, t: ___, ...head } = record;
  return head as RunHead;
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

/** Removes what going on with a run, or retrying its rows, would need. */
export async function dropPlan(folder: string): Promise<void> {
  await rm(pathIn(folder), { force: true });
}

function pathIn(folder: string): string {
  return join(folder, 'plan.jsonl');
}
