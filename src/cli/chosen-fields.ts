import { type Batches, batchesOf, type RecordStream, recordStream } from '../data/batches.js';
import { type JsonObject } from '../data/json.js';
import { didYouMean } from '../data/nearest.js';
import { flatten, hasPath, valueAt } from '../data/path.js';
import { UsageError } from '../errors.js';
import { singleLine } from '../terminal/safe-text.js';
import { documentedFields, isDocumented } from './record-fields.js';
import type { View } from './views.js';
import { asRecord, type Rows } from './writers.js';

type Shape = Pick<View<never>, 'resource' | 'columns' | 'rowFields'>;

/**
 * The records with the fields of `--fields` only, in that order, keyed as typed; what a record lacks
 * is null. Records are held back until every field is known, so that a misspelt one prints nothing.
 * Throws UsageError for a field that neither the contract nor any record has, or hands it to `told`:
 * what was done already is shown all the same.
 */
export function chooseFields(
  rows: Rows,
  fields: readonly string[],
  view: Shape,
  told?: (error: UsageError) => void,
): RecordStream<JsonObject> {
  return recordStream(() => chosen(batchesOf(rows), fields, view, told));
}

/** Whether a field of `--fields` can be one of these rows. Throws UsageError where not. */
export function checkRowFields(fields: readonly string[] | undefined, view: Shape): void {
  const missing = (fields ?? []).filter((field) => !isKnown(field, view));
  if (missing.length > 0) throw unknownField(missing, [], view);
}

async function* chosen(
  rows: Batches<unknown>,
  fields: readonly string[],
  view: Shape,
  told: ((error: UsageError) => void) | undefined,
): Batches<JsonObject> {
  let missing = fields.filter((field) => !isKnown(field, view));
  let held: JsonObject[] = [];
  let empty = true;
  for await (const batch of rows) {
    for (const { value } of batch) {
      const record = asRecord(value);
      held.push(record);
      if (missing.length > 0) missing = missing.filter((field) => !hasPath(record, field));
    }
    empty &&= held.length === 0;
    if (missing.length > 0) continue;
    yield held.map((record) => ({ value: choose(record, fields) }));
    held = [];
  }
  // An empty list shows nothing about the fields that the contract does not name.
  if (missing.length === 0 || (empty && !view.columns)) return;
  const error = unknownField(missing, held, view);
  if (!told) throw error;
  told(error);
  yield held.map((record) => ({ value: choose(record, fields) }));
}

function choose(record: JsonObject, fields: readonly string[]): JsonObject {
  // fromEntries defines keys: a field called `__proto__` stays a field.
  return Object.fromEntries(fields.map((field) => [field, valueAt(record, field) ?? null]));
}

function isKnown(field: string, { resource, columns, rowFields }: Shape): boolean {
  if (rowFields?.includes(field.split('.', 1)[0] ?? '')) return true;
  return columns?.includes(field) || (resource !== undefined && isDocumented(resource, field));
}

/** More names than this tell nobody anything. */
const mostNames = 40;

function unknownField(
  missing: readonly string[],
  records: readonly JsonObject[],
  { resource, columns, rowFields }: Shape,
): UsageError {
  const seen = records
    .slice(0, 50)
    .flatMap((record) => [...Object.keys(record), ...flatten(record).keys()]);
  const known = [
    ...new Set([
      ...(rowFields ?? []),
      ...(columns ?? []),
      ...(resource ? documentedFields(resource) : []),
      ...seen,
    ]),
  ];
  const [field = ''] = missing;
  const more = known.length > mostNames ? `, and ${known.length - mostNames} more` : '';
  return new UsageError(`There is no field "${field}".${didYouMean(field, known)}`, {
    hint: `Known fields: ${known.slice(0, mostNames).map(singleLine).join(', ')}${more}`,
  });
}
