/** `--since-last` on a list of records: what is new, oldest first. */
import { hasId } from '../api/records.js';
import type { Completeness } from '../api/types.js';
import type { ValueWithExit } from '../cli/command-output.js';
import type { ListValues, SinceLastValues } from '../cli/filters.js';
import { type FilteredList, filterList } from '../cli/lists/filter-list.js';
import { ListedFields } from '../cli/lists/listed-fields.js';
import { fieldOf } from '../cli/record-fields.js';
import type { TypedLine } from '../cli/typed-line.js';
import type { CountedList } from '../cli/views.js';
import type { Context } from '../context.js';
import { batchesOf, collect, recordStream } from '../data/batches.js';
import { timeOf } from '../data/dates.js';
import type { JsonObject } from '../data/json.js';
import { plainText, valueAt } from '../data/path.js';
import { incompleteList, type ResourceName, resourceWords } from '../data/resources.js';
import { ageField, orderByField } from '../data/sorting.js';
import { countOf, groupedNumber } from '../data/text.js';
import type { RecordTest } from '../data/where.js';
import { GuardError, UsageError, withShapes } from '../errors.js';
import { type Cursor, openCursor, typedFilter } from './cursor.js';

interface CursorList {
  readonly resource: ResourceName;
  readonly tests: readonly RecordTest[];
}

/**
 * Returns the records that are new since the cursor of `--since-last` was committed, oldest first; the
 * whole list is read before the first is returned. Throws what `openCursor` throws before any request;
 * GuardError (`incomplete`, 11) if the list may be incomplete, UsageError for a watched field that no
 * record has.
 */
export async function listSinceLast(
  context: Context,
  values: ListValues & SinceLastValues & { readonly sinceLast: string },
  line: TypedLine,
  { resource, tests }: CursorList,
): Promise<ValueWithExit<FilteredList>> {
  const { sinceLast: name, changed, initial, peek, exitCode } = values;
  const { noun, plural } = resourceWords[resource];
  const filter = typedFilter(line);
  const use = { name, resource, filter, changed, initial, peek, noun, plural };
  const cursor = await openCursor(context, use);
  try {
    const list = await newRecords(context, values, cursor, { resource, tests });
    return cursor.output(list, { exitCode });
  } catch (error) {
    cursor.close();
    throw error;
  }
}

async function newRecords(
  context: Context,
  values: ListValues & SinceLastValues,
  cursor: Cursor,
  { resource, tests }: CursorList,
): Promise<FilteredList> {
  const { changed } = values;
  // Without the service's own filter: only the whole list tells which records are gone.
  const all = context.api.list(resource, {}, { checksCompleteness: true });
  const listed = new Set<string>();
  const fields = new ListedFields(context.settings, resource);
  const field = ageField(resource);
  // The times that the first use after `cursors reset --at` asked for.
  const times: (number | undefined)[] = [];
  const observed = recordStream(async function* () {
    for await (const batch of batchesOf(all)) {
      for (const record of batch) {
        if (!hasId(record)) throw withoutId(resource);
        listed.add(plainText(record['id']));
        fields.observe(record);
      }
      yield batch;
    }
  });
  const filtered = filterList(observed, values, {
    resource,
    tests,
    notes: context,
    order: orderByField({ field, descending: false }),
    last: (nameOf) => ({
      holds: (record) =>
        cursor.isNew({
          id: plainText(record['id']),
          watched: changed === undefined ? undefined : watchedIn(record, nameOf(changed)),
          time() {
            times.push(timeOf(record[field]));
            return times.at(-1);
          },
        }),
      ...(changed === undefined ? {} : fieldOf(changed, resource)),
    }),
  });
  const records = await collect(filtered);
  const { matched } = filtered.counts;
  refuseIncomplete(all.completeness(), resource);
  if (times.length > 0 && times.every((time) => time === undefined)) throw withoutTime(resource);
  cursor.stage(
    records.map((record) => plainText(record['id'])),
    (id) => listed.has(id),
  );
  if (records.length < matched)
    context.note(
      `The oldest ${groupedNumber(records.length)} of ${countOf(matched, resource, 'new ')}; the others come next time.`,
    );
  const counts = { read: listed.size, matched: records.length, shown: records.length };
  const stream = recordStream(() => batchesOf(records));
  return {
    ...stream,
    resource,
    counts,
    listed: fields,
    summary: newRecordsSummary(cursor, values.sinceLast ?? ''),
  };
}

/** A list that may lack records would leave their news unseen, and forget those that it lacks. */
function refuseIncomplete(completeness: Completeness, resource: ResourceName): void {
  if (completeness.state === 'complete') return;
  throw new GuardError(`${incompleteList(resource, completeness.reason)} Nothing was printed.`, {
    code: 'incomplete',
    hint: withShapes(completeness.fixes),
  });
}

function newRecordsSummary({ isFirst }: Cursor, name: string): CountedList['summary'] {
  const text = isFirst
    ? 'Nothing to list yet.'
    : `Nothing is new since the last run with --since-last ${name}.`;
  return {
    sharedWord: () => ({ word: 'new', isWhole: true }),
    none: () => ({ text, isUnknown: false }),
  };
}

/** The watched value; one that is missing is not the same as one that is null. */
function watchedIn(record: JsonObject, field: string): unknown {
  const value = valueAt(record, field);
  return value === undefined ? [] : [value];
}

function withoutId(resource: ResourceName): UsageError {
  return new UsageError(
    `A record in the list of ${resourceWords[resource].plural} has no id, so rosterctl cannot tell which records are new.`,
    { hint: `Name the field that identifies it: rosterctl config set ids.${resource} FIELD` },
  );
}

function withoutTime(resource: ResourceName): UsageError {
  const { plural: many } = resourceWords[resource];
  return new UsageError(`No record in the list of ${many} has a time in ${ageField(resource)}.`, {
    hint: `--at needs one. To start with what is new from now on: rosterctl cursors reset ${resource}/NAME`,
  });
}
