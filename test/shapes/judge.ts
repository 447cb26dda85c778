/** The oracle: judges what a command printed and did by the books of the service, not by its words. */
import { type ResourceName, resourceNames } from '../../src/data/resources.js';
import type { StoredRecord } from '../../src/sandbox/records.js';
import type { Books, Outcome } from './cell.js';

/**
 * `right`: what was asked, exit 0. `warned`: less, and stderr says so. `refused`: another exit, and
 * nothing that was told as done is undone. `wrong`: anything else.
 */
export type Verdict = 'right' | 'warned' | 'refused' | 'wrong';

export interface Judged {
  readonly verdict: Verdict;
  readonly why: string;
}

/** What a command has to do; returns what is missing of it, or undefined. */
export type Check = (outcome: Outcome) => string | undefined | Promise<string | undefined>;

export interface Task {
  /** What is missing of what was asked, as the books tell. */
  readonly missing: Check;
  /** What an exit other than 0 must not have left behind. */
  readonly harm?: Check;
  /** Whether a part with a warning will do: true for reads of a list. */
  readonly mayBePart?: boolean;
  /** The exit codes that are the right answer, where 0 is not. */
  readonly exits?: readonly number[];
  /** The most requests that it may take: reads of the API, and writes. */
  readonly due: (outcome: Outcome) => { readonly reads: number; readonly writes: number };
}

/** Judges one cell. */
export async function judge(task: Task, outcome: Outcome): Promise<Judged> {
  const trouble = crashOf(outcome) ?? leakOf(outcome) ?? tooManyOf(task, outcome);
  if (trouble !== undefined) return { verdict: 'wrong', why: trouble };
  const { code } = outcome.ran;
  const { exits = [0] } = task;
  if (code !== 0 && !exits.includes(code ?? -1)) {
    const harm = await task.harm?.(outcome);
    return harm === undefined
      ? { verdict: 'refused', why: `exit ${code}` }
      : { verdict: 'wrong', why: `exit ${code}, but ${harm}` };
  }
  if (code === 0 && !exits.includes(0)) return { verdict: 'wrong', why: 'exit 0' };
  const missing = await task.missing(outcome);
  if (missing === undefined) return { verdict: 'right', why: warningOf(outcome) };
  const warning = warningOf(outcome);
  // An answer that shows no list is an empty one, with a note: there is nothing to write to.
  const isTakenEmpty = /treated as empty/.test(warning) && touched(outcome) === undefined;
  if (isTakenEmpty) return { verdict: 'warned', why: `${missing}; ${warning}` };
  if (task.mayBePart && warning !== '') return { verdict: 'warned', why: `${missing}; ${warning}` };
  return { verdict: 'wrong', why: warning === '' ? missing : `${missing}; said: ${warning}` };
}

/** What stderr says about an incomplete list or a record that was not checked; empty for nothing. */
function warningOf({ ran }: Outcome): string {
  const lines = ran.stderr.split('\n');
  return (
    lines.find((line) =>
      /may be incomplete|not checked|no record|treated as empty|service (also )?(said|says)|: missing$/i.test(
        line,
      ),
    ) ?? ''
  );
}

function crashOf({ ran }: Outcome): string | undefined {
  if (ran.code === null || ran.signal !== null) return `ended by ${ran.signal}`;
  if (/"code":"bug"/.test(ran.stderr) || /\n {4}at \S+/.test(ran.stderr))
    return `crash: ${ran.stderr.slice(0, 300)}`;
  return undefined;
}

function leakOf({ requests }: Outcome): string | undefined {
  const leak = requests.find(({ server, hasKey }) => server !== 'api' && hasKey);
  return leak && `the key went to the ${leak.server}: ${leak.method} ${leak.url}`;
}

function tooManyOf(task: Task, outcome: Outcome): string | undefined {
  const due = task.due(outcome);
  const sent = outcome.requests.filter(({ server }) => server === 'api');
  const reads = sent.filter(({ method }) => method === 'GET').length;
  const writes = sent.length - reads;
  if (reads <= due.reads && writes <= due.writes) return undefined;
  return `${reads} reads and ${writes} writes, due are ${due.reads} and ${due.writes}`;
}

/** The requests that a whole list takes, with one more to find that it has ended. */
export function pagesOf({ shape, before }: Outcome, resource: ResourceName): number {
  const { size } = before[resource];
  const page = shape.pages?.[resource];
  return (page === undefined ? 2 : Math.ceil(size / page) + 1) + (shape.extraReads ?? 0);
}

/** How the id of a record reads in this shape. */
export function idIn({ shape }: Pick<Outcome, 'shape'>, record: StoredRecord): string {
  return shape.idOf?.(record) ?? record.id;
}

/** Names the records by which two sets of ids differ. */
export function differing(got: readonly string[], wanted: readonly string[]): string | undefined {
  const lacks = wanted.filter((id) => !got.includes(id));
  const extra = got.filter((id) => !wanted.includes(id));
  const twice = got.length - new Set(got).size;
  if (lacks.length + extra.length + twice === 0) return undefined;
  const parts = [
    lacks.length > 0
      ? `${lacks.length} of ${wanted.length} lacking (${lacks.slice(0, 2).join(', ')})`
      : '',
    extra.length > 0 ? `${extra.length} too many (${extra.slice(0, 2).join(', ')})` : '',
    twice > 0 ? `${twice} twice` : '',
  ];
  return parts.filter((part) => part !== '').join(', ');
}

/** The ids of records that differ before and after, new and lost ones included. */
export function changedIn(before: Books, after: Books, resource: ResourceName): readonly string[] {
  const ids = new Set([...before[resource].keys(), ...after[resource].keys()]);
  return [...ids].filter((id) => before[resource].get(id) !== after[resource].get(id));
}

/** Says so if any record of any resource was touched. */
export const touched = ({ before, after }: Outcome): string | undefined => {
  const all = resourceNames.flatMap((name) => changedIn(before, after, name));
  return all.length === 0
    ? undefined
    : `${all.length} records were touched (${all.slice(0, 2).join(', ')})`;
};
