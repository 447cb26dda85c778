/** `--fields`: records reduced to the chosen fields. */
import { type Batches, batchesOf, type RecordStream, recordStream } from '../data/batches.js';
import type { JsonObject } from '../data/json.js';
import { didYouMean } from '../data/nearest.js';
import { flatten, hasPath, valueAt } from '../data/path.js';
import { UsageError } from '../errors.js';
import { singleLine } from '../terminal/safe-text.js';
import { fieldByLabel } from './lists/labels.js';
import { documentedFields, isDocumented, recordFields } from './record-fields.js';
import type { View } from './views.js';
import { asRecord, type Rows } from './writers.js';

type Shape = Pick<View<never>, 'resource' | 'columns' | 'rowFields' | 'listed'>;

/**
 * Returns the records with only the fields of `--fields`, in that order, keyed as typed; a field that
 * was named by its label is keyed by its name, unless `keepsLabels` is set. A missing field is null.
 * Records are held back until every field is known, so that a misspelt one prints nothing. Throws
 * UsageError for a field that neither the contract nor any record has, or passes it to
 * `onUnknownField`, with which a report of changes is printed nevertheless.
 */
export function chooseFields(
  rows: Rows,
  fields: readonly string[],
  view: Shape,
  options: Choosing,
): ChosenRecords {
  let names = fields;
  const onNames = (named: readonly string[]) => (names = named);
  const stream = recordStream(() => select(batchesOf(rows), fields, view, options, onNames));
  return { ...stream, names: () => names };
}

interface ChosenRecords extends RecordStream<JsonObject> {
  /** The fields by their names, once the first record has arrived or the last is read. */
  readonly names: () => readonly string[];
}

interface Choosing {
  readonly onUnknownField?: ((error: UsageError) => void) | undefined;
  readonly keepsLabels?: boolean;
}

/** Throws UsageError for a field of `--fields` that these rows cannot have. */
export function checkRowFields(fields: readonly string[] | undefined, view: Shape): void {
  const missing = (fields ?? []).filter((field) => !isKnown(field, view));
  if (missing.length > 0) throw unknownField(missing, [], view);
}

/**
 * Throws UsageError for a chosen field that neither the contract nor a record has, before the record is
 * changed; `values`: what it will hold then.
 */
export function checkRecordFields(
  fields: readonly string[],
  view: Shape,
  record: JsonObject,
  values: JsonObject,
): void {
  const seen = { ...record, ...values };
  const missing = fields.filter((field) => !isKnown(field, view) && !hasPath(seen, field));
  const labels = labelledIn(missing, [seen], view);
  const unknown = missing.filter((field) => !labels.has(field));
  if (unknown.length > 0) throw unknownField(unknown, [seen], view);
}

async function* select(
  rows: Batches<unknown>,
  fields: readonly string[],
  view: Shape,
  { onUnknownField, keepsLabels }: Choosing,
  onNames: (names: readonly string[]) => void,
): Batches<JsonObject> {
  let missing = fields.filter((field) => !isKnown(field, view));
  let buffered: JsonObject[] = [];
  for await (const batch of rows) {
    for (const row of batch) {
      const record = asRecord(row);
      buffered.push(record);
      if (missing.length > 0) missing = missing.filter((field) => !hasPath(record, field));
    }
    missing = missing.filter((field) => !isKnown(field, view));
    if (missing.length > 0) continue;
    yield buffered.map((record) => pick(record, fields));
    buffered = [];
  }
  missing = missing.filter((field) => !isKnown(field, view));
  if (missing.length === 0) {
    if (buffered.length > 0) yield buffered.map((record) => pick(record, fields));
    return;
  }
  const read = [...buffered, ...(view.listed?.first ?? [])];
  const labels = labelledIn(missing, read, view);
  const named = fields.map((field) => labels.get(field) ?? field);
  onNames(named);
  // An empty list proves nothing about fields that the contract does not name.
  if (read.length === 0 && !view.columns && !view.rowFields) return;
  missing = missing.filter((field) => !labels.has(field));
  if (missing.length === 0) {
    yield buffered.map((record) => pick(record, named, keepsLabels ? fields : named));
    return;
  }
  const error = unknownField(missing, read, view);
  if (!onUnknownField) throw error;
  onUnknownField(error);
  yield buffered.map((record) => pick(record, fields));
}

/** Returns the fields that were named by their label, by the label as typed. */
function labelledIn(
  labels: readonly string[],
  records: readonly JsonObject[],
  { resource, columns = [], rowFields = [] }: Shape,
): ReadonlyMap<string, string> {
  const names = new Set([...columns, ...rowFields, ...(resource ? recordFields(resource) : [])]);
  for (const record of records) for (const name of Object.keys(record)) names.add(name);
  return new Map(
    labels.flatMap((label) => {
      const name = fieldByLabel(label, names);
      return name === undefined ? [] : [[label, name] as const];
    }),
  );
}

function pick(
  record: JsonObject,
  fields: readonly string[],
  keys: readonly string[] = fields,
): JsonObject {
  // fromEntries defines keys: a field called `__proto__` stays a field.
  return Object.fromEntries(
    fields.map((field, index) => [keys[index] ?? field, valueAt(record, field) ?? null]),
  );
}

function isKnown(field: string, { resource, columns, rowFields, listed }: Shape): boolean {
  if (listed?.seen.has(field)) return true;
  if (rowFields?.includes(field.split('.', 1)[0] ?? '')) return true;
  return columns?.includes(field) || (resource !== undefined && isDocumented(resource, field));
}

/** A longer list of names helps nobody. */
const maxNames = 40;

function unknownField(
  missing: readonly string[],
  records: readonly JsonObject[],
  { resource, columns, rowFields }: Shape,
): UsageError {
  const observed = records
    .slice(0, 50)
    .flatMap((record) => [...Object.keys(record), ...flatten(record).keys()]);
  const known = [
    ...new Set([
      ...(rowFields ?? []),
      ...(columns ?? []),
      ...(resource ? documentedFields(resource) : []),
      ...observed,
    ]),
  ];
  const [field = ''] = missing;
  const more = known.length > maxNames ? `, and ${known.length - maxNames} more` : '';
  return new UsageError(`Unknown field "${field}".${didYouMean(field, known)}`, {
    hint: `Known fields: ${known.slice(0, maxNames).map(singleLine).join(', ')}${more}`,
  });
}
