/** Checks the fields of `--fields` and `--template` before the only record is written. */
import { resourceRow } from '../api/resources.js';
import type { View } from '../cli/views.js';
import type { Context } from '../context.js';
import type { JsonObject } from '../data/json.js';
import type { Operation, PreviewedRows } from '../engine/operation.js';
import type { LastState } from '../engine/run.js';

/** A write whose only record is shown. */
interface Shown {
  readonly isSingle: boolean;
  readonly operation: Operation;
  readonly view?: View<never> | undefined;
}

/**
 * Checks `--fields` and `--template` while the only record, which will be shown, is unchanged. A record
 * that will be created has the fields that lists on this machine have shown. Throws UsageError.
 */
export async function checkFieldsToShow(
  context: Context,
  { isSingle, operation, view }: Shown,
  { tasks: [task], record }: PreviewedRows & LastState,
): Promise<void> {
  const { settings } = context;
  const isShown = isSingle && !operation.reports && !settings.dryRun;
  const isChosen = (settings.fields ?? settings.template) !== undefined;
  if (!isShown || !isChosen || view?.resource === undefined) return;
  const fields = record ? undefined : await listedFields(context, operation);
  if (!record && !fields) return;
  const values = (task?.previewed ?? []).map(({ field, to }) => [field, to] as const);
  const { checkRecordFields } = await import('../cli/chosen-fields.js');
  const { chosenFields } = await import('../cli/lists/template.js');
  const chosen = chosenFields(settings);
  // Lists tell which fields there are, and not what is in them.
  const checked = fields ? chosen.map((field) => field.split('.', 1)[0] ?? field) : chosen;
  checkRecordFields(checked, view, { ...record, ...fields }, Object.fromEntries(values));
}

/** The fields of a resource that lists have shown, where a created record is read again; undefined if there are none. */
async function listedFields(
  context: Context,
  { resource, verb }: Operation,
): Promise<JsonObject | undefined> {
  const { paths, settings } = context;
  if (verb !== 'create' || !resourceRow(resource).calls.get || !settings.completionCache)
    return undefined;
  const cache = await import('../config/completion-cache.js');
  const file = cache.completionCacheFile(paths, cache.cachePlaceOf(context));
  const { fields } = cache.recall(file, resource, paths.owner);
  if (fields.length === 0) return undefined;
  return Object.fromEntries(fields.map((field) => [field, null]));
}
