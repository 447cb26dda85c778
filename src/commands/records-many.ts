import type { BulkPart } from '../cli/bulk-part.js';
import { fieldNames } from '../cli/documented.js';
import type { FieldValues, TypedFields } from '../cli/field-flags.js';
import { touchedFields, touchedNames } from '../cli/field-flags.js';
import { listFlags } from '../cli/filters.js';
import type { Context } from '../context.js';
import { readFieldWord } from '../data/assign.js';
import type { JsonObject } from '../data/json.js';
import { isGoneForSure } from '../errors.js';
import { endpoint } from '../api/contract.js';
import { cellFieldNames, cellFields } from '../bulk/cell-values.js';
import type { Column, ColumnRules } from '../bulk/csv-columns.js';
import type { SelectedRow } from '../bulk/work.js';
import type { Kind } from './kinds.js';
import { sharedSource } from './read-records.js';
import { sendUpdate, updatePlan } from './update-records.js';
import { deletePlan, sendGuessed } from './write-records.js';

/** The filters of every list, as a selection; the rarer flags are shown by --help alone. */
export const listSelectionFlags = {
  ...listFlags,
  search: { ...listFlags.search, rare: true },
  sort: { ...listFlags.sort, rare: true },
  limit: { ...listFlags.limit, rare: true },
};

type Filters = NonNullable<BulkPart['filters']>;

/** The filters of a list command as a selection: the two that all have, and those of its own. */
export function selectionBy(
  own: Readonly<Record<string, unknown>> = {},
  tests: Filters['tests'] = () => [],
): Filters {
  return { names: [...Object.keys(own), 'where', 'search'], tests };
}

/** What an update says of every record, as plain JSON. */
export interface UpdateJob {
  readonly typed: TypedFields;
  readonly route?: string | undefined;
}

/** How many records of a kind are updated at once; `more` are fields that the job itself sets. */
export function updateMany(
  kind: Kind,
  read: (context: Context, values: never) => Promise<UpdateJob & JsonObject>,
  more: (job: JsonObject, record: JsonObject | undefined) => JsonObject = () => ({}),
  filters: Filters = selectionBy(),
): BulkPart {
  return {
    resource: kind.resource,
    rules: fieldColumns,
    overrules: fieldsGiven,
    filters,
    job: read,
    open(context, kept: UpdateJob & JsonObject) {
      const source = sharedSource(context, kind, kept);
      const wantedOf = (
        { own = {}, row }: SelectedRow,
        record: JsonObject | undefined,
      ): JsonObject => ({
        ...cellFields(own, record, row),
        ...touchedFields(kept.typed, record),
        ...more(kept, record),
      });
      return {
        resends: 3,
        read: (id, how) => source.read(id, how),
        plan: (row, record) =>
          updatePlan(context, kind, row.id, record, kept.route, () => wantedOf(row, record)),
        compares: ({ own = {} }) => [
          ...cellFieldNames(own),
          ...touchedNames(kept.typed),
          ...Object.keys(more(kept, undefined)),
        ],
        send: (plan, id) => sendUpdate(context, kind, plan, id, source),
      };
    },
  };
}

interface GivenValues extends Pick<FieldValues, 'set' | 'setString'> {
  readonly name?: string;
  readonly tag?: readonly string[];
}

/** The fields that the command line sets in every record, by the flag that does. */
function fieldsGiven({ name, tag, set = [], setString = [] }: GivenValues): Map<string, string> {
  return new Map([
    ...(name === undefined ? [] : [['name', '--name'] as const]),
    ...(tag === undefined ? [] : [['tags', '--tag'] as const]),
    ...set.map((word) => [fieldOf(word), '-F'] as const),
    ...setString.map((word) => [fieldOf(word), '-f'] as const),
  ]);
}

function fieldOf(word: string): string {
  return readFieldWord(word).path.join('.');
}

type DeleteJob = Pick<UpdateJob, 'route'>;

/** How many records of a kind are deleted at once; a record that is gone after a lost answer is done. */
export function deleteMany(kind: Kind, filters: Filters = selectionBy()): BulkPart {
  return {
    resource: kind.resource,
    rules: idColumns(kind),
    filters,
    asksForOne: true,
    async job(_, { route }: { readonly route: string | undefined }) {
      return { ...(route !== undefined && { route }) };
    },
    open(context, kept: DeleteJob) {
      const source = sharedSource(context, kind, kept);
      return {
        resends: 3,
        read: (id, how) => source.read(id, how),
        plan: ({ id }, record) => deletePlan(context, kind, id, record, kept.route),
        async send({ calls }, id) {
          for (const call of calls) await sendGuessed(context, kind, call, id, source);
        },
        isGone: isGoneForSure,
      };
    },
  };
}

const exportTime: Column = { name: 'updatedAt', read: (cell) => cell.trim() };

const fieldColumns: ColumnRules = {
  columns: [exportTime],
  exported: ['organizationId', 'createdAt'],
  open: true,
};

/** What a delete takes of a CSV: which record, and since when it must not have changed. */
function idColumns(kind: Kind): ColumnRules {
  // Besides those of every record, what the contract shows of a kind is what its create sends.
  const { body } = endpoint(kind.create);
  const shown = body ? fieldNames(body) : [];
  return {
    columns: [exportTime],
    exported: ['organizationId', 'createdAt', 'name', ...shown],
    open: false,
  };
}
