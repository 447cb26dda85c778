/** Updates fields of teams, players and documents. */

import { replacementBody } from '../api/records.js';
import { callFor, isReadByList } from '../api/resources.js';
import type { Call } from '../api/types.js';
import { errorMessage } from '../cli/failure.js';
import {
  type FieldValues,
  readFields,
  type TypedFields,
  touchedFields,
  touchedNames,
} from '../cli/field-flags.js';
import type { Filters } from '../cli/filters.js';
import { replacementNote } from '../config/choices.js';
import type { Context } from '../context.js';
import { readFieldWord } from '../data/assign.js';
import { cellFieldNames, cellFields } from '../data/cell-values.js';
import type { ColumnRules } from '../data/csv-columns.js';
import type { JsonObject } from '../data/json.js';
import { AbsentFields } from '../data/nearest.js';
import { nameWithId } from '../data/path.js';
import { type ResourceName, resourceWords } from '../data/resources.js';
import { isSameValue } from '../data/sorting.js';
import { inTime } from '../data/time.js';
import type { Operation, RowPlan, Session, Step } from '../engine/operation.js';
import { unshownNote } from '../engine/step-done.js';
import { CancelledError, Failure } from '../errors.js';
import type { RowChange, SelectedRow } from '../runs/report.js';
import { exportTime } from './params.js';
import { recordReader } from './read.js';
import { changing } from './send.js';

/** The job of an update, which applies to every record; plain JSON. */
type UpdateJob = JsonObject & {
  readonly typed: TypedFields;
  readonly route?: string | undefined;
};

type UpdateValues = FieldValues & { readonly route?: string };

interface UpdateParts {
  readonly filters: Filters;
  /** Values of further flags, which the job keeps for `more`. */
  given?(values: object): JsonObject;
  /** Further fields that the job sets. */
  more?(job: JsonObject, record: JsonObject | undefined): JsonObject;
}

/** Columns of an update: each sets the field of its name. */
const fieldColumns: ColumnRules = {
  columns: [exportTime],
  exported: ['organizationId', 'createdAt'],
  open: true,
};

/** Updates one or many records. */
export function updateOperation(resource: ResourceName, parts: UpdateParts): Operation {
  return {
    resource,
    verb: 'update',
    confirm: 'several',
    csv: fieldColumns,
    overrules: givenFields,
    filters: parts.filters,
    job: async (context, values: UpdateValues): Promise<UpdateJob> => ({
      typed: await readFields(context, values, readOnlyFields(context, resource)),
      route: values.route,
      ...parts.given?.(values),
    }),
    open(context, kept: UpdateJob) {
      const { typed, route } = kept;
      const absent = new AbsentFields(touchedNames(typed));
      let name = '';
      let isOne = true;
      const session = updateSession(context, resource, route, {
        plan(row, record) {
          absent.observe(record);
          const own = nameWithId(record['name'], row.id);
          isOne &&= name === '' || name === own;
          name = own;
          const fields = fieldsOfRow(row, typed, record);
          const more = parts.more?.(kept, { ...record, ...fields });
          return { changes: changedFields(record, { ...fields, ...more }) };
        },
        names: ({ own = {} }) => [
          ...cellFieldNames(own),
          ...touchedNames(typed),
          ...Object.keys(parts.more?.(kept, undefined) ?? {}),
        ],
      });
      return {
        ...session,
        planned() {
          const { plural: nouns } = resourceWords[resource];
          const who = isOne ? `${name} has no` : `None of these ${nouns} has a`;
          for (const [field, meant] of absent.misspelt())
            context.note(`${who} field "${field}". Did you mean ${meant}? It is sent as typed.`);
        },
      };
    },
  };
}

/** Returns the fields that the cells of a row set, with what flags set on top of them. Throws InputError, UsageError. */
export function fieldsOfRow(
  { own = {}, row }: Pick<SelectedRow, 'own' | 'row'>,
  typed: TypedFields,
  record?: JsonObject,
): JsonObject {
  const cells = cellFields(own, record, row);
  return { ...cells, ...touchedFields(typed, { ...record, ...cells }) };
}

type RowChanges = Omit<RowPlan, 'steps'> & { readonly changes: readonly RowChange[] };

interface UpdateRules {
  /** Returns the top-level fields that differ, or why the row is left alone. Throws InputError, UsageError. */
  plan(row: SelectedRow, record: JsonObject): RowChanges;
  /** The names of the fields that the row may change, as far as known without the record. */
  names(row: SelectedRow): readonly string[];
}

