import type { ReportRow } from '../bulk/report.js';
import { isHere } from '../bulk/run-plan.js';
import { endOf, listRuns, storeOf, type StoredRun } from '../bulk/runs.js';
import { isNotVerified, uploadAction } from '../bulk/upload-state.js';
import type { Context } from '../context.js';
import { isObject, type JsonObject } from '../data/json.js';
import { ConfigError } from '../errors.js';

/** A service that counts whole seconds says that a document was made before it was asked for. */
export const wholeSecond = 1000;

/** An upload that may have made a document and does not say which. */
export interface OpenUpload {
  /** What the record of its document says; undefined where that is not kept. */
  readonly body: JsonObject | undefined;
  /** Before that it had asked for nothing, in milliseconds since 1970. */
  readonly since: number;
}

/** What the journals tell of the documents of other files. */
export interface OtherUploads {
  /** The documents that they made. */
  readonly ids: ReadonlySet<string>;
  readonly open: readonly OpenUpload[];
}

/** Reads of all uploads but that of this key what they may have made since then. Throws OutputError. */
export async function otherUploads(
  context: Context,
  fileKey: unknown,
  since: number,
): Promise<OtherUploads> {
  const ids = new Set<string>();
  const open: OpenUpload[] = [];
  for (const run of await runsSince(context, since)) {
    for (const row of new Set([...run.state.results.keys(), ...run.state.open.keys()])) {
      if (run.state.steps.get(row)?.['fileKey'] === fileKey) continue;
      const result = run.state.results.get(row);
      const made = result?.after?.['id'];
      if (typeof made === 'string') ids.add(made);
      else if (run.state.open.has(row) || mayHaveMade(result))
        open.push({ body: bodyOf(run, row), since: Date.parse(run.head.startedAt) });
    }
  }
  return { ids, open };
}

async function runsSince(context: Context, since: number): Promise<readonly StoredRun[]> {
  const store = storeOrNone(context);
  if (!store) return [];
  const runs = await listRuns(store, undefined, async (run) => {
    const end = await endOf(store, run);
    return end === undefined || end.t >= since - wholeSecond;
  });
  return runs.filter((run) => run.head.action === uploadAction && isHere(context, run));
}

function storeOrNone(context: Context) {
  try {
    return storeOf(context);
  } catch (error) {
    if (error instanceof ConfigError) return undefined;
    throw error;
  }
}

/** Its document was made, and nobody said under which id. */
function mayHaveMade(result: ReportRow | undefined): boolean {
  return result?.result === 'changed' || isNotVerified(result?.error);
}

function bodyOf({ plan }: StoredRun, row: number): JsonObject | undefined {
  const own = plan?.rows.find((planned) => planned.row === row)?.own;
  if (!plan || !own) return undefined;
  const { job } = plan.job;
  const name = isObject(job) && typeof job['name'] === 'string' ? job['name'] : own['name'];
  return { ...own, name };
}
