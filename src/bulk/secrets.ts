/** Secrets in the values of a change: what a run or a plan file must not keep. */
import type { Context } from '../context.js';
import { someText } from '../data/json.js';
import { holdsSignedUrl, mayHoldSignature } from '../data/signed-urls.js';
import type { Task } from '../engine/operation.js';
import { UsageError } from '../errors.js';
import { hashOf } from '../runs/journal.js';
import type { RunPlan } from '../runs/plan.js';
import type { PlanContent } from '../runs/plan-file.js';
import type { SelectedRow } from '../runs/report.js';
import type { Invocation } from './invocation.js';
import type { Preview } from './preview.js';

/** Refuses the API key as a value, which a run would keep on disk. Throws UsageError. */
export function requireNoKey(
  { api }: Context,
  { job, guards }: Invocation,
  rows: readonly SelectedRow[],
): void {
  const isKey = (text: string) => api.isKey(text);
  const holdsKey = ({ own, ref = '' }: SelectedRow) => isKey(ref) || someText(own, isKey);
  if (someText([job, guards], isKey) || rows.some(holdsKey))
    throw new UsageError(
      'A value of this command holds the API key, and a run keeps its values on disk. Nothing was sent.',
      { hint: 'Leave that value out.' },
    );
}

/** The names and rows of a plan, without texts that hold the API key or the query of a URL. */
export function redactedRows(
  { api }: Context,
  rows: readonly Task[],
  { tasks, names = new Map() }: Pick<Preview, 'tasks' | 'names'>,
  { isRun }: { readonly isRun: boolean },
): Pick<RunPlan, 'names' | 'rows'> {
  const isSecret = (text: string) => api.isKey(text) || mayHoldSignature(text);
  let next = 0;
  return {
    names: new Map([...names].filter(([, name]) => !isSecret(name))),
    // Reuses the task objects, which are in the same order, to avoid a second copy of 200,000 rows.
    rows: rows.map(({ row, id, ref, own }) => {
      const task = tasks[next];
      if (task?.row !== row) return { row, id, ref, own };
      next += 1;
      const { previewed } = task;
      if (!previewed?.some(({ from }) => someText(from, isSecret))) return task;
      const hashed = previewed.map((change) => {
        if (!someText(change.from, isSecret)) return change;
        // A run reads again what it appends a line to; a plan file refuses the secret.
        const to = isRun && change.adds !== undefined ? hashOf(change.to) : change.to;
        return { ...change, from: hashOf(change.from), to };
      });
      return { ...task, previewed: hashed };
    }),
  };
}

/** Refuses to write the key or a signed URL where other people read it. Throws UsageError. */
export function requireNoSecret(content: PlanContent, isKey: (text: string) => boolean): void {
  const has = (is: (text: string) => boolean) => someText(content, is);
  const secret = has(isKey) ? 'the API key' : has(holdsSignedUrl) ? 'a signed URL' : undefined;
  if (secret !== undefined)
    throw new UsageError(
      `The plan would hold ${secret}, which others could read. No plan was written.`,
      { hint: 'Leave that value out, or make the change without --plan.' },
    );
}