/** The session of an update: sends only changed fields, or the entire record if the settings say so. */
export function updateSession(
  context: Context,
  resource: ResourceName,
  route: string | undefined,
  rules: UpdateRules,
): Session {
  const base = changing(context, resource, 'update');
  const readOnly = readOnlyFields(context, resource);
  const updateCall = (id: string): Call => ({ ...callFor(resource, 'update', id), route });
  // Throws for an unusable route before anything is read.
  const { semantics, mayReplace, configKey } = context.api.route(updateCall('any'));
  // Of a route that is configured, `config set` said so.
  if (route !== undefined && mayReplace && configKey !== undefined) {
    const isOpen = context.settings.overrides[`${configKey}.semantics`] === undefined;
    if (isOpen) context.note(replacementNote(configKey));
  }
  const planStep = (id: string, record: JsonObject, changes: readonly RowChange[]): Step => {
    const changed = Object.fromEntries(changes.map(({ field, to }) => [field, to]));
    const body = semantics === 'replace' ? replacementBody(record, changed, readOnly) : changed;
    return { call: { ...updateCall(id), body }, changes, ...(mayReplace && { replaces: record }) };
  };
  return {
    ...base,
    plan(row, { record = {} }) {
      const { changes, ...plan } = rules.plan(row, record);
      return { ...plan, steps: changes.length > 0 ? [planStep(row.id, record, changes)] : [] };
    },
    compares: (row) => rules.names(row),
    async send(step, row, isFresh) {
      const sent = await base.send(step, row, isFresh);
      // Only a read shows which fields a replacement removed.
      return step.replaces ? { ...sent, record: undefined } : sent;
    },
    // For a document the answer is shown: reading it again takes the entire list.
    async present(record, row) {
      const { id } = row;
      if (record && isReadByList(resource)) return record;
      const shown = await presentAgain(context, resource, id, record);
      const others = record ? differing(rules.names(row), record, shown) : [];
      if (others.length > 0)
        context.note(
          `${id}: the service confirmed the change, but reading it again shows ${differentValues(others)}.`,
        );
      return shown;
    },
  };
}

/** Notes the values of a create that its record holds in another form, and those that it does not show. */
export function noteOtherValues(
  context: Context,
  created: string,
  sent: JsonObject,
  record: JsonObject,
): void {
  const fields = Object.keys(sent).filter((field) => sent[field] !== null);
  const others = differing(fields, sent, record);
  if (others.length > 0)
    context.note(`${created}, but the service stored ${differentValues(others)}.`);
  for (const field of fields) if (!Object.hasOwn(record, field)) context.note(unshownNote(field));
}

/** Names fields whose values differ: `a different name`, `different values for name, tags`. */
function differentValues(fields: readonly string[]): string {
  return `${fields.length > 1 ? 'different values for' : 'a different'} ${fields.join(', ')}`;
}

function differing(fields: readonly string[], one: JsonObject, other: JsonObject) {
  return fields.filter(
    (field) =>
      Object.hasOwn(one, field) &&
      Object.hasOwn(other, field) &&
      !isSameValue(one[field], other[field]),
  );
}

/** The fields that the settings `readOnly.RESOURCE` and `ids.RESOURCE` name. */
export function readOnlyFields({ settings }: Context, resource: ResourceName): readonly string[] {
  const { [`readOnly.${resource}`]: readOnly, [`ids.${resource}`]: id } = settings.overrides;
  return [...(readOnly?.split(/\s*,\s*/) ?? []), ...(id === undefined ? [] : [id])];
}

/** Reads a record again to show it; if that fails, returns the answer, with a note that `say` words. */
export async function presentAgain(
  context: Context,
  resource: ResourceName,
  id: string,
  record: JsonObject | undefined,
  say = (why: string) =>
    `${id}: done, but it could not be read again: ${why} This is what the service answered.`,
): Promise<JsonObject> {
  try {
    const reader = recordReader(context, resource);
    const shown = await inTime(reader.read(id, 'after'), context.signal);
    if (!shown) throw new CancelledError('Interrupted.');
    return shown.record ?? record ?? { id };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    context.note(say(errorMessage(context, id, error)));
    return record ?? { id };
  }
}

/** The fields that differ; for a field that the record lacks, `from` is undefined. */
export function changedFields(record: JsonObject, target: JsonObject): readonly RowChange[] {
  return Object.entries(target).flatMap(([field, to]) => {
    const isThere = Object.hasOwn(record, field);
    if (isThere ? isSameValue(record[field], to) : to === undefined) return [];
    return [{ field, from: isThere ? record[field] : undefined, to }];
  });
}

interface GivenValues extends Pick<FieldValues, 'set' | 'setString'> {
  readonly name?: string;
  readonly tag?: readonly string[];
}

/** The fields that flags set in every record, each with its flag. */
export function givenFields({
  name,
  tag,
  set = [],
  setString = [],
}: GivenValues): Map<string, string> {
  return new Map([
    ...(name === undefined ? [] : [['name', '--name'] as const]),
    ...(tag === undefined ? [] : [['tags', '--tag'] as const]),
    ...set.map((word) => [fieldIn(word), '-F'] as const),
    ...setString.map((word) => [fieldIn(word), '-f'] as const),
  ]);
}

function fieldIn(word: string): string {
  return readFieldWord(word).path.join('.');
}
